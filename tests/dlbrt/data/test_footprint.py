"""Rows touched and stores kept apart, against plain enumeration."""

from __future__ import annotations

from collections import defaultdict

import pytest
from dlbrt.data.footprint import (
    IndexMap,
    Rows,
    SubscriptFunction,
    count,
    difference,
    rows_of,
    stores_are_apart,
    stores_are_distinct,
    union,
)
from dlbrt.data.spans import Spans
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.spans import each_position

INDEX = st.builds(IndexMap, st.integers(-12, 12), st.sampled_from([-3, -2, -1, 1, 2, 3]))
AFFINE = st.lists(st.tuples(st.integers(-3, 3), st.integers(-15, 30)), min_size=1, max_size=4)
RANGES = st.lists(st.builds(range, st.integers(0, 30), st.integers(0, 60), st.integers(1, 5)), max_size=6)


def subscripts_of(terms: list[tuple[int, int]]) -> SubscriptFunction:
    return lambda i: tuple(a * i + b for a, b in terms)


def touched(position: int, index: IndexMap, terms: list[tuple[int, int]], length: int) -> set[int]:
    values = [a * index.value(position) + b for a, b in terms]
    return {value % length for value in values if -length <= value < length}


def listed(rows: Rows) -> list[int]:
    return [row for run in rows for row in run]


def assert_normal(rows: Rows) -> None:
    assert all(run.step >= 1 and len(run) for run in rows)
    assert [run.start for run in rows] == sorted(run.start for run in rows)
    assert len(set(listed(rows))) == len(listed(rows)) == count(rows)


def rows(*ranges: range) -> Rows:
    """Any ranges as rows: positions are the rows themselves."""
    found: Rows = ()
    for some in ranges:
        found = union(found, rows_of(Spans.of(some), IndexMap(0, 1), None, 1000))
    return found


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(1, 5)), max_size=4), INDEX, AFFINE
)
def test_rows_agree_with_enumeration(
    runs: list[tuple[int, int, int]], index: IndexMap, terms: list[tuple[int, int]]
) -> None:
    length = 25
    taken = Spans(tuple(range(start, start + (n - 1) * step + 1, step) for start, n, step in runs if n))
    found = rows_of(taken, index, subscripts_of(terms), length)
    assert_normal(found)
    assert set(listed(found)) == {r for p in each_position(taken) for r in touched(p, index, terms, length)}


@given(st.integers(0, 30), INDEX, AFFINE, st.integers(1, 60))
@example(3, IndexMap(0, 1), [(1, 0), (-1, 2)], 3)
@example(6, IndexMap(0, 1), [(1, -3)], 6)
@example(7, IndexMap(0, 1), [(1, -3)], 6)
def test_distinct_stores_agree_with_enumeration(
    n: int, index: IndexMap, terms: list[tuple[int, int]], length: int
) -> None:
    writers: dict[int, set[int]] = defaultdict(set)
    for position in range(n):
        for row in touched(position, index, terms, length):
            writers[row].add(position)
    expected = all(len(who) == 1 for who in writers.values())
    assert stores_are_distinct(n, index, subscripts_of(terms), length) == expected


@given(st.integers(0, 14), INDEX, AFFINE, AFFINE, st.integers(1, 40))
@example(4, IndexMap(0, 1), [(1, 0)], [(0, 9)], 10)
@example(4, IndexMap(0, 1), [(1, 0)], [(1, 0), (0, -2)], 4)
@example(1, IndexMap(0, 1), [(1, 0)], [(0, 0)], 4)
def test_stores_apart_from_reads_agree_with_enumeration(
    n: int, index: IndexMap, stored: list[tuple[int, int]], read: list[tuple[int, int]], length: int
) -> None:
    if not stores_are_distinct(n, index, subscripts_of(stored), length):
        return
    owner = {row: p for p in range(n) for row in touched(p, index, stored, length)}
    readers = ((row, p) for p in range(n) for row in touched(p, index, read, length))
    expected = all(owner.get(row, p) == p for row, p in readers)
    assert stores_are_apart(n, index, subscripts_of(stored), subscripts_of(read), length) == expected


def test_distinct_stores_of_huge_loops_are_decided_at_once() -> None:
    n = 10**15
    assert stores_are_distinct(n, IndexMap(0, 1), lambda i: (2 * i, 2 * i + 1), 2 * n)
    assert not stores_are_distinct(n, IndexMap(0, 1), lambda i: (2 * i, 3 * i + 1), 3 * n)
    assert not stores_are_distinct(n, IndexMap(0, 1), lambda i: (i, n - 1 - i), n)
    assert stores_are_distinct(n, IndexMap(n - 1, -1), None, n)
    assert not stores_are_distinct(n, IndexMap(0, 1), lambda i: 0, n)
    assert stores_are_distinct(1, IndexMap(0, 1), lambda i: (0, 0), n)


def test_the_index_itself_is_the_row_and_wraps() -> None:
    assert rows_of(Spans.of(range(4)), IndexMap(-2, 1), None, 10) == (range(2), range(8, 10))
    assert rows_of(Spans.of(range(10)), IndexMap(9, -1), None, 10) == (range(10),)
    assert rows_of(Spans.of(range(10)), IndexMap(0, 1), None, 0) == ()


def test_a_stencil_makes_one_contiguous_range() -> None:
    assert rows_of(Spans.of(range(5, 9)), IndexMap(0, 1), lambda i: (i - 1, i, i + 1), 20) == (range(4, 10),)


def test_a_stencil_on_dealt_positions_makes_one_range_where_it_closes() -> None:
    dealt = Spans.of(range(1, 3000, 3))
    assert rows_of(dealt, IndexMap(0, 1), lambda i: (i - 1, i, i + 1), 3000) == (range(3000),)
    apart = rows_of(Spans.of(range(1, 4000, 4)), IndexMap(0, 1), lambda i: (i - 1, i, i + 1), 4000)
    assert apart == (range(0, 3997, 4), range(1, 3998, 4), range(2, 3999, 4))


def test_subscripts_that_are_not_affine_are_refused() -> None:
    with pytest.raises(ValueError, match="affine"):
        rows_of(Spans.of(range(4)), IndexMap(0, 1), lambda i: i * i // 2, 100)


@given(RANGES, RANGES)
def test_union_and_difference_agree_with_sets(first: list[range], second: list[range]) -> None:
    a, b = rows(*first), rows(*second)
    assert_normal(a)
    assert_normal(union(a, b))
    assert_normal(difference(a, b))
    assert set(listed(union(a, b))) == set(listed(a)) | set(listed(b))
    assert set(listed(difference(a, b))) == set(listed(a)) - set(listed(b))


@given(RANGES)
def test_nothing_is_left_of_rows_without_themselves(ranges: list[range]) -> None:
    assert difference(rows(*ranges), rows(*ranges)) == ()


def test_a_long_difference_keeps_its_stride() -> None:
    assert difference((range(0, 10**9, 4),), (range(0, 10**9, 8),)) == (range(4, 10**9, 8),)
    assert difference((range(10**9),), (range(5, 7),)) == (range(5), range(7, 10**9))
