"""Units: single positions, or pairs from both ends with the middle alone."""

from __future__ import annotations

import pytest
from dlbrt.data.layout import block, cyclic
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import Units
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position


def partners(units: Units, unit: int) -> set[int]:
    return {units.first + unit, units.stop - 1 - unit}


def test_odd_and_even_numbers_of_positions() -> None:
    assert len(Units(0, 6, folded=True)) == 3
    assert len(Units(0, 7, folded=True)) == 4
    assert Units(0, 7, folded=True).stretches(range(4)) == (range(4), range(4, 7))
    assert Units(0, 7, folded=True).stretches(range(3, 4)) == (range(3, 4),)
    assert Units(10, 16, folded=True).stretches(range(1, 3)) == (range(11, 13), range(13, 15))


def test_single_positions_are_themselves() -> None:
    units = Units(5, 9)
    assert units.all == Spans.of(range(5, 9))
    assert units.positions(Spans.of(range(6, 8))) == Spans.of(range(6, 8))
    assert units.stretches(range(6, 9, 2)) == (range(6, 9, 2),)
    assert units.stretches(range(0)) == ()


@given(st.integers(0, 30), st.integers(0, 60), st.integers(1, 7), st.sampled_from([block, cyclic]))
def test_every_position_is_in_one_share(first: int, n: int, ranks: int, dealt: object) -> None:
    units = Units(first, first + n, folded=True)
    shares = dealt(len(units), ranks)  # type: ignore[operator]
    held = [p for share in shares for p in each_position(units.positions(share))]
    assert sorted(held) == list(range(first, first + n))
    for share in shares:
        wanted = set().union(*(partners(units, unit) for unit in each_position(share)))
        assert set(each_position(units.positions(share))) == wanted


@given(st.integers(0, 30), st.integers(0, 60), st.integers(0, 10), st.integers(1, 4))
def test_stretches_ascend_and_lower_positions_come_first(first: int, n: int, begin: int, step: int) -> None:
    units = Units(first, first + n, folded=True)
    stretches = units.stretches(range(begin, len(units), step))
    assert all(run.step > 0 and run for run in stretches)
    assert len(stretches) <= 2
    if len(stretches) == 2:
        assert stretches[0][-1] < stretches[1][0]


@given(st.integers(0, 10), st.integers(0, 40), st.integers(0, 60), st.booleans())
def test_after_a_failure_those_are_wanted_that_have_something_before_it(
    first: int, n: int, below: int, folded: bool
) -> None:
    units = Units(first, first + n, folded)
    wanted = units.wanted(units.all, below)
    for unit in each_position(units.all):
        positions = units.positions(Spans.of(range(unit, unit + 1)))
        assert (unit in wanted) == any(p < below for p in each_position(positions))


@pytest.mark.parametrize("folded", [False, True])
def test_nothing_to_deal(folded: bool) -> None:
    units = Units(4, 4, folded)
    assert len(units) == 0
    assert units.all == EMPTY
    assert units.positions(EMPTY) == EMPTY
