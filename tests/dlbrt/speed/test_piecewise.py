"""Piecewise linear functions: their repaired shape, lines through the origin, and partitions by them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from dlbrt.data.layout import Floats
from dlbrt.speed import geometric
from dlbrt.speed.functions import Piecewise, repaired, seconds
from dlbrt.speed.points import PointTable, SpeedPoints
from hypothesis import given
from hypothesis import strategies as st

Known = tuple[SpeedPoints, ...]


@st.composite
def points(draw: st.DrawFn) -> SpeedPoints:
    units = draw(st.lists(st.integers(1, 5000), min_size=1, max_size=8, unique=True))
    speeds = draw(st.lists(st.floats(1e-3, 1e4), min_size=len(units), max_size=len(units)))
    return SpeedPoints(tuple(units), tuple(speeds))


RANKS = st.lists(points(), min_size=1, max_size=6).map(tuple)


def functions(known: Known) -> Piecewise:
    table = PointTable.of(known)
    return Piecewise(table.units, table.speeds)


def shape(*known: tuple[int, float]) -> list[float]:
    units, speeds = zip(*known, strict=True)
    return repaired(np.array([units], dtype=np.float64), np.array([speeds]))[0].tolist()


def test_a_function_is_level_left_and_right_of_its_points() -> None:
    one = functions((SpeedPoints((10, 20), (4.0, 2.0)),))
    sizes = [0.0, 5.0, 10.0, 15.0, 20.0, 1e6]
    assert [float(one.speeds(np.array([x]))[0]) for x in sizes] == [4.0, 4.0, 4.0, 3.0, 2.0, 2.0]


def test_what_has_the_shape_is_left_alone() -> None:
    known = ((10, 4.0), (20, 5.0), (30, 6.0), (40, 3.0), (50, 3.0), (60, 0.1))
    assert shape(*known) == [speed for _, speed in known]


def test_more_work_does_not_take_less_time() -> None:
    ten, twenty = shape((10, 1.0), (20, 4.0))
    assert (ten, twenty) == (1.0, pytest.approx(2.0))
    assert 20 / twenty > 10 / ten


def test_right_of_the_peak_the_speed_does_not_rise() -> None:
    assert shape((10, 4.0), (20, 2.0), (30, 3.0), (40, 1.0)) == [4.0, 2.0, 2.0, 1.0]


def test_left_of_the_peak_it_may_fall() -> None:
    assert shape((10, 4.0), (20, 3.0), (30, 4.2), (40, 1.0)) == [4.0, 3.0, 4.2, 1.0]


def test_measurements_are_not_touched() -> None:
    table = PointTable.of((SpeedPoints((10, 20, 30), (1.0, 9.0, 2.0)),))
    before = table.speeds.copy()
    Piecewise(table.units, table.speeds)
    assert np.array_equal(table.speeds, before, equal_nan=True)


@given(RANKS)
def test_times_increase_from_point_to_point(known: Known) -> None:
    for row in functions(known).times:
        assert all(a < b for a, b in pairwise(row[np.isfinite(row)]))


@given(RANKS)
def test_right_of_the_peak_no_function_rises(known: Known) -> None:
    table = PointTable.of(known)
    for row, count in zip(repaired(table.units, table.speeds), table.counts, strict=True):
        falling = row[int(np.argmax(row[:count])) : count]
        assert (np.diff(falling) <= 0).all()


@given(RANKS, st.floats(1e-3, 1e4))
def test_a_line_meets_each_function_where_the_time_is_its_own(known: Known, time: float) -> None:
    found = functions(known)
    x, slopes = found.crossing(time)
    assert seconds(found, x) == pytest.approx(np.full(len(known), time), rel=1e-6)
    assert (slopes > 0).all()


@given(RANKS, st.floats(1, 1e5))
def test_a_partition_takes_the_same_time_everywhere_and_adds_up(known: Known, n: float) -> None:
    found = functions(known)
    x = geometric.balanced(found, n)
    times = seconds(found, x)
    assert (x > 0).all()
    assert x.sum() == pytest.approx(n, rel=1e-12)
    assert times == pytest.approx(np.full(len(known), times[0]), rel=1e-6)


@given(RANKS, st.floats(1, 1e4), st.floats(1.01, 5))
def test_more_to_divide_is_no_less_for_anybody(known: Known, n: float, more: float) -> None:
    found = functions(known)
    small, large = geometric.balanced(found, n), geometric.balanced(found, n * more)
    assert (large >= small * (1 - 1e-6)).all()


def test_the_steeper_line_is_that_of_the_smaller_problem() -> None:
    found = functions((SpeedPoints((10, 100), (5.0, 1.0)), SpeedPoints((10,), (2.0,))))
    sizes: list[Floats] = [found.crossing(time)[0] for time in (0.5, 1.0, 10.0, 1000.0)]
    assert all((a < b).all() for a, b in pairwise(sizes))


def test_a_cliff_holds_a_rank_where_it_begins() -> None:
    found = functions((SpeedPoints((400, 401), (10.0, 1.0)), SpeedPoints((100,), (10.0,))))
    assert geometric.balanced(found, 1000.0)[0] == pytest.approx(400.3, abs=0.3)
