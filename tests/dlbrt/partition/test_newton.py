"""Cuts of a cumulative work: the paper's boundaries, every kind of t, one rank's bounds alone, bad input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from dlbrt.partition.newton import Cutter, fractions
from dlbrt.partition.roots import Method, contraction, methods
from dlbrt.partition.work import CumulativeWork, WorkError, WorkFault, over_positions
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz import sieve
from papers.swartz.newton import between, bounds, cut, cuts, method_of, newton_share

RELATIVE = 1e-11

#: name -> cumulative work, smooth or not.
WORKS = {
    "linear": CumulativeWork(lambda x: 3 * x + 7, -5.0, 20.0),
    "quadratic, with a slope": CumulativeWork(lambda x: x * x, 0.0, 1000.0, derivative=lambda x: 2 * x),
    "cubic": CumulativeWork(lambda x: x**3, 0.0, 1000.0),
    "square root: t' infinite at 0": CumulativeWork(np.sqrt, 0.0, 1.0, derivative=lambda x: 0.5 / np.sqrt(x)),
    "logarithm: t'' negative": CumulativeWork(np.log, 1.0, 1e6, derivative=lambda x: 1 / x),
    "exponential": CumulativeWork(np.exp, 0.0, 50.0),
    "inflection": CumulativeWork(lambda x: (x - 5) ** 3, 0.0, 10.0, derivative=lambda x: 3 * (x - 5) ** 2),
    "infinite slope inside": CumulativeWork(lambda x: np.cbrt(x - 5), 0.0, 10.0),
    "kink": CumulativeWork(lambda x: x + 9 * np.maximum(x - 3.3, 0), 0.0, 10.0),
    "flat between": CumulativeWork(lambda x: np.minimum(x, 2) + np.maximum(x - 8, 0), 0.0, 10.0),
    "wrong slope": CumulativeWork(lambda x: x * x, 0.0, 10.0, derivative=lambda x: 7 * x),
    "zero slope": CumulativeWork(lambda x: x * x, 0.0, 10.0, derivative=lambda x: 0 * x),
    "far from zero": CumulativeWork(lambda x: (x - 1e9) ** 2, 1e9, 1e9 + 1000),
    "the sieve": sieve.work(2.0**22),
    "the sieve, no slope": sieve.work(2.0**22, derivative=False),
}
EVERY = pytest.mark.parametrize("work", WORKS.values(), ids=WORKS.keys())


def start(work: CumulativeWork) -> float:
    return float(work.t(np.float64(work.low))) if work.start is None else work.start


def test_boundaries_of_32_million_on_32_nodes() -> None:
    x = cut(sieve.work(32e6), 32)
    assert x[[1, 2, 31]] == pytest.approx([2516104.4, 4191639.4, 31266007.7], abs=0.05)


def test_boundaries_of_2_to_the_28_on_16_nodes() -> None:
    x = cut(sieve.work(2.0**28), 16)
    assert x[[1, 2, 15]] == pytest.approx([35588965.4, 59035036.8, 256130124.4], abs=0.05)


@pytest.mark.parametrize("derivative", [True, False])
@pytest.mark.parametrize(("maximum", "nodes"), [(32e6, 32), (2.0**28, 16)])
def test_newton_from_the_papers_own_start(maximum: float, nodes: int, derivative: bool) -> None:
    """A table of one cell starts at x_max i / N_p; Newton then takes 5 steps at most, 4.6 in the mean."""
    cutter = Cutter(sieve.work(maximum, derivative), cells=1)
    found = cutter.solve(np.arange(1, nodes) / nodes)
    assert method_of(cutter) is Method.NEWTON
    assert found.steps.max() == 5
    assert found.steps.mean() == pytest.approx(4.6, abs=0.05)


def test_rows_of_the_two_dimensional_example() -> None:
    """Section 5: rho = x + y on 20 x 20, so t(y) = 200 y + 10 y^2; printed without the 10 before the root."""
    cutter = Cutter(CumulativeWork(lambda y: 200 * y + 10 * y * y, 0.0, 20.0))
    assert cutter.total == 8000
    assert cuts(cutter, 4) == pytest.approx(-10 + 10 * np.sqrt(1 + 2 * np.arange(5)), rel=1e-12)
    assert cuts(cutter, 4) == pytest.approx([0, 7.32, 12.36, 16.46, 20], abs=5e-3)


def test_the_second_derivative_of_the_fit_is_positive_where_the_paper_says() -> None:
    """t'' = t r^2 / x^2 + t' (.43 - r) / x; the print has r for r^2, which differences show to be wrong."""
    x = np.geomspace(6, 1e8, 200)
    r = 1 / (np.log(x) - 1.08366)
    right = (sieve.t(x) * r**2 / x + sieve.slope(x) * (0.43 - r)) / x
    dx = 1e-5 * x
    assert right == pytest.approx((sieve.slope(x + dx) - sieve.slope(x - dx)) / (2 * dx), rel=1e-5)
    assert (right > 0).all()
    assert np.exp(1.08366) == pytest.approx(2.9555, abs=1e-4)
    assert np.exp(1 / 1.43 + 1.08366) == pytest.approx(5.94744, abs=1e-5)


