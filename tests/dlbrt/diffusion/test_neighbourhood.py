"""Who is next to whom, for any number of ranks."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import pytest
from dlbrt.balance.actions import Send, SendWork
from dlbrt.balance.messages import LoadReport
from dlbrt.balance.strategies import strategy
from dlbrt.diffusion.neighbourhood import Neighbourhood
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.predict.network import Network
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from papers.heirich import DiffusionStep

RANKS = (*range(1, 40), 61, 64, 100, 127, 1000)


def neighbourhoods(ranks: int) -> tuple[Neighbourhood, Neighbourhood]:
    return Neighbourhood.chain(ranks), Neighbourhood.box(ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_who_is_a_neighbour_has_one(ranks: int) -> None:
    for found in neighbourhoods(ranks):
        near = [found.of(rank) for rank in range(ranks)]
        for rank, others in enumerate(near):
            assert list(others) == sorted(set(others) - {rank})
            assert all(rank in near[other] for other in others)
            assert len(others) <= 2 * len(found.sides)


@pytest.mark.parametrize("ranks", RANKS)
def test_all_are_connected(ranks: int) -> None:
    for found in neighbourhoods(ranks):
        assert all(min(found.of(rank)) < rank for rank in range(1, ranks))


@pytest.mark.parametrize("ranks", RANKS)
def test_lines_are_made_of_neighbours(ranks: int) -> None:
    """Each link once, each rank once along each axis."""
    for found in neighbourhoods(ranks):
        links = []
        for axis in found.lines():
            assert sorted(rank for line in axis for rank in line) == list(range(ranks))
            links += [pair for line in axis for pair in pairwise(line)]
        assert sorted(links) == [(r, other) for r in range(ranks) for other in found.of(r) if other > r]


@pytest.mark.parametrize("ranks", RANKS)
def test_a_box_is_as_short_as_can_be(ranks: int) -> None:
    """No longer than the root says, and no row of places is empty."""
    sides = Neighbourhood.box(ranks).sides
    assert list(sides) == sorted(sides, reverse=True)
    assert prod(sides) >= ranks > (sides[0] - 1) ** len(sides)
    assert 1 not in sides or ranks == 1


def test_steps_are_stable_and_positive() -> None:
    found = {each.step for ranks in RANKS for each in neighbourhoods(ranks)}
    steps = [DiffusionStep(each.alpha, each.dimensions, each.iterations) for each in found]
    assert {step.dimensions for step in steps} == {1, 2, 3}
    assert all(step.is_stable and step.is_positive for step in steps)


def spoken_to(iteration_bytes: float) -> set[tuple[int, int]]:
    """Who says levels or gives work to whom, 8 ranks being under random load."""
    machine = Machine((1.0,) * 8, Network.default(), LoadSpec(random=RandomLoad(5, 0.1, 3)))
    loop = LoopModel(400, 5e-3, iteration_bytes=iteration_bytes)
    trace = simulate(machine, loop, strategy("diffusion")).trace
    words = (
        (step.rank, target)
        for step in trace
        for action in step.actions
        if isinstance(action, Send) and isinstance(action.message, LoadReport)
        for target in action.targets
    )
    assignments = (
        (step.rank, action.target)
        for step in trace
        for action in step.actions
        if isinstance(action, SendWork)
    )
    found = set(assignments)
    assert found, "nothing was given"
    return found | set(words)


def test_units_with_data_move_along_a_chain() -> None:
    assert spoken_to(8.0) == {(r, s) for r in range(8) for s in Neighbourhood.chain(8).of(r)}


def test_units_without_data_move_in_a_box() -> None:
    assert spoken_to(0.0) == {(r, s) for r in range(8) for s in Neighbourhood.box(8).of(r)}
    assert Neighbourhood.box(8).sides == (2, 2, 2)
