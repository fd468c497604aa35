"""Notebooks as programs: what IPython alone understands, places in cells, and files that are no notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dlbc.cli import main
from dlbc.parse.read_notebook import read_notebook

#: Cell 3, a loop that is refused, reads in line 4 what it stores in another iteration.
CELLS = (
    "%matplotlib inline\nimport numpy as np",
    "A = np.ones(9)\n!pip list",
    "\n# dlb: parallel\nfor i in range(1, 9):\n    A[i] = A[i - 1]\n",
    "# dlb: parallel\nfor i in range(9):\n    A[i] = f(i)",
)


def notebook(path: Path, cells: Iterable[str], **more: Any) -> Path:
    listed = [{"cell_type": "markdown", "source": ["# dlb: parallel\n", "text"]}]
    listed += [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"nbformat": 4, "cells": listed, "metadata": {}} | more))
    return path


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return notebook(Path("book.ipynb"), CELLS)


def program(tmp_path: Path, *cells: str) -> str:
    source, problems = read_notebook(str(notebook(tmp_path / "x.ipynb", cells)))
    assert problems == ()
    return source.text


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if a:\n    !ls -l 'x\ny = 2", "if a:\n    pass\ny = 2"),
        ("x = (a\n% b)", "x = (a\n% b)"),
        ("x = '''\n%magic\n!ls\nwhat?\n'''", "x = '''\n%magic\n!ls\nwhat?\n'''"),
        ("len?\n??print\nx.y??", "pass\npass\npass"),
        ("files = !ls\nn, m = %who_ls", "files = get_ipython()\nn, m = get_ipython()"),
        ("%time x = f()\n%time", "x = f()\npass"),
        ("!ls \\\n  -l \\\n  x\ny = 1", "pass\n\n\ny = 1"),
        ("%%time\nx = 1\n%cd ..", "\nx = 1\npass"),
        ("%%bash\nfor f in *; do\ndone", "\n\n"),
        ("x = (1\ny = 2", "x = (1\ny = 2"),
    ],
)
def test_what_ipython_alone_understands(cell: str, python: str, tmp_path: Path) -> None:
    assert program(tmp_path, cell) == python


def test_cells_follow_each_other_line_for_line(tmp_path: Path) -> None:
    source, _ = read_notebook(str(notebook(tmp_path / "x.ipynb", ["a = 1\n", "", "b = 2\nc = 3"])))
    assert source.lines == ("a = 1", "", "", "", "", "b = 2", "c = 3")
    assert [source.in_cell(line) for line in (1, 4, 6, 7)] == [(1, 1), (2, 1), (3, 1), (3, 2)]


def test_places_are_in_cells(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "."]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("book.ipynb, cell 3, line 4: error[DLB301]: ")
    assert lines[1] == "    4 |     A[i] = A[i - 1]"


def test_another_cell_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = notebook(tmp_path / "x.ipynb", ["# dlb: parallel", "# dlb: parallel\nfor i in x:\n    pass"])
    assert main(["check", str(twice)]) == 1
    said = capsys.readouterr().err
    assert "cell 2, line 1: error[DLB105]" in said
    assert re.search(r"-+ the other annotation, cell 1\n", said)


def test_messages_that_mention_lines_mean_those_of_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook(tmp_path / "x.ipynb", ["x = 1\ny = 2", "# dlb: parallel\nz = 3"])
    assert main(["check", str(path)]) == 1
    assert "it stands above cell 2, line 2, which begins no loop" in capsys.readouterr().err


def test_places_in_formats_for_tools(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(form: str) -> str:
        assert main(["check", "--format", form, "book.ipynb"]) == 1
        return capsys.readouterr().out

    [found, _] = json.loads(shown("json"))
    assert {key: found[key] for key in ("cell", "line", "column", "end_line")} == {
        "cell": 3, "line": 4, "column": 5, "end_line": 4
    }  # fmt: skip
    assert [(note["cell"], note["line"]) for note in found["notes"]] == [(3, 4)]
    [result, _] = json.loads(shown("sarif"))["runs"][0]["results"]
    [place] = result["locations"]
    assert "region" not in place["physicalLocation"]
    assert place["message"]["text"] == "cell 3, line 4: write in iteration i=1"
    line = shown("github")
    assert line.startswith("::error file=book.ipynb,title=DLB301::book.ipynb, cell 3, line 4: iterations")
    assert "%0Acell 3, line 4: write in iteration" in line


def test_explanations(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "book.ipynb"]) == 1
    said = capsys.readouterr().out
    assert "book.ipynb, cell 3, line 3: for i in range(1, 9):\n  refused\n" in said
    assert "DLB301  cell 3, line 4: iterations" in said
    assert "`f` in cell 4, line 3: what it changes" in said
    assert not re.search(r"(?<!cell \d, )line \d", said)
    assert main(["explain", "--format", "json", "book.ipynb"]) == 1
    refused, watched = json.loads(capsys.readouterr().out)["loops"]
    assert [(loop["cell"], loop["line"]) for loop in (refused, watched)] == [(3, 3), (4, 2)]
    assert (refused["findings"][0]["cell"], watched["watched"]) == (3, {"f": 3})


def test_a_notebook_may_await_outside_functions(tmp_path: Path) -> None:
    path = notebook(
        tmp_path / "x.ipynb", ["x = await f()", "A = [0]\n# dlb: parallel\nfor i in range(1):\n    A[i] = 1"]
    )
    assert main(["check", str(path)]) == 0


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line 1 is not JSON"),
        (b'{"cells": [\n', "line 2 is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not an object"),
        (b'{"nbformat": 3, "worksheets": []}', "its format is number 3"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"cells": [1]}', "no list of cells"),
        (b'{"cells": [{"cell_type": "code"}]}', "the source of a cell is no text"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "the source of a cell is no text"),
        (b'{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "in the language 'r'"),
    ],
)
@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_damaged_notebook(
    command: str, data: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ipynb"
    path.write_bytes(data)
    assert main([command, str(path)]) == 2
    said = capsys.readouterr().err
    assert "x.ipynb: error[DLB017]" in said
    assert reason in said
    assert main([command, str(tmp_path)]) == 0


def test_half_a_surrogate_brings_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(tmp_path / "x.ipynb", ["# dlb: parallel\nfor i in '\ud800':\n    pass"])
    assert main(["check", str(path)]) == 1
    assert "DLB004" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["transform"], ["run", "-n", "2"], ["witness"], ["simulate", "--ranks", "2"]]
)
def test_commands_that_need_a_program_say_how_to_get_one(
    words: list[str], book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "book.ipynb"]) == 2
    said = capsys.readouterr().err
    assert "error[DLB018]" in said
    assert "jupyter nbconvert --to script book.ipynb" in said
    assert [path.name for path in book.absolute().parent.iterdir()] == ["book.ipynb"]
