"""What the benchmark of diffusion times, on small meshes."""

from __future__ import annotations

import numpy as np
import pytest
from papers.heirich import Diffusion, Mesh

from tests.bench import diffusion
from tests.bench.diffusion import TENTH


def test_the_plain_step_is_the_same_step() -> None:
    work = np.random.default_rng(3).uniform(0, 100, (6, 6, 6))
    exact = Diffusion(Mesh((6, 6, 6)), work, TENTH)
    exact.advance(5)
    assert diffusion.plain(work, 5) == pytest.approx(exact.work)


def test_times_are_told_for_all_ways() -> None:
    found = diffusion.timings(5, 16)
    assert [one.what for one in found] == ["plain", "divisible", "whole units"]
    assert [one.steps for one in found] == [1, 16, 1]
    assert {one.processors for one in found} == {125}