@EVERY
@pytest.mark.parametrize("parts", [1, 2, 7, 64])
def test_each_part_has_its_share(work: CumulativeWork, parts: int) -> None:
    x = cut(work, parts)
    assert len(x) == parts + 1
    assert (x[0], x[-1]) == (work.low, work.high)
    assert (np.diff(x) >= 0).all()
    at = np.array([start(work), *(float(work.t(np.float64(p))) for p in x[1:])])
    assert np.diff(at) == pytest.approx(np.full(parts, (at[-1] - at[0]) / parts), rel=1e-6)


@EVERY
def test_a_rank_finds_its_bounds_alone(work: CumulativeWork) -> None:
    cutter = Cutter(work)
    alone = [bounds(cutter, rank, 13) for rank in range(13)]
    assert [low for low, _ in alone[1:]] == [high for _, high in alone[:-1]]
    assert (alone[0][0], alone[-1][1]) == (work.low, work.high)
    together = cutter.work.t(cuts(cutter, 13)[1:])
    found = work.t(np.array([high for _, high in alone]))
    assert found == pytest.approx(together, rel=RELATIVE, abs=RELATIVE * cutter.total)


@EVERY
def test_the_machine_constant_divides_out(work: CumulativeWork) -> None:
    def scaled(curve: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        return curve and (lambda x: 2.0**-20 * np.asarray(curve(x)))

    times = replace(work, t=lambda x: 2.0**-20 * np.asarray(work.t(x)), derivative=scaled(work.derivative))
    assert (cut(times, 16) == cut(work, 16)).all()


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=12), st.integers(0, 2))
def test_unequal_parts_have_the_work_of_their_weight(weights: list[float], power: int) -> None:
    cutter = Cutter(CumulativeWork(lambda x: x ** (power + 1), 0.0, 10.0))
    x = cutter.cuts_at(fractions(weights))
    wanted = np.asarray(weights) / sum(weights) * cutter.total
    assert np.diff(x ** (power + 1)) == pytest.approx(wanted, rel=1e-9)


@given(
    st.lists(st.floats(0, 10), min_size=2, max_size=30).filter(lambda steps: sum(steps) > 0.1),
    st.integers(1, 40),
)
def test_any_broken_line_is_cut(rises: list[float], parts: int) -> None:
    edges = np.arange(len(rises) + 1.0)
    heights = np.concatenate(([0.0], np.cumsum(rises)))
    x = cut(CumulativeWork(lambda at: np.interp(at, edges, heights), 0.0, float(len(rises))), parts)
    assert (np.diff(x) >= 0).all()
    work = np.diff(np.interp(x, edges, heights))
    assert work == pytest.approx(np.full(parts, heights[-1] / parts), abs=1e-9 * heights[-1])


@given(st.integers(1, 60), st.integers(2, 9))
def test_a_staircase_is_cut_at_its_steps(steps: int, parts: int) -> None:
    """No x has the wanted work: the step on which it is passed is found."""
    x = cut(CumulativeWork(np.floor, 0.5, steps + 0.5), parts)
    wanted = steps * np.arange(1, parts) / parts
    away = np.abs(wanted - np.round(wanted)) > 1e-9
    assert x[1:-1][away] == pytest.approx(np.ceil(wanted)[away], abs=1e-8)


def test_neighbours_share_one_of_many_boundaries() -> None:
    cutter = Cutter(sieve.work(2.0**22))
    x = cuts(cutter, 100_000)
    assert (np.diff(x) >= 0).all()
    found = [bounds(cutter, rank, 100_000) for rank in range(70_000, 70_020)]
    assert all(first[1] == second[0] for first, second in pairwise(found))
    assert [low for low, _ in found] == pytest.approx(x[70_000:70_020], rel=1e-12)


