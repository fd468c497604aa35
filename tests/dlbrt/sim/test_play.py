"""A loop under many strategies: the figures that can be computed by hand, and their order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dlbrt.balance.strategies import AUTO, names
from dlbrt.data.spans import Spans
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network
from dlbrt.sim.compare import SimulationCase, simulate_all, simulate_strategy, strategy_names
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome

LOOP = LoopModel(400, 0.01, iteration_bytes=800)


def machine(speeds: tuple[float, ...], load: LoadSpec | None = None) -> Machine:
    return Machine(speeds, Network.default(), load or LoadSpec(), blocks(len(speeds), 2))


def test_figures_of_a_static_partition() -> None:
    [found] = simulate_all(SimulationCase(machine((1.0, 1.0, 1.0, 0.5)), LOOP), ["none"])
    assert found.makespan_s == pytest.approx(2.0, rel=1e-3)
    assert found.optimum_s == pytest.approx(4 / 3.5)
    assert found.over_optimum == pytest.approx(1.75, rel=1e-3)
    assert found.efficiency == pytest.approx(4 / (2 * 3.5), rel=1e-3)
    assert found.work_s == pytest.approx(4.0)
    assert found.chosen == ("none",)
    assert found.median_of("moved") == 0
    assert found.outcomes[0].trace == ()


def test_emulated_speeds_count_as_speeds_and_load_does_not() -> None:
    emulated = LoadSpec(levels=(1, 1), speeds=(1.0, 2.0))
    assert SimulationCase(machine((1.0, 1.0), emulated), LOOP).speed() == pytest.approx(1.5)


def test_the_fastest_comes_first_and_names_decide_between_equals() -> None:
    found = simulate_all(SimulationCase(machine((1.0, 1.0, 1.0, 0.2)), LOOP), ["none", "GDDLB", AUTO])
    times = [each.makespan_s for each in found]
    assert times == sorted(times)
    assert found[-1].strategy == "none"
    same = simulate_all(SimulationCase(machine((1.0,)), LOOP), ["none", "GDDLB", "LDDLB"])
    assert [each.strategy for each in same] == ["GDDLB", "LDDLB", "none"]


def test_several_loads_give_medians() -> None:
    load = LoadSpec(random=RandomLoad(5, 0.1, 3))
    case = SimulationCase(machine((1.0, 1.0), load), LOOP, loads=5)
    assert [each.load.random.seed for each in case.machines() if each.load.random] == [3, 5, 7, 9, 11]
    [found] = simulate_all(case, ["GDDLB"])
    assert len(found.makespans_s) == 5
    assert found.makespan_s == sorted(found.makespans_s)[2]
    alone = simulate_strategy(case.machines()[3], LOOP, "GDDLB")
    assert found.makespans_s[3] == alone.makespan_s


def test_without_work_there_is_nothing_to_be_efficient_at() -> None:
    [found] = simulate_all(SimulationCase(machine((1.0, 1.0)), LoopModel(0, 0.01)), ["GDDLB"])
    assert (found.over_optimum, found.efficiency) == (None, None)


def test_a_trace_is_kept_where_it_is_wanted() -> None:
    [found] = simulate_all(SimulationCase(machine((1.0, 1.0)), LOOP), ["GDDLB"], traced=True)
    assert len(found.outcomes[0].trace) > 2


def test_every_name_can_be_played_but_unknown_ones() -> None:
    assert strategy_names() == (*names(), AUTO)
    with pytest.raises(KeyError):
        simulate_strategy(machine((1.0,)), LOOP, "GDDLP")


def test_an_iteration_that_is_lost_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(*args: object, **options: object) -> SimulationOutcome:
        return replace(simulate(*args, **options), done=(Spans.of(range(400)), Spans.of()))  # type: ignore[arg-type]

    monkeypatch.setattr("dlbrt.sim.compare.simulate", lossy)
    assert simulate_strategy(machine((1.0, 1.0)), LOOP, "none").done[1] == Spans.of()
    with pytest.raises(RuntimeError, match=r"none: iteration 400 was executed by no rank"):
        simulate_strategy(machine((1.0, 1.0)), LoopModel(401, 0.01), "none")
