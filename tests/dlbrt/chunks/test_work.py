"""Chunks of work: the same as of counts where iterations cost the same, near the aim where they do not."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from dlbrt.chunks.scheduler import WorkUnits
from dlbrt.chunks.statistics import LoopStatistics, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.data.work_table import WorkTable
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chunk_player import ReportingScheduler, play

KNOWN = LoopStatistics(mean_s=0.01, deviation_s=0.01, overhead_s=1e-4)
COSTS = st.lists(st.integers(0, 1000), min_size=1, max_size=200).filter(any)


def work_table(costs: list[int]) -> WorkTable:
    return WorkTable(tuple(range(len(costs) + 1)), tuple(int(x) for x in np.cumsum([0, *costs])))


@pytest.mark.parametrize("name", RULES)
def test_a_table_of_equal_iterations_changes_nothing(name: str) -> None:
    rule, costs = RULES[name].make(ScheduledLoop(700, 6, KNOWN)), np.full(700, 0.01)
    speeds = [1.0, 2.0, 3.0, 1.0, 0.25, 1.0]
    counted = play(ReportingScheduler(rule), costs, speeds, 1e-3)
    assert counted == play(ReportingScheduler(rule, work_table([7] * 700)), costs, speeds, 1e-3)
    assert counted == play(ReportingScheduler(rule, WorkTable((0, 700), (0, 700 << 40))), costs, speeds, 1e-3)


@given(COSTS, st.integers(1, 300))
def test_a_chunk_is_the_nearest_to_its_work(costs: list[int], units: int) -> None:
    table = WorkUnits(len(costs), work_table(costs))
    for start in range(len(costs)):
        chunk = table.chunk(start, units)
        assert chunk.start == start
        assert 1 <= len(chunk) <= len(costs) - start
        if len(chunk) > 1 and units < table.left(start):
            aim = units * sum(costs) // len(costs)
            shorter = sum(costs[start : chunk.stop - 1])
            assert abs(sum(costs[start : chunk.stop]) - aim) < abs(shorter - aim)


@given(COSTS)
def test_the_work_left_falls_from_all_to_none(costs: list[int]) -> None:
    table = WorkUnits(len(costs), work_table(costs))
    left = [table.left(start) for start in range(len(costs) + 1)]
    assert (left[0], left[-1]) == (len(costs), 0)
    assert all(1 <= later <= earlier for earlier, later in pairwise(left[:-1]))


@pytest.mark.parametrize("name", ["SS", "FSC", "mFSC", "GSS", "TSS", "FAC", "FAC2"])
@given(costs=COSTS, ranks=st.integers(1, 9))
def test_a_sequence_placed_by_work_covers_the_loop(name: str, costs: list[int], ranks: int) -> None:
    sequence = RULES[name].make(ScheduledLoop(len(costs), ranks, KNOWN)).sequence()
    assert sequence is not None
    table = WorkUnits(len(costs), work_table(costs))
    placed = [table.placed(sequence.chunk(k)) for k in range(len(sequence))]
    assert [i for chunk in placed for i in chunk] == list(range(len(costs)))


def test_a_loop_without_work_is_refused() -> None:
    with pytest.raises(ValueError, match="expected some work in 3 iterations, found none"):
        WorkUnits(3, work_table([0, 0, 0]))


@pytest.mark.parametrize("falling", [True, False], ids=["falling", "rising"])
@pytest.mark.parametrize("name", ["GSS", "TSS", "FAC2", "WF"])
def test_loops_whose_work_is_known_end_together(name: str, falling: bool) -> None:
    costs = list(range(2000, 0, -1)) if falling else list(range(1, 2001))
    seconds = np.array(costs) * 1e-6
    run = play(
        ReportingScheduler(RULES[name].make(ScheduledLoop(2000, 8)), work_table(costs)), seconds, [1.0] * 8
    )
    assert run.makespan_s < 1.02 * seconds.sum() / 8


def test_a_rank_share_of_iterations_is_no_share_of_the_work() -> None:
    costs = list(range(2000, 0, -1))
    seconds, rule = np.array(costs) * 1e-6, RULES["GSS"].make(ScheduledLoop(2000, 8))
    assert play(ReportingScheduler(rule), seconds, [1.0] * 8).makespan_s > 1.8 * seconds.sum() / 8
    first = ReportingScheduler(rule, work_table(costs)).deal(0)
    assert sum(costs[i] for i in first) == pytest.approx(sum(costs) / 8, abs=2000)


def test_iterations_that_cost_nothing_go_with_the_last_of_the_work() -> None:
    assert WorkUnits(4, work_table([5, 5, 0, 0])).chunk(0, 4) == range(4)
