"""Digests of rows: every change of one element shows, at its own row and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.data.digests import changed_row, row_digests

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
    before = row_digests(array, axis)
    place = tuple(length // 2 for length in shape)
    row = np.ascontiguousarray(np.moveaxis(array, axis, 0)[place[axis]]).reshape(-1)
    row.view(np.uint8)[-1] ^= 1
    np.moveaxis(array, axis, 0)[place[axis]] = row.reshape(np.moveaxis(array, axis, 0).shape[1:])
    assert changed_row(before, row_digests(array, axis), ()) == place[axis]
    assert changed_row(before, row_digests(array, axis), [(range(place[axis], place[axis] + 1),)]) is None


def test_rows_that_change_places_show() -> None:
    array = np.arange(12.0).reshape(2, 6)
    before = row_digests(array)
    array[0] = array[0][::-1]
    assert changed_row(before, row_digests(array), ()) == 0
    swapped = np.arange(12.0).reshape(2, 6)[::-1]
    assert changed_row(before, row_digests(swapped), ()) == 0


@pytest.mark.parametrize("array", [np.zeros((3, 0)), np.zeros(0), np.array(3.0)])
def test_arrays_without_elements_or_axes(array: np.ndarray) -> None:
    assert changed_row(row_digests(array), row_digests(array.copy()), ()) is None


def test_the_value_of_an_array_without_axes_counts() -> None:
    assert changed_row(row_digests(np.array(3.0)), row_digests(np.array(4.0)), ()) == 0


def test_signs_of_zero_and_kinds_of_nan_count() -> None:
    before = row_digests(np.array([0.0, np.nan]))
    assert changed_row(before, row_digests(np.array([-0.0, np.nan])), ()) == 0
    assert changed_row(before, row_digests(np.array([0.0, -np.nan])), ()) == 1
