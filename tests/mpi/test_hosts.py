"""Generated programs on hosts of unlike speeds, links and loads: same output, groups by host, work by speed.

The hosts are made in this machine (`tests.lab`); loads are busy processes that compete with the ranks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab import SIGNAL, Host, Lab, LoadSpec, RandomLoad, Start, why_not
from tests.support.mpi import run_sequential, transform

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(why_not()), reason=why_not())]

#: The third is slow to compute, the fourth to send and receive.
HOSTS = (Host(0.4, 100), Host(0.4, 100), Host(0.15, 100), Host(0.4, 2))

STRATEGIES = ("GDDLB", "GCDLB", "LDDLB", "LCDLB", "none", "auto")
ITERATIONS = 240

HEAD = f"""
import os

import numpy as np

A = np.zeros((240, 64))


def begin():
    if "{SIGNAL}" in os.environ:
        with open(os.environ["{SIGNAL}"], "w") as start:
            start.write("begin")
"""
LOOP = """
begin()
# dlb: parallel, BLOCK, schedule(STRATEGY)
for i in range(240):
    s = 0.0
    for j in range(STEPS):
        s += j * 0.5
    for j in range(64):
        A[i, j] += s / (i + j + 1)
print(A.sum().hex(), A[17, 3].hex())
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A generated program, and what it prints when run sequentially."""

    path: Path
    output: bytes


def program(directory: Path, strategies: tuple[str, ...], steps: int) -> Program:
    """A loop under each strategy, every iteration of so many steps (50 ns each)."""
    source = directory / "prog.py"
    loops = (LOOP.replace("STRATEGY", strategy).replace("STEPS", str(steps)) for strategy in strategies)
    source.write_text(HEAD + "".join(loops))
    return Program(transform(source, directory), run_sequential([sys.executable, str(source)]).stdout)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab(HOSTS) as lab:
        yield lab


def figures(lab: Lab, program: Program, ranks: int, load: LoadSpec | RandomLoad | None) -> dict[str, Any]:
    """The statistics of a run, whose output is the sequential one."""
    stats = program.path.with_name("stats.json")
    env = {"DLB_STATS": str(stats)}
    command = [sys.executable, str(program.path)]
    done = lab.run(command, ranks=ranks, env=env, load=load, start=Start.SIGNAL, timeout=120)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr
    assert done.load_starts == program.output.count(b"\n")
    return dict(json.loads(stats.read_text()))


def by_rank(loop: dict[str, Any]) -> list[int]:
    return [rank["iterations"] for rank in loop["per_rank"]]


@pytest.mark.full
def test_every_strategy_gives_the_sequential_output_on_hosts_under_changing_loads(
    lab: Lab, tmp_path: Path
) -> None:
    found = figures(lab, program(tmp_path, STRATEGIES, 6000), 8, RandomLoad(2, 0.1, seed=7))
    assert found["host_names"] == [f"host{rank // 2}" for rank in range(8)]
    assert [sum(by_rank(loop)) for loop in found["loops"]] == [ITERATIONS] * len(STRATEGIES)
    for strategy, loop in zip(STRATEGIES, found["loops"], strict=True):
        per_rank = by_rank(loop)
        per_host = [sum(per_rank[rank : rank + 2]) for rank in range(0, 8, 2)]
        if strategy in ("LDDLB", "LCDLB"):  # groups are the hosts: nothing leaves one
            assert per_host == [ITERATIONS // 4] * 4


def test_a_slow_host_and_a_loaded_one_get_less_work(lab: Lab, tmp_path: Path) -> None:
    found = figures(lab, program(tmp_path, ("GDDLB",), 40_000), 4, LoadSpec(levels=(0, 4, 0, 0)))
    (loop,) = found["loops"]
    fast, loaded, slow, _ = by_rank(loop)
    assert max(loaded, slow) < fast
    assert loaded < ITERATIONS // 4
    assert loop["redistributions"] >= 1


@pytest.mark.full
def test_rows_reach_a_host_over_a_slow_link(lab: Lab, tmp_path: Path) -> None:
    found = figures(lab, program(tmp_path, ("GCDLB",), 20_000), 4, LoadSpec(levels=(3, 3, 0, 0)))
    (loop,) = found["loops"]
    assert by_rank(loop)[3] > ITERATIONS // 4
    assert loop["bytes_moved"] > 0
