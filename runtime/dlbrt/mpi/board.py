"""The page of memory on which the ranks of a host say what they do, and the process that reads it.

See `dlbrt.watchdog`. Where the system cannot watch processes so, ranks write to memory of their own.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from contextlib import suppress

from mpi4py import MPI

from dlbrt import watchdog
from dlbrt.watchdog import APART, LEAVING, RUNNING, SLOT_BYTES, Activity

#: The shell ends at once, so the program has no child of which it does not know.
_OF_RANKS = ("PMI", "PMIX", "OMPI_", "HYDI_", "SLURM_PROCID")
_IN_BACKGROUND = '"$@" >/dev/null &'


class Board:
    """This rank's slot on the page."""

    def __init__(self) -> None:
        self._page = memoryview(bytearray(SLOT_BYTES))
        self._number = 0
        self._process = 0
        self._loop = ""
        self._runs = False

    def share(self, host: MPI.Comm, rank: int, timeout_s: float) -> None:
        """Share a page among the ranks of a host, and have a process watch them; collective."""
        handle = -1
        if host.rank == 0 and hasattr(os, "memfd_create") and hasattr(os, "pidfd_open"):
            handle = os.memfd_create("dlb")
            os.truncate(handle, host.size * SLOT_BYTES)
        self._process = os.getpid()
        path = host.bcast(f"/proc/{os.getpid()}/fd/{handle}" if handle >= 0 else "", root=0)
        if not path:
            return
        with suppress(OSError):
            opened = os.open(path, os.O_RDWR)
            self._page = memoryview(mmap.mmap(opened, host.size * SLOT_BYTES))
            self._number = host.rank
            os.close(opened)
        self._write(APART)
        reports = host.allgather((rank, os.getpid()))
        if host.rank == 0:
            _start(path, timeout_s, reports)

    def begin(self, loop: str) -> None:
        """A loop begins on all ranks; it is named ``loop`` in messages."""
        self._loop, self._runs = loop, True
        self._write(RUNNING)

    def answer(self) -> None:
        """This rank is not silent."""
        if self._runs:
            self._write(RUNNING)

    def end(self) -> None:
        """The loop has ended on this rank."""
        if self._runs:
            self._runs = False
            self._write(APART)

    def leave(self) -> None:
        """This rank is about to end; not in a process that the program has forked."""
        if os.getpid() == self._process:
            self._runs = False
            self._write(LEAVING)

    def _write(self, phase: int) -> None:
        Activity(phase, time.monotonic(), self._loop).write(self._page, self._number)


#: That of this process.
board = Board()


def _start(page: str, timeout_s: float, ranks: list[tuple[int, int]]) -> None:
    """Start the process that watches these ranks, given by number and process."""
    python = [sys.executable, "-I", "-S", str(watchdog.__file__)]
    arguments = [page, MPI.Get_processor_name(), str(timeout_s), *(f"{rank}:{pid}" for rank, pid in ranks)]
    # The process is no rank: what makes one is left out.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_RANKS)}
    with suppress(OSError):
        shell = os.posix_spawn(
            "/bin/sh", ["sh", "-c", _IN_BACKGROUND, "sh", *python, *arguments], environment, setsid=True
        )
        os.waitpid(shell, 0)
