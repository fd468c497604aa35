"""How well the paper's sieve is cut for 16 processors: by length, by its formula, by what a pass measured.

    python tests/bench/sieve.py [--maximum N] [--ranks P] [--group K] [--json FILE]

Every cut is judged twice: by counted divisions, and by seconds of processor time, running the part of each
processor by the sample `primes.py`, one after the other. What is measured is that of a first pass in equal
lengths: by groups of K odd numbers (`profile`), and as one sample per processor, to which a curve is fitted.
None is a test: tests/papers/swartz/test_sieve.py holds the counted figures to their bounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency
from papers.swartz.clocked import Meter, clocked, counted, cuts

#: name -> figure
Figures = dict[str, float]


def judged(bounds: Sequence[int], took: Meter) -> Figures:
    """How far the processors' work or times are apart."""
    work = [took(range(low, high)) for low, high in pairwise(bounds)]
    return {
        "L_E": efficiency(work),
        "L_I": inefficiency(work),
        "idle_share": idle_share(work),
        "first_over_last": work[0] / work[-1],
    }


def measured(maximum: int, ranks: int, group: int, took: Meter) -> dict[str, Figures]:
    """The figures of all cuts, a line each."""
    found = {}
    for name, bounds in cuts(maximum, ranks, group, took):
        found[name] = figures = judged(bounds, took)
        print(
            f"    {name:26s} L_E {figures['L_E']:6.2f} %   L_I {figures['L_I']:6.2f} %   "
            f"idle {figures['idle_share']:5.2f} %   first/last {figures['first_over_last']:.3f}",
            flush=True,
        )
    return found


def main() -> None:
    """Print the figures, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--maximum", type=int, default=2**22)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--group", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {}
    for judge, meter in (("counted divisions", counted), ("processor time", clocked)):
        print(f"primes up to {options.maximum} on {options.ranks} processors, by {judge}", flush=True)
        took = meter(options.maximum)
        figures[judge] = measured(options.maximum, options.ranks, options.group, took)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
