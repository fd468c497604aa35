"""Output shown while ranks share a loop: the ranks send what they have to rank 0, which shows the prefix.

A rank detaches what its iterations have written from its journal as they are done (`detach`). Rank 0 shows
its own at its polls; another rank sends it to rank 0, with the positions of what is done, which say where
there is no gap. A rank whose iterations write nothing sends nothing, until rank 0 has output to show and asks
it for its progress. So a loop without output has no message more.

Rank 0 receives exactly the messages that a rank reports to have sent (`ForwardedReport`). Its own
message to the others, sent at most once in a run, carries the number of the call: one that arrives when the
run is over is dropped by the next.
"""

from __future__ import annotations

import pickle
import sys
from abc import ABC, abstractmethod
from collections import Counter

from mpi4py import MPI

from dlbrt.mpi.communicator import ANY, OUTPUT, Communicator
from dlbrt.mpi.team import clock
from dlbrt.records import dataclass
from dlbrt.reductions.journal import Piece
from dlbrt.reductions.output import OutputProperties, RealStream, show
from dlbrt.reductions.output_prefix import OutputPrefix, PositionedOutput, add_run, detach, without

#: Seconds between two messages of a rank in the long run, for each rank of the program: rank 0 takes about
#: 20 microseconds for a message, so all take about a percent of its time.
_INTERVAL_S = 2e-3

#: Messages that a rank may send at once if it has sent few before.
_BURST = 20

#: Seconds between two looks for messages about output.
_LOOK_S = 5e-3

#: Bytes of output that rank 0 keeps in memory until it is shown.
_IN_MEMORY = 64 << 20


class Allowance:
    """How many messages may be sent now: one more with each ``interval_s``, up to ``burst``."""

    def __init__(self, interval_s: float, burst: int, now: float) -> None:
        self._interval_s, self._burst = interval_s, burst
        self._left, self._counted = float(burst), now

    def allows(self, now: float) -> bool:
        """Whether a message may be sent."""
        self._left = min(self._burst, self._left + (now - self._counted) / self._interval_s)
        self._counted = now
        return self._left >= 1

    def spend(self) -> None:
        """Count a message that is sent."""
        self._left -= 1


@dataclass(frozen=True, slots=True)
class ForwardedReport:
    """What a worker reports at its end: how many messages it has sent, and what is done besides."""

    messages: int = 0
    done: tuple[range, ...] = ()


class _LiveOutput(ABC):
    """What one rank has detached from its journal and not handed on: iterations done, and their output."""

    def __init__(self, communicator: Communicator, serial: int, about: OutputProperties) -> None:
        self._communicator, self._serial, self._about = communicator, serial, about
        self._done: list[range] = []
        self._output: PositionedOutput = []
        self._ended = False  # whether what follows is shown at the end of the loop
        self._look_at = 0.0

    def take(self, piece: Piece, done: range) -> Piece:
        """See `LiveOutput`."""
        if self._ended:
            return piece
        detached = detach(piece, done, self._about)
        self._ended = not detached.complete
        self._output += detached.output
        add_run(self._done, detached.done)
        self.poll()
        return detached.rest

    def finished(self, done: range) -> None:
        """See `LiveOutput`."""
        if not self._ended:
            add_run(self._done, done)
            self.poll()

    @abstractmethod
    def poll(self) -> None:
        """Hand on what there is, and take what has come."""

    def _looks(self, now: float) -> bool:
        """Whether it is time to look for messages."""
        if now < self._look_at:
            return False
        self._look_at = now + _LOOK_S
        return True

    def _emptied(self) -> tuple[list[range], PositionedOutput]:
        found = self._done, self._output
        self._done, self._output = [], []
        return found


