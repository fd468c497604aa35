"""Figures 1 to 8 of Swartz, both of his runs, and the sieve timed on this machine (`swartz.clocked`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import e, log

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency
from dlbrt.partition.integer import Numbers, prefix_sums
from dlbrt.partition.newton import Cutter

from papers.findings import Chapter, Extent, Panel, Plot, Section, Series, Table, Value, misprints, rounded
from papers.swartz import clocked, sieve
from papers.swartz.integer import parts
from papers.swartz.newton import cut
from papers.swartz.planar import blocks, partial_rows, whole_rows
from papers.swartz.uneven import Types

__all__ = ["chapter"]

TITLE = "Swartz: domains cut by Newton's method"
SOURCE = (
    'B. Swartz, "A Practical Method for Load Balancing using Newton\'s Method on MPP Systems", Cray User '
    "Group. Formulas: `samples/papers/swartz`, `dlbrt/partition`."
)
SUMMARY = (
    "The arithmetic of both examples, the boundaries, the processors of two types and the plane come out; "
    "four formulas are misprinted. The constant A of (4) describes the run of 2^28 numbers (1507 s "
    "computed, 1494 to 1508 measured), and not that of 32 million (1303 s computed, 2056 measured). By "
    "counted divisions equal lengths lose as much as the paper says, and its formula balances 2^28 numbers "
    "to 1.8 %, 32 million to 5.9 %; what a first pass measures (`profile`) balances better than the "
    "formula."
)

A = 3.9098e-7
FIRST, FIRST_NODES = 32_000_000, 32
SECOND, SECOND_NODES = 2**28, 16
TYPES = Types((7, 4), (1.0, 3.0))
#: rho = x + y on 20 x 20, each cell its exact integral.
PLANE = np.add.outer(np.arange(20) + 0.5, np.arange(20) + 0.5)
#: What stands in for 2^28 where time is short, and for its counted divisions.
QUICK = 2**22
MISPRINTS = (
    "* The general boundaries of section 4 are t(x_i) = sum of R_k N_k t_int over the types before, plus "
    "R_j (i - NSUM_(j-1)) t_int, with NSUM_0 = 0.\n"
    "* Appendix A: the condition is |Q(x)| < 1, printed without the bars.\n"
    "* L_I has two definitions: (2) divides by T_avg, the first example by T_max. By (2), L_E is negative"
    " where T_max > 2 T_avg.\n"
    "* For i = 0 the equation has no root, since t has a positive least value at x = 5.947: x_0 is the "
    "lower end of the domain.\n"
    "* An absolute EPSILON of 1e-9 is less than a unit in the last place of x: 6 of the 32 boundaries "
    "would never stop.\n"
    "* MAXN i exceeds 32 bits for 2^28 and 16 nodes. In appendix B `ip=3` presumes that prime_low(3) is "
    "3.\n"
    "* R = type 1 time / type 2 time: R > 1 means that type 2 is the faster.\n"
)


def chapter(extent: Extent, before: Chapter | None) -> Chapter:
    """The chapter; without ``quick`` it counts the divisions of all odd numbers up to 2^28."""
    prefix = prefix_sums(sieve.operations(FIRST))
    sections = (
        method(), linear(prefix), fit(), balanced(prefix, extent), types(), plane(), convergence(),
        clocked.section(extent, before),
    )  # fmt: skip
    return Chapter("swartz", TITLE, SOURCE, SUMMARY, (*sections, misprints(MISPRINTS)))


def t(x: float) -> float:
    """Equation (4) in seconds of the T3D."""
    return float(A * sieve.t(x))


def method() -> Section:
    """Figure 1: parts of equal work of the second run."""
    bounds = {name: cut(sieve.work(float(maximum)), nodes) for name, maximum, nodes in (
        ("first", FIRST, FIRST_NODES), ("second", SECOND, SECOND_NODES),
    )}  # fmt: skip
    first, second = bounds["first"], bounds["second"]
    values = (
        Value("swartz.bounds_first", " ".join(f"{x:.1f}" for x in first[[1, 2, 31]])),
        Value("swartz.bounds_second", " ".join(f"{x:.1f}" for x in second[[1, 2, 15]])),
        Value("swartz.newton_steps", steps()),
    )
    x = np.linspace(1e6, SECOND, 200)
    marks = [Series("", (float(b), float(b), 0.0), (0.0, t(b), t(b)), "0.7") for b in second[1:-1:3]]
    curve = Series("t(x)", rounded(x), rounded([t(float(each)) for each in x]))
    panel = Panel("equal parts of t are parts of x", (curve, *marks), "x", "t, s of one T3D node")
    plot = Plot("swartz-1", "Figure 1: every third boundary of 2^28 numbers on 16 nodes.", (panel,))
    return Section("Figure 1: boundaries by equal parts of the work", "", values, (), (plot,))


def steps() -> str:
    """The most and the mean number of Newton steps of both runs, from the paper's own start."""
    found = []
    for maximum, nodes in ((FIRST, FIRST_NODES), (SECOND, SECOND_NODES)):
        cutter = Cutter(sieve.work(float(maximum)), cells=1)
        found += cutter.solve(np.arange(1, nodes) / nodes).steps.tolist()
    return f"{max(found)} {np.mean(found):.1f}"


