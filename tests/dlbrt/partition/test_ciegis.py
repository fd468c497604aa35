"""Ciegis et al.: rows in blocks and scattered, and the efficiency of equal tasks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from dlbrt.partition.proportional import (
    block_rows,
    fewest_processors,
    floors,
    product_bound,
    product_efficiency,
    scattered_owners,
)
from hypothesis import given
from hypothesis import strategies as st

EXAMPLE_1 = (0.129, 0.202, 0.349, 0.620)

#: w_4 is 3.1: the print's 3.11 contradicts its own W_6 = 16 and swaps the owners of rows 4, 5 and 35, 36.
EXAMPLE_2 = (1.0, 1.5, 2.5, 3.1, 3.6, 4.3)

RATES = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.1, 4.3]), min_size=1, max_size=4)


class TestBlocks:
    def test_example_1(self) -> None:
        assert floors(130, EXAMPLE_1) == (12, 20, 34, 62)
        finished = [m / w for m, w in zip(floors(130, EXAMPLE_1), EXAMPLE_1, strict=True)]
        assert finished == pytest.approx([93, 99, 97, 100], abs=0.5)
        following = [(m + 1) / w for m, w in zip(floors(130, EXAMPLE_1), EXAMPLE_1, strict=True)]
        assert following == pytest.approx([100.8, 104.0, 100.3, 101.6], abs=0.05)
        assert block_rows(130, EXAMPLE_1) == (13, 20, 35, 62)
        assert max(m / w for m, w in zip((13, 20, 35, 62), EXAMPLE_1, strict=True)) == pytest.approx(
            100.8, abs=0.05
        )
        again = (floors(130, EXAMPLE_1)[2] + 2) / EXAMPLE_1[2]
        assert again == pytest.approx(103.15, abs=5e-3)  # printed 103.6

    def test_the_order_of_processors_does_not_change_a_floor(self) -> None:
        """In doubles 62 becomes 61 where W is summed in decreasing order."""
        assert floors(130, EXAMPLE_1[::-1]) == (62, 34, 20, 12)

    @given(st.integers(0, 12), RATES)
    def test_the_rows_are_optimal(self, m: int, rates: list[float]) -> None:
        rows = block_rows(m, rates)
        assert sum(rows) == m
        ways = (w for w in product(range(m + 1), repeat=len(rates)) if sum(w) == m)
        best = min(max(k / w for k, w in zip(way, rates, strict=True)) for way in ways)
        assert max(k / w for k, w in zip(rows, rates, strict=True)) == best

    @given(st.integers(0, 1000), RATES)
    def test_no_row_is_lost(self, m: int, rates: list[float]) -> None:
        assert sum(block_rows(m, rates)) == m
        assert all(a <= b for a, b in zip(floors(m, rates), block_rows(m, rates), strict=True))

    @given(st.integers(0, 1000), st.permutations([1.0, 1.25, 2.0, 7.0]))
    def test_each_processor_keeps_its_time_in_any_order(self, m: int, rates: list[float]) -> None:
        def slowest(order: list[float]) -> float:
            return max(k / w for k, w in zip(block_rows(m, order), order, strict=True))

        assert slowest(rates) == slowest(sorted(rates))

    def test_a_rate_of_0_gets_no_rows(self) -> None:
        assert block_rows(10, (0.0, 1.0, 0.0)) == (0, 10, 0)
        assert set(scattered_owners(10, (0.0, 1.0, 0.0)).tolist()) == {1}


class TestScattered:
    def test_w_4_as_printed_swaps_owners(self) -> None:
        printed = scattered_owners(100, (1.0, 1.5, 2.5, 3.11, 3.6, 4.3))
        swapped = np.flatnonzero(printed != scattered_owners(100, EXAMPLE_2)) + 1
        assert swapped.tolist() == [4, 5, 35, 36]

    @given(st.integers(0, 300), RATES)
    def test_it_is_figure_3_step_by_step(self, n: int, rates: list[float]) -> None:
        rows, times = [0] * len(rates), [1 / w for w in rates]
        owners = [0] * n
        for row in range(n - 1, -1, -1):
            k = times.index(min(times))
            rows[k] += 1
            owners[row] = k
            times[k] = (rows[k] + 1) / rates[k]
        assert scattered_owners(n, rates).tolist() == owners

    @given(st.integers(1, 100), RATES)
    def test_the_rows_from_any_one_on_are_shared_optimally(self, n: int, rates: list[float]) -> None:
        owners = scattered_owners(n, rates)
        for first in (0, n // 2, n - 1):
            counts = np.bincount(owners[first:], minlength=len(rates))
            best = max(m / w for m, w in zip(block_rows(n - first, rates), rates, strict=True))
            assert max(counts / np.asarray(rates)) == pytest.approx(best, rel=1e-12)

    def test_one_fast_processor_may_get_all_that_its_slow_neighbours_leave(self) -> None:
        """More than its ceiling of 66: a slow one would finish an eighth row at 16, after 68 / 4.3."""
        counts = np.bincount(scattered_owners(89, [0.5, 0.5, 0.5, 4.3]))
        assert counts.tolist() == [7, 7, 7, 68] == list(block_rows(89, [0.5, 0.5, 0.5, 4.3]))

    @given(st.integers(1, 100), st.integers(1, 9))
    def test_equal_processors_are_dealt_to_in_turn_from_the_end(self, n: int, p: int) -> None:
        assert scattered_owners(n, [1.0] * p).tolist() == [(n - 1 - row) % p for row in range(n)]


class TestEstimates:
    def test_table_1(self) -> None:
        found = [product_bound(r, 10) for r in (1, 2, 4, 8, 17)]
        assert found == pytest.approx([0.55, 0.7, 0.82, 0.9, 0.95], abs=1e-9)

    def test_of_one_row_more_than_processors(self) -> None:
        """(p + 1) / 2p; the print's 0.5 is its limit."""
        assert product_efficiency(11, 10) == pytest.approx(0.55)
        assert product_efficiency(10**6 + 1, 10**6) == pytest.approx(0.5, abs=1e-5)

    @given(st.integers(1, 500), st.integers(1, 50))
    def test_the_bound_is_one_and_is_reached(self, m: int, p: int) -> None:
        r, q = divmod(m, p)
        if q:
            assert product_efficiency(m, p) >= product_bound(r, p) - 1e-12
        assert product_efficiency(r * p + 1, p) == pytest.approx(product_bound(r, p)) or p == 1

    @given(st.integers(1, 500), st.integers(1, 50))
    def test_remark_1_fewer_processors_need_as_many_stages(self, m: int, p: int) -> None:
        fewer = fewest_processors(m, p)
        assert -(-m // fewer) == -(-m // p)
        assert fewer <= p
        assert fewer == 1 or -(-m // (fewer - 1)) > -(-m // p)
        assert fewest_processors(p + 1, p) == (p + 2) // 2

    @pytest.mark.parametrize(
        "bad",
        [
            lambda: product_efficiency(0, 1),
            lambda: fewest_processors(1, 0),
            lambda: block_rows(-1, [1.0]),
            lambda: block_rows(1, []),
            lambda: block_rows(1, [0.0]),
            lambda: scattered_owners(1, [np.nan]),
            lambda: scattered_owners(1, [-1.0, 2.0]),
        ],
    )
    def test_bad_requests_are_refused(self, bad: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match="expected"):
            bad()
