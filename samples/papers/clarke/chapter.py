"""Figures 1, 4, 5, 9, 10, 12 and 13 of Clarke, Lastovetsky, Rychkov, on synthetic machines like theirs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from dlbrt.speed import rootfinding
from dlbrt.speed.functions import Akima
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.points import ModelKind

from papers.clarke import runs, sawtooth
from papers.clarke.clusters import DOUBLE, MB, Pass, cluster, passes
from papers.clarke.convergence import LEARNING, WIDTHS, Convergence, convergence
from papers.clarke.figure import figure
from papers.clarke.speedup import SIZES, speedup
from papers.findings import (
    Chapter,
    Extent,
    Panel,
    Plot,
    Section,
    Series,
    Table,
    Value,
    joined,
    misprints,
    rounded,
)

__all__ = ["chapter"]

TITLE = "Clarke, Lastovetsky, Rychkov: functional performance models"
SOURCE = (
    'D. Clarke, A. Lastovetsky, V. Rychkov, "Dynamic Load Balancing of Parallel Computational Iterative '
    "Routines on Highly "
    'Heterogeneous HPC Platforms", Parallel Processing Letters 21 (2), 2011. Formulas: '
    "`samples/papers/clarke`, `dlbrt/speed`. The paper prints no curve as numbers. The machines here have "
    "the RAM of its Table 1, of which 30 MB are the system's; where its rows no longer fit, a processor's "
    "speed falls by 15, over 15 % of the rows that fit."
)
SUMMARY = (
    "What the paper says of its algorithms holds: constant speeds converge where the matrix fits and "
    "oscillate for ever where it pages, about 300 MB going back and forth; the geometric algorithm and "
    "Akima splines balance within 7 to 9 iterations, and are within 10 % of the best time after 3 or 4. "
    "The number of iterations depends on how steep the cliff is, which no curve of the paper gives: "
    "sharper cliffs take up to twice as many. Seconds are the paper's machines' own."
)
LARGE = ((11000, 1), (11000, 2), (12000, 1), (12000, 2))
CONSTANT, PIECEWISE, AKIMA = ModelKind.CONSTANT, ModelKind.PIECEWISE, ModelKind.AKIMA
MISPRINTS = (
    "* (3) lacks the inverse: x - J^-1 F.\n"
    "* Section 5.2 says convex and means concave; [0, d_1] being flat, its rule would forbid any rise. "
    "What uniqueness needs is that x / s(x) increases.\n"
    "* The extended model's points (n - x_1) / 2 and (n - x_2) / 2 are out of order for few processors; "
    "(n + x) / 2 are meant.\n"
    "* Propositions 2 and 3 do not hold in general: J is singular where two t_i' vanish.\n"
    "* Section 5.1: the upper line is the lower bound of n, a steeper line being a smaller n.\n"
)


def chapter(extent: Extent, before: Chapter | None) -> Chapter:
    """The chapter; Jacobi's method runs on ranks with emulated cliffs where ``extent`` says so."""
    found = convergence()
    sections = (
        runs.kernels(extent, before), traditional(found), learning(found), teeth(), speedups(extent),
        runs.section(extent, before),
    )  # fmt: skip
    return Chapter("clarke", TITLE, SOURCE, SUMMARY, (*sections, misprints(MISPRINTS)))


def counts(
    found: Sequence[Convergence], model: ModelKind, cases: Sequence[tuple[int, int]], width: float
) -> list[int]:
    """Passes until balanced."""
    known = {(each.model, each.n, each.cluster, each.width): each.passes for each in found}
    return [known[model.value, n, number, width] for n, number in cases]


