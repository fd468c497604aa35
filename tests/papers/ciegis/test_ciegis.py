"""Ciegis et al.: the rows that the paper prints, elimination times, efficiency tables."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from dlbrt.partition.proportional import block_rows, scattered_owners, slowest_first
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from papers.ciegis.efficiency import (
    block_efficiency,
    block_limit,
    last_row_processors,
    last_row_time,
    optimal_last_row_split,
    scattered_efficiency,
    two_blocks_efficiency,
)
from papers.ciegis.elimination import StageCost, block_order, block_owners, makespan, serial_time, stage_costs
from papers.ciegis.rows import floors_and_first, scattered_rows

EXAMPLE_1 = (0.129, 0.202, 0.349, 0.620)

#: w_4 is 3.1: the print's 3.11 contradicts its own W_6 = 16 and swaps the owners of rows 4, 5 and 35, 36.
EXAMPLE_2 = (1.0, 1.5, 2.5, 3.1, 3.6, 4.3)

#: As printed, with the rows that the print leaves out: 10 in R_5; 59, 77, 85, 92 in R_6.
SCATTERED = (
    (9, 24, 40, 56, 72, 87),
    (8, 18, 29, 39, 49, 61, 71, 82, 93),
    (1, 7, 13, 20, 27, 34, 38, 46, 53, 58, 65, 70, 79, 84, 91, 97),
    (4, 12, 16, 21, 26, 31, 35, 43, 47, 52, 57, 62, 67, 74, 78, 83, 88, 94, 98),
    (2, 5, 10, 15, 19, 23, 28, 32, 37, 42, 45, 50, 54, 60, 64, 68, 73, 76, 81, 86, 90, 95, 99),
    (
        3,
        6,
        11,
        14,
        17,
        22,
        25,
        30,
        33,
        36,
        41,
        44,
        48,
        51,
        55,
        59,
        63,
        66,
        69,
        75,
        77,
        80,
        85,
        89,
        92,
        96,
        100,
    ),
)

RATES = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.1, 4.3]), min_size=1, max_size=4)


def time_units(owners: ArrayLike, rates: tuple[float, ...] = EXAMPLE_2) -> float:
    """In the unit of example 2, where the first processor takes 160 for LU of 100 rows."""
    return 160 * makespan(owners, rates, StageCost.LU) / serial_time(100, StageCost.LU)


class TestBlocks:
    @given(st.integers(1, 200), st.integers(1, 20))
    def test_equal_processors_share_as_in_section_2_1(self, m: int, p: int) -> None:
        r, q = divmod(m, p)
        assert block_rows(m, [0.7] * p) == floors_and_first(m, [3.0] * p) == (r + 1,) * q + (r,) * (p - q)


class TestScattered:
    def test_all_100_rows_of_example_2(self) -> None:
        assert scattered_rows(100, EXAMPLE_2) == SCATTERED
        assert sorted(row for rows in SCATTERED for row in rows) == list(range(1, 101))
        assert sum(EXAMPLE_2) == pytest.approx(16)

    def test_the_tie_of_row_50_is_decided_by_doubles(self) -> None:
        assert 12 / 3.6 < 5 / 1.5
        assert 50 in SCATTERED[4]


class TestElimination:
    def test_example_2_scattered(self) -> None:
        assert time_units(scattered_owners(100, EXAMPLE_2)) == pytest.approx(10.3774, abs=5e-5)
        assert 160 / time_units(scattered_owners(100, EXAMPLE_2)) == pytest.approx(15.418, abs=5e-4)
        printed = (1.0, 1.5, 2.5, 3.11, 3.6, 4.3)
        assert time_units(scattered_owners(100, printed), printed) == pytest.approx(10.37, abs=5e-3)

    def test_example_2_in_blocks_of_the_rows_behind_the_print(self) -> None:
        rows = floors_and_first(100, EXAMPLE_2)
        assert rows == (7, 10, 16, 19, 22, 26)
        fastest_first = time_units(block_owners(rows, range(5, -1, -1)))
        slowest_first = time_units(block_owners(rows))
        assert fastest_first == pytest.approx(16.929, abs=5e-4)
        assert 160 / fastest_first == pytest.approx(9.451, abs=5e-4)
        assert slowest_first == pytest.approx(14.727, abs=5e-4)
        assert 160 / slowest_first == pytest.approx(10.865, abs=1e-3)

    def test_example_2_in_blocks_of_figure_1(self) -> None:
        rows = block_rows(100, EXAMPLE_2)
        assert rows == (6, 9, 16, 19, 23, 27)
        assert time_units(block_owners(rows, range(5, -1, -1))) == pytest.approx(15.39, abs=5e-3)
        assert time_units(block_owners(rows)) == pytest.approx(15.02, abs=5e-3)

    def test_slow_processors_should_have_the_first_blocks(self) -> None:
        rates = (4.0, 1.0, 2.0)
        assert slowest_first(rates) == (1, 2, 0)
        rows = block_rows(140, rates)
        found = makespan(block_owners(rows, slowest_first(rates)), rates, StageCost.LU)
        assert found < makespan(block_owners(rows, (0, 2, 1)), rates, StageCost.LU)

    @given(RATES, st.integers(4, 40), st.sampled_from(StageCost))
    def test_the_order_chosen_is_at_least_as_good_as_the_papers(
        self, rates: list[float], n: int, stage: StageCost
    ) -> None:
        rows = block_rows(n, rates)
        every = {o: makespan(block_owners(rows, o), rates, stage) for o in permutations(range(len(rates)))}
        chosen = every[block_order(rows, rates, stage)]
        assert min(every.values()) <= chosen <= every[slowest_first(rates)]

    @given(st.permutations([1, 2, 3, 5]), st.integers(1, 5), st.sampled_from(StageCost))
    def test_in_exact_proportion_the_fastest_should_be_last(
        self, rates: list[int], unit: int, stage: StageCost
    ) -> None:
        rows = block_rows(11 * unit, rates)
        every = {o: makespan(block_owners(rows, o), rates, stage) for o in permutations(range(4))}
        assert every[slowest_first(rates)] == pytest.approx(min(every.values()))
        by_last = {rates[o[-1]]: time for o, time in every.items()}
        assert all(every[o] == pytest.approx(by_last[rates[o[-1]]]) for o in every)

    @pytest.mark.parametrize(("rows", "rates"), [([1], [1.0, 1.0]), ([], []), ([1, 1], [1.0, 0.0])])
    def test_an_order_needs_rates(self, rows: list[int], rates: list[float]) -> None:
        with pytest.raises(ValueError, match="expected"):
            block_order(rows, rates, StageCost.LU)

    @pytest.mark.parametrize("stage", StageCost)
    @pytest.mark.parametrize("n", [1, 2, 3, 10, 57])
    def test_one_processor_takes_the_serial_time(self, n: int, stage: StageCost) -> None:
        assert makespan([0] * n, [2.0], stage) == pytest.approx(serial_time(n, stage) / 2)
        assert float(stage_costs(n, stage) @ np.arange(n - 1, 0, -1)) == pytest.approx(serial_time(n, stage))

    @given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.sampled_from(StageCost))
    def test_it_is_the_sum_of_the_slowest_of_each_stage(self, owners: list[int], stage: StageCost) -> None:
        rates, n = (1.0, 2.0, 3.5), len(owners)
        total = 0.0
        for i in range(1, n):
            after = owners[i:]
            cost = 1.0 if stage is StageCost.CONSTANT else (n + 1 - i) / n
            total += cost * max(after.count(j) / w for j, w in enumerate(rates))
        assert makespan(owners, rates, stage) == pytest.approx(total)

    def test_rows_on_a_processor_of_rate_0_never_end(self) -> None:
        assert makespan([0, 1], [1.0, 0.0], StageCost.LU) == np.inf
        assert makespan([1, 0], [1.0, 0.0], StageCost.LU) == 1

    @pytest.mark.parametrize(("owners", "rates"), [([0, 2], [1.0, 1.0]), ([-1], [1.0]), ([0], [-1.0])])
    def test_bad_owners_and_rates_are_refused(self, owners: list[int], rates: list[float]) -> None:
        with pytest.raises(ValueError, match="expected"):
            makespan(owners, rates, StageCost.LU)


class TestEstimates:
    def test_table_2_with_r_2_set_right(self) -> None:
        found = [scattered_efficiency(10 * r, 10, StageCost.CONSTANT) for r in (1, 2, 4, 10, 20)]
        assert found == pytest.approx([0.5, 0.679, 0.8125, 0.917, 0.957], abs=5e-4)

    def test_table_3(self) -> None:
        found = [scattered_efficiency(10 * r, 10, StageCost.LU) for r in (1, 2, 4, 10, 20)]
        assert found == pytest.approx([0.611, 0.754, 0.858, 0.937, 0.967], abs=5e-4)

    @pytest.mark.parametrize(
        ("n", "expected"),
        [(10, [0.645, 0.688, 0.723, 0.751, 0.825]), (100, [0.688, 0.723, 0.754, 0.780, 0.845])],
    )
    def test_table_4(self, n: int, expected: list[float]) -> None:
        found = [two_blocks_efficiency(n, s) for s in (0.5, 1, 1.5, 2, 4)]
        assert found == pytest.approx(expected, abs=6e-4)

    @pytest.mark.parametrize("stage", StageCost)
    @pytest.mark.parametrize(("p", "r"), [(1, 5), (2, 1), (3, 4), (4, 7), (10, 3)])
    def test_closed_forms_are_the_counted_times(self, p: int, r: int, stage: StageCost) -> None:
        n, rates = p * r, [1.0] * p
        serial = serial_time(n, stage)
        blocks = makespan(block_owners([r] * p), rates, stage)
        assert block_efficiency(n, p, stage) == pytest.approx(serial / (p * blocks))
        scattered = makespan(scattered_owners(n, rates), rates, stage)
        assert scattered_efficiency(n, p, stage) == pytest.approx(serial / (p * scattered))

    @pytest.mark.parametrize(("n", "s"), [(10, 1.0), (12, 2.0), (100, 4.0), (12, 0.5)])
    def test_two_blocks_are_the_counted_time(self, n: int, s: float) -> None:
        first = round(n / (1 + s))
        time = makespan(block_owners([first, n - first]), [1.0, s], StageCost.LU)
        assert two_blocks_efficiency(n, s) == pytest.approx(serial_time(n, StageCost.LU) / ((1 + s) * time))

    def test_limits_for_many_rows(self) -> None:
        for p in (2, 5, 32):
            assert p * block_limit(p, StageCost.CONSTANT) == pytest.approx(p / (2 - 1 / p))
            assert p * block_limit(p, StageCost.LU) == pytest.approx(2 * p / (3 - 1 / p**2))
            for stage in StageCost:
                assert block_efficiency(p * 10**6, p, stage) == pytest.approx(block_limit(p, stage), rel=1e-5)
                assert scattered_efficiency(p * 10**6, p, stage) == pytest.approx(1, rel=1e-5)

    @given(st.integers(1, 5000), st.integers(1, 200))
    def test_the_last_row_is_split_among_the_square_root(self, n: int, p: int) -> None:
        best = min(range(1, p + 1), key=lambda s: last_row_time(n, s))
        assert last_row_time(n, last_row_processors(n, p)) == last_row_time(n, best)
        assert optimal_last_row_split(n) == sqrt(2 * n)

    @pytest.mark.parametrize(
        "bad",
        [
            lambda: block_efficiency(10, 3, StageCost.LU),
            lambda: scattered_efficiency(0, 3, StageCost.LU),
            lambda: last_row_time(0, 1),
            lambda: two_blocks_efficiency(10, 0),
        ],
    )
    def test_bad_requests_are_refused(self, bad: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match="expected"):
            bad()
