"""How long work stealing will take: thieves and victims as events (`dlbrt.balance.stealing`).

A rank that is about to run out asks the others once each, in random order, until one gives. It asks before it
has run out, by as long as an answer takes. If k of P - 1 can give, the thief meets (P - 1 - k) / (k + 1)
refusals on average before a rank that gives; this number is charged, and the victim is drawn among the k.
Every request costs a message there and one back; a rank that gives answers at the end of its iteration, half
an iteration later on average, or within a long one after `SERVE_S`; while one that refuses is late, the thief
asks others. A victim gives what the
thief would have done as soon as the victim the rest, rows included (`movement.worth_giving`): half where both
are as fast. It refuses where that would take it less time than an exchange. If no rank can give, none will
until a rank has stolen; so a thief then waits for that, and only the steals are simulated, each of which
halves a share: at most about P log2(N / P), and `MAX_STEALS` of them. The loop is over when rank 0 has
received the last count and has told all: two messages, or one where all ranks count.

Shares are counted in iterations of mean cost. Draws come from a generator with a fixed seed, so that every
rank predicts the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import log2
from random import Random

from dlbrt.parameters import COUNT_S, SERVE_S
from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.movement import worth_giving
from dlbrt.records import dataclass

#: Steals that are simulated; after them each rank works off what it holds.
MAX_STEALS = 2_000


@dataclass(frozen=True, slots=True)
class StealingModel:
    """Work stealing, half of a victim's rest at a time; the mean of ``plays`` simulations on each path."""

    name: str = "steal"
    plays: int = 1

    def simulate_s(self, known: ModelInputs, processors: Sequence[Processor]) -> float:
        """As `Candidate.simulate_s`."""
        if not known.remaining.work_s > 0:
            return 0.0
        plays = [_Play(known, processors, Random(seed)) for seed in range(self.plays)]
        return sum(play.total_s() for play in plays) / self.plays

    def estimate_s(self, known: ModelInputs, estimate_inputs: EstimateInputs) -> float:
        """As `Estimated.estimate_s`: every rank steals half as often as a share can be halved."""
        remaining, ranks = estimate_inputs.remaining, len(known.held)
        if not remaining.work_s > 0 or ranks == 1:
            return estimate_inputs.lower_bound_s
        unit_s = remaining.mean_s * ranks / sum(estimate_inputs.speeds)
        steals = 1 + log2(max(1.0, remaining.count / ranks)) / 2
        answer_s = 2 * known.network.latency_s + min(unit_s / 2, SERVE_S)
        rows_s = known.iteration_bytes / known.network.bandwidth * remaining.count / ranks / 2
        kept = min(2 * (1 + _least(known, unit_s)) * estimate_inputs.grain, remaining.count / ranks)
        return estimate_inputs.lower_bound_s + steals * answer_s + rows_s + estimate_inputs.ends_s(kept)


def _least(known: ModelInputs, unit_s: float) -> float:
    """The fewest iterations that a rank gives, if each takes it ``unit_s``."""
    gain_s = unit_s - known.iteration_bytes / known.network.bandwidth
    return known.network.all_to_all.seconds(2) / gain_s if gain_s > 0 else float("inf")


class _Play:
    """Who holds how much since when, and when thieves try again."""

    def __init__(self, known: ModelInputs, processors: Sequence[Processor], random: Random) -> None:
        self.processors, self.unit_s, self.random = processors, known.remaining.mean_s, random
        self.ranks = len(processors)
        self.latency_s = known.network.latency_s
        self.row_s = known.iteration_bytes / known.network.bandwidth
        self.polls = 0.5 if known.rules.polls else 0.0
        self.speeds = known.speeds
        self.answer_s = known.network.all_to_all.seconds(2)
        self.since_s = [0.0] * self.ranks
        self.work_s = [known.work.units(runs) * known.work.unit_s for runs in known.held]
        self.end_s = [each.finish(0.0, work) for each, work in zip(processors, self.work_s, strict=True)]
        self.runs_out = [(end_s, rank) for rank, end_s in enumerate(self.end_s)]
        heapify(self.runs_out)
        self.waiting: set[int] = set()
        self.able = dict.fromkeys(range(self.ranks))

    def total_s(self) -> float:
        """When all ranks know that nothing is left."""
        if self.ranks == 1:
            return self.end_s[0]
        steals = 0
        while self.runs_out and steals < MAX_STEALS:
            now, thief = heappop(self.runs_out)
            if now < self.end_s[thief] or thief in self.waiting:
                continue  # it has got work since, or ran out earlier, having given some
            if self._steals(thief, now):
                steals += 1
            else:
                self._wait(thief, now)
        counting = self.answer_s / 2 >= (self.ranks - 1) * COUNT_S  # as in `dlbrt.balance.peer`
        return max(self.end_s) + self.latency_s * (1 if counting else 2)

    def _steals(self, thief: int, now: float) -> bool:
        """Whether the thief finds a victim; a rank that cannot give now cannot before it has stolen."""
        self.able.pop(thief, None)
        victims = list(self.able)
        self.random.shuffle(victims)
        refusals = (self.ranks - 1 - len(victims)) / (len(victims) + 1)
        for rank in victims:
            if self.since_s[rank] > now:
                continue
            if units := self._stealable(rank, thief, now):
                self._steal(thief, rank, units, refusals, now)
                return True
            del self.able[rank]
            refusals += 1
        return False

    def _wait(self, thief: int, now: float) -> None:
        """Let a thief wait until work that is under way can be stolen, if there is any."""
        if coming := [self.since_s[rank] for rank in self.able if self.since_s[rank] > now]:
            heappush(self.runs_out, (min(coming), thief))
        else:
            self.waiting.add(thief)

    def _stealable(self, rank: int, thief: int, now: float) -> int:
        """How many iterations a rank would give, of those not begun, nor to be begun next."""
        if self.end_s[rank] <= now:
            return 0
        left_s = self.work_s[rank] - self.processors[rank].done(self.since_s[rank], now)
        speed, row_s = self.speeds[rank], self.row_s / self.unit_s if thief else 0.0
        share_s = worth_giving(left_s, speed, 0.0, self.speeds[thief], self.answer_s / 2, row_s)
        if share_s <= speed * self.answer_s:
            return 0
        return min(int(share_s / self.unit_s + 0.5), int(left_s / self.unit_s + 1e-9))

    def _steal(self, thief: int, victim: int, units: int, refusals: float, now: float) -> None:
        """Move ``units`` of the victim's iterations to the thief, after its refusals."""
        next_poll_s = self.polls * self.unit_s / self.processors[victim].average(now, now)
        trip_s = 2 * self.latency_s + min(next_poll_s, SERVE_S)
        trip_s += refusals * 2 * self.latency_s
        ahead_s = self.answer_s + self.unit_s / self.speeds[thief] / 2  # it asked before it ran out
        has_s = now + max(0.0, trip_s + (units * self.row_s if thief else 0.0) - ahead_s)
        given_s = units * self.unit_s
        done_s = self.processors[victim].done(self.since_s[victim], now)
        self.work_s[victim] -= done_s + given_s
        self.since_s[victim] = now
        self.end_s[victim] = self.processors[victim].finish(now, self.work_s[victim])
        self.since_s[thief], self.work_s[thief] = has_s, given_s
        self.end_s[thief] = self.processors[thief].finish(has_s, given_s)
        self.able[thief] = None
        for rank in (thief, victim):
            heappush(self.runs_out, (self.end_s[rank], rank))
        for rank in self.waiting:
            heappush(self.runs_out, (has_s, rank))
        self.waiting.clear()
