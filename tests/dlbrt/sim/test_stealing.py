"""Stealing in virtual time: how soon all know that a loop is over, and whom a thief asks that has to wait."""

from __future__ import annotations

import operator
from dataclasses import replace
from math import inf
from random import Random
from statistics import fmean

import pytest
from dlbrt.balance import stealing
from dlbrt.balance.strategies import STATIC, strategy
from dlbrt.data.spans import coverage_error
from dlbrt.predict.groups import blocks
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine

from tests.bench.strategies_grid import Point, takes

DEAR_S, CHEAP_S = 0.04, 1e-5


def played(name: str, speeds: tuple[float, ...], latency_s: float, loop: LoopModel) -> float:
    """The makespan, every iteration done once."""
    network = NetworkDescription(latency_s, 1e9).among(len(speeds))
    machine = Machine(speeds, network, groups=blocks(len(speeds), len(speeds)))
    found = simulate(machine, loop, strategy(name), traced=False)
    assert coverage_error(len(loop.units), list(found.done)) is None
    return found.makespan_s


@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_where_messages_are_dear_stealing_ends_no_later_than_no_balancing(ranks: int) -> None:
    loop = LoopModel(1000 * ranks, 1e-4)
    assert played("steal", (1.0,) * ranks, DEAR_S, loop) <= played(STATIC, (1.0,) * ranks, DEAR_S, loop)


@pytest.mark.parametrize("name", ["steal", "diffusion"])
@pytest.mark.parametrize("latency_s", [CHEAP_S, DEAR_S])
def test_a_loop_ends_for_all_whoever_counts(name: str, latency_s: float) -> None:
    speeds, loop = (1.0, 0.25, 1.0, 0.5, 0.8), LoopModel(500, 5e-3)
    assert played(name, speeds, latency_s, loop) <= played(STATIC, speeds, latency_s, loop)


def test_a_rank_within_a_long_iteration_gives_what_it_has_not_begun() -> None:
    """Rank 1 is within its first iteration for longer than rank 0 takes for all others."""
    costs = (0.1, 0.1, 0.1, 5.0, 0.1, 0.1)
    found = simulate(*machine_and_loop((1.0, 1.0), costs), strategy("steal"), traced=False)
    assert [sorted(p for run in done.runs for p in run) for done in found.done] == [[0, 1, 2, 4, 5], [3]]
    assert found.makespan_s == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_given_within_iterations_is_done_once(seed: int) -> None:
    random = Random(seed)
    speeds = tuple(random.choice((1.0, 0.5, 0.25)) for _ in range(5))
    costs = tuple(random.expovariate(20) for _ in range(random.randrange(5, 60)))
    found = simulate(*machine_and_loop(speeds, costs), strategy("steal"), traced=False)
    assert coverage_error(len(costs), list(found.done)) is None
    computed_s = sum(map(operator.mul, found.compute_s, speeds))
    assert computed_s == pytest.approx(sum(costs))


def machine_and_loop(speeds: tuple[float, ...], costs: tuple[float, ...]) -> tuple[Machine, LoopModel]:
    """Ranks of these speeds, and a loop without rows whose iterations take these seconds."""
    network = NetworkDescription(CHEAP_S, 1e9).among(len(speeds))
    return Machine(speeds, network, groups=blocks(len(speeds), len(speeds))), LoopModel(len(costs), costs)


def mean_s(point: Point) -> float:
    """Stealing on the point's machine, on average over loads and speeds."""
    seeds = [replace(point, seed=seed) for seed in range(12)]
    return fmean(takes(each.machine(), each.loop(), "steal")[0] for each in seeds)


def test_a_thief_does_not_wait_for_one_slow_rank_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank answers between its iterations, which differ by a factor of up to 24."""
    point = Point(8, 12, 0.05, 0.0, 1e-5, 1e9, "fixed", 1.0, True, "equal", 0)
    asking_s = mean_s(point)
    monkeypatch.setattr(stealing, "_TIMEOUT", inf)
    assert asking_s < mean_s(point)


def test_rows_that_take_long_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    point = Point(8, 500, 1e-3, 5e3, 1e-4, 2e6, "fixed", 1.0, False, "known", 0)
    waiting_s = mean_s(point)
    monkeypatch.setattr(stealing, "_LIGHT", inf)
    assert waiting_s < mean_s(point)
