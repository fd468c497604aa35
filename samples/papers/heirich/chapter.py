"""Table 1 and figures 1 to 5 of Heirich and Taylor, the unstructured grid, and what section 6 proposes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from papers.findings import (
    Chapter,
    Extent,
    Panel,
    Plot,
    Section,
    Series,
    Value,
    joined,
    misprints,
    rounded,
)
from papers.heirich import point
from papers.heirich.divisible import Diffusion
from papers.heirich.mesh import Boundary, Mesh
from papers.heirich.modes import slowest_rate, tau_slowest
from papers.heirich.relaxation import alpha_limit, inner_iterations
from papers.heirich.simulations import corrections, grid, image, injections, part, shocks
from papers.heirich.table_1 import ALPHAS, RUN, SIDES, cases, exchanges

__all__ = ["chapter"]

TITLE = "Heirich, Taylor: a parabolic load balancing method"
SOURCE = (
    'A. Heirich, S. Taylor, "A Parabolic Load Balancing Method", Caltech CS-TR-94-13, 1994. Formulas and '
    "experiments: `samples/papers/heirich`; the strategy made of them: [diffusion](diffusion.md)."
)
SUMMARY = (
    "The experiment on 512 processors comes out to the point (999, 200 at the 162nd exchange), if work "
    "moves as fluxes over real links; by the formulas as printed a million points become 1 492 711. Table "
    "1 agrees with no formula of the paper; by all modes tau grows with the number of processors to a "
    "limit, so that the superlinear speedup is an artefact. Steps are not unconditionally stable, and the "
    "slowest mode has no limit. The million-processor experiments have the size printed; they depend on a "
    "seed and on the thickness of a shock."
)
TABLE_1 = {
    0.1: (7, 6, 6, 5, 5, 5, 5),
    0.01: (152, 213, 229, 173, 157, 145, 141),
    0.001: (2749, 5763, 10031, 10139, 9082, 7564, 7003),
}
NAMES = {0.1: "tenth", 0.01: "hundredth", 0.001: "thousandth"}
#: 32 MHz, and 110 instructions an exchange.
CLOCK_MHZ, INSTRUCTIONS = 32, 110
MISPRINTS = (
    "* The last line of the algorithm, u := v, is not the work after alpha (v - v') was exchanged; the "
    "two agree only for converged iterations.\n"
    "* The Neumann condition u_0 = u_2 does not conserve work; u_0 = u_1 does.\n"
    "* Lemma 1 fails for modes with an index 0, whose squared norm is 1 / m in place of 2 / m; (20) also "
    "leaves out the plane m / 2.\n"
    "* nu by logarithms is 0 or less from alpha = 1 on, and is wrong at the tie alpha = 1/4 in two "
    "dimensions.\n"
    "* (22) has lost its sign of equality.\n"
)


def chapter(extent: Extent, _before: Chapter | None) -> Chapter:
    """The chapter; without ``quick`` meshes have the paper's million processors, which takes some minutes."""
    sections = (
        steps(), table_1(), costs(), one_point(), shocks(extent), injections(extent), grid(extent),
        part(extent), corrections(),
    )  # fmt: skip
    return Chapter("heirich", TITLE, SOURCE, SUMMARY, (*sections, misprints(MISPRINTS)))


def steps() -> Section:
    """Section 3: inner iterations and stability."""
    alphas = np.linspace(0.001, 0.999, 500)
    counts = {d: [inner_iterations(float(alpha), d) for alpha in alphas] for d in (2, 3)}
    mirrored = [f"{point.mirrored(host, 4000):.0f}" for host in ((4, 4, 4), (0, 0, 0))]
    values = (
        Value("heirich.intervals", " ".join(f"{end:.5f}" for end in ends(3))),
        Value("heirich.most_iterations", str(max(counts[3]))),
        Value("heirich.planar_intervals", " ".join(f"{end:.2f}" for end in tie_and_end())),
        Value("heirich.stable_below", f"{alpha_limit(3, 3):.4f} {alpha_limit(2, 2):.4f}"),
        Value("heirich.mirror", "", joined(mirrored)),
    )
    series = tuple(Series(f"{d} dimensions", rounded(alphas), tuple(map(float, counts[d]))) for d in (2, 3))
    text = (
        "Steps that move work as fluxes are stable below the alpha given here, with the inner iterations "
        "of equation (1)."
    )
    plot = Plot("heirich-nu", "Inner iterations by equation (1).", (Panel("", series, "alpha", "nu"),))
    return Section("Equation (1): inner iterations, and which steps are stable", text, values, (), (plot,))


def ends(dimensions: int) -> list[float]:
    """Where the number of inner iterations changes, by bisection."""
    found: list[float] = []
    low = 1e-3
    while (count := inner_iterations(low, dimensions)) != inner_iterations(0.999, dimensions) or not found:
        above = next(
            x for x in np.linspace(low, 0.999, 2000) if inner_iterations(float(x), dimensions) != count
        )
        left, right = low, float(above)
        while right - left > 1e-9:
            middle = (left + right) / 2
            same = inner_iterations(middle, dimensions) == count
            left, right = (middle, right) if same else (left, middle)
        found.append(right)
        low = right + 1e-6
    return found


