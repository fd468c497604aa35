"""The first shares: all positions dealt once, the longest time least, Ciegis' rows; and what to expect."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from dlbrt.contract import Distribution
from dlbrt.data import layout
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import FoldingPolicy, Units
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.costs import evaluate_cost
from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency
from dlbrt.partition.initial import deal, expected, first_shares
from dlbrt.partition.integer import prefix_sums
from dlbrt.partition.known import KnownWork, MeasuredWork
from dlbrt.partition.proportional import block_rows, scattered_owners
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz import sieve
from papers.swartz.density import compress
from papers.swartz.integer import largest_part, parts

from tests.support.spans import each_position

BLOCK, CYCLIC, WHOLE = Distribution.BLOCK, Distribution.CYCLIC, Distribution.WHOLE

WORKS = st.lists(st.integers(0, 30), max_size=9)
WEIGHTS = st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.0, 5.0]), min_size=1, max_size=4).filter(any)


def known(each: Sequence[float]) -> KnownWork | None:
    """The work of iterations that cost what is listed, if it is not the same for all."""
    if not any(each):
        return None
    return evaluate_cost(CostSpec(each=lambda items: list(items)), len(each), None, lambda: iter(each))


def by_index(density: Callable[[int], float], n: int) -> KnownWork | None:
    return evaluate_cost(CostSpec(density=density), n, IndexMap(0, 1), lambda: iter(range(n)))


def bounds(shares: Sequence[Spans]) -> list[int]:
    """Where the blocks begin, and the last one ends."""
    assert all(len(spans.runs) <= 1 for spans in shares)
    sizes = [len(spans) for spans in shares]
    return [0, *np.cumsum(sizes).tolist()]


def test_pairs_are_dealt_from_four_a_rank_on() -> None:
    assert [FoldingPolicy.WHERE_IT_PAYS.folds(n, 3) for n in (0, 22, 23, 24)] == [False, False, True, True]
    assert not FoldingPolicy.WHERE_IT_PAYS.folds(24, 3, in_long_runs=True)
    assert FoldingPolicy.ALWAYS.folds(1, 3, in_long_runs=True)
    assert not FoldingPolicy.NONE.folds(24, 3)


def test_first_shares_go_by_pairs_else_by_measured_work_else_by_stated_work_else_by_equal_parts() -> None:
    measured, stated = by_index(lambda i: 9.0 if i == 0 else 1.0, 8), by_index(lambda i: i, 8)
    asked = []

    def evaluated() -> KnownWork | None:
        asked.append("stated")
        return stated

    def cut(folded: bool, measured: KnownWork | None, ranks: int = 2) -> list[int]:
        units = Units(0, 8, folded)
        found = first_shares(units, ranks, Distribution.BLOCK, measured=measured, stated=evaluated)
        assert found.deal.work_table.uniform == (found.work is None)
        return bounds(found.deal.shares)

    assert cut(True, measured) == [0, 2, 4]
    assert cut(False, measured) == [0, 1, 8]
    assert not asked
    assert cut(False, None) == [0, 6, 8]
    assert asked == ["stated"]
    assert cut(False, None, 5) == [0, 2, 4, 6, 7, 8]  # too few for each rank to divide by what they cost
    assert asked == ["stated"]


def test_work_that_cannot_be_used_counts_as_equal_and_is_told() -> None:
    told = []

    def stated() -> KnownWork | None:
        raise CostError("no cost")

    found = first_shares(Units(2, 8), 2, Distribution.BLOCK, stated=stated, unusable=told.append)
    assert [str(error) for error in told] == ["no cost"]
    assert found.bounds == (2, 5, 8)
    assert found.work is None


def test_a_trial_gives_each_rank_blocks_in_turn() -> None:
    found = first_shares(Units(0, 8), 2, Distribution.BLOCK, turns=2)
    assert [share.runs for share in found.deal.shares] == [
        (range(2), range(4, 6)),
        (range(2, 4), range(6, 8)),
    ]
    assert found.bounds == ()


@given(WORKS, WEIGHTS, st.sampled_from(Distribution), st.booleans(), st.integers(0, 9))
def test_each_position_is_dealt_once(
    each: list[int], weights: list[float], distribution: Distribution, weighted: bool, first: int
) -> None:
    n, first = len(each), min(first, len(each))
    given = weights if weighted else None
    shares = deal(n, len(weights), distribution, first=first, weights=given, work=known(each))
    assert len(shares) == len(weights)
    assert sorted(p for spans in shares for p in each_position(spans)) == list(range(first, n))


@given(WORKS.filter(any), WEIGHTS, st.integers(0, 8))
def test_by_known_work_no_blocks_take_less_time(each: list[int], weights: list[float], first: int) -> None:
    first = min(first, len(each) - 1)
    work = known(each)
    if work is None or not any(each[first:]):
        return
    shares = deal(len(each), len(weights), BLOCK, first=first, weights=weights, work=work)
    prefix = prefix_sums(each[first:])
    n = len(prefix) - 1
    inner = combinations_with_replacement(range(n + 1), len(weights) - 1)
    least = min(largest_part(prefix, (0, *cuts, n), weights) for cuts in inner)
    assert largest_part(prefix, bounds(shares), weights) == pytest.approx(least, rel=1e-12)


@given(st.integers(0, 300), WEIGHTS)
def test_blocks_by_weight_are_those_of_figure_1(n: int, weights: list[float]) -> None:
    shares = deal(n, len(weights), BLOCK, weights=weights)
    assert tuple(map(len, shares)) == block_rows(n, weights)


@given(st.integers(0, 300) | st.just(4096), WEIGHTS | st.just([1.0, 1.5, 2.5, 3.1, 3.6, 4.3]))
def test_scattered_by_weight_is_figure_3(n: int, weights: list[float]) -> None:
    owners = scattered_owners(n, weights)
    for rank, spans in enumerate(deal(n, len(weights), CYCLIC, weights=weights)):
        assert sorted(each_position(spans)) == np.flatnonzero(owners == rank).tolist()


@pytest.mark.parametrize("n", [4097, 10_000, 12_345])
def test_with_integer_weights_it_is_figure_3_in_long_loops_too(n: int) -> None:
    owners = scattered_owners(n, [1.0, 2.0, 5.0])
    shares = deal(n, 3, CYCLIC, weights=[1, 2, 5])
    assert sum(len(spans.runs) for spans in shares) <= 8
    for rank, spans in enumerate(shares):
        assert sorted(each_position(spans)) == np.flatnonzero(owners == rank).tolist()


def test_with_other_weights_the_pattern_of_the_last_rows_is_repeated() -> None:
    weights, n = [1.0, 2.00001, 3.14159265], 50_000
    shares = deal(n, 3, CYCLIC, weights=weights)
    assert sum(len(spans.runs) for spans in shares) <= 1024
    owners = np.empty(n, dtype=int)
    for rank, spans in enumerate(shares):
        owners[list(each_position(spans))] = rank
    last = scattered_owners(1024, weights)
    assert owners[-1024:].tolist() == owners[-2048:-1024].tolist() == last.tolist()
    assert expected(shares, weights=weights).loss < 0.01


def test_many_ranks_of_other_weights_have_work_all_the_same() -> None:
    weights = [1 + rank * 1e-7 for rank in range(2000)]
    shares = deal(1_000_000, 2000, CYCLIC, weights=weights)
    assert min(map(len, shares)) > 400
    assert sum(map(len, shares)) == 1_000_000


@given(st.integers(0, 100), st.integers(1, 7), st.integers(0, 20))
def test_alike_ranks_and_iterations_are_dealt_as_ever(n: int, ranks: int, first: int) -> None:
    first = min(first, n)
    blocks = deal(n, ranks, WHOLE, first=first)
    assert [len(spans) for spans in blocks] == [len(spans) for spans in layout.block(n - first, ranks)]
    cyclic = deal(n, ranks, CYCLIC, first=first)
    assert all(p % ranks == (first + rank) % ranks for rank, s in enumerate(cyclic) for p in each_position(s))


def test_dealt_loops_are_dealt_whatever_the_work() -> None:
    work = known([1, 2, 3, 4, 5, 6])
    assert deal(6, 2, CYCLIC, work=work) == layout.cyclic(6, 2)


def test_where_only_iterations_without_work_are_left_they_are_dealt_evenly() -> None:
    assert [len(spans) for spans in deal(8, 2, BLOCK, first=4, work=known([1, 1, 0, 2, 0, 0, 0, 0]))] == [
        2,
        2,
    ]


def test_more_ranks_than_iterations() -> None:
    shares = deal(3, 8, BLOCK, work=known([5, 1, 9]))
    assert sorted(map(len, shares)) == [0, 0, 0, 0, 0, 1, 1, 1]
    assert expected(shares, known([5, 1, 9])).loss == pytest.approx(9 / (15 / 8) - 1)


def test_all_work_in_one_iteration() -> None:
    shares = deal(6, 3, BLOCK, weights=[0, 0, 1], work=known([0, 0, 7, 0, 0, 0]))
    assert 2 in shares[2]
    assert expected(shares, known([0, 0, 7, 0, 0, 0]), [0, 0, 1]).loss == 0


@pytest.mark.parametrize("distribution", Distribution)
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0]])
def test_no_iterations(distribution: Distribution, weights: list[float] | None) -> None:
    assert deal(0, 3, distribution, weights=weights) == (Spans(),) * 3
    assert expected((Spans(),) * 3).loss == 0


@pytest.mark.parametrize(
    ("n", "ranks", "weights"),
    [(-1, 2, None), (4, 0, None), (4, 2, [1.0]), (4, 2, [0.0, 0.0]), (4, 2, [1, -1])],
)
@pytest.mark.parametrize("distribution", [BLOCK, CYCLIC])
def test_bad_numbers_are_refused(
    n: int, ranks: int, weights: list[float] | None, distribution: Distribution
) -> None:
    with pytest.raises(ValueError, match="expected"):
        deal(n, ranks, distribution, weights=weights)


@pytest.mark.parametrize(
    ("density", "most"), [(lambda i: i**2, 1.04), (lambda i: (1000 - i) ** 2, 1.04), (lambda i: i**3, 1.07)]
)
def test_quadratic_and_cubic_work_of_1000_iterations_on_16_ranks(
    density: Callable[[int], int], most: float
) -> None:
    work = by_index(density, 1000)
    shares = deal(1000, 16, BLOCK, work=work)
    assert 1 + expected(shares, work).loss <= most
    counted = parts(prefix_sums([density(i) for i in range(1000)]), bounds(shares))
    assert counted.max() / counted.mean() <= most


def test_speeds_and_work_together() -> None:
    work = by_index(lambda i: i, 10_000)
    forecast = expected(deal(10_000, 3, BLOCK, weights=[1, 2, 5], work=work), work, [1, 2, 5])
    assert forecast.work == pytest.approx([share * 9999 * 625 for share in (1, 2, 5)], rel=1e-3)
    assert forecast.times == pytest.approx([9999 * 625] * 3, rel=1e-3)
    assert 0 <= forecast.loss < 1e-3
    assert efficiency(forecast.times) > 99.9


@pytest.mark.parametrize("index", [IndexMap(3, 2), IndexMap(2**22 - 1, -2)])
def test_the_sieve_by_its_formula(index: IndexMap) -> None:
    """The paper's program at MAXN = 2^22 on 16 ranks, by counted operations."""
    operations = sieve.operations(2**22)[:: 1 if index.step > 0 else -1]
    spec = CostSpec(cumulative=lambda x: x**1.43 / (np.log(x) - 1.08366))
    work = evaluate_cost(spec, len(operations), index, lambda: iter(()))
    shares = deal(len(operations), 16, BLOCK, work=work)
    assert efficiency(parts(prefix_sums(operations), bounds(shares))) >= 92
    equal = deal(len(operations), 16, BLOCK)
    assert efficiency(parts(prefix_sums(operations), bounds(equal))) < 75
    assert expected(shares, work).loss < 1e-4


