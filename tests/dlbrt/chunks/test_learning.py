"""Weights and variances that are measured: against their formulas, and in any order of reports."""

from __future__ import annotations

from math import fsum, sqrt

import numpy as np
import pytest
from dlbrt.chunks.adaptive import AdaptiveFactoring, PerBatch, PerChunk, probe
from dlbrt.chunks.rule import Pool
from dlbrt.chunks.rules import Guided, Steps, reweighted
from dlbrt.chunks.statistics import Basis, ChunkReport, Measurements, RankStatistics, ScheduledLoop, SumTree
from dlbrt.chunks.table import RULES
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chunk_player import ReportingScheduler, take

TIMES = st.floats(1e-6, 1e6)


def seen_of(ranks: int, *reports: ChunkReport) -> Measurements:
    seen = Measurements(ranks)
    for report in reports:
        seen.report(report)
    return seen


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40), st.data())
def test_a_sum_depends_on_its_numbers_alone(values: list[float], data: st.DataObject) -> None:
    tree = SumTree([0.0] * len(values))
    for place in data.draw(st.permutations(range(len(values)))):
        tree.put(place, 1e300)
        tree.put(place, values[place])
    assert tree.total == SumTree(values).total == pytest.approx(fsum(values), abs=1e-3)


@given(st.lists(st.tuples(st.integers(1, 100), TIMES, TIMES), min_size=2, max_size=20))
def test_a_record_has_the_performance_and_variance_of_its_chunks(
    chunks: list[tuple[int, float, float]],
) -> None:
    record = RankStatistics()
    for n, compute_s, total_s in chunks:
        record = record.then(ChunkReport(0, n, compute_s, total_s))
    s = np.arange(1, len(chunks) + 1)
    n, compute_s, total_s = np.array(chunks).T
    assert record.rate(Basis.COMPUTE) == pytest.approx((s * n).sum() / (s * compute_s).sum())
    assert record.rate(Basis.TOTAL) == pytest.approx((s * n).sum() / (s * total_s).sum())
    mean = compute_s.sum() / n.sum()
    assert record.mean_s == pytest.approx(mean)
    variance = (n * (compute_s / n - mean) ** 2).sum() / (len(chunks) - 1)
    assert record.variance == pytest.approx(variance, rel=1e-6, abs=1e-12 * mean**2)


def test_the_variance_of_an_iteration_is_found_from_chunks_of_many() -> None:
    times, record = np.random.default_rng(3).exponential(0.005, (4000, 25)).sum(axis=1), RankStatistics()
    for time in times.tolist():
        record = record.then(ChunkReport(0, 25, time, time))
    assert sqrt(record.variance) == pytest.approx(0.005, rel=0.03)
    assert not RankStatistics().then(ChunkReport(0, 25, 1.0, 1.0)).estimated


@pytest.mark.parametrize(
    "report", [(0, 0.0, 1.0, 1.0), (0, -1, 1, 1), (0, 1, -1, 1), (0, 1, 1, float("nan"))]
)
def test_reports_that_cannot_be_are_refused(report: tuple[int, float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"expected .*, found"):
        ChunkReport(*report)


@pytest.mark.parametrize("rank", [-1, 2])
def test_reports_of_ranks_that_are_none_are_refused(rank: int) -> None:
    with pytest.raises(ValueError, match=f"expected a rank from 0 to 1, found {rank}"):
        seen_of(2, ChunkReport(rank, 1, 1.0, 1.0))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 4.0]), min_size=1, max_size=9), st.data())
def test_weights_add_up_with_any_ranks_measured(rates: list[float], data: st.DataObject) -> None:
    prior = data.draw(st.lists(st.floats(0.25, 4.0), min_size=len(rates), max_size=len(rates)))
    weights = reweighted(rates, prior)
    assert fsum(weights) == pytest.approx(fsum(prior))
    measured = [(w, r) for w, r in zip(weights, rates, strict=True) if r]
    assert all(w / r == pytest.approx(measured[0][0] / measured[0][1]) for w, r in measured)
    assert all(w == p for w, p, r in zip(weights, prior, rates, strict=True) if not r)


def test_awf_weighs_later_steps_more() -> None:
    first = seen_of(2, ChunkReport(0, 10, 10.0, 10.0), ChunkReport(1, 10, 20.0, 20.0))
    second = seen_of(2, ChunkReport(0, 12, 4.0, 4.0), ChunkReport(1, 6, 12.0, 12.0))
    steps = Steps.before(2)
    assert steps.weights((1.0, 1.0)) == (1.0, 1.0)
    assert steps.then(first).weights((1.0, 1.0)) == pytest.approx((4 / 3, 2 / 3))
    pi = (10 + 2 * 4) / (10 + 2 * 12), (20 + 2 * 12) / (10 + 2 * 6)
    total = 1 / pi[0] + 1 / pi[1]
    expected = (2 / pi[0] / total, 2 / pi[1] / total)
    assert steps.then(first).then(second).weights((1.0, 1.0)) == pytest.approx(expected)


