"""Twins and diffs: which elements of an array or list have changed since a copy was made of it.

This is the multiple-writer protocol of TreadMarks. Where iterations store to single elements that rows cannot
separate, every rank holds the whole array, keeps a twin of it and returns the diff. Elements of arrays are
compared as bytes, so a NaN equals itself and -0.0 differs from 0.0. Elements of lists are compared by
identity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dlbrt.data.memory import Array
from dlbrt.records import dataclass

#: Elements compared at a time, which keeps temporary memory small.
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Diff:
    """``values`` of the elements at ``places``, which are ascending and count in C order."""

    places: Array
    values: Any

    def __len__(self) -> int:
        return len(self.places)

    def encode(self) -> bytes:
        """The diff of an array as bytes."""
        return bytes(self.places.tobytes() + self.values.tobytes())

    @classmethod
    def decode(cls, data: bytes | bytearray, array: Array) -> Diff:
        """The diff that `encode` wrote for an array of the same size and type."""
        kind = _place_kind(array.size)
        count = len(data) // (kind.itemsize + array.itemsize)
        places = np.frombuffer(data, kind, count)
        return cls(places, np.frombuffer(data, _raw(array).dtype, count, count * kind.itemsize))

    def put(self, data: Any) -> None:
        """Put the values in their places."""
        if isinstance(data, np.ndarray):
            _raw(data).flat[self.places] = self.values
            return
        for place, value in zip(self.places.tolist(), self.values, strict=True):
            data[place] = value


class Twin:
    """A copy of an array or list, to be compared with it later."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._copy: Any = _raw(data).copy("C") if isinstance(data, np.ndarray) else list(data)

    def diff(self) -> Diff:
        """What has changed since the copy was made."""
        if isinstance(self._data, np.ndarray):
            return self._array_changes(self._data)
        pairs = enumerate(zip(self._data, self._copy, strict=True))
        changed = [place for place, (new, old) in pairs if new is not old]
        return Diff(np.array(changed, np.int64), [self._data[place] for place in changed])

    def _array_changes(self, data: Array) -> Diff:
        new, old = _raw(data), self._copy.reshape(-1)
        dense = new.reshape(-1) if data.flags.c_contiguous else new.flat
        places = [
            start + _differing(dense[start : start + _BLOCK], old[start : start + _BLOCK])
            for start in range(0, data.size, _BLOCK)
        ]
        found = np.concatenate(places) if places else np.empty(0, np.int64)
        return Diff(found.astype(_place_kind(data.size)), dense[found])


class DiffMerge:
    """The diffs of all ranks, no two of which may give an element different values."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._places: list[Array] = []
        self._values: list[Any] = []
        self._ranks: list[int] = []

    def add(self, rank: int, diff: Diff) -> None:
        """Add the diff of a rank."""
        self._places.append(diff.places)
        self._values.append(diff.values)
        self._ranks.append(rank)

    def conflict(self) -> tuple[int, tuple[int, int]] | None:
        """The place of an element with different values and the two ranks; None if there is none."""
        places = np.concatenate(self._places).astype(np.int64)
        ranks = np.repeat(self._ranks, list(map(len, self._places)))
        order = np.argsort(places, kind="stable")
        twice = np.flatnonzero(places[order][1:] == places[order][:-1])
        for one, other in zip(order[twice].tolist(), order[twice + 1].tolist(), strict=True):
            if not self._same(one, other):
                return int(places[one]), (int(ranks[one]), int(ranks[other]))
        return None

    def _same(self, one: int, other: int) -> bool:
        first, second = self._value(one), self._value(other)
        if isinstance(self._data, list):
            return first is second
        return bool(first.tobytes() == second.tobytes())

    def _value(self, number: int) -> Any:
        for values in self._values:
            if number < len(values):
                return values[number]
            number -= len(values)
        raise IndexError(number)


def _raw(array: Array) -> Array:
    """The array with each element as raw bytes, so that copies and comparisons see every bit."""
    return array.view(np.dtype((np.void, array.itemsize)))


def _differing(new: Array, old: Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The places at which two contiguous stretches of raw elements differ."""
    size = new.dtype.itemsize
    unit = next(width for width in (8, 4, 2, 1) if size % width == 0)
    ours, theirs = (np.ascontiguousarray(x).view(f"u{unit}").reshape(len(x), -1) for x in (new, old))
    return np.flatnonzero((ours != theirs).any(axis=1))


def _place_kind(size: int) -> np.dtype[Any]:
    return np.dtype(np.uint32 if size < 1 << 32 else np.uint64)
