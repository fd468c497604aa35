"""Balancing from pass to pass against real paging: three hosts of a lab, of which one has little memory.

    python tests/bench/paging.py                          # all models, 20 passes each
    python tests/bench/paging.py akima --passes 40 --memory 20

The host's equal share does not fit into its memory, so each pass brings it in from swap and puts it back
there: the cliff that Clarke, Lastovetsky and Rychkov met (figures 5, 9 and 12), which `--speeds 1,1@R:F`
emulates. No work moves within a pass (groups of one rank); `equal` keeps the shares of the first. The
table gives the median seconds of the first three passes and of the last third, the rows of the paging host at
the first pass, at the least and at the last, and how often shares have changed. `--json FILE` writes each
pass.

Needs the lab (docs/lab.md) with limits of memory: root, control groups of version 1, swap.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab import Host, Lab, why_no_memory
from tests.support.mpi import transform

PROGRAM = Path(__file__).resolve().parent / "programs" / "paging.py"
CLAUSE = "model=piecewise"
MODELS = ("equal", "constant", "piecewise", "akima")

#: Rows of 32 KiB in each of two fields, so that a third of them takes 48 MiB.
ROWS, COLUMNS = 2306, 4096
CORES = 0.5
MEMORY_MB, SWAP_MB = 40.0, 512.0
HOSTS, PAGING = 3, 2
TIMEOUT_S = 120
#: How often a run is begun of which the kernel ends a process: it may, of one that pages heavily.
TRIES = 8
ALONE = {"DLB_STRATEGY": "LDDLB", "DLB_GROUP": "1"}
STILL = {"DLB_STRATEGY": "none"}


@dataclass(frozen=True, slots=True)
class Pass:
    """Seconds of one pass, and the rows that each host has done in it."""

    seconds: float
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """All passes with one model; ``peak_mb`` is the most memory that the paging host has used."""

    model: str
    passes: tuple[Pass, ...]
    peak_mb: float
    output: str

    @property
    def moves(self) -> int:
        """How often the shares have changed."""
        return sum(one.rows != other.rows for one, other in pairwise(self.passes))

    def typical(self, first: int, last: int | None) -> float:
        """The median seconds of some passes."""
        return statistics.median(each.seconds for each in self.passes[first:last])


def run(lab: Lab, model: str, passes: int, home: Path, rows: int = ROWS) -> Run:
    """The program with that model on the hosts of a lab, the last of which pages."""
    source, text = home / f"{model}.py", PROGRAM.read_text()
    source.write_text(text if model == "equal" else text.replace(CLAUSE, f"model={model}"))
    words = [sys.executable, str(transform(source, home)), str(rows), str(COLUMNS), str(passes)]
    for _ in range(TRIES):
        killed = lab.memory.kills(PAGING)
        done = lab.run(words, env=STILL if model == "equal" else ALONE, timeout=TIMEOUT_S)
        if lab.memory.kills(PAGING) == killed:
            break
        print(f"{model}: the kernel has ended the process that pages; once more", file=sys.stderr)
    assert done.returncode == 0, done.stderr
    lines = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("pass ")]
    found = tuple(Pass(float(seconds), tuple(map(int, rows))) for seconds, *rows in lines)
    return Run(model, found, lab.memory.peak_mb(PAGING), done.stdout.decode())


def hosts(memory_mb: float, cores: float = CORES) -> list[Host]:
    """Hosts of one speed, the last with little memory."""
    return [
        Host(cores, memory_mb=memory_mb if number == PAGING else None, swap_mb=SWAP_MB)
        for number in range(HOSTS)
    ]


def table(runs: Sequence[Run]) -> str:
    """One line for each model."""
    lines = [f"{'model':10} {'first s':>8} {'last s':>8} {'gain':>6}   rows of the paging host      moves"]
    for each in runs:
        first, last = each.typical(0, 3), each.typical(-len(each.passes) // 3, None)
        rows = [found.rows[PAGING] for found in each.passes]
        seen = f"{rows[0]:4} first, {min(rows):4} least, {rows[-1]:4} last"
        lines.append(f"{each.model:10} {first:8.3f} {last:8.3f} {first / last:6.2f}   {seen} {each.moves:5}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=MODELS, help=", ".join(MODELS))
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--memory", type=float, default=MEMORY_MB, help="of the paging host, in MiB")
    parser.add_argument("--json", type=Path, help="write each pass there")
    options = parser.parse_args(arguments)
    if reason := why_no_memory():
        print(f"paging: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as home, Lab(hosts(options.memory)) as lab:
        runs = [run(lab, model, options.passes, Path(home)) for model in options.models]
    print(table(runs))
    assert len({each.output for each in runs}) == 1, "results differ"
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in runs], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
