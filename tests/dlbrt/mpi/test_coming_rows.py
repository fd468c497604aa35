"""New arrays on the ranks lie in used memory: what no coming row fills is given back, and nothing else."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from dlbrt.data.directory import RowTransfer
from dlbrt.data.memory import ReusedMemory, layout_of
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, hold_only_coming

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pages may be kept")

NUMBER, LENGTH = 7, 1000


def rows(
    source: int, targets: tuple[int, ...], *runs: range, axis: int = 0, number: int = NUMBER
) -> ArrayTransfer:
    return ArrayTransfer(number, axis, RowTransfer(source, targets, runs))


def left(*array_transfers: ArrayTransfer) -> Any:
    """In which rows of an array in used memory something is left on rank 2."""
    array = ReusedMemory().array(layout_of(np.ones((LENGTH, LENGTH))))
    array[...] = 1.0
    hold_only_coming({NUMBER: array}, array_transfers, 2)
    return (array == 1.0).all(axis=1)


def test_pages_stay_of_the_rows_that_come_from_several_ranks() -> None:
    kept = left(
        rows(0, (1, 2), range(200, 300)),
        rows(1, (2,), range(600, 700)),
        rows(0, (1,), range(400, 500)),
        rows(0, (2,), range(800, 900), number=NUMBER + 1),
    )
    assert kept[200:300].all()
    assert kept[600:700].all()
    assert not kept[310:590].any()
    assert not kept[710:990].any()


def test_all_pages_go_where_no_row_comes() -> None:
    assert not left(rows(2, (0, 1), range(LENGTH)))[1:-1].any()


def test_all_pages_stay_where_rows_come_along_two_axes_or_in_parts() -> None:
    assert left(rows(0, (2,), range(10)), rows(0, (2,), range(10), axis=1)).all()
    part = ArrayTransfer(NUMBER, 0, RowTransfer(0, (2,), (range(10),)), (1, (range(5),)))
    assert left(part).all()
