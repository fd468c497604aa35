"""Programs of the papers run on ranks: `dlbc run` with its statistics, and what was measured before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.findings import Chapter, Extent, Section

__all__ = ["Ran", "RunError", "failure", "kept_section", "run"]

#: Where nothing was measured yet.
NOTHING = "Nothing was measured yet: `reproduce.py --runs`."

_TIMEOUT_S = 600


class RunError(Exception):
    """A program on ranks failed; the message has the last line of its standard error."""


def kept_section(
    title: str, extent: Extent, before: Chapter | None, measured: Callable[[], Section]
) -> Section:
    """What is measured now if ranks may run, else the section of this title of before."""
    if extent.runs:
        return measured()
    sections = before.sections if before is not None else ()
    return next((section for section in sections if section.title == title), Section(title, NOTHING))


@dataclass(frozen=True, slots=True)
class Ran:
    """What rank 0 printed, and the statistics of each loop."""

    output: str
    loops: tuple[Mapping[str, Any], ...]


def run(ranks: int, options: Sequence[str], program: Path, arguments: Sequence[str] = ()) -> Ran:
    """An annotated program on so many ranks; RunError where it failed."""
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        stats = Path(folder) / "stats.json"
        flags = ["-n", str(ranks), *options, "--stats", str(stats), str(program), *arguments]
        env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DLB_TRUST": "1"}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "dlbc", "run", *flags], env=env, capture_output=True, text=True,
                timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RunError(f"{program.name} on {ranks} ranks: no end after {_TIMEOUT_S} s") from None
        if done.returncode:
            raise RunError(f"{program.name} on {ranks} ranks: {failure(done)}")
        return Ran(done.stdout, tuple(json.loads(stats.read_text(encoding="utf-8"))["loops"]))


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """The exit status of a process, and the last line that it wrote to standard error."""
    lines = done.stderr.strip().splitlines() or ["nothing on standard error"]
    return f"status {done.returncode}: {lines[-1]}"
