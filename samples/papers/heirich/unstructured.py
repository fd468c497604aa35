"""An unstructured grid on one processor is spread so that adjacency is preserved: sections 5.2 and 6.

The paper loads a million points of an unstructured grid onto one of 512 processors, and lets each exchange
choose points "such that average pairwise distance among all points is minimal"; its figures are of loads
alone. Here are cells of a cube, moved at random, joined to their neighbours and some of them across corners,
numbered at random: 64 000 on 8 x 8 x 8 processors. What is told is how many edges are cut between processors,
beside a cut into cubes, and how many parts are in one piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from papers.heirich import GraphDomain, Mesh, Parts, Schedule, UnitDiffusion, discrepancy, follow

TENTH = Schedule.every(0.1, 3)
ACROSS = 0.2  # of the cells have a neighbour across a corner as well
STEPS = 500
LINKS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


@dataclass(frozen=True)
class Spread:
    """Loads, edges cut after 0, 1 .. steps, and what parts became."""

    left: tuple[float, ...]
    cut: tuple[int, ...]
    cubes: int
    pieces: tuple[int, ...]
    owed: int
    parts: Parts
    sides: tuple[int, ...]


def grid(side: int, seed: int) -> GraphDomain:
    """side^3 cells in a cube of side 1."""
    draw = np.random.default_rng(seed)
    number = draw.permutation(side**3).reshape((side,) * 3)
    edges = []
    for here in product(range(side), repeat=3):
        diagonal = [(1, 1, 1)] if draw.random() < ACROSS else []
        for by in LINKS + diagonal:
            there = tuple(a + b for a, b in zip(here, by, strict=True))
            if max(there) < side:
                edges.append((int(number[here]), int(number[there])))
    places = np.empty((side**3, 3))
    places[number.ravel()] = (
        np.indices((side,) * 3).reshape(3, -1).T + draw.uniform(0.2, 0.8, (side**3, 3))
    ) / side
    return GraphDomain.of_edges(edges, [1] * side**3, [tuple(place) for place in places.tolist()])


def cubes(domain: GraphDomain, across: int) -> list[int]:
    """The owners by a cut of the cube into cubes."""
    blocks = (np.array(domain.places) * across).astype(int)
    return [int(number) for number in blocks @ (across**2, across, 1)]


def spread(side: int, across: int, steps: int) -> Spread:
    """All cells on a processor of the middle at first."""
    domain, mesh = grid(side, 1), Mesh((across,) * 3)
    host = int(np.ravel_multi_index((across // 2,) * 3, mesh.sides))
    parts = Parts(domain, [host] * side**3)
    units = np.zeros(mesh.processors)
    units[host] = side**3
    diffusion = UnitDiffusion(mesh, units.reshape(mesh.sides), TENTH)
    left, cut, owed = [discrepancy(diffusion.units)], [parts.cut], 0
    for _ in range(steps):
        owed += follow(parts, mesh, diffusion.advance())
        left.append(discrepancy(diffusion.units))
        cut.append(parts.cut)
    pieces = tuple(parts.pieces(rank) for rank in range(mesh.processors))
    ideal = Parts(domain, cubes(domain, across)).cut
    return Spread(tuple(left), tuple(cut), ideal, pieces, owed, parts, mesh.sides)
