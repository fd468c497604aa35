"""What runs show: for each case the best strategy, what was committed to, and what that cost.

Times are compared under the same load alone: a strategy's figure is the median over the seeds of its time
over that without balancing. The best is that of the least figure; `auto` is none of the strategies compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from papers.zaki.cases import CASES, Case

from tests.bench.paper.plan import STRATEGIES
from tests.bench.paper.records import Run

__all__ = ["HEADER", "Row", "line", "rows", "summary"]

_FORCED = tuple(name for name in STRATEGIES if name not in ("none", "auto"))

#: A choice that loses less than this is as good as the best.
_CLOSE = 1.01


@dataclass(frozen=True, slots=True)
class Row:
    """One case. ``over_none`` has each strategy's time over that without balancing, ``auto`` among them.

    ``auto_over_best`` is the ratio of two such figures, ``auto_paired`` the mean over seeds of the ratio of
    times, ``auto_least`` and ``auto_most`` its extremes. ``chosen_over_best`` compares what was committed to,
    when it was forced, with the best: the paper's measure.
    """

    case: str
    ranks: int
    seeds: int
    best: str
    chosen: str
    paper_best: str
    paper_chosen: str
    best_s: float
    over_none: dict[str, float]
    auto_over_best: float
    auto_paired: float
    auto_least: float
    auto_most: float
    chosen_over_best: float
    best_over_clairvoyant: float

    @property
    def best_over_none(self) -> float:
        return self.over_none[self.best]


def rows(runs: Iterable[Run]) -> list[Row]:
    """A row for each case that was run, in the paper's order."""
    found: dict[tuple[str, int], dict[int, dict[str, Run]]] = {}
    for run in runs:
        found.setdefault((run.case, run.ranks), {}).setdefault(run.seed, {})[run.strategy] = run
    cases = (case for case in CASES if (case.name, case.ranks) in found)
    return [_row(case, list(found[case.name, case.ranks].values())) for case in cases]


def _row(case: Case, seeds: Sequence[dict[str, Run]]) -> Row:
    over_none = {
        name: median(runs[name].elapsed_s / runs["none"].elapsed_s for runs in seeds) for name in STRATEGIES
    }
    best = min(_FORCED, key=lambda name: over_none[name])
    auto = [runs["auto"].elapsed_s / runs[best].elapsed_s for runs in seeds]
    chosen = Counter(runs["auto"].committed for runs in seeds).most_common(1)[0][0]
    return Row(
        case.name, case.ranks, len(seeds), best, chosen, case.actual, case.predicted,
        median(runs[best].elapsed_s for runs in seeds), over_none, over_none["auto"] / over_none[best],
        mean(auto), min(auto), max(auto), over_none.get(chosen, over_none["auto"]) / over_none[best],
        median(runs[best].elapsed_s / runs[best].clairvoyant_s for runs in seeds),
    )  # fmt: skip


HEADER = (
    "                     best   auto    paper's          auto/best                   its/   best/  best/\n"
    "case              P  here   chose   best  predicted  medians paired (range)      best   none   clairv. s"
)


def line(row: Row) -> str:
    """A line of the table."""
    return (
        f"{row.case:16s} {row.ranks:2d}  {row.best:5s}  {row.chosen:6s}  {row.paper_best:5s} "
        f"{row.paper_chosen:9s}  {row.auto_over_best:7.3f} {row.auto_paired:6.3f} "
        f"({row.auto_least:.3f}..{row.auto_most:.3f}) {row.chosen_over_best:6.3f} {row.best_over_none:6.3f} "
        f"{row.best_over_clairvoyant:6.3f} {row.best_s:7.2f} x {row.seeds}"
    )


def summary(table: Sequence[Row]) -> Iterator[str]:
    """What the table says as a whole, beside what the paper and the project say."""
    missed = [row.chosen_over_best - 1 for row in table if row.chosen != row.best]
    close = sum(row.chosen_over_best <= _CLOSE for row in table)
    yield (
        f"auto committed to the best in {len(table) - len(missed)} of {len(table)} cases, to one within 1 % "
        f"of it in {close} (paper: 19 of 28 predicted)"
    )
    if missed:
        yield (
            f"where it was another, that one, forced, took {mean(missed):.1%} longer on average, "
            f"{max(missed):.1%} at most (paper: 2.7 %, 8.2 %)"
        )
    yield (
        f"auto/best: mean {mean(row.auto_over_best for row in table):.4f} of medians, "
        f"{mean(row.auto_paired for row in table):.4f} over paired seeds, "
        f"highest {max(row.auto_over_best for row in table):.3f} (aim: mean 1.01)"
    )
    beaten = sum(row.best_over_none < 1 for row in table)
    yield (
        f"best/none: {min(row.best_over_none for row in table):.3f}.."
        f"{max(row.best_over_none for row in table):.3f}, below 1 in {beaten} of {len(table)} cases"
    )
    for ranks, aim in ((4, 1.05), (16, 1.10)):
        matrix = [row for row in table if row.ranks == ranks and row.case.startswith("MXM")]
        if matrix:
            ratios = [row.best_over_clairvoyant for row in matrix]
            yield (
                f"best/clairvoyant, MXM, P={ranks}: mean {mean(ratios):.3f}, highest {max(ratios):.3f} "
                f"(aim: {aim:.2f})"
            )
