"""A part of the domain is balanced while the rest works on: Heirich and Taylor, section 6.

    python -m papers.heirich.partial [--small] [--plot FILE]

The grid is refined along a shock as in `bow_shock.py`, and only processors in a box around the nose of it
take part. Outside nothing may change, inside all becomes equal. The paper tells the idea and no numbers.
`--small` is 40 x 40 x 40.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import NDArray

from papers.heirich import Diffusion, Mesh, Schedule
from papers.heirich.bow_shock import shell
from papers.heirich.report import NONE, Row, figure, parsed, parser, show

TENTH = Schedule.every(0.1, 3)
SIDE, STEPS = 100, 400


@dataclass(frozen=True)
class Part:
    """What is left of the part's worst discrepancy after 0, 1 .. steps, and what happened elsewhere."""

    left: tuple[float, ...]
    processors: int
    changed: int
    lost: float
    before: Floats
    after: Floats


def box(side: int) -> NDArray[np.bool_]:
    """The middle of the domain before and behind the nose of the shock."""
    inside = np.zeros((side,) * 3, bool)
    inside[side // 10 : 3 * side // 10, 2 * side // 5 : 3 * side // 5, 2 * side // 5 : 3 * side // 5] = True
    return inside


def balanced(side: int, steps: int) -> Part:
    """So many steps of the part alone."""
    load, part = shell(side, 2.0), box(side)
    diffusion = Diffusion(Mesh(load.shape), load, TENTH, part=part)
    begin = diffusion.work
    left = [worst(begin[part])]
    for _ in range(steps):
        diffusion.advance()
        left.append(worst(diffusion.work[part]))
    end, plane = diffusion.work, np.s_[:, :, side // 2]
    changed = int((end[~part] != begin[~part]).sum())
    lost = abs(float(end.sum() - begin.sum()))
    return Part(
        tuple(each / left[0] for each in left), int(part.sum()), changed, lost, begin[plane], end[plane]
    )


def worst(load: Floats) -> float:
    return float(np.abs(load - load.mean()).max())


def rows(side: int, found: Part) -> Iterator[Row]:
    yield Row("processors that take part", NONE, NONE, f"{found.processors} of {side**3}")
    tenth = next((step for step, left in enumerate(found.left) if left <= 0.1), None)
    yield Row(
        "steps to a tenth, within the part",
        NONE,
        NONE,
        f"> {len(found.left) - 1}" if tenth is None else str(tenth),
    )
    yield Row(f"left after {len(found.left) - 1} steps", NONE, NONE, f"{100 * found.left[-1]:.3f} %")
    yield Row("processors elsewhere whose load changed", "0", NONE, str(found.changed))
    yield Row("load lost", NONE, "0", f"{found.lost:g}")


def draw(found: Part, path: str) -> None:
    """The middle plane before and after, and the course."""
    drawn = figure(10, 3.5)
    for place, (title, plane) in enumerate((("before", found.before), ("after", found.after)), start=1):
        axes = drawn.add_subplot(1, 3, place)
        axes.imshow(plane, vmin=1.0, vmax=2.0)
        axes.set(title=title, xticks=[], yticks=[])
    axes = drawn.add_subplot(1, 3, 3)
    axes.semilogy(found.left)
    axes.set(xlabel="exchange steps", ylabel="left of the worst discrepancy", title="within the part")
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parsed(parser(__doc__))
    side = 40 if options.small else SIDE
    found = balanced(side, STEPS)
    show(f"a part of {side**3} processors", list(rows(side, found)))
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
