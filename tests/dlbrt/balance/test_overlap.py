"""What is reserved fits into the wait, what is held back fills it; neither is more than there is."""

from __future__ import annotations

import math

import pytest
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategy import defer_to_exchange
from dlbrt.balance.window import OpenWindow, reserve, tail
from dlbrt.data.layout import block
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.parameters import Parameters
from hypothesis import given
from hypothesis import strategies as st

EXCHANGE_S = 1e-2


def group_state(*unit_s: float, n: int = 400, poll_s: float = 0.0) -> GroupState:
    """Those of ranks that have done 10 units each, and take so long for one."""
    context = BalancingContext(Units(0, n), Parameters(poll_s=poll_s), EXCHANGE_S)
    kept = GroupState(range(len(unit_s)), block(n, len(unit_s)), context)
    kept.settle([Profile(10, 10 * seconds) for seconds in unit_s], defer_to_exchange)
    return kept


def window(held: int, done: int, compute_s: float) -> OpenWindow:
    return OpenWindow(0.0, math.inf, Spans.of(range(held)), done, compute_s)


@given(
    unit_s=st.lists(st.floats(1e-4, 1.0), min_size=2, max_size=5),
    held=st.integers(0, 60),
    done=st.integers(0, 20),
)
def test_no_more_than_there_is(unit_s: list[float], held: int, done: int) -> None:
    known = group_state(*unit_s)
    assert 0 <= reserve(known, 0, window(held, done, done * unit_s[0])) <= held
    assert 0 <= tail(known, 0, held) <= max(0, held - 1)


def test_with_one_other_rank_alone_only_the_exchange_is_filled() -> None:
    units = int(Parameters().reserve_factor * EXCHANGE_S / 1e-3)
    assert reserve(group_state(1e-3, 1.0), 0, window(60, 10, 1e-2)) == units


def test_among_more_the_wait_for_the_slowest_is_filled_too() -> None:
    """Among P ranks by 1 - 2 / P of its iteration: it is in the midst of one, of many almost at its end."""
    units = int((Parameters().reserve_factor * EXCHANGE_S + 0.5 * 0.02) / 1e-3)
    assert reserve(group_state(1e-3, 1e-3, 0.02, 1e-3), 0, window(60, 10, 1e-2)) == units


def test_nothing_is_reserved_before_anything_was_done() -> None:
    assert reserve(group_state(1e-3, 1e-3, 1e-3), 0, window(60, 0, 0.0)) == 0


@pytest.mark.parametrize(("held", "units"), [(100, 40), (30, 29), (1, 0), (0, 0)])
def test_the_tail_lasts_two_exchanges_and_an_iteration_of_the_slowest(held: int, units: int) -> None:
    assert tail(group_state(1e-3, 0.02), 0, held) == units


@pytest.mark.parametrize(("poll_s", "units"), [(0.01, 40), (0.05, 70)])
def test_the_tail_lasts_until_the_slowest_polls(poll_s: float, units: int) -> None:
    assert tail(group_state(1e-3, 0.02, poll_s=poll_s), 0, 100) == units


def test_there_is_no_tail_before_speeds_are_known() -> None:
    kept = GroupState(range(2), block(40, 2), BalancingContext(Units(0, 40), Parameters(), EXCHANGE_S))
    assert tail(kept, 0, 20) == 0


def test_what_ranks_waited_beyond_an_iteration_is_what_a_synchronization_costs() -> None:
    """On average 0.25 s of three that know it, 0.05 of which the slowest was in the midst of an iteration."""
    known = group_state(1e-3, 0.05, 1e-3, 1e-3)
    assert known.exchange_s == EXCHANGE_S
    before = reserve(known, 0, window(60, 10, 1e-2))
    waited_s = (0.5, 0.0, 0.2, 0.05)
    known.settle([Profile(2, 2e-3, waited_s=seconds) for seconds in waited_s], defer_to_exchange)
    assert known.exchange_s == pytest.approx(10 * EXCHANGE_S)  # of 0.2 s, the most that is believed
    assert reserve(known, 0, window(60, 10, 1e-2)) > before
    known.settle([Profile(2, 2e-3, waited_s=2e-3)] * 4, defer_to_exchange)
    assert known.exchange_s == EXCHANGE_S


@pytest.mark.parametrize(("waited_s", "seen_s"), [(0.06, 0.01), (0.07, 0.02), (0.09, 0.04), (3.0, 0.1)])
def test_it_costs_between_once_and_ten_times_what_the_network_says(waited_s: float, seen_s: float) -> None:
    known = group_state(1e-3, 0.05, 1e-3, 1e-3)
    known.settle([Profile(2, 2e-3, waited_s=waited_s)] * 4, defer_to_exchange)
    assert known.exchange_s == pytest.approx(seen_s)
    assert known.of([0, 2]).exchange_s == EXCHANGE_S


def test_chunks_of_a_millisecond_are_no_lateness() -> None:
    """Ranks look around between them, however short their iterations are."""
    known = group_state(1e-6, 1e-6, 1e-6)
    assert known.excess_wait_s(1e-3) == 0
    assert known.excess_wait_s(5e-3) == pytest.approx(4e-3)
