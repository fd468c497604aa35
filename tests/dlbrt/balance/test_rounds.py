"""Groups that exchange work: the laws of rounds over whole runs in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest
from dlbrt.balance.actions import Finish, RequestGroupExchange, SendGroupReport, SendInstructions, SendProfile
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.data.layout import block
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, Groups, at_random, blocks
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dlbrt.balance.clockwork import Clockwork, Run

LOCAL = ["LCDLB", "LDDLB"]
EXCHANGE = GroupRules(exchange=True)
RULES = [
    GroupRules(masters=True),
    EXCHANGE,
    GroupRules(dynamic=True),
    GroupRules(masters=True, exchange=True),
    GroupRules(masters=True, exchange=True, dynamic=True),
]
HALVES = ((0, 1), (2, 3))


def rounds_of(run: Run) -> list[int]:
    return sorted({action.round for _, _, action in run.trace if isinstance(action, SendGroupReport)})


def partition(ranks: int, size: int, seed: int) -> Groups:
    return at_random(ranks, min(size, ranks), seed)


@given(
    n=st.integers(0, 200),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=9),
    name=st.sampled_from([*LOCAL, "GDDLB", "GCDLB"]),
    rules=st.sampled_from(RULES),
    size=st.integers(1, 4),
    seed=st.integers(0, 99),
    fails=st.frozensets(st.integers(0, 199), max_size=3),
    dealt=st.sampled_from(["block", "cyclic"]),
    folded=st.booleans(),
    grain=st.sampled_from([1e-6, 1e-3, 0.1]),
    jitter=st.none() | st.integers(0, 99),
)
@settings(max_examples=200, deadline=None)
def test_all_is_done_once_and_the_lowest_failure_is_found(
    n: int,
    speeds: list[float],
    name: str,
    rules: GroupRules,
    size: int,
    seed: int,
    fails: frozenset[int],
    dealt: str,
    folded: bool,
    grain: float,
    jitter: int | None,
) -> None:
    groups, failing = partition(len(speeds), size, seed), frozenset(p for p in fails if p < n)
    run = Clockwork(
        n,
        speeds,
        name,
        groups=groups,
        rules=rules,
        fails=failing,
        dealt=dealt,
        folded=folded,
        cost=lambda p: grain * (1 + p % 7),
        jitter=jitter,
    ).run()
    done = [position for rank in run.done for position in rank]
    assert len(done) == len(set(done))
    assert set(range(min(failing, default=n))) <= set(done)
    assert run.failed_at == min(failing, default=NO_FAILURE)
    assert len(run.raised) == len(set(run.raised))
    assert len(rounds_of(run)) <= n + 2


@given(
    costs=st.lists(st.integers(0, 50), min_size=1, max_size=150).filter(any),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=8),
    name=st.sampled_from(LOCAL),
    rules=st.sampled_from(RULES),
    seed=st.integers(0, 99),
    jitter=st.none() | st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_iterations_of_known_cost_are_done_exactly_once(
    costs: list[int], speeds: list[float], name: str, rules: GroupRules, seed: int, jitter: int | None
) -> None:
    work_table = WorkTable(tuple(range(len(costs) + 1)), tuple(accumulate(costs, initial=0)))
    groups, n = partition(len(speeds), 2, seed), len(costs)
    run = Clockwork(
        n,
        speeds,
        name,
        groups=groups,
        rules=rules,
        work_table=work_table,
        jitter=jitter,
        cost=lambda p: 1e-3 * costs[p],
    ).run()
    assert sorted(position for done in run.done for position in done) == list(range(n))


@given(
    n=st.integers(0, 400),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=8),
    name=st.sampled_from(LOCAL),
    rules=st.sampled_from(RULES),
    seed=st.integers(0, 99),
    fails=st.frozensets(st.integers(0, 399), max_size=2),
    jitter=st.none() | st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_a_local_strategy_that_was_chosen_goes_by_rounds_too(
    n: int,
    speeds: list[float],
    name: str,
    rules: GroupRules,
    seed: int,
    fails: frozenset[int],
    jitter: int | None,
) -> None:
    def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy:
        return strategy(name)

    groups, failing = partition(len(speeds), 2, seed), frozenset(p for p in fails if p < n)
    clockwork = Clockwork(
        n,
        speeds,
        groups=groups,
        rules=rules,
        commit=commit,
        fails=failing,
        parameters=Parameters(reserve_factor=30.0),
        jitter=jitter,
        cost=lambda p: 1e-3 * (1 + p % 3),
    )
    run = clockwork.run()
    done = [position for rank in run.done for position in rank]
    assert len(done) == len(set(done))
    assert set(range(min(failing, default=n))) <= set(done)
    assert run.failed_at == min(failing, default=NO_FAILURE)
    assert len(run.raised) == len(set(run.raised))


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("rules", RULES[1:])
def test_groups_give_to_one_another(name: str, rules: GroupRules) -> None:
    """Two groups, one of them five times slower: apart they take as long as the slow one."""
    speeds = [1.0, 1.0, 0.2, 0.2]
    apart = Clockwork(2000, speeds, name, groups=HALVES, cost=lambda p: 1e-3).run()
    run = Clockwork(2000, speeds, name, groups=HALVES, rules=rules, cost=lambda p: 1e-3).run()
    assert {(t.source < 2) == (t.target < 2) for move in run.moves for t in move.transfers} >= {False}
    assert apart.makespan > 2.4
    assert run.makespan < 1.05 * 2.0 / sum(speeds)


@pytest.mark.parametrize("name", LOCAL)
def test_groups_that_are_equally_fast_do_not_disturb_one_another(name: str) -> None:
    run = Clockwork(1000, [1.0] * 4, name, groups=HALVES, rules=EXCHANGE, cost=lambda p: 1e-3).run()
    assert not [action for _, _, action in run.trace if isinstance(action, RequestGroupExchange)]
    assert not run.moves
    assert rounds_of(run) == [0]


def test_each_group_has_its_own_balancer_where_there_are_masters() -> None:
    run = Clockwork(
        800, [1.0, 0.2, 1.0, 0.5], "LCDLB", groups=HALVES, rules=RULES[0], cost=lambda p: 1e-3
    ).run()
    instructions = [
        (rank, action.members) for _, rank, action in run.trace if isinstance(action, SendInstructions)
    ]
    assert set(instructions) == {(0, (0, 1)), (2, (2, 3))}
    reports = {(rank, action.master) for _, rank, action in run.trace if isinstance(action, SendProfile)}
    assert reports == {(0, 0), (1, 0), (2, 2), (3, 2)}


def test_groups_formed_anew_are_equally_fast() -> None:
    clockwork = Clockwork(
        4000,
        [1.0, 1.0, 0.2, 0.2],
        "LDDLB",
        groups=HALVES,
        rules=GroupRules(dynamic=True),
        cost=lambda p: 1e-3,
    )
    clockwork.run()
    assert {balancer.group_state.members for balancer in clockwork.balancers} == {(0, 2), (1, 3)}


def test_every_rank_takes_the_same_decision() -> None:
    clockwork = Clockwork(
        3000, [1.0, 0.9, 0.1, 0.3], "LDDLB", groups=HALVES, rules=EXCHANGE, cost=lambda p: 1e-3, jitter=5
    )
    run = clockwork.run()
    finishes = [rank for _, rank, action in run.trace if isinstance(action, Finish)]
    assert sorted(finishes) == [0, 1, 2, 3]
    assert len({b.rounds.number for b in clockwork.balancers if b.rounds is not None}) == 1
    assert len({b.group_state.epoch for b in clockwork.balancers}) == 1


@pytest.mark.parametrize("grain", [1e-7, 1e-5, 1e-3, 1e-1])
@pytest.mark.parametrize(
    "speeds", [(1.0,) * 4, (1.0, 0.25, 1.0, 0.25), (1.0, 1.0, 0.9, 0.9), (1.0, 1, 0.2, 1)]
)
@pytest.mark.parametrize("rules", [EXCHANGE, GroupRules(dynamic=True)])
def test_rounds_never_lose_much_at_any_grain(
    grain: float, speeds: tuple[float, ...], rules: GroupRules
) -> None:
    """No thrashing: a round is held only where it pays; it may cost an iteration, and its window another."""
    n = max(16, min(20_000, int(2.0 / grain)))
    apart = Clockwork(n, speeds, "LDDLB", groups=HALVES, cost=lambda p: grain, chunk_s=1e-3).run()
    run = Clockwork(n, speeds, "LDDLB", groups=HALVES, rules=rules, cost=lambda p: grain, chunk_s=1e-3).run()
    assert run.makespan <= 1.03 * apart.makespan + 1e-3 + 2 * grain


def test_the_books_of_all_ranks_are_those_of_the_groups_in_any_order() -> None:
    context = BalancingContext(Units(0, 20), Parameters(), 1e-4, UNIFORM)
    whole = GroupState(range(4), block(20, 4), context)
    parts = [whole.of(group) for group in ((0, 3), (1, 2))]
    parts[0].settle([Profile(5, 0.5, 1e-8), Profile(1, 0.5, failed_at=18)], lambda _: None)
    said = [part.report([0, 0]) for part in parts]
    merged, reserved = parts[0].merged(said, context)
    again, _ = parts[1].merged(said[::-1], context)
    assert merged.members == (0, 1, 2, 3)
    assert merged.shares == again.shares
    assert [len(share) for share in merged.shares] == [0, 5, 5, 2]
    assert (merged.failed_at, merged.epoch, reserved) == (18, 2, (0, 0, 0, 0))
    assert merged.history.speeds == again.history.speeds == (10.0, 6.0, 6.0, 2.0)


def test_one_group_of_all_ranks_has_nobody_to_exchange_with() -> None:
    run = Clockwork(400, [1.0, 0.5], "LDDLB", groups=blocks(2, 2), rules=EXCHANGE, cost=lambda p: 1e-3).run()
    assert rounds_of(run) == []
    assert run.moves
