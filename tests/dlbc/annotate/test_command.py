"""The command `dlbc annotate`: its output, exit statuses, and what a profiled run measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlbc.cli import main
from dlbc.commands.annotate.profile import LoopTime, ProfileError, run_profile

PROGRAM = """import sys
import numpy as np

n = int(sys.argv[1])
A = np.zeros(n)
for i in range(n):
    A[i] = i * 2.0
total = 0.0
for i in range(1, n):
    A[i] = A[i] + A[i - 1]
print(A.sum())
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dlbc", "annotate", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def objects(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["annotate", "--format", "json", *words]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_the_text_names_loops_annotation_size_and_obstacle(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", "program.py", "-n", "3"]) == 0
    out = capsys.readouterr().out
    assert "program.py: 1 loop can be parallel, 1 cannot as it is" in out
    assert (
        "program.py:6: for i in range(n):\n  # dlb: parallel, jit\n  pays on 3 ranks from about n = " in out
    )
    assert (
        "program.py:9: for i in range(1, n):\n    an iteration needs what an earlier one computes [DLB301]\n"
        in out
    )


def test_loops_that_are_checked_while_they_run_are_listed_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "unseen.py"
    path.write_text("import lib\nout = [0] * 9\nfor i in range(9):\n    out[i] = lib.made(i)\n")
    assert main(["annotate", str(path)]) == 0
    out = capsys.readouterr().out
    assert "0 loops can be parallel, 1 may be (checked while it runs)\n" in out
    assert "these may be annotated: what is not proved is checked while they run\n" in out
    assert "in the way" not in out
    [file] = objects(capsys, str(path))
    assert [each["checked_while_it_runs"] for each in file["others"]] == [True]


