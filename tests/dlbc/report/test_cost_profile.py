"""What iterations cost and how fast ranks are is told apart, also where every rank did a block of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from dlbrt.balance.agent import InitialState
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.setup import AgentSetup
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units, WorkTable
from dlbrt.observe.trace import Chunk, RankTrace, RunTrace
from dlbrt.parameters import Parameters

from dlbc.commands.report.cost_profile import CostProfile, cost_profile

N = 400


def run_of(
    cost: Callable[[int], float], speeds: Sequence[float], cuts: Sequence[int] | None = None
) -> RunTrace:
    """A run in blocks, in chunks of five iterations, on ranks of these speeds."""
    ranks = len(speeds)
    cuts = cuts or [N * k // ranks for k in range(ranks + 1)]
    per_rank = []
    for (low, high), speed in zip(pairwise(cuts), speeds, strict=True):
        chunks = []
        for first in range(low, high, 5):
            positions = range(first, min(first + 5, high))
            seconds = sum(map(cost, positions)) / speed
            chunks.append(Chunk(positions, 0.0, seconds, seconds))
        per_rank.append(RankTrace(0.0, chunks=tuple(chunks)))
    context = BalancingContext(Units(0, N), Parameters(), 1e-4)
    return RunTrace("none", N, tuple(per_rank), AgentSetup("none", InitialState(block(N, ranks), context)))


def profile_of(cost: Callable[[int], float], speeds: Sequence[float]) -> CostProfile:
    found = cost_profile([run_of(cost, speeds)], len(speeds))
    assert found is not None
    return found


def test_a_slow_rank_is_no_dear_part_of_the_loop() -> None:
    found = profile_of(lambda _: 1e-3, (1.0, 0.25, 1.0, 1.0))
    assert found.speeds == pytest.approx((1.0, 0.25, 1.0, 1.0), rel=0.05)
    assert found.seconds == pytest.approx([1e-3] * len(found.seconds), rel=0.1)
    assert found.growth < 1.1
    assert found.uneven < 0.05
    assert found.slow == pytest.approx(4 / (7 / 4) - 1, rel=0.05)


@pytest.mark.parametrize(
    ("cost", "where", "growth"),
    [
        (lambda i: 1e-3 * (1 + 39 * i / N), "at the end", 40),
        (lambda i: 1e-3 * (1 + 39 * (1 - i / N)), "at the beginning", 40),
        (lambda i: 1e-3 * (1 + 19 * max(0, 1 - abs(i - N / 2) / 80)), "in the middle", 20),
        (lambda i: 1e-3 * (1 + 19 * (abs(i - N / 2) * 2 / N) ** 4), "at both ends", 20),
    ],
)
def test_dear_iterations_are_no_slow_rank(cost: Callable[[int], float], where: str, growth: float) -> None:
    found = profile_of(cost, (1.0,) * 4)
    assert found.where == where
    assert found.growth == pytest.approx(growth, rel=0.4)
    assert found.speeds == pytest.approx((1.0,) * 4, rel=0.3)
    assert found.uneven > max(0.2, 3 * found.slow)


def test_both_at_once() -> None:
    found = profile_of(lambda i: 1e-3 * (1 + 9 * i / N), (1.0, 1.0, 0.5, 1.0))
    assert found.speeds == pytest.approx((1.0, 1.0, 0.5, 1.0), rel=0.15)
    assert found.growth == pytest.approx(10, rel=0.3)


def test_ranks_whose_iterations_took_the_same_time_are_equally_fast() -> None:
    # Iterations next to each other, on both sides of a cut, were disturbed on one rank.
    def cost(i: int) -> float:
        return 1e-3 * (2.0 if N // 2 - 40 <= i < N // 2 else 1.0 if i < N // 2 else 1.2)

    assert profile_of(cost, (1.0, 1.0)).speeds == pytest.approx((1.0, 1.0), rel=0.01)


def test_of_two_ranks_the_faster_is_the_measure() -> None:
    assert profile_of(lambda _: 1e-3, (0.2, 1.0)).speeds == pytest.approx((0.2, 1.0), rel=0.05)


def test_work_that_moved_counts_where_it_was_done() -> None:
    found = cost_profile([run_of(lambda _: 1e-3, (1.0, 0.25, 1.0, 1.0), [0, 130, 160, 280, N])], 4)
    assert found is not None
    assert found.slow == pytest.approx(4 / (7 / 4) - 1, rel=0.1), "by the first shares, which are equal"


def test_the_stated_cost_is_scaled_to_the_same_work() -> None:
    run = run_of(lambda i: 1e-3 * (1 + i), (1.0, 1.0))
    assert run.setup is not None
    context = run.setup.start.context
    table = WorkTable(tuple(range(N + 1)), tuple(k * k for k in range(N + 1)))
    stated = replace(context, work_table=table)
    setup = replace(run.setup, start=replace(run.setup.start, context=stated))
    found = cost_profile([replace(run, setup=setup)], 2)
    assert found is not None
    assert found.stated is not None
    assert found.stated[1:] == pytest.approx(found.seconds[1:], rel=0.15), "chunks have five iterations"
    assert profile_of(lambda i: 1e-3 * (1 + i), (1.0, 1.0)).stated is None


def test_nothing_is_known_of_runs_without_chunks() -> None:
    assert cost_profile([RunTrace("none", 5, (RankTrace(0.0), RankTrace(0.0)))], 2) is None
    assert cost_profile([], 2) is None


def test_a_rank_that_did_nothing_has_no_speed() -> None:
    found = cost_profile([run_of(lambda _: 1e-3, (1.0, 1.0, 1.0), [0, 200, 200, N])], 3)
    assert found is not None
    assert found.speeds == (pytest.approx(1.0, rel=0.05), None, pytest.approx(1.0, rel=0.05))


def short_run(seconds: Sequence[Sequence[float]]) -> RunTrace:
    """A run whose ranks had so many iterations each, one after another, that took so long."""
    per_rank, first = [], 0
    for own in seconds:
        chunks = [Chunk(range(first + k, first + k + 1), 0.0, s, s) for k, s in enumerate(own)]
        first += len(own)
        per_rank.append(RankTrace(0.0, chunks=tuple(chunks)))
    context = BalancingContext(Units(0, first), Parameters(), 1e-4)
    return RunTrace(
        "none", first, tuple(per_rank), AgentSetup("none", InitialState(block(first, len(seconds)), context))
    )


def test_one_long_iteration_of_a_few_is_no_slow_rank() -> None:
    found = cost_profile([short_run([(6e-3, 2e-3, 6e-3, 0.63), (2e-3,) * 4 + (0.13,) + (2e-3,) * 3])], 2)
    assert found is not None
    assert found.speeds == (None, None)
    assert found.longest_s == pytest.approx(0.63)


def test_how_far_a_cost_is_off_is_said_of_what_takes_time() -> None:
    found = profile_of(lambda _: 1e-3, (1.0, 1.0))
    n = len(found.seconds)
    assert found.misfit == 1.0
    assert replace(found, stated=found.seconds).misfit == 1.0
    noisy = replace(found, seconds=(1e-8, *found.seconds[1:]), stated=(1e-6, *found.seconds[1:]))
    assert noisy.misfit == 1.0
    off = replace(noisy, edges=(0, 10, 20), seconds=(1e-3, 3e-3), stated=(2e-3, 2e-3))
    assert off.misfit == pytest.approx(2.0)
    assert n > 2
