"""The page of memory on which the ranks of a host say what they do, and the process that reads it.

See `dlbrt.watchdog`. Where the system cannot watch processes so, ranks write to memory of their own.
"""

from __future__ import annotations

import mmap
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mpi4py import MPI

from dlbrt import watchdog
from dlbrt.watchdog import (
    ABORTING,
    APART,
    LEAVING,
    MARKS,
    MEETING,
    RUNNING,
    SLOT_BYTES,
    Activity,
    Meeting,
    mark,
)

if TYPE_CHECKING:
    import socket
    from pathlib import Path

#: The request by which Linux says the address of a device (SIOCGIFADDR).
_GET_ADDRESS = 0x8915

#: The shell ends at once, so the program has no child of which it does not know.
_OF_RANKS = ("PMI", "PMIX", "OMPI_", "HYDI_", "SLURM_PROCID")
_IN_BACKGROUND = '"$@" >/dev/null &'


class Board:
    """This rank's slot on the page.

    ``watchers`` is the directory of `dlbrt.contract.WATCHERS` under `dlbc run`; ``began`` on rank 0 the file
    of `dlbrt.contract.BEGAN`, where ranks may die.
    """

    watchers: Path | None = None
    began: Path | None = None

    def __init__(self) -> None:
        self._page = memoryview(bytearray(SLOT_BYTES))
        self._number = 0
        self._process = 0
        self._loop = ""
        self._runs = False
        self._meeting: Meeting | None = None

    def meet(self, comm: MPI.Comm) -> None:
        """Have the watchdogs of several hosts hear of each other; collective, before `share`."""
        opened = _open_meeting() if comm.rank == 0 else None
        if (meeting := comm.bcast(opened, root=0)) is not None:
            self._meeting = meeting if comm.rank == 0 else meeting._replace(handle=-1)

    def share(self, host: MPI.Comm, rank: int, timeout_s: float, *, outlived: bool) -> None:
        """Share a page among the ranks of a host, and have a process watch them; collective.

        ``outlived``: when ranks above 0 die, the others go on.
        """
        handle = -1
        if host.rank == 0 and hasattr(os, "memfd_create") and hasattr(os, "pidfd_open"):
            handle = os.memfd_create("dlb")
            os.truncate(handle, host.size * SLOT_BYTES)
        self._process = os.getpid()
        path = host.bcast(f"/proc/{os.getpid()}/fd/{handle}" if handle >= 0 else "", root=0)
        if not path:
            if host.rank == 0 and self.watchers is not None:
                mark(str(self.watchers))  # ranks have begun
            return
        with suppress(OSError):
            opened = os.open(path, os.O_RDWR)
            self._page = memoryview(mmap.mmap(opened, host.size * SLOT_BYTES))
            self._number = host.rank
            os.close(opened)
        self._write(APART)
        reports = host.allgather((rank, os.getpid()))
        if host.rank == 0:
            _start(path, timeout_s, reports, self._meeting, self.watchers, outlived=outlived)

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

    def leave(self, *, aborting: bool = False) -> None:
        """This rank is about to end, or the whole job is; not in a process that the program has forked."""
        if os.getpid() == self._process:
            self._runs = False
            self._write(ABORTING if aborting else LEAVING)
            if self.began is not None:
                with suppress(OSError):
                    self.began.write_bytes(b"ended")

    def _write(self, phase: int) -> None:
        Activity(phase, time.monotonic(), self._loop).write(self._page, self._number)


#: That of this process.
board = Board()


def _open_meeting() -> Meeting | None:
    """Open the port at which this host's watchdog hears of others; None where there is no network."""
    import socket

    with suppress(OSError):
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.bind(("", 0))
        port, addresses = opened.getsockname()[1], _addresses(opened)
        return Meeting(os.urandom(16).hex(), port, addresses, opened.detach())
    return None


def _addresses(opened: socket.socket) -> tuple[str, ...]:
    """The addresses of this host in its networks."""
    import fcntl
    import socket
    import struct

    found = []
    for _, name in socket.if_nameindex():
        with suppress(OSError):  # a device without an address
            answer = fcntl.ioctl(opened.fileno(), _GET_ADDRESS, struct.pack("256s", name.encode()[:15]))
            found.append(socket.inet_ntoa(answer[20:24]))
    return tuple(address for address in found if not address.startswith("127."))


def _start(
    page: str,
    timeout_s: float,
    ranks: list[tuple[int, int]],
    meeting: Meeting | None,
    watchers: Path | None,
    *,
    outlived: bool,
) -> None:
    """Start the process that watches these ranks, given by number and process."""
    python = [sys.executable, "-I", "-S", str(watchdog.__file__)]
    arguments = [page, MPI.Get_processor_name(), str(timeout_s), *([watchdog.OUTLIVED] if outlived else [])]
    arguments += (f"{rank}:{pid}" for rank, pid in ranks)
    # The process is no rank: what makes one is left out.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_RANKS)}
    if meeting is not None:
        environment[MEETING] = meeting.encode()
    if watchers is not None:
        environment[MARKS] = str(watchers)
    handle = meeting.handle if meeting is not None else -1
    with suppress(OSError):
        if handle >= 0:
            os.set_inheritable(handle, True)
        shell = os.posix_spawn(
            "/bin/sh", ["sh", "-c", _IN_BACKGROUND, "sh", *python, *arguments], environment, setsid=True
        )
        os.waitpid(shell, 0)
    if handle >= 0:
        os.close(handle)
