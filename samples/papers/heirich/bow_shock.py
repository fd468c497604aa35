"""A grid refined along a bow shock, on a million processors: Heirich and Taylor, section 5.1, figures 2, 3.

    python -m papers.heirich.bow_shock [--small] [--plot FILE]

The load is 1 everywhere and 2 where the shock is: in the outer of the paraboloid shells before a body and
two boosters beside it. The paper does not say how thick the shell is, and its 170 steps until a tenth of the
disturbance is left depend on that: the thinner, the more of it is in high spatial frequencies, which go
first. So here are shells of 1, 1.3 and 2 processors, with at most 400 steps; what was recomputed is of a
front of another shape. `--small` is 24 x 24 x 24.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule, discrepancy
from papers.heirich.report import NONE, Row, figure, parsed, parser, show

TENTH = Schedule.every(0.1, 3)
SIDE, PATIENCE = 100, 400
FRAMES = (0, 10, 40, 70)

#: Thicknesses in processors, and after how many steps a tenth is left.
KNOWN = {1.0: "131", 1.3: "200", 2.0: "> 400"}


@dataclass(frozen=True)
class Shock:
    """What is left of the worst discrepancy after 0, 1 .. steps, middle planes by steps, the load lost."""

    thickness: float
    left: tuple[float, ...]
    frames: dict[int, Floats]
    lost: float


def shell(side: int, thickness: float) -> Floats:
    """The load: 1, and 2 in the shell."""
    x, y, z = (np.indices((side,) * 3) + 0.5) / side
    fronts = []
    for nose, middle, curve in ((0.2, 0.5, 1.6), (0.27, 0.2, 2.4), (0.27, 0.8, 2.4)):
        across = (y - middle) ** 2 + (z - 0.5) ** 2
        fronts.append((x - nose - curve * across) / np.sqrt(1 + 4 * curve**2 * across))
    distance: Floats = side * np.max(fronts, axis=0)
    return np.where(np.abs(distance) <= thickness / 2, 2.0, 1.0)


def shock(side: int, thickness: float, patience: int = PATIENCE) -> Shock:
    """Until a tenth is left, and for 70 steps at least."""
    load = shell(side, thickness)
    diffusion, first = Diffusion(Mesh(load.shape), load, TENTH), discrepancy(load)
    left, frames = [1.0], {0: load[:, :, side // 2]}
    while len(left) <= FRAMES[-1] or (left[-1] > 0.1 and len(left) <= patience):
        diffusion.advance()
        left.append(discrepancy(diffusion.work) / first)
        if len(left) - 1 in FRAMES:
            frames[len(left) - 1] = diffusion.work[:, :, side // 2]
    return Shock(thickness, tuple(left), frames, float(load.sum() - diffusion.work.sum()))


def steps(found: Shock) -> str:
    """Until a tenth is left."""
    return str(next((step for step, left in enumerate(found.left) if left <= 0.1), f"> {PATIENCE}"))


def rows(side: int, found: Sequence[Shock]) -> Iterator[Row]:
    for one in found:
        known = KNOWN[one.thickness] if side == SIDE else NONE
        yield Row(f"shell of {one.thickness}: steps to a tenth", "170", known, steps(one))
        yield Row("left after 10 steps", "dramatically less", NONE, f"{100 * one.left[10]:.1f} %")
        yield Row("left after 70 steps", "scarcely visible", NONE, f"{100 * one.left[70]:.1f} %")
        yield Row("load lost", NONE, "0", f"{abs(one.lost):g}")


def draw(found: Sequence[Shock], path: str) -> None:
    """As figure 3 above, as figure 2 (right) below."""
    drawn = figure(3 * len(FRAMES), 6.5)
    grid = drawn.add_gridspec(2, len(FRAMES))
    for place, (step, frame) in enumerate(found[0].frames.items()):
        axes = drawn.add_subplot(grid[0, place])
        axes.imshow(frame, vmin=1.0, vmax=2.0)
        axes.set(title=f"{step} steps", xticks=[], yticks=[])
    axes = drawn.add_subplot(grid[1, :])
    for one in found:
        axes.semilogy(one.left, label=f"shell of {one.thickness} processors")
    axes.set(xlabel="exchange steps", ylabel="left of the worst discrepancy")
    axes.legend()
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parsed(parser(__doc__))
    side = 24 if options.small else SIDE
    found = [shock(side, thickness) for thickness in KNOWN]
    show(f"a bow shock on {side**3} processors", list(rows(side, found)))
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
