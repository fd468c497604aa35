"""How fast the simulator is: the heap alone, and whole loops by strategy and number of ranks; none is a test.

    python tests/bench/simulator.py [--ranks 4 16 ...] [--strategy GDDLB ...] [--iterations N]
                                    [--network host] [--load none random] [--steps N] [--json FILE]

An event is a step taken in virtual time or an action carried out; a message to many is one step. Each rank
has a second of computing, so that all loops are alike but for the number of ranks; local strategies balance
in groups of 16. Two networks: ``tree``, whose collectives take no longer the more ranks there are, so that
synchronizations are as frequent as can be; and ``host``, the default of the runtime, whose do.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.balance.strategies import strategy
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.worker import EventQueue

RANKS = (4, 16, 64, 256, 1024, 10_000)
STRATEGIES = (
    *("none", "GDDLB", "GCDLB", "LDDLB", "LCDLB", "periodic", "gradient", "affinity"),
    *("SS", "FAC2", "AWF_B", "steal", "diffusion"),
)
ITERATIONS = 1_000_000
COMPUTING_S = 1.0
GROUP = 16

NETWORKS = {
    "tree": Network(2e-5, 1e9, Pattern((1e-4,)), Pattern((1e-4,)), Pattern((3e-4,)), 1e-5),
    "host": Network.default(),
}
LOADS = {"none": LoadSpec(), "random": LoadSpec(random=RandomLoad(5, 0.5, 1))}

HEADER = (
    f"{'strategy':10s} {'load':7s} {'network':8s} {'P':>6s} {'wall s':>8s} {'CPU s':>8s} {'events':>9s} "
    f"{'events/s':>9s} {'synchr.':>8s} {'moved':>8s} {'makespan':>9s}"
)


@dataclass(frozen=True, slots=True)
class Played:
    """One loop: what it took here, and what came of it."""

    strategy: str
    load: str
    network: str
    ranks: int
    iterations: int
    wall_s: float
    cpu_s: float
    events: int
    synchronizations: int
    moved: int
    makespan_s: float

    def line(self) -> str:
        """A line of the table; the rate is by processor time, which others on the machine disturb less."""
        return (
            f"{self.strategy:10s} {self.load:7s} {self.network:8s} {self.ranks:6d} {self.wall_s:8.2f} "
            f"{self.cpu_s:8.2f} {self.events:9d} {self.events / self.cpu_s:9.0f} {self.synchronizations:8d} "
            f"{self.moved:8d} {self.makespan_s:9.4f}"
        )


def play(name: str, load: str, network: str, ranks: int, iterations: int) -> Played:
    """One loop, its set-up included."""
    begin, busy = time.perf_counter(), time.process_time()
    machine = Machine((1.0,) * ranks, NETWORKS[network], LOADS[load], blocks(ranks, min(GROUP, ranks)))
    loop = LoopModel(iterations, COMPUTING_S * ranks / iterations, iteration_bytes=8)
    outcome = simulate(machine, loop, strategy(name), traced=False)
    wall_s, cpu_s = time.perf_counter() - begin, time.process_time() - busy
    counts = outcome.events, outcome.synchronizations, outcome.moved
    return Played(name, load, network, ranks, iterations, wall_s, cpu_s, *counts, outcome.makespan_s)


def heap_rate(steps: int) -> float:
    """Steps a second of the heap alone: as many wait as there are ranks, each asks for the next one."""
    heap, draws = EventQueue(), Random(1)
    left = steps

    def step(now: float) -> None:
        nonlocal left
        left -= 1
        if left >= RANKS[-1]:
            heap.schedule(now + draws.random(), 0, step)

    begin = time.process_time()
    for _ in range(RANKS[-1]):
        heap.schedule(draws.random(), 0, step)
    taken = heap.run()
    return taken / (time.process_time() - begin)


def rows(options: argparse.Namespace) -> Iterator[Played]:
    """One after the other."""
    for ranks in options.ranks:
        for load in options.load:
            for name in options.strategy:
                yield play(name, load, options.network, ranks, options.iterations)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=list(RANKS))
    parser.add_argument("--strategy", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--network", choices=sorted(NETWORKS), default="tree")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of the heap alone")
    parser.add_argument("--load", nargs="+", choices=sorted(LOADS), default=list(LOADS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rate = heap_rate(options.steps)
    print(f"the heap alone, {RANKS[-1]} waiting: {rate:.0f} steps a second\n\n{HEADER}", flush=True)
    found = []
    for played in rows(options):
        print(played.line(), flush=True)
        found.append(played)
    if options.json:
        figures = {"heap_steps_per_s": rate, "loops": [asdict(played) for played in found]}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
