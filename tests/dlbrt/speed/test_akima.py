"""Akima's spline: its formula, its ends, continuity, and that it stays positive."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.speed.functions import Akima
from dlbrt.speed.points import PointTable, SpeedPoints
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import Akima1DInterpolator

from tests.dlbrt.speed.test_piecewise import RANKS, Known

N = 6000


def spline(*known: SpeedPoints, n: float = N) -> Akima:
    table = PointTable.of(known)
    return Akima(table.units, table.speeds, n)


def speed(curve: Akima, x: float) -> float:
    return float(curve.speeds(np.full(curve.ranks, x))[0])


def test_inside_it_is_the_spline_of_the_literature() -> None:
    units = tuple(range(300, 5700, 300))
    speeds = tuple(3 + np.sin(0.002 * np.array(units)))
    ours, known = spline(SpeedPoints(units, speeds)), Akima1DInterpolator(units, speeds)
    # Two nodes from the ends slopes depend on what lies beyond.
    for x in np.linspace(units[2], units[-3], 200):
        assert speed(ours, x) == pytest.approx(float(known(x)), rel=1e-12)


def test_it_is_level_beyond_its_points() -> None:
    curve = spline(SpeedPoints((1000, 2000, 3000), (5.0, 7.0, 2.0)))
    assert [speed(curve, x) for x in (0.0, 500.0, 1000.0)] == [5.0, 5.0, 5.0]
    assert [speed(curve, x) for x in (3000.0, 4000.0, N, 2.0 * N)] == [2.0, 2.0, 2.0, 2.0]
    assert [curve.both(np.array([x]))[1][0] for x in (0.0, float(N))] == [0.0, 0.0]


@pytest.mark.parametrize("units", [(1500,), (1500, 3000), (1500, 3000, 4000), (1, N), (N,), (7000, 9000)])
def test_few_points_are_enough(units: tuple[int, ...]) -> None:
    curve = spline(SpeedPoints(units, tuple(2.0 + k for k in range(len(units)))))
    assert [speed(curve, x) for x in units] == pytest.approx([2.0 + k for k in range(len(units))])


def test_one_point_is_a_constant() -> None:
    curve = spline(SpeedPoints((1500,), (3.0,)))
    assert {speed(curve, x) for x in np.linspace(0, N, 50)} == {3.0}


def test_an_outlier_bends_the_curve_near_itself_alone() -> None:
    units = tuple(range(500, 6000, 500))
    level = [4.0] * len(units)
    level[5] = 1.0
    curve = spline(SpeedPoints(units, tuple(level)))
    assert [speed(curve, x) for x in np.linspace(0, units[4], 20)] == pytest.approx([4.0] * 20)
    assert [speed(curve, x) for x in np.linspace(units[6], N, 20)] == pytest.approx([4.0] * 20)


@given(RANKS)
def test_every_point_lies_on_its_curve(known: Known) -> None:
    curve = spline(*known)
    for k in range(max(len(points.units) for points in known)):
        at = [min(k, len(points.units) - 1) for points in known]
        x = np.array([points.units[i] for points, i in zip(known, at, strict=True)], dtype=np.float64)
        expected = [points.speeds[i] for points, i in zip(known, at, strict=True)]
        assert curve.speeds(x) == pytest.approx(np.array(expected), rel=1e-9)


@given(RANKS, st.floats(0, N))
def test_speeds_are_positive_and_slopes_are_derivatives(known: Known, x: float) -> None:
    curve = spline(*known)
    here, slope = curve.both(np.full(len(known), x))
    assert (here > 0).all()
    h = 1e-4
    there = curve.speeds(np.full(len(known), x + h))
    scale = max(max(points.speeds) for points in known)
    # The second derivative jumps at nodes, and grows with the speeds over the square of their distance.
    assert there == pytest.approx(here + h * slope, abs=1e-5 * scale)


def test_a_speed_that_would_go_below_nothing_is_held_up() -> None:
    units, speeds = (1000, 1001, 1002, 1003, 2000, 2001), (9.0, 5.0, 1.0, 0.01, 0.02, 9.0)
    curve = spline(SpeedPoints(units, speeds))
    lowest = min(speed(curve, x) for x in np.linspace(990, 2010, 5000))
    assert lowest >= 0.1 * min(speeds)