def test_a_domain_hardly_wider_than_doubles_there() -> None:
    low, high = 1e9, 1e9 + 1e-3
    cutter = Cutter(CumulativeWork(lambda x: (x - low) ** 2, low, high))
    x = cuts(cutter, 64)
    assert (np.diff(x) >= 0).all()
    exact = low + (high - low) * np.sqrt(np.arange(65) / 64)
    assert np.abs(x - exact).max() <= 4 * np.finfo(float).eps * low
    assert [bounds(cutter, rank, 64)[0] for rank in range(64)] == pytest.approx(x[:-1], rel=1e-15)


def test_more_parts_than_work_can_tell_apart() -> None:
    assert (np.diff(cut(CumulativeWork(lambda x: 1.0 * (x > 0.25), 0.0, 1.0), 50)) >= 0).all()


class TestPositions:
    def test_of_an_ascending_loop(self) -> None:
        loop = range(10, 110, 5)
        x = cut(over_positions(lambda v: v * v, loop), 4)
        assert x[0] == 0
        assert x[-1] == len(loop)
        values = 10 + 5 * x
        assert np.diff(values**2) == pytest.approx(np.full(4, (110**2 - 10**2) / 4))

    def test_of_a_descending_loop(self) -> None:
        """range(9, -1, -1) does what range(10) does, from the other end."""
        up = cut(over_positions(lambda v: v * v, range(10)), 3)
        down = cut(over_positions(lambda v: v * v, range(9, -1, -1)), 3)
        assert down == pytest.approx(10 - up[::-1])

    @pytest.mark.parametrize("loop", [range(3, 50), range(3, 50, 4), range(49, 2, -1), range(50, 3, -4)])
    def test_the_slope_goes_with_t(self, loop: range) -> None:
        known = over_positions(lambda v: v * v, loop, lambda v: 2 * v)
        k = np.linspace(0.5, len(loop) - 0.5, 20)
        dx = 1e-4
        assert known.derivative is not None
        assert known.derivative(k) == pytest.approx((known.t(k + dx) - known.t(k - dx)) / (2 * dx))

    def test_an_empty_loop_is_refused(self) -> None:
        with pytest.raises(ValueError, match="empty range"):
            over_positions(lambda v: v, range(3, 3))


class TestConvergence:
    def test_newton_is_granted_to_the_sieve(self) -> None:
        cutter = Cutter(sieve.work(32e6))
        assert method_of(cutter) is Method.NEWTON
        assert newton_share(cutter) == 1

    @pytest.mark.parametrize("name", ["kink", "infinite slope inside", "wrong slope"])
    def test_it_is_not_where_t_is_not_smooth(self, name: str) -> None:
        assert method_of(Cutter(WORKS[name])) is not Method.NEWTON

    def test_bisection_is_for_flat_stretches(self) -> None:
        assert method_of(Cutter(WORKS["flat between"])) is Method.BISECTION
        assert newton_share(Cutter(WORKS["zero slope"])) == 0

    def test_a_kink_costs_newton_its_cell_alone(self) -> None:
        assert newton_share(Cutter(WORKS["kink"])) > 0.99

    def test_the_contraction_needs_its_absolute_value(self) -> None:
        """f = arctan diverges from beyond 1.39 where Q < -1; the print's Q < 1 would grant it."""
        x = np.array([0.5, 2.0])
        q = contraction(np.arctan(x), 1 / (1 + x**2), -2 * x / (1 + x**2) ** 2)
        assert q[0] < 1 < q[1]

    def test_cells_are_judged_one_by_one(self) -> None:
        x = np.array([0.0, 1.0, 2.0, 3.0])
        found = methods(x, np.array([0.0, 1.0, 1.0, 11.0]), np.array([1.0, 1.0, 0.0, 9.0]))
        assert found.tolist() == [Method.NEWTON, Method.BISECTION, Method.BISECTION]


def place(work: CumulativeWork) -> tuple[WorkFault, float]:
    with pytest.raises(WorkError) as caught:
        cut(work, 4)
    assert f"{caught.value.place:.12g}" in str(caught.value)
    return caught.value.fault, caught.value.place


