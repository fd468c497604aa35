"""Root finding: the Jacobian, the arrowhead's algebra, agreement with MINPACK, and where there is no root."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.data.layout import Floats
from dlbrt.speed import geometric, rootfinding
from dlbrt.speed.functions import Akima, Piecewise, seconds
from dlbrt.speed.points import PointTable, SpeedPoints
from dlbrt.speed.rootfinding import Arrowhead
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import root

from tests.dlbrt.speed.test_piecewise import RANKS, Known

RATES = st.lists(st.floats(0.01, 100) | st.floats(-100, -0.01), min_size=2, max_size=8).map(np.array)


def smooth(ranks: int, n: float, seed: int = 7) -> Akima:
    """Functions that fall off at some size, each at its own."""
    draw = np.random.default_rng(seed)
    known = []
    for _ in range(ranks):
        fit, top = draw.uniform(0.8, 1.6) * n / ranks, draw.uniform(1, 3)
        units = np.unique(np.linspace(0.2, 2, 12) * n / ranks).astype(int)
        known.append(SpeedPoints(tuple(units.tolist()), tuple((top / (1 + (units / fit) ** 4)).tolist())))
    table = PointTable.of(known)
    return Akima(table.units, table.speeds, n)


def residuals(functions: Akima, x: Floats, n: float) -> Floats:
    """F of equation 2, in units and seconds."""
    times = x / functions.speeds(x)
    return np.concatenate(([n - x.sum()], times[1:] - times[0]))


def jacobian(functions: Akima, x: Floats) -> Floats:
    """J of equation 5."""
    speeds, slopes = functions.both(x)
    return dense(Arrowhead((speeds - x * slopes) / (speeds * speeds), 1.0))


def dense(arrowhead: Arrowhead) -> Floats:
    """All entries, p by p."""
    matrix = np.diag(arrowhead.rates)
    matrix[:, 0] = -arrowhead.rates[0]
    matrix[0] = -arrowhead.corner
    return matrix


def test_the_jacobian_agrees_with_differences() -> None:
    functions, n = smooth(5, 1000.0), 1000.0
    x = np.array([150.0, 180.0, 210.0, 230.0, 260.0])
    found = jacobian(functions, x)
    h = 1e-5
    for k in range(5):
        step = np.zeros(5)
        step[k] = h
        ahead = residuals(functions, x + step, n)
        behind = residuals(functions, x - step, n)
        assert found[:, k] == pytest.approx((ahead - behind) / (2 * h), rel=1e-5, abs=1e-8)


def test_the_jacobian_has_the_entries_of_equation_5() -> None:
    functions = smooth(3, 300.0)
    x = np.array([80.0, 100.0, 120.0])
    s, slope = functions.both(x)
    g = (s - x * slope) / s**2
    expected = [[-1, -1, -1], [-g[0], g[1], 0], [-g[0], 0, g[2]]]
    assert jacobian(functions, x) == pytest.approx(np.array(expected))


@given(RATES, st.integers(0, 99))
def test_an_arrowhead_is_multiplied_and_solved_as_its_matrix(rates: Floats, seed: int) -> None:
    matrix = Arrowhead(rates, 1.0)
    y = np.random.default_rng(seed).normal(size=len(rates))
    assert matrix.times(y) == pytest.approx(dense(matrix) @ y, abs=1e-9)
    assert matrix.transposed_times(y) == pytest.approx(dense(matrix).T @ y, abs=1e-9)
    assume(np.linalg.cond(dense(matrix)) < 1e9)
    found = matrix.solve(y)
    assert found is not None
    assert matrix.times(found) == pytest.approx(y, abs=1e-6 * (1 + float(np.abs(found).max())))


@pytest.mark.parametrize("rates", [[1.0, 0.0, 2.0], [0.0, 0.0, 1.0], [1.0, -1.0]])
def test_a_singular_matrix_is_not_solved(rates: list[float]) -> None:
    assert Arrowhead(np.array(rates), 1.0).solve(np.ones(len(rates))) is None


@pytest.mark.parametrize("ranks", [1, 2, 4, 16])
def test_the_root_is_that_of_minpack(ranks: int) -> None:
    n = 1000.0 * ranks
    functions = smooth(ranks, n)
    known = root(
        lambda x: residuals(functions, x, n),
        np.full(ranks, n / ranks),
        jac=lambda x: jacobian(functions, x),
        method="hybr",
        tol=1e-12,
    )
    ours = rootfinding.balanced(functions, n)
    assert known.success
    assert ours is not None
    assert ours.x == pytest.approx(known.x, rel=1e-6)
    assert ours.evaluations <= 30


@given(RANKS, st.floats(10, 6000))
def test_what_is_called_a_root_is_one(known: Known, n: float) -> None:
    table = PointTable.of(known)
    functions = Akima(table.units, table.speeds, n)
    found = rootfinding.balanced(functions, n)
    if found is not None:
        times = seconds(functions, found.x)
        assert (found.x > 0).all()
        assert found.x.sum() == pytest.approx(n, rel=1e-6)
        assert times == pytest.approx(np.full(len(known), times.mean()), rel=1e-4)
    else:  # lines through the origin always find one
        assert geometric.balanced(Piecewise(table.units, table.speeds), n).sum() == pytest.approx(n)


def test_level_functions_take_two_evaluations() -> None:
    table = PointTable.of([SpeedPoints((10,), (float(speed),)) for speed in (1, 2, 5)])
    found = rootfinding.balanced(Akima(table.units, table.speeds, 80.0), 80.0)
    assert found is not None
    assert found.x == pytest.approx(np.array([10.0, 20.0, 50.0]))
    assert found.evaluations == 2
