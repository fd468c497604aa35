"""What is not imported by the time a program is at its first iteration, and by commands that need little.

Imports are most of what a start costs (`tests/bench/start.py` measures it); these lists hold what was gained.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, starting, transform

PROGRAM = Path(__file__).resolve().parent / "bench" / "programs" / "start.py"

#: Not imported at the first iteration of a plain loop, on any rank: modules, or packages with all in them.
LATER = (
    "dlbrt.chunks.rule",
    "dlbrt.chunks.table",
    "dlbrt.balance.consult",
    "dlbrt.diffusion",
    "dlbrt.predict.choose",
    "dlbrt.predict.inputs",
    "dlbrt.predict.recurrence",
    "dlbrt.partition.proportional",
    "dlbrt.partition.costs",
    "dlbrt.partition.density",
    "dlbrt.partition.known",
    "dlbrt.partition.newton",
    "dlbrt.partition.profiling",
    "dlbrt.partition.work",
    "dlbrt.balance.diffusing",
    "dlbrt.balance.group_exchange",
    "dlbrt.speed",
    "dlbrt.balance.baselines",
    "dlbrt.balance.self_scheduling",
    "dlbrt.speed.ownership",
    "dlbrt.mpi.routines.resident_arrays",
    "dlbrt.mpi.routines.routine",
    "dlbrt.mpi.measuring.collective_timer",
    "dlbrt.mpi.routines.routine_state",
    "dlbrt.observe.measurements",
    "dlbrt.observe.networks",
    "dlbrt.observe.recorder",
    "dlbrt.observe.trace",
    "dlbrt.observe.trace_writer",
    "dlbrt.observe.whole_program",
    "dlbrt.sim",
    "decimal",
    "difflib",
    "fractions",
    "hashlib",
    "json",
    "numpy.ma",
    "numpy.random",
    "pathlib",
    "random",
    "statistics",
    "tempfile",
)

#: Under ``none`` the choice of a strategy is not even prepared.
NEVER_CHOSEN = (
    "dlbrt.balance.chooser",
    "dlbrt.balance.handover",
    "dlbrt.balance.peer",
    "dlbrt.balance.stealing",
    "dlbrt.balance.survey",
    "dlbrt.predict.schemes",
)

#: What commands that show something short are not to import.
HEAVY = ("dlbc.ir", "dlbc.parse", "dlbc.passes", "dlbc.pipeline", "dataclasses", "inspect")

#: What reads programs without writing any.
LIBRARIES = (
    "islpy",
    "jinja2",
    "libcst",
    "numpy",
    "scipy",
    "z3",
    "mpi4py",
    "dlbrt.balance",
    "dlbrt.predict",
    "dlbrt.partition",
    "dlbrt.data",
)


def within(loaded: set[str], names: tuple[str, ...]) -> list[str]:
    """Which of the modules are among those named, or in packages among them."""
    return sorted(module for module in loaded if any(f"{module}.".startswith(f"{name}.") for name in names))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return transform(PROGRAM, tmp_path_factory.mktemp("start"))


@pytest.mark.mpi
@pytest.mark.parametrize(("strategy", "later"), [("none", LATER + NEVER_CHOSEN), ("auto", LATER)])
def test_what_a_rank_has_imported_at_its_first_iteration(
    program: Path, strategy: str, later: tuple[str, ...], tmp_path: Path
) -> None:
    env = {"DLB_STRATEGY": strategy, "XDG_CACHE_HOME": str(tmp_path)}
    with starting(forks=False):  # a fork has imported everything
        done = run_mpi(2, [sys.executable, str(program), "2"], env=env)
    assert done.status == 0, done.stderr
    ranks = [set(line.split()[1:]) for line in done.stdout.decode().splitlines()]
    assert len(ranks) == 2
    for rank, loaded in enumerate(ranks):
        assert {"dlbrt.mpi.driver", "dlbrt.balance.balancer", "numpy"} <= loaded
        assert not within(loaded, later), f"on rank {rank}"


@pytest.mark.parametrize(
    ("words", "later"),
    [(["--help"], HEAVY + LIBRARIES), (["--version"], HEAVY + LIBRARIES), (["check", "FILE"], LIBRARIES)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_command_imports(words: list[str], later: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("A = [0] * 9\n# dlb: parallel, BLOCK\nfor i in range(9):\n    A[i] = 2 * i\n")
    arguments = [str(path) if word == "FILE" else word for word in words]
    loaded = imported("-m", "dlbc", *arguments)
    assert "dlbc.cli" in loaded
    assert not within(loaded, later)


def test_a_program_that_is_kept_is_run_without_the_compiler(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("A = [0] * 9\n# dlb: parallel, BLOCK\nfor i in range(9):\n    A[i] = 2 * i\n")
    command, env = ("-m", "dlbc", "run", "-n", "1", str(path)), {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert "dlbc.pipeline" in imported(*command, env=env)
    loaded = imported(*command, env=env)
    assert "dlbc.commands.program" in loaded
    later = ("ast", "dlbc.diagnostics", *HEAVY, *LIBRARIES)
    assert within(loaded, later) == ["dlbc.parse", "dlbc.parse.lookups"]


def test_importing_the_runtime_needs_no_numpy() -> None:
    assert not within(
        imported("-c", "import dlbrt"), ("numpy", "dlbrt.data", "dlbrt.balance", "dlbrt.partition")
    )


def imported(*arguments: str, env: dict[str, str] | None = None) -> set[str]:
    """What a process imports until it ends."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env=os.environ | (env or {})
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
