"""Four programs with four causes of lost time: the head of each report names the cause, and the loop."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from dlbrt.observe.trace import read
from dlbrt.records import dataclass

from dlbc.commands.report.content import Report, report_of
from dlbc.commands.report.findings import Cause
from tests.support.mpi import run_sequential
from tests.support.tier import is_full

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parent.parent.parent

MOVING = """
import numpy as np

def double(a):
    # dlb: parallel
    for i in range(len(a)):
        a[i] = a[i] * 2.0

a = np.ones((1500, 2000))
for _ in range(60):
    double(a)
print(a.sum())
"""

#: Rows of some milliseconds, in which other programs do not count. With more than 25 of them the third rank
#: is slower, as if its memory were full.
PAGING = """
import time
import numpy as np

def relax(u, passes):
    # dlb: iterate, model=piecewise
    for k in range(passes):
        v = np.zeros_like(u)
        # dlb: parallel
        for i in range(1, len(u) - 1):
            time.sleep(0.004)
            for j in range(1, len(u[i]) - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u = v
    return u

u = np.zeros((122, 42))
u[0] = 1.0
print(relax(u, 10).sum())
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program with its arguments, the options of its run, and what the head of its report has to say."""

    name: str
    program: str
    words: tuple[str, ...]
    options: tuple[str, ...]
    cause: Cause
    said: str


CASES = (
    Case("mandelbrot", "", ("360", "270", "900", "--png", "p.png"), ("-n", "4", "--strategy", "none"),
         Cause.UNEVEN_COST, "-fold more in the middle"),
    Case("mxm", "", ("500", "300"), ("-n", "2", "--load", "fixed:0,9"),
         Cause.SLOW_RANK, "rank 1 computed "),
    Case("moving", MOVING, (), ("-n", "2", "--strategy", "GDDLB"),
         Cause.TRANSFERS, "of the loop's time went into sending calls, rows and results"),
    Case("paging", PAGING, (), ("-n", "3", "--strategy", "LDDLB", "--group", "1", "--speeds", "1,1,1@25:15"),
         Cause.MEMORY_CLIFF, "rank 2 becomes "),
)  # fmt: skip


def reported(case: Case, home: Path) -> Report:
    """The report of a run of the program, by the commands that users give."""
    text = case.program or (ROOT / "samples" / f"{case.name}.py").read_text()
    (home / f"{case.name}.py").write_text(text)
    words = ["run", *case.options, "--trace", "t.json", f"{case.name}.py", *case.words]
    done = run_sequential([sys.executable, "-m", "dlbc", *words], timeout=240, cwd=home)
    assert done.status == 0, done.stderr
    made = run_sequential([sys.executable, "-m", "dlbc", "report", "t.json"], cwd=home)
    assert (made.status, made.stdout) == (0, b"t.html\n"), made.stderr
    found = report_of(read(home / "t.json"), "t.json")
    assert found.headline in (home / "t.html").read_text()
    return found


@pytest.mark.parametrize("case", CASES if is_full() else CASES[2:3], ids=lambda case: case.name)
def test_the_head_of_the_report_names_the_cause(case: Case, tmp_path: Path) -> None:
    found = reported(case, tmp_path)
    assert found.advice is not None
    seen = [(each.cause.name, each.gain_s, each.what) for each in (found.advice, *found.others)]
    assert found.advice.cause is case.cause, seen
    assert case.said in found.advice.what, seen
    assert found.advice.place.startswith(f"{case.name}.py:")
    words = f"dlbc run -n {case.options[1]} {' '.join(case.options[2:])}".split()
    assert sorted(found.command.split()) == sorted(
        [*words, "--trace", "t.json", f"{case.name}.py", *case.words]
    )


def test_the_commands_of_the_page_are_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
             for line in block.splitlines()]  # fmt: skip
    assert len(lines) == 3
    for line in lines:
        name, *words = shlex.split(line)
        assert name == "dlbc"
        done = run_sequential([sys.executable, "-m", "dlbc", *words], cwd=tmp_path)
        assert done.status == 0, done.stderr
    assert done.stdout.startswith(b"Report of trace.json\n  dlbc run -n 3 --strategy none --trace trace.json")
    found = report_of(read(tmp_path / "trace.json"), "trace.json")
    assert found.headline.split()[0].encode() in done.stdout
    assert found.headline in (tmp_path / "trace.html").read_text()


def test_the_page_has_a_row_for_each_cause() -> None:
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", page.partition("## Causes")[2], re.MULTILINE)
    assert rows[2:] == [cause.value for cause in Cause]