class TestBadWork:
    def test_decreasing(self) -> None:
        fault, x = place(CumulativeWork(lambda x: (x - 8) ** 2, 0.0, 10.0))
        assert fault is WorkFault.DECREASING
        assert x == 0

    def test_decreasing_later(self) -> None:
        fault, x = place(CumulativeWork(lambda x: x * (8 - x), 0.0, 6.0))
        assert fault is WorkFault.DECREASING
        assert x == pytest.approx(4, abs=6 / 1024)

    def test_decreasing_at_first_says_from_where_it_may_be_used(self) -> None:
        with pytest.raises(WorkError, match="increases from") as caught:
            Cutter(CumulativeWork(sieve.t, 3.0, 100.0))
        later = caught.value.increases_from
        assert later is not None
        assert 5.947 < later < 6.1
        assert cuts(Cutter(CumulativeWork(sieve.t, 3.0, 100.0, start=0.0, increasing_from=later)), 3)[0] == 3

    @pytest.mark.parametrize(
        ("t", "fault"),
        [
            (lambda x: np.where(x > 5, np.nan, x), WorkFault.NOT_A_NUMBER),
            (lambda x: np.where(x > 5, np.inf, x), WorkFault.INFINITE),
        ],
    )
    def test_not_finite(self, t: Callable[[Any], Any], fault: WorkFault) -> None:
        found, x = place(CumulativeWork(t, 0.0, 10.0))
        assert found is fault
        assert x == pytest.approx(5, abs=10 / 1024)

    def test_it_may_travel_from_rank_to_rank(self) -> None:
        fault = WorkError(WorkFault.DECREASING, 3.0, "t(3) = 2, t(4) = 1", 5.0)
        copied = pickle.loads(pickle.dumps(fault))
        assert str(copied) == str(fault)
        assert (copied.fault, copied.place, copied.increases_from) == (WorkFault.DECREASING, 3.0, 5.0)

    def test_infinite_at_the_beginning(self) -> None:
        assert place(CumulativeWork(np.log, 0.0, 10.0)) == (WorkFault.INFINITE, 0.0)

    def test_no_work_at_all(self) -> None:
        assert place(CumulativeWork(lambda x: 0 * x + 3, 2.0, 10.0)) == (WorkFault.NONE_AT_ALL, 2.0)

    def test_a_fault_between_the_samples_is_seen_where_it_is_met(self) -> None:
        def dips(x: Any) -> Any:
            return np.where(np.abs(x - 0.5) < 0.2, -1.0, x)

        for look in (lambda c: cuts(c, 2), lambda c: bounds(c, 0, 2)):
            with pytest.raises(WorkError) as caught:
                look(Cutter(CumulativeWork(dips, 0.0, 1.0), cells=1))
            assert (caught.value.fault, caught.value.place) == (WorkFault.DECREASING, 0.5)

    def test_nan_between_the_samples(self) -> None:
        hole = CumulativeWork(lambda x: np.where(np.abs(x - 0.5) < 0.2, np.nan, x), 0.0, 1.0)
        for look in (lambda c: cuts(c, 2), lambda c: bounds(c, 0, 2)):
            with pytest.raises(WorkError) as caught:
                look(Cutter(hole, cells=1))
            assert caught.value.fault is WorkFault.NOT_A_NUMBER

    def test_more_work_at_the_start_than_above(self) -> None:
        assert place(CumulativeWork(lambda x: x, 0.0, 1.0, start=0.5)) == (WorkFault.DECREASING, 0.0)

    @pytest.mark.parametrize(
        "bad",
        [
            lambda: CumulativeWork(lambda x: x, 1.0, 1.0),
            lambda: CumulativeWork(lambda x: x, 0.0, np.inf),
            lambda: CumulativeWork(lambda x: x, 0.0, 1.0, increasing_from=1.0),
            lambda: CumulativeWork(lambda x: x, 0.0, 1.0, start=np.nan),
            lambda: Cutter(WORKS["linear"], cells=0),
            lambda: Cutter(WORKS["linear"], tolerance=0),
            lambda: cuts(Cutter(WORKS["linear"]), 0),
            lambda: Cutter(WORKS["linear"]).cuts_at([0.5, 0.2]),
            lambda: Cutter(WORKS["linear"]).cuts_at([0.5, 1.2]),
            lambda: Cutter(WORKS["linear"]).cuts_at([np.nan]),
            lambda: bounds(Cutter(WORKS["linear"]), 3, 3),
            lambda: between(Cutter(WORKS["linear"]), 0.5, 0.4),
            lambda: fractions([]),
            lambda: fractions([0.0, 0.0]),
            lambda: fractions([1.0, -1.0]),
            lambda: fractions([1.0, np.nan]),
        ],
    )
    def test_bad_requests_are_refused(self, bad: Callable[[], object]) -> None:
        with pytest.raises(ValueError, match="expected"):
            bad()
