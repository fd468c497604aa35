"""Largest over mean work of a graded loop on 16 processors: equal blocks, folded pairs, cuts by equal work.

    python tests/bench/fold.py [-n ITERATIONS] [-p PROCESSORS] [--json FILE]

Linear work is folded and dealt in equal blocks of pairs, since two iterations t and n - 1 - t cost as much as
any other two. Quadratic and cubic work do not fold (the column shows what would come of it): they are cut
where the cumulative work is i TT / P, by Newton's method, and exactly, by prefix sums. Nothing is timed. For
1000 iterations on 16 processors tests/dlbrt/partition/test_integer.py holds the figures to the bounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.data.layout import block
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.partition.integer import optimal, prefix_sums, settled
from dlbrt.partition.newton import Cutter
from dlbrt.partition.work import over_positions
from papers.swartz.integer import parts
from papers.swartz.newton import cuts

#: name -> the degree of W(i), and what largest over mean may be for 1000 iterations on 16 processors.
GRADES = {"linear": (1, 1.025), "quadratic": (2, 1.04), "cubic": (3, 1.07)}


def dealt(work: NDArray[np.int64], ranks: int, folded: bool) -> float:
    """Largest over mean work of equal blocks of iterations, or of pairs of them."""
    units = Units(0, len(work), folded)
    shares = [units.positions(units_of_rank) for units_of_rank in block(len(units), ranks)]
    return over_mean([_sum(work, share) for share in shares])


def _sum(work: NDArray[np.int64], positions: Spans) -> int:
    return sum(int(work[run.start : run.stop : run.step].sum()) for run in positions.runs)


def cut(degree: int, work: NDArray[np.int64], ranks: int) -> float:
    """Largest over mean work, cut by t(x) = x^(degree + 1) alone, as `cost(cumulative=...)` is."""
    t = over_positions(lambda x: np.asarray(x, dtype=float) ** (degree + 1), range(len(work)))
    bounds = settled(cuts(Cutter(t), ranks), t.t)
    return over_mean(parts(prefix_sums(work), bounds).tolist())


def best(work: NDArray[np.int64], ranks: int) -> float:
    """Largest over mean work of the best contiguous parts that there are."""
    prefix = prefix_sums(work)
    return over_mean(parts(prefix, optimal(prefix, ranks)).tolist())


def over_mean(work: Sequence[float]) -> float:
    """The largest over the mean."""
    return max(work) / (sum(work) / len(work))


def main() -> None:
    """Print the figures, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", "--iterations", type=int, default=1000)
    parser.add_argument("-p", "--processors", type=int, default=16)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {}
    print(f"{'W(i)':10s} {'blocks':>8s} {'pairs':>8s} {'Newton':>8s} {'exact':>8s} {'bound':>8s}")
    for name, (degree, bound) in GRADES.items():
        work, ranks = np.arange(options.iterations) ** degree, options.processors
        figures[name] = found = {
            "blocks": dealt(work, ranks, folded=False),
            "pairs": dealt(work, ranks, folded=True),
            "newton": cut(degree, work, ranks),
            "exact": best(work, ranks),
            "bound": bound,
        }
        print(f"{name:10s} " + " ".join(f"{figure:8.4f}" for figure in found.values()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
