"""Rows are taken out of arrays and put back in place, along any axis, contiguous or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.data.access_table import FootprintError
from dlbrt.data.array_table import BLOCK, CYCLIC, WHOLE
from dlbrt.data.field import (
    array_field,
    has_rows,
    part_field,
    positions,
    put,
    receive_buffer,
    take,
)
from dlbrt.data.footprint import IndexMap
from dlbrt.data.loop_fields import joined
from dlbrt.data.space import Part, enumerate_, space_of, zip_
from dlbrt.data.spans import Spans
from hypothesis import given
from hypothesis import strategies as st

SHAPE = (7, 6, 5)


@st.composite
def arrays_with_rows(draw: st.DrawFn) -> tuple[Any, int, tuple[range, ...]]:
    array = np.arange(210.0).reshape(SHAPE)
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if draw(st.booleans()):
        array = array[::-1, :, ::-1]
    axis = draw(st.integers(0, 2))
    chosen = sorted(draw(st.sets(st.integers(0, SHAPE[axis] - 1), min_size=1)))
    return array, axis, Spans.of(*(range(row, row + 1) for row in chosen)).runs


@given(arrays_with_rows())
def test_rows_put_elsewhere_are_the_rows_taken(case: tuple[Any, int, tuple[range, ...]]) -> None:
    array, axis, rows = case
    target = np.full_like(array, -1)
    packed = take(array, axis, rows)
    memory = receive_buffer(target, axis, rows)
    assert memory.shape == packed.shape
    put(target, axis, rows, packed)
    chosen = positions(rows)
    assert np.array_equal(np.take(target, chosen, axis), np.take(array, chosen, axis))
    others = [row for row in range(SHAPE[axis]) if row not in chosen]
    assert (np.take(target, others, axis) == -1).all()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (np.zeros(3), True),
        ([1, 2], True),
        (np.array([None]), False),
        (np.ma.zeros(3), False),
        ({1: 2}, False),
        ((1, 2), False),
        ("text", False),
    ],
)
def test_rows_of_lists_and_of_arrays_of_numbers_can_be_sent(data: Any, expected: bool) -> None:
    assert has_rows(data) is expected


def test_iterations_need_and_store_the_rows_that_the_table_says() -> None:
    spec = BLOCK(0, "rw", rows=lambda i: (i - 1, i, i + 1), writes=lambda i: i)
    field = array_field("A", np.zeros((20, 2)), spec, IndexMap(1, 1))
    spans = Spans.of(range(4, 7))  # iterations 5, 6 and 7
    assert set(positions(field.needed(spans))) == {4, 5, 6, 7, 8}
    assert set(positions(field.stored(spans))) == {5, 6, 7}
    assert field.iteration_bytes() == 16  # of the next one, next to the others
    dealt = CYCLIC(0, "rw", rows=lambda i: (i - 1, i, i + 1), writes=lambda i: i)
    assert array_field("A", np.zeros((20, 2)), dealt, IndexMap(1, 1)).iteration_bytes() == 3 * 16


def test_what_every_rank_holds_does_not_move_and_what_is_overwritten_is_not_sent() -> None:
    spans = Spans.of(range(3))
    assert not array_field("A", np.zeros(9), WHOLE("r"), IndexMap(0, 1)).needed(spans)
    assert not array_field("A", np.zeros(9), BLOCK(0, "w"), IndexMap(0, 1)).needed(spans)
    assert array_field("A", np.zeros(9), BLOCK(0, "w"), IndexMap(0, 1)).stored(spans)


def test_a_whole_list_that_is_stored_to_goes_to_every_rank_and_comes_back_by_rows() -> None:
    field = array_field("rows", [0] * 5, WHOLE(0, "rw"), IndexMap(0, 1))
    assert positions(field.scattered(Spans.of(range(1, 3)))) == [0, 1, 2, 3, 4]
    assert positions(field.stored(Spans.of(range(1, 3)))) == [1, 2]
    assert not field.needed(Spans.of(range(1, 3)))


def test_what_has_no_axis_and_is_stored_to_comes_back_by_elements() -> None:
    field = array_field("A", np.zeros((4, 3)), WHOLE("rw"), IndexMap(0, 1))
    assert field.by_elements
    assert not field.stored(Spans.of(range(4)))
    assert field.stores_are_distinct(4)
    assert not array_field("A", np.zeros(4), WHOLE("r"), IndexMap(0, 1)).by_elements
    assert not array_field("A", np.zeros(4), WHOLE(0, "rw"), IndexMap(0, 1)).by_elements


def test_rows_that_follow_no_line_are_looked_at() -> None:
    ix = [4, 0, 7, 2]
    spec = BLOCK(0, "rw", rows=lambda i: (ix[i], 9), writes=lambda i: ix[i], inspect=True)
    field = array_field("A", np.zeros((10, 2)), spec, IndexMap(0, 1)).with_tables(space_of(range(4)))
    assert positions(field.needed(Spans.of(range(1, 3)))) == [0, 7, 9]
    assert positions(field.stored(Spans.of(range(1, 3)))) == [0, 7]
    assert field.iteration_bytes() == 2 * 16


@pytest.mark.parametrize("n", [4, 400])
def test_rows_that_items_select_are_looked_at(n: int) -> None:
    chosen = [(7 * k) % n for k in range(n)]
    field = array_field("A", np.zeros(n), BLOCK(0, "rw", rows=lambda j: j, inspect=True), IndexMap(0, 1))
    second, first = Spans.of(range(1, 2)), Spans.of(range(1))
    assert positions(field.with_tables(space_of(chosen)).stored(second)) == [7 % n]
    assert positions(field.with_tables(space_of(np.array(chosen))).stored(second)) == [7 % n]
    counted = array_field("A", np.zeros(n), BLOCK(0, "rw", rows=lambda k, j: j, inspect=True), IndexMap(1, 1))
    assert positions(counted.with_tables(enumerate_(chosen, 1)).stored(second)) == [7 % n]
    pairs = zip_(chosen, [n - 1] * n)
    other = array_field(
        "A", np.zeros(n), BLOCK(0, "rw", rows=lambda j, k: (k, j), inspect=True), IndexMap(0, 1)
    )
    assert positions(other.with_tables(pairs).needed(first)) == [0, n - 1]
    with pytest.raises(FootprintError, match=r"A: .*'str' object"):
        field.with_tables(space_of(["x"]))


def test_what_cannot_be_looked_at_is_said_with_its_name() -> None:
    field = array_field("A", np.zeros(3), BLOCK(0, "rw", rows=lambda i: [1][i], inspect=True), IndexMap(0, 1))
    with pytest.raises(FootprintError, match=r"A: what iteration 1 touches .*IndexError"):
        field.with_tables(space_of(range(2)))


@given(arrays_with_rows(), st.integers(0, 3))
def test_many_short_ranges_are_taken_and_put_alike(
    case: tuple[Any, int, tuple[range, ...]], width: int
) -> None:
    array, axis, _ = case
    long = np.concatenate([array] * 40, axis)
    rows = tuple(range(start, start + 1 + width % 2) for start in range(1, long.shape[axis] - 2, 3))
    target = np.zeros_like(long)
    put(target, axis, rows, take(long, axis, rows))
    chosen = positions(rows)
    assert len(rows) > 32
    assert np.array_equal(np.take(target, chosen, axis), np.take(long, chosen, axis))
    assert np.count_nonzero(target) == np.count_nonzero(np.take(long, chosen, axis))


def test_a_reversed_part_needs_elements_from_the_end() -> None:
    field = part_field(Part(list("abcdef"), backwards=True))
    assert sorted(positions(field.needed(Spans.of(range(2))))) == [4, 5]


def test_an_axis_may_be_counted_from_the_end() -> None:
    field = array_field("A", np.zeros((2, 3, 5)), BLOCK(-1, "rw"), IndexMap(0, 1))
    assert (field.axis, field.length) == (2, 5)


def test_what_the_loop_runs_over_is_no_field_of_its_own_where_the_table_has_it() -> None:
    data = [[k] for k in range(4)]
    named = array_field("A", data, BLOCK(0, "rw"), IndexMap(0, 1))
    (field,) = joined([named], [part_field(Part(data), "A")])
    assert field.spec.in_place
    other = array_field("A", data, BLOCK(0, "rw"), IndexMap(1, 1))
    assert len(joined([other], [part_field(Part(data), "A")])) == 2
