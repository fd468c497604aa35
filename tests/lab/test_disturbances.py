"""Hosts that are frozen, slow links and cut ones, in the middle of loops: the right output, or a clear end.

A program under every strategy tells when it is within a loop. Then something happens to a host.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab import Host, Lab, RandomLoad, Start, why_not
from tests.lab.lab import Result
from tests.support.mpi import run_sequential, transform

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(bool(why_not()), reason=why_not())]

HEAD = """
import sys
from pathlib import Path

import numpy as np

n, steps, marks = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
A = np.zeros((n, 400))
"""
LOOP = """
(marks / "STRATEGY").write_text("begins")
# dlb: parallel, BLOCK, schedule(STRATEGY)
for i in range(n):
    s = 0.0
    for j in range(steps):
        s += j * 0.5
    A[i, :] += s / (i + 1)
print("STRATEGY", A.sum().hex(), A[17, 3].hex(), flush=True)
"""
#: A loop has begun on all ranks so long after the program has said that it begins, in seconds.
BEGUN_S = 1.0
STRATEGIES = ("GDDLB", "LCDLB", "steal", "diffusion", "SS")


class Program:
    """The program under some strategies, and what it prints when it runs sequentially."""

    def __init__(self, directory: Path, strategies: tuple[str, ...], n: int, steps: int) -> None:
        source, self.marks = directory / "prog.py", directory / "marks"
        self.marks.mkdir()
        loops = (LOOP.replace("STRATEGY", name) for name in strategies)
        source.write_text(HEAD + "".join(loops))
        self.arguments = [str(n), str(steps), str(self.marks)]
        self.generated = transform(source, directory)
        self.output = run_sequential([sys.executable, str(source), *self.arguments]).stdout
        for mark in self.marks.iterdir():
            mark.unlink()

    def run(self, lab: Lab, timeout: float, *, ranks: int | None = None, load: RandomLoad | None = None,
            **settings: str) -> Result:  # fmt: skip
        command = [sys.executable, str(self.generated), *self.arguments]
        return lab.run(command, ranks=ranks, env=settings, load=load, start=Start.LAUNCH, timeout=timeout)

    @contextmanager
    def within(self, strategy: str, happens: Callable[[], None]) -> Iterator[None]:
        """In the block something happens as soon as the program is within that loop."""
        failures: list[BaseException] = []
        ended = threading.Event()

        def watch() -> None:
            while not (self.marks / strategy).exists():
                if ended.wait(0.05):
                    return
            time.sleep(BEGUN_S)
            try:
                happens()
            except BaseException as failure:
                failures.append(failure)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        assert not failures
        assert (self.marks / strategy).exists()


@pytest.mark.parametrize("count", [4, 16])
def test_hosts_at_10_mbit_under_changing_loads_give_the_output(count: int, tmp_path: Path) -> None:
    program = Program(tmp_path, STRATEGIES, 120, 4000)
    with Lab([Host(1.6 / count, 10)] * count) as lab:
        done = program.run(lab, 300.0, load=RandomLoad(3, 0.3, seed=count))
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab([Host(0.4, 10)] * 4) as lab:
        yield lab


@pytest.mark.parametrize("strategy", ["GDDLB", "LCDLB", "steal"])
def test_a_host_that_is_frozen_for_a_while_delays_the_output_alone(
    lab: Lab, tmp_path: Path, strategy: str
) -> None:
    program = Program(tmp_path, (strategy,), 160, 20_000)

    def freeze() -> None:
        lab.stop(2)
        time.sleep(12.0)
        lab.go_on(2)

    with program.within(strategy, freeze):
        done = program.run(lab, 120.0)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr


@pytest.mark.parametrize("strategy", ["GDDLB", "diffusion"])
def test_a_link_that_becomes_slow_delays_the_output_alone(tmp_path: Path, strategy: str) -> None:
    program = Program(tmp_path, (strategy,), 160, 20_000)
    with Lab([Host(0.4, 10)] * 4) as lab:
        with program.within(strategy, lambda: lab.network.limit(1, 0.5)):
            done = program.run(lab, 180.0)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr
