"""Digests of the rows of an array: which rows have changed since they were taken.

Theory: multilinear hashing (Carter, Wegman 1979; Lemire, Kaser 2014) over the 64-bit words of a row, each
mixed by a bijection first. A row in which one word has changed always has another digest; other changes,
permutations included, go unseen with a probability of about 2^-64. The digest reads memory at about the speed
of a copy, without keeping one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array

Digests = npt.NDArray[np.uint64]

#: Bytes that are hashed at once, so that they and what is computed of them stay in the processor's cache.
_BLOCK_BYTES = 1 << 18

#: Arrays up to this size have a digest for each row; rows of larger ones are taken together, a page at least.
_SMALL_BYTES, _GROUP_BYTES = 1 << 24, 1 << 12

_WORD = 8


class ArrayDigests:
    """What the rows of ``array`` along ``axis`` are now, to be compared with what they are later.

    In a large array rows are taken in groups, except next to the rows ``edges``, where iterations of this
    rank end: so the digests take a hundredth of the array's memory.
    """

    def __init__(self, array: Array, axis: int, edges: Sequence[int] = ()) -> None:
        self._array, self._axis = array, axis
        rows = array.shape[axis] if array.ndim else 1
        width = array.nbytes // max(1, rows)
        self._group = 1 if array.nbytes <= _SMALL_BYTES else max(1, _GROUP_BYTES // max(1, width))
        self._before = row_digests(array, axis, self._group)
        self._single: dict[int, Digests] = {}
        self.add_edges(edges)

    def add_edges(self, edges: Sequence[int]) -> None:
        """Look at single rows next to the rows ``edges`` too, which are what they were at first."""
        if self._group > 1:
            near = {edge // self._group + step for edge in edges for step in (-1, 0, 1)}
            self._single |= {group: self._rows(group) for group in near if 0 <= group < len(self._before)}

    def changed(self, apart_from: Iterable[Rows]) -> int | None:
        """A row that has changed, apart from the rows given; None if none is found."""
        if _count(self._array, self._axis, self._group) != len(self._before):
            return 0
        known = [rows for rows in apart_from if rows]
        compared = np.ones(len(self._before), np.bool_)
        for rows in known:
            for run in rows:
                compared[_groups(run, self._group)] = False
        for part in _parts(self._array, self._axis, self._group):
            if compared[part].any():  # others need not be read
                after = _digests_of(self._array, self._axis, self._group, part)
                differs = (after != self._before[part]) & compared[part]
                if differs.any():
                    first: int = part.start + int(differs.argmax())
                    return first * self._group
        singly = (self._changed_in(group, known) for group in self._single)
        return next((row for row in singly if row is not None), None)

    def _rows(self, group: int) -> Digests:
        lines = np.moveaxis(self._array, self._axis, 0)
        return row_digests(lines[group * self._group : (group + 1) * self._group])

    def _changed_in(self, group: int, apart_from: Iterable[Rows]) -> int | None:
        first = group * self._group
        for place in np.flatnonzero(self._rows(group) != self._single[group]).tolist():
            if not any(first + place in run for rows in apart_from for run in rows):
                return int(first + place)
        return None


def _groups(run: range, size: int) -> slice:
    """The groups in which rows of a run lie, and those between them."""
    if size == 1:
        return slice(run.start, run.stop, run.step)
    low, high = min(run[0], run[-1]), max(run[0], run[-1])
    return slice(low // size, high // size + 1)


def row_digests(array: Array, axis: int = 0, group: int = 1) -> Digests:
    """One digest for each ``group`` of rows of ``array`` along ``axis``; an array without axes is one row."""
    digests = np.empty(_count(array, axis, group), np.uint64)
    for part in _parts(array, axis, group):
        digests[part] = _digests_of(array, axis, group, part)
    return digests


def _count(array: Array, axis: int, group: int) -> int:
    """How many groups of rows there are."""
    return -(-array.shape[axis] // group) if array.ndim else 1


def _parts(array: Array, axis: int, group: int) -> Iterator[slice]:
    """All groups in order, in parts that are hashed at once."""
    count = _count(array, axis, group)
    step = max(1, _BLOCK_BYTES * count // max(1, array.nbytes))
    return (slice(first, min(first + step, count)) for first in range(0, count, step))


def _digests_of(array: Array, axis: int, group: int, part: slice) -> Digests:
    """The digests of one part of the groups."""
    rows = np.moveaxis(array, axis, 0) if array.ndim else array.reshape(1)
    width = rows.nbytes // max(1, len(rows))
    if not width:
        return np.zeros(part.stop - part.start, np.uint64)
    return _hashed(_words(rows[part.start * group : part.stop * group], width, group))


def _words(rows: Array, width: int, group: int) -> Digests:
    """Groups of rows as 64-bit words, one row of words for each, filled up with zeros."""
    raw = np.ascontiguousarray(rows).reshape(-1).view(np.uint8)
    length = width * group
    if len(raw) % length or length % _WORD:
        count, padded = -(-len(raw) // length), length + -length % _WORD
        filled = np.zeros((count, padded), np.uint8)
        whole = len(raw) // length
        filled[:whole, :length] = raw[: whole * length].reshape(whole, length)
        filled[whole:, : len(raw) - whole * length] = raw[whole * length :]
        return filled.view(np.uint64)
    return raw.reshape(-1, length).view(np.uint64)


def _hashed(words: Digests) -> Digests:
    if words.shape[1] == 1:
        return words[:, 0]  # a word is its own digest
    mixed = words >> np.uint64(29)
    mixed ^= words
    # Of the ways to multiply and add, the fastest for rows of few words too.
    digests: Digests = np.einsum("ij,j->i", mixed, _weights(words.shape[1]))
    return digests


@functools.lru_cache(maxsize=8)
def _weights(count: int) -> Digests:
    """Odd multipliers that look random (SplitMix64; Steele, Lea, Flood 2014)."""
    z = (np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)
