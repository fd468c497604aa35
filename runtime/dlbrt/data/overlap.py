"""Memory that objects share: arrays, what else exposes memory, and files that are mapped more than once.

Two arrays overlap if an element of one has an address of the other. Mapped into memory twice, a file has two
addresses for each of its bytes: there device, inode and offset decide (`/proc/self/maps`).
"""

from __future__ import annotations

import itertools
import mmap
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dlbrt.data.memory import Array
from dlbrt.records import dataclass

#: Bound on the work of numpy's exact overlap test; beyond it memory counts as overlapping.
_OVERLAP_WORK = 100_000

#: Types whose values hold nothing with memory of its own that could be shared.
_CLOSED = frozenset({int, float, complex, bool, str, bytes, type(None), np.float64, np.int64, np.bool_})

_MAPS = "/proc/self/maps"


def overlap(one: Array, other: Array) -> bool:
    """Whether two arrays have a byte in common, in memory or in a file."""
    if not np.may_share_memory(one, other):
        return _share_a_file(one, other)
    try:
        return np.shares_memory(one, other, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def crowded(arrays: Iterable[Array]) -> bool:
    """Whether the memory of any two arrays overlaps, judged by its bounds."""
    bounds = sorted(byte_bounds(array) for array in arrays if array.size)
    return any(low < high for (_, high), (low, _) in itertools.pairwise(bounds))


def exposes_memory(value: Any) -> bool:
    """Whether an object other than an array gives access to memory of its own or another object's."""
    if isinstance(value, np.ndarray | np.generic | bytes):
        return False
    try:
        memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def window(value: Any) -> Array:
    """The memory that an object exposes, as an array."""
    return np.asarray(memoryview(value))


def owner(array: Array) -> Any:
    """The object that the memory of an array belongs to: an array, a byte array, a mapped file, ..."""
    value: Any = array
    while True:
        below = value.base if isinstance(value, np.ndarray) else getattr(value, "obj", None)
        if below is None or not isinstance(value, np.ndarray | memoryview):
            return value
        value = below


def exposed_within(data: list[Any]) -> Iterator[Array]:
    """The memory of what lies in a list, and in the containers and instances in it."""
    seen, waiting = {id(data): data}, [data]
    while waiting:
        held = waiting.pop()
        for value in _parts(held):
            if isinstance(value, np.ndarray):
                yield value
            elif exposes_memory(value):
                yield window(value)
            elif id(value) not in seen:
                seen[id(value)] = value
                waiting.append(value)


def _parts(held: Any) -> Iterable[Any]:
    """What an object holds that may hold more, or have memory."""
    if isinstance(held, Mapping):
        held = list(held.values())
    elif isinstance(held, type | types.ModuleType | types.FunctionType):
        return ()
    elif not isinstance(held, list | tuple | set | frozenset):
        held = list(getattr(held, "__dict__", {}).values())
    closed = _closed()
    if closed.issuperset(map(type, held)):
        return ()
    return [value for value in held if type(value) not in closed]


def _closed() -> frozenset[object]:
    """`_CLOSED`, and numpy's seeds, which keep their memory to themselves."""
    module = sys.modules.get("numpy.random.bit_generator")
    return _CLOSED if module is None else _CLOSED | {module.SeedSequence}


@dataclass(frozen=True, slots=True)
class _FileRange:
    """The bytes ``start`` to ``stop`` - 1 of a file, by device and inode."""

    file: tuple[str, str]
    start: int
    stop: int


def _share_a_file(one: Array, other: Array) -> bool:
    if not (isinstance(owner(one), mmap.mmap) and isinstance(owner(other), mmap.mmap)):
        return False
    try:
        with open(_MAPS) as file:
            maps = file.readlines()
    except OSError:
        return True
    ranges = _file_ranges(one, maps), _file_ranges(other, maps)
    return any(
        a.file == b.file and a.start < b.stop and b.start < a.stop for a, b in itertools.product(*ranges)
    )


def _file_ranges(array: Array, maps: Iterable[str]) -> list[_FileRange]:
    """The parts of files that the memory of an array is mapped to, of lines such as

    ``7f0c0000-7f0c1000 rw-s 00002000 08:01 1234 /tmp/data``.
    """
    low, high = byte_bounds(array)
    found = []
    for line in maps:
        bounds, _, offset, device, inode, *_ = line.split(None, 5)
        first, last = (int(bound, 16) for bound in bounds.split("-"))
        if inode != "0" and low < last and first < high:
            shift = int(offset, 16) - first
            found.append(_FileRange((device, inode), max(low, first) + shift, min(high, last) + shift))
    return found
