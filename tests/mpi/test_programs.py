"""Programs on ranks: standard output and exit status of the transformed program are the original's.

Every file in `programs/` is transformed and run at several numbers of ranks, under every strategy, and
under random load; adding a file adds its tests. Those named `unseen..` have calls that contradict the plan;
no other program may be found to do so. Programs print what they compute to the last bit. A program
runs under one setting, chosen by its name, or with `pytest --full` under a twelfth of them; then that one is
a fresh interpreter on each rank, the others are forks. Compiling takes most of the time of some, so half of
the programs with `jit` run only then.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential, starting, transform
from tests.support.settings import RUNS, chosen, some
from tests.support.tier import is_full, part

PROGRAMS = Path(__file__).resolve().parent / "programs"
MODULES = {"side_module", "fields_module"}
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem not in MODULES)
ARGUMENTS = ("first", "second")


@dataclass(frozen=True, slots=True)
class Program:
    generated: Path
    sequential: Completed


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    home = tmp_path_factory.mktemp(request.param)
    for path in PROGRAMS.glob("*.py"):
        shutil.copy(path, home)
    source = home / f"{request.param}.py"
    return Program(transform(source, home), run_sequential([sys.executable, str(source), *ARGUMENTS]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The programs, and the settings that each runs under."""
    if metafunc.function is test_without_mpiexec_it_is_the_same_program:
        metafunc.parametrize("program", part(NAMES, 6), indirect=True, scope="module")
    elif "env" in metafunc.fixturenames:
        runs = [
            pytest.param(name, *run, id=f"{name}-{run[0]}-{run[1]}".replace("DLB_", ""))
            for name in NAMES
            if not name.startswith("jit_") or name in part(NAMES, 2)
            for number, run in enumerate(RUNS)
            if number in (some(name, 12) if is_full() else (chosen(name),))
        ]
        metafunc.parametrize(("program", "ranks", "env"), runs, indirect=["program"], scope="module")


@pytest.mark.mpi
def test_the_parallel_program_does_what_the_sequential_one_does(
    program: Program, ranks: int, env: dict[str, str], tmp_path: Path
) -> None:
    stats = tmp_path / "stats.json"
    command = [sys.executable, str(program.generated), *ARGUMENTS]
    is_chosen = (ranks, env) == RUNS[chosen(program.generated.stem.removesuffix("_dlb"))]
    with starting(forks=not (is_full() and is_chosen)):
        done = run_mpi(ranks, command, env=env | {"DLB_STATS": str(stats)})
    assert done.stdout.decode() == program.sequential.stdout.decode(), done.stderr
    assert done.status == program.sequential.status, done.stderr
    if not program.generated.stem.startswith("unseen"):
        assert "takes as unchanged" not in done.stderr  # no plan is contradicted without reason
    assert "`jit`: on rank" not in done.stderr  # ranks compile what rank 0 does
    document = json.loads(stats.read_text())
    assert document["ranks"] == ranks
    assert all(len(loop["per_rank"]) == ranks for loop in document["loops"])
    for loop in document["loops"]:
        assert sum(rank["iterations"] for rank in loop["per_rank"]) == loop["iterations"]


@pytest.mark.mpi
def test_without_mpiexec_it_is_the_same_program(program: Program) -> None:
    done = run_sequential([sys.executable, str(program.generated), *ARGUMENTS])
    assert (done.stdout, done.status) == (program.sequential.stdout, program.sequential.status), done.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("program", ["reductions"], indirect=True)
def test_it_imports_nothing_of_the_compiler(program: Program) -> None:
    done = run_sequential([sys.executable, "-X", "importtime", str(program.generated), *ARGUMENTS])
    imported = {line.split("|")[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "dlbrt" in imported
    assert not imported & {"dlbc", "libcst", "jinja2", "islpy", "scipy"}


def test_the_settings_chosen_are_many() -> None:
    """Among them are all numbers of ranks, alone and with strategies of each kind."""
    runs = [RUNS[chosen(name)] for name in NAMES]
    assert {ranks for ranks, _ in runs} >= {1, 2, 3, 5}
    assert len({str(run) for run in runs}) >= len(RUNS) / 2
