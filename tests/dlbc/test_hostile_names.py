"""Outputs are written to, never put in the place of a device; names and texts arrive escaped everywhere."""

from __future__ import annotations

import ast
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from dlbc.cli import main

PROGRAM = "A = [0] * 9\n# dlb: parallel\nfor i in range(9):\n    A[i] = i\nprint(A)\n"
WRONG = "A = [0] * 9\n# dlb: parallel, {clause}\nfor i in range(9):\n    A[i] = i\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.py").write_text(PROGRAM)


def test_transform_writes_to_a_device_or_pipe(capsys: Any) -> None:
    assert main(["transform", "prog.py", "-o", os.devnull]) == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    assert main(["transform", "prog.py", "-o", "pipe"]) == 0
    reader.join(30)
    assert b"_dlb_loop_1" in got[0]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert capsys.readouterr().err == ""


def test_a_record_of_another_place_removes_nothing(tmp_path: Path) -> None:
    import hashlib

    Path("src").mkdir()
    Path("src/a.py").write_text(PROGRAM)
    Path("keep.py").write_text("precious\n")
    assert main(["transform", "src", "-o", "out"]) == 0
    [record] = [path for path in Path("out").iterdir() if path.suffix != ".py"]
    found = json.loads(record.read_text())
    digest = hashlib.sha256(b"precious\n").hexdigest()
    record.write_text(json.dumps(found | {"../keep.py": digest, str(tmp_path / "keep.py"): digest}))
    assert main(["transform", "src", "-o", "out"]) == 0
    assert Path("keep.py").read_text() == "precious\n"


NAMES = ["a'b\"c.py", "a\nimport os.py", "{x}%s.py", "<script>.py", "a\\n.py", "\x1b[31m.py", "a::b,c.py"]


@pytest.mark.parametrize("name", NAMES)
def test_generated_programs_have_file_names_as_text(name: str, capsys: Any) -> None:
    Path(name).write_text(PROGRAM)
    assert main(["transform", name, "-o", "out.py"]) == 0, capsys.readouterr().err
    tree = ast.parse(Path("out.py").read_bytes())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"dlbrt"}
    assert "\x1b" not in Path("out.py").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_diagnostics_have_file_names_escaped(name: str, capsys: Any) -> None:
    Path(name).write_text(WRONG.format(clause="nonsense"))
    assert main(["check", "--format", "sarif", name]) == 1
    [run] = json.loads(capsys.readouterr().out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert unquote(place["artifactLocation"]["uri"]) == name
    assert main(["check", "--format", "json", name]) == 1
    assert json.loads(capsys.readouterr().out)[0]["file"] == name
    assert main(["check", "--format", "github", name]) == 1
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=")
    assert main(["check", name]) == 1
    text = capsys.readouterr()
    assert "\x1b" not in text.err + text.out
    assert sum("DLB107" in line for line in text.err.splitlines()) == 1


@pytest.mark.parametrize(
    "clause", ["x{y}", 'BLOCK("<b>\\n::error::x")', "cost('{0.__class__}%s')", "schedule('\\x1b[31m')"]
)
def test_diagnostics_have_texts_of_the_program_escaped(clause: str, capsys: Any) -> None:
    Path("prog.py").write_text(WRONG.format(clause=clause))
    assert main(["check", "--format", "github", "prog.py"]) == 1
    assert all(line.startswith("::") for line in capsys.readouterr().out.splitlines())
    assert main(["check", "--format", "sarif", "prog.py"]) == 1
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert main(["check", "prog.py"]) == 1
    assert "\x1b" not in capsys.readouterr().err
