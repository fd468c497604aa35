"""Memory that processes of one host have in common until they write to it.

One process makes a segment and fills it; others map it by the numbers of that process and of its file. All
map it privately: a page is common to them until one writes to it, which then has a copy of its own. So an
array in a segment is to each process as an array of its own.

A segment has no name in any file system (`memfd_create`), so nothing is left behind however its processes
end, and the size of /dev/shm does not bound it. Its pages are allocated when it is made: where there are too
few, that is an OSError here, and not a signal at the first touch.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

#: How many numbers name a segment.
NUMBERS = 5


class MemorySegment:
    """A segment of ``size`` bytes, made by this process; OSError where the system has none to give."""

    def __init__(self, size: int) -> None:
        if not hasattr(os, "memfd_create"):
            raise OSError("no memory without a name here")
        self._file = os.memfd_create("dlbc")
        try:
            os.posix_fallocate(self._file, 0, size)
            self.memory: Bytes = np.frombuffer(mmap.mmap(self._file, size), dtype=np.uint8)
            found = os.fstat(self._file)
        except BaseException:
            self.close()
            raise
        self.numbers = (os.getpid(), self._file, found.st_dev, found.st_ino, size)

    def close(self) -> None:
        """Let nobody map it any more; mappings stay."""
        os.close(self._file)


def map_segment(numbers: Sequence[int]) -> Bytes:
    """The bytes of a filled segment, writable for this process alone; OSError where it cannot be had."""
    pid, number, device, inode, size = numbers
    file = os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY)
    try:
        found = os.fstat(file)
        if (found.st_dev, found.st_ino, found.st_size) != (device, inode, size):
            raise OSError("the process of that number is another one here")
        private = mmap.mmap(file, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        os.close(file)
    return np.frombuffer(private, dtype=np.uint8)
