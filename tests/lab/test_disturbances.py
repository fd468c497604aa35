"""Hosts that are frozen, slow links and cut ones, in the middle of loops: the right output, or a clear end.

A program under every strategy tells when it is within a loop. Then something happens to a host.
"""

from __future__ import annotations

import re
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
import re
import sys
import time
from pathlib import Path

import numpy as np

n, pause_s, marks = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
A = np.zeros((n, 400))
"""
LOOP = """
(marks / "STRATEGY").write_text("begins")
# dlb: parallel, BLOCK, schedule(STRATEGY)
for i in range(n):
    s = 0.0
    for j in range(4000):
        s += j * 0.5
    time.sleep(pause_s)
    A[i, :] += s / (i + 1)
(marks / "STRATEGY over").write_text("")
print("STRATEGY", A.sum().hex(), A[17, 3].hex(), flush=True)
"""
#: A loop has begun on all ranks so long after the program has said that it begins, in seconds.
BEGUN_S = 2.0
STRATEGIES = ("GDDLB", "LCDLB", "steal", "diffusion", "SS")


class Program:
    """The program under some strategies, and what it prints when it runs sequentially.

    An iteration takes a fraction of a millisecond and ``pause_s`` seconds.
    """

    def __init__(self, directory: Path, strategies: tuple[str, ...], n: int, pause_s: float) -> None:
        source, self.marks = directory / "prog.py", directory / "marks"
        self.marks.mkdir()
        loops = (LOOP.replace("STRATEGY", name) for name in strategies)
        source.write_text(HEAD + "".join(loops))
        self.arguments = [str(n), str(pause_s), str(self.marks)]
        self.generated = transform(source, directory)
        self.output = run_sequential([sys.executable, str(source), str(n), "0", str(self.marks)]).stdout
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
                assert not (self.marks / f"{strategy} over").exists(), "the loop is over"
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
        assert not failures, failures
        assert (self.marks / strategy).exists()


@pytest.mark.parametrize("count", [4, 16])
def test_hosts_at_10_mbit_under_changing_loads_give_the_output(count: int, tmp_path: Path) -> None:
    program = Program(tmp_path, STRATEGIES, 120, 0.0)
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
    program = Program(tmp_path, (strategy,), 1000, 0.03)

    def freeze() -> None:
        lab.stop(2)
        time.sleep(7.0)
        lab.go_on(2)

    with program.within(strategy, freeze):
        done = program.run(lab, 120.0)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr


@pytest.mark.parametrize("strategy", ["GDDLB", "diffusion"])
def test_a_link_that_becomes_slow_delays_the_output_alone(tmp_path: Path, strategy: str) -> None:
    program = Program(tmp_path, (strategy,), 1000, 0.03)
    with Lab([Host(0.4, 10)] * 4) as lab, program.within(strategy, lambda: lab.network.limit(1, 0.5)):
        done = program.run(lab, 180.0)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr


def test_a_host_that_is_frozen_for_long_is_named(lab: Lab, tmp_path: Path) -> None:
    program = Program(tmp_path, ("GDDLB",), 1000, 0.03)

    def freeze() -> None:
        lab.stop(2)
        time.sleep(36.0)
        lab.go_on(2)

    with program.within("GDDLB", freeze):
        done = program.run(lab, 120.0)
    assert (done.stdout, done.returncode) == (program.output, 0), done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("dlb: ")]
    assert re.fullmatch(
        r"dlb: nothing has been heard of host2 \(rank 2\) on host0 for 3\d s: it is frozen, .*", line
    )


@pytest.mark.parametrize("host", [0, 3])
def test_a_link_that_is_cut_ends_the_job_after_the_time_out(tmp_path: Path, host: int) -> None:
    program = Program(tmp_path, ("GDDLB",), 1000, 0.03)
    with (
        Lab([Host(0.4, 10)] * 4) as lab,
        program.within("GDDLB", lambda: lab.network.connect(host, up=False)),
    ):
        done = program.run(lab, 60.0, DLB_TIMEOUT="8")
    assert done.returncode != 0
    assert b"GDDLB" not in done.stdout
    assert re.search(r"nothing has been heard of host\d .*; the time-out of 8 s ends the job", done.stderr)
    assert done.elapsed_s < 40.0
