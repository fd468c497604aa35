"""How many exchange steps a point disturbance lasts: Heirich and Taylor, table 1, figure 1, eq. (10).

    python -m papers.heirich.tau [--small] [--plot FILE]

Three numbers for each case: what table 1 prints, what eq. (20) gives as it is printed (weight 8/n, indices to
m/2 - 1), and what the sum over all modes gives. The table agrees with neither. Eq. (20) gives modes with an
index 0 too large a weight and leaves out those at m/2; by all modes tau grows with n to a limit, so that the
"weak superlinear speedup" of figure 1 is of the formula, not of the method. `--small` leaves out more than
8000 processors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from papers.heirich import Boundary, Mesh, tau, tau_slowest
from papers.heirich.modes import tau_as_printed
from papers.heirich.report import Row, figure, parsed, parser, show

SIDES = (4, 8, 16, 20, 32, 64, 100)
FEW = 4

#: By alpha, for these sides: table 1, eq. (20) as printed, all modes.
KNOWN = {
    0.1: ((7, 6, 6, 5, 5, 5, 5), (9, 9, 8, 8, 7, 7, 7), (6, 7, 7, 7, 7, 7, 7)),
    0.01: (
        (152, 213, 229, 173, 157, 145, 141),
        (185, 298, 303, 283, 246, 215, 205),
        (125, 169, 185, 186, 188, 188, 188),
    ),
    0.001: (
        (2749, 5763, 10031, 10139, 9082, 7564, 7003),
        (2968, 6606, 12590, 13959, 13796, 11045, 9896),
        (2286, 4453, 7015, 7487, 7930, 8067, 8082),
    ),
}

#: Of the slowest mode, by sides, for alpha = .1.
SLOWEST = {8: 41, 100: 5836}


@dataclass(frozen=True)
class Case:
    """Exchange steps on side^3 processors."""

    alpha: float
    side: int
    table: int
    printed: int
    true: int


def cases(sides: Sequence[int]) -> list[Case]:
    """Of all alpha: by table 1, by eq. (20) as printed, by all modes."""
    return [
        Case(alpha, side, known[0][column], tau_as_printed(alpha, side), tau(alpha, (side,) * 3))
        for alpha, known in KNOWN.items()
        for column, side in enumerate(sides)
    ]


def rows(found: Sequence[Case]) -> Iterator[Row]:
    for case in found:
        _, as_printed, all_modes = (known[SIDES.index(case.side)] for known in KNOWN[case.alpha])
        what = f"alpha {case.alpha}, {case.side**3} processors: (20) as printed, all modes"
        yield Row(what, str(case.table), f"{as_printed}, {all_modes}", f"{case.printed}, {case.true}")
    for side, known in SLOWEST.items():
        here = tau_slowest(0.1, Mesh((side,) * 3, Boundary.PERIODIC))
        yield Row(f"alpha 0.1, {side**3} processors: slowest mode (10)", "to ln 10", str(known), str(here))


def draw(found: Sequence[Case], path: str) -> None:
    """As figure 1."""
    drawn = figure(7, 5)
    axes = drawn.add_subplot()
    for alpha in KNOWN:
        mine = [case for case in found if case.alpha == alpha]
        n = [case.side**3 for case in mine]
        (line,) = axes.semilogx(n, [alpha * case.true for case in mine], label=f"{alpha}, all modes")
        colour = line.get_color()
        axes.semilogx(
            n, [alpha * case.printed for case in mine], "--", c=colour, label=f"{alpha}, (20) as printed"
        )
        axes.semilogx(n, [alpha * case.table for case in mine], "x", c=colour)
    axes.set(xlabel="processors", ylabel="tau alpha", title="exchange steps for a point; x: table 1")
    axes.legend()
    drawn.savefig(path, dpi=120)


def main() -> None:
    options = parsed(parser(__doc__))
    found = cases(SIDES[:FEW] if options.small else SIDES)
    show("exchange steps until alpha of a point disturbance is left", list(rows(found)))
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
