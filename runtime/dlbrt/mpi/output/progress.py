"""Progress of loops on all ranks: the others report to rank 0 now and then, and rank 0 draws.

A report is a message of a few bytes. A rank sends one at a poll, at most a few times a second, and only if
rank 0 has taken the one before into its library; rank 0 takes them when it draws. So nobody waits for a
report, and one that comes after its run is dropped by its serial number.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

from mpi4py import MPI

from dlbrt.mpi.communicator import ANY, PROGRESS, Communicator, Pause
from dlbrt.mpi.team import clock
from dlbrt.observe.progress import DRAWN_EVERY_S, LoopProgress, ProgressLines
from dlbrt.observe.terminal import (
    STANDARD_ERROR,
    STANDARD_OUTPUT,
    TerminalOutput,
    find_terminal,
    precede,
    write_line,
)
from dlbrt.options import ALWAYS, Options

#: Serial number of the call, iterations done, seconds computing, seconds since the call, whether it is over.
_REPORT = struct.Struct("=qqdd?")

#: Seconds between two reports of a rank, and the least for each rank of the program: rank 0 takes about
#: 10 microseconds for one, so all take at most a thousandth of its time.
_REPORTED_EVERY_S, _EACH_S = 0.1, 1e-2


def shown(options: Options) -> Options:
    """The options, without progress where nothing can show it; says so where that can be changed."""
    if options.progress is None or (options.progress != ALWAYS and find_terminal() is None):
        return replace(options, progress=None)
    try:
        import tqdm  # noqa: F401
    except ImportError:
        reason = "which is not installed (pip install 'dlbc[progress]'); no bar is shown"
        write_line(f"dlb: --progress needs tqdm, {reason}")
        return replace(options, progress=None)
    return options


class ProgressReporter:
    """A worker's reports on one run: the call ``serial``."""

    def __init__(self, communicator: Communicator, serial: int) -> None:
        self._communicator, self._serial = communicator, serial
        self._every_s = max(_REPORTED_EVERY_S, _EACH_S * communicator.ranks)
        self._started = now = clock()
        self._due = now + self._every_s
        self._done, self._compute_s = 0, 0.0
        self._sending = MPI.REQUEST_NULL

    def count(self, done: int, seconds: float) -> None:
        """So many iterations more are done, in so many seconds."""
        self._done += done
        self._compute_s += seconds
        if (now := clock()) >= self._due:
            self._due = now + self._every_s
            if self._communicator.have_completed([self._sending]):
                self._send(now, ended=False)

    def end(self) -> None:
        """This rank's part is over."""
        if (now := clock()) - self._started >= self._every_s:
            self._communicator.complete([self._sending])
            self._send(now, ended=True)
            self._communicator.complete([self._sending])

    def _send(self, now: float, *, ended: bool) -> None:
        message = _REPORT.pack(self._serial, self._done, self._compute_s, now - self._started, ended)
        self._sending = self._communicator.send_bytes(message, 0, PROGRESS)


class RootProgress:
    """Rank 0's knowledge of all loops, and their lines on the terminal."""

    def __init__(self, communicator: Communicator, options: Options) -> None:
        from tqdm import tqdm

        self._communicator = communicator
        self._loops: dict[str, LoopProgress] = {}
        shown_on = find_terminal()
        terminal = TerminalOutput(shown_on)
        self._lines = ProgressLines(terminal.write, terminal.width, tqdm.format_meter)
        self._running: LoopProgress | None = None
        self._serial = 0
        self._due = 0.0
        self._polling = False  # messages are waited for, and so are polled, while they are polled
        output_on = find_terminal(STANDARD_OUTPUT)
        if options.progress == ALWAYS or output_on:
            is_same = output_on is not None and output_on == shown_on
            precede("stdout", self._before_output, STANDARD_ERROR if is_same else None)
        precede("stderr", self._before_output)
        Pause.meanwhile = self.poll

    def begin(self, key: str, source: str, n: int) -> None:
        """A run of the loop ``key`` at ``source`` begins, on rank 0 alone until `share`."""
        now = clock()
        loop = self._loop(key, source)
        loop.begin(n, now)
        self._lines.add(loop, now)
        self._running, self._serial = loop, 0
        self._due = max(self._due, now + DRAWN_EVERY_S)

    def share(self, serial: int) -> None:
        """All ranks take part from now on, by the call ``serial``."""
        self._serial = serial

    def count(self, done: int, seconds: float) -> None:
        """Rank 0 has done so many iterations more, in so many seconds."""
        if self._running is not None:
            own = self._running.by_rank[0]
            own.done += done
            own.compute_s += seconds
        self.poll()

    def restart(self, done: int) -> None:
        """Rank 0 goes on alone after ``done`` iterations; what others have done does not count."""
        if self._running is not None:
            self._serial = 0
            for each in self._running.by_rank:
                each.done, each.compute_s = 0, 0.0
            self._running.by_rank[0].done = done

    def poll(self) -> None:
        """Draw, if it is time to."""
        now = clock()
        if self._running is None or now < self._due or self._polling:
            return
        self._polling = True
        self._due = now + DRAWN_EVERY_S
        self._take()
        own = self._running.by_rank[0]
        own.ended = True  # its seconds are those until now
        self._lines.draw(now)
        self._polling = False

    def end(self, compute_s: Sequence[float], done: int) -> None:
        """The run has ended: ``done`` iterations, and the seconds that each rank has computed."""
        if (loop := self._running) is not None:
            now = clock()
            loop.end(compute_s, done, now)
            self._running = None
            if loop.run_s >= DRAWN_EVERY_S:
                self._lines.draw(now)

    def repeated(self, key: str, source: str, n: int, seconds: float) -> None:
        """A run has been repeated, in so many seconds."""
        now = clock()
        loop = self._loop(key, source)
        loop.repeated(n, seconds)
        self._lines.add(loop, now)
        if now >= self._due:
            self._due = now + DRAWN_EVERY_S
            self._lines.draw(now)

    def close(self) -> None:
        """The program ends."""
        self._running = None
        self._lines.close(clock())

    def _loop(self, key: str, source: str) -> LoopProgress:
        return self._loops.setdefault(key, LoopProgress(source, self._communicator.ranks))

    def _take(self) -> None:
        """Take the reports that have come."""
        while self._communicator.ranks > 1 and (found := self._communicator.poll_bytes(ANY, PROGRESS)):
            serial, done, compute_s, elapsed_s, ended = _REPORT.unpack(found[1])
            if serial == self._serial and self._running is not None:
                of = self._running.by_rank[found[0]]
                of.done, of.compute_s, of.elapsed_s, of.ended = done, compute_s, elapsed_s, ended

    def _before_output(self, data: bytes) -> None:
        """The program writes: its text goes where the lines stand."""
        self._lines.clear()
        self._lines.within_line = not data.endswith(b"\n")
