"""Parabolic diffusion: what steps take on a million processors, and the simulations of the paper.

    python tests/bench/diffusion.py [--side M] [--steps N] [--seeds N] [--plot DIRECTORY] [--json FILE]

Heirich and Taylor (Caltech CS-TR-94-13), alpha = .1, three inner iterations, meshes with ends. Times of a
step on M^3 processors (100 by default) are in seconds of this process, beside a plain step on whole arrays,
without the exact sums. Point: a million points on one of 512 processors. Injection: 700 times up to 60 000
times the average on a processor at random, an exchange after each, and a hundred exchanges more; the largest
amount above the mean. Bow shock: twice the work in a shell in front of a body and two boosters, of so many
processors thickness; steps until a tenth of the disturbance is left. Two scales: how many times fewer inner
iterations a large step with corrections takes. ``--plot`` draws figures like 1, 2, 3 and 5 (needs
matplotlib: the extra ``plot``).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.core.diffusion import (
    Diffusion,
    Mesh,
    Schedule,
    UnitDiffusion,
    discrepancy,
    tau,
    two_scales,
)
from dlbrt.core.diffusion.lattice import Floats
from dlbrt.core.diffusion.modes import tau_as_printed

ALPHA = 0.1
TENTH = Schedule.every(ALPHA, 3)

#: The paper's injections: how many, up to how many times the average, exchanges after the last.
INJECTIONS = 700
LARGEST = 60_000.0
QUIET = 100

#: Of whole units, and of the plain step, fewer are taken than of the others.
FEWER = 16

#: Thicknesses of the shell; steps that a shock is given.
SHELLS = (1.0, 1.3, 2.0)
PATIENCE = 400

#: Processors by exchange steps that the plots show.
POINT_STEPS = 512
FRAMES = (0, 10, 40, 70)


@dataclass(frozen=True)
class Timing:
    """Seconds of this process for so many steps, and a step's times those of a plain one."""

    what: str
    processors: int
    steps: int
    seconds: float
    ratio: float


@dataclass(frozen=True)
class Injection:
    """The largest amount above the mean: after the last injection, an exchange later, and a hundred later."""

    seed: int
    injected: float
    exchanged: float
    quiet: float


@dataclass(frozen=True)
class Shock:
    """Steps until a tenth is left; 0 stand for more than were waited for."""

    thickness: float
    steps: int


@dataclass(frozen=True)
class Scales:
    """How many times fewer inner iterations, and exchanges, the slowest mode takes with a large step."""

    side: int
    large: float
    iterations: float
    exchanges: float


