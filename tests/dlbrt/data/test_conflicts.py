"""Conflicts between iterations, against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.data.access_table import AccessTable, AccessTables, RowConflict
from dlbrt.data.hazard import find_conflict
from hypothesis import given, settings
from hypothesis import strategies as st

LENGTH = 24
Stretch = tuple[int, int]
#: For each iteration, the stretches of its subscripts.
Touched = list[list[Stretch]]


@st.composite
def touches(draw: st.DrawFn, n: int) -> Touched:
    width, longest = draw(st.integers(0, 3)), draw(st.sampled_from([1, 1, 4]))
    stretch = st.tuples(st.integers(0, LENGTH - 4), st.integers(0, longest)).map(
        lambda s: (s[0], s[0] + s[1])
    )
    return draw(st.lists(st.lists(stretch, min_size=width, max_size=width), min_size=n, max_size=n))


def table(touched: Touched) -> AccessTable:
    width = len(touched[0]) if touched else 0
    columns = [np.array([row[k] for row in touched], np.int64).reshape(-1, 2) for k in range(width)]
    if not columns:
        return AccessTable(np.empty((0, len(touched)), np.int64))
    return AccessTable.of([(column[:, 0], column[:, 1]) for column in columns])


def rows(stretches: list[Stretch]) -> set[int]:
    return {row for start, stop in stretches for row in range(start, stop)}


def conflicts(stored: Touched, touched: Touched) -> set[RowConflict]:
    pairs = ((p, q) for p in range(len(stored)) for q in range(len(stored)) if p != q)
    return {
        RowConflict(min(p, q), max(p, q), row) for p, q in pairs for row in rows(stored[p]) & rows(touched[q])
    }


@settings(max_examples=400)
@given(st.data(), st.integers(0, 7))
def test_conflicts_are_found_where_enumeration_finds_them(data: st.DataObject, n: int) -> None:
    stored, read = data.draw(touches(n)), data.draw(touches(n))
    tables = AccessTables(table(read), table(stored))
    among = conflicts(stored, stored)
    found = find_conflict(tables, LENGTH, reads=False)
    assert (found in among) if among else found is None
    everywhere = among | conflicts(stored, read)
    found = find_conflict(tables, LENGTH)
    assert (found in everywhere) if everywhere else found is None


def test_a_stretch_that_begins_in_its_own_row_and_goes_on_into_another() -> None:
    stored, read = table([[(0, 1)], [(1, 2)]]), table([[(0, 2)], [(1, 2)]])
    assert find_conflict(AccessTables(read, stored), LENGTH) == RowConflict(0, 1, 1)


def test_the_ends_of_an_array_are_no_neighbours() -> None:
    side_by_side = [[(0, 1), (LENGTH - 1, LENGTH)], [(1, 2), (LENGTH - 2, LENGTH - 1)]]
    both = table(side_by_side)
    assert find_conflict(AccessTables(both, both), LENGTH) is None


@pytest.mark.parametrize("width", [1, 3])
def test_many_iterations_are_checked(width: int) -> None:
    n = 200_000
    starts = np.random.default_rng(0).permutation(n).astype(np.int64) * width
    stored = AccessTable.of([(starts, starts + width)])
    assert find_conflict(AccessTables(stored, stored), n * width) is None
    again = starts.copy()
    again[7] = again[n - 1]
    stored = AccessTable.of([(again, again + width)])
    assert find_conflict(AccessTables(stored, stored), n * width) == RowConflict(7, n - 1, int(again[7]))
    read = AccessTable.of([(np.full(n, starts[5]), np.full(n, starts[5]) + 1)])
    found = find_conflict(AccessTables(read, AccessTable.of([(starts, starts + width)])), n * width)
    assert found == RowConflict(0, 5, int(starts[5]))
