"""The checks of `dlbc doctor`: facts that are broken in one way each, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlbc.commands.doctor.checks import is_broken, judge
from dlbc.commands.doctor.facts import (
    CalibrationFacts,
    Facts,
    HostFacts,
    LauncherFacts,
    RankFacts,
    SlurmFacts,
    StartFacts,
)
from dlbc.commands.doctor.findings import CheckFinding, CheckStatus
from dlbc.commands.launchers import ListedHost, MpiFamily, hosts_of_file

OK, WARNING, BROKEN, SKIPPED = CheckStatus

MPICH = "MPICH Version:      5.0.2\nMPICH Release date: a day"
OPEN_MPI = "Open MPI v5.0.11, package: Open MPI"
VERSIONS = {
    "Python": "CPython 3.12.1",
    "dlbrt": "0.1.0",
    "numpy": "2.4.0",
    "mpi4py": "4.1.2",
    "cloudpickle": "3.1.2",
    "numba": "0.65.0",
}


def host(listed: str = "", **changes: Any) -> HostFacts:
    known: dict[str, Any] = {
        "name": listed or "front",
        "versions": VERSIONS,
        "library": MPICH,
        "processors": 4,
        "shared_free": 2**30,
        "kernels": "/home/u/.cache/dlb/kernels",
    }
    return HostFacts(listed, **(known | changes))


def rank(where: str, **changes: Any) -> RankFacts:
    return RankFacts(where, **({"level": "multiple", "library": MPICH, "order": 7} | changes))


RANKS = (rank("a"), rank("a"), rank("b"), rank("b"))
STARTED = StartFacts(0, 0.5, (RANKS,), counted=True)
#: Four ranks on two hosts, where nothing is amiss.
WELL = Facts(
    ranks=4,
    timeout_s=60,
    launcher=LauncherFacts("/env/bin/mpiexec", "HYDRA build details: Version: 5.0.2", MpiFamily.MPICH),
    here=host(),
    listed_in="hosts.txt",
    listed=(ListedHost("a", 2, MpiFamily.MPICH), ListedHost("b", 2, MpiFamily.MPICH)),
    hosts=(host("a"), host("b")),
    start=STARTED,
    calibration=CalibrationFacts(
        "/c/networks.json", (("2026-11-02", {"a": 2, "b": 4}, "MPICH Version: 5.0.2"),)
    ),
)


def starting(**changes: Any) -> dict[str, Any]:
    return {"start": replace(STARTED, **changes)}


def second(**changes: Any) -> dict[str, Any]:
    return {"hosts": (host("a"), host("b", **changes))}


def findings(changes: dict[str, Any], check: str) -> list[CheckFinding]:
    return [finding for finding in judge(replace(WELL, **changes)) if finding.check == check]


def test_where_nothing_is_amiss_each_check_says_what_it_found() -> None:
    found = judge(WELL)
    assert {finding.status for finding in found} == {OK}
    assert not is_broken(found)
    assert [(finding.check, finding.found) for finding in found] == [
        ("launcher", "/env/bin/mpiexec: HYDRA build details: Version: 5.0.2"),
        ("mpi4py", "mpi4py 4.1.2 over MPICH Version: 5.0.2"),
        ("one MPI", "mpiexec and mpi4py are both of MPICH"),
        ("hosts", "2 hosts of hosts.txt answer"),
        (
            "versions",
            "Python CPython 3.12.1, dlbrt 0.1.0, numpy 2.4.0, mpi4py 4.1.2, cloudpickle 3.1.2, numba 0.65.0 "
            "on 2 hosts",
        ),
        ("start", "4 ranks on a, b in 0.5 s"),
        ("threads of MPI", "level multiple"),
        ("windows of MPI", "all ranks add to one counter"),
        ("shared memory", "1024 MiB free in /dev/shm on each of 2 hosts"),
        ("compiled loops", "numba 0.65.0, kept in /home/u/.cache/dlb/kernels"),
        ("processors", "2 ranks on 4 processors of a, 2 ranks on 4 processors of b"),
        ("calibration", "measured on 2026-11-02, kept in /c/networks.json"),
    ]


SINGLES = StartFacts(0, 0.5, ((rank("a"),),) * 4, counted=False)
OTHERS = LauncherFacts("/usr/bin/mpiexec", "mpiexec (OpenRTE) 4.1.4", MpiFamily.OPEN_MPI)
SRUN = LauncherFacts("/usr/bin/srun", "slurm-wlm 22.05.8")

#: Facts that differ from those above; the check, its status, and words of what it found, or advises.
TROUBLES = [
    ({"launcher": LauncherFacts("")}, "launcher", BROKEN, "pip install 'dlbc[mpich]'"),
    (
        {"here": host(library="", library_problem="cannot load MPI library")},
        "mpi4py",
        BROKEN,
        "cannot load MPI",
    ),
    ({"launcher": OTHERS}, "one MPI", BROKEN, "/usr/bin/mpiexec of Open MPI, and mpi4py over MPICH"),
    ({"here": host(library=OPEN_MPI)}, "one MPI", BROKEN, "use the mpiexec of Open MPI"),
    (
        {"launcher": replace(OTHERS, family=MpiFamily.OTHER)},
        "one MPI",
        WARNING,
        "/usr/bin/mpiexec",
    ),
    ({"slurm": SlurmFacts("17", 2)}, "Slurm", BROKEN, "job 17 with 2 (SLURM_NTASKS)"),
    ({"slurm": SlurmFacts("17", 8)}, "Slurm", WARNING, "the others stay idle"),
    ({"slurm": SlurmFacts("17")}, "Slurm", WARNING, "--ntasks=4"),
    ({"listed": ()}, "hostfile", BROKEN, "none in hosts.txt"),
    ({"listed": hosts_of_file("a slots=2\nb slots=2")}, "hostfile", BROKEN, "write a:N there"),
    (
        {"launcher": OTHERS, "here": host(library=OPEN_MPI), "listed": hosts_of_file("a:2\n")},
        "hostfile",
        BROKEN,
        "write a slots=N there",
    ),
    (second(problem="no answer within 60 s", name=""), "hosts", BROKEN, "no answer within 60 s"),
    (second(versions=VERSIONS | {"numpy": "2.3.0"}), "versions", BROKEN, "numpy 2.3.0 on b"),
    (second(versions=VERSIONS | {"dlbrt": ""}), "versions", BROKEN, "no dlbrt on b"),
    (
        second(versions=VERSIONS | {"Python": "CPython 3.11.2"}),
        "versions",
        BROKEN,
        "Python CPython 3.11.2 on b",
    ),
    (second(library=OPEN_MPI), "versions", BROKEN, "install the same MPI there"),
    (second(library="", library_problem="no libmpi.so"), "versions", BROKEN, "no libmpi.so on b"),
    (second(versions=VERSIONS | {"numba": ""}), "versions", WARNING, "no numba on b"),
    ({"start": None}, "start", SKIPPED, "not tried"),
    ({"start": SINGLES}, "start", BROKEN, "4 programs of one rank each"),
    ({"start": SINGLES, "launcher": SRUN}, "start", BROKEN, "SLURM_MPI_TYPE=pmi2 for MPICH"),
    (starting(status=None, worlds=(), counted=False), "start", BROKEN, "the time was up"),
    (starting(status=7, worlds=(), counted=False, reason="no such file"), "start", BROKEN, "no such file"),
    (starting(status=7, worlds=(), counted=False), "start", BROKEN, "status 7"),
    (starting(worlds=((*RANKS[:3], rank("b", order=8)),)), "environment", BROKEN, "-x PYTHONHASHSEED"),
    (
        starting(worlds=((rank("a", level="single"), *RANKS[1:]),)),
        "threads of MPI",
        WARNING,
        "MPI4PY_RC_THREADS",
    ),
    (starting(status=None, counted=False), "windows of MPI", BROKEN, "the time was up"),
    (starting(status=1, counted=False, reason="no space left"), "windows of MPI", BROKEN, "no space left"),
    (second(shared_free=2**20), "shared memory", WARNING, "1 MiB on b"),
    (second(shared_free=None), "shared memory", WARNING, "none on b"),
    (
        second(leftovers=("/dev/shm/mpich_shm_1_0", "/dev/shm/sm_segment.b.0.1.0"), leftover_bytes=3 * 2**20),
        "shared memory",
        WARNING,
        "/dev/shm/mpich_shm_1_0, /dev/shm/sm_segment.b.0.1.0 on b, 3 MiB that no process uses",
    ),
    (
        second(leftovers=("/dev/shm/mpich_shm_1_0", "/dev/shm/mpich_shm_2_0")),
        "shared memory",
        WARNING,
        "rm /dev/shm/mpich_shm_*, while none",
    ),
    ({"here": host(versions=VERSIONS | {"numba": ""})}, "compiled loops", WARNING, "pip install 'dlbc[jit]'"),
    (
        second(kernels_problem="/home/u cannot be written"),
        "compiled loops",
        WARNING,
        "cannot be written on b",
    ),
    (second(processors=1), "processors", WARNING, "1 on b: ranks take turns"),
    ({"here": host(threads={"OMP_NUM_THREADS": "4,2"})}, "processors", WARNING, "OMP_NUM_THREADS=2"),
    ({"calibration": CalibrationFacts("")}, "calibration", WARNING, "XDG_CACHE_HOME"),
    ({"calibration": CalibrationFacts("/c", problem="which is no JSON")}, "calibration", WARNING, "no JSON"),
    ({"calibration": CalibrationFacts("/c")}, "calibration", OK, "dlbc calibrate -n 4"),
]


@pytest.mark.parametrize(
    ("changes", "check", "status", "words"),
    TROUBLES,
    ids=[f"{check}: {words}" for _, check, _, words in TROUBLES],
)
def test_a_trouble_is_named_with_what_to_do(
    changes: dict[str, Any], check: str, status: CheckStatus, words: str
) -> None:
    found = [finding for finding in findings(changes, check) if finding.status is status]
    assert len(found) == 1, judge(replace(WELL, **changes))
    assert words in f"{found[0].found}\n{found[0].advice}"
    if status in (WARNING, BROKEN):
        assert found[0].expected
        assert found[0].advice
        assert OK not in {finding.status for finding in findings(changes, check)}
    assert is_broken(judge(replace(WELL, **changes))) == (status is BROKEN)


def test_calibrations_of_other_hosts_ranks_and_libraries_do_not_count() -> None:
    library = "MPICH Version: 5.0.2"
    for ranks, mpi in (
        ({"a": 2}, library),
        ({"a": 1, "b": 2}, library),
        ({"a": 2, "b": 2}, "MPICH Version: 4"),
    ):
        kept = CalibrationFacts("/c", (("2026-01-01", ranks, mpi),))
        [finding] = findings({"calibration": kept}, "calibration")
        assert finding.found.startswith("none of a, b in /c")


def test_one_rank_needs_no_launcher() -> None:
    alone = replace(
        WELL, ranks=1, launcher=LauncherFacts(""), listed_in="", listed=(), hosts=(),
        start=StartFacts(0, 0.1, ((rank("front"),),), counted=True),
    )  # fmt: skip
    assert not is_broken(judge(alone))


def test_a_list_of_hosts_is_read_by_both_kinds() -> None:
    changes = {"listed_in": "--hosts", "listed": (ListedHost("a", 2), ListedHost("b", 2))}
    assert not findings(changes, "hostfile")


def test_each_host_that_does_not_answer_is_named_and_no_start_is_needed_to_say_so() -> None:
    silent = {"hosts": (host("a", problem="no route"), host("b", problem="no python")), "start": None}
    found = judge(replace(WELL, **silent))  # type: ignore[arg-type]
    assert [finding.found for finding in found if finding.check == "hosts"] == ["no route", "no python"]
    assert [f.status for f in found if f.check == "start"] == [SKIPPED]
