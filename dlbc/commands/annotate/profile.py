"""How long the loops of a program take: one sequential run of it, with timers around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlbrt.records import dataclass


class ProfileError(Exception):
    """The program could not be run to its end; the message says how it ended."""


@dataclass(frozen=True)
class LoopTime:
    """How often a loop ran, its iterations and seconds in all; a run inside another one is part of that."""

    runs: int = 0
    iterations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class ProgramProfile:
    """The seconds of a program, and of its loops by file (`os.path.realpath`) and line."""

    elapsed_s: float
    loops: Mapping[tuple[str, int], LoopTime]

    def of(self, path: str, line: int) -> LoopTime | None:
        """The time of a loop; None if it was not measured."""
        return self.loops.get((os.path.realpath(path), line))

    def share(self, time: LoopTime) -> float:
        """The part of the program's time that a loop takes."""
        return min(1.0, time.seconds / self.elapsed_s) if self.elapsed_s else 0.0


def run_profile(program: str, arguments: Sequence[str], lines: Mapping[str, Sequence[int]]) -> ProgramProfile:
    """Run a program with timers around the loops in these lines of files; ProfileError.

    What it writes to standard output goes to standard error, which is the user's.
    """
    with tempfile.TemporaryDirectory(prefix="dlbc-") as folder:
        request, times = Path(folder, "request.json"), Path(folder, "times.json")
        files = {os.path.realpath(file): sorted(each) for file, each in lines.items()}
        request.write_text(json.dumps({"files": files, "times": str(times)}), encoding="utf-8")
        words = [sys.executable, "-m", "dlbc.commands.annotate.measure", str(request), program, *arguments]
        sys.stderr.flush()
        done = subprocess.run(words, stdout=sys.stderr.fileno(), check=False)
        if done.returncode or not times.exists():
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
            raise ProfileError(f"--profile: expected that {program} runs to its end; it ended with {how}")
        found = json.loads(times.read_text(encoding="utf-8"))
    loops: dict[tuple[str, int], LoopTime] = {}
    for each in found["loops"]:
        loops[each["file"], each["line"]] = LoopTime(each["runs"], each["iterations"], each["seconds"])
    return ProgramProfile(found["elapsed_s"], loops)
