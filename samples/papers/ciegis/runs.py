"""Both examples on ranks whose speeds are emulated, rows taking their time by waiting (`paced`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from papers.ciegis.elimination import StageCost, serial_time
from papers.findings import Chapter, Extent, Section, Table
from papers.launch import kept_section, run

__all__ = ["section"]

TITLE = "On ranks: both examples with emulated speeds"
PACED = Path(__file__).with_name("paced.py")
EXAMPLE_1 = (0.129, 0.202, 0.349, 0.620)
EXAMPLE_2 = (1.0, 1.5, 2.5, 3.1, 3.6, 4.3)
ROUNDS = 2
#: Seconds of a whole row on the fastest rank.
PRODUCT_S, LU_S = 0.03, 0.012


def section(extent: Extent, before: Chapter | None) -> Section:
    """What ranks measured, now or before."""
    return kept_section(TITLE, extent, before, measured)


def measured() -> Section:
    """Run both examples, and tell their times in the paper's units."""
    product = seconds(EXAMPLE_1, "sgemv", 130, PRODUCT_S) / (PRODUCT_S * EXAMPLE_1[-1])
    rows = [("example 1, sgemv of 130 rows", "100.8", "100.8", f"{product:.1f}", "")]
    serial_s = serial_time(100, StageCost.LU) * LU_S * EXAMPLE_2[-1]
    for name, rates, kind, computed in (
        ("example 2, scattered rows", EXAMPLE_2, "CYCLIC", ("10.38, 15.42", "10.38, 15.42")),
        ("example 2, blocks, slowest first", EXAMPLE_2, "BLOCK", ("14.73, 10.86", "15.02, 10.65")),
        ("example 2, blocks, fastest first", EXAMPLE_2[::-1], "BLOCK", ("16.93, 9.45", "15.39, 10.40")),
    ):
        speedup = serial_s / seconds(rates, kind, 100, LU_S)
        rows.append((name, *computed, f"{160 / speedup:.2f}", f"{speedup:.2f}"))
    caption = (
        f"Times in the paper's units and speed-ups, the least of {ROUNDS} runs; blocks are computed with the "
        "rows of figure 1, by which ranks share them. What is measured contains the messages of the 99 "
        "stages."
    )
    head = ("", "printed", "computed", "time here", "speed-up here")
    return Section(TITLE, "", (), (Table(caption, head, tuple(rows)),))


def seconds(rates: Sequence[float], name: str, n: int, row_s: float) -> float:
    """The least time of some runs on ranks of these rates: what else a machine does only adds to it."""
    listed = ",".join(map(str, rates))
    options = ["--strategy", "none", "--weights", listed, "--speeds", listed]
    times = [float(run(len(rates), options, PACED, (name, str(n), str(row_s))).output) for _ in range(ROUNDS)]
    return min(times)
