"""The `sbatch` script of docs/clusters.md, submitted to a private Slurm."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import Slurm, slurm, why_no_slurm

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(why_no_slurm()), reason=why_no_slurm())]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
#: It begins as scripts do that sbatch takes.
SCRIPT = next(
    block for block in re.findall(r"^```sh[^\n]*\n(.*?)^```$", PAGE, re.M | re.S) if block.startswith("#!")
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with slurm(tmp_path_factory.mktemp("slurm") / "home", nodes=3, processors=4) as cluster:
        yield cluster


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the program, and this environment's commands on the path of jobs."""
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "dlbc").write_text(f'#!/bin/sh\nexec {sys.executable} -m dlbc "$@"\n')
    (commands / "dlbc").chmod(0o755)
    shutil.copy(ROOT / "samples" / "mxm.py", tmp_path)
    return tmp_path


def submit(cluster: Slurm, home: Path, script: str, *options: str) -> str:
    """The standard output of a job, after its end with status 0."""
    (home / "mxm.sh").write_text(script)
    path = f"{home}/bin:{cluster.environment['PATH']}"
    export = f"--export=ALL,PATH={path}"
    done = cluster.run(["sbatch", "--parsable", export, *options, "mxm.sh"], home)
    state = cluster.end_of(done.stdout.strip()) if done.returncode == 0 else "not submitted"
    output = (home / "mxm.out").read_text() if (home / "mxm.out").exists() else ""
    report = (home / "doctor.txt").read_text() if (home / "doctor.txt").exists() else ""
    assert state == "COMPLETED", f"{state}\n{done.stderr}\n{output}\n{report}\n{cluster.logs()}"
    return output


def test_the_script_of_the_page_gives_what_the_sequential_program_gives(cluster: Slurm, home: Path) -> None:
    expected = (ROOT / "samples" / "expected" / "mxm.txt").read_text()
    assert submit(cluster, home, SCRIPT) == expected
    report = (home / "doctor.txt").read_text()
    assert re.search(r"^ok +Slurm: job [0-9]+ with 4 tasks$", report, re.M)
    assert re.search(r"^ok +hosts: 1 host of the Slurm allocation answer$", report, re.M)
    assert re.search(r"^ok +start: 4 ranks on ", report, re.M)
    assert not list(home.glob(".dlbc-*"))


def test_ranks_on_several_nodes_find_each_other(cluster: Slurm, home: Path) -> None:
    expected = (ROOT / "samples" / "expected" / "mxm.txt").read_text()
    assert submit(cluster, home, SCRIPT, "--nodes=3") == expected
    report = (home / "doctor.txt").read_text()
    assert re.search(r"^ok +hosts: 3 hosts of the Slurm allocation answer$", report, re.M)
    assert re.search(r"^ok +start: 4 ranks on ", report, re.M)


def test_the_doctor_names_tasks_that_are_missing(cluster: Slurm, home: Path) -> None:
    script = SCRIPT.split("dlbc doctor", maxsplit=1)[0] + "dlbc doctor -n 4; echo status $?\n"
    output = submit(cluster, home, script, "--ntasks=2")
    assert "broken  Slurm: expected 4 tasks or more for -n 4" in output
    assert output.endswith("status 1\n")


def test_ranks_that_srun_has_not_joined_do_not_run_the_program(cluster: Slurm, home: Path) -> None:
    """Where there is no mpiexec, and srun has no plugin for this MPI."""
    hidden = (
        "import sys; from dlbc.commands import run; run.find_mpiexec = lambda: None\n"
        "from dlbc.cli import main; sys.exit(main(['run', '-n', '4', 'mxm.py']))\n"
    )
    (home / "without.py").write_text(hidden)
    script = (
        SCRIPT.split("dlbc doctor", maxsplit=1)[0] + f"{sys.executable} without.py 2>&1; echo status $?\n"
    )
    output = submit(cluster, home, script)
    assert "4 ranks were launched, and MPI has joined 1" in output
    assert output.endswith("status 2\n")
    assert "crc32" not in output
