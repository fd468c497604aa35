"""The points measured: replaced, kept, forgotten; ranks without work; speeds that drift."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.speed.points import DRIFT, MAX_POINTS, PointTable, SpeedPoints
from hypothesis import given
from hypothesis import strategies as st

PASSES = st.lists(
    st.lists(st.tuples(st.integers(0, 30), st.floats(0.9, 1.1)), min_size=3, max_size=3), max_size=40
)


def test_points_stand_by_units_and_are_given_by_age() -> None:
    table = PointTable(2)
    table.add([30, 10], [3.0, 2.0])
    table.add([20, 5], [1.0, 1.0])
    assert table.units[:, :2].tolist() == [[20, 30], [5, 10]]
    assert table.speeds[:, :2].tolist() == [[20.0, 10.0], [5.0, 5.0]]
    assert table.points() == (SpeedPoints((30, 20), (10.0, 20.0)), SpeedPoints((10, 5), (5.0, 5.0)))
    assert table.last.tolist() == [20.0, 5.0]


def test_a_point_measured_again_replaces_the_old_one() -> None:
    table = PointTable(1)
    for seconds in (1.0, 1.1):
        table.add([10], [seconds])
    assert table.points() == (SpeedPoints((10,), (10 / 1.1,)),)


@pytest.mark.parametrize(("units", "seconds"), [(0, 0.0), (0, 1.0), (7, 0.0)])
def test_no_units_or_no_time_give_no_point(units: int, seconds: float) -> None:
    table = PointTable(1)
    table.add([5], [1.0])
    table.add([units], [seconds])
    assert table.points() == (SpeedPoints((5,), (5.0,)),)
    assert table.last.tolist() == [5.0]


def test_a_rank_never_measured_has_no_points() -> None:
    table = PointTable(2)
    table.add([5, 0], [1.0, 0.0])
    assert table.counts.tolist() == [1, 0]
    assert np.isnan(table.last[1])
    assert table.points()[1] == SpeedPoints()


def test_of_too_many_points_the_oldest_goes() -> None:
    table = PointTable(2)
    for k in range(MAX_POINTS + 3):
        table.add([100 - k, 10], [1.0, 1.0])
    units = table.points()[0].units
    assert len(units) == MAX_POINTS
    assert units[0] == 97
    assert table.points()[1].units == (10,)


def test_a_speed_that_drifts_does_so_at_every_size() -> None:
    table = PointTable(2)
    assert not table.add([10, 10], [1.0, 1.0])
    assert not table.add([20, 20], [4.0, 2.0])
    assert table.add([20, 20], [12.0, 2.0])
    assert table.points()[0].speeds == pytest.approx((10 / 3, 20 / 12))
    assert table.points()[1].speeds == (10.0, 10.0)


@pytest.mark.parametrize("factor", [DRIFT * 0.99, 1 / DRIFT * 1.01])
def test_a_small_difference_is_scatter(factor: float) -> None:
    table = PointTable(1)
    table.add([10], [1.0])
    table.add([20], [2.0])
    assert not table.add([20], [2.0 * factor])
    assert table.points()[0].speeds == pytest.approx((10.0, 10 / factor))


@given(PASSES)
def test_the_table_is_what_one_rank_after_the_other_would_keep(
    measured: list[list[tuple[int, float]]],
) -> None:
    table = PointTable(3)
    known: list[dict[int, float]] = [{}, {}, {}]
    for step in measured:
        table.add([d for d, _ in step], [d * second for d, second in step])
        for rank, (d, second) in enumerate(step):
            if d:
                known[rank].pop(d, None)
                known[rank][d] = d / (d * second)
    for rank, points in enumerate(table.points()):
        assert dict(zip(points.units, points.speeds, strict=True)) == known[rank]
        assert points.units == tuple(known[rank])
        row = table.units[rank][: len(points.units)]
        assert row.tolist() == sorted(points.units)


@given(PASSES)
def test_a_table_of_its_own_points_is_the_same(measured: list[list[tuple[int, float]]]) -> None:
    table = PointTable(3)
    for step in measured:
        table.add([d for d, _ in step], [d * second for d, second in step])
    again = PointTable.of(table.points())
    assert again.points() == table.points()
    assert np.array_equal(
        again.units[:, : again.counts.max()], table.units[:, : again.counts.max()], equal_nan=True
    )


@pytest.mark.parametrize(
    ("units", "speeds"),
    [
        ((1,), ()),
        ((0,), (1.0,)),
        ((2, 2), (1.0, 1.0)),
        ((1,), (0.0,)),
        ((1,), (float("nan"),)),
        ((-1,), (1.0,)),
    ],
)
def test_what_is_no_point_is_refused(units: tuple[int, ...], speeds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected .*, found"):
        SpeedPoints(units, speeds)


@pytest.mark.parametrize(
    ("units", "seconds"), [([1], [1.0]), ([1, -1], [1, 1]), ([1, 1], [1, float("inf")]), ([1, 1], [1, -1])]
)
def test_what_is_no_measurement_is_refused(units: list[int], seconds: list[float]) -> None:
    with pytest.raises(ValueError, match=r"expected 2 (units|seconds) of 0 or more, one per rank"):
        PointTable(2).add(units, seconds)


def test_there_is_a_rank() -> None:
    with pytest.raises(ValueError, match="at least 1 rank, found 0"):
        PointTable(0)
