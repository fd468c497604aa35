"""Shares are exact, the earliest to be done, and every position is dealt once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor, fsum
from operator import ge

import numpy as np
import pytest
from dlbrt.data.layout import block, cyclic, in_turns, largest_remainder, quickest
from dlbrt.data.spans import coverage_error
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spans import each_position

SPEEDS = st.lists(st.floats(0.1, 10) | st.integers(1, 9).map(float), min_size=1, max_size=12)


@given(st.integers(0, 1000), st.integers(1, 20))
def test_blocks_differ_by_at_most_one_and_the_first_are_larger(n: int, ranks: int) -> None:
    parts = block(n, ranks)
    sizes = [len(part) for part in parts]
    assert coverage_error(n, parts) is None
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 1000), st.integers(1, 20))
def test_cyclic_deals_position_p_to_rank_p_mod_ranks(n: int, ranks: int) -> None:
    parts = cyclic(n, ranks)
    assert coverage_error(n, parts) is None
    assert all(p % ranks == rank for rank, part in enumerate(parts) for p in each_position(part))


def end(shares: Sequence[int], speeds: Sequence[float]) -> float:
    return max(share / speed for share, speed in zip(shares, speeds, strict=True))


@given(st.integers(0, 2**53), SPEEDS)
def test_shares_sum_exactly_and_are_near_to_proportional(total: int, speeds: list[float]) -> None:
    shares = quickest(total, speeds)
    assert sum(shares) == total
    for share, speed in zip(shares, speeds, strict=True):
        assert share >= floor(
            Fraction(total) * Fraction(speed) / sum(map(Fraction, speeds)) * (1 - Fraction(2) ** -49)
        )


@given(st.integers(0, 8), st.lists(st.floats(0.1, 10), min_size=1, max_size=4), st.data())
@settings(deadline=None)
def test_no_other_integers_finish_earlier(total: int, speeds: list[float], data: st.DataObject) -> None:
    every = [some for some in product(range(total + 1), repeat=len(speeds)) if sum(some) == total]
    least = [data.draw(st.integers(0, most)) for most in data.draw(st.sampled_from(every))]
    allowed = [some for some in every if all(map(ge, some, least))]
    shares = quickest(total, speeds, least)
    assert shares in allowed
    assert end(shares, speeds) == min(end(some, speeds) for some in allowed)


@given(st.integers(0, 10**6), SPEEDS, st.data())
def test_no_share_is_below_what_its_rank_has_reserved(
    total: int, speeds: list[float], data: st.DataObject
) -> None:
    wishes = data.draw(st.lists(st.integers(0, 9), min_size=len(speeds), max_size=len(speeds)))
    least = [total * wish // max(1, sum(wishes)) for wish in wishes]
    shares = quickest(total, speeds, least)
    assert sum(shares) == total
    assert all(map(ge, shares, least))
    # One unit more for anybody else who could give one ends no earlier.
    last = max(range(len(speeds)), key=lambda rank: shares[rank] / speeds[rank])
    if shares[last] > least[last]:
        assert all((s + 1) / v >= shares[last] / speeds[last] for s, v in zip(shares, speeds, strict=True))


def test_ties_go_to_the_lowest_rank() -> None:
    assert quickest(2, [1.0] * 4) == (1, 1, 0, 0)
    assert quickest(7, [1.0] * 4) == (2, 2, 2, 1)
    assert quickest(10**15, [1.0, 3.0]) == (250_000_000_000_000, 750_000_000_000_000)


def test_a_slow_rank_is_not_given_one_too_many() -> None:
    # The nearest integers to 6.4 and 1.6 would end after 0.8.
    assert quickest(8, [10.0, 2.5]) == (7, 1)


def test_what_is_reserved_stays_and_the_rest_is_dealt_among_the_others() -> None:
    assert quickest(10, [1.0, 1.0, 1.0], [6, 0, 0]) == (6, 2, 2)
    assert quickest(5, [1.0, 1.0], [2, 3]) == (2, 3)


def test_the_rows_of_ciegis_example_one() -> None:
    # In doubles, 100 times 0.62 / 1 has the floor 61 where it is 62.
    assert quickest(130, [0.129, 0.202, 0.349, 0.620]) == (13, 20, 35, 62)


@pytest.mark.parametrize("speeds", [[], [-1.0], [0.0, 1.0], [float("nan")], [float("inf"), 1.0]])
def test_what_is_no_speed_is_refused(speeds: list[float]) -> None:
    with pytest.raises(ValueError, match="each above 0"):
        quickest(3, speeds)


@pytest.mark.parametrize("least", [[1], [2, 2], [-1, 0]])
def test_least_shares_that_do_not_fit_are_refused(least: list[int]) -> None:
    with pytest.raises(ValueError, match="expected 2 least shares with a sum up to 3"):
        quickest(3, [1.0, 1.0], least)


def test_a_loop_needs_a_rank() -> None:
    with pytest.raises(ValueError, match="at least 1 rank"):
        block(3, 0)
    with pytest.raises(ValueError, match="0 or more iterations"):
        cyclic(-1, 2)
    with pytest.raises(ValueError, match="sum up to -1"):
        quickest(-1, [1.0])


@given(st.integers(0, 3000), st.integers(1, 9), st.integers(1, 20))
def test_blocks_in_turns_are_gapless_runs_of_about_equal_number(n: int, ranks: int, turns: int) -> None:
    shares = in_turns(n, ranks, turns)
    assert coverage_error(n, shares) is None
    assert all(run.step == 1 for share in shares for run in share.runs)
    assert all(len(share.runs) <= turns for share in shares)
    assert list(map(len, shares)) == list(map(len, block(n, ranks)))


def test_at_least_one_turn() -> None:
    with pytest.raises(ValueError, match="at least 1 turn"):
        in_turns(5, 2, 0)


@pytest.mark.parametrize(
    ("shares", "n", "expected"),
    [
        ([2.5, 2.5, 5.0], 10, (3, 2, 5)),
        ([1.2, 1.3, 1.5], 4, (1, 1, 2)),
        ([0.4, 0.3, 0.3], 1, (1, 0, 0)),
        ([0.0, 0.0], 0, (0, 0)),
        ([3.0], 3, (3,)),
        ([2.9999999999, 7.0000000001], 10, (3, 7)),
        ([0.5] * 4, 2, (1, 1, 0, 0)),
        ([3.0000000001, 7.0000000001], 9, (3, 6)),
        ([0.0, 1.0, 5.0], 4, (0, 0, 4)),
        ([1.0, 1.0], 7, (4, 3)),
    ],
)
def test_largest_remainder(shares: list[float], n: int, expected: tuple[int, ...]) -> None:
    assert largest_remainder(np.array(shares), n) == expected


def test_rounding_each_share_would_not_add_up() -> None:
    shares = [2.4, 2.4, 2.4, 2.8]
    assert sum(map(round, shares)) == 9
    assert sum(largest_remainder(np.array(shares), 10)) == 10


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(0, 10**6))
def test_largest_remainders_add_up_and_are_floors_or_ceilings(weights: list[float], n: int) -> None:
    total = fsum(weights)
    shares = [n * w / total for w in weights] if total else [n / len(weights)] * len(weights)
    counts = largest_remainder(np.array(shares), n)
    assert sum(counts) == n
    assert all(floor(s - 1e-6) <= c <= ceil(s + 1e-6) for s, c in zip(shares, counts, strict=True))
