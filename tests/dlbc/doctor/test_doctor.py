"""`dlbc doctor` as a command: with this environment's MPI, and with launchers that are broken on purpose."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dlbrt.contract import FACTS

from dlbc.cli import main
from dlbc.commands.doctor.bounded import BoundedCommands
from dlbc.commands.doctor.gather_facts import DoctorRequest, gather
from dlbc.commands.launchers import ListedHost, MpiFamily, hosts_of_file, listed_hosts
from tests.support.mpi import run_sequential

ROOT = Path(__file__).resolve().parents[3]
#: What a launcher does that speaks another protocol than the ranks: each finds itself alone.
SINGLES = (
    f'while [ "$1" != {sys.executable} ]; do shift; done\n'
    '"$@" & first=$!\n"$@"; status=$?\nwait $first\nexit $status'
)
HOST_FACTS = ROOT / "runtime" / "dlbrt" / "mpi" / "measuring" / "host_facts.py"


def doctor(*words: str, status: int, env: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The findings by check, the worst one of each."""
    command = [sys.executable, "-m", "dlbc", "doctor", "--format", "json", *words]
    done = run_sequential(command, env=env)
    assert done.status == status, done.stdout.decode() + done.stderr
    document = json.loads(done.stdout)
    assert document["broken"] == (status == 1)
    order = ["ok", "skipped", "warning", "broken"]
    found = sorted(document["findings"], key=lambda finding: order.index(finding["status"]))
    return {finding["check"]: finding for finding in found}


def fake_mpiexec(directory: Path, body: str) -> str:
    """A launcher that takes itself for MPICH's."""
    script = directory / "mpiexec"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo HYDRA && exit\n{body}\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.mpi
def test_this_environment_is_well() -> None:
    found = doctor("-n", "2", status=0)
    assert found["one MPI"]["status"] == "ok"
    assert found["start"]["found"].startswith("2 ranks on ")
    assert found["windows of MPI"]["status"] == "ok"
    assert found["threads of MPI"]["found"] == "level multiple"


@pytest.mark.mpi
def test_the_same_as_text() -> None:
    done = run_sequential([sys.executable, "-m", "dlbc", "doctor", "-n", "2"])
    assert done.status == 0
    lines = done.stdout.decode().splitlines()
    assert any(line.startswith("ok      start: 2 ranks on ") for line in lines)
    assert lines[-1].startswith("a run works")


@pytest.mark.mpi
def test_a_launcher_of_another_mpi_starts_single_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpiexec = fake_mpiexec(tmp_path, SINGLES)
    monkeypatch.setattr("dlbc.commands.doctor.gather_facts.find_mpiexec", lambda: mpiexec)
    facts = gather(DoctorRequest(2), os.environ)
    assert facts.start is not None
    assert [len(world) for world in facts.start.worlds] == [1, 1]
    assert not facts.start.counted


@pytest.mark.full
def test_a_launcher_that_hangs_is_ended_with_all_that_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    body = f"trap '' TERM\nsetsid sh -c 'echo $$ > {kept}; exec sleep 600' &\nwait\nsleep 600\n"
    mpiexec = fake_mpiexec(tmp_path, body)
    monkeypatch.setattr("dlbc.commands.doctor.gather_facts.find_mpiexec", lambda: mpiexec)
    facts = gather(DoctorRequest(2, timeout_s=2), os.environ)
    assert facts.start is not None
    assert facts.start.status is None
    until = time.monotonic() + 30
    while Path(f"/proc/{kept.read_text().strip()}").exists():
        assert time.monotonic() < until, "a process that the launcher has started is still there"
        time.sleep(0.05)


def test_hosts_are_asked_by_the_launcher_and_those_that_do_not_answer_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        '[ "$1" = -hosts ] || exit 9\n[ "$2" = far ] && echo "no route to far" >&2 && exit 1\n'
        f'while [ "$1" != {sys.executable} ]; do shift; done\nexec "$@"\n'
    )
    mpiexec = fake_mpiexec(tmp_path, body)
    monkeypatch.setattr("dlbc.commands.doctor.gather_facts.find_mpiexec", lambda: mpiexec)
    facts = gather(DoctorRequest(2, hosts="near:1,far:1"), os.environ)
    near, far = facts.hosts
    assert near.versions == facts.here.versions
    assert near.processors == len(os.sched_getaffinity(0))
    assert far.problem == "no route to far"
    assert facts.start is None


