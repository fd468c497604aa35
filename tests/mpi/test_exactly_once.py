"""A runtime that loses an iteration, or does one twice, must say so and end the job: the check can fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi

PROGRAM = """
from mpi4py import MPI
import dlbrt
from dlbrt import BLOCK
from dlbrt.data.spans import Spans
from dlbrt.mpi import worker

honest = worker.result_to_send

def dishonest(*arguments):
    result = honest(*arguments)
    done = result.figures.done
    result.figures.parts[:] = {tampered}.runs
    return result

worker.result_to_send = dishonest
dlb = dlbrt.start(MPI.COMM_WORLD)

def kernel(dlb, A):
    dlb.arrays(A=BLOCK(0, "w"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[i] = i
        dlb.synchronize()
    dlb.gather()

A = [None] * 10
dlb.run(kernel, range(10), A)
print("went on")
"""


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("tampered", "sentence"),
    [
        ("done.first(len(done) - 1)[0]", "9"),
        ("done.union(Spans.of(range(0, 1)))", "0"),
    ],
    ids=["an iteration is lost", "an iteration is done twice"],
)
def test_a_lost_or_repeated_iteration_ends_the_job(tampered: str, sentence: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tampered=tampered), encoding="utf-8")
    done = run_mpi(2, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert done.status != 0
    assert "LostIterationError" in done.stderr
    assert f"position {sentence}" in done.stderr or f"iteration {sentence}" in done.stderr
    assert b"went on" not in done.stdout
