"""What the benchmark of the functional models shows, apart from times."""

from __future__ import annotations

import pytest
from dlbrt.speed.points import ModelKind

from tests.bench import fpm


def test_where_nothing_pages_all_ways_gain_alike() -> None:
    gains = [fpm._speedup(12000, model) for model in (None, *ModelKind)]
    assert min(gains) > 1.05
    assert max(gains) < 1.15


@pytest.mark.parametrize("n", [23000, 25000])
def test_where_it_pages_functions_gain_and_the_traditional_loop_loses(n: int) -> None:
    """Figure 13: from some size on the constant model is slower than equal shares."""
    traditional, constant, piecewise, akima = (fpm._speedup(n, model) for model in (None, *ModelKind))
    assert traditional < 0.5
    assert traditional < constant < min(piecewise, akima) / 2
    assert min(piecewise, akima) > 5


def test_the_line_through_the_origin_meets_the_functions_at_the_shares() -> None:
    for name, drawn in fpm.figures().items():
        assert sum(curve.share for curve in drawn.curves) == drawn.n
        times = [curve.share / curve.share_speed for curve in drawn.curves]
        assert max(times) == pytest.approx(drawn.seconds)
        # Figure 5 is that of the constant model, which does not find such a line.
        assert (max(times) / min(times) < 1.15) is (name != "5")


def test_convergence_is_counted_until_it_is_balanced() -> None:
    found = fpm._converged(ModelKind.PIECEWISE, 11000, 1, 0.15)
    assert (found.passes, found.near_optimum) == (9, 3)
    assert fpm._converged(ModelKind.CONSTANT, 11000, 2, 0.15).passes == 0
