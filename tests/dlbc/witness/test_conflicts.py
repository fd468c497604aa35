"""`dlbc witness` finds the first conflict of each program, and none where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlbc.cli import main
from tests.dlbc.witness.cases import CONFLICTS
from tests.dlbc.witness.peaceful import PEACEFUL

HEAD = re.compile(r"^.*?:\d+:\d+: conflict: iterations (.*) and (.*) share (.*)$")
SOURCE = re.compile(r"^ *(\d+) \| ")
SIDE = re.compile(
    r" [-^]+ iteration (.*?) ((?:read|stored|updated|added|stores|reads|updates|adds).*?) it( before)?$"
)


def finding(report: str) -> str:
    """The findings of a report, in the short form of the cases."""
    found = []
    lines = report.splitlines()
    for number, line in enumerate(lines):
        if head := HEAD.match(line):
            later, earlier = (side(lines, number + k) for k in (1, 3))
            run = re.search(r", in its run number (\d+)", lines[number + 5])
            found.append(f"{head[3]}: {earlier}, {later}" + (f", run {run[1]}" if run else ""))
    return "; ".join(found) or "none"


def side(lines: list[str], at: int) -> str:
    source, label = SOURCE.match(lines[at]), SIDE.search(lines[at + 1])
    assert source is not None, lines
    assert label is not None, lines
    return f"{source[1]} {label[2]} by {label[1]}"


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_is_found(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, expected = CONFLICTS[name]
    path = tmp_path / "prog.py"
    path.write_text(program)
    status = main(["witness", str(path)])
    report = capsys.readouterr().err
    assert finding(report) == expected, report
    assert status == 1


@pytest.mark.parametrize("name", PEACEFUL)
def test_no_conflict_is_found(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prog.py"
    path.write_text(PEACEFUL[name])
    status = main(["witness", str(path)])
    report = capsys.readouterr().err
    assert finding(report) == "none", report
    assert "no conflict between iterations; watched: " in report
    assert "not watched" not in report
    assert status == 0
