"""Whole units: none is lost, none is owed by who has none, and remainders bring them close to the average."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import Boundary, Mesh, Schedule, UnitDiffusion, discrepancy, two_scales
from papers.heirich.units import IntegerArray

from tests.papers.heirich.dense import links
from tests.papers.heirich.meshes import Case, cases

MESH = Mesh((8, 8, 8))


def million() -> IntegerArray:
    units = np.zeros((8, 8, 8), np.int64)
    units[4, 4, 4] = 10**6
    return units


def test_a_million_points_come_within_four_of_the_average() -> None:
    """Without remainders they stay about 45 away."""
    diffusion = UnitDiffusion(MESH, million(), Schedule.every(0.1, 3))
    diffusion.advance(500)
    assert discrepancy(diffusion.units) == pytest.approx(3.9, abs=0.05)
    diffusion.advance(500)
    assert discrepancy(diffusion.units) == pytest.approx(3.1, abs=0.05)
    assert diffusion.units.sum() == 10**6


def test_rounding_each_flux_by_itself_stalls() -> None:
    diffusion = UnitDiffusion(MESH, million(), Schedule.every(0.1, 3))
    for _ in range(600):
        diffusion.advance()
        for links_along in diffusion._links:
            links_along.carried.fill(0)
    stalled = diffusion.units
    assert discrepancy(stalled) == pytest.approx(45, abs=1)
    assert max(np.abs(np.diff(stalled, axis=axis)).max() for axis in range(3)) <= 6
    assert not any(flow.any() for flow in diffusion.advance())


def test_remainders_are_what_brings_them_there() -> None:
    mesh = Mesh((2,))
    diffusion = UnitDiffusion(mesh, [104, 100], Schedule.every(0.1, 1))
    flows = [int(diffusion.advance()[0][0]) for _ in range(30)]
    assert flows[0] == 0
    assert sum(flows) == 2
    assert diffusion.units.tolist() == [102, 102]


@settings(deadline=None)
@given(cases(whole=True), st.integers(1, 8), st.integers(1, 4))
def test_units_are_conserved_and_never_negative(case: Case, cycles: int, rounds: int) -> None:
    diffusion = UnitDiffusion(case.mesh, case.work, case.schedule, part=case.part, rounds=rounds)
    for _ in range(cycles):
        diffusion.advance()
        assert diffusion.units.sum() == case.work.sum()
        assert diffusion.units.min() >= 0
        assert all((np.abs(left) <= 0.5).all() for left in diffusion.remainders)
    if case.part is not None:
        assert (diffusion.units[~case.part] == case.work[~case.part]).all()


@settings(deadline=None)
@given(cases(whole=True), st.integers(1, 3))
def test_flows_say_what_has_moved_over_which_link(case: Case, rounds: int) -> None:
    diffusion = UnitDiffusion(case.mesh, case.work, case.schedule, part=case.part, rounds=rounds)
    numbers = np.arange(case.mesh.processors).reshape(case.mesh.sides)
    for _ in range(3):
        before = diffusion.units
        after = before.reshape(-1).copy()
        flows = diffusion.advance()
        seen = []
        for axis, flow in enumerate(flows):
            assert flow.shape == case.mesh.links_along(axis)
            ends = np.roll(numbers, -1, axis)
            for place in np.ndindex(flow.shape):
                seen.append((int(numbers[place]), int(ends[place])))
                after[seen[-1][0]] -= flow[place]
                after[seen[-1][1]] += flow[place]
        assert sorted(seen) == sorted(links(case.mesh))
        assert (diffusion.units.reshape(-1) == after).all()


@settings(deadline=None)
@given(cases(whole=True))
def test_in_one_round_nobody_gives_more_than_it_had(case: Case) -> None:
    diffusion = UnitDiffusion(case.mesh, case.work, case.schedule, part=case.part)
    for _ in range(4):
        before = diffusion.units
        given = np.zeros(case.mesh.sides, np.int64)
        for axis, flow in enumerate(diffusion.advance()):
            for place in np.ndindex(flow.shape):
                end = list(place)
                end[axis] = (end[axis] + 1) % case.mesh.sides[axis]
                given[place if flow[place] > 0 else tuple(end)] += abs(flow[place])
        assert (given <= before).all()


def test_rounds_carry_a_cycle_of_large_fluxes_further() -> None:
    """After a large step a flux is more than who is on its way has."""
    schedule = two_scales(MESH, 0.1, 4.0)
    found = []
    for rounds in (1, 8):
        diffusion = UnitDiffusion(MESH, million(), schedule, rounds=rounds)
        diffusion.advance(4)
        found.append(discrepancy(diffusion.units))
        diffusion.advance(20)
        assert discrepancy(diffusion.units) < 6
        assert diffusion.units.sum() == 10**6
    assert found[1] < found[0] / 10


def test_rounding_does_not_take_from_who_has_none() -> None:
    """Two links ask one unit of the same processor."""
    diffusion = UnitDiffusion(Mesh((3,)), [0, 1, 0], Schedule.every(0.4, 1))
    for _ in range(40):
        diffusion.advance()
        assert diffusion.units.min() >= 0
        assert diffusion.units.sum() == 1


@pytest.mark.parametrize("boundary", Boundary)
def test_all_of_any_mesh_come_close(boundary: Boundary) -> None:
    units = np.random.default_rng(5).integers(0, 1000, (5, 2, 3))
    diffusion = UnitDiffusion(Mesh((5, 2, 3), boundary), units, Schedule.every(0.15, 3))
    diffusion.advance(500)
    assert diffusion.units.sum() == units.sum()
    assert discrepancy(diffusion.units) < 4


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ([1.5, 1], "whole units, found 1.5"),
        ([2**52, 2**53], "at most"),
        ([-1, 1], "0 or more"),
        ([1], "shape"),
    ],
)
def test_bad_units_are_refused(units: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=f"expected .*{words}"):
        UnitDiffusion(Mesh((2,)), units, Schedule.every(0.1, 1))


def test_there_is_a_round() -> None:
    with pytest.raises(ValueError, match="expected 1 round of exchange or more, found 0"):
        UnitDiffusion(Mesh((2,)), [1, 1], Schedule.every(0.1, 1), rounds=0)
