"""All tables and both examples of Ciegis et al.; LU and sgemv on ranks of emulated speeds (`ciegis.runs`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbrt.partition.proportional import block_rows, floors, product_efficiency, scattered_owners
from numpy.typing import ArrayLike

from papers.ciegis import runs
from papers.ciegis.efficiency import (
    block_efficiency,
    block_limit,
    optimal_last_row_split,
    scattered_efficiency,
    two_blocks_efficiency,
)
from papers.ciegis.elimination import StageCost, block_order, block_owners, makespan, serial_time
from papers.ciegis.rows import floors_and_first, scattered_rows
from papers.findings import Chapter, Extent, Panel, Plot, Section, Series, Table, Value, misprints

__all__ = ["chapter"]

TITLE = "Ciegis, Sablinskas, Simkevicius, Wasniewski: static distribution of rows"
SOURCE = (
    'R. Ciegis, R. Sablinskas, J. Simkevicius, J. Wasniewski, "Load Balancing Problem for Parallel Computers '
    "with "
    'Distributed Memory", Informatica 7 (3), 1996. Formulas: `samples/papers/ciegis`, '
    "`dlbrt/partition/proportional.py`."
)
SUMMARY = (
    "All efficiencies and both examples come out, to the digits printed. One rate of example 2 is "
    "misprinted (3.1), five of its 100 rows are missing, and two values of tables and text are wrong in the "
    "last digits. The block times of example 2 are not those of the distribution that the text names. On "
    "ranks of the examples' rates the distributions have the order computed (scattered rows, blocks with "
    "the slowest first, with the fastest first); they take a fifth to a third longer, by the messages of "
    "the 99 stages, which the paper leaves out, and by what else the machine does."
)

#: Table 1 is of p = 10 processors and m = p r + 1 rows; tables 2 and 3 of n = p r rows.
P = 10
EXAMPLE_1 = (0.129, 0.202, 0.349, 0.620)
#: w_4 is 3.1, printed 3.11.
EXAMPLE_2 = (1.0, 1.5, 2.5, 3.1, 3.6, 4.3)
ROWS = 100
#: Time units in which processor 1 does LU of 100 rows alone.
SERIAL = 160
MANY = 10**6
MISPRINTS = (
    "* Figure 2: the innermost loop is k = i + 1 to n; as printed, k = j to n, it is no LU "
    "decomposition.\n"
    "* Section 3.2: the first sum has r / n and ends at n - r, printed r / (n - r) and n - i.\n"
    "* Section 4: the second sum has n - i, printed n - 1.\n"
    "* floor(m w_j / W) needs exact rationals: in doubles the 62 of example 1 is 61 if W is summed in "
    "decreasing order.\n"
)


def chapter(extent: Extent, before: Chapter | None) -> Chapter:
    """The chapter; ranks run where ``extent`` says so."""
    sections = (products(), example_1(), eliminations(), unequal(), example_2(), runs.section(extent, before))
    return Chapter("ciegis", TITLE, SOURCE, SUMMARY, (*sections, misprints(MISPRINTS)))


def listed(values: Sequence[float], digits: int = 3) -> str:
    """Numbers with so many decimals, one after the other."""
    return " ".join(f"{value:.{digits}f}" for value in values)


def products() -> Section:
    """Section 2.1: a product of rows on equal processors."""
    found = [product_efficiency(P * r + 1, P) for r in (1, 2, 4, 8, 17)]
    text = (
        "Rows of equal cost on equal processors: m = 10r + 1 rows. Where the last row is split among s "
        f"processors, s* = sqrt(2n) is best: {optimal_last_row_split(800):.0f} for n = 800 columns."
    )
    worst = Value("ciegis.worst", listed([product_efficiency(P + 1, P)]))
    return Section(
        "Table 1: sgemv on equal processors", text, (Value("ciegis.table_1", listed(found)), worst)
    )


def example_1() -> Section:
    """Section 2.2: rows in proportion to rates, those left over by figure 1."""
    low, rows = floors(130, EXAMPLE_1), block_rows(130, EXAMPLE_1)
    times = [row / rate for row, rate in zip(low, EXAMPLE_1, strict=True)]
    more = [(row + 1) / rate for row, rate in zip(low, EXAMPLE_1, strict=True)]
    last = max(row / rate for row, rate in zip(rows, EXAMPLE_1, strict=True))
    values = (
        Value("ciegis.example_1_floors", " ".join(map(str, low))),
        Value("ciegis.example_1_times", listed(times, 1)),
        Value("ciegis.example_1_more", listed(more, 1)),
        Value("ciegis.example_1_second", f"{(low[2] + 2) / EXAMPLE_1[2]:.2f}"),
        Value("ciegis.example_1_rows", " ".join(map(str, rows))),
        Value("ciegis.example_1_time", f"{last:.1f}"),
    )
    return Section("Example 1 and figure 1: sgemv of 130 rows on 4 processors that differ", "", values)


def eliminations() -> Section:
    """Sections 3.1 to 3.3: elimination on equal processors."""
    rows = (1, 2, 4, 10, 20)
    stages = {"ciegis.table_2": StageCost.CONSTANT, "ciegis.table_3": StageCost.LU}
    tables = tuple(
        Value(name, listed([scattered_efficiency(P * r, P, stage) for r in rows], 4), counted(rows, stage))
        for name, stage in stages.items()
    )
    far = [P * block_efficiency(P * MANY, P, stage) for stage in StageCost]
    limits = Value("ciegis.limits", listed([P * block_limit(P, stage) for stage in StageCost]), listed(far))
    text = (
        "n = 10r rows on 10 processors, dealt in turn. *Computed* is the closed form, *here* the sum over "
        "all stages of what the slowest processor takes. Blocks of rows use half of the processors' time, "
        "or 2/3 for LU."
    )
    title = "Tables 2 and 3: elimination with scattered rows, and limits for blocks"
    return Section(title, text, (*tables, limits), (), (curves(),))


def counted(rows: Sequence[int], stage: StageCost) -> str:
    """E_10 by stages."""
    rates = [1.0] * P
    sums = [makespan(scattered_owners(P * r, rates), rates, stage) for r in rows]
    serial = [serial_time(P * r, stage) for r in rows]
    return listed([whole / (P * each) for whole, each in zip(serial, sums, strict=True)], 4)


def curves() -> Plot:
    """Efficiencies of blocks and scattered rows."""
    rows = (1, 2, 3, 4, 6, 8, 10, 14, 20, 30, 50, 100)
    series = [
        Series(
            f"{name}, {stage.value}", tuple(map(float, rows)), tuple(of(P * r, P, stage) for r in rows), style
        )
        for stage, style in ((StageCost.CONSTANT, "--"), (StageCost.LU, "-"))
        for name, of in (("scattered", scattered_efficiency), ("blocks", block_efficiency))
    ]
    panel = Panel(
        "elimination on 10 equal processors", tuple(series), "rows a processor, r", "efficiency", "x"
    )
    return Plot("ciegis-elimination", "Tables 2 and 3 as curves, with blocks of rows.", (panel,))


def unequal() -> Section:
    """Section 4, table 4."""
    speeds = (0.5, 1, 1.5, 2, 4)
    values = tuple(
        Value(f"ciegis.table_4_{n}", listed([two_blocks_efficiency(n, s) for s in speeds])) for n in (10, 100)
    )
    text = (
        "LU in two blocks on processors of rates 1 and s. For s < 1 the first, faster, has the first block."
    )
    return Section("Table 4: LU in blocks on two processors that differ", text, values)


def example_2() -> Section:
    """Section 4: LU of 100 rows on six processors."""
    scattered = scattered_rows(ROWS, EXAMPLE_2)
    values = (
        Value("ciegis.rate_4", f"{16 - sum(EXAMPLE_2) + EXAMPLE_2[3]:.2f}"),
        *(Value(f"ciegis.rows_{j}", " ".join(map(str, rows))) for j, rows in enumerate(scattered, 1)),
        Value("ciegis.row_counts", " ".join(str(len(rows)) for rows in scattered)),
        *times(),
    )
    text = (
        "LU of 100 rows on processors of the rates 1, 1.5, 2.5, 3.1, 3.6, 4.3. Row 50 is a tie of (4 + 1) "
        "/ 1.5 and (11 + 1) / 3.6, equal in exact arithmetic; in doubles the second is smaller, which "
        "gives the rows printed."
    )
    return Section("Example 2 and figure 3: LU on six processors that differ", text, values, (orders(),))


def times() -> Iterator[Value]:
    """T and S of three distributions."""
    of_text, of_print = block_rows(ROWS, EXAMPLE_2), floors_and_first(ROWS, EXAMPLE_2)
    falling = range(len(EXAMPLE_2) - 1, -1, -1)
    yield Value("ciegis.scattered", both(scattered_owners(ROWS, EXAMPLE_2), 4))
    yield Value("ciegis.blocks_fastest_first", both(block_owners(of_print, falling), 3))
    yield Value("ciegis.blocks_slowest_first", both(block_owners(of_print), 3))
    found = [units(block_owners(of_text, falling)), units(block_owners(of_text))]
    yield Value("ciegis.blocks_of_figure_1", listed(found, 2))


def units(owners: ArrayLike) -> float:
    """The time of LU in the paper's unit."""
    return SERIAL * makespan(owners, EXAMPLE_2, StageCost.LU) / serial_time(ROWS, StageCost.LU)


def both(owners: ArrayLike, digits: int) -> str:
    """Time and speed-up."""
    time = units(owners)
    return f"{time:.{digits}f} {SERIAL / time:.3f}"


def orders() -> Table:
    """Which order of the blocks is best."""
    rows = block_rows(ROWS, EXAMPLE_2)
    best = block_order(rows, EXAMPLE_2, StageCost.LU)
    tried = {"slowest first (the paper's)": tuple(range(6)), "fastest first": tuple(range(5, -1, -1))}
    tried["best of those that `block_order` tries"] = best
    found = [
        (name, " ".join(str(j + 1) for j in order), f"{units(block_owners(rows, order)):.2f}")
        for name, order in tried.items()
    ]
    caption = (
        "Time by the order of blocks, rows of figure 1. With rows in exact proportion to the rates only "
        "the owner of the last block counts; rounding to whole rows makes orders differ."
    )
    return Table(caption, ("order", "processors", "time"), tuple(found))
