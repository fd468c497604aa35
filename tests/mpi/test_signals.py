"""Signals to the launcher, to `dlbc run` and to single ranks: how the job ends, what it says, what it
leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from dlbc.commands.segments import segments, unused
from tests.support import processes
from tests.support.mpi import Completed, find_mpiexec, run_sequential, starting, transform
from tests.support.tier import is_full, part

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="ranks are watched on Linux"),
]

PROGRAM = """\
import sys, time
import numpy as np

def value(i):
    end = time.perf_counter() + 0.01
    while time.perf_counter() < end:
        pass
    return i + 1

def main(n):
    A, log, i = np.zeros(n), [], 0
    print("begins", flush=True)
    try:
        # dlb: parallel
        for i in range(n):
            A[i] = value(i)
            log.append(i)
    except KeyboardInterrupt:
        done = bool((A[:i] == np.arange(1, i + 1)).all()) and log[:i] == list(range(i))
        print("interrupted", done, len(log) - i in (0, 1), flush=True)
        raise
    finally:
        print("finally", flush=True)

main(100000)
"""

#: The same for other kinds of loops: compiled iterations, a routine whose arrays stay on the ranks, and calls
#: that the compiler does not see.
KINDS = {
    "compiled": """\
import numpy as np

def main(n, m):
    A, B, i = np.zeros(n), np.arange(m) + 1.0, 0
    print("begins", flush=True)
    try:
        # dlb: parallel, jit
        for i in range(n):
            s = 0.0
            for k in range(m):
                s += B[k] * (i + 1)
            A[i] = s
    except KeyboardInterrupt:
        print("interrupted", bool((A[:i] > 0).all()), flush=True)
        raise
    finally:
        print("finally", flush=True)

main(10_000_000, 100_000)
""",
    "a routine": """\
import time
import numpy as np

def main(n):
    A, B, i, t, done = np.zeros(n), np.zeros(n), 0, 0, 0
    print("begins", flush=True)
    try:
        # dlb: iterate
        for t in range(100_000):
            # dlb: parallel
            for i in range(n):
                B[i] = A[n - 1 - i] + 1
                time.sleep(0.002)
            A, B = B, A
            done += 1
    except KeyboardInterrupt:
        whole = bool((A == A[0]).all() and (B[:i] == B[0]).all())
        print("interrupted", whole, bool(A[0] - done in (0, 1)), flush=True)
        raise
    finally:
        print("finally", flush=True)

main(60)
""",
    "unseen calls": PROGRAM.replace("= value(i)", "= unseen(i)").replace(
        "main(100000)", 'unseen = globals()["value"]\nmain(100000)'
    ),
}
#: `sitecustomize.py`, by which rank 1 kills itself before the runtime begins.
EARLY_DEATH = """\
import os, signal
if os.environ.get("PMI_RANK") == "1":
    {begins}
    os.kill(os.getpid(), signal.SIGKILL)
