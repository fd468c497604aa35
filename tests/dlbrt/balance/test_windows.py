"""What is remembered of windows, and what redistributions were worth."""

from __future__ import annotations

import pytest
from dlbrt.balance.group_state import MAX_WINDOWS, BalancingContext, GroupState
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategies import strategy
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.parameters import Parameters

FREE = Parameters(byte_s=1e-9)


def group_state(n: int = 2000) -> GroupState:
    return GroupState(range(2), block(n, 2), BalancingContext(Units(0, n), FREE, 1e-6))


def settle(each: GroupState, *windows: tuple[int, float]) -> None:
    each.settle([Profile(done, seconds) for done, seconds in windows], strategy("GDDLB").decide)


def test_a_gain_is_realised_at_the_speeds_that_come() -> None:
    """Of 1000 each, 100 are done at 10 and 1 a second: 900 on the slow one would take 900 s."""
    each = group_state(2000)
    settle(each, (100, 10.0), (10, 10.0))
    predicted = each.windows[0].predicted_s
    assert each.windows[0].verdict == "move"
    assert predicted == pytest.approx(990 - 1890 / 11, rel=0.01)
    settle(each, (10, 10.0), (10, 10.0))
    realised = each.windows[0].realised_s
    assert realised is not None
    assert predicted is not None
    assert realised < 0 < predicted
    assert (each.gain.redistributions, each.gain.predicted_s, each.gain.realised_s) == (
        1,
        predicted,
        realised,
    )


def test_what_is_kept_is_bounded_and_what_is_summed_is_not() -> None:
    each = group_state(2_000_000)
    for turn in range(MAX_WINDOWS + 50):
        fast, slow = (1000, 100) if turn % 2 else (100, 1000)
        settle(each, (fast, 10.0), (slow, 10.0))
    assert len(each.windows) == MAX_WINDOWS
    assert each.redistributions == MAX_WINDOWS + 50
    assert each.gain.redistributions == MAX_WINDOWS + 49


def test_the_gain_so_far_goes_with_the_group_of_the_lowest_rank() -> None:
    each = GroupState(range(4), block(4000, 4), BalancingContext(Units(0, 4000), FREE, 1e-6))
    settle(each, (100, 10.0), (10, 10.0), (10, 10.0), (10, 10.0))
    settle(each, (100, 10.0), (10, 10.0), (10, 10.0), (10, 10.0))
    assert each.gain.redistributions == 1
    assert each.of((0, 1)).gain == each.gain
    assert each.of((2, 3)).gain.redistributions == 0


def test_what_moving_cost_counts_only_so_far_as_the_network_explains_it() -> None:
    """A rank that is late to a movement makes it last."""
    each = group_state(2000)
    profiles = [Profile(100, 10.0, 1.0), Profile(10, 10.0, 1.0)]
    each.settle(profiles, strategy("GDDLB").decide)
    assert each.redistributions == 1
    assert each.report((0, 0)).byte_s == pytest.approx(10 * FREE.byte_s)
