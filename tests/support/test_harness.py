"""The harness itself: what it returns, what it shows of a hang, and that nothing outlives a run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.mpi import LeftBehind, TimedOut, run_mpi, run_sequential, starting

HANGING = """
import os
from mpi4py import MPI

open(f"{__file__}.{os.getpid()}", "x").close()

def wait_for_ever(comm):
    comm.recv(source=(comm.rank + 1) % comm.size)

wait_for_ever(MPI.COMM_WORLD)
"""


in_both_ways = pytest.mark.parametrize("forks", [True, False], ids=["forked", "started"])


@pytest.fixture
def hanging(tmp_path: Path) -> Path:
    path = tmp_path / "hanging.py"
    path.write_text(HANGING)
    return path


def started(path: Path) -> list[int]:
    """The ranks that have begun to run the program."""
    return [int(found.suffix[1:]) for found in path.parent.glob(f"{path.name}.*")]


def alive(path: Path) -> list[int]:
    """Those of them that have not ended; of a zombie, the command line is empty."""
    lines = {pid: Path(f"/proc/{pid}/cmdline") for pid in started(path)}
    return [pid for pid, line in lines.items() if line.exists() and line.read_bytes()]


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
@in_both_ways
def test_a_hang_shows_the_stack_of_each_rank_and_leaves_no_process(forks: bool, hanging: Path) -> None:
    with starting(forks), pytest.raises(TimedOut) as caught:
        run_mpi(2, [sys.executable, str(hanging)], timeout=2)
    assert str(caught.value).count("in wait_for_ever") == 2
    assert len(started(hanging)) == 2
    assert alive(hanging) == []


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
@in_both_ways
def test_an_interrupted_test_leaves_no_process(forks: bool, hanging: Path) -> None:
    # Where the tests run in the background an interrupt would be ignored.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    run = (
        "from tests.support import mpi\n"
        f"with mpi.starting({forks}): mpi.run_mpi(2, [{sys.executable!r}, {str(hanging)!r}])"
    )
    root = Path(__file__).resolve().parents[2]
    tester = subprocess.Popen([sys.executable, "-c", heard + run], cwd=root, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    while len(started(hanging)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    tester.send_signal(signal.SIGINT)
    _, stderr = tester.communicate(timeout=30)
    assert b"KeyboardInterrupt" in stderr
    assert len(started(hanging)) == 2
    assert alive(hanging) == []


def test_members_finds_only_processes_of_the_run() -> None:
    assert processes.members("no such run") == ()


FRESH = """
import atexit, os, sys
from mpi4py import MPI

atexit.register(lambda: print("ended", MPI.Is_finalized()))
print(__name__, __file__, sys.argv[1:], os.getcwd(), sys.path[0], os.environ.get("SAID"))
print(sys.modules["__main__"].__dict__ is globals(), MPI.COMM_WORLD.size, MPI.Query_thread())
sys.exit(MPI.COMM_WORLD.rank) if len(sys.argv) > 2 else [][0]
"""


@pytest.mark.mpi
@pytest.mark.parametrize("arguments", [("of all",), ("of all", "ends")])
def test_a_fork_does_what_a_started_program_does(arguments: tuple[str, ...], tmp_path: Path) -> None:
    program = tmp_path / "fresh.py"
    program.write_text(FRESH)
    ends = []
    for forks in (True, False):
        with starting(forks):
            command = [sys.executable, str(program), *arguments]
            alone = run_sequential(command, env={"SAID": "so"}, cwd=tmp_path)
            shared = run_mpi(1, command, env={"SAID": "so"}, cwd=tmp_path)
        ends.append((alone.stdout, alone.stderr, alone.status, shared.stdout, shared.status))
    assert ends[0] == ends[1]
    assert b"ended False" in ends[0][0]
    assert ends[0][2] == (0 if len(arguments) == 2 else 1)


@pytest.mark.mpi
def test_a_fork_that_is_killed_ends_the_run(tmp_path: Path) -> None:
    program = tmp_path / "killed.py"
    program.write_text("import os\nfrom mpi4py import MPI\nos.kill(os.getpid(), 9)\n")
    with starting(True):
        assert run_sequential([sys.executable, str(program)]).status == -9
        assert run_mpi(2, [sys.executable, str(program)], timeout=20).status not in (0, 1)


def test_ranks_hash_differently(tmp_path: Path) -> None:
    program = tmp_path / "hashes.py"
    program.write_text(
        "from mpi4py import MPI\nfound = MPI.COMM_WORLD.gather(hash('a'))\nif found: print(len(set(found)))\n"
    )
    with starting(True):
        assert run_mpi(2, [sys.executable, str(program)]).stdout.split() == [b"2"]
