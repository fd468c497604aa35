"""`auto`: what is chosen at the first synchronization, when not, and that all ranks go on by it together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import pytest
from dlbrt.balance.actions import AnnounceStrategy, RequestChoice
from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.consult import MAX_WRITTEN, prefix
from dlbrt.balance.events import (
    ChoiceRequested,
    Exhausted,
    Interrupted,
    ProfilesExchanged,
    StrategyAnnounced,
    Worked,
)
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.member import ChoiceRule
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.setup import begins_with
from dlbrt.balance.strategies import AUTO, names, pooled, strategy
from dlbrt.balance.strategy import Strategy, defer_to_exchange
from dlbrt.contract import BASELINES
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units, WorkTable
from dlbrt.parameters import Parameters
from dlbrt.predict.network import Network, Pattern
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet

from tests.dlbrt.balance.clockwork import Clockwork, Run

HALVES = ((0, 1), (2, 3))
SPEEDS = [1.0, 0.3, 1.0, 0.4]
DEAR = Pattern((0.0, -2.0, 1.0))


def run(chooser: StrategyChooser, n: int = 4000, **options: object) -> Run:
    found = Clockwork(n, SPEEDS, commit=chooser, groups=HALVES, cost=lambda p: 1e-2, **options).run()  # type: ignore[arg-type]
    assert sorted(p for done in found.done for p in done) == list(range(n))
    return found


def announced(found: Run) -> list[str]:
    return [action.strategy for _, _, action in found.trace if isinstance(action, AnnounceStrategy)]


def test_where_messages_cost_nothing_predictions_do_not_decide_and_ranks_steal() -> None:
    chooser = StrategyChooser(Network.default(), HALVES)
    found = run(chooser)
    assert chooser.choice is not None
    assert announced(found) == [chooser.choice.strategy]
    assert chooser.choice.strategy == "steal"
    assert {"GDDLB", "GCDLB"} <= set(chooser.choice.record()["within_error"])
    assert {name for name, _ in chooser.choice.predicted_s} == set(names()) - set(BASELINES)
    assert 0 < dict(chooser.choice.predicted_s)[chooser.choice.strategy] < found.makespan * 1.2


def test_where_synchronizations_of_all_are_dear_it_balances_in_groups_or_without_any() -> None:
    """Among 4 ranks profiles take 8 s, among 2 nothing."""
    network = replace(Network.default(), all_to_all=DEAR, all_to_one=DEAR)
    chooser = StrategyChooser(network, HALVES)
    run(chooser)
    assert chooser.choice is not None
    assert chooser.choice.strategy in ("LDDLB", "LCDLB", "steal", "diffusion")
    local = dict(chooser.choice.predicted_s)
    assert max(local["LDDLB"], local["LCDLB"]) < min(local["GDDLB"], local["GCDLB"])


@pytest.mark.parametrize(("waited_s", "late"), [(0.0, 1.0), (1e-2, 1.0), (0.03, 4.0), (0.5, 10.0)])
def test_what_ranks_waited_says_how_late_messages_are(waited_s: float, late: float) -> None:
    """Synchronizations take 5 ms by the network, an iteration 10 ms on the slowest."""
    found = network_after([waited_s, 2.0, waited_s, waited_s])
    assert found.latency_s == pytest.approx(1e-3 * late, rel=0.03)
    assert found.all_to_all.seconds(4) == pytest.approx(3e-3 * late, rel=0.03)
    assert found.bandwidth == 1e6


def test_what_one_rank_waited_does_not_make_all_late() -> None:
    assert network_after([2.0, 0.0, 0.0, 0.0]).latency_s == 1e-3


def network_after(waited_s: Sequence[float]) -> Network:
    """The network that a choice is made by, after ranks have waited so long."""
    line = Pattern((0.0, 0.5e-3))
    network = Network(1e-3, 1e6, line, line, Pattern((0.0, 0.75e-3)))
    chooser = StrategyChooser(network, HALVES, (network, network))
    known = GroupState(range(4), block(4000, 4), BalancingContext(Units(0, 4000), Parameters(), 5e-3))
    profiles = [Profile(1000 // 4 * k, 2.5 * k) for k in (1, 2, 3, 4)]
    known.settle(profiles, defer_to_exchange)
    chooser(known, [replace(each, waited_s=s) for each, s in zip(profiles, waited_s, strict=True)])
    assert chooser.choice is not None
    found = chooser.choice.known
    assert found.within == (found.network, found.network)
    return found.network


def test_who_chooses_knows_how_long_it_has_waited_itself() -> None:
    waits: list[tuple[float, ...]] = []

    def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        waits.append(tuple(profile.waited_s for profile in profiles))
        return strategy("GDDLB")

    context = BalancingContext(Units(0, 40), Parameters(), 1e-3)
    b = Balancer(0, block(40, 4), strategy("GDDLB"), context, 0.0, (), commit)
    b.handle(Worked(1.0, 5, 1.0))
    b.handle(Interrupted(1.0, 0))
    assert RequestChoice() in b.handle(ProfilesExchanged(1.25, tuple(Profile(5, 1.0) for _ in SPEEDS)))
    b.handle(ChoiceRequested(1.25))
    assert waits == [(0.25, 0.0, 0.0, 0.0)]


def test_a_network_of_each_group_counts_for_the_local_strategies() -> None:
    network = replace(Network.default(), all_to_all=DEAR, all_to_one=DEAR)
    slow = replace(network, one_to_all=Pattern((-1e3, 1e3)))
    chooser = StrategyChooser(network, HALVES, (slow, slow))
    run(chooser)
    assert chooser.choice is not None
    assert chooser.choice.strategy not in ("LDDLB", "LCDLB")


def test_ranks_steal_until_a_strategy_is_chosen() -> None:
    initial_strategy, chooser = begins_with(AUTO, ethernet(), ((0, 1, 2, 3),))
    assert initial_strategy.name == "steal"
    assert chooser is not None
    assert chooser.choice is None


def test_what_is_done_before_a_choice_pays_goes_on_without_synchronizations() -> None:
    chooser = StrategyChooser(Network.default(), HALVES)
    found = run(chooser, 400, parameters=Parameters(min_choice_s=1e3))
    assert chooser.choice is None
    assert announced(found) == ["steal"]


def test_it_is_asked_again_where_that_is_wanted_as_long_as_all_synchronize() -> None:
    asked: list[int] = []

    def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        assert len(profiles) == 4
        asked.append(group_state.epoch)
        return strategy("GCDLB" if len(asked) < 3 else "LDDLB")

    options = {"commit": commit, "groups": HALVES, "parameters": Parameters(adapts=True)}
    speeds = [1.0, 0.3, 1.0, 0.4]
    found = Clockwork(4000, speeds, cost=lambda p: 1e-2 * (1 + p % 997 // 300), **options).run()  # type: ignore[arg-type]
    assert asked == [1, 2, 3]
    assert announced(found) == ["GCDLB", "GCDLB", "LDDLB"]
    assert sorted(p for done in found.done for p in done) == list(range(4000))


@pytest.mark.parametrize("dealt", ["block", "cyclic"])
@pytest.mark.parametrize("folded", [False, True])
def test_it_knows_work_that_is_not_uniform(dealt: str, folded: bool) -> None:
    edges = tuple(range(0, 2001, 100))
    chooser = StrategyChooser(Network.default(), HALVES)
    work_table = WorkTable(edges, tuple(edge * edge for edge in edges))
    run(chooser, 4000 if folded else 2000, dealt=dealt, folded=folded, work_table=work_table)
    assert chooser.choice is not None


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 99)), min_size=1, max_size=9))
def test_the_model_looks_up_the_work_of_a_table(groups: list[tuple[int, int]]) -> None:
    sizes, ticks = zip(*groups, strict=True)
    edges, before = tuple(accumulate(sizes, initial=0)), tuple(accumulate(ticks, initial=0))
    short, long = WorkTable(edges, before), WorkTable((*edges, MAX_WRITTEN), (*before, 10**15))
    assert list(prefix(short)) == [short.before(unit) for unit in range(edges[-1] + 1)]
    assert len(prefix(long)) == MAX_WRITTEN + 1
    assert [prefix(long)[unit] for unit in range(0, 4000, 7)] == [
        long.before(unit) for unit in range(0, 4000, 7)
    ]
    each = WorkTable(tuple(range(len(before))), before)
    assert prefix(each) == before


def taking(name: str) -> ChoiceRule:
    def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        return strategy(name)

    return commit


@given(
    name=st.sampled_from([name for name in names() if not pooled(name)]),
    seed=st.integers(0, 2**32),
    n=st.integers(0, 60),
    speeds=st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.0]), min_size=2, max_size=5),
    fails=st.frozensets(st.integers(0, 59), max_size=2),
    folded=st.booleans(),
    adapts=st.booleans(),
)
def test_whatever_overtakes_what_all_go_on_together(
    name: str, seed: int, n: int, speeds: list[float], fails: frozenset[int], folded: bool, adapts: bool
) -> None:
    """Messages overtake one another, the body fails, perhaps between the synchronization and the choice."""
    half = (len(speeds) + 1) // 2
    found = Clockwork(
        n,
        speeds,
        commit=taking(name),
        groups=[range(half), range(half, len(speeds))],
        cost=lambda p: 1e-2,
        latency=3e-3,
        jitter=seed,
        fails=fails,
        folded=folded,
        parameters=Parameters(adapts=adapts, exchange_s=1e-3),
    ).run()
    done = sorted(p for each in found.done for p in each)
    end = min((p for p in fails if p < n), default=n)
    assert [p for p in done if p < end] == list(range(end))
    assert len(set(done)) == len(done)


def balancers() -> list[Balancer]:
    """Two ranks with five iterations each, before their first synchronization."""
    context = BalancingContext(Units(0, 10), Parameters(), 1e-4)
    return [Balancer(r, block(10, 2), strategy("GDDLB"), context, 0.0, (), taking("GCDLB")) for r in range(2)]


PROFILES = (Profile(5, 5.0), Profile(2, 5.0))


def test_a_choice_may_be_heard_of_before_the_exchange_completes() -> None:
    first, second = balancers()
    for each, units in ((first, 5), (second, 2)):
        each.handle(Worked(5.0, units, 5.0))
    first.handle(Exhausted(5.0))
    second.handle(Interrupted(5.0, 0))
    assert isinstance(first.handle(ProfilesExchanged(5.1, PROFILES))[-1], RequestChoice)
    announce = first.handle(ChoiceRequested(5.1))[0]
    assert announce == AnnounceStrategy("GCDLB", (1,))
    assert second.handle(StrategyAnnounced(5.1, "GCDLB")) == ()
    assert second.strategy.name == "GDDLB"
    second.handle(ProfilesExchanged(5.2, PROFILES))
    assert second.strategy.name == "GCDLB"


def test_until_it_is_heard_of_nobody_synchronizes() -> None:
    _, second = balancers()
    second.handle(Worked(5.0, 2, 5.0))
    second.handle(Interrupted(5.0, 0))
    second.handle(ProfilesExchanged(5.1, PROFILES))
    assert second.handle(Interrupted(5.2, 1)) == ()
    second.handle(Worked(6.0, len(second.runnable), 1.0))
    assert second.waiting
    assert not second.finished
    given = second.handle(StrategyAnnounced(6.1, "none"))
    assert second.failed_at == NO_FAILURE
    assert [type(action).__name__ for action in given] == ["ExchangeProfiles"]


def test_a_late_interrupt_of_a_window_that_is_over_does_not_hide_a_new_one() -> None:
    _, second = balancers()
    second.handle(Worked(5.0, 2, 5.0))
    second.handle(Interrupted(5.0, 0))
    second.handle(ProfilesExchanged(5.1, PROFILES))
    assert second.handle(Interrupted(5.2, 1)) == ()
    assert second.handle(Interrupted(5.2, 0)) == ()
    given = second.handle(StrategyAnnounced(5.3, "GDDLB"))
    assert [type(action).__name__ for action in given] == ["ExchangeProfiles"]


def test_only_rank_0_is_asked_and_only_then() -> None:
    with pytest.raises(ValueError, match="no strategy to choose"):
        balancers()[0].handle(ChoiceRequested(0.0))
