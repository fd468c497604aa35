"""How well a strategy is chosen: the paper's 28 cases played in virtual time under random load.

    python tests/bench/strategy_model.py [--seeds N] [--duration T_L ...] [--rules NAME] [--json FILE]

For each case (Zaki, Li, Parthasarathy, table 1.4): the strategy that is best on average over the seeds, that
predicted to be best with all loads known and with the loads seen so far, the best over no balancing, the
choice at the first synchronization over the best of each seed in hindsight, and the best over the clairvoyant
optimum (all work over the whole effective speed). Then what a choice takes at P = 16, and new shares at
P = 1024. None is a test.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import mean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.core.model.choose import Known, choose
from dlbrt.core.model.network import Network
from dlbrt.core.model.recurrence import Game, play
from dlbrt.core.model.redistribute import Charges, Rules, redistribute
from dlbrt.core.model.schemes import SCHEMES, Scheme, scheme
from dlbrt.core.model.speed import Processor
from dlbrt.core.model.work import Runs, Work

from tests.dlbrt.core.model import player
from tests.dlbrt.core.model.cases import CASES, Case

ETHERNET = Network.ethernet()
RULES = {"paper": Rules(), "overlapped": Rules(charged=True, reserves=True)}
CENTRAL, LOCAL = scheme("GCDLB"), scheme("LDDLB")
SLICES = 8


@dataclass(frozen=True, slots=True)
class Figures:
    """One case at one t_l; ``auto`` holds a ratio for each seed."""

    case: str
    ranks: int
    duration_s: float
    best: str
    known: str
    seen: str
    known_over_best: float
    seen_over_best: float
    best_over_none: float
    best_over_clairvoyant: float
    auto: list[float]


def known_at(
    case: Case, setting: player.Setting, now: float, held: Sequence[Runs], speeds: Sequence[float]
) -> Known:
    """What is known at the first synchronization."""
    history = player.history(setting, now, SLICES)
    groups, size = case.groups(LOCAL), case.iteration_bytes
    return Known(
        now, case.work, tuple(held), tuple(speeds), history, groups, ETHERNET, (), size, setting.rules
    )


def automatic(case: Case, setting: player.Setting) -> tuple[float, list[float], Known]:
    """The makespan with the choice at the first synchronization, what was predicted, and from what."""
    seen: list[Known] = []

    def commit(
        now: float, held: Sequence[Runs], speeds: Sequence[float]
    ) -> tuple[Scheme, Sequence[Sequence[int]]]:
        seen.append(known_at(case, setting, now, held, speeds))
        chosen = scheme(choose(seen[0]).strategy)
        return chosen, case.groups(chosen)

    makespan_s, _ = player.play(setting, CENTRAL, case.groups(CENTRAL), commit)
    predicted_s = dict(choose(seen[0]).predicted_s)
    return makespan_s, [predicted_s[each.name] for each in SCHEMES], seen[0]


def clairvoyant_s(work_s: float, processors: Sequence[Processor], most_s: float) -> float:
    """When all processors together have done the work."""
    low, high = 0.0, most_s
    for _ in range(60):
        middle = (low + high) / 2
        enough = sum(processor.capacity(middle) for processor in processors) >= work_s
        low, high = (low, middle) if enough else (middle, high)
    return high


def figures(case: Case, duration_s: float, rules: Rules, seeds: int) -> Figures:
    """Play a case under every strategy, and by choice."""
    simulated, known, seen, none, least, auto = [], [], [], [], [], []
    for seed in range(seeds):
        setting = player.loaded(case, ETHERNET, duration_s, seed, rules)
        none.append(player.static(setting))
        processors = player.processors(setting, 2 * none[-1] + 10 * duration_s)
        game = Game(case.work, processors, (ETHERNET,), case.iteration_bytes, rules)
        simulated.append([player.play(setting, each, case.groups(each))[0] for each in SCHEMES])
        known.append([play(game, each, case.held(), case.groups(each)).total_s for each in SCHEMES])
        makespan_s, predicted_s, _ = automatic(case, setting)
        seen.append(predicted_s)
        auto.append(makespan_s / min(*simulated[-1], none[-1]))
        work_s = case.work.units(((0, case.size),)) * case.work.unit_s
        least.append(clairvoyant_s(work_s, processors, none[-1]))
    times, by_known, by_seen = (
        [mean(column) for column in zip(*rows, strict=True)] for rows in (simulated, known, seen)
    )
    best, first, second = (column.index(min(column)) for column in (times, by_known, by_seen))
    return Figures(
        case.name, case.ranks, duration_s, SCHEMES[best].name, SCHEMES[first].name, SCHEMES[second].name,
        times[first] / times[best], times[second] / times[best], times[best] / mean(none),
        times[best] / mean(least), auto,
    )  # fmt: skip


def summary(rows: Sequence[Figures]) -> str:
    """Matches, and the ratios over all seeds and cases."""
    auto = sorted(ratio for row in rows for ratio in row.auto)
    hits = [sum(row.best == getattr(row, by) for row in rows) for by in ("known", "seen")]
    return (
        f"predicted = best: {hits[0]} (loads known), {hits[1]} (loads seen) of {len(rows)}; auto/best mean "
        f"{mean(auto):.4f}, 99th percentile {auto[int(0.99 * len(auto))]:.3f}; best/none "
        f"{min(row.best_over_none for row in rows):.3f}..{max(row.best_over_none for row in rows):.3f}"
    )


def taken(action: Callable[[], object], repeat: int = 15) -> str:
    """The least and the median time of an action."""
    took = []
    for _ in range(repeat):
        begin = time.perf_counter()
        action()
        took.append((time.perf_counter() - begin) * 1e3)
    return f"{min(took):.2f} ms at least, median {median(took):.2f}"


def decisions(rules: Rules) -> None:
    """What decisions take."""
    for case in (case for case in CASES if case.ranks == 16):
        known = automatic(case, player.loaded(case, ETHERNET, 5.0, 1, rules))[2]
        print(f"choice, {case.name:16s} P=16   {taken(lambda k=known: choose(k))}")
    random = Random(1)
    speeds = [random.uniform(0.1, 1) for _ in range(1024)]
    held = [((rank * 100, rank * 100 + random.randint(1, 100)),) for rank in range(1024)]
    for name, work in (
        ("uniform", Work(1.0)),
        ("by cost", Work(1.0, [i * (i + 1) // 2 for i in range(102_401)])),
    ):
        took = taken(lambda w=work: redistribute(w, held, speeds, rules, Charges(0.0, 0.0, 0.0)))
        print(f"new shares, {name:12s} P=1024 {took}")


def main() -> None:
    """Play everything, print a line a case, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--duration", type=float, nargs="+", default=[2.0, 5.0, 20.0])
    parser.add_argument("--rules", choices=sorted(RULES), default="overlapped")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    everything = []
    for duration_s in options.duration:
        print(f"t_l = {duration_s:g} s, {options.seeds} seeds, {options.rules}")
        print(f"{'case':18s} {'P':>2s} best  known seen  best/none best/clairvoyant auto/best (mean, worst)")
        rows = []
        for case in CASES:
            row = figures(case, duration_s, RULES[options.rules], options.seeds)
            rows.append(row)
            print(
                f"{row.case:18s} {row.ranks:2d} {row.best} {row.known} {row.seen} {row.best_over_none:9.3f} "
                f"{row.best_over_clairvoyant:16.3f} {mean(row.auto):9.4f} {max(row.auto):7.3f}",
                flush=True,
            )
        print(summary(rows))
        everything += rows
    decisions(RULES[options.rules])
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in everything], indent=2) + "\n")


if __name__ == "__main__":
    main()
