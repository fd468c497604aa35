"""Files beside a program with names of Python's own modules: the program's, and not the runtime's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential, starting, transform

pytestmark = pytest.mark.mpi

HIDDEN = (
    *(
        "bisect",
        "copy",
        "dataclasses",
        "decimal",
        "difflib",
        "fractions",
        "hashlib",
        "heapq",
        "inspect",
        "json",
    ),
    *(
        "logging",
        "pathlib",
        "platform",
        "queue",
        "random",
        "select",
        "shutil",
        "socket",
        "statistics",
        "string",
    ),
    *("inspect", "string", "tempfile", "traceback", "uuid"),
)
PROGRAM = """\
import sys
import random, statistics

def work(n):
    A, s = [0] * n, 0
    # dlb: parallel
    for i in range(n):
        A[i] = statistics.named() + str(i)
        s += i * 0.5
    return A, s

print(work(20), random.named())
import json, queue
print(json.named(), queue.named(), "logging" in sys.modules)
"""


@pytest.mark.parametrize("strategy", ["none", "GDDLB", "diffusion", "AF"])
def test_the_program_imports_its_own_and_the_runtime_the_library_s(tmp_path: Path, strategy: str) -> None:
    for name in HIDDEN:
        text = f"print('{name} is imported')\ndef named():\n    return '{name} of the program '\n"
        (tmp_path / f"{name}.py").write_text(text)
    source = tmp_path / "program.py"
    source.write_text(PROGRAM)
    generated = transform(source, tmp_path)
    with starting(forks=False):
        sequential = run_sequential([sys.executable, source.name], cwd=tmp_path)
    assert b"random of the program" in sequential.stdout
    files = {"DLB_STATS": "stats.json", "DLB_TRACE": "trace.json", "DLB_LEARNED": "learned.json"}
    load = {"DLB_LOAD": "random:max=2,duration=0.002,seed=1", "DLB_STRATEGY": strategy}
    with starting(forks=False):
        done = run_mpi(3, [sys.executable, generated.name], env=load | files, cwd=tmp_path)
    assert (done.stdout, done.status, done.stderr) == (sequential.stdout, 0, "")
    assert json.loads((tmp_path / "stats.json").read_text())["loops"][0]["strategy"] == strategy


def test_names_that_nothing_hides_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import builtins\nbefore = builtins.__import__\nimport dlbrt, random\n"
        "print(builtins.__import__ is before, random.random() < 1)\n"
    )
    with starting(forks=False):
        done = run_sequential([sys.executable, "program.py"], cwd=tmp_path)
    assert done.stdout == b"True True\n", done.stderr
