"""The samples with a routine: the same bits with and without `iterate`, also while rows move in the middle.

Without it is the same program less its line `# dlb: iterate`. Both run under random load, on up to 8 ranks;
the statistics say that work has moved.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.samples.test_samples import SAMPLES, Outcome, outcome
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import is_full, part

pytestmark = pytest.mark.mpi

ITERATE = "# dlb: iterate\n"
#: Sizes that take about half a second, so that load changes meanwhile.
ARGUMENTS = {
    "heat2d": ("120", "100", "60"),
    "jacobi": ("200", "1e-2"),
    "life": ("90", "60"),
    "lu": ("90", "CYCLIC"),
}
RANDOM = {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "random:max=4,duration=0.02,seed=3"}
RUNS = [(2, RANDOM), (3, RANDOM), (5, RANDOM), (8, {"DLB_STRATEGY": "none"}), (8, RANDOM)]


@dataclass(frozen=True, slots=True)
class Pair:
    """A sample transformed as it is and without its routines, and what it does by itself."""

    arguments: tuple[str, ...]
    programs: dict[bool, Path]
    sequential: Outcome


def test_the_samples_with_a_routine_are_all_here() -> None:
    found = {path.stem for path in SAMPLES.glob("*.py") if ITERATE in path.read_text(encoding="utf-8")}
    assert {name for name in found if not name.endswith("_dlb")} == set(ARGUMENTS)


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    text = (SAMPLES / f"{request.param}.py").read_text(encoding="utf-8")
    programs = {}
    for iterates in (True, False):
        home = tmp_path_factory.mktemp(f"{request.param}_{iterates}")
        source = home / f"{request.param}.py"
        source.write_text(text if iterates else text.replace(ITERATE, "\n"), encoding="utf-8")
        programs[iterates] = transform(source, home)
    cwd = tmp_path_factory.mktemp("sequential")
    arguments = ARGUMENTS[request.param]
    done = run_sequential([sys.executable, str(source), *arguments], cwd=cwd)
    assert done.status == 0, done.stderr
    return Pair(arguments, programs, outcome(done, cwd))


def run(pair: Pair, iterates: bool, ranks: int, env: dict[str, str], home: Path) -> dict[str, Any]:
    """Runs a program, compares what it does with the sequential one; its statistics."""
    cwd, stats = home / "cwd", home / "stats.json"
    cwd.mkdir()
    command = [sys.executable, str(pair.programs[iterates]), *pair.arguments]
    parallel = outcome(run_mpi(ranks, command, 120, env | {"DLB_STATS": str(stats)}, cwd), cwd)
    assert parallel.done.stdout == pair.sequential.done.stdout, parallel.done.stderr
    assert (parallel.done.status, parallel.files) == (0, pair.sequential.files)
    document: dict[str, Any] = json.loads(stats.read_text())
    return document


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """By default a sample runs with or without its routine, under one setting, by its place; --full: all."""
    if "iterates" not in metafunc.fixturenames:
        return
    cases = [
        pytest.param(name, iterates, *run, id=f"{name}-{'with' if iterates else 'without'}-{run[0]}-{number}")
        for place, name in enumerate(ARGUMENTS)
        for iterates in (True, False)
        for number, run in enumerate(RUNS)
        if is_full() or (iterates == bool(place % 2) and (place + 1 - number) % len(RUNS) == 0)
    ]
    metafunc.parametrize(("pair", "iterates", "ranks", "env"), cases, indirect=["pair"], scope="module")


def test_bits_are_the_same_with_and_without_a_routine(
    pair: Pair, iterates: bool, ranks: int, env: dict[str, str], tmp_path: Path
) -> None:
    document = run(pair, iterates, ranks, env, tmp_path)
    assert bool(document.get("routines")) == iterates
    assert [loop["strategy"] for loop in document["loops"]] == [env["DLB_STRATEGY"]]


@pytest.mark.parametrize("pair", part(ARGUMENTS, 2), indirect=True)
def test_rows_move_in_the_middle_of_a_pass_and_bits_stay(pair: Pair, tmp_path: Path) -> None:
    env = {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,99,0"}  # passes are short: less would not pay
    (loop,) = run(pair, True, 3, env, tmp_path)["loops"]
    assert loop["redistributions"] >= 1
    assert loop["iterations_moved"] >= 1


def test_the_fastest_rank_has_the_last_block_of_an_elimination(tmp_path: Path) -> None:
    """Ciegis et al., section 4: the first block is done first, so it is the slowest rank's."""
    program, stats = transform(SAMPLES / "lu.py", tmp_path), tmp_path / "stats.json"
    env = {"DLB_STRATEGY": "none", "DLB_WEIGHTS": "3,1,2", "DLB_STATS": str(stats)}
    done = run_mpi(3, [sys.executable, str(program), "31", "BLOCK"], 120, env, tmp_path)
    alone = run_sequential([sys.executable, str(SAMPLES / "lu.py"), "31", "BLOCK"], cwd=tmp_path)
    assert (done.status, done.stdout) == (0, alone.stdout)
    [loop] = json.loads(stats.read_text())["loops"]
    # Rows 1 to 5 are rank 1's, 6 to 15 rank 2's, 16 to 30 rank 0's; row j is changed at j stages.
    rows = [rank["iterations"] for rank in loop["per_rank"]]
    assert rows == [sum(range(16, 31)), sum(range(1, 6)), sum(range(6, 16))]
