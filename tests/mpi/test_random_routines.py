"""Random routines print on ranks what they print sequentially, to the last bit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.mpi.random_routines import program
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import part

LOAD = {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "random:max=3,duration=0.002,seed=4"}
RUNS = [(5, {"DLB_STRATEGY": "none"}), (3, LOAD), (2, {}), (3, {"DLB_STRATEGY": "LDDLB"})]


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_program(seed: int) -> None:
    assert program(seed) == program(seed) != program(seed + 1)


def test_a_routine_that_fails_does_not_end_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(program(2100005, compiled=True), "program.py", "exec", dont_inherit=True), {})
    assert "routine_8 ZeroDivisionError float division by zero" in capsys.readouterr().out


#: Most runs of compiled loops repeat earlier ones where no load is emulated.
RUNS_OF_COMPILED = [(2, {}), (5, {"DLB_STRATEGY": "none"}), (3, {}), (2, LOAD)]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("seed", "compiled"),
    part(
        [
            pytest.param(seed, compiled, id=f"{seed}-{'compiled' if compiled else 'interpreted'}")
            for seed in range(4)
            for compiled in (False, True)
        ],
        3,
    ),
)
def test_random_routines_do_on_ranks_what_they_do_sequentially(
    seed: int, compiled: bool, tmp_path: Path
) -> None:
    source = tmp_path / "program.py"
    # Compiling takes most of the time.
    text = program(seed, 3, compiled=True) if compiled else program(seed)
    source.write_text(text, encoding="utf-8")
    sequential = run_sequential([sys.executable, str(source)])
    assert sequential.status == 0, sequential.stderr
    ranks, env = (RUNS_OF_COMPILED if compiled else RUNS)[seed % len(RUNS)]
    done = run_mpi(ranks, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert (done.stdout.decode(), done.status) == (sequential.stdout.decode(), 0), done.stderr
