"""Kernels with slices and indirect subscripts, and element-wise gathers: the data are those of plain runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential
from tests.support.tier import is_full, part

pytestmark = pytest.mark.mpi

KERNELS = Path(__file__).resolve().parent / "programs" / "kernels" / "footprints.py"
RANDOM_LOAD = {"DLB_LOAD": "random:max=3,duration=0.002,seed=4", "DLB_SPEEDS": "2,1,1.5"}

CLASH = """
from mpi4py import MPI
import numpy as np
import dlbrt
from dlbrt import WHOLE

dlb = dlbrt.start(MPI.COMM_WORLD)

def kernel(dlb, A):
    dlb.arrays(A=WHOLE("rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[4] = {value}
        dlb.synchronize()
    dlb.gather()

A = {data}
dlb.run(kernel, range(10), A)
print("went on", A[4])
"""


def rightly(stdout: bytes) -> int:
    """How many lines say that the data are right; none says that they are not."""
    lines = stdout.decode().splitlines()
    assert not [line for line in lines if line.endswith("False")]
    return sum(line.endswith("True") for line in lines)


RUNS = [
    *((ranks, {"DLB_STRATEGY": "none"}) for ranks in (2, 5)),
    *((ranks, {"DLB_STRATEGY": "GDDLB"}) for ranks in (1, 3, 5)),
    (3, {"DLB_STRATEGY": "steal"}),
    (3, {"DLB_STRATEGY": "GDDLB"} | RANDOM_LOAD),
    (2, {}),
]
if not is_full():
    RUNS = [RUNS[number] for number in (4, 5)]


@pytest.mark.parametrize(("ranks", "env"), RUNS, ids=lambda value: str(value).replace("DLB_", ""))
def test_the_data_are_those_of_the_sequential_loop(ranks: int, env: dict[str, str]) -> None:
    done = run_mpi(ranks, [sys.executable, str(KERNELS)], env=env)
    assert done.status == 0, done.stderr
    assert rightly(done.stdout) == 20
    assert done.stdout.count(b"failing in the body ('in the body',)\n") == 3
    remark = "run by rank 0 alone: iterations i=17 and i=44 both touch row"
    if env:
        assert (remark in done.stderr) == (ranks > 1)
    assert done.stderr.count("alone") <= 1


@pytest.mark.parametrize("ranks", part([2, 3, 5], 3))
def test_rows_move_with_the_iterations(ranks: int, tmp_path: Path) -> None:
    stats = tmp_path / "stats.json"
    env = {"DLB_STRATEGY": "GDDLB", "DLB_WEIGHTS": ",".join(["1"] * (ranks - 1) + ["30"])}
    done = run_mpi(ranks, [sys.executable, str(KERNELS)], env=env | {"DLB_STATS": str(stats)})
    assert rightly(done.stdout) == 20, done.stderr
    loops = json.loads(stats.read_text())["loops"]
    assert len(loops) == 11
    assert any(loop["iterations_moved"] for loop in loops)
    assert [loop["strategy"] for loop in loops[1:]] == ["GDDLB"] * 10


def test_without_mpiexec_they_run_as_well() -> None:
    done = run_sequential([sys.executable, str(KERNELS)])
    assert rightly(done.stdout) == 20, done.stderr


@pytest.mark.parametrize(("data", "value"), [("np.zeros(9)", "i"), ("[0] * 9", "[i]")], ids=["array", "list"])
@pytest.mark.parametrize("ranks", [2, 3], ids=["with rank 0", "between others too"])
def test_two_values_for_one_element_end_the_job(ranks: int, data: str, value: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(CLASH.format(data=data, value=value))
    done = run_mpi(ranks, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert done.status != 0
    assert "LostIterationError" in done.stderr
    assert "gave different values to element 4 of A" in done.stderr
    assert b"went on" not in done.stdout


def test_one_value_given_twice_is_no_clash(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(CLASH.format(data="np.zeros(9)", value="7"))
    done = run_mpi(3, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert done.stdout == b"went on 7.0\n", done.stderr
