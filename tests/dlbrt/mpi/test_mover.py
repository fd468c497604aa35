"""Memory that rows are about to fill: unused parts are given back, what any name needs is kept."""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np
import pytest
from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.field import Field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.memory import Array, allocate, layout_of
from dlbrt.data.spans import Spans
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.values.objects import RootObjects

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pages may be kept")


class _Rank:
    """What a mover asks of a communicator before anything is sent."""

    rank, tolerates_deaths = 1, False


def field(array: Array, distribution: Distribution, ahead: int = 0, axis: int = 0) -> Field:
    """An array of which iteration i reads row (or column) ``i + ahead``."""
    spec = ArraySpec(distribution, axis, Mode.READ, rows=lambda i: i + ahead)
    return Field("A", array, spec, IndexMap(0, 1))


def used(*fields: Field) -> Any:
    """Which rows are left of the array when iterations 200 to 300 are held."""
    array = fields[0].data
    array[...] = 1.0
    Mover(cast(Communicator, _Rank()), fields, RootObjects()).hold_only(Spans.of(range(200, 300)))
    return array[:, 0] == 1.0


def test_memory_stays_of_the_rows_that_any_of_the_names_of_an_array_needs() -> None:
    array = allocate(layout_of(np.ones((1000, 1000))))
    kept = used(field(array, Distribution.BLOCK), field(array, Distribution.BLOCK, ahead=400))
    assert kept[200:300].all()
    assert kept[600:700].all()
    assert not kept[310:590].any()
    assert not kept[710:990].any()


def test_memory_stays_of_an_array_that_one_of_its_names_needs_whole_or_by_columns() -> None:
    array = allocate(layout_of(np.ones((1000, 1000))))
    assert used(field(array, Distribution.BLOCK), field(array, Distribution.WHOLE)).all()
    assert used(field(array, Distribution.BLOCK), field(array, Distribution.BLOCK, axis=1)).all()
