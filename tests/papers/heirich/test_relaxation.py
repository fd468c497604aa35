"""Inner iterations, gains and stable sizes of Heirich and Taylor, corrected where the flux form differs."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from papers.heirich import (
    Boundary,
    DiffusionStep,
    Mesh,
    Schedule,
    alpha_limit,
    inner_iterations,
    safe_iterations,
)

from tests.papers.heirich.dense import links, step_matrix

ALPHAS = st.floats(1e-4, 20)
DIMENSIONS = st.integers(1, 3)
T = np.linspace(-1, 1, 4001)[:-1]


@pytest.mark.parametrize(
    ("end", "below", "above"),
    [(0.04466, 2, 3), (0.62201, 3, 2), (0.83333, 2, 1)],
    ids=["first", "second", "third"],
)
def test_the_interval_ends_in_three_dimensions(end: float, below: int, above: int) -> None:
    """The first one is .0447; the paper prints .0445."""
    assert inner_iterations(end - 1e-5, 3) == below
    assert inner_iterations(end + 1e-5, 3) == above


def test_in_two_dimensions_two_iterations_do_and_one_from_three_quarters_on() -> None:
    counts = [inner_iterations(alpha, 2) for alpha in (1e-9, 0.01, 0.3, 0.7499999)]
    assert counts == [2, 2, 2, 2]
    assert [inner_iterations(alpha, 2) for alpha in (0.75, 1.0, 50.0)] == [1, 1, 1]


def test_the_tie_at_a_quarter_is_decided_exactly() -> None:
    """Rho is 1/2 and rho^2 is alpha: logarithms may say 3."""
    assert inner_iterations(0.25, 2) == 2


def test_from_one_on_an_iteration_is_still_taken() -> None:
    """By logarithms there would be none, or fewer."""
    assert [inner_iterations(alpha, d) for alpha in (1.0, 7.0) for d in (1, 2, 3)] == [1] * 6


@given(st.floats(1e-12, 0.9999), DIMENSIONS)
def test_iterations_are_the_least_that_reduce_the_error_and_at_most_three(
    alpha: float, dimensions: int
) -> None:
    count = inner_iterations(alpha, dimensions)
    y = 2 * dimensions * Fraction(alpha)
    rho = y / (1 + y)
    assert rho**count <= Fraction(alpha)
    assert count == 1 or rho ** (count - 1) > Fraction(alpha)
    assert count <= (3 if dimensions == 3 else 2)


@pytest.mark.parametrize(
    ("dimensions", "iterations", "limit"),
    [
        (3, 1, 1 / 6),
        (3, 2, 0.3065),
        (3, 3, 0.3065),
        (2, 1, 1 / 4),
        (2, 2, 0.4598),
        (2, 3, 0.4598),
        (1, 1, 1 / 2),
    ],
)
def test_the_flux_form_is_stable_below_a_bound(dimensions: int, iterations: int, limit: float) -> None:
    assert alpha_limit(dimensions, iterations) == pytest.approx(limit, abs=5e-5)


def test_the_bound_is_the_root_of_its_equation() -> None:
    y = 6 * alpha_limit(3, 3)
    assert 2 * y**4 == pytest.approx((1 + y) ** 3)


@given(ALPHAS, DIMENSIONS, st.integers(1, 40))
def test_a_step_is_stable_exactly_where_no_mode_grows(alpha: float, dimensions: int, iterations: int) -> None:
    step = DiffusionStep(alpha, dimensions, iterations)
    worst = float(np.abs(step.gain(T)).max())
    assert step.is_stable is (worst < 1)
    assert step.is_stable is (alpha < alpha_limit(dimensions, iterations))


@given(ALPHAS, DIMENSIONS)
def test_iterating_until_safe_makes_any_size_stable(alpha: float, dimensions: int) -> None:
    count = safe_iterations(alpha, dimensions)
    assert DiffusionStep.iterated(alpha, dimensions) == DiffusionStep(alpha, dimensions, count)
    assert DiffusionStep(alpha, dimensions, count).is_stable
    assert (
        count == inner_iterations(alpha, dimensions)
        or not DiffusionStep(alpha, dimensions, count - 1).is_stable
    )


@pytest.mark.parametrize("alpha", [0.5, 0.7])
def test_sizes_that_blow_up_are_refused_and_told_what_would_do(alpha: float) -> None:
    with pytest.raises(
        ValueError, match=rf"expected alpha below 0\.3065, .* found {alpha}: .* \d+ iterations"
    ):
        DiffusionStep.stable(alpha, 3)
    assert abs(float(DiffusionStep(alpha, 3, inner_iterations(alpha, 3)).gain(-1.0))) > 1


@pytest.mark.parametrize("sides", [(6,), (4, 4), (4, 2, 2)])
@pytest.mark.parametrize("alpha", [0.05, 0.14])
def test_the_gain_is_that_of_the_modes_of_a_mesh(sides: tuple[int, ...], alpha: float) -> None:
    mesh = Mesh(sides, Boundary.PERIODIC)
    schedule = Schedule.every(alpha, len(sides))
    found = np.linalg.eigvalsh(step_matrix(mesh, schedule, links(mesh)))
    cosines = [np.cos(2 * np.pi * np.arange(side) / side) for side in sides]
    means = np.mean(np.meshgrid(*cosines), axis=0).ravel()
    assert found == pytest.approx(np.sort(schedule.gains(means)))


@given(st.floats(1e-3, 1), DIMENSIONS)
def test_where_no_amount_can_become_negative_the_step_averages(y: float, dimensions: int) -> None:
    step = DiffusionStep.stable(y / (2 * dimensions) * 0.999, dimensions)
    assert step.is_positive
    mesh = Mesh((3,) * dimensions)
    matrix = step_matrix(mesh, Schedule((step,)), links(mesh))
    assert matrix.min() >= -1e-15
    assert matrix.sum(axis=0) == pytest.approx(np.ones(mesh.processors))


@pytest.mark.parametrize("alpha", [0.0, -0.1, inf, nan])
def test_an_alpha_that_is_none_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="expected a finite alpha above 0, found"):
        inner_iterations(alpha, 3)


@pytest.mark.parametrize("dimensions", [0, 4])
def test_other_dimensions_are_refused(dimensions: int) -> None:
    with pytest.raises(ValueError, match=f"expected 1, 2 or 3 dimensions, found {dimensions}"):
        safe_iterations(0.1, dimensions)


def test_a_step_has_an_iteration() -> None:
    with pytest.raises(ValueError, match="expected 1 iteration or more, found 0"):
        DiffusionStep(0.1, 3, 0)
