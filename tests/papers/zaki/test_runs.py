"""What is shown of the 28 cases on ranks, from what the benchmark of strategies writes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
from papers.zaki.cases import CASES
from papers.zaki.runs import STRATEGIES, bars, shown

from tests.bench.paper.records import Host, Results, Run, Settings
from tests.bench.paper.summary import rows

TIMES = {"none": 4.0, "GCDLB": 2.2, "GDDLB": 2.0, "LCDLB": 3.0, "LDDLB": 2.5, "auto": 2.2}


def runs() -> list[Run]:
    """Every case under the loads of two seeds, under the second twice as slow."""
    return [
        Run(case.name, case.ranks, name, seed, 0, s * seed, 1.0, "GCDLB", {}, 1, 1, 1, 1, 1, 1, 1)
        for case in CASES for seed in (1, 2) for name, s in TIMES.items()
    ]  # fmt: skip


def test_bars_put_the_loops_of_a_program_together() -> None:
    found = [asdict(run) for run in runs()]
    for run in found:
        if run["case"].endswith("L2") and run["strategy"] != "none":
            run["elapsed_s"] *= 3
    assert list(bars(found, "TRFD", 16)) == ["n=30", "n=40", "n=50"]
    heights = bars(found, "TRFD", 4)["n=30"]
    assert heights == pytest.approx([2 * TIMES[name] / TIMES["none"] for name in STRATEGIES])


def test_a_section_has_a_row_for_each_case_and_a_plot_for_each_program(tmp_path: Path) -> None:
    table = [asdict(row) for row in rows(runs())]
    host = Host(2, "processor", "3.11", "an MPI", "2026-01-02T03:04", 0.0)
    section = shown({**asdict(Results(Settings("emulated", 0.8, 20.0), [host], runs())), "table": table})
    assert "2026-01-02, 2 cores of a processor" in section.text
    (made,) = section.tables
    assert [line[:2] for line in made.rows] == [(case.name, str(case.ranks)) for case in CASES]
    assert {line[4:8] for line in made.rows} == {("GDDLB", "GCDLB", "0.50", "1.10")}
    assert "balancing gains in 28 of 28 rows" in made.caption
    assert [len(plot.panels) for plot in section.plots] == [2, 2, 2]
