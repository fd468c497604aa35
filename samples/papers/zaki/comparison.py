"""The 28 rows of Table 1.4 played under some seeds: which strategy is best, predicted, committed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import mean

from papers.zaki.cases import CASES, Case
from papers.zaki.virtual import NONE, STRATEGIES, Played, play

__all__ = ["DURATIONS_S", "Row", "compared", "excesses"]

#: Durations of persistence t_l; the paper does not give its own.
DURATIONS_S = (2.0, 5.0, 20.0)

#: Strategies that are so near the best count as equal, and the first of them is named.
TIE = 0.005


@dataclass(frozen=True, slots=True)
class Row:
    """A case at one t_l, played under some seeds."""

    case: Case
    duration_s: float
    played: tuple[Played, ...]

    def mean_s(self, name: str) -> float:
        """A strategy's simulated time."""
        return mean(each.simulated[name] for each in self.played)

    @property
    def best(self) -> str:
        """The strategy that is best in the simulation, on average."""
        return _first_best({name: self.mean_s(name) for name in STRATEGIES})

    @property
    def computed(self) -> str:
        """The strategy that is best by the recurrences, all loads known."""
        return _least([each.computed for each in self.played])

    @property
    def predicted(self) -> str:
        """The strategy predicted to be best at the first synchronization."""
        known = [each.predicted for each in self.played if len(each.predicted) == len(STRATEGIES)]
        return _least(known) if known else ""

    @property
    def committed(self) -> str:
        """What auto went on with most often."""
        return Counter(each.committed for each in self.played).most_common(1)[0][0]

    @property
    def best_over_none(self) -> float:
        """The best strategy's time over that without balancing."""
        return self.mean_s(self.best) / self.mean_s(NONE)

    def excess(self, name: str) -> float:
        """How much longer a strategy takes than the best; 0 for a tie, and for none of the four."""
        return max(0.0, self.mean_s(name) / self.mean_s(self.best) - 1) if name in STRATEGIES else 0.0


def compared(seeds: int, durations_s: Sequence[float] = DURATIONS_S) -> dict[float, list[Row]]:
    """All cases by t_l, under the loads of so many seeds."""
    settings = [(duration_s, case) for duration_s in durations_s for case in range(len(CASES))]
    with ProcessPoolExecutor(2) as pool:
        played = pool.map(_play, [(*setting, seed) for setting, seed in product(settings, range(seeds))])
        rows = [
            Row(CASES[case], duration_s, tuple(next(played) for _ in range(seeds)))
            for duration_s, case in settings
        ]
    return {each: [row for row in rows if row.duration_s == each] for each in durations_s}


def excesses(rows: Sequence[Row], chosen: Callable[[Row], str]) -> list[float]:
    """How much longer what was chosen takes than the best, in rows where it is another."""
    return [row.excess(chosen(row)) for row in rows if chosen(row) not in ("", row.best)]


def _play(setting: tuple[float, int, int]) -> Played:
    duration_s, case, seed = setting
    return play(CASES[case], duration_s, seed)


def _least(seconds: Sequence[Mapping[str, float]]) -> str:
    return _first_best({name: mean(each[name] for each in seconds) for name in STRATEGIES})


def _first_best(means: Mapping[str, float]) -> str:
    return next(name for name in STRATEGIES if means[name] <= (1 + TIE) * min(means.values()))
