"""What is known when a strategy is chosen (Zaki, Li, Parthasarathy, section 1.3.3), and what estimates share.

`EstimateInputs` is computed once for the estimates of all strategies. A loop ends in much the same way under
all of them. When nothing is left to give, each rank is somewhere in the last piece that it was given, of c
units: it goes on for r_i = U_i c / s_i, U_i uniform. With T_0 as that moment, all work is W = S T_0 + sum_i
s_i r_i, S = sum_i s_i, and the end is T_0 + max_i r_i: so on average it comes c (E max_i U_i / s_i - P / 2S)
after W / S. Where a piece is done within a slice of time, speeds are those seen from slice to slice, as all
wait for a rank that has just been slowed down; otherwise they are the ranks' means.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, field
from itertools import accumulate, chain
from math import sqrt
from typing import Any

from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.predict.effective_speed import LoadForecast, Processor
from dlbrt.predict.groups import Groups
from dlbrt.predict.network import Network
from dlbrt.predict.recurrence import Scenario
from dlbrt.predict.redistribute import ModelOptions
from dlbrt.predict.schemes import Scheme
from dlbrt.predict.work import IterationCosts, RemainingWork, Runs, count
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """What is known at a synchronization; tuples are indexed by rank.

    ``elapsed_s`` is how long ranks have computed since the loop was shared. ``held`` are the iterations left,
    ``work`` what they cost, ``speeds`` (base work a second, above 0) those of the window, by which the
    decision is taken, ``history`` what the future is drawn from. ``network`` is among all ranks,
    ``within[g]`` among the ranks of group g, where it differs. ``iteration_bytes`` move with an iteration;
    ``without_rows``: no iteration has data of its own. ``remaining`` is what is left in all. ValueError
    unless all are of the same ranks.
    """

    elapsed_s: float
    work: IterationCosts
    held: tuple[Runs, ...]
    speeds: tuple[float, ...]
    history: LoadForecast
    groups: Groups
    network: Network
    within: tuple[Network, ...] = ()
    iteration_bytes: float = 0.0
    without_rows: bool = False
    rules: ModelOptions = field(default_factory=ModelOptions)
    remaining: RemainingWork = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        work_s = sum(map(self.work.units, self.held)) * self.work.unit_s
        object.__setattr__(self, "remaining", RemainingWork(sum(map(count, self.held)), work_s))
        ranks, members = len(self.held), sorted(rank for group in self.groups for rank in group)
        if not (len(self.speeds) == len(self.history.speeds) == ranks and members == list(range(ranks))):
            raise ValueError(
                f"expected speeds, a history and groups of {ranks} ranks, found groups of {members}"
            )
        if len(self.within) not in (0, len(self.groups)):
            raise ValueError(
                f"expected a network for each of {len(self.groups)} groups, found {len(self.within)}"
            )

    def scenario(self, scheme: Scheme, processors: tuple[Processor, ...]) -> Scenario:
        """The model's scenario for a strategy on one path."""
        networks = self.within if scheme.local and self.within else (self.network,)
        return Scenario(self.work, processors, networks, self.iteration_bytes, self.rules)

    def groups_of(self, scheme: Scheme) -> Sequence[Sequence[int]]:
        """The groups of a local strategy; all ranks for a global one."""
        return self.groups if scheme.local else (range(len(self.held)),)

    def inputs(self) -> dict[str, Any]:
        """What the choice rests on, as JSON values."""
        return {
            "elapsed_s": self.elapsed_s,
            "iterations_left": [count(runs) for runs in self.held],
            "work_left": [self.work.units(runs) * self.work.unit_s for runs in self.held],
            "speeds": list(self.speeds),
            "history": asdict(self.history),
            "groups": [list(group) for group in self.groups],
            "network": asdict(self.network),
            "within": [asdict(network) for network in self.within],
            "iteration_bytes": self.iteration_bytes,
            "bare": self.without_rows,
            "rules": asdict(self.rules),
        }


#: Points at which the distribution of the longest remaining time is summed.
STEPS = 16

#: Two times within this factor count as equal.
STEADY = 1.001