def test_json_has_places_verdicts_and_numbers(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [file] = objects(capsys, "program.py", "--set", "n=1000000")
    [proposal], [other] = file["proposals"], file["others"]
    place = {key: proposal[key] for key in ("line", "column", "end_line", "end_column")}
    assert place == {"line": 6, "column": 1, "end_line": 6, "end_column": 19}
    assert (proposal["annotation"], proposal["proof"]) == ("parallel, jit", "proven")
    assert (proposal["verdict"], proposal["iterations"]) == ("pays", 10**6)
    assert (other["line"], other["obstacle"], other["code"]) == (9, "needs_earlier", "DLB301")
    assert file["profiled_s"] is None


def test_a_patch_is_shown_and_nothing_is_written(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotate", "--diff", "program.py"]) == 0
    out = capsys.readouterr().out
    assert "+# dlb: parallel, jit\n for i in range(n):\n" in out
    assert program.read_text(encoding="utf-8") == PROGRAM


def test_what_is_written_passes_and_is_not_written_twice(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.chmod(0o640)
    assert main(["annotate", "--write", "program.py"]) == 0
    written = program.read_text(encoding="utf-8")
    assert written == PROGRAM.replace("for i in range(n)", "# dlb: parallel, jit\nfor i in range(n)")
    assert program.stat().st_mode & 0o777 == 0o640
    assert main(["annotate", "--write", "program.py"]) == 0
    assert program.read_text(encoding="utf-8") == written
    assert main(["check", "--strict", "program.py"]) == 0
    capsys.readouterr()


def test_what_is_too_small_is_shown_and_not_written(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotate", "--write", "program.py", "--set", "n=5"]) == 0
    assert "1 loop can be parallel (1 too small)" in capsys.readouterr().out
    assert program.read_text(encoding="utf-8") == PROGRAM


def test_directories_are_searched(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [file["file"] for file in objects(capsys, ".")] == ["program.py"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["missing.py"], 2),
        (["broken.py"], 1),
        (["program.py", "--set", "n"], 2),
        (["program.py", "--set", "m=5"], 2),
        (["program.py", "--", "5"], 2),
        (["program.py", "--profile", "--", "not a number"], 1),
        (["-", "--profile"], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_statuses(program: Path, words: list[str], status: int) -> None:
    (program.parent / "broken.py").write_text("for i in\n", encoding="utf-8")
    done = run(*words)
    assert done.returncode == status, done.stderr
    assert "dlbc: " in done.stderr or "error[" in done.stderr
    assert program.read_text(encoding="utf-8") == PROGRAM


def test_nothing_runs_without_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.py"
    mark = tmp_path / "RAN"
    text = f"open({str(mark)!r}, 'w').close()\nn = 9\nA = [0] * n\nfor i in range(n):\n    A[i] = i\n"
    path.write_text(text, encoding="utf-8")
    assert main(["annotate", str(path), "--set", "n=1000"]) == 0
    assert "1 loop" in capsys.readouterr().out
    assert not mark.exists()


# Profiles


def test_a_profile_gives_shares_and_the_output_goes_to_standard_error(program: Path) -> None:
    done = run("program.py", "--format", "json", "--profile", "--", "20000")
    assert done.returncode == 0, done.stderr
    assert float(done.stderr) == sum(i * (i + 1) for i in range(20000))
    [file] = json.loads(done.stdout)
    [proposal], [other] = file["proposals"], file["others"]
    assert (proposal["measured"]["runs"], proposal["measured"]["iterations"]) == (1, 20000)
    assert other["measured"]["iterations"] == 19999
    assert 0 < proposal["measured"]["seconds"] < file["profiled_s"]
    assert proposal["sequential_s"] == pytest.approx(proposal["measured"]["seconds"])
    assert 0 < proposal["measured"]["share"] < 1


TIMED = """import helper
import sys

def leaves(n):
    for i in range(n):
        if i == 2:
            return i

def fails(n):
    for i in range(n):
        raise KeyError(i)

def recurses(n):
    for i in range(2):
        if n:
            recurses(n - 1)

def made(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    yield from squares

class Box:
    for i in range(3):
        pass
    else:
        __private = 1

leaves(5)
try:
    fails(5)
except KeyError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
recurses(3)
print(sum(made(4)), Box._Box__private, helper.count(6), __name__, sys.argv[1:])
for i in range(4):
    if i == 1:
        continue
    if i == 3:
        break
sys.exit(0)
"""


def test_runs_and_iterations_are_counted_however_loops_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program, helper = tmp_path / "timed.py", tmp_path / "helper.py"
    program.write_text(TIMED, encoding="utf-8")
    helper.write_text("def count(n):\n    k = 0\n    for i in range(n):\n        k += 1\n    return k\n")
    lines = [number for number, line in enumerate(TIMED.splitlines(), 1) if line.lstrip().startswith("for ")]
    profile = run_profile(str(program), ["a", "b"], {str(program): lines, str(helper): [3]})
    assert capfd.readouterr().err == "0 11\n14 1 6 __main__ ['a', 'b']\n"
    counts = {(os.path.basename(f), line): (t.runs, t.iterations) for (f, line), t in profile.loops.items()}
    expected = [(1, 3), (1, 1), (15, 30), (1, 4), (1, 3), (1, 4)]
    assert counts == {("timed.py", n): c for n, c in zip(lines, expected, strict=True)} | {
        ("helper.py", 3): (1, 6)
    }
    assert all(0 <= time.seconds <= profile.elapsed_s for time in profile.loops.values())


def test_a_run_inside_a_run_of_the_same_loop_is_timed_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    body = "    for i in range(2):\n        time.sleep(0.01)\n        n and f(n - 1)\n"
    text = f"import time\n\ndef f(n):\n{body}\nf(2)\n"
    program.write_text(text, encoding="utf-8")
    profile = run_profile(str(program), [], {str(program): [4]})
    assert profile.of(str(program), 4) is not None
    [time] = profile.loops.values()
    assert (time.runs, time.iterations) == (7, 14)
    assert 0.14 <= time.seconds <= profile.elapsed_s
    assert profile.share(time) <= 1.0
    assert profile.share(LoopTime()) == 0.0


def test_a_program_that_fails_gives_no_profile(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "def f():\n    for i in range(3):\n        raise ValueError(i)\n\nf()\n", encoding="utf-8"
    )
    with pytest.raises(ProfileError, match="status 1"):
        run_profile(str(program), [], {str(program): [2]})
    shown = capfd.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.endswith("line 3, in f\n    raise ValueError(i)\nValueError: 0\n")
    assert "measure.py" not in shown


ODD = """import numpy as np

def over(out, n):
    for name in ["ann", "bob"]:
        out.append(name * 2)
    for sign in "+-x":
        out.append(sign * 2)
    for x in np.arange(4):
        out.append(x * x)
    for i in range(2.5):
        out.append(i * i)
    for i in range(n):
        out.append(i * i)
"""


def test_a_loop_whose_number_of_iterations_cannot_be_computed_is_shown_with_the_others(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(ODD, encoding="utf-8")
    found = {each["line"]: each for each in objects(capsys, "program.py")[0]["proposals"]}
    assert [found[line]["iterations"] for line in (4, 6, 8, 10, 12)] == [2, 3, None, None, None]
    assert main(["annotate", "program.py", "--set", "n=2.5"]) == 2
    assert "expected a whole number, found n = 2.5" in capsys.readouterr().err