def linear(prefix: Numbers) -> Section:
    """Figure 2: equal lengths of 32 million numbers on 32 nodes."""
    edges = np.arange(FIRST_NODES + 1) * (FIRST / FIRST_NODES)
    curve = np.array([0.0, *(t(x) for x in edges[1:])])
    by_formula, counted = np.diff(curve), parts(prefix, sieve.by_length(FIRST, FIRST_NODES))
    average = 2055.52 / FIRST_NODES
    lost = [f"{inefficiency(each):.2f} {idle_share(each):.2f}" for each in (by_formula, counted)]
    values = (
        Value("swartz.t_avg", f"{average:.3f}"),
        Value("swartz.inefficiency_by_largest", f"{100 * (89.92 - average) / 89.92:.2f}"),
        Value("swartz.inefficiency_by_equation", f"{100 * (89.92 - average) / average:.2f}"),
        Value("swartz.idle", f"{100 * (1 - 22.2 / 89.92):.1f}"),
        Value("swartz.t_first", f"{t(FIRST):.2f}"),
        Value(
            "swartz.linear_ratio", f"{by_formula[0] / by_formula[-1]:.3f}", f"{counted[0] / counted[-1]:.3f}"
        ),
        Value("swartz.linear_inefficiency", *lost),
    )
    scaled = counted * (2055.52 / counted.sum())
    panel = Panel(
        "equal lengths of 32 000 000 numbers, 32 nodes",
        (bars("counted divisions", scaled), bars("by (4)", by_formula * (2055.52 / by_formula.sum()))),
        "node", "s, all together 2055.52",
    )  # fmt: skip
    text = "*Here* are counted divisions: by how many primes each odd number is tried, as in appendix B."
    plot = Plot("swartz-2", "Figure 2: time of each node, equal lengths.", (panel,))
    return Section("Figure 2: 32 million numbers on 32 nodes, equal lengths", text, values, (), (plot,))


def bars(label: str, heights: Floats) -> Series:
    """A bar for each node."""
    return Series(label, tuple(map(float, range(len(heights)))), rounded(heights), bars=True)


