"""`--progress` on ranks: the counts are right, output is as without, and pipes stay quiet."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential, transform
from tests.support.screen import screen
from tests.support.tier import is_full

pytestmark = pytest.mark.mpi

PROGRAM = """\
import time
import numpy as np

def busy(i):
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        pass
    return i

A = np.zeros(300)
print("begun", end="")
# dlb: parallel
for i in range(300):
    A[i] = busy(i)
print(" and done")
for k in range(12):
    # dlb: parallel
    for i in range(20):
        A[i] += busy(i)
    if k % 5 == 0:
        print("pass", k)
print(A.sum())
"""
OUTPUT = b"begun and done\npass 0\npass 5\npass 10\n47130.0\n"
#: A machine that is slow or busy may take more than a second for a run of the second loop.
SHORT_OR_LONG = r"(240it|100%.* 20/20) \["
ALWAYS = {"DLB_PROGRESS": "always", "COLUMNS": "100"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("progress") / "prog.py"
    path.write_text(PROGRAM)
    return path


def run(source: Path, ranks: int, env: Mapping[str, str], command: Sequence[str] = ()) -> Completed:
    generated = transform(source, source.parent)
    launch = run_mpi if ranks > 1 else lambda _, *a, **o: run_sequential(*a, **o)
    done = launch(ranks, [sys.executable, *command, str(generated)], env=env, cwd=source.parent)
    assert done.status == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("ranks", "env"),
    [
        (1, {}),
        (2, {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,3"}),
        (3, {"DLB_STRATEGY": "steal", "DLB_SPEEDS": "1,2,4"}),
        (3, {"DLB_STRATEGY": "none"}),
        (2, {"DLB_STRATEGY": "FAC2"}),
    ]
    if is_full()
    else [(3, {"DLB_STRATEGY": "steal", "DLB_SPEEDS": "1,2,4"})],
)
def test_every_iteration_counts_once_wherever_it_is_done(
    ranks: int, env: dict[str, str], source: Path
) -> None:
    done = run(source, ranks, env | ALWAYS)
    assert done.stdout == OUTPUT
    first, second, last = screen(done.stderr)[-3:]
    assert re.match(r"prog\.py:13: 100%\|.*\| 300/300 \[", first), done.stderr
    assert re.match(rf"prog\.py:18, run 12: {SHORT_OR_LONG}", second), done.stderr
    assert last == ""
    assert "balance" not in first or ranks > 1
    counts = [int(count) for count in re.findall(r"prog\.py:13: .*? (\d+)/300 \[", done.stderr)]
    assert counts == sorted(counts)
    assert len(set(counts)) > 2


@pytest.mark.full
def test_a_rank_apart_reports_too(source: Path) -> None:
    """Without shared memory between ranks: MPICH takes each for a host of its own."""
    apart = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx"}
    env = {"DLB_STRATEGY": "none", "DLB_LOAD": "fixed:3,0", **apart}
    done = run(source, 2, env | ALWAYS)
    counts = [int(count) for count in re.findall(r"prog\.py:13: .*? (\d+)/300 \[", done.stderr)]
    assert any(count > 150 for count in counts[:-1]), counts


@pytest.mark.parametrize(("ranks", "clause"), [(2, "# dlb: iterate\n"), (1, "")])
def test_runs_that_are_repeated_are_counted(ranks: int, clause: str, tmp_path: Path) -> None:
    path = tmp_path / "passes.py"
    path.write_text(
        "import numpy as np\n"
        "u, v = np.ones((800, 800)), np.ones((800, 800))\n"
        f"{clause}"
        "for t in range(300):\n"
        "    # dlb: parallel, jit\n"
        "    for i in range(1, 799):\n"
        "        for j in range(1, 799):\n"
        "            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])\n"
        "    u, v = v, u\n"
        "print(u.sum())\n"
    )
    done = run(path, ranks, {"DLB_STRATEGY": "none"} | ALWAYS)
    assert done.stdout == b"640000.0\n"
    assert re.search(rf"passes\.py:\d, run 300: {300 * 798}it \[", done.stderr), done.stderr


def test_pipes_are_quiet(source: Path) -> None:
    done = run(source, 2, {"DLB_PROGRESS": "1", "DLB_STRATEGY": "none"})
    assert (done.stdout, done.stderr) == (OUTPUT, "")


def test_without_tqdm_a_line_says_how_to_get_it(source: Path, tmp_path: Path) -> None:
    (tmp_path / "tqdm.py").write_text("raise ImportError('as if it were not installed')\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run(source, 2, ALWAYS | {"PYTHONPATH": path})
    assert done.stdout == OUTPUT
    assert done.stderr == (
        "dlb: --progress needs tqdm, which is not installed (pip install 'dlbc[progress]'); no bar is shown\n"
    )


@pytest.mark.parametrize(("unbuffered", "begun"), [("", ["begun and done"]), ("1", ["begun", " and done"])])
def test_on_a_terminal_text_stands_above_the_bars(unbuffered: str, begun: list[str], source: Path) -> None:
    command = [sys.executable, "-m", "dlbc", "run", "-n", "2", "--progress", str(source)]
    lines = screen(on_terminal(command, unbuffered))
    text = [line for line in lines if line and not line.startswith(("prog.py", "dlb"))]
    assert text == [*begun, "pass 0", "pass 5", "pass 10", "47130.0"]
    assert sum("300/300" in line for line in lines) == 1
    assert sum(bool(re.search(f"run 12: {SHORT_OR_LONG}", line)) for line in lines) == 1


def on_terminal(command: Sequence[str], unbuffered: str) -> str:
    """What a terminal gets of a command that runs on it, to its end."""
    master, slave = pty.openpty()
    env = {name: value for name, value in os.environ.items() if not name.startswith("DLB_")}
    env |= {"TERM": "xterm", "COLUMNS": "100", "PYTHONUNBUFFERED": unbuffered}
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    found = b""
    with suppress(OSError):  # the end of what is written to a terminal
        while data := os.read(master, 65536):
            found += data
    os.close(master)
    assert process.wait(60) == 0, found
    return found.decode().replace("\r\n", "\n")
