"""Tables 1.1 to 1.4 and figures 1.2 to 1.10 of Zaki, Li, Parthasarathy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean

from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.predict.schemes import scheme

from dlbc.parse.read_source import read_source
from dlbc.pipeline import transform
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
from papers.zaki import runs
from papers.zaki.cases import CASES, MEAN_SLOWDOWN, MOST_LOAD, trfd_first, trfd_pairs
from papers.zaki.comparison import Row, compared, excesses
from papers.zaki.network import ethernet
from papers.zaki.virtual import NONE, STRATEGIES, synchronizations_without_load

__all__ = ["chapter"]

TITLE = "Zaki, Li, Parthasarathy: customized dynamic load balancing"
SOURCE = (
    'M. J. Zaki, S. Parthasarathy, W. Li, "Customized Dynamic Load Balancing", in High Performance Cluster '
    "Computing, 1999. Formulas: `dlbrt/predict`; cases: `samples/papers/zaki`."
)
SUMMARY = (
    "The sizes, sums and folds of the text come out, but for TRFD's second loop, which is neither uniform "
    "after the fold nor twice the first by the paper's own formulas. Execution times are of Sun "
    "workstations: its tables without balancing only calibrate the time of an iteration here. With the "
    "loads drawn anew the four strategies are played in virtual time, and run on ranks: balancing gains in "
    "all 28 rows, as in the paper. The recurrences with all loads known, and the predictions at the first "
    "synchronization, name the best strategy at least as often as the paper's do, and where they name "
    "another it is hardly slower. Which strategy is best depends on t_l and on Figure 1.6, which the paper "
    "does not give as numbers; GDDLB and GCDLB are often within half a percent."
)
SEEDS = 10
MXM = Path(__file__).resolve().parents[2] / "mxm.py"
MISPRINTS = (
    "* (1.3.2), after substitution, has the sum times sigma_i / sigma_f; the exponent chi_f that is "
    "printed is the upper limit of the sum.\n* The work of a row of MXM is m r, printed as n m; D = r "
    "counts elements, so that 8 r bytes move. After a fold an iteration moves two columns.\n* NPS is "
    "defined as time over base time, where large is slow, and used as a speed (T / S_i).\n* a = ceil(0 / "
    "t_l) = 0 is no block: the first is 1. sigma_f depends on b, and b on sigma_f, so both are solved for "
    "together.\n* Gamma = 0 (1.3.4) is never reached with real numbers: the model stops when less than an "
    "iteration is left.\n* TC and C_g are overhead alone: computing is added before a global strategy is "
    "compared with a local one.\n"
)


def chapter(extent: Extent, before: Chapter | None) -> Chapter:
    """The chapter; without ``quick`` 28 cases are played at three t_l under 10 seeds, which takes minutes."""
    found = compared(1, (20.0,)) if extent.quick else compared(SEEDS)
    sections = (
        runs.speeds(extent, before), load(), code(), network(), text(), folds(), table_1_4(found, extent),
        tables(found), *bars(found[20.0]), runs.section(extent, before),
    )  # fmt: skip
    return Chapter("zaki", TITLE, SOURCE, SUMMARY, (*sections, misprints(MISPRINTS)))


def load() -> Section:
    """Figure 1.3."""
    duration_s, seed = 5.0, 7
    spec = LoadSpec(random=RandomLoad(MOST_LOAD, duration_s, seed))
    times = [block * duration_s for block in range(25)]
    levels = [float(Load(spec, 0).level(time + duration_s / 2)) for time in times]
    x = [edge for time in times for edge in (time, time + duration_s)]
    y = [level for level in levels for _ in range(2)]
    panel = Panel("a processor's load", (Series("", rounded(x), rounded(y)),), "s", "load")
    value = Value("zaki.slowdown", f"{MEAN_SLOWDOWN:.3f}")
    caption = f"Figure 1.3: discrete random load, m_l = {MOST_LOAD}, t_l = {duration_s:g} s, seed {seed}."
    return Section("Figure 1.3: external load", "", (value,), (), (Plot("zaki-1-3", caption, (panel,)),))


def code() -> Section:
    """Figure 1.4: the sequential loop, and what is generated from it."""
    source, _ = read_source(str(MXM))
    made = (transform(source).text or b"").decode().splitlines()
    begin = next(place for place, line in enumerate(made) if line.startswith("def _dlb_loop"))
    kernel = [line.split("  #")[0] for line in made[begin : begin + 10] if line.strip()]
    lines = source.lines
    first = lines.index("# dlb: parallel, BLOCK")
    call = next(line for line in made if line.startswith("dlb.run("))
    fences = '```python in="samples/mxm.py"', '```\n\n```python unrun="comments are left out"'
    blocks = "\n".join([fences[0], *lines[first : first + 5], fences[1], *kernel, "", call, "```"])
    return Section(
        "Figure 1.4: code generation", f"`samples/mxm.py`, and what `dlbc transform` makes of it.\n\n{blocks}"
    )


def network() -> Section:
    """Figure 1.6, by polynomials of its size."""
    lan = ethernet()

    def cost_ms(ranks: int) -> list[str]:
        sizes = [ranks // 2 if scheme(name).local else ranks for name in ("GCDLB", "GDDLB", "LCDLB", "LDDLB")]
        return [
            f"{1e3 * scheme(name).synchronization_s(lan, size):.1f}"
            for name, size in zip(("GCDLB", "GDDLB", "LCDLB", "LDDLB"), sizes, strict=True)
        ]

    ranks = range(2, 17)
    series = tuple(
        Series(label, tuple(map(float, ranks)), rounded([pattern.seconds(p) for p in ranks]))
        for label, pattern in (("one to all, all to one", lan.one_to_all), ("all to all", lan.all_to_all))
    )
    values = (
        Value("zaki.xi_4", joined(cost_ms(4))), Value("zaki.xi_16", joined(cost_ms(16))),
    )  # fmt: skip
    note = "The polynomials here: one-to-all and all-to-one L (P - 1), all-to-all 0.2 L P (P - 1)."
    panel = Panel("patterns of communication", series, "processors", "s")
    plot = Plot("zaki-1-6", "Figure 1.6: communication cost, by polynomials of its size.", (panel,))
    return Section("Figure 1.6: network characterization", note, values, (), (plot,))


def text() -> Section:
    """Numbers of the text of sections 1.5.1 to 1.5.5 that follow from Table 1.4 and the formulas."""
    missed = [case.difference for case in CASES if case.actual != case.predicted]
    pairs = trfd_pairs(50)[:-1]
    mxm, ac = ([case for case in CASES if case.name.startswith(name)] for name in ("MXM", "AC"))
    etas = {synchronizations_without_load(case, "GDDLB") for case in CASES if case.work.prefix is None}
    values = (
        Value("zaki.rows", joined((len(CASES), len(CASES) - len(missed), len(missed)))),
        Value("zaki.differences", f"{mean(missed):.3f} {max(missed):.1f}"),
        Value("zaki.example", f"{(25.7 - 24.2) / 24.2 * 100:.3f}"),
        Value("zaki.sizes", joined(n * (n + 1) // 2 for n in (30, 40, 50))),
        Value("zaki.first_loop", f"{trfd_first(50) / 1275:.2f}"),
        Value("zaki.second_loop_uniform", f"{min(pairs) / mean(pairs):.2f} {max(pairs) / mean(pairs):.2f}"),
        Value("zaki.second_loop_double", f"{mean(pairs) / 2 / trfd_first(50):.2f}"),
        Value("zaki.claim_mxm", str(sum(case.actual == "GDDLB" for case in mxm))),
        Value("zaki.claim_ac", str(sum(case.actual in ("GDDLB", "LDDLB") for case in ac))),
        Value(
            "zaki.eta",
            joined(sorted({computed for computed, _ in etas})),
            joined(sorted({found for _, found in etas})),
        ),
    )
    return Section("Sections 1.5.1 to 1.5.5: numbers of the text", "", values)


def folds() -> Section:
    """Figure 1.8."""
    a, b = 3, 5
    off = 0
    for n in (6, 7, 465):
        work = [a * i + b for i in range(1, n + 1)]
        sums = [work[i] + work[n - 1 - i] for i in range((n + 1) // 2)]
        off = max(off, *(abs(each - (a * (n + 1) + 2 * b)) for each in sums))
    pairs = {
        (n * n - i) + (n * n - (n * n - i + 1)) - n * n for n in (100, 250) for i in range(1, n * n // 2 + 1)
    }
    values = (Value("zaki.bitonic", str(off)), Value("zaki.fold", joined(sorted(pairs))))
    places = tuple(map(float, range(1, 21)))
    triangular = tuple(a * x + b for x in places)
    folded = tuple(a * 21 + 2.0 * b for _ in places[:10])
    second = trfd_pairs(50)[:-1]
    relative = rounded([each / mean(second) for each in second], 4)
    panels = (
        Panel("a triangular loop", (Series("iterations", places, triangular, bars=True),), "i", "work"),
        Panel("folded", (Series("pairs (i, n - i + 1)", places[:10], folded, bars=True),), "i", "work"),
        Panel(
            "TRFD's second loop, n = 50",
            (Series("pairs over the mean", tuple(map(float, range(len(relative)))), relative),), "i", "work",
        ),
    )  # fmt: skip
    plot = Plot("zaki-1-8", "Figure 1.8: bitonic folding; below it a loop that is not linear in i.", panels)
    return Section("Figure 1.8: bitonic scheduling", "", values, (), (plot,))


def table_1_4(found: dict[float, list[Row]], extent: Extent) -> Section:
    """Table 1.4, computed and played."""
    rows = list(found.values())
    known = [len(of) - len(excesses(of, lambda row: row.computed)) for of in rows]
    seen = [sum(row.predicted == row.best for row in of) for of in rows]
    lost = [100 * each for each in excesses(found[20.0], lambda row: row.computed)] or [0.0]
    missed = [100 * each for each in excesses(found[20.0], lambda row: row.predicted)] or [0.0]
    same = [sum(row.best == row.case.actual for row in of) for of in rows]
    ratios = [row.best_over_none for of in rows for row in of]
    values = () if extent.quick else (
        Value("zaki.matches", joined(known), joined(seen)),
        Value("zaki.missed", f"{mean(lost):.1f} {max(lost):.1f}", f"{mean(missed):.1f} {max(missed):.1f}"),
        Value("zaki.best_over_none", "", f"{min(ratios):.2f}..{max(ratios):.2f}"),
        Value("zaki.same_best", "", joined(same)),
    )  # fmt: skip
    head = ("program", "P", "best there", "predicted there", "computed", "best here", "predicted here",
            "committed to", "predicted over best, %")  # fmt: skip
    lines = tuple(
        (row.case.name, str(row.case.ranks), row.case.actual, row.case.predicted, row.computed, row.best,
         row.predicted, row.committed, f"{100 * row.excess(row.predicted):.1f}")
        for row in found[20.0]
    )  # fmt: skip
    seeds = len(found[20.0][0].played)
    note = (
        f"Every strategy under the same loads, {seeds} seeds (numbers 0 to {1000 * (seeds - 1)} in steps of "
        "1000, plus the rank), t_l = 20 s; means over seeds. *Computed*: the recurrences (1.3.1 to 1.3.5) "
        "with all loads known. *Here*: the policy core in virtual time; *predicted here*: at the first "
        "synchronization, from the loads seen so far, among the paper's four, for what is left of the "
        "loop; *committed to*: what `auto` went on with most often, which may also be another strategy of "
        "this project."
    )
    table = Table("Table 1.4, t_l = 20 s.", head, lines)
    return Section("Table 1.4: actual and predicted best strategies", note, values, (table,))


def tables(found: dict[float, list[Row]]) -> Section:
    """Tables 1.1 to 1.3: without balancing."""
    lines = []
    for key, rows in groupby(found[20.0], key=program_of):
        shown = [
            f"{sum(row.mean_s(NONE) for row in of if program_of(row) == key):.1f}" for of in found.values()
        ]
        lines.append((key[0], str(key[2]), key[1], f"{next(rows).case.static_s:.1f}", *shown))
    head = ("program", "P", "size", "printed, s", *(f"here, t_l = {each:g} s" for each in found))
    note = (
        "The time of an iteration is chosen so that work under the mean slowdown of 2.449 takes the time "
        "printed. The slowest rank decides, and the more so the longer a load persists: that is the excess "
        "here."
    )
    table = Table("Execution times without balancing, simulated.", head, tuple(lines))
    return Section(
        "Tables 1.1, 1.2, 1.3: without balancing", note, (Value("zaki.tables", "", "the table"),), (table,)
    )


def program_of(row: Row) -> tuple[str, str, int]:
    """Program, size and ranks; TRFD's loops are one program."""
    words = [word for word in row.case.name.split() if word not in ("L1", "L2")]
    return words[0], " ".join(words[1:]), row.case.ranks