def tie_and_end() -> tuple[float, float]:
    """In two dimensions: where rho^2 = alpha exactly, and from where one iteration does."""
    alphas = [k / 1000 for k in range(1, 1000)]
    tie = next(alpha for alpha in alphas if abs((4 * alpha / (1 + 4 * alpha)) ** 2 - alpha) < 1e-12)
    return tie, ends(2)[-1]


def table_1() -> Section:
    """Table 1 and figure 1."""
    values: list[Value] = []
    series: list[Series] = []
    processors = tuple(float(side**3) for side in SIDES)
    for colour, alpha in enumerate(ALPHAS):
        found = cases(alpha)
        printed, true = [each.printed for each in found], [each.true for each in found]
        values.append(Value(f"heirich.table_1_{NAMES[alpha]}", joined(printed)))
        here = joined(exchanges(alpha, side) for side in SIDES) if alpha in RUN else ""
        values.append(Value(f"heirich.tau_{NAMES[alpha]}", joined(true), here))
        for label, taus, style in (
            (f"{alpha}, all modes", true, "-"), (f"{alpha}, (20) as printed", printed, "--"),
            ("", TABLE_1[alpha], "x"),
        ):  # fmt: skip
            scaled = rounded([alpha * each for each in taus])
            series.append(Series(label, processors, scaled, f"C{colour}{style}"))
    slowest = [tau_slowest(0.1, Mesh((side,) * 3, Boundary.PERIODIC)) for side in (8, 100)]
    rates = [
        slowest_rate(0.1, Mesh((8,) * 3, boundary)) for boundary in (Boundary.PERIODIC, Boundary.NO_FLUX)
    ]
    values += [
        Value("heirich.limit", joined(slowest)),
        Value("heirich.slowest_rates", " ".join(f"{rate:.4f}" for rate in rates)),
    ]
    text = (
        f"n = {', '.join(f'{side}^3' for side in SIDES)} processors on a periodic mesh. The column here is "
        "of runs of the method: one takes an exchange less than by all modes, since inner iterations do not "
        "solve a step exactly."
    )
    panel = Panel("exchanges for a point disturbance", tuple(series), "processors", "tau alpha", "x")
    plot = Plot("heirich-1", "Figure 1: tau alpha; crosses: Table 1.", (panel,))
    return Section("Table 1 and figure 1: exchange steps for a point", text, tuple(values), (), (plot,))


def costs() -> Section:
    """Times and operations, from the numbers that the paper gives."""
    exchange_us = INSTRUCTIONS / CLOCK_MHZ
    operations = 7 * inner_iterations(0.1, 3)
    true = cases(0.1)[SIDES.index(8)].true
    values = (
        Value("heirich.exchange_us", f"{exchange_us:.4f} {6 * exchange_us:.3f} {24 * exchange_us:.1f}"),
        Value("heirich.eight_exchanges", f"{8 * exchange_us:.1f}"),
        Value("heirich.flops_million", str(operations * TABLE_1[0.1][-1])),
        Value("heirich.flops_512", str(operations * TABLE_1[0.1][1])),
        Value("heirich.iterations", str(inner_iterations(0.1, 3) * true)),
    )
    return Section("Section 5: times and operations", "", values)


def one_point() -> Section:
    """Figures 2 (left) and 4."""
    found, total = point.course(point.STEPS)
    units = point.in_units(1000)
    rounded_each = point.in_units(1000, rounded_each=True)
    values = (
        Value("heirich.point_6", "", f"{100 * (1 - found[6] / point.POINTS):.2f}"),
        Value("heirich.point_tenth", "", str(point.first(found, point.POINTS / 10))),
        Value("heirich.point_59", "", f"{found[59]:.2f}"),
        Value("heirich.point_162", "", f"{found[162]:.2f}"),
        Value("heirich.point_200", "", str(point.first(found, 200))),
        Value("heirich.point_one", "", str(point.first(found, 1))),
        Value("heirich.point_units", "", f"{units[500]:.1f} {units[1000]:.1f}"),
        Value("heirich.point_rounded", "", f"{rounded_each[1000]:.0f}"),
    )
    text = (
        "A million points on processor (4, 4, 4) of 8^3 with ends, alpha = .1, three inner iterations. "
        "Host and ends are not given in the paper; these were found to meet its numbers. In the end there "
        f"are {total:.0f} points."
    )
    series = tuple(
        Series(label, tuple(map(float, range(0, point.STEPS, 4))), rounded(course[: point.STEPS : 4], 4))
        for label, course in (
            ("divisible", found),
            ("whole points", units),
            ("each flux rounded", rounded_each),
        )
    )
    panel = Panel("a point on 512 processors", series, "exchanges", "points from the average", "y")
    plot = Plot("heirich-2-left", "Figure 2, left: the largest distance from the average.", (panel,))
    frames = Plot("heirich-4", "Figure 4: the middle plane, logarithm of the load.", tuple(planes()))
    return Section(
        "Figures 2 (left) and 4: a million points on 512 processors", text, values, (), (plot, frames)
    )


def planes() -> Iterator[Panel]:
    """The middle plane every ten exchanges."""
    diffusion = Diffusion(point.MESH, point.start(), point.TENTH)
    for number in range(8):
        plane = np.log10(1 + diffusion.work[4])
        yield Panel(f"{10 * number} exchanges", image=image(plane, 0.0, 6.0))
        diffusion.advance(10)
