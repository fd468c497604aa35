"""What is kept of runs: every one, with the settings and the machine they were made with, as JSON.

A file is written anew after each launch, wholly or not at all, and may be gone on with by the same settings.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.support.mpi import find_mpiexec

__all__ = ["Host", "Results", "Run", "Settings", "read", "write"]

_VERSION = 2


@dataclass(frozen=True, slots=True)
class Settings:
    """What runs must have alike to be compared: ``duration_s`` is t_l in the paper's seconds."""

    machine: str
    seconds: float
    duration_s: float


@dataclass(frozen=True, slots=True)
class Host:
    """Where the runs were made; ``load`` is this machine's own in the minute before."""

    cores: int
    processor: str
    python: str
    mpi: str
    date: str
    load: float

    @classmethod
    def this(cls) -> Host:
        mpi = subprocess.run(
            [find_mpiexec()[0], "--version"], capture_output=True, text=True, timeout=30, check=False
        )
        words = [line.strip() for line in mpi.stdout.splitlines() if line.strip()]
        return cls(
            os.cpu_count() or 1,
            _processor(),
            platform.python_version(),
            " ".join(words[:2]),
            datetime.now(UTC).isoformat(timespec="seconds"),
            os.getloadavg()[0],
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One loop under one strategy. ``place`` is its place in the launch, ``committed`` what it went on with.

    ``clairvoyant_s`` is when all ranks, never waiting, would have done the work under this load;
    ``compute_s`` is the computing of all ranks, ``overhead_s`` the whole time less the longest computing.
    """

    case: str
    ranks: int
    strategy: str
    seed: int
    place: int
    elapsed_s: float
    clairvoyant_s: float
    committed: str
    predicted_s: dict[str, float]
    synchronizations: int
    redistributions: int
    iterations_moved: int
    bytes_moved: int
    balance_efficiency: float
    compute_s: float
    overhead_s: float


@dataclass(slots=True)
class Results:
    """``hosts`` has an entry each time the measurement was begun or gone on with.

    ``failures`` are launches that did not end well: name, ranks, seed, and why.
    """

    settings: Settings
    hosts: list[Host] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def done(self, case: str, ranks: int, seed: int) -> bool:
        """Whether there are runs of a case under the load of a seed."""
        return any((run.case, run.ranks, run.seed) == (case, ranks, seed) for run in self.runs)


def read(path: Path, settings: Settings) -> Results:
    """What a file holds; ValueError if it is of other settings, or none of these files."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = Settings(**document["settings"])
        results = Results(
            found,
            [Host(**host) for host in document["hosts"]],
            [Run(**run) for run in document["runs"]],
            document["failures"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: expected the results of this measurement: {error!r}") from error
    if found != settings:
        raise ValueError(f"{path}: expected results of {settings}, found those of {found}; name another file")
    return results


def write(path: Path, results: Results, table: Sequence[object] = ()) -> None:
    """Write all runs, and the table that follows from them."""
    document = {"version": _VERSION, **asdict(results), "table": [asdict(row) for row in table]}  # type: ignore[call-overload]
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    draft.replace(path)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
