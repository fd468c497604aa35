"""`dlbc verify` as a command: what it prints, its status, and that a run that hangs is ended and shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlbc.commands.verify.compare import Unsteady, differences
from dlbc.commands.verify.execute import VerifiedProgram, run_once
from tests.mpi.test_wrong_plans import compiled

GOOD = """import sys, time
import numpy as np
A = np.zeros(40)
started = time.time()
# dlb: parallel
for i in range(40):
    A[i] = i * 0.5
print(A.sum(), sys.argv[1:])
"""


def verify(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command, ended."""
    return subprocess.run(
        [sys.executable, "-m", "dlbc", "verify", *words], cwd=cwd, capture_output=True, text=True,
        check=False, env=os.environ | {"DLB_STRATEGY": "nonsense"}, timeout=300,
    )  # fmt: skip


@pytest.mark.mpi
def test_a_right_program_is_identical(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    done = verify("-n", "2,3", "--runs", "2", "--seed", "4", "good.py", "--runs", "x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "good.py: identical in 2 runs (ranks: 2, 3; seed 4)",
        "  not compared, since two sequential runs differ in it: name started",
    ]


@pytest.mark.mpi
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_a_program_may_be_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    line = "# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else ""
    text = "s, A = 'éè', [0] * 4\n# dlb: parallel\nfor i in range(4):\n    A[i] = len(s) + i\nprint(A, s)\n"
    (tmp_path / "other.py").write_bytes((line + text).encode(encoding))
    done = verify("-n", "2", "--runs", "1", "--seed", "4", "other.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["other.py: identical in 1 run (ranks: 2; seed 4)"]


@pytest.mark.mpi
def test_a_program_that_fails_alike_in_all_runs_is_said_to_fail(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text(GOOD + "\nraise ValueError('no data')\n")
    done = verify("-n", "2", "--runs", "1", "--seed", "4", "fails.py", "x", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = "  the program ends with status 1 (ValueError: no data), in all of them"
    assert done.stdout.splitlines()[:2] == ["fails.py: identical in 1 run (ranks: 2; seed 4)", words]


#: A false assertion: each iteration reads what the one before it stores.
WRONG = """import numpy as np
A = np.zeros(40)
before = np.arange(-1, 39)
# dlb: parallel, assume_independent
for i in range(1, 40):
    A[i] = A[before[i]] + 1
with open("written", "w") as file:
    file.write(str(A.sum()))
"""


@pytest.mark.full
@pytest.mark.mpi
def test_a_difference_is_shown_with_its_place_and_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    words = ["-n", "3", "--seed", "4", "--compare", "written", "wrong.py", "a b"]
    done = verify(*words, cwd=tmp_path)
    assert done.returncode == 1
    first, value, *rest = done.stdout.splitlines()
    assert first.startswith("wrong.py: run 1 of 20 differs: -n 3 --strategy ")
    assert value.startswith("  A[")
    assert " sequentially, " in value
    assert "; stored by iteration i = " in value
    assert value.endswith(" of the loop on line 5")
    assert rest[0].startswith(("  byte ", "  length of file written"))
    repeat = "  repeat it with: dlbc verify -n 3 --runs 1 --seed 4 --compare written wrong.py 'a b'"
    assert repeat in rest
    again = verify("-n", "3", "--runs", "1", "--seed", "4", "wrong.py", "a b", cwd=tmp_path)
    assert again.returncode == 1
    assert again.stdout.splitlines()[1].startswith("  A[")


#: Iterations behind the failing one may store, and the program goes on.
CAUGHT = """import numpy as np
A, rows, log = np.zeros((40, 3)), [0] * 40, []
x = A[::-1, 1]
try:
    # dlb: parallel
    for i in range(40):
        if i == 3:
            raise ValueError(i)
        A[i, :] = i + 1
        rows[i] = i
except ValueError as error:
    log.append(str(error))
{after}
"""


@pytest.mark.full
@pytest.mark.mpi
def test_what_the_language_leaves_open_after_a_caught_exception_is_no_difference(tmp_path: Path) -> None:
    (tmp_path / "caught.py").write_text(CAUGHT.format(after=""))
    done = verify("-n", "3", "--runs", "4", "--seed", "4", "caught.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (tmp_path / "caught.py").write_text(CAUGHT.format(after="B = A + 0"))
    done = verify("-n", "3", "--runs", "4", "--seed", "4", "caught.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "  B[" in done.stdout


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        ("x = 1\n", [], 0, "p.py: no annotated loops, nothing to compare\n"),
        (GOOD, ["--runs", "0"], 2, "expected a whole number of at least 1, found '0'"),
        (GOOD, ["-n", "2,x"], 2, "expected a whole number of at least 1, found 'x'"),
        (GOOD, ["--timeout", "-1"], 2, "expected a number of seconds above 0, found '-1'"),
        (GOOD, ["--seed", "-1"], 2, "expected a whole number of 0 or more, found"),
        ("# dlb: parallel\nfor i in range(9):\n    x = y[i] = x\n", [], 1, "DLB"),
        (GOOD + "time.sleep(60)\n", ["--timeout", "1"], 2, "the sequential program has not ended after 1 s"),
    ],
)
def test_usage_and_what_cannot_be_compared(
    text: str, words: list[str], status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text(text)
    done = verify(*words, "p.py", cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.full
@pytest.mark.mpi
def test_a_run_that_hangs_is_ended_and_shows_each_rank(tmp_path: Path) -> None:
    program = compiled("module", tmp_path)
    path, text = program.generated[0]
    hanging = text.decode().replace("        dlb.synchronize()", "        import time; time.sleep(1e6)", 1)
    assert hanging != text.decode()
    program = program._replace(generated=((path, hanging.encode()),))
    places = [tmp_path / "expected", tmp_path / "found"]
    for place in places:
        place.mkdir()
    expected = run_once(VerifiedProgram(program), 0, {}, 100.0, places[0])
    found = run_once(VerifiedProgram(program), 3, {"DLB_STRATEGY": "none"}, 8.0, places[1])
    assert found.status is None
    assert [each.what for each in differences(expected, found, Unsteady(), frozenset())] == ["end"]
    assert all(f"rank {rank}:\n" in found.stacks for rank in range(3))
    assert found.stacks.count("in _dlb_loop_1") == 3
    left = [
        entry.name
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and os.fsencode(places[1]) in _words(entry)
    ]
    assert not left


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
