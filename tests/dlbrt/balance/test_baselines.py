"""The baselines: each rule by the figures of its law, and whole runs in virtual time under changing load."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, overload

import pytest
from dlbrt.balance.actions import Action, ExchangeProfiles, Interrupt
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.baselines import proximities
from dlbrt.balance.decision import DecisionInputs
from dlbrt.balance.events import Exhausted, Interrupted, ProfilesExchanged, TimeElapsed, Worked
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategies import names, strategy
from dlbrt.contract import AVAILABLE, BASELINES, STRATEGIES
from dlbrt.data.layout import block
from dlbrt.data.transfer import Assignment
from dlbrt.data.work_table import Units, WorkTable
from dlbrt.parameters import Parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dlbrt.balance.clockwork import Clockwork, Run

SOON = Parameters(period_s=2e-3)
ALL = (0, 1)


class LoadedSpeeds(Sequence[float]):
    """Speeds under discrete random load, 0 to 5 for each ``duration`` seconds (Zaki et al.), at `now`."""

    def __init__(self, ranks: int, seed: int, duration: float) -> None:
        self.now = 0.0
        self._ranks, self._seed, self._duration = ranks, seed, duration

    def __len__(self) -> int:
        return self._ranks

    @overload
    def __getitem__(self, rank: int) -> float: ...
    @overload
    def __getitem__(self, rank: slice) -> Sequence[float]: ...
    def __getitem__(self, rank: int | slice) -> float | Sequence[float]:
        assert isinstance(rank, int)
        if rank >= self._ranks:
            raise IndexError(rank)
        draw = random.Random(f"{self._seed} {rank} {self.now // self._duration}")
        return 1 / (1 + draw.randint(0, 5))


class LoadedClockwork(Clockwork):
    """Ranks whose speed is that of the load at the start of a chunk."""

    def __init__(self, n: int, load: LoadedSpeeds, name: str, **options: Any) -> None:
        super().__init__(n, load, name, **options)
        self._loaded = load

    def _work(self, rank: int, now: float) -> None:
        self._loaded.now = now
        super()._work(rank, now)


def under_load(name: str, seed: int, parameters: Parameters | None = None, duration: float = 0.5) -> Run:
    """Four ranks of half a second each, were there no load."""
    load = LoadedSpeeds(4, seed, duration)
    return LoadedClockwork(2000, load, name, cost=lambda p: 1e-3, parameters=parameters).run()


def decision_inputs(
    remaining: Sequence[int], reserved: Sequence[int] | None = None, unit: float = 1.0
) -> DecisionInputs:
    ranks = len(remaining)
    return DecisionInputs(remaining, reserved or [0] * ranks, [1.0] * ranks, 1e-4, unit, 0.0, Parameters())


def assignments(name: str, known: DecisionInputs) -> tuple[Assignment, ...]:
    decision = strategy(name).decide(known)
    return () if decision is None else decision.assignments


def balancer(
    name: str, rank: int = 0, n: int = 20, ranks: int = 2, parameters: Parameters | None = None
) -> Balancer:
    parameters = parameters or Parameters()
    context = BalancingContext(Units(0, n), parameters, parameters.exchange_s)
    return Balancer(rank, block(n, ranks), strategy(name), context, 0.0)


def exhaust(b: Balancer, now: float) -> tuple[Action, ...]:
    b.handle(Worked(now, len(b.work), now))
    return b.handle(Exhausted(now))


# Periodic exchange


def test_by_the_clock_a_rank_gives_its_profile_uninterrupted() -> None:
    b = balancer("periodic")
    b.handle(Worked(0.09, 3, 0.09))
    assert not b.due(0.09)
    assert b.handle(TimeElapsed(0.09)) == ()
    assert b.due(0.1)
    (action,) = b.handle(TimeElapsed(0.1))
    assert isinstance(action, ExchangeProfiles)
    assert (action.epoch, action.profile.done, action.members) == (0, 3, ALL)
    assert b.work
    assert not b.due(9.0)


def test_the_period_begins_anew_with_each_synchronization() -> None:
    b = balancer("periodic")
    b.handle(Worked(0.1, 5, 0.1))
    b.handle(TimeElapsed(0.1))
    b.handle(ProfilesExchanged(0.12, (Profile(5, 0.1, reserved=1), Profile(5, 0.1, reserved=1))))
    assert not b.due(0.21)
    assert b.due(0.22)


def test_a_rank_that_runs_out_waits_for_the_next_exchange() -> None:
    b = balancer("periodic")
    assert exhaust(b, 0.05) == (ExchangeProfiles(0, Profile(10, 0.05), ALL),)
    assert b.handle(TimeElapsed(100.0)) == ()


def test_the_period_is_long_against_what_an_exchange_costs() -> None:
    b = balancer("periodic", parameters=Parameters(period_s=1e-3, exchange_s=1.0, interval_factor=10.0))
    assert not b.due(9.9)
    assert b.due(10.1)


@pytest.mark.parametrize("name", ["none", "GDDLB", "GCDLB", "LDDLB", "LCDLB", "affinity", "gradient"])
def test_other_strategies_do_not_go_by_the_clock(name: str) -> None:
    assert not balancer(name).due(1e9)


def test_the_default_period_is_near_the_best_under_changing_load() -> None:
    def total_s(period_s: float) -> float:
        runs = [("periodic", seed, Parameters(period_s=period_s), d) for seed in (0, 1) for d in (0.1, 0.5)]
        return sum(under_load(*run).makespan for run in runs)

    others = [total_s(period_s) for period_s in (0.02, 0.05, 0.2, 0.4)]
    assert total_s(Parameters().period_s) <= 1.03 * min(others)


# Gradient model


def test_proximity_is_the_distance_to_the_nearest_idle_rank() -> None:
    assert proximities([False, True, False, False, False, True]) == [1, 0, 1, 2, 1, 0]
    assert proximities([False] * 4) == [4] * 4
    assert proximities([]) == []


def test_abundant_ranks_give_half_one_hop_towards_the_nearest_idle_rank() -> None:
    assert assignments("gradient", decision_inputs([0, 8, 1, 20, 0])) == (
        Assignment(1, 0, 4),
        Assignment(3, 4, 10),
    )
    assert assignments("gradient", decision_inputs([8, 8, 8, 0])) == (
        Assignment(0, 1, 4),
        Assignment(1, 2, 4),
        Assignment(2, 3, 4),
    )


def test_a_saturated_system_moves_nothing_whatever_the_imbalance() -> None:
    assert strategy("gradient").decide(decision_inputs([1, 1000])) is None


@pytest.mark.parametrize("name", ["gradient", "affinity"])
def test_a_rank_with_a_single_unit_keeps_it(name: str) -> None:
    assert assignments(name, decision_inputs([0, 1])) == ()
    assert assignments(name, decision_inputs([0, 10], unit=10.0)) == ()


@pytest.mark.parametrize("name", ["gradient", "affinity"])
def test_nothing_is_given_of_what_is_reserved(name: str) -> None:
    assert assignments(name, decision_inputs([0, 8], [0, 8])) == ()
    (assignment,) = assignments(name, decision_inputs([0, 8], [0, 7]))
    assert assignment == Assignment(1, 0, 1)


@pytest.mark.parametrize(("left_to_rank_1", "goes"), [(1, True), (8, False)])
def test_the_clock_goes_while_a_demand_is_not_met(left_to_rank_1: int, goes: bool) -> None:
    """Rank 0 has run out; rank 1 keeps a single unit, or gives of several."""
    b = balancer("gradient", rank=2, n=30, ranks=3)
    b.handle(Worked(0.1, 4, 0.1))
    b.handle(Interrupted(0.1, 0))
    done = 10 - left_to_rank_1
    b.handle(
        ProfilesExchanged(
            0.2, (Profile(10, 0.1), Profile(done, 0.1, reserved=1), Profile(4, 0.1, reserved=1))
        )
    )
    assert bool(b.group_state.shares[0]) == (not goes)
    assert b.due(0.31) == goes


def test_a_demand_that_is_not_met_synchronizes_by_the_clock() -> None:
    """Rank 0 is far from the only abundant rank: the work comes hop by hop."""
    run = Clockwork(
        300, [1.0] * 4, "gradient", cost=lambda p: 1e-6 if p < 225 else 1e-2, chunk_s=1e-3, parameters=SOON
    ).run()
    assert sorted(p for done in run.done for p in done) == list(range(300))
    assert run.makespan < 0.6 * 75 * 1e-2
    assert all(
        abs(transfer.source - transfer.target) == 1 for move in run.moves for transfer in move.transfers
    )


# Affinity scheduling


def test_a_rank_without_work_takes_its_part_of_what_the_most_loaded_has() -> None:
    assert assignments("affinity", decision_inputs([0, 5, 12, 7])) == (Assignment(2, 0, 3),)


def test_claims_are_served_one_after_the_other_by_the_then_most_loaded() -> None:
    assert assignments("affinity", decision_inputs([0, 9, 10, 0])) == (
        Assignment(2, 0, 3),
        Assignment(1, 3, 3),
    )
    assert assignments("affinity", decision_inputs([0, 0, 0, 2])) == (Assignment(3, 0, 1),)


def test_a_claim_is_a_unit_at_least() -> None:
    assert assignments("affinity", decision_inputs([0, 30, 20, 20], unit=10.0)) == (Assignment(1, 0, 10),)


def test_a_rank_that_runs_out_interrupts() -> None:
    for name in ("affinity", "gradient"):
        b = balancer(name)
        exhaust(b, 1.0)
        assert b.handle(TimeElapsed(2.0)) == (Interrupt(0, (1,)),)


# All of them


def test_the_strategies_that_there_are_are_those_of_the_contract_and_of_the_clause() -> None:
    assert set(BASELINES) < set(names()) < {*STRATEGIES, *BASELINES}
    assert {"auto", *names()} == set(AVAILABLE)


def test_the_baselines_balance_among_all_ranks() -> None:
    for name in BASELINES:
        assert strategy(name).name == name
        assert not strategy(name).local
        assert not strategy(name).central


@given(
    n=st.integers(0, 300),
    ranks=st.integers(1, 7),
    name=st.sampled_from(BASELINES),
    seed=st.integers(0, 100),
    dealt=st.sampled_from(["block", "cyclic"]),
    grain=st.sampled_from([1e-6, 1e-3, 0.1]),
    folded=st.booleans(),
    soon=st.booleans(),
    fails=st.frozensets(st.integers(0, 299), max_size=3),
)
@settings(max_examples=200, deadline=None)
def test_all_is_done_once_under_changing_load_and_the_lowest_failure_found(
    n: int,
    ranks: int,
    name: str,
    seed: int,
    dealt: str,
    grain: float,
    folded: bool,
    soon: bool,
    fails: frozenset[int],
) -> None:
    failing = frozenset(p for p in fails if p < n)
    run = LoadedClockwork(
        n,
        LoadedSpeeds(ranks, seed, 30 * grain),
        name,
        dealt=dealt,
        folded=folded,
        fails=failing,
        cost=lambda p: grain * (1 + p % 5),
        parameters=SOON if soon else None,
    ).run()
    done = [position for part in run.done for position in part]
    assert len(done) == len(set(done))
    assert set(range(min(failing, default=n))) <= set(done)
    assert run.failed_at == min(failing, default=NO_FAILURE)
    assert run.synchronizations <= n + len(failing) * ranks


@given(
    costs=st.lists(st.integers(0, 50), min_size=1, max_size=200).filter(any),
    speeds=st.lists(st.floats(0.1, 10.0), min_size=1, max_size=6),
    name=st.sampled_from(BASELINES),
)
@settings(max_examples=150, deadline=None)
def test_iterations_of_known_cost_are_done_once(costs: list[int], speeds: list[float], name: str) -> None:
    table = WorkTable(tuple(range(len(costs) + 1)), tuple(accumulate(costs, initial=0)))
    run = Clockwork(len(costs), speeds, name, work_table=table, cost=lambda p: 1e-3 * costs[p]).run()
    assert sorted(position for done in run.done for position in done) == list(range(len(costs)))


@pytest.mark.parametrize("name", BASELINES)
def test_under_changing_load_it_beats_the_static_partition(name: str) -> None:
    for seed in range(3):
        assert under_load(name, seed).makespan < 0.95 * under_load("none", seed).makespan


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("grain", [1e-7, 1e-5, 1e-3, 1e-1, 1.0])
@pytest.mark.parametrize("speeds", [(1.0, 1.0), (1.0, 0.9, 1.1, 1.0), (1.0, 1.0, 0.2, 1.0)])
def test_it_loses_little_at_any_grain(name: str, grain: float, speeds: tuple[float, ...]) -> None:
    n = max(16, min(20_000, int(2.0 / grain)))
    static = Clockwork(n, speeds, "none", cost=lambda p: grain, chunk_s=1e-3).run()
    balanced = Clockwork(n, speeds, name, cost=lambda p: grain, chunk_s=1e-3).run()
    assert balanced.makespan <= 1.05 * static.makespan + 1e-3


@pytest.mark.parametrize("name", BASELINES)
def test_the_same_input_gives_the_same_trace(name: str) -> None:
    assert under_load(name, 7).trace == under_load(name, 7).trace