def traditional(found: Sequence[Convergence]) -> Section:
    """Figures 4 and 5: constant speeds."""
    swing = passes(cluster(2, 11000), CONSTANT, 11000)
    moved = [abs(a - b) for a, b in zip(swing[-1].counts, swing[-2].counts, strict=True)]
    never = [each or 20 for each in counts(found, CONSTANT, LARGE, 0.15)]
    values = (
        Value("clarke.memory", joined(round(DOUBLE * n * (n // 4) / MB) for n in (8000, 11000))),
        Value("clarke.constant_small", "", joined(counts(found, CONSTANT, ((8000, 1), (8000, 2)), 0.15))),
        Value("clarke.constant_large", "", joined(never)),
        Value("clarke.swing", "", f"{DOUBLE * 11000 * moved[0] / 1e6:.0f}"),
    )
    imbalances = [each.imbalance for each in swing[2:]]
    text = (
        "An iteration divides rows by the speeds of the last. Where it pages the shares have period 2; on "
        f"cluster 2, n = 11000, the imbalance (t_max - t_min) / t_min stays between {min(imbalances):.1f} "
        f"and {max(imbalances):.1f}."
    )
    panels = tuple(
        bars(f"n = {n}, cluster {number}", passes(cluster(number, n), CONSTANT, n, 8, 0.0), n, number)
        for number in (1, 2) for n in (8000, 11000)
    )  # fmt: skip
    caption = "Figure 4: time of each processor, iteration by iteration, constant speeds."
    plots = (Plot("clarke-4", caption, panels), against_size("5", CONSTANT, 11000, 5))
    return Section("Figures 4 and 5: the traditional algorithm", text, values, (), plots)


def bars(title: str, found: Sequence[Pass], n: int, number: int) -> Panel:
    """Times of the processors, in the unit of the slowest at the first pass."""
    machine = cluster(number, n)
    times = np.array([machine.seconds(each.counts) for each in found])
    times /= times[0].max()
    names = ("P1", "P3", "P4", "P5") if number == 1 else ("P1", "P2", "P3", "P4")
    series = tuple(
        Series(name, tuple(map(float, range(len(found)))), rounded(times[:, rank]), bars=True)
        for rank, name in enumerate(names)
    )
    ticks = tuple(str(k + 1) for k in range(len(found)))
    return Panel(title, series, "iteration", "time over the first", ticks=ticks)


def against_size(name: str, model: ModelKind, n: int, most: int) -> Plot:
    """Speed against size after the loop: points, functions, shares, and the line through the origin."""
    machine, models = cluster(2, n), SpeedModels(4, model)
    found = passes(machine, model, n, most)
    for each in found:
        models.add(each.counts, machine.seconds(each.counts))
    drawn = figure(models, n, found[-1].counts, samples=120)
    if drawn is None:
        raise ValueError(f"expected measured speeds after {len(found)} passes, found none")
    series = []
    for rank, curve in enumerate(drawn.curves):
        true = [float(machine.speed([int(x)] * 4)[rank]) for x in curve.units]
        colour = f"C{rank}"
        series += [
            Series("", rounded(curve.units), rounded(true), f"{colour}:"),
            Series(f"P{rank + 1}", rounded(curve.units), rounded(curve.speeds), f"{colour}-"),
            Series("", rounded(curve.points.units), rounded(curve.points.speeds), f"{colour}x"),
            Series("", (float(curve.share),), rounded([curve.share_speed]), f"{colour}o"),
        ]
    top = max(max(curve.speeds) for curve in drawn.curves)
    last = min(top * drawn.seconds, drawn.curves[0].units[-1])
    series.append(Series("", rounded([0, last]), rounded([0, last / drawn.seconds]), "k--"))
    caption = (
        f"Figure {name}: speed against rows on cluster 2, n = {n}, after {len(found)} iterations. Dotted: "
        "true speeds; lines: the model; crosses: measured; dots: shares; dashed: all sizes that take as "
        "long."
    )
    panel = Panel(f"{model.value}, n = {n}", tuple(series), "rows", "speed (GHz of the clock)")
    panels = (panel,) if model is CONSTANT else (bars("time of each processor", found, n, 2), panel)
    return Plot(f"clarke-{name}", caption, panels)


def learning(found: Sequence[Convergence]) -> Section:
    """Figures 9 and 12: functional models."""
    first, second = (dict(zip(LARGE, counts(found, model, LARGE, 0.15), strict=True)) for model in LEARNING)
    near = [
        each.near_optimum
        for each in found
        if each.model != CONSTANT.value and each.width == 0.15 and each.n > 8000
    ]
    sharper = {
        model: joined(max(counts(found, model, LARGE, width)) for width in WIDTHS) for model in LEARNING
    }
    values = (
        Value("clarke.geometric_11000", "", str(first[11000, 2])),
        Value("clarke.geometric_others", "", joined(first[each] for each in (LARGE[0], *LARGE[2:]))),
        Value("clarke.akima_12000", "", str(second[12000, 2])),
        Value("clarke.akima_others", "", joined(second[each] for each in LARGE[:3])),
        Value("clarke.near_optimum", "", f"{min(near)}..{max(near)}"),
        Value("clarke.sharper_geometric", "", sharper[PIECEWISE]),
        Value("clarke.sharper_akima", "", sharper[AKIMA]),
        Value("clarke.jacobian", f"{jacobian():.4f}"),
    )
    rows = tuple(
        (each.model, str(each.n), str(each.cluster), f"{each.width:g}", str(each.passes or "> 20"),
         str(each.near_optimum or "> 20"), f"{each.moved_mb:.0f}")
        for each in found
    )  # fmt: skip
    head = ("model", "n", "cluster", "width", "iterations", "within 10 %", "moved at most, MB")
    caption = (
        "Iterations until the imbalance is at most 0.1, and until the time is within 10 % of the optimum."
    )
    plots = (against_size("9", PIECEWISE, 11000, 20), against_size("12", AKIMA, 12000, 20))
    title = "Figures 9 and 12: the geometric algorithm, and Akima splines with root finding"
    return Section(title, "", values, (Table(caption, head, rows),), plots)


def jacobian() -> float:
    """How far (5) is from differences of F, relative to its greatest entry, on a partly built model."""
    machine, models, n = cluster(2, 12000), SpeedModels(4, AKIMA), 12000
    for each in passes(machine, AKIMA, n, 5, 0.0):
        models.add(each.counts, machine.seconds(each.counts))
    functions = models.functions(n)
    if not isinstance(functions, Akima):
        raise TypeError(f"expected splines, found {type(functions).__name__}")
    problem = rootfinding._Problem(functions, n)
    x, h = np.array([1.03, 0.97, 1.01, 0.99]), 1e-6  # no shares of a pass: there splines have kinks
    point = problem.at(x)
    unit = np.eye(4)
    exact = np.column_stack([point.j.times(unit[k]) for k in range(4)])
    about = np.column_stack(
        [(problem.at(x + h * unit[k]).f - problem.at(x - h * unit[k]).f) / (2 * h) for k in range(4)]
    )
    return float(np.abs(exact - about).max() / np.abs(exact).max())


def teeth() -> Section:
    """Figure 10: speeds of no restricted shape."""
    ratios = sawtooth.ratios()
    sizes = np.linspace(60, 3800, 300)
    true = sawtooth.sawtooth(sizes, *sawtooth.TEETH[0])
    panels = []
    for model, name in zip(LEARNING, ("restricted shape", "Akima spline"), strict=True):
        functions = sawtooth.fitted(model).functions(9000)
        speeds = [float(functions.speeds(np.full(len(sawtooth.TEETH), x))[0]) for x in sizes]
        lines = (
            Series("true", rounded(sizes), rounded(true), "0.7"),
            Series(name, rounded(sizes), rounded(speeds)),
        )
        panels.append(Panel(name, lines, "units", "speed"))
    gain = Series("", tuple(map(float, sawtooth.SIZES)), rounded(ratios), "-")
    panels.append(Panel("time by restricted shapes over that by splines", (gain,), "n", "ratio"))
    text = (
        "Four synthetic processors whose speeds have teeth. Partitions by splines are faster by "
        f"{100 * (ratios.mean() - 1):.0f} % on average, and in {100 * (ratios > 1).mean():.0f} % of the "
        "sizes."
    )
    plot = Plot(
        "clarke-10",
        "Figure 10: a sawtooth function, fitted with its shape restricted, and by a spline.",
        tuple(panels),
    )
    return Section(
        "Figure 10: speeds of any shape",
        text,
        (Value("clarke.sawtooth", "", f"{ratios.max():.2f}"),),
        (),
        (plot,),
    )


def speedups(extent: Extent) -> Section:
    """Figure 13."""
    sizes = SIZES[::4] if extent.quick else SIZES
    found = [speedup(n) for n in sizes]
    names = ("traditional", "constant", "piecewise", "akima")
    x = tuple(float(each.n) for each in found)
    series = tuple(Series(name, x, rounded([getattr(each, name) for each in found], 4)) for name in names)
    worse = next((b.n for a, b in pairwise(found) if a.traditional >= 1 > b.traditional), 0)
    text = (
        "100 passes on four of each processor of cluster 2, movement over 1 Gbit/s counted; *constant*, "
        "*piecewise* and *akima* are this project's balancer, which moves only if that pays. From n = "
        f"{worse} the traditional algorithm is slower than equal shares."
    )
    panel = Panel("16 processors", series, "n", "speedup over equal shares")
    plot = Plot("clarke-13", "Figure 13: speedup over equal shares.", (panel,))
    return Section(
        "Figure 13: speedup over equal shares",
        text,
        (Value("clarke.speedups", "", "the figure"),),
        (),
        (plot,),
    )
