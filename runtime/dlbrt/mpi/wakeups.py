"""Rank 0 wakes the ranks of its host that wait for a command.

A rank that has waited for a second looks for messages every hundredth of a second, so that it leaves the
processor to others. A short loop after a long pause of the program would begin that much later there. So a
rank that waits for a command sleeps at a pipe, and rank 0 writes to it when it has sent one. Between hosts,
and where a system has no `/proc`, ranks look as often as otherwise.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from mpi4py import MPI

#: A rank that has waited for a shorter time, in seconds, hardly sleeps yet.
_BRIEF_S = 0.005


class Wakeups:
    """The pipe at which this rank sleeps, and at rank 0 those of the other ranks of its host; collective."""

    def __init__(self, host: MPI.Comm) -> None:
        self._pipe, self._end = os.pipe()  # the end stays open: a pipe without one would wake for good
        for handle in (self._pipe, self._end):
            os.set_blocking(handle, False)
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)
        paths = host.gather(f"/proc/{os.getpid()}/fd/{self._end}", root=0)
        self._others = tuple(_opened(paths[1:])) if paths else ()
        self._woken_s = time.monotonic()

    def wake(self) -> None:
        """At rank 0: wake the others, unless they have been woken just now."""
        now = time.monotonic()
        if now - self._woken_s > _BRIEF_S:
            for handle in self._others:
                with suppress(BlockingIOError):  # it is full: the rank has died, or has not slept for long
                    os.write(handle, b"\0")
        self._woken_s = now

    def sleep(self, seconds: float) -> bool:
        """Sleep; whether this rank has been woken."""
        if not self._poll.poll(seconds * 1e3):
            return False
        with suppress(OSError):
            os.read(self._pipe, select.PIPE_BUF)
        return True


def _opened(paths: Iterable[str]) -> Iterator[int]:
    for path in paths:
        with suppress(OSError):
            # For reading too: of a pipe that nobody reads, since its rank has died, a signal would come.
            yield os.open(path, os.O_RDWR | os.O_NONBLOCK)
