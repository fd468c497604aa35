"""Where it is run: ranks of this machine, whose iterations wait, or on hosts of the lab, where they compute.

The load is emulated there; in the lab it is real: busy processes, which begin anew with each loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Protocol

from dlbrt.core.load import RandomLoad

from tests.bench.paper.plan import Launch
from tests.support.mpi import Completed, run_mpi

__all__ = ["MACHINES", "Emulated", "Failed", "Lab", "Machine"]

#: Computing steps (`pacing.compute`) that are timed to know how many make a second.
_STEPS = 2_000_000

#: More ranks than cores: libraries are not to start threads of their own.
_ENV = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Failed(Exception):
    """A launch did not end well, or its results are not those of the original."""


class Machine(Protocol):
    """``waits``: iterations take exactly the time they are given; else the work is measured by a run."""

    @property
    def waits(self) -> bool: ...

    def why_not(self) -> str:
        """Why it cannot be used here; empty if it can."""
        ...

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad | None, stats: Path, timeout: float
    ) -> Completed:
        """Run a Python program on the launch's ranks, write its statistics, and return how it ended."""
        ...


@dataclass(frozen=True, slots=True)
class Emulated:
    """Ranks on this host, more than it has cores: an iteration waits for most of its time."""

    waits: bool = True

    def why_not(self) -> str:
        return ""

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad | None, stats: Path, timeout: float
    ) -> Completed:
        emulated = {} if load is None else {"DLB_LOAD": _spec(load)}
        env = _environment(launch, stats) | emulated
        return run_mpi(launch.ranks, [sys.executable, *command], timeout, env)


@dataclass(frozen=True, slots=True)
class Lab:
    """A host of the lab for each rank, its network as much faster than the paper's as time is scaled.

    The load is that many busy processes on a host. Host names come again with other rates: what
    `dlbc calibrate` has stored of them is not looked at.
    """

    cores: float = 0.1
    waits: bool = False

    def why_not(self) -> str:
        from tests import lab

        return lab.why_not()

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad | None, stats: Path, timeout: float
    ) -> Completed:
        from tests import lab

        steps = {"PACING_STEPS": f"{steps_a_second() * self.cores:.0f}"}
        cache = {"XDG_CACHE_HOME": str(stats.parent)}
        hosts = [lab.Host(cores=self.cores, rate_mbit=launch.rate_mbit) for _ in range(launch.ranks)]
        try:
            with lab.Lab(hosts) as network:
                done = network.run(
                    [sys.executable, *command],
                    env=_environment(launch, stats) | steps | cache,
                    load=load,
                    start=lab.Start.SIGNAL if load else lab.Start.LAUNCH,
                    timeout=timeout,
                )
        except (lab.LabError, OSError) as error:
            raise Failed(f"the lab: {error}") from error
        return Completed(done.stdout, done.stderr, done.returncode, done.elapsed_s)


MACHINES: dict[str, Machine] = {"emulated": Emulated(), "lab": Lab()}


@cache
def steps_a_second(rounds: int = 5) -> float:
    """How many steps of `pacing.compute` one core of this machine does when it is at its fastest."""
    x, taken = 1, []
    for _ in range(rounds):
        began = process_time()
        for _ in range(_STEPS):
            x = x * 3 & 1023
        taken.append(process_time() - began)
    return _STEPS / min(taken)


def _environment(launch: Launch, stats: Path) -> dict[str, str]:
    """Two groups for the local strategies, as in the paper."""
    return _ENV | {"DLB_GROUP": str(launch.ranks // 2), "DLB_STATS": os.fspath(stats)}


def _spec(load: RandomLoad) -> str:
    return f"random:max={load.maximum},duration={load.duration_s!r},seed={load.seed}"
