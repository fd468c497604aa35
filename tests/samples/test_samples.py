"""Every sample: alone it prints what stands beside it, and transformed it prints that on any number of ranks.

A sample is a file `samples/NAME.py` with its standard output in `samples/expected/NAME.txt`; adding one adds
its tests. Parallel runs take smaller sizes, from `ARGUMENTS`, and compare with a sequential run of the same.
All of it happens in temporary directories: samples write beside themselves.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential, transform
from tests.support.tier import is_full, part

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.py") if not path.stem.endswith("_dlb"))

#: What a sample is given in parallel runs: sizes that take a fraction of a second.
ARGUMENTS = {
    "adjoint_convolution": ("17",),
    "heat2d": ("23", "17", "12", "--png", "picture.png"),
    "jacobi": ("71", "1e-2"),
    "life": ("19", "12"),
    "lu": ("29", "BLOCK"),
    "mandelbrot": ("61", "47", "60", "--png", "picture.png"),
    "mxm": ("41", "23"),
    "pairwise_digits": ("301",),
    "primes": ("20011",),
    "sgemv": ("61", "3"),
    "trfd": ("9",),
}

#: Ranks and settings of the parallel runs.
RUNS = [
    (3, {"DLB_STRATEGY": "none"}),
    *((ranks, {"DLB_STRATEGY": "GDDLB"}) for ranks in (1, 2, 5)),
    (2, {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,3"}),
    (3, {"DLB_STRATEGY": "FAC2"}),
    (4, {"DLB_STRATEGY": "steal"}),
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run leaves: its end, and the files in the directory it ran in."""

    done: Completed
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Transformed:
    """A sample's generated program and what the sample itself does with the same arguments."""

    program: Path
    arguments: tuple[str, ...]
    sequential: Outcome


def outcome(done: Completed, directory: Path) -> Outcome:
    return Outcome(done, {path.name: path.read_bytes() for path in directory.iterdir()})


def copy_of(name: str, directory: Path) -> Path:
    return Path(shutil.copy(SAMPLES / f"{name}.py", directory))


@pytest.fixture(scope="module")
def transformed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Transformed:
    source = copy_of(request.param, tmp_path_factory.mktemp(request.param))
    arguments = ARGUMENTS.get(request.param, ())
    cwd = tmp_path_factory.mktemp("sequential")
    done = run_sequential([sys.executable, str(source), *arguments], cwd=cwd)
    return Transformed(transform(source, source.parent), arguments, outcome(done, cwd))


def test_the_samples_and_their_expected_outputs_belong_together() -> None:
    assert {path.stem for path in (SAMPLES / "expected").iterdir()} == set(NAMES)
    assert set(ARGUMENTS) <= set(NAMES)


@pytest.mark.parametrize("name", part(NAMES, 2))
def test_the_sequential_program_prints_what_is_expected(name: str, tmp_path: Path) -> None:
    done = run_sequential([sys.executable, str(copy_of(name, tmp_path))], cwd=tmp_path)
    expected = (SAMPLES / "expected" / f"{name}.txt").read_bytes()
    assert (done.stdout, done.stderr, done.status) == (expected, "", 0)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A sample runs in parallel under one setting, by its place; with --full under all."""
    if "settings" in metafunc.fixturenames:
        cases = [
            pytest.param(name, *run, id=f"{name}-{run[0]}-{'-'.join(run[1].values())}")
            for place, name in enumerate(NAMES)
            for number, run in enumerate(RUNS)
            if is_full() or (place - number) % len(RUNS) == 0
        ]
        metafunc.parametrize(
            ("transformed", "ranks", "settings"), cases, indirect=["transformed"], scope="module"
        )


@pytest.mark.mpi
def test_the_parallel_program_does_what_the_sequential_one_does(
    transformed: Transformed, ranks: int, settings: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, str(transformed.program), *transformed.arguments]
    parallel = outcome(run_mpi(ranks, command, env=settings, cwd=tmp_path), tmp_path)
    sequential = transformed.sequential
    assert parallel.done.status == sequential.done.status == 0, parallel.done.stderr
    assert parallel.done.stdout == sequential.done.stdout
    assert parallel.files == sequential.files


@pytest.mark.mpi
@pytest.mark.parametrize("transformed", part(NAMES, 3), indirect=True)
def test_the_generated_program_runs_without_a_launcher(transformed: Transformed, tmp_path: Path) -> None:
    done = run_sequential([sys.executable, str(transformed.program), *transformed.arguments], cwd=tmp_path)
    assert (done.stdout, done.status) == (transformed.sequential.done.stdout, 0), done.stderr
