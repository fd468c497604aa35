"""Chunk sequences of the literature, the formulas' corners, and chunks by index beside those of a master."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, islice
from math import log, sqrt

import pytest
from dlbrt.chunks.rule import ChunkSequence, Pool, Rule
from dlbrt.chunks.rules import Factoring, Factoring2, Guided, Trapezoid, Weighted, fsc, mfsc
from dlbrt.chunks.statistics import LoopStatistics, Measurements, ScheduledLoop
from dlbrt.chunks.table import RULES
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.chunk_player import take

BY_INDEX = ("SS", "FSC", "mFSC", "GSS", "TSS", "FAC", "FAC2")
BY_STATE = tuple(name for name in RULES if name not in BY_INDEX)


def dealt(rule: Rule) -> list[int]:
    """The chunks that a master deals to ranks asking in turn."""
    pool, seen = Pool(rule.loop.n), Measurements(rule.loop.ranks)
    sizes: list[int] = []
    while pool.left:
        size, pool = take(rule, pool, len(sizes) % rule.loop.ranks, seen)
        sizes.append(size)
    return sizes


def sizes_of(sequence: ChunkSequence) -> list[int]:
    return [sequence.size(k) for k in range(len(sequence))]


PUBLISHED = {
    "GSS, N = 100, P = 5 (Polychronopoulos, Kuck 1987)": (
        Guided(ScheduledLoop(100, 5)),
        [20, 16, 13, 11, 8, 7, 5, 4, 4, 3, 2, 2, 1, 1, 1, 1, 1],
    ),
    "GSS, N = 100, P = 4 (Flynn Hummel, Schonberg, Flynn 1992)": (
        Guided(ScheduledLoop(100, 4)),
        [25, 19, 14, 11, 8, 6, 5, 3, 3, 2, 1, 1, 1, 1],
    ),
    "factoring, N = 100, P = 4, with R_j (Flynn Hummel, Schonberg, Flynn 1992)": (
        Weighted(ScheduledLoop(100, 4)),
        [13] * 4 + [6] * 4 + [3] * 4 + [2] * 4 + [1] * 4,
    ),
    "GSS, N = 1000, P = 4": (
        Guided(ScheduledLoop(1000, 4)),
        [250, 188, 141, 106, 79, 59, 45, 33, 25, 19, 14, 11, 8, 6, 4, 3, 3, 2, 1, 1, 1, 1],
    ),
    "TSS with an integer step, N = 1000, P = 4": (
        Trapezoid(ScheduledLoop(1000, 4), Fraction(8)),
        [125, 117, 109, 101, 93, 85, 77, 69, 61, 53, 45, 37, 28],
    ),
    "FAC2 by the counter, N = 1000, P = 4": (
        Factoring2(ScheduledLoop(1000, 4)),
        [125] * 4 + [63] * 4 + [32] * 4 + [16] * 4 + [8] * 4 + [4] * 4 + [2] * 4,
    ),
}


@pytest.mark.parametrize(("rule", "sizes"), PUBLISHED.values(), ids=list(PUBLISHED))
def test_a_published_sequence(rule: Rule, sizes: list[int]) -> None:
    assert dealt(rule) == sizes
    sequence = rule.sequence()
    assert sequence is None or sizes_of(sequence) == sizes


def test_the_real_step_of_tss_falls_evenly_and_needs_no_more_chunks_than_planned() -> None:
    rule = Trapezoid(ScheduledLoop(1000, 4))
    assert (rule.first, rule.count, rule.step) == (125, 16, Fraction(124, 15))
    assert dealt(rule) == [125, 117, 109, 101, 92, 84, 76, 68, 59, 51, 43, 35, 26, 14]


def test_an_integer_step_makes_tss_static_where_shares_are_below_8_p() -> None:
    outside = Trapezoid(ScheduledLoop(20_000, 64), Fraction(0))
    assert set(dealt(outside)[:-1]) == {157}
    assert int(Trapezoid(ScheduledLoop(20_000, 64)).step) == 0 < Trapezoid(ScheduledLoop(20_000, 64)).step


def test_fac_follows_its_formula() -> None:
    loop = ScheduledLoop(20_000, 64, LoopStatistics(mean_s=0.005, deviation_s=0.005))
    b = 64 / (2 * sqrt(20_000))
    first = -(-20_000 // (64 * (1 + b * b + b * sqrt(b * b + 2))))
    left = 20_000 - 64 * first
    b = 64 / (2 * sqrt(left))
    second = -(-left // (64 * (2 + b * b + b * sqrt(b * b + 4))))
    assert dealt(Factoring(loop))[:128] == [first] * 64 + [second] * 64
    assert first == 228


def test_fac_without_deviation_deals_everything_at_once() -> None:
    assert dealt(Factoring(ScheduledLoop(103, 4, LoopStatistics(mean_s=1.0, deviation_s=0.0)))) == [
        26,
        26,
        26,
        25,
    ]
    assert dealt(Factoring(ScheduledLoop(103, 4, LoopStatistics(mean_s=0.0, deviation_s=0.0)))) == [
        26,
        26,
        26,
        25,
    ]


def test_fac_with_any_deviation_ends() -> None:
    assert dealt(Factoring(ScheduledLoop(5, 2, LoopStatistics(mean_s=1e-300, deviation_s=1e300)))) == [1] * 5


def test_fsc_follows_its_formula() -> None:
    known = LoopStatistics(deviation_s=0.1, overhead_s=0.01)
    exact = (sqrt(2) * 10_000 * 0.01 / (0.1 * 8 * sqrt(log(8)))) ** (2 / 3)
    assert 24 < exact < 25
    assert set(dealt(fsc(ScheduledLoop(10_000, 8, known)))[:-1]) == {25}


@pytest.mark.parametrize(
    ("ranks", "deviation_s", "overhead_s", "size"),
    [(1, 0.1, 0.01, 100), (8, 0.0, 0.01, 13), (8, 0.0, 0.0, 13), (8, 0.1, 0.0, 1), (8, 1e-9, 1e9, 13)],
)
def test_fsc_where_its_formula_has_no_value_or_a_useless_one(
    ranks: int, deviation_s: float, overhead_s: float, size: int
) -> None:
    rule = fsc(ScheduledLoop(100, ranks, LoopStatistics(deviation_s=deviation_s, overhead_s=overhead_s)))
    assert dealt(rule)[0] == size


@pytest.mark.parametrize(("n", "size"), [(0, 1), (1, 1), (4, 1), (8, 2), (20_000, 38)])
def test_mfsc_follows_its_formula(n: int, size: int) -> None:
    ranks = 64 if n == 20_000 else 4
    share = -(-n // ranks)
    assert size == (max(1, int(0.55 + share * log(2) / log(share))) if share > 1 else 1)
    assert next(iter(dealt(mfsc(ScheduledLoop(n, ranks)))), size) == size


def known_of(name: str) -> LoopStatistics:
    facts = RULES[name].needs
    return LoopStatistics(mean_s=0.5, deviation_s=0.25, overhead_s=0.01) if facts else LoopStatistics()


@pytest.mark.parametrize("name", BY_INDEX)
@settings(deadline=None)
@given(n=st.integers(0, 2_000), ranks=st.integers(1, 70))
def test_chunks_by_index_are_those_of_a_master(name: str, n: int, ranks: int) -> None:
    rule = RULES[name].make(ScheduledLoop(n, ranks, known_of(name)))
    sequence = rule.sequence()
    assert sequence is not None
    sizes = dealt(rule)
    assert sizes_of(sequence) == sizes
    starts = [sequence.start(k) for k in range(len(sequence) + 2)]
    assert starts == [*accumulate(sizes, initial=0), n]
    assert [sequence.size(k) for k in (len(sizes), len(sizes) + 10**9)] == [0, 0]


@pytest.mark.parametrize("name", BY_INDEX)
def test_large_loops_on_many_ranks_are_tabulated_by_runs(name: str) -> None:
    sequence = RULES[name].make(ScheduledLoop(10**7, 10**4, known_of(name))).sequence()
    assert sequence is not None
    edges = [sequence.chunk(k) for k in (0, len(sequence) // 2, len(sequence) - 1)]
    assert edges[0].start == 0
    assert edges[-1].stop == 10**7
    assert all(edges)
    assert len(sequence._sizes) <= 4 * 10**4  # TSS has 4 P chunks, GSS as many sizes as N/P


@pytest.mark.parametrize("name", BY_STATE)
def test_chunks_that_depend_on_the_rank_have_no_index_form(name: str) -> None:
    assert RULES[name].make(ScheduledLoop(10, 2)).sequence() is None


def test_a_sequence_says_when_its_runs_do_not_cover_the_loop() -> None:
    with pytest.raises(ValueError, match="expected chunks of 10 units in all, found 9"):
        ChunkSequence(10, [(3, 3)])
    with pytest.raises(ValueError, match="expected chunks of 1 unit or more, found 4 of 0"):
        ChunkSequence(10, [(3, 3), (4, 0)])


def test_a_sequence_takes_no_more_of_its_runs_than_it_needs() -> None:
    endless = ((1, 2) for _ in iter(int, 1))
    assert sizes_of(ChunkSequence(5, endless)) == [2, 2, 1]
    assert next(islice(endless, 1)) == (1, 2)
