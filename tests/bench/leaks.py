"""What the processes of a long program hold: memory, files, mappings, threads, handles of MPI; no test.

    python -m tests.bench.leaks --ranks 4 --calls 10000 --json tests/bench/leaks.json --plot docs/leaks.svg

One program calls loops of twelve kinds in turn (`programs/leaks.py`), and compares its results with those of
the sequential program. What is not freed shows in the second half of the calls: all that the runtime keeps on
purpose is there by then. The exit status is 1 if the output differs, or if anything grows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.mpi import run_mpi, run_sequential, starting, transform

__all__ = ["Record", "main", "plot", "soak"]

PROGRAM = Path(__file__).resolve().parent / "programs" / "leaks.py"

#: Memory that grows by less, in bytes a call over the second half, is what allocators leave unused; in short
#: runs it is more.
MOST_BYTES_A_CALL, MOST_IN_SHORT_RUNS, SHORT = 256.0, 1024.0, 5000

#: MPI numbers handles from 0 and takes numbers that are free again first. A rank has a few.
MOST_HANDLES = 64


@dataclass(frozen=True, slots=True)
class Record:
    """What was noted: the number of calls, and for each rank what it holds; ``same``: the output was."""

    notes: tuple[dict[str, Any], ...]
    same: bool

    @property
    def calls(self) -> list[int]:
        """The number of calls at each note."""
        return [note["calls"] for note in self.notes]

    def of(self, what: str) -> list[list[int]]:
        """What each rank holds, at each note."""
        ranks = range(len(self.notes[0]["ranks"]))
        return [[note["ranks"][rank][what] for note in self.notes] for rank in ranks]

    def growth(self, what: str) -> list[float]:
        """By how much it grows a call on each rank, in the second half: in both quarters of it, at least.

        A single step is no leak, such as of what is imported when it is first needed.
        """
        half, last = len(self.notes) // 2, len(self.notes) - 1
        parts = [(half, (half + last) // 2), ((half + last) // 2, last)]
        return [
            min((held[end] - held[begin]) / (self.calls[end] - self.calls[begin]) for begin, end in parts)
            for held in self.of(what)
        ]

    @property
    def handles(self) -> list[int]:
        """The highest numbers of handles of a new communicator and a new request, at each look at them."""
        looks = [note["handles"].values() for note in self.notes if "handles" in note]
        return [max(number for rank in look for number in rank) for look in looks]

    def complaints(self) -> list[str]:
        """What is not freed, and whether the output differs."""
        found = [] if self.same else ["the output differs from that of the sequential program"]
        grown = 1024 * max(self.growth("kib"))
        if grown > (MOST_BYTES_A_CALL if self.calls[-1] >= SHORT else MOST_IN_SHORT_RUNS):
            found.append(f"memory grows by {grown:.0f} bytes a call")
        half = len(self.notes) // 2
        grow = [w for w in ("files", "threads") if any(held[-1] > held[half] for held in self.of(w))]
        found += [f"{what} grow: {self.of(what)}" for what in grow]
        if max(self.handles) > MOST_HANDLES:
            found.append(f"handles of MPI go up to {max(self.handles)}")
        return found


def soak(ranks: int, calls: int, directory: Path, timeout_s: float = 3600.0) -> Record:
    """Run the program with so many calls, in interpreters of its own; AssertionError if it fails."""
    every = max(12, calls // 40 // 12 * 12)  # all kinds between two notes
    generated = transform(PROGRAM, directory)
    arguments = [str(calls), str(every), str(directory / "record.json")]
    env = {"PYTHONPATH": os.pathsep.join((str(PROGRAM.parent), os.environ.get("PYTHONPATH", "")))}
    with starting(forks=False):
        expected = run_sequential([sys.executable, str(PROGRAM), *arguments], timeout_s)
        found = run_mpi(ranks, [sys.executable, str(generated), *arguments], timeout_s, env, directory)
    assert (expected.status, found.status) == (0, 0), expected.stderr + found.stderr
    notes = (directory / "record.json").read_text().splitlines()
    return Record(tuple(map(json.loads, notes)), expected.stdout == found.stdout)


def plot(record: Record, path: Path) -> None:
    """Draw the memory of each rank over the calls as an SVG file; needs matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "leaks", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(6.4, 2.8), layout="constrained")
        axes = figure.add_subplot()
        for rank, held in enumerate(record.of("kib")):
            axes.plot(record.calls, [kib / 1024 for kib in held], label=f"rank {rank}", linewidth=1.1)
        axes.set(xlabel="calls of parallel loops", ylabel="resident memory in MiB")
        axes.set_ylim(bottom=0)
        axes.legend(ncols=4)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def main(given: Sequence[str] | None = None) -> int:
    """Run, write what is asked for, print what grows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--json", type=Path, help="write what was noted")
    parser.add_argument("--plot", type=Path, help="draw the memory of the ranks as SVG")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as name:
        record = soak(options.ranks, options.calls, Path(name))
    if options.json is not None:
        lines = ",\n".join(json.dumps(note) for note in record.notes)
        options.json.write_text(f"[\n{lines}\n]\n")
    if options.plot is not None:
        plot(record, options.plot)
    for what, unit in (("kib", "KiB"), ("files", "files"), ("mappings", "mappings"), ("threads", "threads")):
        ends = [(held[len(held) // 2], held[-1]) for held in record.of(what)]
        print(f"{unit:8} at half of the calls and at the end, by rank: {ends}")
    print(f"handles of MPI, highest number: {record.handles}")
    complaints = record.complaints()
    print(*complaints or ["nothing grows, and the output is the sequential one"], sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
