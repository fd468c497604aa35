"""What many ranks cost: laws of counting, so that nothing grows with the square of their number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from dlbrt.balance.actions import Interrupt
from dlbrt.balance.events import InstructionsReceived, Interrupted, ProfilesExchanged
from dlbrt.balance.strategies import strategy
from dlbrt.chunks.rule import ChunkSequence
from dlbrt.chunks.scheduler import ChunkScheduler
from dlbrt.data.spans import coverage_error
from dlbrt.emulation import Cliff, LoadSpec, RandomLoad
from dlbrt.predict.groups import GroupRules, blocks
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim import driver
from dlbrt.sim.action_executor import ActionExecutor, PendingRedistribution
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.ranks import ActionHandler, SimulatedRank, SimulatedRanks

FLAT = Pattern((1e-4,))
TREE = Network(2e-5, 1e9, FLAT, FLAT, FLAT, 1e-5)
SYNCHRONIZING = ("GDDLB", "GCDLB", "LDDLB", "LCDLB", "periodic", "gradient", "affinity", "none")


def machine(ranks: int, rules: GroupRules | None = None) -> Machine:
    load = LoadSpec(random=RandomLoad(5, 0.5, 1))
    return Machine((1.0,) * ranks, TREE, load, blocks(ranks, 8), rules or GroupRules())


def run(name: str, ranks: int, traced: bool, rules: GroupRules | None = None) -> SimulationOutcome:
    loop = LoopModel(100 * ranks, 0.01, iteration_bytes=8)
    return simulate(machine(ranks, rules), loop, strategy(name), traced=traced)


@pytest.mark.parametrize("name", SYNCHRONIZING)
def test_without_a_trace_all_else_is_the_same(name: str) -> None:
    traced, untraced = run(name, 24, traced=True), run(name, 24, traced=False)
    assert untraced.trace == ()
    assert replace(traced, trace=()) == untraced
    assert coverage_error(2400, list(untraced.done)) is None


@pytest.mark.parametrize("name", SYNCHRONIZING)
def test_events_are_bounded_by_ranks_times_synchronizations(name: str) -> None:
    """A synchronization is some steps a rank, however many ranks there are."""
    ranks = 64
    outcome = run(name, ranks, traced=False)
    global_ones = -(-outcome.synchronizations // (8 if name.startswith("L") else 1))
    assert 3 * ranks <= outcome.events <= 16 * ranks * (global_ones + 2)


@pytest.mark.parametrize("name", ["GDDLB", "LDDLB", "affinity"])
def test_of_many_who_ask_for_a_synchronization_one_is_heard(name: str) -> None:
    outcome = run(name, 64, traced=True)
    heard = [(s.rank, s.event.epoch) for s in outcome.trace if isinstance(s.event, Interrupted)]
    assert any(isinstance(action, Interrupt) for s in outcome.trace for action in s.actions)
    assert len(heard) == len(set(heard)) > 0


@pytest.mark.parametrize(("name", "answer"), [("LDDLB", ProfilesExchanged), ("LCDLB", InstructionsReceived)])
def test_synchronizations_are_those_of_all_groups(name: str, answer: type) -> None:
    """As the lowest rank of each group counts them, but for the last one, which finds nothing left."""
    outcome = run(name, 24, traced=True)
    counts = [
        sum(s.rank == head and isinstance(s.event, answer) for s in outcome.trace) for head in (0, 8, 16)
    ]
    assert min(counts) > 1
    assert outcome.synchronizations == sum(counts) - 3


@pytest.mark.parametrize("rules", [GroupRules(), GroupRules(exchange=True), GroupRules(dynamic=True)])
@pytest.mark.parametrize("name", SYNCHRONIZING)
def test_movements_that_are_over_are_forgotten(
    name: str, rules: GroupRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[ActionExecutor]()

    class Watched(ActionExecutor):
        def table(self) -> Mapping[type, ActionHandler]:
            made.append(self)
            return super().table()

    monkeypatch.setattr(driver, "ActionExecutor", Watched)
    outcome = run(name, 24, False, rules)
    assert (outcome.redistributions > 0) == (name != "none")
    assert made[0]._movements == dict[tuple[int, int], PendingRedistribution]()


@pytest.mark.parametrize("name", ["SS", "FAC2", "AWF_B"])
def test_one_rank_has_the_pool_and_deals_the_first_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are dealt once before the loop and once by rank 0, not by every rank."""
    ranks, deal, dealt = 64, ChunkScheduler.deal, list[range]()

    def counted(scheduler: ChunkScheduler, rank: int) -> range:
        dealt.append(deal(scheduler, rank))
        return dealt[-1]

    monkeypatch.setattr(ChunkScheduler, "deal", counted)
    outcome = run(name, ranks, traced=False)
    assert coverage_error(100 * ranks, list(outcome.done)) is None
    assert len([chunk for chunk in dealt if chunk]) <= 100 * ranks + ranks


@pytest.mark.parametrize("name", ["TSS", "GSS"])
def test_chunks_by_their_number_are_laid_out_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, laid_out = list[int](), ChunkSequence.__init__

    def counted(sequence: ChunkSequence, n: int, runs: Iterable[tuple[int, int]]) -> None:
        made.append(n)
        laid_out(sequence, n, runs)

    monkeypatch.setattr(ChunkSequence, "__init__", counted)
    outcome = simulate(machine(48), LoopModel(4801, 0.01), strategy(name))
    assert coverage_error(4801, list(outcome.done)) is None
    assert made == [4801]


@pytest.mark.parametrize("name", ["periodic", "steal"])
def test_a_rank_is_woken_once_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    woken, wake = list[tuple[int, float]](), SimulatedRanks._wake

    def noted(ranks: SimulatedRanks, each: SimulatedRank, now: float) -> None:
        woken.append((each.rank, now))
        wake(ranks, each, now)

    monkeypatch.setattr(SimulatedRanks, "_wake", noted)
    run(name, 24, traced=False)
    assert len(woken) == len(set(woken)) > 0


def test_a_processor_is_as_slow_as_what_it_holds_at_the_beginning_makes_it() -> None:
    cliffs = (None, Cliff(50, 15, 0.1))
    paging = Machine((1.0, 1.0), TREE, LoadSpec(speeds=(1.0, 1.0), cliffs=cliffs))
    loop = LoopModel(200, 0.01)
    outcome = simulate(paging, loop, strategy("none"))
    assert outcome.compute_s == pytest.approx((1.0, 15.0))
    fits = simulate(paging, LoopModel(90, 0.01), strategy("none"))
    assert fits.compute_s == pytest.approx((0.45, 0.45))
