"""Waiting and messages. Every wait spins briefly and then sleeps: users' machines are shared.

MPI's own blocking calls keep a processor busy until they return. Nothing blocks here: requests are tested,
and between tests the rank yields, then sleeps, for longer the longer it has waited.

The shared counter lies at rank 0, and all ranks add to it without rank 0 taking part: one-sided
fetch-and-add. Where ranks share memory this is an atomic addition; over a network the library at rank 0
carries it out when it next makes progress, at the latest when rank 0 polls.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from mpi4py import MPI

from dlbrt.mpi.board import board
from dlbrt.mpi.regions import MemoryRegion, memory_of
from dlbrt.mpi.wakeups import Wakeups
from dlbrt.observe.terminal import write_line
from dlbrt.records import dataclass

T = TypeVar("T")

# Tags. Messages of `DATA` go to where a receive waits for them, all others are found by a probe: with both
# under one tag, MPICH's netmod `ofi` gives a probe the message that an earlier receive waits for (5.0.2).
COMMAND, INTERRUPT, DATA, RESULT, JOURNAL, PROFILE, REPORT, INSTRUCTIONS, GROUP_REPORT, MESSAGE = range(1, 11)
VERDICT, OUTPUT, REPEATED, PROGRESS, BROADCAST, PACKED, ALIVE, NONE_SENT = range(11, 19)
ANY = MPI.ANY_SOURCE

#: Polls before the first sleep, with a processor for every rank of the host, and without.
_SPINS, _SPINS_CROWDED = 1500, 10
_FIRST_SLEEP_S, _GROWTH = 2e-5, 1.25

#: Long waits poll less often, so that they leave the processor to others: sleeps grow to this part of the
#: wait so far, and at most to so many seconds.
_SLEEP_PART, _LONGEST_SLEEP_S = 0.01, 1e-2

#: A rank can be woken from sleeps of so many seconds and more: shorter ones are as well slept to their end.
_INTERRUPTIBLE_S = 5e-4


class ProgramError(RuntimeError):
    """The program cannot be run as it is; the message says why, and needs no traceback of the runtime."""


class RanksLostError(BaseException):
    """A rank has died, and the others are to go on without it: what they do together is called off.

    Only a `dlbrt.mpi.tolerance.TolerantCommunicator` raises it.
    """


class SharedCounter:
    """A counter at rank 0; all ranks of a communicator create it together, and free it together."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._rank = comm.Get_rank()
        size = MPI.INT64_T.Get_size()
        self._window = MPI.Win.Allocate(size if self._rank == 0 else 0, size, comm=comm)
        self._window.Lock_all(MPI.MODE_NOCHECK)
        if self._rank == 0:
            self.reset()
        comm.Barrier()

    def reset(self) -> None:
        """At rank 0, while no rank adds: set the counter to 0."""
        zero = np.zeros(1, dtype=np.int64)
        self._window.Accumulate(zero, 0, op=MPI.REPLACE)
        self._window.Flush(0)

    def fetch_and_add(self, count: int) -> tuple[MPI.Request, np.ndarray[Any, Any]]:
        """Start adding ``count``; once the request completes, the array holds the value before."""
        numbers = np.array([count, 0], dtype=np.int64)
        found = numbers[1:]  # keeps the operand alive as well
        return self._window.Rget_accumulate(numbers[:1], found, 0, op=MPI.SUM), found

    def free(self) -> None:
        """Give the memory back."""
        self._window.Unlock_all()
        self._window.Free()


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification to a rank that computes, about the loop call ``serial``; one of four fields is not -1.

    ``epoch`` is the window that is to end, ``failed_at`` the position that failed on another rank,
    ``strategy`` the number of the chosen strategy, ``round`` the group exchange that another group asks for.
    """

    serial: int
    epoch: int = -1
    failed_at: int = -1
    strategy: int = -1
    round: int = -1


class Pause:
    """One wait: call it between polls. It yields the processor, then sleeps.

    A sleep takes up to a hundredth of the wait so far, so a wait is hardly longer than it has to be. By
    ``wakeups``, if given, another rank may end a sleep; the wait then begins anew. ``meanwhile`` is called
    after each sleep of this process, if there is one.
    """

    meanwhile: ClassVar[Callable[[], object] | None] = None

    def __init__(self, spins: int, wakeups: Wakeups | None = None) -> None:
        self._all_spins, self._wakeups = spins, wakeups
        self._begin()

    def _begin(self) -> None:
        self._spins = self._all_spins
        self._sleep_s = _FIRST_SLEEP_S
        self._slept_s = 0.0

    def __call__(self) -> None:
        """Give up the processor for a moment."""
        if self._spins > 0:
            self._spins -= 1
            os.sched_yield()
            return
        if self._wakeups is None or self._sleep_s < _INTERRUPTIBLE_S:
            time.sleep(self._sleep_s)
        elif self._wakeups.sleep(self._sleep_s):
            self._begin()
            return
        board.answer()
        if Pause.meanwhile is not None:
            Pause.meanwhile()
        self._slept_s += self._sleep_s
        longest_s = min(_LONGEST_SLEEP_S, max(_FIRST_SLEEP_S, _SLEEP_PART * self._slept_s))
        self._sleep_s = min(longest_s, self._sleep_s * _GROWTH)


class Communicator:
    """A private communicator among all ranks, and what goes over it; ``on_one_host``: all share a host.

    ``ranks_here`` of the ranks share this one's host, and may use ``cores`` of it.
    ``tolerates_deaths``: ranks above 0 may die (`dlbrt.mpi.tolerance`). ``started_as`` is the rank as which
    this process was started; without deaths that is its rank.
    """

    tolerates_deaths = False

    def __init__(self, world: MPI.Intracomm) -> None:
        self.comm = world.Dup()
        self.rank: int = self.comm.Get_rank()
        self.ranks: int = self.comm.Get_size()
        self.started_as = self.rank
        self._host = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.ranks_here: int = self._host.Get_size()
        self.cores = len(os.sched_getaffinity(0))
        self.on_one_host = self.ranks_here == self.ranks
        self._spins = _SPINS_CROWDED if self.ranks_here > self.cores else _SPINS
        self._wakeups: Wakeups | None = None
        self._counter: SharedCounter | None = None

    def be_watched(self, timeout_s: float) -> None:
        """Have a process watch the ranks of each host, and rank 0 wake those of its own; collective."""
        if not self.on_one_host:
            board.meet(self.comm)
        if self.ranks > 1:
            board.share(self._host, self.rank, timeout_s, outlived=self.tolerates_deaths)
            self._wakeups = Wakeups(self._host)
        self._host.Free()

    @property
    def counter(self) -> SharedCounter:
        """The counter that all ranks share; the first use is collective."""
        if self._counter is None:
            self._counter = SharedCounter(self.comm)
        return self._counter

    def check(self) -> None:
        """RanksLostError where a rank has died and others are to go on; see `dlbrt.mpi.tolerance`."""

    def restart_counter(self) -> None:
        """At rank 0, before a call: set the counter to 0, if there is one."""
        if self._counter is not None:
            self._counter.reset()

    def serve(self) -> None:
        """This rank, above 0, serves rank 0 from now on."""

    def close(self) -> None:
        """Free what all ranks have in common, and take what nobody waits for; collective, at the end."""
        if self._counter is not None:
            self._counter.free()
            self._counter = None
        if self.ranks > 1 and not self.tolerates_deaths:
            self._take_late_messages()

    def _take_late_messages(self) -> None:
        """Take messages to ranks whose loop was over: of others UCX warns on standard output at the end."""
        self.complete([self.comm.Ibarrier()])
        while self.poll_bytes(MPI.ANY_SOURCE, MESSAGE) or self.interrupted():
            pass

    def pause(self) -> Pause:
        """A new wait."""
        return Pause(self._spins)

    def until(self, poll: Callable[[], T | None]) -> T:
        """Wait until ``poll()`` returns something other than None."""
        pause = self.pause()
        while (found := poll()) is None:
            pause()
        return found

    def have_completed(self, requests: Sequence[MPI.Request]) -> bool:
        """Whether all requests have completed."""
        return MPI.Request.Testall(requests)

    def complete(self, requests: Sequence[MPI.Request]) -> None:
        """Wait for all requests."""
        if requests:
            pending = list(requests)
            self.until(lambda: True if self.have_completed(pending) else None)

    def send_bytes(self, data: bytes | bytearray, target: int, tag: int) -> MPI.Request:
        """Start sending; the data must live until the request completes."""
        return self.comm.Isend([data, MPI.BYTE], dest=target, tag=tag)

    def poll_bytes(self, source: int, tag: int) -> tuple[int, bytearray] | None:
        """A message of that tag, with its source, if one has come."""
        status = MPI.Status()
        message = self.comm.Improbe(source=source, tag=tag, status=status)
        if message is None:
            return None
        data = bytearray(status.Get_count(MPI.BYTE))
        self.complete([message.Irecv([data, MPI.BYTE])])
        return status.Get_source(), data

    def wait_bytes(self, source: int, tag: int) -> tuple[int, bytearray]:
        """The next message of that tag, with its source."""
        return self.until(lambda: self.poll_bytes(source, tag))

    def command(self, message: bytes, targets: Iterable[int]) -> None:
        """At rank 0: send other ranks what they wait for (`wait_for_command`)."""
        requests = [self.send_bytes(message, target, COMMAND) for target in targets]
        if self._wakeups is not None:
            self._wakeups.wake()
        self.complete(requests)

    def wait_for_command(self) -> bytearray:
        """The next command of rank 0, whichever of the other ranks die meanwhile."""
        pause = Pause(self._spins, self._wakeups)
        while (found := self.poll_bytes(0, COMMAND)) is None:
            pause()
        return found[1]

    def send_memory(self, array: np.ndarray[Any, Any], target: int, tag: int) -> MPI.Request:
        """Start sending a contiguous array from where it lies (read-only ones too)."""
        return self.comm.Isend([memory_of(array), MPI.BYTE], dest=target, tag=tag)

    def receive_memory(self, array: np.ndarray[Any, Any], source: int, tag: int) -> MPI.Request:
        """Start receiving into a contiguous array."""
        return self.comm.Irecv([memory_of(array), MPI.BYTE], source=source, tag=tag)

    def send_region(self, region: MemoryRegion, target: int, tag: int) -> MPI.Request:
        """Start sending from where the rows lie."""
        return self.comm.Isend(region.message, dest=target, tag=tag)

    def receive_region(self, region: MemoryRegion, source: int, tag: int) -> MPI.Request:
        """Start receiving to where the rows lie."""
        return self.comm.Irecv(region.message, source=source, tag=tag)

    def broadcast_memory(self, array: np.ndarray[Any, Any], root: int = 0) -> MPI.Request:
        """Take part in broadcasting a rank's contiguous array."""
        return self.comm.Ibcast([memory_of(array), MPI.BYTE], root=root)

    def broadcast_region(self, region: MemoryRegion, root: int) -> MPI.Request:
        """Take part in broadcasting rows of a rank, from and to where they lie."""
        return self.comm.Ibcast(region.message, root=root)

    def interrupt(self, note: Notification, targets: Iterable[int]) -> list[MPI.Request]:
        """Send a notification to ranks that poll for it between iterations."""
        numbers = np.array(astuple(note), dtype=np.int64)
        return [self.comm.Isend(numbers, dest=target, tag=INTERRUPT) for target in targets]

    def waiting(self, tag: int) -> bool:
        """Whether a message with that tag has come from any rank."""
        return self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=tag)

    def interrupted(self) -> Notification | None:
        """The next notification, if one has come."""
        # After a probe that is not matched, a receive may wait for good (MPICH 5.0.2 with `ucx`, over TCP).
        message = self.comm.Improbe(source=MPI.ANY_SOURCE, tag=INTERRUPT)
        if message is None:
            return None
        numbers = np.empty(len(fields(Notification)), dtype=np.int64)
        self.complete([message.Irecv(numbers)])
        return Notification(*numbers.tolist())

    def exchange(self, numbers: Sequence[float]) -> tuple[MPI.Request, np.ndarray[Any, Any]]:
        """Start an exchange: the table has a row for each rank once the request completes."""
        mine = np.array(numbers, dtype=np.float64)
        table = np.empty((self.ranks, len(mine)), dtype=np.float64)
        return self.comm.Iallgather(mine, table), table

    def allgather(self, numbers: Sequence[float]) -> np.ndarray[Any, Any]:
        """The table of an exchange, once it is complete."""
        request, table = self.exchange(numbers)
        self.complete([request])
        return table

    def fail(self, error: BaseException) -> NoReturn:
        """Print an error of the program's, or one inside the runtime, and end every rank of the job."""
        if isinstance(error, ProgramError):
            write_line(f"dlb: {error}; the job ends")
        else:
            traceback.print_exception(error)
            text = f"dlb: rank {self.rank} failed inside the runtime; the job ends"
            write_line(text)
        sys.stdout.flush()
        board.leave(aborting=True)
        self.comm.Abort(1)
        raise error
