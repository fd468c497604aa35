"""How many exchange steps a disturbance lasts: the computed values beside Heirich and Taylor's table 1."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from papers.heirich import (
    Boundary,
    DiffusionStep,
    Mesh,
    Schedule,
    inner_iterations,
    slowest_rate,
    tau,
    tau_slowest,
)
from papers.heirich.modes import tau_as_printed

from tests.papers.heirich.dense import links, step_matrix

SIDES = (4, 8, 16, 20, 32, 64, 100)
PRINTED = {
    0.1: (9, 9, 8, 8, 7, 7, 7),
    0.01: (185, 298, 303, 283, 246, 215, 205),
    0.001: (2968, 6606, 12590, 13959, 13796, 11045, 9896),
}
TRUE = {
    0.1: (6, 7, 7, 7, 7, 7, 7),
    0.01: (125, 169, 185, 186, 188, 188, 188),
    0.001: (2286, 4453, 7015, 7487, 7930, 8067, 8082),
}


@pytest.mark.parametrize("alpha", PRINTED)
def test_equation_20_as_printed(alpha: float) -> None:
    assert tuple(tau_as_printed(alpha, side) for side in SIDES) == PRINTED[alpha]


@pytest.mark.parametrize("alpha", TRUE)
def test_equation_20_with_all_modes_grows_to_a_limit(alpha: float) -> None:
    found = tuple(tau(alpha, (side,) * 3) for side in SIDES)
    assert found == TRUE[alpha]
    assert found == tuple(sorted(found))


def test_seven_exchanges_are_enough_for_any_size_from_512_on() -> None:
    assert {tau(0.1, (side, side, side)) for side in (8, 9, 25, 50, 128)} == {7}


@pytest.mark.parametrize("sides", [(5,), (2, 3), (4, 3, 1), (6, 2, 2)])
def test_all_modes_are_those_of_the_mesh(sides: tuple[int, ...]) -> None:
    """By repeated solution with the matrix itself; of what is above the average where it was."""
    mesh = Mesh(sides, Boundary.PERIODIC)
    n, alpha = mesh.processors, 0.05
    system = np.eye(n)
    for one, other in links(mesh):
        for a, b in ((one, other), (other, one)):
            system[a, a] += alpha
            system[a, b] -= alpha
    left, steps = np.eye(n)[0], 0
    while left[0] - 1 / n > alpha:
        left, steps = np.linalg.solve(system, left), steps + 1
    assert tau(alpha, sides) == steps


def test_operations_until_a_tenth_is_left() -> None:
    """Seven a processor and inner iteration (the paper: 168 for 512, 105 for a million)."""
    assert [7 * inner_iterations(0.1, 3) * tau(0.1, (side,) * 3) for side in (8, 100)] == [147, 147]


def test_the_slowest_mode_at_512() -> None:
    assert slowest_rate(0.1, Mesh((8, 8, 8), Boundary.PERIODIC)) == pytest.approx(0.0569, abs=5e-5)
    assert slowest_rate(0.1, Mesh((8, 8, 8))) == pytest.approx(0.0151, abs=5e-5)


def test_the_slowest_mode_has_no_limit() -> None:
    """Equation (10): the paper says that its number of steps tends to ln 1/alpha."""
    assert tau_slowest(0.1, Mesh((8, 8, 8), Boundary.PERIODIC)) == 41
    assert tau_slowest(0.1, Mesh((100, 100, 100), Boundary.PERIODIC)) == 5836


@pytest.mark.parametrize("boundary", Boundary)
def test_the_rate_is_that_of_the_mesh(boundary: Boundary) -> None:
    """With so many inner iterations that the step is implicit."""
    mesh, alpha = Mesh((5, 3), boundary), 0.1
    matrix = step_matrix(mesh, Schedule((DiffusionStep(alpha, 2, 60),)), links(mesh))
    assert -log(np.sort(np.linalg.eigvalsh(matrix))[-2]) == pytest.approx(slowest_rate(alpha, mesh))


def test_a_single_processor_has_no_modes() -> None:
    assert tau_slowest(0.1, Mesh((1, 1))) == 0
    assert tau(0.1, (1,)) == 0


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0])
def test_a_disturbance_falls_to_a_part(alpha: float) -> None:
    with pytest.raises(ValueError, match="expected alpha above 0 and below 1"):
        tau(alpha, (4, 4))
    with pytest.raises(ValueError, match="expected alpha above 0 and below 1"):
        tau_slowest(alpha, Mesh((4, 4)))


@pytest.mark.parametrize("side", [0, 7])
def test_the_printed_equation_is_for_even_sides(side: int) -> None:
    with pytest.raises(ValueError, match=f"expected an even side above 0, found {side}"):
        tau_as_printed(0.1, side)
