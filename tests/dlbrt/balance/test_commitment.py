"""A choice is made once all ranks have synchronized, and heard of before or after."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.member import StrategyCommitment
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.parameters import Parameters

PROFILES = (Profile(5, 1.0), Profile(5, 2.0))
GROUP_STATE = GroupState(range(2), block(20, 2), BalancingContext(Units(0, 20), Parameters(), 1e-4))
CHOSEN = strategy("LDDLB")


def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
    assert (group_state, profiles) == (GROUP_STATE, PROFILES)
    return CHOSEN


def test_rank_0_is_asked_with_the_profiles_of_the_synchronization() -> None:
    commitment = StrategyCommitment(commit)
    assert commitment.begin(PROFILES) is None
    assert commitment.awaited
    assert commitment.choose(GROUP_STATE) is CHOSEN


@pytest.mark.parametrize("begun", [False, True])
def test_it_is_not_asked_before_or_afterwards(begun: bool) -> None:
    commitment = StrategyCommitment(commit)
    if begun:
        commitment.begin(PROFILES)
        commitment.made()
    with pytest.raises(ValueError, match="no strategy to choose in window 0"):
        commitment.choose(GROUP_STATE)


def test_a_choice_that_comes_before_the_synchronization_is_kept_for_it_alone() -> None:
    commitment = StrategyCommitment(commit)
    assert not commitment.announce(CHOSEN)
    assert commitment.begin(PROFILES) is CHOSEN
    commitment.made()
    assert commitment.begin(PROFILES) is None


def test_one_that_comes_later_is_taken_at_once() -> None:
    commitment = StrategyCommitment(commit)
    commitment.begin(PROFILES)
    assert commitment.announce(CHOSEN)


def test_how_speeds_go_is_noted_only_as_long_as_there_is_a_choice() -> None:
    commitment = StrategyCommitment(commit)
    assert commitment.open
    assert commitment.speed_trace is not None
    commitment.close()
    for none in (commitment, StrategyCommitment(None)):
        assert not none.open
        assert none.speed_trace is None
