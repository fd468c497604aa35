"""What rank 0 makes of costs before a loop: whatever they are, results stay; what is said is said once."""

from __future__ import annotations

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
