"""The baselines on ranks: work moves by each one's rule, and what comes out is the sequential program's."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from dlbrt.contract import BASELINES

from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import pairs

pytestmark = pytest.mark.mpi

PROGRAMS = Path(__file__).resolve().parent / "programs"

#: A loop of about half a second on one rank, which prints, appends and stores.
BUSY = """
import numpy as np

def fill(A, places):
    # dlb: parallel, BLOCK{clause}
    for i in range(len(A)):
        s = 0.0
        for j in range(4000):
            s += j * 0.5
        A[i] = s + i
        if i % 100 == 0:
            places.append(i)
            print(i, s)

A, places = np.zeros(1200), []
fill(A, places)
print(A.sum().hex(), places)
"""


def moved(directory: Path, ranks: int, env: dict[str, str], clause: str = "") -> tuple[str, int]:
    """The strategy that ran, and how often work moved; the output is compared."""
    source, stats = directory / "prog.py", directory / "stats.json"
    source.write_text(BUSY.format(clause=clause))
    generated = transform(source, directory)
    done = run_mpi(ranks, [sys.executable, str(generated)], env=env | {"DLB_STATS": str(stats)})
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    (loop,) = json.loads(stats.read_text())["loops"]
    assert sum(rank["iterations"] for rank in loop["per_rank"]) == 1200
    return loop["strategy"], loop["redistributions"]


@pytest.mark.parametrize(("name", "load"), pairs(BASELINES, ["0,4", "0,9,1", "9,0,0,0,3"]))
def test_work_moves_from_loaded_ranks(name: str, load: str, tmp_path: Path) -> None:
    ranks = len(load.split(","))
    ran, redistributions = moved(tmp_path, ranks, {"DLB_STRATEGY": name, "DLB_LOAD": f"fixed:{load}"})
    assert ran == name
    assert redistributions >= 1


def test_the_clause_takes_a_baseline(tmp_path: Path) -> None:
    ran, _ = moved(tmp_path, 2, {"DLB_LOAD": "fixed:0,4"}, ", schedule(gradient)")
    assert ran == "gradient"


@pytest.mark.parametrize(
    ("asked", "program"),
    pairs([("periodic", 5), ("gradient", 2), ("affinity", 3)], ["failing", "ordered_effects", "triangles"]),
)
def test_programs_do_what_they_do_sequentially(program: str, asked: tuple[str, int], tmp_path: Path) -> None:
    name, ranks = asked
    source = Path(shutil.copy(PROGRAMS / f"{program}.py", tmp_path))
    generated = transform(source, tmp_path)
    env = {"DLB_STRATEGY": name, "DLB_LOAD": "random:max=3,duration=0.002,seed=4"}
    done = run_mpi(ranks, [sys.executable, str(generated)], env=env)
    sequential = run_sequential([sys.executable, str(source)])
    assert (done.stdout, done.status) == (sequential.stdout, sequential.status), done.stderr
