"""The paper's 28 cases in virtual time: each strategy forced, none, and `auto`, on the same loads.

    python tests/bench/strategies_virtual.py [--seeds N] [--duration T_L ...] [--network NAME ...]
                                             [--json FILE]

The policy core of the runtime under the driver of `dlbrt.sim`. For each case (Zaki, Li, Parthasarathy, table
1.4), network and duration of persistence: the strategy that is best on average; the best over none; the best
over the clairvoyant optimum (all work over the whole effective speed); `auto` over the best forced strategy
of each seed in hindsight, and over the one that is best on average. None is a test.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "samples"))

from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.strategies import UNCHOSEN, strategy
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim.compare import clairvoyant_s
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from papers.zaki.cases import CASES, MOST_LOAD, Case
from papers.zaki.network import ethernet
from papers.zaki.virtual import loop_of

#: Forced one after the other; of those that take the same time an earlier one is named.
FORCED = ("GDDLB", "GCDLB", "LDDLB", "LCDLB")
DURATIONS_S = (2.0, 5.0, 20.0)

_LAN_S = 1e-4
_LAN = Pattern((-_LAN_S, _LAN_S))

#: The paper's Ethernet; one of today with messages of 0.1 ms; the ranks of one host.
NETWORKS = {
    "ethernet": ethernet(),
    "lan": Network(_LAN_S, 1e8, _LAN, _LAN, Pattern((0.0, -_LAN_S / 5, _LAN_S / 5)), 1e-4),
    "host": Network.default(),
}

#: Seeds that one process plays at a time.
BATCH = 10


@dataclass(frozen=True, slots=True)
class Setting:
    """A case on a network, under loads of a duration of persistence."""

    case: int
    network: str
    duration_s: float

    def machine(self, seed: int) -> Machine:
        """The ranks under load; different seeds share no rank's draws."""
        case = CASES[self.case]
        load = LoadSpec(random=RandomLoad(MOST_LOAD, self.duration_s, seed * 1000))
        groups = blocks(case.ranks, case.ranks // 2)
        return Machine((1.0,) * case.ranks, NETWORKS[self.network], load, groups)

    def loop(self) -> LoopModel:
        """The loop after the fold, and its work where iterations differ."""
        return loop_of(CASES[self.case])


@dataclass(frozen=True, slots=True)
class Played:
    """One seed: makespans by strategy, ``auto`` and ``none`` among them, and what ``auto`` chose."""

    seconds: dict[str, float]
    clairvoyant_s: float
    choice: str
    synchronizations: int

    @property
    def best_s(self) -> float:
        """The best forced strategy in hindsight."""
        return min(self.seconds[name] for name in FORCED)

    @property
    def regret(self) -> float:
        """`auto` over it."""
        return self.seconds["auto"] / self.best_s


def play(setting: Setting, seed: int) -> Played:
    """Every strategy under the loads of one seed."""
    machine, loop = setting.machine(seed), setting.loop()
    network = machine.network
    parameters = replace(Parameters(), byte_s=1 / network.bandwidth)
    seconds = {
        name: simulate(machine, loop, strategy(name), parameters).makespan_s for name in (*FORCED, "none")
    }
    chooser = StrategyChooser(network, machine.groups)
    auto = simulate(machine, loop, strategy(UNCHOSEN), parameters, chooser)
    seconds["auto"] = auto.makespan_s
    optimum_s = clairvoyant_s(machine, loop)
    return Played(seconds, optimum_s, auto.strategy, auto.synchronizations)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one setting."""

    setting: Setting
    played: list[Played]

    @property
    def case(self) -> Case:
        """The case."""
        return CASES[self.setting.case]

    def mean_s(self, name: str) -> float:
        """A strategy's makespan on average."""
        return mean(played.seconds[name] for played in self.played)

    @property
    def best(self) -> str:
        """The forced strategy that is best on average."""
        return min(FORCED, key=self.mean_s)

    @property
    def best_over_none(self) -> float:
        return self.mean_s(self.best) / self.mean_s("none")

    @property
    def best_over_clairvoyant(self) -> float:
        return self.mean_s(self.best) / mean(played.clairvoyant_s for played in self.played)

    @property
    def auto_over_best(self) -> float:
        return self.mean_s("auto") / self.mean_s(self.best)

    @property
    def regrets(self) -> list[float]:
        """Of each seed, the least first."""
        return sorted(played.regret for played in self.played)

    def line(self) -> str:
        """A line of the table."""
        case, setting = self.case, self.setting
        chosen = Counter(played.choice for played in self.played).most_common()
        choices = " ".join(f"{name}:{count}" for name, count in chosen)
        return (
            f"{case.name:16s} {case.ranks:2d} {setting.network:9s} {setting.duration_s:4g} {self.best} "
            f"{self.best_over_none:9.3f} {self.best_over_clairvoyant:9.3f} {self.auto_over_best:9.4f} "
            f"{mean(self.regrets):9.4f} {at(self.regrets, 0.99):7.3f} {choices}"
        )


HEADER = (
    f"{'case':16s}  P network    t_l best   best/none /clairv. auto/best hindsight 99th p. what auto chose"
)


def at(ordered: Sequence[float], part: float) -> float:
    """The value that this part of the values is not above."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def batch(task: tuple[Setting, range]) -> tuple[Setting, list[Played]]:
    """Some seeds of a setting."""
    setting, seeds = task
    return setting, [play(setting, seed) for seed in seeds]


def rows(settings: Iterable[Setting], seeds: int, processes: int) -> Iterator[Row]:
    """Every setting, as soon as it has been played."""
    parts = [range(first, min(seeds, first + BATCH)) for first in range(0, seeds, BATCH)]
    tasks = [(setting, part) for setting in settings for part in parts]
    with ProcessPoolExecutor(processes) as pool:
        for setting, found in groupby(pool.map(batch, tasks), key=lambda done: done[0]):
            yield Row(setting, [played for _, part in found for played in part])


def summary(found: Sequence[Row]) -> str:
    """Over all rows and seeds."""
    regrets = sorted(regret for row in found for regret in row.regrets)
    worst = max(found, key=lambda row: row.best_over_none)
    mxm = {
        ranks: [
            row.best_over_clairvoyant
            for row in found
            if row.case.name[:3] == "MXM" and row.case.ranks == ranks
        ]
        for ranks in (4, 16)
    }
    lines = [
        f"auto/best in hindsight: mean {mean(regrets):.4f}, 99th percentile {at(regrets, 0.99):.4f}, "
        f"worst {regrets[-1]:.3f} of {len(regrets)}",
        f"auto/best on average: mean {mean(row.auto_over_best for row in found):.4f}, "
        f"worst {max(row.auto_over_best for row in found):.4f}",
        f"best/none: {min(row.best_over_none for row in found):.3f}..{worst.best_over_none:.3f} "
        f"({worst.case.name})",
    ]
    lines += [
        f"MXM best/clairvoyant P={ranks}: mean {mean(ratios):.4f}, worst {max(ratios):.4f}"
        for ranks, ratios in mxm.items()
        if ratios
    ]
    return "\n".join(lines)


def main() -> None:
    """Play everything, print a line a setting, the greatest regret first; write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--duration", type=float, nargs="+", default=list(DURATIONS_S))
    parser.add_argument("--network", nargs="+", choices=sorted(NETWORKS), default=["ethernet"])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    settings = [
        Setting(case, network, duration_s)
        for network in options.network
        for duration_s in options.duration
        for case in range(len(CASES))
    ]
    found = list(rows(settings, options.seeds, options.processes))
    print(HEADER)
    for row in sorted(found, key=lambda row: -mean(row.regrets)):
        print(row.line())
    print(summary(found))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
