"""What a chunk costs to calculate, by rule, and what the rules achieve in the outside check; none is a test.

    python tests/bench/chunks.py [--seeds N] [--rounds N] [--json FILE]

By state: `ReportingScheduler.deal` and `ReportingScheduler.done`, as a master calls them,
medians over whole loops. By index: the
chunk of a counter's value, as each rank finds it after a fetch-and-add; and making the table for that.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbrt.chunks.table import RULES

from tests.dlbrt.chunks.outside import FIGURES_S, RANKS, TSS_THERE, draw, ideal_s, rule_of, run
from tests.support.chunk_player import ReportingScheduler

_ROW = (
    "{mean_s:7.3f} {least_s:7.3f} {most_s:7.3f} {over_ideal:11.3f} {over_ideal_known_work:8.3f} {chunks:7.0f}"
)

Figures = dict[str, dict[str, float]]


def by_state(name: str) -> float:
    """Microseconds a chunk, with ranks asking in turn."""
    scheduler, chunks = ReportingScheduler(rule_of(name)), 0
    begin = time.perf_counter()
    while chunk := scheduler.deal(chunks % RANKS):
        scheduler.done(chunks % RANKS, chunk, 0.005 * len(chunk), 0.005 * len(chunk) + 5e-5)
        chunks += 1
    return (time.perf_counter() - begin) / chunks * 1e6


def by_index(name: str) -> tuple[float, float] | None:
    """Microseconds to find a chunk, and to make the table; None for a rule that has none."""
    begin = time.perf_counter()
    sequence = rule_of(name).sequence()
    made = time.perf_counter()
    if sequence is None:
        return None
    for k in range(len(sequence)):
        sequence.chunk(k)
    return (time.perf_counter() - made) / len(sequence) * 1e6, (made - begin) * 1e6


def costs(rounds: int) -> Figures:
    """Print and return the medians over the rounds."""
    figures: Figures = {}
    print(f"{'rule':8s} {'by state':>10s} {'by index':>10s} {'its table':>10s}   microseconds")
    for name in RULES:
        found = {"by_state_us": statistics.median(by_state(name) for _ in range(rounds))}
        pairs = [pair for _ in range(rounds) if (pair := by_index(name))]
        if pairs:
            found["by_index_us"], found["table_us"] = map(statistics.median, zip(*pairs, strict=True))
        figures[name] = found
        print(f"{name:8s} " + " ".join(f"{value:10.2f}" for value in found.values()), flush=True)
    return figures


def makespans(seeds: int) -> Figures:
    """Print and return makespans, as seconds and over the ideal of each draw, the latter by work as well."""
    figures: Figures = {}
    print(f"\n{'rule':12s}    mean   least    most  over ideal  known W  chunks  there   seconds")
    draws = [draw(seed) for seed in range(seeds)]
    ideals = [ideal_s(costs_s) for costs_s in draws]
    for name in ["STATIC", TSS_THERE, *RULES]:
        runs = [run(name, costs_s) for costs_s in draws]
        weighed = [run(name, costs_s, by_work=True).makespan_s for costs_s in draws]
        times = [played.makespan_s for played in runs]
        figures[name] = found = {
            "mean_s": statistics.fmean(times),
            "least_s": min(times),
            "most_s": max(times),
            "over_ideal": statistics.fmean(a / b for a, b in zip(times, ideals, strict=True)),
            "over_ideal_known_work": statistics.fmean(a / b for a, b in zip(weighed, ideals, strict=True)),
            "chunks": statistics.fmean(len(played.chunks) for played in runs),
        }
        print(f"{name:12s} {_ROW.format(**found)}  {FIGURES_S.get(name, '')}", flush=True)
    return figures


def main() -> None:
    """Measure everything, print it, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {"cost of a chunk": costs(options.rounds), "outside check": makespans(options.seeds)}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
