"""Remarks: one list behind text, lines and JSON; every code has an example that shows it, and a row."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dlbc.cli import main
from dlbc.commands.explain import add_arguments
from dlbc.commands.explain.file import ExplainedFile, explain_file
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.explain.remarks import RemarkFilter
from dlbc.commands.explain.show import as_lines, object_of_file, text_of_file
from dlbc.commands.rules import remarks_on
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.remark_codes import PARTS, REMARKS, RemarkKind
from dlbc.pipeline import explain, propose
from dlbc.source import Source
from tests.support.document import REMARK_CASES, ROOT, remark_examples

PAGE = (ROOT / "docs" / "remarks.md").read_text(encoding="utf-8")
PROGRAMS = sorted(REMARK_CASES.glob("*.py"))

PROGRAM = """\
import numpy as np

A = np.zeros((6, 8))
B = np.zeros((6, 8))
# dlb: parallel, jit
for i in range(1, 5):
    for j in range(8):
        B[i, j] = A[i - 1, j] + A[i + 1, j]
# dlb: parallel
for k in range(1, 6):
    A[k] = A[k - 1]
for k in range(6):
    A[k] = k
"""


def explained(text: str, ranks: RankSpec | None = None) -> ExplainedFile:
    source = Source("case.py", text.encode(), text)
    return explain_file(source, explain(source), ranks, propose(source))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_all_ways_show_the_same_remarks(path: Path) -> None:
    """Text by sections, lines and JSON have each remark, and nothing else."""
    file = explained(path.read_text(encoding="utf-8"), RankSpec(4))
    text, found = text_of_file(file), object_of_file(file)
    listed = [r for each in (*found["loops"], *found["routines"], found) for r in each["remarks"]]
    assert sorted((r["code"], r["line"], r["message"]) for r in listed) == sorted(
        (r.code, r.place.line, r.text) for r in file.remarks
    )
    said = [r for r in file.remarks if r.code != "DLB600"]  # in the text it is the status
    assert all(r.text in text for r in said)
    rows = [line for line in text.splitlines() if re.match(r"    (?! *\d* \| )", line)]
    of_loops = [r for r in said if r.section]
    assert len(rows) == len(of_loops)
    heads = [line for line in as_lines(file, RemarkFilter()).splitlines() if not line.startswith("  help: ")]
    assert len(heads) == len(file.remarks)


def test_places_are_ranges_in_the_source() -> None:
    file = explained(PROGRAM)
    found = {(r.code, r.subject): file.source.line(r.place.line)[r.place.column - 1 : r.place.end_column - 1]
             for r in file.remarks if r.place.line == r.place.end_line}  # fmt: skip
    assert found["DLB600", ""] == "for i in range(1, 5)"
    assert found["DLB650", "jit"] == "jit"
    assert found["DLB620", "A"] == "A"
    assert found["DLB630", "j"] == "j"
    assert found["DLB301", ""] == "A[k]"
    assert found["DLB680", ""] == "for k in range(6)"


def test_a_loop_is_told_by_what_was_done_what_was_not_and_what_is_known() -> None:
    kinds = {r.code: r.kind for r in explained(PROGRAM, RankSpec(4)).remarks}
    assert kinds["DLB650"] is RemarkKind.PASSED
    assert kinds["DLB301"] is RemarkKind.MISSED
    assert kinds["DLB641"] is RemarkKind.ANALYSIS
    assert {kinds[code] for code in kinds.keys() & REMARKS.keys()} == set(RemarkKind)
    assert all(REMARKS[code].kind is kind for code, kind in kinds.items() if code in REMARKS)


def lines_of(capsys: pytest.CaptureFixture[str], tmp_path: Path, *options: str) -> list[str]:
    program = tmp_path / "case.py"
    program.write_text(PROGRAM)
    main(["explain", *options, str(program)])
    return re.findall(r"(?:passed|missed|analysis)\[(DLB\d{3})\]", capsys.readouterr().out)


def test_remarks_are_chosen_by_kind_code_and_part(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    every = lines_of(capsys, tmp_path, "--remarks", "passed,missed,analysis")
    missed = lines_of(capsys, tmp_path, "--remarks", "missed")
    assert set(missed) < set(every)
    assert {"DLB301", "DLB603"} <= set(missed)
    assert set(lines_of(capsys, tmp_path, "--only", "jit")) == {"DLB650"}
    assert set(lines_of(capsys, tmp_path, "--only", "DLB65")) == {"DLB650"}
    assert lines_of(capsys, tmp_path, "--only", "dlb301,DLB650") == ["DLB650", "DLB301"]
    assert lines_of(capsys, tmp_path, "--only", "jit", "--remarks", "passed") == ["DLB650"]
    assert lines_of(capsys, tmp_path, "--only", "annotate") == []
    assert lines_of(capsys, tmp_path, "--only", "annotate", "--unannotated") == ["DLB680"]


def test_json_has_the_remarks_that_are_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "case.py"
    program.write_text(PROGRAM)
    main(["explain", "--format", "json", "--only", "DLB650", str(program)])
    found = json.loads(capsys.readouterr().out)
    [remark] = [r for loop in found["loops"] for r in loop["remarks"]]
    place = {"line": 5, "column": 18, "end_line": 5, "end_column": 21}
    assert remark == {"code": "DLB650", "kind": "passed", "part": "jit", **place, "subject": "jit",
                      "message": remark["message"], "help": ""}  # fmt: skip
    assert found["loops"][0]["status"] == "proven", "the other keys stay"


@pytest.mark.parametrize("wrong", ["--remarks=pased", "--only=jits", "--only=DLBX", "--only="])
def test_a_filter_that_fits_nothing_is_wrong_usage(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain", wrong, "case.py"])
    assert ended.value.code == 2
    assert "found" in capsys.readouterr().err


def test_in_notebooks_places_are_those_of_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
             for text in ("A = [0] * 4", "# dlb: parallel\nfor i in range(4):\n    A[i] = i")]  # fmt: skip
    book = tmp_path / "book.ipynb"
    book.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    main(["explain", "--only", "DLB600", str(book)])
    assert "book.ipynb, cell 2, line 2: passed[DLB600]" in capsys.readouterr().out


def test_codes_are_no_diagnostics_and_the_table_is_in_order() -> None:
    assert not REMARKS.keys() & CATALOGUE.keys()
    assert list(REMARKS) == sorted(REMARKS)
    assert all(re.fullmatch(r"[A-Z][^{}`]*\.", entry.title) for entry in REMARKS.values())
    assert len({entry.title for entry in REMARKS.values()}) == len(REMARKS)


@pytest.mark.parametrize("code", REMARKS)
def test_every_remark_has_an_example_that_shows_it(code: str) -> None:
    example = remark_examples()[code]
    assert example is not None
    shown = list(remarks_on(code, example)) if example.program else [example.command]
    assert shown
    assert all(code in line for line in shown) or example.command


def test_the_page_has_every_code_and_part() -> None:
    rows = re.findall(r"^\| (DLB\d{3}) \| (\w+) \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(code, e.kind.value, e.part, e.title) for code, e in REMARKS.items()]
    assert all(f"`{part}`" in PAGE for part in PARTS)


def test_the_page_s_commands_print_what_it_says(tmp_path: Path) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "heat.py").write_text(program)
    commands = re.findall(
        r"^(?:`|and `)(dlbc explain [^`]*)`(?: prints)?\n\n```text[^\n]*\n(.*?)^```$", PAGE, re.M | re.S
    )
    assert len(commands) == 2
    for command, expected in commands:
        words = [sys.executable, "-m", *command.split()]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
        assert done.stdout == expected
    examples = re.findall(r"^dlbc (explain [^#]*?) +#", PAGE, re.MULTILINE)
    assert examples
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for example in examples:
        assert parser.parse_args(example.split()[1:]).files == ["heat.py"]