@dataclass(frozen=True, slots=True, eq=False)
class EstimateInputs:
    """What the estimates of all strategies share.

    ``remaining`` is what is left, ``loop_statistics`` what self-scheduling rules know, ``speeds`` are mean
    speeds, ``least`` the lowest speed seen, ``slice_s`` the duration of a slice. ``lower_bound_s`` is when
    all could be done at no cost, the mean over the ``paths`` of the load. ``grain`` is the last iteration's
    cost over the mean, ``longest`` E max_i U_i / s_i, by momentary and by mean speeds. ``begun``: the loop is
    under way, and first shares are dealt.
    """

    remaining: RemainingWork
    loop_statistics: LoopStatistics
    speeds: tuple[float, ...]
    lower_bound_s: float
    paths: Sequence[Sequence[Processor]]
    grain: float
    least: float
    slice_s: float
    longest: tuple[float, float]
    begun: bool

    @classmethod
    def of(
        cls, known: ModelInputs, lower_bound_s: float, paths: Sequence[Sequence[Processor]] = ()
    ) -> EstimateInputs:
        """At a synchronization; by default on the path of mean speeds."""
        history = known.history
        speeds = tuple([sum(seen) / len(seen) for seen in history.speeds])
        momentary = sorted(chain.from_iterable(history.speeds))
        ends = _longest(momentary, len(speeds)), _longest(sorted(speeds), len(speeds))
        return cls(
            known.remaining,
            loop_statistics(known),
            speeds,
            lower_bound_s,
            paths or (history.mean_path(),),
            _grain(known),
            momentary[0],
            history.slice_s,
            ends,
            known.elapsed_s > 0,
        )

    @property
    def steady(self) -> bool:
        """Whether the speed of every rank has been constant."""
        return self.longest[0] <= self.longest[1] * STEADY

    def ends_s(self, units: float) -> float:
        """How long after W / S all ranks end, if their last pieces are ``units`` mean iterations."""
        work_s, mean = max(units, self.grain) * self.remaining.mean_s, sum(self.speeds) / len(self.speeds)
        remaining = self.longest[work_s > self.slice_s * mean]
        return work_s * max(0.0, remaining - 1 / mean / 2)

    def last_s(self, units: Sequence[float]) -> float:
        """When the last rank has done its ``units`` of mean iterations, the mean over the paths."""
        work_s = [each * self.remaining.mean_s for each in units]
        ends_s = [
            max([each.reached(own_s) for each, own_s in zip(path, work_s, strict=True)])
            for path in self.paths
        ]
        return sum(ends_s) / len(ends_s)


def _longest(ordered: Sequence[float], ranks: int) -> float:
    """E max_i U_i / s_i of P = ``ranks`` ranks, each at any of these speeds, the lowest first.

    With F(t) = P(U / s <= t), the mean of min(1, s t), it is the integral of 1 - F(t)^P.
    """
    sums, number, most = (0.0, *accumulate(ordered)), len(ordered), 1 / ordered[0]
    total = 0.0
    for step in range(STEPS):
        time = (step + 0.5) / STEPS * most
        below = bisect_left(ordered, 1 / time)
        total += 1 - ((number - below + time * sums[below]) / number) ** ranks
    return total * most / STEPS


def _grain(known: ModelInputs) -> float:
    """What the last iteration costs, over the mean cost."""
    remaining, last = known.remaining, next((runs[-1][1] for runs in reversed(known.held) if runs), 0)
    if known.work.prefix is None or not remaining.work_s > 0:
        return 1.0
    return known.work.units(((last - 1, last),)) * known.work.unit_s / remaining.mean_s


def loop_statistics(known: ModelInputs) -> LoopStatistics:
    """Speeds as weights, an iteration's time, and what a request's two messages cost.

    The deviation is that of the time of a mean iteration at the speeds seen so far, rank by rank.
    """
    mean_s = known.remaining.mean_s * len(known.speeds) / sum(known.speeds)
    squares = 0.0
    for seen in known.history.speeds:
        times = [1 / speed for speed in seen]
        mean = sum(times) / len(times)
        squares += sum([(each / mean - 1) ** 2 for each in times]) / len(times)
    deviation_s = mean_s * sqrt(squares / len(known.history.speeds))
    return LoopStatistics(mean_s, deviation_s, 2 * known.network.latency_s, known.speeds)
