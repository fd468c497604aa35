"""Arrows of work that moved in real runs lead forward in time, between slices of the ranks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.arrows import check_arrows
from tests.support.mpi import run_mpi, run_sequential, transform

pytestmark = pytest.mark.mpi

#: Iterations read rows, so that these go with them, or only store; loads make work move.
PROGRAM = """
import numpy as np

def body(i):
    s = 0.0
    for j in range(2000):
        s += j * 0.5
    return s + i

def loop(A):
    # dlb: parallel
    for i in range(len(A)):
        A[i] {stores} body(i)

A = np.zeros(400)
loop(A)
print(A.sum().hex())
"""


@pytest.mark.parametrize("stores", ["=", "+="])
@pytest.mark.parametrize("strategy", ["GDDLB", "SS", "diffusion", "steal"])
def test_arrows_of_real_runs_lead_forward_between_slices(strategy: str, stores: str, tmp_path: Path) -> None:
    source, trace, stats = (tmp_path / name for name in ("prog.py", "t.json", "s.json"))
    source.write_text(PROGRAM.format(stores=stores))
    files = {"DLB_TRACE": str(trace), "DLB_STATS": str(stats)}
    env = {"DLB_STRATEGY": strategy, "DLB_LOAD": "fixed:0,3,0"} | files
    done = run_mpi(3, [sys.executable, str(transform(source, tmp_path))], timeout=120, env=env)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    [found] = json.loads(stats.read_text())["loops"]
    assert check_arrows(trace.read_text()) == found["iterations_moved"]
    assert strategy != "SS" or (found["iterations_moved"] > 0) == (stores == "+=")  # else they are claimed
