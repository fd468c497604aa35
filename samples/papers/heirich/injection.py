"""Large loads at random places of a million processors: Heirich and Taylor, section 5.3, figure 5.

    python -m papers.heirich.injection [--seeds N] [--small] [--plot FILE]

Processors begin with a load of 1 each. 700 times a processor at random gets up to 60 000 times as much, and
an exchange step follows; then 100 steps without. What is told is the largest load above the mean, in initial
loads, just after the last injection, an exchange later, and after the quiet steps: the first two are mostly
what was injected last, so one sample says little. Draws are numpy's, by seeds 0, 1 .. `--small` is 60
injections on 12 x 12 x 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich import Diffusion, Mesh, Schedule
from papers.heirich.report import NONE, Row, figure, parsed, parser, show

TENTH = Schedule.every(0.1, 3)
SIDE, INJECTIONS = 100, 700
LARGEST = 60_000.0
QUIET = 100
EVERY = 100  # steps between the frames of the figure


@dataclass(frozen=True)
class Injection:
    """The largest load above the mean, and what stands in the middle plane every so many steps."""

    injected: float
    exchanged: float
    quiet: float
    conserved: bool
    frames: tuple[Floats, ...]


def above(diffusion: Diffusion) -> float:
    work = diffusion.work
    return float(work.max() - work.mean())


def injection(side: int, seed: int, injections: int) -> Injection:
    """The paper's case on side^3 processors."""
    draw, mesh, frames = np.random.default_rng(seed), Mesh((side,) * 3), list[Floats]()
    diffusion = Diffusion(mesh, np.ones(mesh.sides), TENTH, most=side**3 + injections * LARGEST)
    total = float(side**3)
    for number in range(injections):
        x, y, z = draw.integers(0, side, 3).tolist()
        total += diffusion.inject((x, y, z), draw.uniform(0, LARGEST))
        injected = above(diffusion)
        diffusion.advance()
        if number % EVERY == EVERY - 1:
            frames.append(diffusion.work[side // 2])
    exchanged = above(diffusion)
    diffusion.advance(QUIET)
    frames.append(diffusion.work[side // 2])
    return Injection(
        injected, exchanged, above(diffusion), float(diffusion.work.sum()) == total, tuple(frames)
    )


def rows(side: int, found: list[Injection]) -> Iterator[Row]:
    paper = side == SIDE
    for seed, one in enumerate(found):
        known = ("20787..49279", "14045..33642", "51.7..76, once 224") if paper else (NONE,) * 3
        yield Row(f"seed {seed}: after the last injection", "15737", known[0], f"{one.injected:.0f}")
        yield Row("an exchange later", NONE, known[1], f"{one.exchanged:.0f}")
        yield Row(f"{QUIET} exchanges later", "50", known[2], f"{one.quiet:.1f}")
        yield Row("the sum is the start and the injections", NONE, NONE, "yes" if one.conserved else "no")


def draw(frames: Sequence[Floats], path: str) -> None:
    """As figure 5: middle planes, colours by each."""
    columns = ceil(len(frames) / 2)
    drawn = figure(3 * columns, 6.8)
    for place, frame in enumerate(frames, start=1):
        axes = drawn.add_subplot(2, columns, place)
        axes.imshow(frame)
        last = place == len(frames)
        axes.set(
            title=f"{QUIET} quiet steps" if last else f"{EVERY * place} injections", xticks=[], yticks=[]
        )
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=1, metavar="N", help="so many samples (1)")
    asked = parsed(options)
    side, injections = (12, 60) if asked.small else (SIDE, INJECTIONS)
    found = [injection(side, seed, injections) for seed in range(asked.seeds)]
    show(f"{injections} random injections on {side**3} processors", list(rows(side, found)))
    if asked.plot:
        draw(found[0].frames, asked.plot)


if __name__ == "__main__":
    main()
