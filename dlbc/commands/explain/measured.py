"""The efficiencies that a run has measured: from its statistics (`dlbc run --stats FILE`)."""

from __future__ import annotations

import json
from math import fsum
from pathlib import Path
from typing import Any

from dlbrt.contract import OptionError
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredEfficiency:
    """T(1) / T(P) over the sum of the speeds, T(1) being the computing of all ranks at speed 1.

    Communication counts, and ``seconds`` are those of all ``runs`` of the loop together. ``alone_s`` is T(1)
    of a run, ``row_bytes`` are those of rows that rank 0 sent out and got back in it.
    """

    efficiency: float
    strategy: str
    seconds: float
    runs: int = 1
    alone_s: float = 0.0
    row_bytes: float = 0.0

    @property
    def each_s(self) -> float:
        """The seconds of a run."""
        return self.seconds / self.runs

    def __str__(self) -> str:
        under = f"{self.seconds:.3g} s under {self.strategy}, communication included"
        return f"efficiency {self.efficiency:.1%}, {under}"


def read_measured(path: str, count: int, weights: tuple[float, ...] | None) -> dict[str, MeasuredEfficiency]:
    """By source (``file.py:12``), the loops that ran on ``count`` ranks of these speeds.

    OptionError for a file that is no statistics, or of another number of ranks.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"--stats: {path}: expected statistics of a run; found {_words(error)}") from error
    try:
        ranks, loops = int(document["ranks"]), list(document["loops"])
        found = {str(loop["source"]): _measured(loop, weights or (1.0,) * ranks) for loop in loops}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OptionError(f"--stats: {path}: expected statistics of a run; found other JSON") from error
    if ranks != count:
        raise OptionError(f"--stats: {path}: expected statistics of {count} ranks; found those of {ranks}")
    return {source: each for source, each in found.items() if each is not None}


def _measured(loop: dict[str, Any], speeds: tuple[float, ...]) -> MeasuredEfficiency | None:
    """None for a loop that did not run, or ran on rank 0 alone."""
    elapsed_s, per_rank = float(loop["elapsed_s"]), loop["per_rank"]
    work = fsum(speed * float(rank["compute_s"]) for speed, rank in zip(speeds, per_rank, strict=False))
    if not elapsed_s > 0 or loop["strategy"] == "local":
        return None
    runs = int(loop["runs"])
    moved = float(loop.get("bytes_scattered", 0)) + float(loop.get("bytes_gathered", 0))
    efficiency = work / (elapsed_s * fsum(speeds))
    return MeasuredEfficiency(efficiency, str(loop["strategy"]), elapsed_s, runs, work / runs, moved / runs)


def _words(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "text that is no JSON"
