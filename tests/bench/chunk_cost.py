"""What a chunk costs a self-scheduling loop with an empty body, beside task pools for Python over MPI.

    python tests/bench/chunk_cost.py [--ranks P] [--rounds N] [--json FILE]

`SS` hands out single iterations. Each line: microseconds of the whole run for each iteration, from the
difference of a long run and a short one, median and spread of all rounds. ``one by one`` is `SS` where a rank
takes no more than one chunk by a claim, however short chunks are. The pools are given a function that does
nothing and one task for each iteration (chunks of 1); with P ranks they have P - 1 workers. schwimmbad is
measured if it is installed. All are run in turn. None is a test.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.mpi import find_mpiexec, run_mpi, transform

LOOP = """
import sys, time
import numpy as np
n = int(sys.argv[1])
A = np.zeros(n)
for again in range(2):
    start = time.perf_counter()
    # dlb: parallel, schedule({rule})
    for i in range(n):
        A[i] = i
    seconds = time.perf_counter() - start
assert A[-1] == n - 1
print("seconds", seconds, file=sys.stderr)
"""

SINGLY = """
import runpy, sys
import dlbrt.chunks.rule as together
together.CHUNK_S = 0.0
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

FUTURES = """
import sys, time
from mpi4py.futures import MPIPoolExecutor
def nothing(i):
    pass
if __name__ == "__main__":
    n = int(sys.argv[1])
    with MPIPoolExecutor() as pool:
        list(pool.map(nothing, range(100)))
        start = time.perf_counter()
        for _ in pool.map(nothing, range(n), chunksize=1):
            pass
        print("seconds", time.perf_counter() - start, file=sys.stderr)
"""

SCHWIMMBAD = """
import sys, time
from schwimmbad import MPIPool
def nothing(i):
    pass
with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    pool.map(nothing, range(100))
    start = time.perf_counter()
    pool.map(nothing, range(int(sys.argv[1])))
    print("seconds", time.perf_counter() - start, file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Line:
    """Microseconds a chunk."""

    name: str
    chunks: int
    cost_us: float
    least_us: float
    most_us: float

    def __str__(self) -> str:
        spread = f"({self.least_us:.2f} .. {self.most_us:.2f})"
        return f"{self.name:34s} {self.chunks:8d} chunks  {self.cost_us:8.2f} us a chunk {spread}"


def seconds(ranks: int, command: list[str]) -> float:
    """What a program says that it took."""
    done = run_mpi(ranks, [sys.executable, *command], 300)
    found = re.search(r"seconds ([\d.e+-]+)", done.stderr)
    assert done.status == 0, done.stderr
    assert found, done.stderr
    return float(found[1])


def contenders(directory: Path) -> dict[str, tuple[int, Callable[[int], list[str]]]]:
    """By name the number of chunks of a long run, and the command of a run of so many."""
    texts = {"loop": LOOP.format(rule="SS"), "singly": SINGLY, "futures": FUTURES, "schwimmbad": SCHWIMMBAD}
    for name, text in texts.items():
        (directory / f"cost_{name}.py").write_text(text, encoding="utf-8")
    loop = str(transform(directory / "cost_loop.py", directory))
    at = {name: str(directory / f"cost_{name}.py") for name in texts}
    found: dict[str, tuple[int, Callable[[int], list[str]]]] = {
        "SS": (2_000_000, lambda n: [loop, str(n)]),
        "SS, one by one": (50_000, lambda n: [at["singly"], loop, str(n)]),
        "mpi4py.futures": (5_000, lambda n: ["-m", "mpi4py.futures", at["futures"], str(n)]),
    }
    if find_spec("schwimmbad"):
        found["schwimmbad"] = (5_000, lambda n: [at["schwimmbad"], str(n)])
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    subprocess.run([*find_mpiexec(), "--version"], check=True, capture_output=True)
    with tempfile.TemporaryDirectory() as out:
        runs = contenders(Path(out))
        costs: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(options.rounds):
            for name, (n, command) in runs.items():
                few = n // 10
                took_s = seconds(options.ranks, command(n)) - seconds(options.ranks, command(few))
                costs[name].append(1e6 * took_s / (n - few))
    lines = [
        Line(name, runs[name][0], median(found), min(found), max(found)) for name, found in costs.items()
    ]
    print(*lines, sep="\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in lines], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
