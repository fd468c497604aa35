"""The simulations of Heirich and Taylor on a million processors, and what their section 6 proposes."""

from __future__ import annotations

from math import log

import numpy as np
from dlbrt.data.layout import Floats

from papers.findings import Extent, Image, Panel, Plot, Section, Series, Table, Value, joined, rounded
from papers.heirich import bow_shock, injection, large_steps, partial, unstructured
from papers.heirich.mesh import Mesh
from papers.heirich.modes import slowest_rate

__all__ = ["corrections", "grid", "image", "injections", "part", "shocks"]

SEEDS = 8


def image(plane: Floats, low: float, high: float, most: int = 50) -> Image:
    """Values from low to high as 0 .. 255, at most so many a side, each the highest of those in its place."""
    step = -(-len(plane) // most)
    side = len(plane) // step
    highest = plane[: side * step, : side * step].reshape(side, step, side, step).max(axis=(1, 3))
    scaled = np.clip((highest - low) / (high - low) * 255, 0, 255).round().astype(int)
    return Image(tuple(map(tuple, scaled.tolist())))


def shocks(extent: Extent) -> Section:
    """Figures 2 (right) and 3."""
    side = 24 if extent.quick else bow_shock.SIDE
    found = [bow_shock.shock(side, thickness) for thickness in bow_shock.SHELLS]
    tenths = [bow_shock.steps(each) for each in found]
    rows = tuple(
        (
            f"{each.thickness}",
            tenth,
            f"{100 * each.left[10]:.1f}",
            f"{100 * each.left[70]:.1f}",
            f"{abs(each.lost):g}",
        )
        for each, tenth in zip(found, tenths, strict=True)
    )
    head = ("shell, processors", "exchanges to a tenth", "left after 10, %", "after 70, %", "load lost")
    caption = f"By the thickness of the shock, {side}^3 processors; the paper has 170 and gives no thickness."
    series = tuple(
        Series(
            f"shell of {each.thickness} processors",
            tuple(map(float, range(len(each.left)))),
            rounded(each.left, 3),
        )
        for each in found
    )
    right = Plot(
        "heirich-2-right", "Figure 2, right: what is left of the worst discrepancy.",
        (Panel("a bow shock", series, "exchanges", "left", "y"),),
    )  # fmt: skip
    frames = tuple(
        Panel(f"{step} exchanges", image=image(plane, 1.0, 2.0)) for step, plane in found[0].frames.items()
    )
    values = () if extent.quick else (Value("heirich.bow_shock", "", joined(tenths[:2])),)
    plots = (right, Plot("heirich-3", "Figure 3: the middle plane, a shell of 1 processor.", frames))
    title = "Figures 2 (right) and 3: a bow shock on a million processors"
    return Section(title, "", values, (Table(caption, head, rows),), plots)


def injections(extent: Extent) -> Section:
    """Figure 5."""
    side, count, seeds = (12, 60, 2) if extent.quick else (injection.SIDE, injection.INJECTIONS, SEEDS)
    found = [injection.injection(side, seed, count) for seed in range(seeds)]
    rows = tuple(
        (
            str(seed),
            f"{one.injected:.0f}",
            f"{one.exchanged:.0f}",
            f"{one.quiet:.1f}",
            "yes" if one.conserved else "no",
        )
        for seed, one in enumerate(found)
    )
    ranges = [
        f"{min(values):.0f}..{max(values):.0f}"
        for values in zip(*((one.injected, one.exchanged, one.quiet) for one in found), strict=True)
    ]
    names = ("injection", "injection_exchanged", "injection_quiet")
    values = (
        ()
        if extent.quick
        else tuple(Value(f"heirich.{n}", "", r) for n, r in zip(names, ranges, strict=True))
    )
    head = (
        "seed",
        f"after injection {count}",
        "an exchange later",
        "100 quiet exchanges later",
        "load conserved",
    )
    caption = (
        f"Largest load above the mean, in initial loads, {side}^3 processors; the paper: 15 737, then 50."
    )
    frames = tuple(
        Panel(
            f"{injection.EVERY * k} injections" if k < len(found[0].frames) else "100 quiet exchanges",
            image=image(np.log10(frame), 0.0, 5.0),
        )
        for k, frame in enumerate(found[0].frames, 1)
    )
    plots = (
        ()
        if extent.quick
        else (Plot("heirich-5", "Figure 5: the middle plane, logarithm of the load, seed 0.", frames),)
    )
    return Section(
        "Figure 5: random injection of large loads", "", values, (Table(caption, head, rows),), plots
    )


def grid(extent: Extent) -> Section:
    """The unstructured grid of section 5.2."""
    side, across, count = (16, 3, 60) if extent.quick else (40, 8, unstructured.STEPS)
    found = unstructured.spread(side, across, count)
    whole = sum(pieces == 1 for pieces in found.pieces)
    rows = (
        ("reduced by, after 6 exchanges, %", f"{100 * (1 - found.left[6] / found.left[0]):.1f}"),
        (f"cells from the average, after {count}", f"{found.left[-1]:.1f}"),
        ("cells that were to go and did not", str(found.owed)),
        ("edges between processors, in the end", str(found.cut[-1])),
        ("by a cut into cubes", str(found.cubes)),
        ("parts in one piece", f"{whole} of {len(found.pieces)}"),
    )
    caption = (
        f"{side**3} cells of an unstructured grid (seed 1) on {across**3} processors, all on one at first."
    )
    x = tuple(map(float, range(0, len(found.left), max(1, count // 250))))
    every = slice(None, None, max(1, count // 250))
    series = (
        Series("cells from the average", x, rounded(found.left[every], 4)),
        Series("edges between processors", x, rounded([max(1, each) for each in found.cut[every]], 4)),
        Series("edges between cubes", (0.0, x[-1]), (float(found.cubes),) * 2, "0.6"),
    )
    panel = Panel("an unstructured grid", series, "exchanges", "cells, edges", "y")
    text = (
        "The paper loads a million points and shows loads alone. Here a priority queue chooses the cells "
        "that keep borders short and parts whole."
    )
    plot = Plot("heirich-grid", "Loads and borders while the grid spreads.", (panel,))
    return Section("Section 5.2: an unstructured grid", text, (), (Table(caption, ("", ""), rows),), (plot,))


def part(extent: Extent) -> Section:
    """Section 6: a part of the domain."""
    side = 40 if extent.quick else partial.SIDE
    found = partial.balanced(side, partial.STEPS)
    tenth = next((step for step, left in enumerate(found.left) if left <= 0.1), None)
    rows = (
        ("processors that take part", f"{found.processors} of {side**3}"),
        ("exchanges to a tenth, within the part", str(tenth or f"> {partial.STEPS}")),
        (f"left after {partial.STEPS}, %", f"{100 * found.left[-1]:.3f}"),
        ("processors elsewhere whose load changed", str(found.changed)),
        ("load lost", f"{found.lost:g}"),
    )
    caption = "A box around the nose of the shock is balanced while the rest works on."
    return Section("Section 6: a part of the domain", "", (), (Table(caption, ("", ""), rows),))


def corrections() -> Section:
    """Section 6: large steps with local corrections."""
    rows = []
    for side in large_steps.SIDES:
        mesh = Mesh((side,) * 3)
        for name, schedule in large_steps.schedules(mesh).items():
            cycles = large_steps.tenth(mesh, schedule)
            rows.append(
                (f"{side}^3", name, str(cycles * schedule.iterations), str(cycles * len(schedule.steps)))
            )
    courses = [
        large_steps.simulated(*each)
        for each in large_steps.schedules(Mesh((large_steps.SIMULATED,) * 3)).items()
    ]
    series = tuple(
        Series(
            each.name,
            tuple(float(each.schedule.iterations * k) for k in range(len(each.left))),
            rounded(each.left, 4), "-o",
        )
        for each in courses
    )  # fmt: skip
    caption = "Inner iterations and exchanges until a tenth is left of the slowest mode, with ends."
    head = ("processors", "steps", "inner iterations", "exchanges")
    panel = Panel(
        f"{large_steps.SIMULATED}^3, the smoothest mode, simulated", series, "inner iterations", "left", "y"
    )
    text = (
        "The paper proposes very large steps, corrected by local iterations, and leaves the costs open. By "
        f"(10) the slowest mode takes {log(10) / slowest_rate(0.1, Mesh((100,) * 3)):.0f} plain steps on "
        "100^3 processors."
    )
    plot = Plot("heirich-large-steps", "Large steps with corrections.", (panel,))
    return Section(
        "Section 6: large steps with local corrections",
        text,
        (),
        (Table(caption, head, tuple(rows)),),
        (plot,),
    )
