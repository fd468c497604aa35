"""Divisible work on processors of different speeds, all at once: as the ranks do it one by one."""

from __future__ import annotations

from itertools import product
from math import fsum, inf

import numpy as np
import pytest
from dlbrt.data.layout import Floats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from papers.heirich import Boundary, Diffusion, DiffusionStep, HeterogeneousDiffusion, Mesh, Schedule

from tests.dlbrt.diffusion.test_uneven import Chain
from tests.papers.heirich.dense import links
from tests.papers.heirich.meshes import Case, cases


def drawn_speeds(data: st.DataObject, mesh: Mesh) -> Floats:
    return data.draw(arrays.arrays(np.float64, mesh.sides, elements=st.floats(0.1, 10)))


def defined(mesh: Mesh, speeds: Floats, step: DiffusionStep) -> Floats:
    """What a step does to amounts, as a matrix, from links and speeds."""
    n, s = mesh.processors, speeds.ravel()
    laplacian = np.zeros((n, n))
    for i, j in links(mesh):
        laplacian[[i, j], [i, j]] += step.alpha * min(s[i], s[j])
        laplacian[[i, j], [j, i]] -= step.alpha * min(s[i], s[j])
    inner = np.diag(1 / s)
    for _ in range(step.iterations):
        inner = (np.diag(1 / s) + step.y * inner - (laplacian @ inner) / s[:, None]) / (1 + step.y)
    found: Floats = np.eye(n) - laplacian @ inner
    return found


@settings(deadline=None)
@given(cases(), st.data())
def test_a_cycle_is_what_the_definition_says(case: Case, data: st.DataObject) -> None:
    speeds = drawn_speeds(data, case.mesh)
    diffusion = HeterogeneousDiffusion(case.mesh, case.work, speeds, case.schedule)
    diffusion.advance()
    expected = case.work.ravel()
    for step in case.schedule.steps:
        expected = defined(case.mesh, speeds, step) @ expected
    slack = 1e-9 * (1 + case.work.sum())
    assert diffusion.work.ravel() == pytest.approx(expected, rel=1e-8, abs=slack)


@settings(deadline=None)
@given(cases(), st.data(), st.integers(1, 20))
def test_work_is_conserved_to_the_last_bit(case: Case, data: st.DataObject, cycles: int) -> None:
    diffusion = HeterogeneousDiffusion(case.mesh, case.work, drawn_speeds(data, case.mesh), case.schedule)
    before = diffusion.work
    diffusion.advance(cycles)
    assert fsum(diffusion.work.ravel()) == fsum(before.ravel())
    assert (np.abs(before - case.work) <= diffusion.grain).all()


@settings(deadline=None)
@given(cases(), st.floats(0.1, 10))
def test_between_equal_speeds_it_is_the_diffusion_of_work(case: Case, speed: float) -> None:
    speeds = np.full(case.mesh.sides, speed)
    paced = HeterogeneousDiffusion(case.mesh, case.work, speeds, case.schedule)
    plain = Diffusion(case.mesh, case.work, case.schedule)
    paced.advance(2)
    plain.advance(2)
    assert paced.work == pytest.approx(plain.work, rel=1e-9, abs=1e-9 * (1 + case.work.sum()))


def test_on_a_chain_it_is_what_ranks_do_that_know_their_neighbours_alone() -> None:
    draw = np.random.default_rng(4)
    work, speeds = draw.uniform(0, 1000, 9), draw.uniform(1, 4, 9)
    ranks = Chain(work.tolist(), speeds.tolist(), DiffusionStep.stable(0.3, 1))
    mesh = HeterogeneousDiffusion(Mesh((9,)), work, speeds, Schedule.every(0.3, 1))
    for _ in range(5):
        ranks.advance_divisible()
    mesh.advance(5)
    assert ranks.work == pytest.approx(mesh.work.tolist())


@pytest.mark.parametrize(("sides", "boundary"), list(product([(20,), (7, 5), (4, 3, 5)], Boundary)))
def test_all_end_at_the_same_time(sides: tuple[int, ...], boundary: Boundary) -> None:
    draw = np.random.default_rng(3)
    work, speeds = draw.uniform(0, 1000, sides), draw.uniform(1, 4, sides)
    diffusion = HeterogeneousDiffusion(Mesh(sides, boundary), work, speeds, Schedule.every(0.15, len(sides)))
    diffusion.advance(30 * max(sides) ** 2)
    assert diffusion.times == pytest.approx(np.full(sides, work.sum() / speeds.sum()), rel=1e-3)
    assert diffusion.work == pytest.approx(speeds * work.sum() / speeds.sum(), rel=1e-3)


@pytest.mark.parametrize(
    ("speeds", "words"),
    [([1.0, 0.0], "speeds above 0"), ([1.0, inf], "finite"), ([1.0, -1.0], "0 or more"), ([1.0], "shape")],
)
def test_bad_speeds_are_refused(speeds: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=f"expected .*{words}"):
        HeterogeneousDiffusion(Mesh((2,)), [1.0, 1.0], speeds, Schedule.every(0.1, 1))
