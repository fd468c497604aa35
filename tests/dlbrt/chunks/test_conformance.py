"""What every rule must keep, whatever it computes: each iteration exactly once, chunks of 1..left, an end."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.chunks.statistics import LoopStatistic, LoopStatistics, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.contract import STRATEGIES
from dlbrt.data.work_table import UNIFORM, WorkTable
from dlbrt.partition.integer import prefix_sums
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.chunk_player import Played, ReportingScheduler, play

NAMES = tuple(RULES)
EVERYTHING = LoopStatistics(mean_s=0.01, deviation_s=0.01, overhead_s=1e-4)
EVEN = LoopStatistics(mean_s=0.01, deviation_s=0.0, overhead_s=1e-4)


def played(
    name: str, costs_s: list[float], speeds: list[float], known: LoopStatistics, by_work: bool
) -> Played:
    loop = ScheduledLoop(len(costs_s), len(speeds), known)
    work_table = table(costs_s) if by_work and any(costs_s) else UNIFORM
    return play(ReportingScheduler(RULES[name].make(loop), work_table), np.array(costs_s), speeds, 1e-4)


def table(costs_s: list[float]) -> WorkTable:
    quanta = np.rint(prefix_sums(np.array(costs_s)) / sum(costs_s) * 2**50).astype(np.int64)
    return WorkTable(tuple(range(len(costs_s) + 1)), tuple(quanta.tolist()))


def check(run: Played, n: int) -> None:
    assert [i for _, chunk in run.chunks for i in chunk] == list(range(n))
    assert all(run.sizes)


def test_every_rule_of_the_contract_is_here() -> None:
    family = STRATEGIES[STRATEGIES.index("SS") : STRATEGIES.index("AF") + 1]
    assert family == NAMES


@pytest.mark.parametrize("by_work", [False, True], ids=["by count", "by work"])
@pytest.mark.parametrize("known", [EVERYTHING, EVEN], ids=["uneven", "sigma = 0"])
@pytest.mark.parametrize(("n", "ranks"), [(0, 3), (1, 1), (1, 4), (3, 4), (4, 4), (5, 4), (100, 1), (2, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_small_loops(name: str, n: int, ranks: int, known: LoopStatistics, by_work: bool) -> None:
    costs = [0.01 * (1 + i % 3) for i in range(n)] if known.deviation_s else [0.01] * n
    check(played(name, costs, [1.0] * ranks, known, by_work), n)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(
    costs=st.lists(st.floats(0, 1e6), max_size=300),
    speeds=st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20),
    known=st.sampled_from([EVERYTHING, EVEN]),
    by_work=st.booleans(),
)
def test_any_loop(
    name: str, costs: list[float], speeds: list[float], known: LoopStatistics, by_work: bool
) -> None:
    run = played(name, costs, speeds, known, by_work)
    check(run, len(costs))
    assert run == played(name, costs, speeds, known, by_work)


@pytest.mark.parametrize("name", NAMES)
def test_iterations_that_take_no_time_and_a_clock_that_stands(name: str) -> None:
    scheduler = ReportingScheduler(RULES[name].make(ScheduledLoop(500, 4, EVERYTHING)))
    check(play(scheduler, np.zeros(500), [1.0] * 4, 0.0), 500)
    assert scheduler.left == 0
    assert not scheduler.deal(0)


@pytest.mark.parametrize("name", NAMES)
def test_only_one_rank_ever_asks(name: str) -> None:
    scheduler, sizes = ReportingScheduler(RULES[name].make(ScheduledLoop(1000, 8, EVERYTHING))), []
    while chunk := scheduler.deal(5):
        scheduler.done(5, chunk, 0.01 * len(chunk), 0.01 * len(chunk))
        sizes.append(len(chunk))
    assert sum(sizes) == 1000


@pytest.mark.parametrize(("name", "entry"), [(n, e) for n, e in RULES.items() if e.needs])
def test_what_a_rule_needs_is_asked_for_by_name(name: str, entry: object) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected .*, found nothing known of it"):
        RULES[name].make(ScheduledLoop(10, 2))


@pytest.mark.parametrize(
    "name", [name for name, entry in RULES.items() if LoopStatistic.WEIGHTS in entry.uses]
)
def test_weights_that_are_known_set_the_first_chunks(name: str) -> None:
    scheduler = ReportingScheduler(
        RULES[name].make(ScheduledLoop(1000, 2, LoopStatistics(weights=(3.0, 1.0))))
    )
    assert len(scheduler.deal(0)) == 375
    assert len(scheduler.deal(1)) == (125 if name not in ("AWF_C", "AWF_E") else 79)


BAD = [
    (lambda: ScheduledLoop(-1, 2), "expected 0 iterations or more, found -1"),
    (lambda: ScheduledLoop(5, 0), "expected 1 rank or more, found 0"),
    (
        lambda: ScheduledLoop(5, 2, LoopStatistics(weights=(1.0,))),
        "expected 2 weights, one per rank; found 1",
    ),
    (lambda: LoopStatistics(weights=(0.0, 0.0)), "not all 0"),
    (lambda: LoopStatistics(weights=(float("nan"), 1.0)), "numbers of 0 or more"),
    (lambda: LoopStatistics(mean_s=-1.0), "mean_s: expected a finite number of 0 or more, found -1.0"),
    (lambda: LoopStatistics(overhead_s=float("inf")), "overhead_s: expected a finite number"),
    (lambda: LoopStatistics(mean_s=0.0, deviation_s=1.0), "mean_s: expected more than 0"),
]


@pytest.mark.parametrize(("make_it", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_descriptions_are_refused(make_it: object, message: str) -> None:
    assert callable(make_it)
    with pytest.raises(ValueError, match=message):
        make_it()
