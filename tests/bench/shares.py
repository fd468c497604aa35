"""What new shares take at a synchronization, on one rank: profiles in; history, decision and transfers out.

    python tests/bench/shares.py [--ranks P ...] [--rounds N] [--json FILE]

Times the new shares alone, and one `GroupState.settle` of GDDLB, its state made anew each time, in
milliseconds: with
equal blocks; with a table of work, from blocks of equal work; with iterations dealt in turn; with shares of
many pieces. Ranks are of random speed, so that nearly all give or take. To reach by the shares alone: 0.1 ms
at P = 16 and 5 ms at P = 1024.

Then what `auto` takes to choose at P = 16, every strategy weighed, in milliseconds of processor time: the
paper's 28 loops under random load, in virtual time; the median of loops and the dearest. To reach: 5 ms. None
is a test.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategies import UNCHOSEN, strategy
from dlbrt.data.layout import block, cyclic, in_turns, quickest
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.parameters import Parameters
from dlbrt.predict.choose import OTHERS, choose
from dlbrt.predict.groups import blocks
from dlbrt.predict.inputs import ModelInputs
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import Machine
from papers.zaki.cases import CASES, MOST_LOAD
from papers.zaki.network import ethernet

from tests.bench.strategies_virtual import Setting

#: Units a rank, windows of about 1 s.
UNITS = 1000
RANKS = (4, 16, 64, 256, 1024)
PIECES = 32


def triangle(n: int) -> WorkTable:
    """Work that grows with the unit, as a table of 1024 edges."""
    edges = sorted({n * k // 1024 for k in range(1025)})
    return WorkTable(tuple(edges), tuple(edge * (edge + 1) // 2 for edge in edges))


def dealt(case: str, n: int, ranks: int) -> tuple[tuple[Spans, ...], WorkTable]:
    """The shares at the start of the window, and what a unit is."""
    match case:
        case "table":
            bounds = [round(n * (rank / ranks) ** 0.5) for rank in range(ranks + 1)]
            return tuple(Spans.of(range(low, high)) for low, high in pairwise(bounds)), triangle(n)
        case "dealt":
            return cyclic(n, ranks), UNIFORM
        case "pieces":
            return in_turns(n, ranks, PIECES), UNIFORM
        case _:
            return block(n, ranks), UNIFORM


def profiles(shares: Sequence[Spans], seed: int) -> list[Profile]:
    """Each rank has done a random part of its share in a second."""
    draw = Random(seed)
    return [Profile(int(len(share) * draw.uniform(0.2, 0.8)), 1.0, reserved=2) for share in shares]


def settle_s(case: str, ranks: int, rounds: int) -> list[float]:
    """Seconds of each round."""
    n = UNITS * ranks
    shares, work_table = dealt(case, n, ranks)
    terms = BalancingContext(Units(0, n), Parameters(), Parameters().exchange_s, work_table)
    rule = strategy("GDDLB")
    windows = [(GroupState(range(ranks), shares, terms), profiles(shares, seed)) for seed in range(rounds)]
    gc.collect()
    times = []
    for books, given in windows:
        begin = time.perf_counter()
        transfers = books.settle(given, rule.decide)
        times.append(time.perf_counter() - begin)
        assert transfers, "the ranks differ, and nothing moved"
    return times


def quickest_s(ranks: int, rounds: int) -> list[float]:
    """Seconds of new shares alone, of each round."""
    draw, times = Random(1), []
    for _ in range(rounds):
        speeds = [draw.uniform(0.2, 0.8) * UNITS for _ in range(ranks)]
        begin = time.perf_counter()
        shares = quickest(UNITS * ranks, speeds, (2,) * ranks)
        times.append(time.perf_counter() - begin)
        assert sum(shares) == UNITS * ranks
    return times


#: Ranks that a strategy is chosen for.
CHOOSERS = 16


def known(case: int) -> ModelInputs:
    """What is known of a case's loop on 16 ranks at the first synchronization of a run in virtual time."""
    load = LoadSpec(random=RandomLoad(MOST_LOAD, 5.0, 1000))
    machine = Machine((1.0,) * CHOOSERS, ethernet(), load, blocks(CHOOSERS, CHOOSERS // 2))
    chooser = StrategyChooser(machine.network, machine.groups)
    loop = Setting(case, "ethernet", 5.0).loop()
    simulate(machine, loop, strategy(UNCHOSEN), Parameters(), chooser, traced=False)
    assert chooser.choice is not None, "the loop ended before a choice"
    return chooser.choice.known


def choice_s(case: int, rounds: int) -> float:
    """Seconds of processor time that a choice takes, the median."""
    inputs, times = known(case), []
    for _ in range(rounds):
        begin = time.process_time()
        choose(inputs, others=OTHERS)
        times.append(time.process_time() - begin)
    return median(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    for case in ("shares", "blocks", "table", "dealt", "pieces"):
        for ranks in options.ranks:
            rounds = options.rounds
            times = quickest_s(ranks, rounds) if case == "shares" else settle_s(case, ranks, rounds)
            what, least, middle = f"{case}, P = {ranks}", min(times) * 1e3, median(times) * 1e3
            figures[what] = {"min_ms": least, "median_ms": middle}
            print(f"{what:18s} min {least:8.4f} ms   median {middle:8.4f} ms", flush=True)
    choices = [choice_s(case, options.rounds) * 1e3 for case in range(len(CASES))]
    what, middle, most = f"choice, P = {CHOOSERS}", median(choices), max(choices)
    figures[what] = {"median_ms": middle, "worst_ms": most}
    print(f"{what:18s} median {middle:8.4f} ms    worst {most:8.4f} ms")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