def timings(side: int, steps: int) -> list[Timing]:
    """Divisible work, whole units, the plain step."""
    mesh = Mesh((side,) * 3)
    work = np.random.default_rng(1).integers(0, 2000, mesh.sides).astype(np.float64)
    divisible, whole = Diffusion(mesh, work, TENTH), UnitDiffusion(mesh, work, TENTH)
    few = max(1, steps // FEWER)
    baseline = _seconds(lambda: plain(work, few)) / few
    runs: list[tuple[str, int, Callable[[], object]]] = [
        ("plain", few, lambda: plain(work, few)),
        ("divisible", steps, lambda: divisible.advance(steps)),
        ("whole units", few, lambda: whole.advance(few)),
    ]
    found = []
    for what, count, run in runs:
        took = _seconds(run)
        found.append(Timing(what, mesh.processors, count, took, took / count / baseline))
    return found


def plain(work: Floats, steps: int) -> Floats:
    """As many steps as the formulas stand: ghosts by a copy, whole arrays, sums as they round."""
    u = work.copy()
    for _ in range(steps):
        v = u
        for _ in range(TENTH.iterations):
            v = (u + ALPHA * _around(v)) / (1 + 6 * ALPHA)
        u = u + ALPHA * (_around(v) - 6 * v)
    return u


def _around(v: Floats) -> Floats:
    found = np.zeros_like(v)
    for axis in range(v.ndim):
        ghosts = np.pad(v, [(1, 1) if each == axis else (0, 0) for each in range(v.ndim)], mode="edge")
        found += np.take(ghosts, range(v.shape[axis]), axis) + np.take(
            ghosts, range(2, v.shape[axis] + 2), axis
        )
    return found


def _seconds(action: Callable[[], object]) -> float:
    begin = time.process_time()
    action()
    return time.process_time() - begin


def point(steps: int) -> list[float]:
    """The worst discrepancy after 0, 1 .. steps of a million points on one of 512 processors."""
    work = np.zeros((8, 8, 8))
    work[4, 4, 4] = 1e6
    diffusion = Diffusion(Mesh((8, 8, 8)), work, TENTH)
    return [discrepancy(work), *(_advanced(diffusion) for _ in range(steps))]


def _advanced(diffusion: Diffusion) -> float:
    diffusion.advance()
    return discrepancy(diffusion.work)


def injection(
    side: int, seed: int, frames: list[Floats] | None = None, injections: int = INJECTIONS
) -> Injection:
    """The paper's random loads; every hundredth middle plane goes to ``frames``."""
    draw, mesh = np.random.default_rng(seed), Mesh((side,) * 3)
    diffusion = Diffusion(mesh, np.ones(mesh.sides), TENTH, most=side**3 + injections * LARGEST)
    injected = exchanged = 0.0
    for number in range(injections + QUIET):
        if number < injections:
            x, y, z = draw.integers(0, side, 3).tolist()
            diffusion.inject((x, y, z), draw.uniform(0, LARGEST))
        if number == injections - 1:
            injected = _above(diffusion)
        diffusion.advance()
        if number == injections - 1:
            exchanged = _above(diffusion)
        if frames is not None and number % 100 == 99:
            frames.append(diffusion.work[side // 2])
    return Injection(seed, injected, exchanged, _above(diffusion))


def _above(diffusion: Diffusion) -> float:
    work = diffusion.work
    return float(work.max() - work.mean())


def shell(side: int, thickness: float) -> Floats:
    """1 everywhere, 2 in the outer of paraboloid shells before a body and two boosters beside it."""
    x, y, z = (np.indices((side,) * 3) + 0.5) / side
    fronts = []
    for nose, middle, curve in ((0.2, 0.5, 1.6), (0.27, 0.2, 2.4), (0.27, 0.8, 2.4)):
        across = (y - middle) ** 2 + (z - 0.5) ** 2
        fronts.append((x - nose - curve * across) / np.sqrt(1 + 4 * curve**2 * across))
    distance: Floats = side * np.max(fronts, axis=0)
    return np.where(np.abs(distance) <= thickness / 2, 2.0, 1.0)


def shock(side: int, thickness: float, patience: int = PATIENCE) -> Shock:
    """The case of figure 3."""
    work = shell(side, thickness)
    diffusion, first = Diffusion(Mesh(work.shape), work, TENTH), discrepancy(work)
    for step in range(1, patience + 1):
        if _advanced(diffusion) <= 0.1 * first:
            return Shock(thickness, step)
    return Shock(thickness, 0)


def scales(side: int, large: float) -> Scales:
    """What a large step with corrections saves, on a mesh with ends."""
    mesh = Mesh((side,) * 3)
    found = two_scales(mesh, ALPHA, large)
    gained = found.rate(mesh) / TENTH.rate(mesh)
    return Scales(side, large, gained * TENTH.iterations / found.iterations, gained / len(found.steps))


def draw(directory: Path, side: int) -> None:
    """The figures as PNG files."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    axes = plt.figure(figsize=(7, 5)).gca()
    sides = (4, 8, 16, 20, 32, 64, 100)
    for alpha in (0.1, 0.01, 0.001):
        processors = [each**3 for each in sides]
        (line,) = axes.semilogx(
            processors, [alpha * tau(alpha, (each,) * 3) for each in sides], label=f"{alpha}"
        )
        axes.semilogx(
            processors, [alpha * tau_as_printed(alpha, each) for each in sides], "--", c=line.get_color()
        )
    axes.set(
        xlabel="processors", ylabel="tau alpha", title="after figure 1: all modes; (20) as printed dashed"
    )
    axes.legend()
    _save(axes.figure, directory / "figure-1.png")
    axes = plt.figure(figsize=(7, 5)).gca()
    axes.semilogy(point(POINT_STEPS))
    axes.set(
        xlabel="exchange steps", ylabel="worst discrepancy", title="after figure 2: a point, 512 processors"
    )
    _save(axes.figure, directory / "figure-2.png")
    _frames(_shock_frames(side), FRAMES, directory / "figure-3.png", most=2.0)
    frames: list[Floats] = []
    injection(side, 1, frames)
    _frames(frames, range(100, 100 * len(frames) + 1, 100), directory / "figure-5.png")


def _shock_frames(side: int) -> list[Floats]:
    work = shell(side, SHELLS[0])
    diffusion, found = Diffusion(Mesh(work.shape), work, TENTH), []
    for step in range(FRAMES[-1] + 1):
        if step in FRAMES:
            found.append(diffusion.work[:, :, side // 2])
        diffusion.advance()
    return found


def _frames(frames: Sequence[Floats], steps: Sequence[int], path: Path, most: float | None = None) -> None:
    """Planes through the middle, each step beside the one before; colours up to ``most``, or by each."""
    from matplotlib import pyplot as plt

    figure, places = plt.subplots(1, len(frames), figsize=(3 * len(frames), 3.2), squeeze=False)
    for axes, frame, step in zip(places[0], frames, steps, strict=True):
        axes.imshow(frame, vmax=most)
        axes.set(title=f"{step} steps", xticks=[], yticks=[])
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot as plt

    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=100)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--plot", type=Path, metavar="DIRECTORY")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    timed = timings(options.side, options.steps)
    for one in timed:
        print(
            f"{one.processors} processors, {one.steps:4d} steps, {one.what:12s} {one.seconds:8.2f} s, ",
            end="",
        )
        print(f"{one.ratio:5.2f} times a plain step")
    course = point(POINT_STEPS)
    for step in (6, 7, 59, 162, 500, 511):
        print(f"point on 512: after {step:3d} steps {course[step]:10.2f} from the average")
    injected = [injection(options.side, seed) for seed in range(options.seeds)]
    for drawn in injected:
        print(
            f"injection, seed {drawn.seed}: {drawn.injected:.0f} above the mean, an exchange later "
            f"{drawn.exchanged:.0f}, a hundred later {drawn.quiet:.1f}"
        )
    shocks = [shock(options.side, thickness) for thickness in SHELLS]
    for each in shocks:
        print(
            f"bow shock {each.thickness} thick: a tenth is left after {each.steps or f'> {PATIENCE}'} steps"
        )
    saved = [scales(side, large) for side in (8, options.side) for large in (1.0, 4.0, 16.0)]
    for way in saved:
        print(
            f"two scales on {way.side}^3, a step of {way.large:4.1f}: {way.iterations:5.1f} times fewer ",
            end="",
        )
        print(f"inner iterations, {way.exchanges:5.1f} times fewer exchanges")
    if options.plot:
        options.plot.mkdir(parents=True, exist_ok=True)
        draw(options.plot, options.side)
    if options.json:
        measured: dict[str, Sequence[Any]] = {
            "timings": timed,
            "injections": injected,
            "shocks": shocks,
            "scales": saved,
        }
        told: dict[str, Any] = {name: [asdict(each) for each in rows] for name, rows in measured.items()}
        options.json.write_text(json.dumps({**told, "point": course}, indent=2) + "\n")


if __name__ == "__main__":
    main()