def bars(rows: Sequence[Row]) -> list[Section]:
    """Figures 1.7, 1.9 and 1.10: time over that without balancing."""
    sections = []
    for program, figure in (("MXM", "1.7"), ("TRFD", "1.9"), ("AC", "1.10")):
        mine = [row for row in rows if program_of(row)[0] == program]
        panels = [
            panel(program, ranks, [row for row in mine if row.case.ranks == ranks]) for ranks in (4, 16)
        ]
        caption = f"Figure {figure}: {program}, time over that without balancing, simulated, t_l = 20 s."
        plot = Plot(f"zaki-{figure.replace('.', '-')}", caption, tuple(panels))
        sections.append(Section(f"Figure {figure}: {program}", "", (), (), (plot,)))
    return sections


def panel(program: str, ranks: int, rows: Sequence[Row]) -> Panel:
    """A group of bars a size, those of TRFD being of both loops together."""
    sizes = [(key, list(group)) for key, group in groupby(rows, key=program_of)]
    names = (*STRATEGIES, "auto")
    heights = {
        name: [sum(row.mean_s(name) for row in of) / sum(row.mean_s(NONE) for row in of) for _, of in sizes]
        for name in names
    }
    series = tuple(
        Series(name, tuple(map(float, range(len(sizes)))), rounded(heights[name], 4), bars=True)
        for name in names
    )
    ticks = tuple(key[1].replace(" ", "\n") for key, _ in sizes)
    return Panel(f"{program}, P = {ranks}", series, "", "time over no balancing", ticks=ticks)
