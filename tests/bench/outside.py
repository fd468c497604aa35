"""The outside check in virtual time: 64 ranks, half of them four times slower, 20 000 exponential iterations.

    python tests/bench/outside.py [--seeds N] [--strategies NAME,...] [--json FILE]

The loop of `tests/dlbrt/chunks/outside.py`, played by every strategy as it runs: with a network (latency
20 us, 1 GB/s; one message a request, one an answer, a claim there and back) and, where work comes from a pool
at rank 0, with that rank computing as well, which answers between its own iterations. Each line: the makespan
in seconds, over the ideal (all work over all speed) on average, least and most over the seeds, and the figure
of SimGrid SMPI with DLS4LB where there is one. Units without data are claimed by a counter where the rule
allows it, else every unit is taken to bring a byte. None is a test.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.balance.strategies import names, strategy
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine

from tests.dlbrt.chunks.outside import FIGURES_S, RANKS, SPEEDS, draw, ideal_s

#: Ranks of a group of the local strategies.
GROUP = 8


def main() -> None:
    """Play, print, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--strategies", type=lambda text: text.split(","), default=list(names()))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    machine = Machine(tuple(SPEEDS), Network.default(), groups=blocks(RANKS, GROUP))
    draws = [draw(seed) for seed in range(options.seeds)]
    figures = {}
    print(f"{'strategy':18s} {'mean s':>8s} {'/ ideal':>8s} {'least':>8s} {'most':>8s}  there")
    for name in options.strategies:
        for size in (0, 1):
            ratios, times = [], []
            for costs_s in draws:
                model = LoopModel(len(costs_s), tuple(costs_s.tolist()), iteration_bytes=size)
                found = simulate(machine, model, strategy(name), traced=False)
                assert sum(map(len, found.done)) == len(costs_s), f"{name} lost iterations"
                times.append(found.makespan_s)
                ratios.append(found.makespan_s / ideal_s(costs_s))
            label = f"{name}{', rows' if size else ''}"
            figures[label] = {"mean_s": fmean(times), "over_ideal": fmean(ratios), "most": max(ratios)}
            there = FIGURES_S.get("STATIC" if name == "none" else name, "")
            row = f"{fmean(times):8.3f} {fmean(ratios):8.4f} {min(ratios):8.4f} {max(ratios):8.4f}"
            print(f"{label:18s} {row}  {there}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
