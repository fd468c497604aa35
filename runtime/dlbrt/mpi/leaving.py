"""How processes leave, so that the launcher gives the program's own status.

A launcher that finds one process gone with a status other than 0 kills the others, and may give the signal
that killed them instead. So rank 0, where it leaves in a hurry, dismisses the other ranks and sees those of
its own host gone before.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

from mpi4py import MPI

from dlbrt.mpi.wire import Communicator

__all__ = ["exit_together", "neighbours"]

#: Seconds that rank 0 waits for the others to be gone, at most.
_EXIT_TIMEOUT_S = 1.0


def neighbours(communicator: Communicator) -> tuple[int, ...]:
    """The process numbers of the other ranks on this host."""
    mine = MPI.Get_processor_name()
    reports = communicator.comm.allgather((mine, os.getpid()))
    return tuple(pid for host, pid in reports if host == mine and pid != os.getpid())


def exit_together(
    leave: Callable[[int], NoReturn], dismiss: Callable[[], bool], others: Sequence[int]
) -> Callable[[int], NoReturn]:
    """`os._exit` for rank 0: the other ranks are dismissed before, if they can be."""

    @functools.wraps(leave)
    def leave_together(status: int) -> NoReturn:
        if dismiss():
            MPI.Finalize()
            end = time.monotonic() + _EXIT_TIMEOUT_S
            while any(map(_runs, others)) and time.monotonic() < end:
                time.sleep(1e-3)
        leave(status)

    return leave_together


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
