"""The window under way counts what is done of it, and apart what is done ahead of the next one."""

from __future__ import annotations

import math

import pytest
from dlbrt.balance.window import OpenWindow
from dlbrt.data.spans import EMPTY, Spans
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position

WORK = Spans.of(range(10), range(20, 30))


def window(work: Spans = WORK, due_at: float = math.inf) -> OpenWindow:
    return OpenWindow(1.0, due_at, work)


@given(before=st.lists(st.integers(1, 5)), reserved=st.integers(0, 20), ahead=st.lists(st.integers(1, 5)))
def test_no_unit_is_counted_twice_or_lost(before: list[int], reserved: int, ahead: list[int]) -> None:
    under_way = window()
    for units in before:
        under_way.worked(min(units, len(under_way.runnable)), 0.5)
    done, left = under_way.done, under_way.work
    under_way.send_profile(1.0, min(reserved, len(left)))
    for units in ahead:
        under_way.worked(min(units, len(under_way.runnable)), 0.25)
    assert done == under_way.done == min(20, sum(before))
    assert under_way.ahead == min(under_way.reserved, sum(ahead))
    assert [*each_position(WORK.part(0, done + under_way.ahead)), *each_position(under_way.work)] == [
        *each_position(WORK)
    ]
    assert (under_way.compute_s, under_way.ahead_s) == (0.5 * len(before), 0.25 * len(ahead))


def test_the_tail_is_held_back_until_the_profile_is_given() -> None:
    under_way = window()
    under_way.tail = 4
    assert under_way.runnable == WORK.part(0, 16)
    under_way.send_profile(1.0, 2)
    assert under_way.runnable == Spans.of(range(2))


def test_once_stopped_nothing_more_of_what_is_reserved_is_done() -> None:
    under_way = window()
    under_way.send_profile(1.0, 5)
    under_way.worked(2, 1.0)
    under_way.stop()
    assert under_way.runnable == EMPTY
    assert under_way.ahead == 2


@pytest.mark.parametrize(("seconds", "units", "each_s"), [(3.0, 6, 0.5), (0.0, 0, 0.0)])
def test_a_unit_has_taken_the_mean(seconds: float, units: int, each_s: float) -> None:
    under_way = window()
    under_way.worked(units, seconds)
    assert under_way.unit_s == each_s


def test_it_is_due_by_the_clock_only_with_work_and_before_the_profile_is_given() -> None:
    under_way = window(due_at=2.0)
    assert (under_way.due(1.9), under_way.due(2.0), under_way.timer_at) == (False, True, 2.0)
    under_way.send_profile(1.0, 0)
    assert not under_way.due(2.0)
    assert not window(EMPTY, due_at=2.0).due(2.0)
    assert window().timer_at is None


def test_without_work_it_wakes_to_interrupt() -> None:
    under_way = window(EMPTY, due_at=2.0)
    assert under_way.timer_at is None
    under_way.interrupt_at = 3.0
    assert under_way.timer_at == 3.0
