"""Where it is run: ranks of this machine, whose iterations wait, or on hosts of the lab, where they compute.

The load is emulated there; in the lab it is real: busy processes, which begin anew with each loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dlbrt.emulation import RandomLoad

from tests.bench.paper.plan import Launch
from tests.support.mpi import Completed, run_mpi

__all__ = ["MACHINES", "Emulated", "Failed", "Lab", "Machine"]

#: More ranks than cores: libraries are not to start threads of their own. What iterations wait for is not
#: checked: `pacing` keeps what it owes on each rank.
_ENV = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "DLB_TRUST": "1"}


class Failed(Exception):
    """A launch did not end well, or its results are not those of the original."""


class Machine(Protocol):
    """Without load an iteration takes the time that it is given there."""

    def why_not(self) -> str:
        """Why it cannot be used here; empty if it can."""
        ...

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad, stats: Path, timeout: float
    ) -> Completed:
        """Run a Python program on the launch's ranks, write its statistics, and return how it ended."""
        ...


@dataclass(frozen=True, slots=True)
class Emulated:
    """Ranks on this host, more than it has cores: an iteration waits for most of its time."""

    def why_not(self) -> str:
        return ""

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad, stats: Path, timeout: float
    ) -> Completed:
        env = _environment(launch, stats) | {"DLB_LOAD": _spec(load)}
        return run_mpi(launch.ranks, [sys.executable, *command], timeout, env)


@dataclass(frozen=True, slots=True)
class Lab:
    """A host of the lab for each rank, its network as much faster than the paper's as time is scaled.

    The hosts share so many ``cores`` evenly: the more a host has, the sooner a rank on it gets its turn. The
    load is that many busy processes on a host. Host names come again with other rates: what
    `dlbc calibrate` has stored of them is not looked at.
    """

    cores: float = 1.2

    def why_not(self) -> str:
        from tests import lab

        return lab.why_not()

    def run(
        self, launch: Launch, command: Sequence[str], load: RandomLoad, stats: Path, timeout: float
    ) -> Completed:
        from tests import lab

        cores = self.cores / launch.ranks
        added = {"PACING_CORES": repr(cores), "XDG_CACHE_HOME": str(stats.parent)}
        hosts = [lab.Host(cores=cores, rate_mbit=launch.rate_mbit) for _ in range(launch.ranks)]
        try:
            with lab.Lab(hosts) as network:
                done = network.run(
                    [sys.executable, *command],
                    env=_environment(launch, stats) | added,
                    load=load,
                    start=lab.Start.SIGNAL,
                    timeout=timeout,
                )
        except (lab.LabError, OSError) as error:
            raise Failed(f"the lab: {error}") from error
        return Completed(done.stdout, done.stderr, done.returncode, done.elapsed_s)


MACHINES: dict[str, Machine] = {"emulated": Emulated(), "lab": Lab()}


def _environment(launch: Launch, stats: Path) -> dict[str, str]:
    """Two groups for the local strategies, as in the paper."""
    return _ENV | {"DLB_GROUP": str(launch.ranks // 2), "DLB_STATS": os.fspath(stats)}


def _spec(load: RandomLoad) -> str:
    return f"random:max={load.maximum},duration={load.duration_s!r},seed={load.seed}"