def test_chunks_per_request_follow_the_newest_weights() -> None:
    rule = PerChunk(ScheduledLoop(1000, 2), Basis.COMPUTE)
    seen = seen_of(2, ChunkReport(0, 10, 1.0, 5.0), ChunkReport(1, 10, 3.0, 5.0))
    assert take(rule, Pool(800), 0, seen)[0] == 300  # weights 1.5 and 0.5, of 200
    seen.report(ChunkReport(1, 10, 0.0, 5.0))  # pi_1 = 3/30, as pi_0
    assert take(rule, Pool(800), 0, seen)[0] == 200
    assert take(PerChunk(ScheduledLoop(1000, 2), Basis.TOTAL), Pool(800), 0, seen)[0] == 200


def test_a_batch_keeps_the_weights_that_it_began_with() -> None:
    rule = PerBatch(ScheduledLoop(1000, 2), Basis.COMPUTE)
    seen = seen_of(2, ChunkReport(0, 10, 1.0, 1.0), ChunkReport(1, 10, 3.0, 3.0))
    size, pool = take(rule, Pool(800), 0, seen)
    assert (size, pool.left) == (300, 500)
    seen.report(ChunkReport(1, 10, 0.0, 5.0))
    assert take(rule, pool, 1, seen)[0] == 100
    assert take(rule, Pool(400, 2, pool.batch), 1, seen)[0] == 100  # 400 left: the next batch, equal weights


def test_a_rank_measured_within_a_batch_uses_its_newest_weight() -> None:
    rule = PerBatch(ScheduledLoop(8000, 4), Basis.COMPUTE)
    seen = seen_of(4, ChunkReport(0, 10, 1.0, 1.0), ChunkReport(1, 10, 1.0, 1.0))
    size, pool = take(rule, Pool(8000), 0, seen)
    assert size == 1000
    assert take(rule, pool, 2, seen)[0] == probe(rule.loop)
    seen.report(ChunkReport(2, 10, 4.0, 4.0))
    assert take(rule, pool, 2, seen)[0] == round(1000 * 2.5 * 3 / (10 + 10 + 2.5))


def test_af_follows_its_formula() -> None:
    rule, seen = AdaptiveFactoring(ScheduledLoop(10_000, 2)), Measurements(2)
    for rank, times in enumerate([(1.0, 1.4, 0.9), (3.0, 3.3, 2.1)]):
        for time in times:
            seen.report(ChunkReport(rank, 10, time, time))
    mu = [record.mean_s for record in seen.records]
    d = sum(record.variance / record.mean_s for record in seen.records)
    t = 1 / (1 / mu[0] + 1 / mu[1])
    for rank in (0, 1):
        exact = (d + 2 * t * 5000 - sqrt(d * d + 4 * d * t * 5000)) / (2 * mu[rank])
        assert take(rule, Pool(5000), rank, seen)[0] == round(exact)


def test_af_without_deviation_takes_the_whole_share() -> None:
    seen = seen_of(2, *[ChunkReport(rank, 10, 1.0 + rank, 2.0) for rank in (0, 1, 0, 1)])
    assert take(AdaptiveFactoring(ScheduledLoop(900, 2)), Pool(600), 0, seen)[0] == 400
    assert take(AdaptiveFactoring(ScheduledLoop(900, 2)), Pool(600), 1, seen)[0] == 200


def test_rules_that_do_not_learn_keep_nothing() -> None:
    scheduler = ReportingScheduler(Guided(ScheduledLoop(10, 2)))
    scheduler.done(0, scheduler.deal(0), 1.0, 1.0)
    assert scheduler.seen.records == [RankStatistics(), RankStatistics()]


@pytest.mark.parametrize(("name", "first"), [("AWF_B", 150), ("AWF_C", 150), ("AWF_D", 100), ("AWF_E", 100)])
def test_b_and_c_count_computing_alone_and_d_and_e_the_whole_chunk(name: str, first: int) -> None:
    rule = RULES[name].make(ScheduledLoop(400, 2))
    seen = seen_of(2, ChunkReport(0, 10, 1.0, 5.0), ChunkReport(1, 10, 3.0, 5.0))
    assert take(rule, Pool(400), 0, seen)[0] == first
