"""A million points on one of 512 processors: Heirich and Taylor, section 5.2, figures 2 (left) and 4.

    python -m papers.heirich.point [--small] [--plot FILE]

A mesh of 8 x 8 x 8 with ends, alpha = .1, three inner iterations. The paper's figures come out if work is
moved by fluxes, alpha (v - v') over each link, and beyond an end stands a processor's own value; with the
formulas as printed a million points become 1 492 711. `--small` ends after 162 steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule, UnitDiffusion, discrepancy
from papers.heirich.report import NONE, Row, figure, parsed, parser, show

MESH = Mesh((8, 8, 8))
TENTH = Schedule.every(0.1, 3)
POINTS = 10**6
STEPS, FEW = 520, 162


def start() -> Floats:
    """All points on one processor of the middle."""
    work = np.zeros(MESH.sides)
    work[4, 4, 4] = POINTS
    return work


def course(steps: int) -> tuple[list[float], float]:
    """The worst discrepancy after 0, 1 .. steps, and all points in the end."""
    diffusion = Diffusion(MESH, start(), TENTH)
    found = [discrepancy(diffusion.work)]
    for _ in range(steps):
        diffusion.advance()
        found.append(discrepancy(diffusion.work))
    return found, float(diffusion.work.sum())


def first(found: Sequence[float], most: float) -> int:
    """The first step after which no more is left."""
    return next(step for step, left in enumerate(found) if left <= most)


def rows(found: Sequence[float], total: float) -> Iterator[Row]:
    """What the paper says of these steps."""
    yield Row("reduced by, after 6 steps", "90 %", "89.85 %", f"{100 * (1 - found[6] / POINTS):.2f} %")
    yield Row("steps to a tenth", "6", "7", str(first(found, POINTS / 10)))
    yield Row("points from the average, after 59 steps", "999", "999.54", f"{found[59]:.2f}")
    yield Row("after 162 steps", "200", "199.23", f"{found[162]:.2f}")
    yield Row("steps to 200 points", "162", "162", str(first(found, 200)))
    if len(found) > STEPS:
        yield Row("after 500 steps", "1", "1.168", f"{found[500]:.3f}")
        yield Row("steps to 1 point", "500", "511", str(first(found, 1)))
        yield from in_units()
    yield Row("points in the end", str(POINTS), str(POINTS), f"{total:.0f}")


def in_units() -> Iterator[Row]:
    """The same with points that are whole, remainders carried by links."""
    diffusion = UnitDiffusion(MESH, start(), TENTH)
    for steps, known in ((500, "3.9"), (1000, "3.1")):
        diffusion.advance(500)
        yield Row(f"whole points, after {steps} steps", NONE, known, f"{discrepancy(diffusion.units):.1f}")


def draw(found: Sequence[float], path: str) -> None:
    """As figure 2, left."""
    drawn = figure(7, 5)
    axes = drawn.add_subplot()
    axes.semilogy(found)
    axes.set(xlabel="exchange steps", ylabel="points from the average", title="a point on 512 processors")
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parsed(parser(__doc__))
    found, total = course(FEW if options.small else STEPS)
    show("a point disturbance on 512 processors", list(rows(found, total)))
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
