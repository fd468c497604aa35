"""Runs with a hostfile across hosts, and what `dlbc doctor` says of hosts that are not as they should be.

They use the MPI of this environment: MPICH, or Open MPI in the second environment of `.ci/run --full`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Host, Lab, why_no_hosts
from tests.support.mpi import find_mpiexec, run_sequential

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(why_no_hosts()), reason=why_no_hosts())]

ROOT = Path(__file__).resolve().parents[2]
DLBC = [sys.executable, "-m", "dlbc"]
#: find_mpiexec has options for Open MPI alone.
IS_OPEN_MPI = len(find_mpiexec()) > 1

#: All ranks have to agree on the hashes of strings.
PROGRAM = """\
import numpy as np

A, hashes = np.arange(60.0).reshape(30, 2), []
# dlb: parallel, BLOCK
for i in range(30):
    A[i, :] = A[i, :] * 1.5 + i
    hashes.append(hash(f"name {i % 2}"))
print(A.sum(), len(set(hashes)))
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab([Host(), Host(), Host()]) as lab:
        yield lab


def hostfile(directory: Path, *names: str) -> str:
    path = directory / "hosts.txt"
    slots = " slots=1" if IS_OPEN_MPI else ":1"
    path.write_text("".join(f"{name}{slots}\n" for name in names))
    return str(path)


def doctor(lab: Lab, *words: str, status: int) -> dict[str, list[dict[str, Any]]]:
    """The findings by check, as the command says them on the first host."""
    done = lab.run_on(0, [*DLBC, "doctor", "-n", "3", "--format", "json", *words], timeout=120)
    assert done.returncode == status, done.stdout.decode() + done.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(done.stdout)["findings"]:
        found.setdefault(finding["check"], []).append(finding)
    return found


def test_a_program_runs_on_the_hosts_of_a_file(lab: Lab, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    sequential = run_sequential([sys.executable, program.name], cwd=tmp_path)
    hosts = hostfile(tmp_path, "host0", "host1", "host2")
    command = [*DLBC, "run", "-n", "3", "--hostfile", hosts, "--strategy", "GDDLB", "--trace", "trace.json"]
    done = lab.run_on(0, [*command, program.name], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, sequential.stdout), done.stderr
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["dlb"]["host_names"] == ["host0", "host1", "host2"]
    assert not list(tmp_path.glob(".dlbc-*"))


def test_a_transformed_program_runs_by_mpiexec(lab: Lab, tmp_path: Path) -> None:
    expected = (ROOT / "samples" / "expected" / "heat2d.txt").read_bytes()
    run_sequential(
        [*DLBC, "transform", str(ROOT / "samples" / "heat2d.py"), "-o", str(tmp_path / "heat2d_dlb.py")]
    )
    hosts = hostfile(tmp_path, "host0", "host1", "host2")
    option = "--hostfile" if IS_OPEN_MPI else "-f"
    as_root = ["--allow-run-as-root"] if IS_OPEN_MPI else []
    command = [find_mpiexec()[0], *as_root, option, hosts, "-n", "3", sys.executable, "heat2d_dlb.py"]
    done = lab.run_on(0, command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_the_doctor_finds_hosts_well(lab: Lab, tmp_path: Path) -> None:
    found = doctor(lab, "--hostfile", hostfile(tmp_path, "host0", "host1", "host2"), status=0)
    assert [finding["status"] for finding in found["hosts"]] == ["ok"]
    assert found["start"][0]["found"].startswith("3 ranks on host0, host1, host2 in ")
    assert "environment" not in found


def test_the_doctor_finds_a_host_with_another_version(lab: Lab, tmp_path: Path) -> None:
    installed = Path(str(distribution("numpy").locate_file("")))
    [metadata] = installed.glob("numpy-*.dist-info/METADATA")
    other = tmp_path / "METADATA"
    other.write_text(
        metadata.read_text().replace(f"Version: {distribution('numpy').version}", "Version: 1.99.0", 1)
    )
    lab.begin_with(2, f"mount --bind {other} {metadata}")
    try:
        found = doctor(lab, "--hostfile", hostfile(tmp_path, "host0", "host1", "host2"), status=1)
    finally:
        lab.begin_with(2, "")
    [finding] = found["versions"]
    assert finding["status"] == "broken"
    assert finding["found"] == "numpy 1.99.0 on host2"


def test_the_doctor_finds_hosts_that_do_not_answer(lab: Lab, tmp_path: Path) -> None:
    hosts = hostfile(tmp_path, "host0", "host1", "elsewhere")
    lab.network.connect(1, up=False)
    try:
        found = doctor(lab, "--hostfile", hosts, "--timeout", "10", status=1)
    finally:
        lab.network.connect(1, up=True)
    silent, unknown = found["hosts"]
    assert silent["expected"].startswith("host1 starts")
    assert unknown["expected"].startswith("elsewhere starts")
    # What the launcher says depends on whether the system knows the host's address from before.
    assert [finding["status"] for finding in (silent, unknown)] == ["broken", "broken"]
    assert [finding["status"] for finding in found["start"]] == ["skipped"]


def test_a_hostfile_of_the_other_mpi_is_named(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "theirs.txt"
    path.write_text("host0:1\nhost1:1\n" if IS_OPEN_MPI else "host0 slots=1\nhost1 slots=1\n")
    found = doctor(lab, "--hostfile", str(path), "--timeout", "20", status=1)
    assert found["hostfile"][0]["advice"].startswith("write host0")