"""
#: Before that it asks MPICH's launcher something, which finds out when it answers that the rank has gone.
ASKS_AND_DIES = """\
fd, launcher = int(os.environ["PMI_FD"]), os.getppid()
    os.kill(launcher, signal.SIGSTOP)
    os.write(fd, b"cmd=init pmi_version=1 pmi_subversion=1\\n")
    if not os.fork():
        import time
        os.close(fd)
        time.sleep(0.3)
        os.kill(launcher, signal.SIGCONT)
        os._exit(0)"""
#: What hydra prints of an interrupt, which it passes on to the ranks.
HYDRA = re.compile(rb"(?m)^\[mpiexec@.*\n")


@dataclass
class Job:
    """A job under way: the command, its ranks by number, and the files of its streams."""

    process: subprocess.Popen[bytes]
    ranks: Mapping[int, int]
    token: str
    stdout: Path
    stderr: Path

    def ended(self, timeout: float = 30) -> int:
        """Its status; no process and no segment of it is left."""
        segments = {name for pid in self.ranks.values() for name in segments_of(pid)}
        status = self.process.wait(timeout)
        assert not processes.end_all(self.token, patience=5.0)
        assert not [name for name in segments if Path(name).exists()]
        return status


def segments_of(pid: int) -> list[str]:
    """The files of shared memory that a process has, and that still have a name."""
    try:
        text = Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return []
    return [name for name in re.findall(r"/dev/shm/\S+.*", text) if not name.endswith("(deleted)")]


@contextmanager
def job(home: Path, *, launched: bool, program: str = PROGRAM, **settings: str) -> Iterator[Job]:
    """A program on three ranks, by `dlbc run` or by mpiexec, once all of them are in the loop."""
    source = home / "program.py"
    source.write_text(program)
    token = uuid.uuid4().hex
    command = [sys.executable, "-m", "dlbc", "run", "-n", "3", str(source)]
    if launched:
        command = [*find_mpiexec(), "-n", "3", sys.executable, str(transform(source, home))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DLB_")}
    environment |= {processes.TOKEN: token, "DLB_STRATEGY": "GDDLB", "TMPDIR": str(home), **settings}
    out, err = home / "stdout", home / "stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=stdout,
            stderr=stderr,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + 60
        while b"begins" not in out.read_bytes():
            assert process.poll() is None, err.read_text()
            assert time.monotonic() < until, err.read_text()
            time.sleep(0.05)
        time.sleep(0.8)
        ranks = {m.rank: m.pid for m in processes.members(token) if m.rank is not None}
        assert sorted(ranks) == [0, 1, 2]
        yield Job(process, ranks, token, out, err)
    finally:
        processes.end_all(token)
        process.kill()
        process.wait()


@pytest.mark.parametrize("target", part(["run", "mpiexec", "rank 0", "rank 1"], 2))
def test_an_interrupt_reaches_the_program_at_its_loop(tmp_path: Path, target: str) -> None:
    with job(tmp_path, launched=target != "run") as under_way:
        pids = {f"rank {rank}": pid for rank, pid in under_way.ranks.items()}
        os.kill(pids.get(target, under_way.process.pid), signal.SIGINT)
        assert under_way.ended() == 130
        expected = b"begins\ninterrupted True True\nfinally\n"
        assert HYDRA.sub(b"", under_way.stdout.read_bytes()) == expected
        error = under_way.stderr.read_text()
        assert "KeyboardInterrupt\nin iteration i=" in error
        assert "dlbrt" not in error


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM) if is_full() else (signal.SIGINT,))
@pytest.mark.parametrize("kind", part(KINDS, 3))
def test_all_kinds_of_loops_can_be_interrupted(tmp_path: Path, kind: str, number: int) -> None:
    with job(tmp_path, launched=False, program=KINDS[kind]) as under_way:
        under_way.process.send_signal(number)
        assert under_way.ended() == 128 + number
        if number == signal.SIGINT:
            assert re.fullmatch(rb"begins\ninterrupted( True)+\nfinally\n", under_way.stdout.read_bytes())
            assert "KeyboardInterrupt" in under_way.stderr.read_text()


@pytest.mark.parametrize("launched", [False, True], ids=["run", "mpiexec"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_command_ends_all_ranks(tmp_path: Path, number: int, launched: bool) -> None:
    with job(tmp_path, launched=launched) as under_way:
        under_way.process.send_signal(number)
        status = under_way.ended()
        assert status == 128 + number if not launched else status != 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".dlbc-")]


@pytest.mark.parametrize("rank", [0, 2])
def test_a_rank_that_is_killed_is_named(tmp_path: Path, rank: int) -> None:
    with job(tmp_path, launched=True) as under_way:
        os.kill(under_way.ranks[rank], signal.SIGKILL)
        assert under_way.ended() != 0
        place = re.escape("in the loop at program.py:15; the job ends")
        line = rf"dlb: .*rank {rank} \(pid {under_way.ranks[rank]}\).* on \S+ has died {place}\n"
        assert re.fullmatch(line, under_way.stderr.read_text())


def killed_early(directory: Path, begins: str) -> Completed:
    """What `dlbc run` does where a rank is killed once it has run ``begins``; it leaves no segment."""
    (directory / "sitecustomize.py").write_text(EARLY_DEATH.format(begins=begins))
    (directory / "program.py").write_text(PROGRAM)
    before = segments()
    paths = os.pathsep.join(filter(None, (str(directory), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "dlbc", "run", "-n", "3", "program.py"]
    with starting(forks=False):
        done = run_sequential(command, env={"PYTHONPATH": paths}, cwd=directory)
    assert not unused(segments() - before)
    return done


@pytest.mark.parametrize("begins", ["pass", "from mpi4py import MPI"], ids=["at once", "once MPI has begun"])
def test_a_rank_that_is_killed_before_the_runtime_begins_is_reported_once(
    tmp_path: Path, begins: str
) -> None:
    done = killed_early(tmp_path, begins)
    said = "dlbc: a rank was killed (signal 9) before the runtime began; the job has ended\n"
    assert (done.status, done.stderr) == (9, said)
    assert b"signal 9" in done.stdout  # what MPICH's launcher says


def test_a_launcher_that_fails_because_a_rank_was_killed_is_reported(tmp_path: Path) -> None:
    done = killed_early(tmp_path, ASKS_AND_DIES)
    said = (
        "dlbc: the launcher failed (status 255) before the runtime began, as it does if a rank is killed then"
    )
    assert (done.status, done.stderr.splitlines()[-1]) == (255, f"{said}; the job has ended")


@pytest.mark.full
def test_a_rank_that_has_stopped_ends_the_job_after_the_time_out(tmp_path: Path) -> None:
    with job(tmp_path, launched=False, DLB_TIMEOUT="2") as under_way:
        os.kill(under_way.ranks[1], signal.SIGSTOP)
        assert under_way.ended() != 0
        assert re.fullmatch(
            rf"dlb: rank 1 \(pid {under_way.ranks[1]}\) on \S+ has not answered for \d+ s in the loop at "
            r"program.py:15, and is stopped; the time-out of 2 s ends the job\n",
            under_way.stderr.read_text(),
        )
