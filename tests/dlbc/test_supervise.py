"""What `dlbc run` does about ranks that die before their program has begun, or are watched; no MPI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from dlbrt.watchdog import mark

from dlbc.commands.supervise import Beginning, run_command
from tests.support.tier import part

#: Starts two ranks. The first time one of them dies at once; afterwards they begin, and end with status 7.
LAUNCHER = """\
import pathlib, subprocess, sys
home = pathlib.Path(sys.argv[1])
again = (home / "again").exists()
(home / "again").touch()
first = "import time; time.sleep({})".format(0.2 if again else 60)
second = first if again else "import os, time; time.sleep(0.5); os.kill(os.getpid(), 9)"
ranks = [subprocess.Popen([sys.executable, "-c", each, "dlbrt.script"]) for each in (first, second)]
if again:
    (home / "began").touch()
for each in ranks:
    each.wait()
sys.exit(7)
"""


@pytest.mark.parametrize("ranks", part([0, 2], 2))
def test_a_run_is_started_again_if_a_rank_dies_before_the_program_begins(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], ranks: int
) -> None:
    program = tmp_path / "launcher.py"
    program.write_text(LAUNCHER)
    command = [sys.executable, str(program), str(tmp_path)]
    beginning = Beginning(tmp_path / "began", ranks)
    assert run_command(command, dict(os.environ), passes_by=True, beginning=beginning) == 7
    assert capfd.readouterr().err.count("started again") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_is_not_started_again_if_a_signal_comes_before_the_program_begins(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], number: int
) -> None:
    program = tmp_path / "launcher.py"
    program.write_text(LAUNCHER)

    def send() -> None:
        while not (tmp_path / "again").exists():
            time.sleep(0.01)
        time.sleep(0.3)  # the ranks have been started, and none has died
        os.kill(os.getpid(), number)

    command = [sys.executable, str(program), str(tmp_path)]
    thread = threading.Thread(target=send)
    thread.start()
    status = run_command(
        command, dict(os.environ), passes_by=True, beginning=Beginning(tmp_path / "began", 2)
    )
    thread.join()
    assert status == 128 + number
    assert capfd.readouterr().err == ""


def test_ranks_that_refuse_to_begin_are_not_started_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    beginning = Beginning(tmp_path / "began", 1)
    command = [sys.executable, "-c", "import sys; sys.exit(2)", "dlbrt.script"]
    assert run_command(command, dict(os.environ), passes_by=True, beginning=beginning) == 2
    assert capfd.readouterr().err == ""


#: By what the process that watches ranks has written to its file when the job ends, None if it has not begun.
ENDS = {
    None: " before the runtime began; the job has ended\n",
    "": "; the job has ended\n",
    "said": "",
}


@pytest.mark.parametrize("written", ENDS)
@pytest.mark.parametrize("status", [0, 2, 9, 11, 137, 255])
def test_a_death_that_no_process_has_reported_is_told_by_the_launchers_status(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], status: int, written: str | None
) -> None:
    watchers = tmp_path / "watchers"
    watchers.mkdir()
    leaves = f"print({written!r}, end='', file=open({str(watchers)!r} + '/0', 'w')); "
    command = [sys.executable, "-c", f"import os; {leaves if written is not None else ''}os._exit({status})"]
    assert run_command(command, dict(os.environ), passes_by=True, watchers=watchers) == status
    told = f"dlbc: a rank was killed (signal {status}){ENDS[written]}" if ENDS[written] else ""
    failed = "dlbc: the launcher failed (status 255) before the runtime began, as it does if a rank is "
    failed += "killed then; the job has ended\n"
    expected = {9: told, 11: told, 255: failed if written is None else ""}
    assert capfd.readouterr().err == expected.get(status, "")
    assert mark(str(watchers)) is None  # nobody begins to watch now, and says it again


def test_a_status_that_the_program_has_chosen_is_no_death(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "chosen.py"
    program.write_text("import sys\n# dlb: parallel\nfor i in range(5):\n    pass\nsys.exit(9)\n")
    command = [sys.executable, "-m", "dlbc", "run", "-n", "2", "--no-summary", str(program)]
    assert subprocess.run(command, check=False, timeout=60).returncode == 9
    assert capfd.readouterr().err == ""