def fit() -> Section:
    """Figure 4 and the derivatives of (4)."""
    pole = e**1.08366
    increasing = e ** (1.08366 + 1 / 1.43)
    values = (
        Value("swartz.pole", f"{pole:.4f}"),
        Value("swartz.increasing", f"{increasing:.5f}"),
        Value("swartz.second_derivative", second_derivative()),
        Value("swartz.root_equation", root_equation()),
        Value("swartz.t_second", f"{t(SECOND) / SECOND_NODES:.2f}"),
    )
    x = np.linspace(2e5, QUICK, 60)
    prefix = prefix_sums(sieve.operations(QUICK))
    counts = prefix[((x - 1) // 2).astype(int)]
    scale = float(counts[-1]) / float(sieve.t(x[-1]))
    panel = Panel(
        f"counted divisions up to {QUICK}",
        (
            Series("counted", rounded(x), rounded(counts), "o"),
            Series("(4), its own A", rounded(x), rounded(scale * sieve.t(x))),
        ),
        "x", "divisions",
    )  # fmt: skip
    plot = Plot("swartz-4", "Figure 4: the curve of (4) beside counted divisions.", (panel,))
    text = "t(x) = A x^1.43 / (ln x - 1.08366), A = 3.9098e-7, and its derivatives."
    return Section("Figure 4: the fitted curve (4)", text, values, (), (plot,))


def root_equation() -> str:
    """Which of both functions has the boundaries as roots."""
    x, whole = cut(sieve.work(float(SECOND)), SECOND_NODES)[1:], float(sieve.t(float(SECOND)))
    i = np.arange(1, SECOND_NODES + 1)
    left = {
        "t(x) - i t(x_max)": sieve.t(x) - i * whole,
        "t(x) - i t(x_max) / N_p": sieve.t(x) - i * whole / SECOND_NODES,
    }
    return min(left, key=lambda name: float(np.abs(left[name]).max()))


def second_derivative() -> str:
    """Which of both first terms gives t'' as differences of t' do."""
    x, h = 1e6, 10.0
    r = 1 / (log(x) - 1.08366)
    differences = (sieve.slope(x + h) - sieve.slope(x - h)) / (2 * h)
    terms = {"t r / x": sieve.t(x) * r / x, "t r^2 / x": sieve.t(x) * r * r / x}
    rest = sieve.slope(x) * (0.43 - r)
    return min(terms, key=lambda name: abs((terms[name] + rest) / x - differences))


def balanced(prefix: Numbers, extent: Extent) -> Section:
    """Figure 5: both runs cut by (4)."""
    first = parts(prefix, sieve.by_formula(FIRST, FIRST_NODES))
    maximum = QUICK if extent.quick else SECOND
    second = parts(prefix_sums(sieve.operations(maximum)), sieve.by_formula(maximum, SECOND_NODES))
    values = [
        Value("swartz.inefficiency_second", f"{100 * (1507.9 - 1494.0) / 1494.0:.2f}"),
        Value("swartz.overhead", f"{100 * 0.000265 / 1507.9:.7f}"),
        Value("swartz.balanced_first", "", f"{efficiency(first):.2f}"),
    ]
    if not extent.quick:
        values.append(Value("swartz.balanced_second", "", f"{inefficiency(second):.2f}"))
    panel = Panel(
        f"{maximum} numbers on 16 nodes, cut by (4)",
        (bars("counted divisions", second * (1494.0 * SECOND_NODES / second.sum())),),
        "node", "s, 1494.0 on average",
    )  # fmt: skip
    plot = Plot("swartz-5", "Figure 5: time of each node, cut by (4).", (panel,))
    return Section("Figure 5: 2^28 numbers on 16 nodes, cut by (4)", "", tuple(values), (), (plot,))


def types() -> Section:
    """Figure 3 and the general formula of section 4."""
    t_int = TYPES.interval(100)
    found = (t_int, sum(TYPES.summed(100)), *TYPES.summed(100))
    values = (
        Value("swartz.types", " ".join(f"{each:.2f}" for each in found) + f" {TYPES.speedup:.1f}"),
        Value("swartz.types_end", f"{TYPES.targets(100)[-1]:.1f}"),
    )
    targets = TYPES.targets(100)
    points = Series("boundaries", tuple(map(float, range(len(targets)))), rounded(targets), "-o")
    panel = Panel("7 nodes of type 1, 4 three times as fast", (points,), "i", "t(x_i), s of a node of type 1")
    text = (
        "t_int is wall time, T_all = T_1 + T_2 that of all nodes together. As printed, the last boundary "
        f"would be {3 * (TYPES.summed(100)[0] + 11 * t_int):.1f} of 100."
    )
    plot = Plot("swartz-3", "Figure 3: boundaries for nodes of two types.", (panel,))
    return Section("Figure 3: nodes of several types", text, values, (), (plot,))


def plane() -> Section:
    """Figures 6 and 7, and the loss of whole rows."""
    y = [-10 + 10 * (1 + 2 * i) ** 0.5 for i in range(5)]
    rows, cells = whole_rows(PLANE, 4), partial_rows(PLANE, 4)
    values = (
        Value("swartz.planar", " ".join(f"{each:.2f}" for each in y)),
        Value("swartz.planar_total", f"{PLANE.sum():.0f}"),
        Value("swartz.planar_formula", planar_formula()),
        Value("swartz.planar_rows", " ".join(f"{work:.0f}" for work in rows.work)),
    )  # fmt: skip
    found = blocks(PLANE, 4, border_cost=10)
    table = Table(
        "Ways to cut the plane for 4 nodes; of blocks a border cell is charged as 10.",
        ("cut", "boundaries", "lost, %"),
        (
            ("whole rows", " ".join(map(str, rows.bounds)), f"{100 * rows.loss:.1f}"),
            (
                "parts of rows", " ".join(f"{b // 20}:{b % 20}" for b in cells.bounds),
                f"{100 * cells.loss:.1f}",
            ),
            ("blocks", ", ".join(f"{b.top}-{b.bottom} x {b.left}-{b.right}" for b in found.parts),
             f"{100 * (max(b.work for b in found.parts) / 2000 - 1):.1f}"),
        ),
    )  # fmt: skip
    panels = (bands("rho = C (figure 6)", [5, 10, 15]), bands("rho = C (x + y) (figure 7)", y[1:4]))
    plot = Plot("swartz-6-7", "Figures 6 and 7: rows of equal work on 4 nodes.", panels)
    return Section("Figures 6 and 7: domains of two dimensions", "", values, (table,), (plot,))


def planar_formula() -> str:
    """Which of both formulas has the work i TT / 4 below y_i: 200 y + 10 y^2."""
    i = np.arange(5)
    formulas = {
        "-10 + sqrt(1 + 2i)": -10 + np.sqrt(1 + 2 * i),
        "-10 + 10 sqrt(1 + 2i)": -10 + 10 * np.sqrt(1 + 2 * i),
    }
    return min(
        formulas, key=lambda name: float(np.abs(200 * (y := formulas[name]) + 10 * y * y - 2000 * i).max())
    )


def bands(title: str, bounds: Sequence[float]) -> Panel:
    """A plane in rows."""
    return Panel(
        title, tuple(Series("", (0.0, 20.0), (b, b), "k") for b in rounded([0, *bounds, 20])), "x", "y"
    )


def convergence() -> Section:
    """Figure 8: a function that Newton's method converges on, and its tangents from x_max i / N_p."""
    target, x = 5 / 32 * sieve.t(float(FIRST)), 5 / 32 * float(FIRST)
    curve = np.linspace(2e6, 2.4e7, 80)
    series = [Series("f(x)", rounded(curve), rounded(sieve.t(curve) - target))]
    for start, value, following in tangents(x, lambda x: float(sieve.t(x) - target)):
        series.append(Series("", rounded([start, start, following]), rounded([0, value, 0]), "C1-o"))
    panel = Panel("x_5 of 32 000 000 numbers on 32 nodes", tuple(series), "x", "f(x) / A")
    text = (
        "From the left, where f is negative, the first step overshoots; from then on steps fall "
        "monotonically, since f' and f'' are positive. The paper's |Q(x)| < 1 is printed without the bars."
    )
    plot = Plot("swartz-8", "Figure 8: Newton's method on a function with f' > 0 and f'' > 0.", (panel,))
    return Section("Figure 8: convergence of Newton's method", text, (), (), (plot,))


def tangents(x: float, f: Callable[[float], float]) -> Iterator[tuple[float, float, float]]:
    """Three steps: where they start, f there, where they lead."""
    for _ in range(3):
        following = x - f(x) / float(sieve.slope(x))
        yield x, f(x), following
        x = following
