"""Large steps with local corrections: stable together, and faster for the slow modes."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import Boundary, Diffusion, DiffusionStep, Mesh, Schedule, discrepancy, two_scales

from tests.papers.heirich.dense import links, one_step, step_matrix
from tests.papers.heirich.meshes import schedules

MESH = Mesh((8, 8, 8))
SMALL = Schedule.every(0.1, 3)
T = np.linspace(-1, 1, 20001)[:-1]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.sampled_from(Boundary), st.floats(0.11, 50))
def test_the_best_of_two_scales_is_stable_and_no_worse(
    sides: list[int], boundary: Boundary, large: float
) -> None:
    mesh = Mesh(tuple(sides), boundary)
    small, found = Schedule.every(0.1, len(sides)), two_scales(mesh, 0.1, large)
    assert np.abs(found.gains(T)).max() < 1
    assert found.rate(mesh) / found.iterations >= small.rate(mesh) / small.iterations
    assert {step.alpha for step in found.steps} <= {0.1, large}


@pytest.mark.parametrize(("large", "times"), [(1.0, 3.3), (4.0, 5.9)])
def test_it_takes_a_fraction_of_the_inner_iterations(large: float, times: float) -> None:
    found = two_scales(MESH, 0.1, large)
    gained = (found.rate(MESH) / found.iterations) / (SMALL.rate(MESH) / SMALL.iterations)
    assert gained > times


def test_it_is_simulated_to_be_so() -> None:
    """From the slowest mode, by as many inner iterations of both."""
    work = 10 + np.broadcast_to(np.cos(np.pi * (np.arange(8) + 0.5) / 8), (8, 8, 8))
    large = two_scales(MESH, 0.1, 4.0)
    found = []
    for schedule in (SMALL, large):
        diffusion = Diffusion(MESH, work, schedule)
        diffusion.advance(3 * large.iterations // schedule.iterations)
        found.append(discrepancy(diffusion.work))
    assert found[1] < found[0] / 5


def test_high_modes_are_corrected_and_work_is_conserved() -> None:
    work = np.zeros((8, 8, 8))
    work[4, 4, 4] = 1e6
    diffusion = Diffusion(MESH, work, two_scales(MESH, 0.1, 4.0))
    diffusion.advance(20)
    assert discrepancy(diffusion.work) < 1e-3
    assert diffusion.work.sum() == 1e6


@pytest.mark.parametrize("boundary", Boundary)
@pytest.mark.parametrize("sides", [(9,), (4, 5), (3, 2, 4), (2,), (1, 3)])
def test_the_rate_bounds_all_modes_of_the_mesh(sides: tuple[int, ...], boundary: Boundary) -> None:
    mesh = Mesh(sides, boundary)
    schedule = two_scales(mesh, 0.1, 2.0)
    modes = np.sort(np.abs(np.linalg.eigvalsh(step_matrix(mesh, schedule, links(mesh)))))
    assert modes[-1] == pytest.approx(1)
    assert modes[-2] <= np.exp(-schedule.rate(mesh)) + 1e-12


@settings(deadline=None)
@given(schedules(2))
def test_the_norm_never_exceeds_its_peak_within_a_cycle(schedule: Schedule) -> None:
    mesh = Mesh((4, 4), Boundary.PERIODIC)
    work = np.indices((4, 4)).sum(axis=0) % 2 * 1.0
    amounts = work.ravel()
    for step in schedule.steps:
        amounts = one_step(mesh, step, links(mesh)) @ amounts
        assert np.linalg.norm(amounts) <= schedule.peak * np.linalg.norm(work) + 1e-9
    assert schedule.peak >= 1


def test_a_single_processor_has_nothing_to_balance() -> None:
    mesh = Mesh((1, 1, 1))
    assert two_scales(mesh, 0.1, 3.0) == SMALL
    assert SMALL.rate(mesh) == inf


def test_schedules_by_which_a_mode_grows_are_refused() -> None:
    with pytest.raises(ValueError, match="expected steps by which no mode grows, found one multiplied by"):
        Schedule((DiffusionStep(2.0, 3, 3), DiffusionStep.stable(0.1, 3)))


@pytest.mark.parametrize("steps", [(), (DiffusionStep(0.1, 2, 2), DiffusionStep(0.1, 3, 3))])
def test_schedules_are_of_steps_of_the_same_dimensions(steps: tuple[DiffusionStep, ...]) -> None:
    with pytest.raises(ValueError, match="expected one step or more, of the same dimensions"):
        Schedule(steps)


@pytest.mark.parametrize("large", [0.1, 0.01, inf, nan])
def test_the_large_step_is_the_larger_one(large: float) -> None:
    with pytest.raises(ValueError, match=r"expected a large step above the 0\.1 .*found"):
        two_scales(MESH, 0.1, large)


def test_what_corrects_must_be_stable_itself() -> None:
    with pytest.raises(ValueError, match=r"expected alpha below 0\.3065"):
        two_scales(MESH, 0.5, 2.0)
