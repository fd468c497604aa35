"""Digests of rows: every change of one element shows, at its own row and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.data import digests
from dlbrt.data.digests import ArrayDigests

SHAPES = [((7,), 0), ((5, 3), 0), ((5, 3), 1), ((4, 2, 6), 1), ((3000, 100), 0)]
KINDS = ["f8", "u1", "?", "c16", "i2", "M8[s]", "V5"]


def filled(shape: tuple[int, ...], kind: str) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    raw = (np.arange(size) * 7 % (2 if kind == "?" else 251)).astype(np.uint8)
    return raw.view(kind).reshape(shape).copy()


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_one_byte_shows_at_its_row(shape: tuple[int, ...], axis: int, kind: str) -> None:
    array = filled(shape, kind)
    before = ArrayDigests(array, axis)
    place = tuple(length // 2 for length in shape)
    row = np.ascontiguousarray(np.moveaxis(array, axis, 0)[place[axis]]).reshape(-1)
    row.view(np.uint8)[-1] ^= 1
    np.moveaxis(array, axis, 0)[place[axis]] = row.reshape(np.moveaxis(array, axis, 0).shape[1:])
    assert before.changed(()) == place[axis]
    assert before.changed([(range(place[axis], place[axis] + 1),)]) is None


def test_rows_that_change_places_show() -> None:
    array = np.arange(12.0).reshape(2, 6)
    before = ArrayDigests(array, 0)
    array[0] = array[0][::-1].copy()
    assert before.changed(()) == 0
    other = np.arange(12.0).reshape(2, 6)
    before = ArrayDigests(other, 0)
    other[...] = other[::-1].copy()
    assert before.changed(()) == 0


@pytest.mark.parametrize("array", [np.zeros((3, 0)), np.zeros(0), np.array(3.0)])
def test_arrays_without_elements_or_axes_do_not_change(array: np.ndarray) -> None:
    assert ArrayDigests(array, 0).changed(()) is None


@pytest.mark.parametrize(("old", "new"), [(3.0, 4.0), (0.0, -0.0), (np.nan, -np.nan)])
def test_the_value_of_an_array_without_axes_counts_to_the_bit(old: float, new: float) -> None:
    array = np.array(old)
    before = ArrayDigests(array, 0)
    array[...] = new
    assert before.changed(()) == 0


def test_rows_of_a_large_array_are_taken_together_except_at_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_SMALL_BYTES", 64)
    monkeypatch.setattr(digests, "_GROUP_BYTES", 80)
    array = np.zeros(1003)
    before = ArrayDigests(array, 0, edges=[100, 199])
    own = [(range(100, 200),)]
    array[100:200] = 1.0
    assert before.changed(own) is None
    for row in (99, 200, 0, 555, 1002):
        array[row] = 1.0
        found = before.changed(own)
        assert found is not None
        assert found // 10 == row // 10
        array[row] = 0.0
    assert before.changed(own) is None


def test_edges_that_are_added_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_SMALL_BYTES", 64)
    monkeypatch.setattr(digests, "_GROUP_BYTES", 80)
    array = np.zeros(1003)
    before = ArrayDigests(array, 0)
    array[205] = 1.0
    assert before.changed([(range(200, 203),)]) is None  # in one group with the rows that are left out
    array[205] = 0.0
    before.add_edges([202])
    array[205] = 1.0
    assert before.changed([(range(200, 203),)]) == 205
