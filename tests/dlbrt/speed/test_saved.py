"""Points on their way through a file, and what is wrong with what is none of ours."""

from __future__ import annotations

import json

import pytest
from dlbrt.contract import OptionError
from dlbrt.speed.pass_balancer import PassBalancer
from dlbrt.speed.points import ModelKind, SpeedPoints, decode, encode
from hypothesis import given

from tests.dlbrt.speed.test_piecewise import RANKS, Known


@given(RANKS)
def test_points_come_back_to_six_digits(known: Known) -> None:
    found = decode(json.loads(json.dumps(encode(known))), len(known))
    assert [points.units for points in found] == [points.units for points in known]
    for ours, theirs in zip(found, known, strict=True):
        assert ours.speeds == pytest.approx(theirs.speeds, rel=1e-5)
    assert encode(found) == encode(known)


@pytest.mark.parametrize("model", ModelKind)
def test_a_second_run_begins_balanced(model: ModelKind) -> None:
    first = PassBalancer(3, model)
    first.after((100, 100, 100), (1.0, 2.0, 4.0))
    second = PassBalancer(3, model, known=decode(encode(first.points), 3))
    assert second.first(700) == (400, 200, 100)
    assert PassBalancer(3, model, known=(SpeedPoints(), SpeedPoints(), SpeedPoints())).first(7) == (3, 2, 2)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected a list with the points of 2 ranks; found None"),
        ({}, "expected a list with the points of 2 ranks; found {}"),
        ([], "expected a list with the points of 2 ranks; found those of 0"),
        ([1, 2], "rank 0: expected {.*}; found 1"),
        ([{"units": [1]}, {}], "rank 0: expected {.*}; found {'units'"),
        ([{"units": [1.5], "units_per_s": [1]}] * 2, "rank 0: expected a list of whole numbers"),
        ([{"units": [True], "units_per_s": [1]}] * 2, "rank 0: expected a list of whole numbers"),
        ([{"units": [2**60], "units_per_s": [1]}] * 2, "rank 0: expected a list of whole numbers"),
        ([{"units": "1", "units_per_s": [1]}] * 2, "rank 0: expected a list of whole numbers"),
        ([{"units": [1], "units_per_s": ["1"]}] * 2, "rank 0: expected a list of speeds"),
        ([{"units": [1], "units_per_s": [0]}] * 2, "rank 0: expected finite speeds above 0"),
        ([{"units": [1], "units_per_s": [10**400]}] * 2, "rank 0: int too large"),
        ([{"units": [1, 1], "units_per_s": [1, 1]}] * 2, "rank 0: expected numbers of units above 0"),
        ([{"units": [0], "units_per_s": [1]}] * 2, "rank 0: expected numbers of units above 0"),
        ([{"units": [1], "units_per_s": []}] * 2, "rank 0: expected a speed for each of 1 points"),
        (
            [{"units": list(range(1, 99)), "units_per_s": [1.0] * 98}] * 2,
            "rank 0: expected at most 64 points",
        ),
    ],
)
def test_what_is_not_ours_is_refused(value: object, message: str) -> None:
    with pytest.raises(OptionError, match=f"learned speeds.*{message}"):
        decode(value, 2)
