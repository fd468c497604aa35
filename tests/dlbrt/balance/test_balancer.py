"""The balancer as a table of events and actions, and its laws over whole runs in virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest
from dlbrt.balance.actions import (
    Action,
    ExchangeProfiles,
    Finish,
    Interrupt,
    Move,
    Resume,
    SendInstructions,
    SendProfile,
)
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.decision import MOVE, DecisionInputs, decide
from dlbrt.balance.events import Exhausted, Failed, Interrupted, ProfilesExchanged, TimeElapsed, Worked
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.data.layout import block
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dlbrt.balance.clockwork import Clockwork, Run
from tests.support.spans import each_position

STRATEGIES = ["none", "GCDLB", "GDDLB", "LCDLB", "LDDLB"]
ALL = (0, 1)


def balancer(rank: int = 0, n: int = 20, ranks: int = 2, name: str = "GDDLB") -> Balancer:
    context = BalancingContext(Units(0, n), Parameters(), Parameters().exchange_s)
    return Balancer(rank, block(n, ranks), strategy(name), context, 0.0)


def exhaust(b: Balancer, now: float) -> tuple[object, ...]:
    b.handle(Worked(now, len(b.work), now))
    return b.handle(Exhausted(now))


def test_a_rank_out_of_work_gives_its_profile_at_once() -> None:
    b = balancer()
    actions = exhaust(b, 1.0)
    assert actions == (ExchangeProfiles(0, Profile(10, 1.0), ALL),)
    assert b.waiting


def test_it_interrupts_only_after_its_patience_when_the_others_should_be_finishing_too() -> None:
    b = balancer()
    exhaust(b, 1.0)
    assert b.handle(TimeElapsed(1.09)) == ()  # an iteration took 0.1 s: that long the others may well take
    assert b.handle(TimeElapsed(1.11)) == (Interrupt(0, (1,)),)
    assert b.handle(TimeElapsed(2.0)) == ()


def test_static_partition_never_interrupts() -> None:
    b = balancer(name="none")
    exhaust(b, 1.0)
    assert b.handle(TimeElapsed(100.0)) == ()


def test_an_interrupted_rank_gives_its_profile() -> None:
    b = balancer(rank=1)
    b.handle(Worked(0.9, 3, 0.9))
    assert b.handle(Interrupted(1.0, 0)) == (ExchangeProfiles(0, Profile(3, 0.9), ALL),)


@pytest.mark.parametrize(
    ("unit_s", "ranks", "reserved"), [(1e-4, 2, 4), (1e-3, 2, 0), (1e-3, 4, 0), (1.0, 4, 0)]
)
def test_it_reserves_what_fits_into_the_exchange(unit_s: float, ranks: int, reserved: int) -> None:
    b = balancer(rank=1, n=10 * ranks, ranks=ranks)
    b.handle(Worked(1.0, 5, 5 * unit_s))
    b.handle(Interrupted(1.0, 0))
    assert len(b.runnable) == reserved


@pytest.mark.parametrize(("ranks", "left", "reserved"), [(4, 2, 1), (4, 1, 1), (4, 3, 0), (2, 2, 0)])
def test_of_its_last_units_it_begins_one_among_more_than_two(ranks: int, left: int, reserved: int) -> None:
    b = balancer(rank=1, n=10 * ranks, ranks=ranks)
    b.handle(Worked(1.0, 10 - left, 1.0))
    b.handle(Interrupted(1.0, 0))
    assert len(b.runnable) == reserved


def test_it_works_on_what_it_reserved_while_the_profiles_travel_and_keeps_it() -> None:
    b = balancer(rank=1)
    b.handle(Worked(0.9, 3, 9e-4))
    b.handle(Interrupted(1.0, 0))
    assert b.runnable == Spans.of(range(13, 14))
    b.handle(Worked(1.3, 1, 0.3))
    assert not b.runnable
    b.handle(ProfilesExchanged(1.4, (Profile(10, 1.1), Profile(3, 0.9, reserved=1))))
    assert b.group_state.shares[1].runs[0] == range(13, 15)
    assert min(each_position(b.work)) == 14


def test_a_failure_in_what_was_reserved_is_told_with_the_next_profile() -> None:
    b = balancer(rank=1)
    b.handle(Worked(0.9, 3, 9e-4))
    b.handle(Interrupted(1.0, 0))
    assert b.handle(Failed(1.3, 13)) == ()
    assert not b.runnable
    actions = b.handle(ProfilesExchanged(1.4, (Profile(10, 1.0), Profile(3, 0.9, reserved=1))))
    assert actions[-2:] == (
        ExchangeProfiles(1, Profile(0, 0.0, failed_at=13, waited_s=1.4 - 1.0), ALL),
        Interrupt(1, (0,)),
    )


def test_an_interrupt_of_another_epoch_or_a_second_one_is_dropped() -> None:
    b = balancer(rank=1)
    assert b.handle(Interrupted(1.0, 5)) == ()
    b.handle(Interrupted(1.0, 0))
    assert b.handle(Interrupted(1.1, 0)) == ()


def test_an_interrupt_of_a_window_that_has_passed_is_dropped() -> None:
    b = balancer(rank=1)
    b.handle(Worked(0.9, 3, 0.9))
    b.handle(Interrupted(1.0, 0))
    b.handle(ProfilesExchanged(1.1, (Profile(4, 1.0), Profile(3, 0.9))))
    assert b.epoch == 1
    assert b.handle(Interrupted(1.2, 0)) == ()
    assert b.handle(Interrupted(1.3, 1)) == (ExchangeProfiles(1, Profile(0, 0.0, waited_s=1.1 - 1.0), ALL),)


def test_a_decision_counts_the_exchange_an_iteration_under_way_and_the_movement() -> None:
    found = decide(DecisionInputs((30, 10), (0, 0), (10.0, 10.0), 0.25, 1.0, 0.01, Parameters()))
    assert (found.shares, found.verdict) == ((20, 20), MOVE)
    assert found.before_s == 3.0
    assert found.after_s == pytest.approx(2.0 + 0.25 + 0.1 + 10 * 0.01)


def test_work_moves_in_proportion_to_measured_speed() -> None:
    b = balancer(rank=0, n=20)
    exhaust(b, 1.0)
    actions = b.handle(ProfilesExchanged(1.0, (Profile(10, 1.0), Profile(2, 0.8))))
    assert isinstance(actions[0], Move)
    assert actions[1] == Resume()
    assert [len(spans) for spans in b.group_state.shares] == [
        7,
        1,
    ]  # speeds 10 and 2.5 over the 8 left: 0.7 s
    assert actions[0].transfers[0].spans == Spans.of(range(13, 20))


def test_every_rank_decides_the_same() -> None:
    profiles = (Profile(10, 1.0), Profile(3, 0.9), Profile(7, 0.7))
    balancers = [balancer(rank, 30, 3) for rank in range(3)]
    for b, profile in zip(balancers, profiles, strict=True):
        b.handle(Worked(1.0, profile.done, profile.compute_s))
        b.handle(Interrupted(1.0, 0) if b.work else Exhausted(1.0))
    moves = [b.handle(ProfilesExchanged(1.1, profiles))[0] for b in balancers]
    assert moves[0] == moves[1] == moves[2]
    assert len({b.group_state.shares for b in balancers}) == 1


def test_a_rank_left_without_work_gives_the_next_profile_and_never_interrupts() -> None:
    b = balancer(rank=0, n=4)
    exhaust(b, 1.0)
    actions = b.handle(ProfilesExchanged(1.0, (Profile(2, 1.0), Profile(1, 0.5))))  # one left, speeds alike
    assert actions == (ExchangeProfiles(1, Profile(0, 0.0), ALL),)
    assert b.handle(TimeElapsed(1000.0)) == ()


def test_the_loop_ends_when_nothing_is_left() -> None:
    b = balancer()
    exhaust(b, 1.0)
    assert b.handle(ProfilesExchanged(1.0, (Profile(10, 1.0), Profile(10, 1.0)))) == (Finish(),)
    assert b.finished


def test_a_failure_drops_what_comes_after_it_and_nothing_before() -> None:
    b = balancer(rank=0, n=20)
    b.handle(Worked(0.1, 2, 0.1))
    exchange, interrupt = b.handle(Failed(0.2, 2))
    assert exchange == ExchangeProfiles(0, Profile(2, 0.1, failed_at=2), ALL)
    assert interrupt == Interrupt(0, (1,))
    assert not b.work
    assert b.handle(ProfilesExchanged(0.3, (Profile(2, 0.1, failed_at=2), Profile(5, 0.1)))) == (Finish(),)


def test_more_work_reported_than_held_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 0 did 11 units and holds 10"):
        balancer().handle(Worked(1.0, 11, 1.0))


def test_exhaustion_with_work_left_is_refused() -> None:
    with pytest.raises(ValueError, match="still holds 10"):
        balancer().handle(Exhausted(1.0))


@given(
    n=st.integers(0, 300),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=7),
    name=st.sampled_from(STRATEGIES),
    dealt=st.sampled_from(["block", "cyclic"]),
    grain=st.sampled_from([1e-6, 1e-3, 0.1]),
    folded=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_each_iteration_is_done_exactly_once(
    n: int, speeds: list[float], name: str, dealt: str, grain: float, folded: bool
) -> None:
    run = Clockwork(n, speeds, name, dealt=dealt, folded=folded, cost=lambda p: grain * (1 + p % 5)).run()
    assert sorted(position for done in run.done for position in done) == list(range(n))


@given(
    n=st.integers(1, 200),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=5),
    name=st.sampled_from(STRATEGIES),
    dealt=st.sampled_from(["block", "cyclic"]),
    folded=st.booleans(),
    data=st.data(),
)
@settings(max_examples=300, deadline=None)
def test_the_lowest_failure_is_found_and_all_before_it_is_done(
    n: int, speeds: list[float], name: str, dealt: str, folded: bool, data: st.DataObject
) -> None:
    fails = data.draw(st.frozensets(st.integers(0, n - 1), min_size=1, max_size=4))
    run = Clockwork(n, speeds, name, fails=fails, dealt=dealt, folded=folded, cost=lambda p: 1e-2).run()
    done = [position for rank in run.done for position in rank]
    assert run.failed_at == min(fails)
    assert len(done) == len(set(done))
    assert set(range(min(fails))) <= set(done)


def test_without_failure_none_is_reported() -> None:
    assert Clockwork(50, [1.0, 2.0]).run().failed_at == NO_FAILURE


def test_two_ranks_of_which_one_is_four_times_slower_come_near_the_ideal() -> None:
    run = Clockwork(1000, [1.0, 0.25], cost=lambda p: 1e-3).run()
    assert run.moves
    assert run.makespan < 1.05 * 1000 * 1e-3 / 1.25


def test_balanced_ranks_do_not_synchronize() -> None:
    run = Clockwork(1000, [1.0] * 4, cost=lambda p: 1e-3).run()
    assert run.synchronizations == 0
    assert not run.moves


@pytest.mark.parametrize("grain", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0])
@pytest.mark.parametrize("speeds", [(1.0, 1.0), (1.0, 0.9, 1.1, 1.0), (1.0, 0.25), (1.0, 1.0, 0.2, 1.0)])
def test_balancing_never_loses_much_at_any_grain(grain: float, speeds: tuple[float, ...]) -> None:
    """No thrashing: a synchronization costs 0.2 ms here, and is made only where it pays."""
    n = max(16, min(20_000, int(2.0 / grain)))
    static = Clockwork(n, speeds, "none", cost=lambda p: grain, chunk_s=1e-3).run()
    dynamic = Clockwork(n, speeds, "GDDLB", cost=lambda p: grain, chunk_s=1e-3).run()
    assert dynamic.makespan <= 1.03 * static.makespan + 1e-3


def test_the_same_input_gives_the_same_trace() -> None:
    def trace() -> list[object]:
        return list(Clockwork(500, [1.0, 0.3, 2.0], cost=lambda p: 1e-3 * (p % 7)).run().trace)

    assert trace() == trace()


def table(costs: Sequence[int]) -> WorkTable:
    return WorkTable(tuple(range(len(costs) + 1)), tuple(accumulate(costs, initial=0)))


@given(
    costs=st.lists(st.integers(0, 50), min_size=1, max_size=200).filter(any),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=6),
    dealt=st.sampled_from(["block", "cyclic"]),
)
@settings(max_examples=300, deadline=None)
def test_iterations_of_known_cost_are_done_exactly_once(
    costs: list[int], speeds: list[float], dealt: str
) -> None:
    run = Clockwork(
        len(costs), speeds, dealt=dealt, work_table=table(costs), cost=lambda p: 1e-3 * costs[p]
    ).run()
    assert sorted(position for done in run.done for position in done) == list(range(len(costs)))


def test_the_known_cost_of_what_remains_spares_synchronizations() -> None:
    """A triangle on ranks of unlike speed: counts mislead, work does not."""
    n, speeds = 600, [1.0, 0.25]
    costs = list(range(1, n + 1))

    def run(work_table: WorkTable) -> Run:
        return Clockwork(n, speeds, work_table=work_table, cost=lambda p: 1e-5 * costs[p]).run()

    counted, weighed = run(UNIFORM), run(table(costs))
    assert weighed.makespan < 1.06 * 1e-5 * sum(costs) / sum(speeds)
    assert weighed.synchronizations <= counted.synchronizations
    assert weighed.makespan <= counted.makespan


def test_one_dear_iteration_is_not_passed_around() -> None:
    costs = [1] * 20 + [1000]
    run = Clockwork(21, [1.0, 1.0], work_table=table(costs), cost=lambda p: 1e-3 * costs[p]).run()
    assert run.makespan < 1.06
    assert len(run.moves) <= 1


def test_folded_halves_of_a_triangle_take_equally_long() -> None:
    run = Clockwork(1000, [1.0] * 4, "none", folded=True, cost=lambda p: 1e-5 * (p + 1)).run()
    assert run.makespan < 1.01 * 1e-5 * 500500 / 4


@given(
    n=st.integers(0, 200),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=8),
    name=st.sampled_from(STRATEGIES),
    size=st.integers(1, 4),
    fails=st.frozensets(st.integers(0, 199), max_size=3),
    folded=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_in_groups_too_all_is_done_once_and_the_lowest_failure_is_found(
    n: int, speeds: list[float], name: str, size: int, fails: frozenset[int], folded: bool
) -> None:
    ranks = range(len(speeds))
    groups = [tuple(ranks[k : k + size]) for k in range(0, len(speeds), size)]
    failing = frozenset(p for p in fails if p < n)
    run = Clockwork(
        n, speeds, name, groups=groups, fails=failing, folded=folded, cost=lambda p: 1e-3 * (1 + p % 7)
    ).run()
    done = [position for rank in run.done for position in rank]
    assert len(done) == len(set(done))
    assert set(range(min(failing, default=n))) <= set(done)
    assert run.failed_at == min(failing, default=NO_FAILURE)


@pytest.mark.parametrize("name", ["LCDLB", "LDDLB"])
def test_groups_do_not_give_to_one_another(name: str) -> None:
    groups = [(0, 1), (2, 3)]
    run = Clockwork(800, [1.0, 0.2, 1.0, 0.5], name, groups=groups, cost=lambda p: 1e-3).run()
    assert run.moves
    for move in run.moves:
        assert all({t.source, t.target} in ({0, 1}, {2, 3}) for t in move.transfers)


@pytest.mark.parametrize("name", ["GCDLB", "LCDLB"])
def test_only_the_central_balancer_decides(name: str) -> None:
    run = Clockwork(800, [1.0, 0.2, 1.0, 0.5], name, groups=[(0, 1), (2, 3)], cost=lambda p: 1e-3).run()
    assert run.moves
    assert {rank for _, rank, action in run.trace if isinstance(action, SendInstructions)} == {0}
    assert not [action for _, _, action in run.trace if isinstance(action, ExchangeProfiles)]


@pytest.mark.parametrize("name", ["GCDLB", "GDDLB", "LCDLB", "LDDLB", "none"])
def test_a_strategy_is_committed_to_at_the_first_synchronization(name: str) -> None:
    asked: list[tuple[int, ...]] = []

    def commit(group_state: GroupState, profiles: Sequence[Profile]) -> Strategy:
        asked.append(group_state.members)
        assert len(profiles) == 4
        return strategy(name)

    run = Clockwork(
        2000, [1.0, 0.2, 1.0, 0.5], commit=commit, groups=[(0, 1), (2, 3)], cost=lambda p: 1e-3
    ).run()
    assert asked == [(0, 1, 2, 3)]
    assert sorted(p for done in run.done for p in done) == list(range(2000))
    reports = [action for _, _, action in run.trace if isinstance(action, SendProfile)]
    assert bool(reports) == strategy(name).central


def told(actions: Sequence[Action]) -> Profile:
    (profile,) = [action.profile for action in actions if isinstance(action, ExchangeProfiles)]
    return profile


def test_the_next_profile_tells_how_long_a_rank_waited_since_it_was_called() -> None:
    b = balancer(rank=1)
    b.handle(Worked(0.9, 3, 0.9))
    b.handle(Interrupted(1.0, 0))
    b.handle(ProfilesExchanged(1.25, (Profile(10, 1.0), Profile(3, 0.9))))
    b.handle(Worked(1.5, 1, 0.25))
    assert told(b.handle(Interrupted(1.5, 1))).waited_s == pytest.approx(0.25)


def test_who_has_run_out_waits_for_others_only_once_it_has_called_them() -> None:
    for calls in (False, True):
        b = balancer(rank=1)
        b.handle(Worked(1.0, 10, 1.0))
        assert told(b.handle(Exhausted(1.0))).waited_s == 0
        assert b.timer_at is not None
        when = b.timer_at if calls else 1.0
        if calls:
            assert [type(action) for action in b.handle(TimeElapsed(when))] == [Interrupt]
        b.handle(ProfilesExchanged(when + 0.5, (Profile(4, 1.0, reserved=1), Profile(10, 1.0))))
        b.handle(Worked(when + 0.7, 1, 0.2))
        found = told(b.handle(Interrupted(when + 0.7, 1))).waited_s
        assert found == pytest.approx(0.5 if calls else 0.0)
