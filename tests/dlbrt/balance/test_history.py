"""The windows by which speeds are measured: the latest, or all (Zaki et al., section 1.2)."""

from __future__ import annotations

import pytest
from dlbrt.balance.group_estimates import SpeedHistory
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategies import synchronizing
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.parameters import Parameters


def profile(done: int, seconds: float) -> Profile:
    return Profile(done, seconds)


@pytest.mark.parametrize(("whole", "speeds"), [(False, (20.0, 10.0)), (True, (15.0, 10.0))])
def test_a_rank_that_became_faster(whole: bool, speeds: tuple[float, ...]) -> None:
    history = SpeedHistory(2, 1e-3, whole=whole)
    history.add([profile(10, 1.0), profile(10, 1.0)], [10, 10])
    assert history.speeds == (10.0, 10.0)
    history.add([profile(20, 1.0), profile(10, 1.0)], [20, 10])
    assert history.speeds == speeds
    assert history.of([0]).speeds == speeds[:1]


def test_parts_and_the_whole_of_a_history_keep_its_window() -> None:
    history = SpeedHistory(2, 1e-3, whole=True)
    history.add([profile(10, 1.0), profile(10, 1.0)], [10, 10])
    merged = SpeedHistory.merged(*history.totals, history.speeds or (), 1e-3, whole=True)
    for each in (history.of([0, 1]), merged):
        each.add([profile(30, 1.0), profile(10, 1.0)], [30, 10])
        assert each.speeds == (20.0, 10.0)


@pytest.mark.parametrize(("whole", "first_gets"), [(False, 2 / 3), (True, 0.6)])
def test_shares_follow_the_window(whole: bool, first_gets: float) -> None:
    context = BalancingContext(Units(0, 1000), Parameters(whole_history=whole), 1e-6)
    state = GroupState(range(2), block(1000, 2), context)
    decide = synchronizing("GDDLB").decide
    state.settle([profile(100, 1.0), profile(100, 1.0)], decide)
    state.settle([profile(200, 1.0), profile(100, 1.0)], decide)
    held = [len(share) for share in state.shares]
    assert held[0] / sum(held) == pytest.approx(first_gets, abs=0.01)
