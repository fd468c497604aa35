"""The summary at the end of a program: however it ends, on standard error alone, and only if it is wanted."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential, transform

pytestmark = pytest.mark.mpi

PROGRAM = """\
import os, sys
import numpy as np

def fill(A, B):
    # dlb: parallel
    for i in range(8):
        A[i] = B[i] + i

A = np.zeros(8)
if sys.argv[1] != "nothing":
    fill(A, np.ones(8))
    fill(A, A[::-1])
print(A.sum())
os.chdir("/")
if sys.argv[1] == "exit":
    sys.exit(3)
if sys.argv[1] == "raise":
    raise ValueError("at the end")
if sys.argv[1] == "closed":
    sys.stderr.close()
"""

FIRST = r"dlb: 2 ranks, \S+ s, \d+ % of it in 1 parallel loop(, balance \d\.\d\d)?"
ALONE = (
    r"dlb: prog\.py:6 ran on rank 0 alone 1 of 2 times: memory of A is also reached under another name; "
    r"see dlbc explain \S*prog\.py"
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("summary") / "prog.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(("end", "status"), [("end", 0), ("exit", 3), ("raise", 1)])
def test_it_comes_last_however_the_program_ends(end: str, status: int, source: Path) -> None:
    generated = transform(source, source.parent)
    env = {"DLB_SUMMARY": "1", "DLB_STRATEGY": "none"}
    done = run_mpi(2, [sys.executable, str(generated), end], env=env, cwd=source.parent)
    assert (done.status, done.stdout) == (status, b"86.0\n")
    *before, first, alone = done.stderr.splitlines()
    assert re.fullmatch(FIRST, first), done.stderr
    assert re.fullmatch(ALONE, alone), done.stderr
    assert ("ValueError: at the end" in before) == (end == "raise")


def test_a_closed_standard_error_does_no_harm(source: Path) -> None:
    generated = transform(source, source.parent)
    done = run_mpi(2, [sys.executable, str(generated), "closed"], env={"DLB_SUMMARY": "1"}, cwd=source.parent)
    assert (done.status, done.stdout) == (0, b"86.0\n")


@pytest.mark.parametrize(("words", "lines"), [(["--summary"], 1), ([], 0), (["--no-summary"], 0)])
def test_dlbc_run_asks_for_it(words: list[str], lines: int, source: Path) -> None:
    command = [sys.executable, "-m", "dlbc", "run", "-n", "2", *words, str(source), "nothing"]
    done = run_sequential(command, cwd=source.parent)
    assert (done.status, done.stdout) == (0, b"0.0\n")
    found = [line for line in done.stderr.splitlines() if line.startswith("dlb:")]
    assert len(found) == lines, done.stderr
    assert all(re.fullmatch(r"dlb: 2 ranks, \S+ s; no annotated loop was run", line) for line in found)
