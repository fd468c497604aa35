"""Rows are taken out of arrays and put back in place, along any axis, contiguous or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlbrt.dist.field import array_field, has_rows, landing, part_field, positions, put, put_element, take
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.space import Part
from dlbrt.dist.spans import Spans
from dlbrt.dist.spec import BLOCK, WHOLE

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
    memory = landing(target, axis, rows)
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
    assert field.iteration_bytes() == 3 * 16


def test_what_every_rank_holds_does_not_move_and_what_is_overwritten_is_not_sent() -> None:
    spans = Spans.of(range(3))
    assert not array_field("A", np.zeros(9), WHOLE("r"), IndexMap(0, 1)).needed(spans)
    assert not array_field("A", np.zeros(9), BLOCK(0, "w"), IndexMap(0, 1)).needed(spans)
    assert array_field("A", np.zeros(9), BLOCK(0, "w"), IndexMap(0, 1)).stored(spans)


def test_a_list_that_is_stored_to_goes_by_rows() -> None:
    field = array_field("rows", [0] * 5, WHOLE("rw"), IndexMap(0, 1))
    assert positions(field.stored(Spans.of(range(1, 3)))) == [1, 2]


def test_a_reversed_part_needs_elements_from_the_end() -> None:
    field = part_field(Part(list("abcdef"), backwards=True))
    assert sorted(positions(field.needed(Spans.of(range(0, 2))))) == [4, 5]


def test_an_element_changed_in_place_stays_the_object_it_was() -> None:
    inner, array = [1, 2], np.zeros(2)
    data = [[inner, 3], array, 5]
    field = array_field("rows", data, BLOCK(0, "rw", in_place=True), IndexMap(0, 1))
    outer = data[0]
    put_element(field, 0, [[7, 8], 9])
    put_element(field, 1, np.ones(2))
    put_element(field, 2, 6)
    assert data[0] is outer
    assert outer == [[7, 8], 9]
    assert outer[0] is inner
    assert data[1] is array
    assert array.tolist() == [1, 1]
    assert data[2] == 6


def test_an_element_stored_anew_is_another_object() -> None:
    data = [[1]]
    old = data[0]
    put_element(array_field("rows", data, BLOCK(0, "rw"), IndexMap(0, 1)), 0, [2])
    assert data == [[2]]
    assert old == [1]
