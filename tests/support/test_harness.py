"""The harness itself: what it returns, what it shows of a hang, and that nothing outlives a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.mpi import LeftBehind, TimedOut, run_mpi, run_sequential

HANGING = """
from mpi4py import MPI

def wait_for_ever(comm):
    comm.recv(source=(comm.rank + 1) % comm.size)

wait_for_ever(MPI.COMM_WORLD)
"""


@pytest.fixture
def hanging(tmp_path: Path) -> Path:
    path = tmp_path / "hanging.py"
    path.write_text(HANGING)
    return path


def processes_running(path: Path) -> list[str]:
    """The command lines of live processes that name ``path``."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(path) in line:
            found.append(line)
    return found


def test_a_sequential_program_returns_its_streams_and_status() -> None:
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run_sequential([sys.executable, "-c", program])
    assert (done.stdout, done.stderr, done.status) == (b"out\n", "err\n", 3)


def test_programs_see_the_variables_given_and_no_runtime_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLB_STRATEGY", "none")
    program = "import os; print(os.environ.get('DLB_STRATEGY'), os.environ['DLB_GROUP'])"
    assert run_sequential([sys.executable, "-c", program], env={"DLB_GROUP": "2"}).stdout == b"None 2\n"


@pytest.mark.mpi
def test_every_rank_runs() -> None:
    program = "from mpi4py import MPI; c = MPI.COMM_WORLD; n = c.reduce(1); print(n) if c.rank == 0 else None"
    done = run_mpi(3, [sys.executable, "-c", program])
    assert (done.stdout, done.status) == (b"3\n", 0)


@pytest.mark.mpi
def test_a_hang_shows_the_stack_of_each_rank_and_leaves_no_process(hanging: Path) -> None:
    with pytest.raises(TimedOut) as caught:
        run_mpi(2, [sys.executable, str(hanging)], timeout=3)
    assert str(caught.value).count("in wait_for_ever") == 2
    assert processes_running(hanging) == []


def test_a_sequential_hang_shows_its_stack() -> None:
    program = "import time\ndef dozing(): time.sleep(600)\ndozing()"
    with pytest.raises(TimedOut, match="line 2 in dozing"):
        run_sequential([sys.executable, "-c", program], timeout=1)


def test_processes_that_outlive_the_program_are_killed_and_reported() -> None:
    sleeper = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    program = f"import subprocess, sys; subprocess.Popen({sleeper}, start_new_session=True)"
    with pytest.raises(LeftBehind, match="left behind"):
        run_sequential([sys.executable, "-W", "ignore", "-c", program])


@pytest.mark.mpi
def test_an_interrupted_test_leaves_no_process(hanging: Path) -> None:
    # Where the tests run in the background an interrupt would be ignored.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run = f"from tests.support.mpi import run_mpi; run_mpi(2, [{sys.executable!r}, {str(hanging)!r}])"
    program = heard + run
    root = Path(__file__).resolve().parents[2]
    tester = subprocess.Popen([sys.executable, "-c", program], cwd=root, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    ranks = f"{sys.executable} {hanging}"
    while sum(line.startswith(ranks) for line in processes_running(hanging)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    tester.send_signal(signal.SIGINT)
    _, stderr = tester.communicate(timeout=30)
    assert b"KeyboardInterrupt" in stderr
    assert processes_running(hanging) == []


def test_members_finds_only_processes_of_the_run() -> None:
    assert processes.members("no such run") == ()
