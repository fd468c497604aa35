"""An unstructured grid on one processor is spread so that adjacency is preserved: sections 5.2 and 6.

    python -m papers.heirich.unstructured [--small] [--plot FILE]

The paper loads a million points of an unstructured grid onto one of 512 processors, and lets each exchange
choose points "such that average pairwise distance among all points is minimal"; its figures are of loads
alone. Here are cells of a cube, moved at random, joined to their neighbours and some of them across corners,
numbered at random: 64 000 on 8 x 8 x 8 processors. What is told is how many edges are cut between processors,
beside a cut into cubes, and how many parts are in one piece. `--small` is 4 096 cells on 27 processors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from papers.heirich import GraphDomain, Mesh, Parts, Schedule, UnitDiffusion, discrepancy, follow
from papers.heirich.report import NONE, Row, figure, parsed, parser, show

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


def rows(found: Spread) -> Iterator[Row]:
    last = len(found.left) - 1
    reduced = f"{100 * (1 - found.left[6] / found.left[0]):.1f} %"
    yield Row("reduced by, after 6 steps", "90 %", NONE, reduced)
    yield Row(f"cells from the average, after {last} steps", "1", NONE, f"{found.left[-1]:.1f}")
    yield Row("cells that were to go and did not", NONE, "0", str(found.owed))
    yield Row("edges between processors, in the end", NONE, NONE, str(found.cut[-1]))
    yield Row("by a cut into cubes", NONE, NONE, str(found.cubes))
    yield Row("times those of cubes", NONE, NONE, f"{found.cut[-1] / found.cubes:.2f}")
    whole = sum(pieces == 1 for pieces in found.pieces)
    yield Row("parts in one piece", NONE, NONE, f"{whole} of {len(found.pieces)}")


def draw(found: Spread, path: str) -> None:
    """The middle of the grid by processors, and the course."""
    drawn = figure(11, 5)
    places = np.array(found.parts.domain.places)
    middle = np.abs(places[:, 0] - 0.5) < 0.1
    axes = drawn.add_subplot(1, 2, 1)
    _, j, k = np.unravel_index(np.array(found.parts.owners)[middle], found.sides)
    axes.scatter(places[middle, 1], places[middle, 2], c=j % 3 * 3 + k % 3, s=6, cmap="tab10")
    axes.set(title="cells of the middle, by processors", xticks=[], yticks=[], aspect="equal")
    axes = drawn.add_subplot(1, 2, 2)
    axes.semilogy(found.left, label="cells from the average")
    axes.semilogy([max(1, each) for each in found.cut], label="edges between processors")
    axes.axhline(found.cubes, linestyle="--", color="grey", label="edges between cubes")
    axes.set(xlabel="exchange steps")
    axes.legend()
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parsed(parser(__doc__))
    side, across = (16, 3) if options.small else (40, 8)
    found = spread(side, across, 60 if options.small else STEPS)
    show(f"{side**3} cells of an unstructured grid, from one of {across**3} processors", list(rows(found)))
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
