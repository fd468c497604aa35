"""Arrays with the layout of rank 0's, under their global index, in memory that is committed when touched.

A worker addresses every distributed array by its global index, in an array with the original's shape, strides
and address modulo 64. So bodies need no index translation, halo rows and moved rows have their place, and
library kernels that choose their order of summation by layout give the same bits. Large arrays lie in
anonymous mappings without reserve, so that only the rows that a rank touches cost memory.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dlbrt.records import dataclass

Array = np.ndarray[Any, np.dtype[Any]]

_ALIGNMENT = 64
_MAPPED_FROM = 1 << 16
_LARGE_PAGE = 1 << 21


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory: ``extent`` bytes from an address that is ``phase`` modulo 64.

    Its first element is ``offset`` bytes into the extent.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    extent: int
    offset: int
    phase: int
    writeable: bool

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie one after the other, in the order of C or of Fortran."""
        orders = (
            _strides(self.shape, self.dtype.itemsize),
            _strides(self.shape[::-1], self.dtype.itemsize)[::-1],
        )
        return self.strides in orders


def _strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of a C-contiguous array."""
    following = itertools.accumulate(reversed(shape[1:]), operator.mul, initial=itemsize)
    return tuple(following)[::-1]


def layout_of(array: Array) -> Layout:
    """The layout of an array."""
    low, high = byte_bounds(array)
    first = array.ctypes.data
    return Layout(
        array.shape,
        array.dtype,
        array.strides,
        high - low,
        first - low,
        low % _ALIGNMENT,
        array.flags.writeable,
    )


@dataclass(frozen=True, slots=True)
class ArrayLocation:
    """Where an array lies and how it views its memory; equal for arrays that show the same elements alike."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    def array(self, owner: object) -> Array:
        """The array; it keeps ``owner``, which still owns the memory, alive."""
        spans = [stride * (length - 1) for stride, length in zip(self.strides, self.shape, strict=True)]
        below = -sum(span for span in spans if span < 0)
        extent = below + sum(span for span in spans if span > 0) + self.dtype.itemsize
        stretch = np.asarray(_Stretch(self.address - below, extent, owner))
        return np.ndarray(self.shape, self.dtype, stretch.data, below, self.strides)


class _Stretch:
    """Bytes that ``owner`` owns, in numpy's array interface."""

    def __init__(self, address: int, size: int, owner: object) -> None:
        self.owner = owner
        interface = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}
        self.__array_interface__ = interface


def address(array: Array) -> int:
    """Where the first element of an array lies."""
    return int(array.__array_interface__["data"][0])


def array_location(array: Array) -> ArrayLocation:
    """Where an array lies."""
    return ArrayLocation(address(array), array.shape, array.strides, array.dtype)


def allocate(layout: Layout) -> Array:
    """A zeroed array of that layout, committed page by page as it is touched."""
    size = extent_with_alignment(layout)
    return array_within(_mapping(size) if size >= _MAPPED_FROM else np.zeros(size, dtype=np.uint8), layout)


class ReusedMemory:
    """Arrays in the memory of earlier ones to which nothing refers any more: its pages are committed already.

    Committing a page costs several times what filling it does. What an array holds at first is what the
    earlier one has left, so all that is read has to be filled.
    """

    def __init__(self) -> None:
        self._mappings: list[np.ndarray[Any, np.dtype[np.uint8]]] = []  # the ones used last at the end

    def trim(self) -> None:
        """Give back memory to which nothing refers; a little of it is kept, for what is used now and then."""
        room = _IDLE_BYTES
        for number in reversed(range(len(self._mappings))):
            if self._is_idle(number) and self._mappings[number].nbytes > room:
                del self._mappings[number]
            elif self._is_idle(number):
                room -= self._mappings[number].nbytes

    def array(self, layout: Layout) -> Array:
        """An array of that layout; it is zero only where its memory is new."""
        size = extent_with_alignment(layout)
        if size < _MAPPED_FROM or size > _most_reused() or not layout.is_contiguous:
            return allocate(layout)
        memory = self._unused(size)
        if memory is None:
            memory = _mapping(size)
        self._mappings.append(memory)
        return array_within(memory, layout)

    def _unused(self, size: int) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
        """Memory of that size to which nothing refers but this object; it does so no more."""
        for number in range(len(self._mappings)):
            if self._mappings[number].nbytes == size and self._is_idle(number):
                return self._mappings.pop(number)
        return None

    def _is_idle(self, number: int) -> bool:
        """Whether nothing refers to a memory but this object."""
        return sys.getrefcount(self._mappings[number]) == _ALONE