class ForwardedOutput(_LiveOutput):
    """A worker's live output, which it sends to rank 0."""

    def __init__(self, communicator: Communicator, serial: int, about: OutputProperties) -> None:
        super().__init__(communicator, serial, about)
        self._allowance = Allowance(_INTERVAL_S * communicator.ranks, _BURST, clock())
        self._wanted = False  # whether rank 0 wants to know what is done, output or not
        self._sent = 0
        self._sending: list[MPI.Request] = []

    def is_due(self, *, logged: bool) -> bool:
        """See `LiveOutput`."""
        return (logged or self._wanted) and not self._ended and self._allowance.allows(clock())

    def poll(self) -> None:
        """Send what there is, if it is time to."""
        now = clock()
        if not self._wanted and self._looks(now):
            self._look_for_request()
        if (self._output or (self._wanted and self._done)) and self._allowance.allows(now):
            self._send()

    def finish(self) -> ForwardedReport:
        """Send what output is left; rank 0 gets the report with this rank's result."""
        if self._output:
            self._send()
        return ForwardedReport(self._sent, tuple(self._done))

    def complete(self) -> None:
        """Wait until everything has been sent."""
        self._communicator.complete(self._sending)

    def _look_for_request(self) -> None:
        while found := self._communicator.poll_bytes(0, OUTPUT):
            self._wanted = self._wanted or int.from_bytes(found[1], "little") == self._serial

    def _send(self) -> None:
        self._allowance.spend()
        self._sent += 1
        message = pickle.dumps(self._emptied(), pickle.HIGHEST_PROTOCOL)
        done = self._communicator.have_completed
        self._sending = [request for request in self._sending if not done([request])]
        self._sending.append(self._communicator.send_bytes(message, 0, OUTPUT))


class ShownOutput(_LiveOutput):
    """Rank 0's live output, which it shows with that of all ranks; ``first`` begins the shared iterations."""

    def __init__(self, communicator: Communicator, serial: int, about: OutputProperties, first: int) -> None:
        super().__init__(communicator, serial, about)
        stream = RealStream(sys.stdout)
        self.prefix = OutputPrefix(first, lambda entry: show(stream, *entry), _IN_MEMORY)
        self._active = False  # whether some rank has output
        self._redoing = False
        self._received: Counter[int] = Counter()
        self._requests: list[MPI.Request] = []

    def is_due(self, *, logged: bool) -> bool:
        """See `LiveOutput`."""
        return (logged or self._active) and not self._ended

    def take(self, piece: Piece, done: range) -> Piece:
        """See `LiveOutput`."""
        return self._not_yet_held(piece, done) if self._redoing else super().take(piece, done)

    def poll(self) -> None:
        """Take what has come, and show what has no gap before it any more."""
        if self._looks(clock()):
            while found := self._communicator.poll_bytes(ANY, OUTPUT):
                self._receive(*found)
        if self._output:
            self._activate()
        if self._active and self._done:
            self.prefix.add(*self._emptied())

    def end(self, rank: int, report: ForwardedReport) -> None:
        """Take all that a rank has sent and reported in this run."""
        while self._received[rank] < report.messages:
            self._receive(*self._communicator.wait_bytes(rank, OUTPUT))
        self.prefix.add(report.done, [])

    def redo(self) -> None:
        """From now on iterations are done again: output that is here already is not taken once more."""
        self._redoing = self._ended = True

    def close(self) -> None:
        """Release what has not been shown, and see that the other ranks can be asked again."""
        self.prefix.close()
        self._communicator.complete(self._requests)

    def _receive(self, rank: int, message: bytearray) -> None:
        self._received[rank] += 1
        self._activate()
        self.prefix.add(*pickle.loads(message))

    def _activate(self) -> None:
        """Ask the other ranks for their progress, once there is output to show."""
        if not self._active:
            self._active = True
            request = self._serial.to_bytes(8, "little")
            ranks = range(1, self._communicator.ranks)
            self._requests = [self._communicator.send_bytes(request, rank, OUTPUT) for rank in ranks]

    def _not_yet_held(self, piece: Piece, done: range) -> Piece:
        held = [each for each in done if self.prefix.holds(each)]
        return without(piece, held)
