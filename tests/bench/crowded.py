"""Many ranks on few processors: how long they take to start, and what ranks that wait use; no test.

    python -m tests.bench.crowded --ranks 16,32,48 [--json FILE]

A program runs some loops, each under another strategy (`programs/crowded.py`), and its output is compared
with that of the sequential program. A rank that waits must sleep: what it uses is given as a part of what the
rank uses that computes meanwhile, which is 1 for one that spins. The exit status is 1 if the output differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.support.mpi import run_mpi, run_sequential, starting, transform

__all__ = ["Crowd", "crowd", "main"]

PROGRAM = Path(__file__).resolve().parent / "programs" / "crowded.py"


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a run noted: ``alone`` and ``within`` are parts of a processor that each rank used."""

    ranks: int
    start_s: float
    first_loop_s: float
    loops_s: dict[str, float]
    alone: list[float]
    within: list[float]
    same: bool
    elapsed_s: float

    @property
    def waiting(self) -> tuple[float, float]:
        """The most that a waiting rank used, as a part of what rank 0 used: between loops, and within one."""
        return max(self.alone[1:]) / self.alone[0], max(self.within[1:]) / self.within[0]


def crowd(ranks: int, directory: Path, timeout_s: float = 600.0) -> Crowd:
    """Run the program, in interpreters of its own; AssertionError if it fails."""
    generated, record = transform(PROGRAM, directory), directory / "record.json"
    env = {"PYTHONPATH": os.pathsep.join((str(PROGRAM.parent), os.environ.get("PYTHONPATH", "")))}
    with starting(forks=False):
        arguments = [str(ranks), repr(time.time()), str(record)]
        expected = run_sequential([sys.executable, str(PROGRAM), *arguments], timeout_s, env)
        arguments[1] = repr(time.time())
        found = run_mpi(ranks, [sys.executable, str(generated), *arguments], timeout_s, env, directory)
    assert (expected.status, found.status) == (0, 0), expected.stderr + found.stderr
    noted: dict[str, Any] = json.loads(record.read_text())
    return Crowd(**noted, same=expected.stdout == found.stdout, elapsed_s=found.elapsed)


def main(given: Sequence[str] | None = None) -> int:
    """Run on each number of ranks, and print what was noted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="16,32,48")
    parser.add_argument("--json", type=Path, help="write what was noted")
    options = parser.parse_args(given)
    crowds = []
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory() as name:
            crowds.append(found := crowd(ranks, Path(name)))
        loops = ", ".join(f"{name} {seconds:.2f}" for name, seconds in found.loops_s.items())
        print(
            f"{ranks} ranks on {os.cpu_count()} processors: {found.start_s:.1f} s to start, "
            f"{found.first_loop_s:.1f} s for the first loop, then {loops} s; waiting ranks use "
            f"{found.waiting[0]:.3f} and {found.waiting[1]:.3f} of what rank 0 uses; "
            f"{'the same output' if found.same else 'ANOTHER OUTPUT'}",
            flush=True,
        )
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in crowds], indent=1) + "\n")
    return 0 if all(each.same for each in crowds) else 1


if __name__ == "__main__":
    sys.exit(main())