#: How many bytes that were not used lately stay.
_IDLE_BYTES = 32 << 20

#: The references to an object that one list holds, as `sys.getrefcount` counts them.
_HELD = [object()]
_ALONE = sys.getrefcount(_HELD[0])


def _most_reused() -> int:
    """The most bytes of an array whose memory is kept: the other ranks of a host may keep as much."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8
    except (AttributeError, OSError, ValueError):
        return 1 << 30


def hold_only(array: Array, axis: int, rows: Sequence[range]) -> None:
    """Give back the pages of an array made by `allocate` that hold none of these rows.

    The contents of the other rows are lost, and where rows are scattered those of all. Other arrays keep what
    they have, and so do parts of arrays.
    """
    if array.nbytes + 2 * _ALIGNMENT != getattr(array.base, "nbytes", 0):
        return
    if not array.flags.c_contiguous:
        array, axis = array.T, array.ndim - 1 - axis
    if not array.ndim or not array.flags.c_contiguous:
        return
    dense = not axis and all(run.step == 1 for run in rows)
    end, others = 0, []
    for run in sorted(rows, key=lambda run: run.start) if dense else ():
        others.append(range(end, run.start))
        end = max(end, run.stop)
    release(array, 0, [*filter(None, others), range(end, len(array))])


def extent_with_alignment(layout: Layout) -> int:
    """How many bytes `array_within` needs."""
    return layout.extent + 2 * _ALIGNMENT


def array_within(memory: np.ndarray[Any, np.dtype[np.uint8]], layout: Layout) -> Array:
    """An array of that layout in memory that is large enough."""
    shift = (layout.phase - memory.ctypes.data) % _ALIGNMENT
    return np.ndarray(layout.shape, layout.dtype, memory.data, shift + layout.offset, layout.strides)


def prefer_large_pages(address: int, size: int) -> None:
    """Ask for large pages in memory that is about to be touched from end to end, where the system has them.

    Committing a page costs more than filling it; large pages make fresh memory several times faster. Only
    whole large pages inside the memory are asked for, so nothing beyond it is committed.
    """
    start = -(-address // _LARGE_PAGE) * _LARGE_PAGE
    length = (address + size - start) // _LARGE_PAGE * _LARGE_PAGE
    if length > 0 and _madvise is not None:
        _madvise(start, length, mmap.MADV_HUGEPAGE)


def release(array: Array, axis: int, rows: Sequence[range]) -> None:
    """Give back the pages that hold nothing but these rows of an array made by `allocate`.

    The rows' contents are lost. Rows that are not contiguous in memory keep it.
    """
    if axis or not array.flags.c_contiguous or array.nbytes < _MAPPED_FROM or _madvise is None:
        return
    size, base = array.nbytes // len(array), array.ctypes.data
    for run in rows:
        if run.step == 1:
            start = -(-(base + run.start * size) // mmap.PAGESIZE) * mmap.PAGESIZE
            length = (base + run.stop * size - start) // mmap.PAGESIZE * mmap.PAGESIZE
            if length > 0:
                _madvise(start, length, mmap.MADV_DONTNEED)


def _find_madvise() -> Callable[[int, int, int], int] | None:
    if not (hasattr(mmap, "MADV_HUGEPAGE") and hasattr(mmap, "MADV_DONTNEED")):
        return None
    function: Any = getattr(ctypes.CDLL(None), "madvise", None)
    if function is not None:
        function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function  # type: ignore[no-any-return]


_madvise = _find_madvise()


def _mapping(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype=np.uint8)
