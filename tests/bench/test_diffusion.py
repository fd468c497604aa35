"""What the benchmark of diffusion simulates, on small meshes."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.core.diffusion import Diffusion, Mesh
from dlbrt.core.diffusion.lattice import Floats

from tests.bench import diffusion
from tests.bench.diffusion import TENTH


def test_the_plain_step_is_the_same_step() -> None:
    work = np.random.default_rng(3).uniform(0, 100, (6, 6, 6))
    exact = Diffusion(Mesh((6, 6, 6)), work, TENTH)
    exact.advance(5)
    assert diffusion.plain(work, 5) == pytest.approx(exact.work)


def test_large_loads_fall_faster_than_they_come_and_soon_after_the_last() -> None:
    """After 60 of them less than the largest load is above the mean, and a hundred exchanges later little."""
    frames: list[Floats] = []
    found = diffusion.injection(12, 1, frames, injections=60)
    assert found == diffusion.injection(12, 1, injections=60)
    assert found.exchanged < found.injected < diffusion.LARGEST
    assert found.quiet < found.injected / 20
    assert [frame.shape for frame in frames] == [(12, 12)]


def test_a_thicker_shock_lasts_longer() -> None:
    """Of a thin one, high spatial frequencies are most, which go first."""
    steps = [diffusion.shock(24, thickness, patience=200).steps for thickness in (1.0, 2.0)]
    assert 0 < steps[0] < steps[1]
    assert diffusion.shock(24, 1.0, patience=3).steps == 0


def test_the_shell_is_twice_the_work_in_few_places() -> None:
    work = diffusion.shell(60, 1.0)
    assert set(np.unique(work)) == {1.0, 2.0}
    assert 0.005 < (work - 1).mean() < 0.05


def test_a_large_step_saves_inner_iterations_and_exchanges() -> None:
    found = diffusion.scales(8, 4.0)
    assert found.iterations > 5
    assert found.exchanges > 5


def test_times_are_told_for_all_ways() -> None:
    found = diffusion.timings(5, 16)
    assert [one.what for one in found] == ["plain", "divisible", "whole units"]
    assert [one.steps for one in found] == [1, 16, 1]
    assert {one.processors for one in found} == {125}