def test_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.py").write_text("# dlb: parallel\nfor i in range(3):\n    pass\n")
    for command in (["doctor"], ["run", "prog.py"], ["calibrate"]):
        assert main([command[0], "-n", "2", "--hostfile", "/nowhere/hosts", *command[1:]]) == 2
        assert "/nowhere/hosts: No such file or directory\n" in capsys.readouterr().err
    assert main(["doctor", "-n", "2", "--hosts", "a,,b"]) == 2
    assert capsys.readouterr().err == "dlbc: --hosts: expected hosts such as a,b:2, found 'a,,b'\n"
    for words in (
        ["--timeout", "0"],
        ["--hosts", "a", "--hostfile", "b"],
        ["-n", "0"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(["doctor", *words])
        assert ended.value.code == 2


def test_segments_that_no_process_has_are_found(tmp_path: Path) -> None:
    left, used = (Path(f"/dev/shm/mpich_shm_dlbc_test_{os.getpid()}_{name}") for name in ("left", "used"))
    program = (
        "import json, mmap, runpy, sys\n"
        "with open(sys.argv[2], 'r+b') as file, mmap.mmap(file.fileno(), 0):\n"
        "    facts = runpy.run_path(sys.argv[1])\n"
        "    print(json.dumps(facts['describe']()))\n"
    )
    try:
        for path in (left, used):
            path.write_bytes(b"x" * 4096)
            os.utime(path, (0, 0))
        done = run_sequential([sys.executable, "-c", program, str(HOST_FACTS), str(used)])
    finally:
        left.unlink()
        used.unlink()
    found = json.loads(done.stdout)["leftovers"]
    assert str(left) in found
    assert str(used) not in found


def test_the_probe_of_hosts_needs_neither_dlbc_nor_a_package() -> None:
    text = HOST_FACTS.read_text(encoding="utf-8")
    done = run_sequential([sys.executable, "-I", "-S", "-c", text], env={"PYTHONPATH": ""})
    lines = done.stdout.decode().splitlines()
    assert [line[: len(FACTS)] for line in lines] == [FACTS, FACTS]
    host, mpi = (json.loads(line[len(FACTS) :]) for line in lines)
    assert host["host"]["versions"]["dlbrt"] == ""
    assert mpi["mpi"] == {"library": "", "problem": "No module named 'mpi4py'"}


def test_a_command_that_cannot_start_says_so() -> None:
    done = BoundedCommands(5, os.environ).run(["/nowhere/mpiexec"])
    assert (done.status, done.reason) == (127, "/nowhere/mpiexec: No such file or directory")


def test_hosts_are_read_as_launchers_read_them() -> None:
    assert listed_hosts("a, b:2") == (ListedHost("a"), ListedHost("b", 2))
    text = "# ours\na:2\n\nb slots=3 max-slots=4  # fast\nc\n"
    assert hosts_of_file(text) == (
        ListedHost("a", 2, MpiFamily.MPICH),
        ListedHost("b", 3, MpiFamily.OPEN_MPI),
        ListedHost("c"),
    )


@pytest.mark.mpi
def test_a_run_that_its_launcher_has_not_joined_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    mpiexec = fake_mpiexec(tmp_path, SINGLES)
    monkeypatch.setattr("dlbc.commands.run.find_mpiexec", lambda: mpiexec)
    program = tmp_path / "prog.py"
    program.write_text("# dlb: parallel\nfor i in range(3):\n    pass\nprint('runs')\n")
    assert main(["run", "-n", "2", str(program)]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    expected = (
        "dlb: 2 ranks were launched, and MPI has joined 1: the launcher belongs to another MPI than mpi4py; "
        "`dlbc doctor -n 2` says more\n"
    )
    assert shown.err == expected * 2
