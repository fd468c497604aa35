"""Tables of what iterations touch: made where that is asked for, the same arrays while they say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.data.access_table import AccessTables, FootprintError
from dlbrt.data.array_table import BLOCK, WHOLE
from dlbrt.data.field import Field, array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.space import space_of
from dlbrt.data.spans import Spans
from dlbrt.mpi.call import inspect_rows, pack_tables, unpack_tables
from dlbrt.mpi.values.packing import Packed

N = 100


def fields(ix: Any) -> list[Field]:
    index = IndexMap(0, 1)
    read = BLOCK(0, "r", rows=lambda i: slice(i, ix[i]), inspect=True)
    stored = BLOCK(0, "rw", rows=lambda i: (ix[i], 0), writes=lambda i: ix[i], inspect=True)
    return [
        array_field("A", np.zeros(N), stored, index),
        array_field("B", np.zeros(N), BLOCK(0, "rw"), index),
        array_field("C", [0] * N, read, index),
        array_field("D", np.zeros(N), WHOLE("r", rows=lambda i: ix[i], inspect=True), index),
    ]


def test_fields_are_looked_at_where_that_is_asked_for_and_of_use() -> None:
    found = inspect_rows(fields(np.arange(N)), space_of(range(N)), {})
    assert [field.tables is not None for field in found] == [True, False, True, False]


def test_tables_that_say_the_same_are_the_same_arrays() -> None:
    last: dict[str, AccessTables] = {}
    ix = np.random.default_rng(1).permutation(N)
    first = inspect_rows(fields(ix), space_of(range(N)), last)
    again = inspect_rows(fields(ix.tolist()), space_of(range(N)), last)
    assert first[0].tables is again[0].tables
    ix[3] += 1
    other = inspect_rows(fields(ix), space_of(range(N)), last)
    assert other[0].tables is not first[0].tables
    assert last["A"] is other[0].tables


def test_tables_travel_in_slots() -> None:
    ix = np.random.default_rng(2).permutation(N)
    sent, packed = inspect_rows(fields(ix), space_of(range(N)), {}), Packed()
    tables = pack_tables(sent, packed)
    assert [table.name for table in tables] == ["A", "C"]
    arrived = unpack_tables(fields([]), [value.copy() for value in packed.slots], tables)
    for one, other in zip(sent, arrived, strict=True):
        for spans in (Spans.of(range(10, 40, 3)), Spans.of(range(N))):
            assert one.needed(spans) == other.needed(spans)
            assert one.stored(spans) == other.stored(spans)


def test_what_cannot_be_told_ends_the_look() -> None:
    with pytest.raises(FootprintError, match=r"A: .*IndexError"):
        inspect_rows(fields([1, 2]), space_of(range(N)), {})
