"""Digests of the rows of an array: which rows have changed since they were taken.

Theory: multilinear hashing (Carter, Wegman 1979; Lemire, Kaser 2014) over the 64-bit words of a row, each
mixed by a bijection first. A row in which one word has changed always has another digest; other changes,
permutations included, go unseen with a probability of about 2^-64. The digest reads memory at about the speed
of a copy, without keeping one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array

Digests = npt.NDArray[np.uint64]

#: Bytes that are hashed at once, so that they and what is computed of them stay in the processor's cache.
_BLOCK_BYTES = 1 << 18

_WORD = 8


def row_digests(array: Array, axis: int = 0) -> Digests:
    """One digest for each row of ``array`` along ``axis``; of an array without axes, one for its value."""
    rows = np.moveaxis(array, axis, 0) if array.ndim else array.reshape(1)
    count, width = len(rows), rows.nbytes // max(1, len(rows))
    digests = np.zeros(count, np.uint64)
    if not width:
        return digests
    if width == _WORD:
        return _words(rows, width)[:, 0].copy()  # a word is its own digest
    step = max(1, _BLOCK_BYTES // width)
    for first in range(0, count, step):
        words = _words(rows[first : first + step], width)
        digests[first : first + step] = _hashed(words)
    return digests


def changed_row(before: Digests, after: Digests, apart_from: Iterable[Rows]) -> int | None:
    """The first row whose digest differs, apart from the rows given; None if there is none."""
    if len(before) != len(after):
        return min(len(before), len(after))
    differs = before != after
    for rows in apart_from:
        for run in rows:
            differs[run.start : run.stop : run.step] = False
    places = np.flatnonzero(differs)
    return int(places[0]) if len(places) else None


def _words(rows: Array, width: int) -> Digests:
    """The rows as 64-bit words, one row of words for each, filled up with zeros."""
    flat = np.ascontiguousarray(rows).reshape(-1).view(np.uint8).reshape(len(rows), width)
    if width % _WORD:
        padded = np.zeros((len(rows), width + _WORD - width % _WORD), np.uint8)
        padded[:, :width] = flat
        flat = padded
    return flat.view(np.uint64)


def _hashed(words: Digests) -> Digests:
    mixed = (words ^ (words >> np.uint64(29))) * _weights(words.shape[1])
    digests: Digests = np.add.reduce(mixed, axis=1)
    return digests


@functools.lru_cache(maxsize=8)
def _weights(count: int) -> Digests:
    """Odd multipliers that look random (SplitMix64; Steele, Lea, Flood 2014)."""
    z = (np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)
