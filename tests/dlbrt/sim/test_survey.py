"""The survey of `auto`: once in a loop, it stops no rank, and a strategy is chosen by it."""

from __future__ import annotations

import pytest
from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.events import Received
from dlbrt.balance.messages import HandoverRequest, ReportRequest, WorkReport
from dlbrt.balance.strategies import UNCHOSEN, names, strategy
from dlbrt.contract import BASELINES
from dlbrt.data.spans import coverage_error
from dlbrt.emulation import LoadSpec
from dlbrt.parameters import Parameters
from dlbrt.predict.choose import TAKES
from dlbrt.predict.groups import blocks
from dlbrt.predict.schemes import NONE, SCHEMES
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome

#: The strategies of the paper, and no balancing.
SCHEMES_AND_NONE = [scheme.name for scheme in (*SCHEMES, NONE)]


def played(
    ranks: int, levels: tuple[int, ...], latency_s: float, loop: LoopModel
) -> tuple[SimulationOutcome, SimulationOutcome, StrategyChooser]:
    """Under `auto`, and under `steal`."""
    network = NetworkDescription(latency_s, 1e9).among(ranks)
    machine = Machine((1.0,) * ranks, network, LoadSpec(levels=levels), blocks(ranks, max(1, ranks // 2)))
    chooser = StrategyChooser(network, machine.groups)
    auto = simulate(machine, loop, strategy(UNCHOSEN), Parameters(), chooser)
    return auto, simulate(machine, loop, strategy("steal"), Parameters()), chooser


def surveys(outcome: SimulationOutcome, kind: type) -> list[int]:
    """The ranks that took such a message."""
    return [
        step.rank
        for step in outcome.trace
        if isinstance(step.event, Received) and isinstance(step.event.message, kind)
    ]


@pytest.mark.parametrize(("ranks", "latency_s"), [(2, 1e-5), (4, 0.04), (8, 1e-4), (32, 1e-3)])
def test_every_strategy_is_predicted_and_no_rank_waits(ranks: int, latency_s: float) -> None:
    """Also where a synchronization is dear, or ranks are many."""
    levels = tuple(3 * (rank % 2) for rank in range(ranks))
    auto, steal, chooser = played(ranks, levels, latency_s, LoopModel(1500 * ranks, 2e-3))
    assert (auto.strategy, chooser.chosen) == ("steal", True)
    assert auto.makespan_s == pytest.approx(steal.makespan_s, rel=0.02)
    assert sorted(surveys(auto, ReportRequest)) == list(range(1, ranks))
    assert surveys(auto, WorkReport) == [0] * (ranks - 1)
    assert chooser.choice is not None
    predicted_s = dict(chooser.choice.predicted_s)
    assert set(predicted_s) == set(names()) - set(BASELINES)
    assert predicted_s["steal"] == pytest.approx(auto.makespan_s, rel=0.25)
    record = chooser.choice.record()
    assert record["choice"] == "steal"
    assert all(predicted_s[name] <= 1.05 * predicted_s["steal"] for name in record["within_error"])


@pytest.mark.parametrize("name", [*SCHEMES_AND_NONE, "diffusion"])
@pytest.mark.parametrize(("ranks", "latency_s"), [(2, 1e-5), (5, 0.04), (8, 1e-4)])
def test_all_go_over_to_a_strategy_that_is_expected_to_take_less_time(
    ranks: int, latency_s: float, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TAKES, name, 0.01)
    levels = tuple(3 * (rank % 2) for rank in range(ranks))
    loop = LoopModel(1500 * ranks, 2e-3)
    auto, _, chooser = played(ranks, levels, latency_s, loop)
    assert (auto.strategy, chooser.chosen) == (name, True)
    assert chooser.choice is not None
    assert chooser.choice.strategy == name
    assert coverage_error(loop.n, list(auto.done)) is None


def test_where_little_is_left_ranks_steal_on_and_the_model_is_asked_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TAKES, "GDDLB", 0.01)
    auto, _, chooser = played(4, (0, 3, 0, 0), 1e-5, LoopModel(500, 2e-3))
    assert surveys(auto, HandoverRequest) == []
    assert (auto.strategy, chooser.chosen) == ("steal", False)
    assert chooser.choice is not None
    assert chooser.choice.strategy == "steal"


def test_a_short_loop_is_not_surveyed() -> None:
    auto, _, chooser = played(4, (0, 3, 0, 0), 1e-5, LoopModel(100, 1e-3))
    assert surveys(auto, ReportRequest) == []
    assert chooser.choice is None


def test_where_stealing_was_asked_for_there_is_no_survey() -> None:
    _, steal, _ = played(4, (0, 3, 0, 0), 1e-5, LoopModel(4000, 1e-3))
    assert surveys(steal, ReportRequest) == []
