"""The papers' programs on ranks: they run, their statistics come back, and a failure is one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.ciegis.runs import PACED as ELIMINATION
from papers.clarke.runs import PACED as ROUTINE
from papers.findings import Chapter, Extent, Section
from papers.launch import NOTHING, RunError, kept_section, run
from papers.swartz.clocked import CUT_BY

pytestmark = pytest.mark.mpi
RATES = ("--strategy", "none", "--weights", "1,3", "--speeds", "1,3")


@pytest.mark.parametrize("kind", ["sgemv", "BLOCK", "CYCLIC"])
def test_rows_are_dealt_by_the_rates(kind: str) -> None:
    found = run(2, RATES, ELIMINATION, (kind, "16", "0.001"))
    assert float(found.output) > 0
    if kind == "sgemv":
        (loop,) = found.loops
        assert [rank["iterations"] for rank in loop["per_rank"]] == [4, 12]


@pytest.mark.parametrize("model", ["constant", "piecewise", "akima"])
def test_a_routine_prints_the_time_of_each_pass(model: str) -> None:
    found = run(2, (), ROUTINE, (model, "12", "3", "0.001"))
    assert [float(line) > 0.003 for line in found.output.split()] == [True] * 3


def test_a_sieve_is_cut_by_what_the_run_before_has_measured(tmp_path: Path) -> None:
    options = ("--strategy", "none", "--learned", str(tmp_path / "learned.json"))
    shares = []
    for name in ("length", "formula", "profile", "profile"):
        found = run(2, options, CUT_BY, (name, "60000"))
        assert found.output.startswith("6057 primes")
        shares.append([rank["iterations"] for rank in found.loops[0]["per_rank"]])
    assert shares[0] == shares[2] == [15000, 14999]
    assert shares[1][0] > 1.2 * shares[1][1]
    assert shares[3] != shares[2]


def test_a_failure_is_one_line(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text(
        "# dlb: parallel\nfor i in range(4):\n    raise OSError('no\\nend')\n", encoding="utf-8"
    )
    with pytest.raises(RunError, match=r"fails\.py on 2 ranks: status 1: ") as caught:
        run(2, (), program)
    assert "\n" not in str(caught.value)


def test_what_was_measured_is_kept_unless_ranks_run() -> None:
    kept, made = Section("a title", "before"), Section("a title", "now")
    chapter = Chapter("zaki", "", "", "", (kept,))
    assert kept_section("a title", Extent(), chapter, lambda: made) is kept
    assert kept_section("a title", Extent(runs=True), chapter, lambda: made) is made
    assert kept_section("a title", Extent(), None, lambda: made) == Section("a title", NOTHING)
