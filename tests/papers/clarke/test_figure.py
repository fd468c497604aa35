"""The data of the figures: points, functions, and the line through the origin."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.points import ModelKind
from papers.clarke.figure import figure


def learned(model: ModelKind) -> SpeedModels:
    models = SpeedModels(2, model)
    for counts, seconds in (((50, 50), (1.0, 2.0)), ((66, 34), (3.0, 1.3)), ((58, 42), (1.3, 1.6))):
        models.add(counts, seconds)
    return models


@pytest.mark.parametrize("model", ModelKind)
def test_the_line_ends_at_the_partition(model: ModelKind) -> None:
    models = learned(model)
    found = figure(models, 100)
    assert found is not None
    assert tuple(curve.share for curve in found.curves) == models.partition(100).counts
    assert tuple(curve.points for curve in found.curves) == models.points
    # The longest time is the line's own; one unit of 40 is all that the other may be off.
    slowest = max(curve.share / curve.share_speed for curve in found.curves)
    assert slowest == pytest.approx(found.seconds)
    assert min(curve.share / curve.share_speed for curve in found.curves) == pytest.approx(slowest, rel=0.1)


def test_functions_pass_through_what_is_drawn_of_them() -> None:
    models = learned(ModelKind.PIECEWISE)
    found = figure(models, 100, counts=(60, 40), samples=11)
    assert found is not None
    assert [curve.share for curve in found.curves] == [60, 40]
    for rank, curve in enumerate(found.curves):
        assert curve.units == pytest.approx(tuple(np.linspace(0, 100, 11)))
        functions = models.functions(100)
        assert curve.speeds == pytest.approx([functions.speeds(np.full(2, x))[rank] for x in curve.units])


def test_nothing_known_is_no_figure() -> None:
    assert figure(SpeedModels(2, ModelKind.AKIMA), 100) is None
    assert figure(learned(ModelKind.AKIMA), 0) is None
