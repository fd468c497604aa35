"""Waiting and messages. Every wait spins briefly and then sleeps: users' machines are shared.

MPI's own blocking calls keep a processor busy until they return. Here nothing blocks: requests are
tested, and between tests the rank yields, then sleeps, for longer the longer it has waited.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from typing import Any, NoReturn, TypeVar

import numpy as np
from mpi4py import MPI

from dlbrt.mpi.counter import SharedCounter
from dlbrt.mpi.region import MemoryRegion
from dlbrt.records import dataclass

__all__ = [
    "ANY",
    "COMMAND",
    "DATA",
    "GROUP_REPORT",
    "INSTRUCTIONS",
    "INTERRUPT",
    "JOURNAL",
    "MESSAGE",
    "PROFILE",
    "REPORT",
    "RESULT",
    "Communicator",
    "Notification",
    "Pause",
]

T = TypeVar("T")

COMMAND, INTERRUPT, DATA, RESULT, JOURNAL, PROFILE, REPORT, INSTRUCTIONS, GROUP_REPORT, MESSAGE = range(1, 11)
ANY = MPI.ANY_SOURCE

#: Looks before the first sleep, with a processor for every rank of the host, and without.
_SPINS, _SPINS_CROWDED = 200, 10
_FIRST_SLEEP_S, _LONGEST_SLEEP_S, _GROWTH = 2e-5, 1e-3, 1.25


@dataclass(frozen=True, slots=True)
class Notification:
    """A word to a rank that computes, about the loop call ``serial``, one of four; -1 stands for nothing.

    ``epoch`` is the window that is to end, ``failed_at`` the position that failed elsewhere, ``strategy`` the
    number of the one that was chosen, ``round`` the one that another group asks for.
    """

    serial: int
    epoch: int = -1
    failed_at: int = -1
    strategy: int = -1
    round: int = -1


class Pause:
    """One wait: call it between looks. It yields the processor, then sleeps up to a millisecond."""

    def __init__(self, spins: int) -> None:
        self._spins = spins
        self._sleep_s = _FIRST_SLEEP_S

    def __call__(self) -> None:
        """Give up the processor for a moment."""
        if self._spins > 0:
            self._spins -= 1
            os.sched_yield()
            return
        time.sleep(self._sleep_s)
        self._sleep_s = min(_LONGEST_SLEEP_S, self._sleep_s * _GROWTH)


class Communicator:
    """A private communicator among all ranks, and what goes over it."""

    def __init__(self, world: MPI.Intracomm) -> None:
        self.comm = world.Dup()
        self.rank: int = self.comm.Get_rank()
        self.ranks: int = self.comm.Get_size()
        host = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        crowded = host.Get_size() > len(os.sched_getaffinity(0))
        host.Free()
        self._spins = _SPINS_CROWDED if crowded else _SPINS
        self._counter: SharedCounter | None = None

    @property
    def counter(self) -> SharedCounter:
        """The counter that all ranks share; all of them ask for it first at the same place."""
        if self._counter is None:
            self._counter = SharedCounter(self.comm)
        return self._counter

    def restart_counter(self) -> None:
        """At rank 0, before a call: if there is a counter it begins anew."""
        if self._counter is not None:
            self._counter.reset()

    def close(self) -> None:
        """Give up what all ranks have together; all of them do so at the end."""
        if self._counter is not None:
            self._counter.free()
            self._counter = None

    def pause(self) -> Pause:
        """A new wait."""
        return Pause(self._spins)

    def until(self, poll: Callable[[], T | None]) -> T:
        """Wait until ``poll()`` gives something other than None."""
        pause = self.pause()
        while (found := poll()) is None:
            pause()
        return found

    def complete(self, requests: Sequence[MPI.Request]) -> None:
        """Wait for all requests."""
        if requests:
            pending = list(requests)
            self.until(lambda: True if MPI.Request.Testall(pending) else None)

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

    def send_memory(self, array: np.ndarray[Any, Any], target: int, tag: int) -> MPI.Request:
        """Start sending a contiguous array from where it lies (read-only ones too)."""
        return self.comm.Isend([_memory(array), MPI.BYTE], dest=target, tag=tag)

    def receive_memory(self, array: np.ndarray[Any, Any], source: int, tag: int) -> MPI.Request:
        """Start receiving into a contiguous array."""
        return self.comm.Irecv([_memory(array), MPI.BYTE], source=source, tag=tag)

    def send_region(self, region: MemoryRegion, target: int, tag: int) -> MPI.Request:
        """Start sending from where the rows lie."""
        return self.comm.Isend(region.message, dest=target, tag=tag)

    def receive_region(self, region: MemoryRegion, source: int, tag: int) -> MPI.Request:
        """Start receiving to where the rows lie."""
        return self.comm.Irecv(region.message, source=source, tag=tag)

    def broadcast_memory(self, array: np.ndarray[Any, Any], root: int = 0) -> MPI.Request:
        """Take part in broadcasting a rank's contiguous array."""
        return self.comm.Ibcast([_memory(array), MPI.BYTE], root=root)

    def broadcast_region(self, region: MemoryRegion, root: int) -> MPI.Request:
        """Take part in broadcasting rows of a rank, from and to where they lie."""
        return self.comm.Ibcast(region.message, root=root)

    def interrupt(self, note: Notification, targets: Iterable[int]) -> list[MPI.Request]:
        """Send a note to ranks that look for it between iterations."""
        numbers = np.array(astuple(note), dtype=np.int64)
        return [self.comm.Isend(numbers, dest=target, tag=INTERRUPT) for target in targets]

    def interrupt_waiting(self) -> bool:
        """Whether an interrupt has come."""
        return self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=INTERRUPT)

    def interrupted(self) -> Notification | None:
        """An interrupt, if one has come, which is taken."""
        if not self.interrupt_waiting():
            return None
        numbers = np.empty(len(fields(Notification)), dtype=np.int64)
        self.comm.Recv(numbers, source=MPI.ANY_SOURCE, tag=INTERRUPT)
        return Notification(*numbers.tolist())

    def profile_waiting(self) -> bool:
        """Whether a profile has come for the central balancer here."""
        return self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=REPORT)

    def message_waiting(self) -> bool:
        """Whether another rank has said or given something."""
        return self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=MESSAGE)

    def exchange(self, numbers: Sequence[float]) -> tuple[MPI.Request, np.ndarray[Any, Any]]:
        """Start an exchange: the table has a row for each rank once the request completes."""
        mine = np.array(numbers, dtype=np.float64)
        table = np.empty((self.ranks, len(mine)), dtype=np.float64)
        return self.comm.Iallgather(mine, table), table

    def fail(self, error: BaseException) -> NoReturn:
        """End every rank of the job because of an error inside the runtime, which is shown."""
        traceback.print_exception(error)
        print(f"dlb: rank {self.rank} failed inside the runtime; the job ends", file=sys.stderr, flush=True)
        sys.stdout.flush()
        self.comm.Abort(1)
        raise error


def _memory(array: np.ndarray[Any, Any]) -> MPI.buffer:
    # By address: mpi4py refuses the buffer of a read-only array, although sending only reads.
    return MPI.buffer.fromaddress(array.ctypes.data, array.nbytes)
