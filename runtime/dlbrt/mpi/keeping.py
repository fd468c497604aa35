"""What the workers keep of arrays of rank 0, and until when.

Law: no reference to an array of the program is held, not even a weak one, with which numpy refuses to resize
it (`PyArray_Resize` asks for the list of weak references). An array is known by its identity and layout;
another one that has taken both over agrees in its elements as well, by their digest, before it passes for it.

That an array is gone is seen by its memory: the kernel has it no more (`mincore`), at once for what the C
library maps by itself, everything from 32 MiB on; or an array that owns its memory lies there now. What is
left and is not asked for any more is given up after some calls, small arrays sooner where they are many: if
one is there after all, it is sent once more.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from dataclasses import replace

from numpy.lib.array_utils import byte_bounds

from dlbrt.dist.memory import Array, Layout
from dlbrt.records import dataclass

__all__ = ["SentArrays"]

#: Calls after which an array that came with none of them is taken to be gone.
_MAX_UNUSED_CALLS = 64
#: How many bytes the workers keep, at most, of smaller arrays that did not come with the last call.
_IDLE_BYTES = 256 << 20
#: Blocks of this size are mapped by themselves (`DEFAULT_MMAP_THRESHOLD_MAX` of the C library).
_MAPPED_ALONE = 32 << 20


@dataclass(frozen=True, slots=True)
class _Kept:
    token: int
    layout: Layout
    digest: bytes
    bounds: tuple[int, int]
    owns: bool
    seen: int


class SentArrays:
    """Rank 0's table of the arrays that all workers have: by identity, the one seen last at the end."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._calls = 0

    def token(self, value: Array, layout: Layout, digest: bytes) -> int | None:
        """The token of an array whose elements the workers have; None where they have not."""
        kept = self._kept.get(id(value))
        if kept is None or (kept.layout, kept.digest) != (layout, digest):
            return None
        del self._kept[id(value)]
        self._kept[id(value)] = replace(kept, seen=self._calls, bounds=byte_bounds(value))
        return kept.token

    def knows(self, value: Array) -> bool:
        """Whether something is kept under the identity of the array."""
        return id(value) in self._kept

    def remember(self, value: Array, token: int, layout: Layout, digest: bytes) -> Iterator[int]:
        """The workers now have the array; gives the tokens of what it has replaced."""
        bounds, owns = byte_bounds(value), value.base is None
        replaced = [
            key for key, kept in self._kept.items() if key == id(value) or _is_over(kept, bounds, owns)
        ]
        yield from [self._kept.pop(key).token for key in replaced]
        self._kept[id(value)] = _Kept(token, layout, digest, bounds, owns, self._calls)

    def forget(self) -> Iterator[int]:
        """A call begins: gives the tokens of what is gone, or has not been asked for in a long time."""
        idle = 0
        for key, kept in reversed(list(self._kept.items())):
            if kept.seen == self._calls:
                continue
            small = kept.layout.extent < _MAPPED_ALONE
            idle += kept.layout.extent if small else 0
            late = kept.seen + _MAX_UNUSED_CALLS < self._calls or (small and idle > _IDLE_BYTES)
            if late or not _is_mapped(kept.bounds):
                yield self._kept.pop(key).token
        self._calls += 1


def _is_over(kept: _Kept, bounds: tuple[int, int], owns: bool) -> bool:
    """Whether the memory of an array is another's now: two that own theirs do not overlap."""
    return owns and kept.owns and bounds[0] < kept.bounds[1] and kept.bounds[0] < bounds[1]


def _is_mapped(bounds: tuple[int, int]) -> bool:
    """Whether the process has memory at the first whole page there; true where that cannot be asked."""
    page = -(-bounds[0] // mmap.PAGESIZE) * mmap.PAGESIZE
    if page + mmap.PAGESIZE > bounds[1]:
        return True
    try:
        ask = ctypes.CDLL(None, use_errno=True).mincore
    except (AttributeError, OSError):
        return True
    state = (ctypes.c_ubyte * 1)()
    return bool(ask(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), state) == 0)