def test_what_was_measured_cuts_as_well() -> None:
    each = [(i % 50) ** 2 for i in range(1000)]
    work = MeasuredWork(compress(each, 5))
    shares = deal(1000, 4, BLOCK, work=work)
    assert bounds(shares) == list(compress(each, 5).cut(4))
    later = deal(1000, 4, BLOCK, first=500, work=work)
    assert expected(later, work).loss < 0.05


def test_100_million_iterations_take_little_memory_and_are_summed_exactly() -> None:
    n = 10**8
    tracemalloc.start()
    try:
        work = by_index(lambda i: i, n)
        shares = deal(n, 16, BLOCK, work=work)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert work is not None
    assert peak < 32e6
    ends = bounds(shares)
    assert work.before(ends).tolist() == [k * (k - 1) // 2 for k in ends]
    for bound, after in pairwise(ends[1:]):
        share = n * (n - 1) // 2 / 16
        assert abs(after * (after - 1) // 2 - bound * (bound - 1) // 2 - share) <= n


@given(WORKS.filter(any), st.integers(1, 4), WEIGHTS)
def test_what_is_expected_of_dealt_shares_is_their_work(
    each: list[int], ranks: int, weights: list[float]
) -> None:
    shares = deal(len(each), ranks, CYCLIC)
    work = known(each) or MeasuredWork(compress(each, 1))
    assert expected(shares, work).work == pytest.approx([sum(each[rank::ranks]) for rank in range(ranks)])
    by_weight = deal(len(each), len(weights), CYCLIC, weights=weights)
    wanted = [sum(each[p] for p in each_position(spans)) for spans in by_weight]
    assert expected(by_weight, work, weights).work == pytest.approx(wanted)


def test_in_long_loops_it_is_nearly_so() -> None:
    n = 200_003
    work = by_index(lambda i: (i - 90_000) ** 2, n)
    shares = deal(n, 3, CYCLIC, first=17)
    exact = [sum((p - 90_000) ** 2 for p in each_position(spans)) for spans in shares]
    assert expected(shares, work).work == pytest.approx(exact, rel=1e-4)


def test_the_forecast_has_the_imbalance_of_the_paper() -> None:
    forecast = expected((Spans.of(range(3)), Spans.of(range(3, 4)), Spans()), weights=[1, 1, 0])
    assert forecast.times == (3, 1, 2)
    assert (inefficiency(forecast.times), efficiency(forecast.times)) == (50, 50)
    assert idle_share(forecast.times) == pytest.approx(100 / 3)
    assert forecast.loss == 0.5
    with pytest.raises(ValueError, match="expected 1 weights, found 2"):
        expected((Spans(),), weights=[1, 2])


def test_the_same_numbers_give_the_same_shares() -> None:
    def shares() -> tuple[Spans, ...]:
        return deal(
            70_000, 7, BLOCK, work=by_index(lambda i: 1 + i % 11, 70_000), weights=[1, 2, 3, 4, 3, 2, 1]
        )

    assert shares() == shares()
