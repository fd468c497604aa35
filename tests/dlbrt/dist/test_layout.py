"""Shares are exact, in proportion, and every position is dealt once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dlbrt.dist.layout import block, cyclic, in_turns, proportional
from dlbrt.dist.spans import coverage_error
from hypothesis import given
from hypothesis import strategies as st

WEIGHTS = st.lists(st.floats(0, 1e300) | st.integers(0, 10) | st.sampled_from([5e-324, 0.1]), min_size=1)


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
    assert all(p % ranks == rank for rank, part in enumerate(parts) for p in part.positions())


@given(st.integers(0, 10**30), WEIGHTS)
def test_shares_sum_exactly_and_stay_within_one_of_proportion(total: int, weights: list[float]) -> None:
    shares = proportional(total, weights)
    exact = [Fraction(weight) for weight in weights]
    if not any(exact):
        exact = [Fraction(1)] * len(exact)
    assert sum(shares) == total
    for share, weight in zip(shares, exact, strict=True):
        assert abs(share - total * weight / sum(exact)) < 1
        assert weight or not share


def test_ties_go_to_the_lowest_index() -> None:
    assert proportional(2, [1, 1, 1, 1]) == (1, 1, 0, 0)
    assert proportional(5, [0, 0]) == (3, 2)
    assert proportional(7, [0, 1, 0, 1]) == (0, 4, 0, 3)


def test_the_rows_of_ciegis_example_one() -> None:
    # Largest remainder gives what the paper's second stage gives, 62 included, which doubles floor to 61.
    assert proportional(130, [0.129, 0.202, 0.349, 0.620]) == (13, 20, 35, 62)


@pytest.mark.parametrize("weights", [[], [-1.0], [float("nan")], [float("inf"), 1.0]])
def test_weights_that_are_no_proportion_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        proportional(3, weights)


def test_a_loop_needs_a_rank() -> None:
    with pytest.raises(ValueError, match="at least 1 rank"):
        block(3, 0)
    with pytest.raises(ValueError, match="0 or more iterations"):
        cyclic(-1, 2)
    with pytest.raises(ValueError, match="total"):
        proportional(-1, [1])


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
