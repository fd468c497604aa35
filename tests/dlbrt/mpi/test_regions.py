"""Rows as regions of memory: they hold the bytes of the rows in order, a bounded number of blocks each."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.data.memory import Array
from dlbrt.mpi.regions import regions_of, touched_region
from mpi4py import MPI

CASES = {
    "rows": ((40, 300), 0, range(3, 17)),
    "columns": ((40, 1600), 1, range(800)),
    "columns of a tall matrix": ((2500, 1200), 1, range(100, 700)),
    "every other row": ((60, 600), 0, range(1, 60, 2)),
    "every other row of many": ((2600, 520), 0, range(0, 2600, 2)),
    "a middle axis": ((30, 9, 150), 1, range(2, 7)),
    "every other line of a middle axis": ((70, 50, 520), 1, range(1, 50, 2)),
    "every other line of a long middle axis": ((3, 2300, 512), 1, range(0, 2300, 2)),
}


def packed(array: Array, axis: int, rows: range) -> tuple[bytes, int]:
    """What the regions of the rows hold, and how many there are."""
    found = bytearray()
    regions = regions_of(array, axis, (rows,))
    for region in regions:
        buffer, count, datatype = region.message
        piece = bytearray(count * datatype.Get_size())
        datatype.Pack(buffer, piece, 0, MPI.COMM_SELF)
        found += piece
        region.free()
    return bytes(found), len(regions)


def blocks(shape: tuple[int, ...], axis: int, rows: range) -> int:
    """How many pieces of memory the rows of a C-contiguous array are."""
    outer = int(np.prod(shape[:axis], dtype=int))
    return outer * (1 if rows.step == 1 else len(rows))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_regions_hold_the_rows_in_order(case: tuple[tuple[int, ...], int, range]) -> None:
    shape, axis, rows = case
    array = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    found, messages = packed(array, axis, rows)
    assert found == array.take(np.array(rows), axis).tobytes()
    assert messages >= blocks(shape, axis, rows) / 1024


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_regions_of_fortran_order_are_those_of_the_transposed(
    case: tuple[tuple[int, ...], int, range],
) -> None:
    shape, axis, rows = case
    array = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    assert packed(array.T, len(shape) - 1 - axis, rows) == packed(array, axis, rows)


def test_small_blocks_and_several_runs_are_packed() -> None:
    array = np.zeros((100, 1000))
    assert regions_of(array, 1, (range(500),)) == ()
    assert regions_of(array, 0, (range(5), range(8, 9))) == ()
    assert regions_of(array[:, ::2], 0, (range(5),)) == ()


@pytest.mark.parametrize(
    ("columns", "axis", "rows", "first", "extent"),
    [
        (100, 0, range(2, 5), 1600, 2400),
        (100, 0, range(2, 7, 2), 1600, 4000),
        (100, 1, range(10, 60), 80, 99 * 800 + 400),
    ],
    ids=["contiguous rows", "every other row", "columns of short rows"],
)
def test_rows_without_large_gaps_touch_a_whole_region(
    columns: int, axis: int, rows: range, first: int, extent: int
) -> None:
    array = np.zeros((100, columns))
    region = touched_region(array, axis, (rows,))
    assert region is not None
    assert (region.address - array.ctypes.data, region.extent) == (first, extent)


def test_rows_a_page_apart_leave_pages_out() -> None:
    array = np.zeros((10, 1024))
    assert touched_region(array, 0, (range(0, 10, 2),)) is None
    assert touched_region(array, 1, (range(512),)) is None
    assert touched_region(array, 1, (range(513),)) is not None
