"""What rank 0 makes of costs before a loop: whatever they are, results stay; what is said is said once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential, transform

pytestmark = pytest.mark.mpi

PROGRAM = """
import sys
import time

import numpy as np


def run(n, k):
    A = np.zeros(n)
    # dlb: parallel, BLOCK, COST
    for i in range(n):
        A[i] = k + i
    return A


for k in range(3):
    print(run(N, k).sum())
"""


def on_ranks(directory: Path, cost: str, n: int, ranks: int = 2) -> Completed:
    """The run on ranks, which prints what a sequential one does."""
    path = directory / "prog.py"
    path.write_text(PROGRAM.replace("COST", cost).replace("N,", f"{n},"))
    done = run_mpi(ranks, [sys.executable, str(transform(path, directory))], env={"DLB_STRATEGY": "none"})
    assert (done.status, done.stdout) == (0, run_sequential([sys.executable, str(path)]).stdout), done.stderr
    return done


@pytest.mark.parametrize(
    "cost", ["cost(sys.exit(i))", "cost(cumulative=sys.exit(i))", "cost(fit=sys.exit(3))"]
)
def test_a_cost_does_not_end_the_program(tmp_path: Path, cost: str) -> None:
    [line] = on_ranks(tmp_path, cost, 20).stderr.splitlines()
    assert "raises SystemExit" in line
    assert line.endswith("iterations are taken to cost the same until measured")


def test_a_cost_that_takes_long_is_said_so_once(tmp_path: Path) -> None:
    [line] = on_ranks(tmp_path, "cost(1 if time.sleep(0.1) else 2)", 20).stderr.splitlines()
    assert line.startswith("dlb: prog.py:11: finding out what its iterations cost took 0.")
    assert line.endswith(
        " s on rank 0 before the loop; a cheaper cost(EXPR), or cost(cumulative=EXPR), shortens that"
    )


@pytest.mark.parametrize("cost", ["cost(i - 50)", "cost(cumulative=-i)"])
def test_with_fewer_than_two_iterations_a_rank_nothing_is_evaluated(tmp_path: Path, cost: str) -> None:
    assert on_ranks(tmp_path, cost, 5, ranks=3).stderr == ""
    assert "cost" in on_ranks(tmp_path, cost, 6, ranks=3).stderr


TRIANGLE = """
import numpy as np

A, hist = np.zeros((200, 200)), np.zeros(8, dtype=np.TYPE)
# dlb: parallel, reduction(hist)CLAUSE
for i in range(200):
    for j in range(i, 200):
        A[i, j] = j
        hist[j % 8] += 1
print(A.sum(), hist)
"""


@pytest.mark.parametrize(
    ("kind", "clause", "dealt"),
    [("int64", "", [59, 141]), ("int64", ", fold", [100, 100]), ("float64", "", [100, 100])],
    ids=["integers are added to copies", "by the clause", "what is added is logged"],
)
def test_pairs_are_left_where_ranks_add_to_copies(
    tmp_path: Path, kind: str, clause: str, dealt: list[int]
) -> None:
    """As `dlbc explain` says; then parts of equal work are dealt, of which the first is the shorter."""
    path, stats = tmp_path / "prog.py", tmp_path / "s.json"
    path.write_text(TRIANGLE.replace("TYPE", kind).replace("CLAUSE", clause))
    env = {"DLB_STRATEGY": "none", "DLB_STATS": str(stats)}
    done = run_mpi(2, [sys.executable, str(transform(path, tmp_path))], env=env)
    assert done.stdout == run_sequential([sys.executable, str(path)]).stdout, done.stderr
    [loop] = json.loads(stats.read_text())["loops"]
    assert [rank["iterations"] for rank in loop["per_rank"]] == dealt
