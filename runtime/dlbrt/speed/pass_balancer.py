"""Balancing from pass to pass: after each, whether data is to move before the next, and where to.

The loop of Clarke, Lastovetsky and Rychkov (section 4), which ends when the times of the ranks are within a
tolerance: |t_i - t_j| / t_i over ordered pairs, so divided by the smaller. Five things make it safe:

* At a steep cliff one unit changes a time by more than the tolerance: where the functions lead back to the
  partition that there is, nothing moves, and a partition met before counts as it was measured, not as the
  functions say. So no cycle is walked twice, not even by constant speeds, which the paper shows to oscillate.
* A partition is judged by its makespan, since a better one need not have the smaller spread: from one that
  measured worse than the best seen, the way on is to one predicted better than the best, else back to it.
* What functions promise need not come. Of moves in a row that were no faster the fourth waits for two
  checks, the next for four, and so on, at the best partition. So times that scatter do not set data in motion
  for ever.
* After a rank has changed its speed one check waits to see whether it stays so; one alone, since where times
  scatter some rank has always changed, and shares far from even must not stand for that.
* Moving costs. It pays if the seconds gained in the passes to come, of which as many are expected as have
  gone by, are more; and if a pass gains clearly more than passes over the same partition differ by.

The functions outlast changes of n, as in elimination, where a pass has less to do than the one before; what
was measured of whole partitions does not. A rank that was left without work because it was slow gives no more
points: it gets one unit to show its speed anew when that can cost, if nothing has changed, a twentieth of
the time gone by since at most, and half as often after each time that nothing had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from dlbrt.data.layout import Floats
from dlbrt.records import dataclass
from dlbrt.speed.models import SpeedModels
from dlbrt.speed.pass_history import PROBE_SHARE, IdleRanks, MoveAttempts, PartitionHistory
from dlbrt.speed.points import ModelKind, SpeedPoints

#: A gain counts that is more than so many times what passes over the same partition differ by.
_CLEARLY = 2

MovementCost = float | Callable[[tuple[int, ...]], float]


class PassReason(Enum):
    """Why data moves, or does not."""

    BALANCING = "the speeds measured ask for other shares"
    RETURN = "back to the shares that measured best"
    PROBE = "a rank long without work shows its speed"
    BALANCED = "the times are within the tolerance"
    REPEATED = "the speeds measured ask for the shares that there are"
    NO_GAIN = "no other shares are expected to be faster"
    WAITING = "the last shares that were asked for were no faster: the next are tried later"
    NOT_WORTH_MOVING = "moving costs more than it gains"
    CHANGED = "a rank is not as fast as it was with as much: first to see whether it stays so"
    NOT_DUE = "between two checks"
    UNMEASURED = "no time was measured"
    NOTHING_LEFT = "the next pass has nothing to do"


@dataclass(frozen=True, slots=True)
class PassDecision:
    """What the next pass does: ``counts`` units of each rank, for which data ``moves`` or not.

    ``imbalance`` and ``measured_s``, the makespan, are those of the pass just done; ``kept_s`` and
    ``predicted_s`` the makespans expected of the next one, if nothing moves and with these counts.
    """

    counts: tuple[int, ...]
    moves: bool
    reason: PassReason
    imbalance: float
    measured_s: float
    kept_s: float
    predicted_s: float


def imbalance(seconds: ArrayLike) -> float:
    """(t_max - t_min) / t_min of the ranks that worked; 0 for fewer than two, inf where one took no time.

    ``seconds`` of 0 or more, of ranks with work alone. The paper's test is over ordered pairs, so that the
    smaller time divides (Clarke et al., section 3, step 2).
    """
    times = np.asarray(seconds, dtype=np.float64)
    if len(times) < 2 or times.max() == times.min():
        return 0.0
    return float((times.max() - times.min()) / times.min()) if times.min() > 0 else inf


@dataclass(frozen=True, slots=True)
class _PassMeasurement:
    """What a pass has told: ``current`` if nothing moves, the ``same`` as it had; whether ranks have changed."""

    current: tuple[int, ...]
    same: bool
    spread: float
    measured_s: float
    changed: bool

    def keep(self, reason: PassReason, kept_s: float | None = None) -> PassDecision:
        expected_s = self.measured_s if kept_s is None else kept_s
        return PassDecision(self.current, False, reason, self.spread, self.measured_s, expected_s, expected_s)

    def move(
        self, reason: PassReason, counts: tuple[int, ...], kept_s: float, predicted_s: float
    ) -> PassDecision:
        return PassDecision(counts, True, reason, self.spread, self.measured_s, kept_s, predicted_s)


class PassBalancer:
    """The balancer of one iterative routine; counts are units of a pass, whatever the caller takes for one.

    ``tolerance`` is the imbalance taken for balanced, ``every`` how many passes go from check to check, the
    first being checked; ``known`` are points measured before, one `SpeedPoints` for each rank. ValueError for a
    tolerance that is not above 0, ``every`` or ``ranks`` below 1, or points of another number of ranks.
    """

    def __init__(
        self,
        ranks: int,
        model: ModelKind = ModelKind.PIECEWISE,
        *,
        tolerance: float = 0.05,
        every: int = 1,
        known: Sequence[SpeedPoints] = (),
    ) -> None:
        if not tolerance > 0 or every < 1:
            raise ValueError(f"expected a tolerance above 0 and every at least 1, found {tolerance}, {every}")
        self.models = SpeedModels(ranks, model, known)
        self._tolerance = tolerance
        self._every = every
        self._passes = self._checks = 0
        self._elapsed_s = 0.0
        self._seen = PartitionHistory()
        self._idle = IdleRanks(ranks)
        self._attempts = MoveAttempts()
        self._said: tuple[int, ...] = ()
        self._looked = False  # the last check waited to see whether a change stays

    @property
    def points(self) -> tuple[SpeedPoints, ...]:
        """What was measured, rank by rank, to be kept for another run."""
        return self.models.points

    @property
    def due(self) -> bool:
        """Whether the pass under way, or just done, is checked: only then its times are needed."""
        return self._checks % self._every == 0

    def first(self, n: int) -> tuple[int, ...]:
        """Units of each rank in the first pass: by what is known from before, else equal blocks."""
        return self.models.partition(n).counts

    def skipped(self) -> None:
        """A pass went by of which no times were taken."""
        self._passes += 1
        self._checks += 1

    def after(
        self,
        counts: Sequence[int],
        seconds: Sequence[float],
        *,
        kept: Sequence[int] | None = None,
        movement_s: MovementCost = 0.0,
        passes: int = 1,
    ) -> PassDecision:
        """What follows from a pass in which each rank had ``counts`` units and took ``seconds`` for them.

        Where work was moved within the pass, counts are what ranks began with, and seconds what that would
        have taken: a rank's speed goes by what it holds.
        ``kept`` are the units of each rank in the next pass if no data moves, by default the same; their sum
        may differ. ``movement_s`` says what it would take to go from there to other counts. Short
        ``passes`` may be told together, by their mean, and are checked as one. A rank of no units or no
        measurable time teaches nothing. ValueError for numbers that are negative or not finite, or not one
        for each rank.
        """
        due, done = self.due, tuple(counts)
        current = done if kept is None else tuple(kept)
        if len(current) != self.models.ranks or min(current) < 0 or passes < 1:
            expected = f"expected {self.models.ranks} counts of 0 or more and at least 1 pass"
            raise ValueError(f"{expected}, found {list(current)} and {passes}")
        drifted = self.models.add(done, seconds)
        self._passes += passes
        self._checks += 1
        worked = [taken for count, taken in zip(done, seconds, strict=True) if count]
        measured_s = max(worked, default=0.0)
        self._elapsed_s += measured_s * passes
        self._idle.note(done, self._elapsed_s)
        self._seen.note(done, measured_s, forget=drifted or self._idle.surprised(seconds))
        self._attempts.note(measured_s, changed=drifted)
        if self._said and current != self._said:
            self._attempts.astray = True
        measured = _PassMeasurement(current, current == done, imbalance(worked), measured_s, drifted)
        verdict = self._verdict(measured, movement_s) if due else measured.keep(PassReason.NOT_DUE)
        self._said = verdict.counts
        return verdict

    def _verdict(self, measured: _PassMeasurement, movement_s: MovementCost) -> PassDecision:
        current = measured.current
        if not measured.measured_s or not self.models.any:
            return measured.keep(PassReason.UNMEASURED)
        if not sum(current):
            return measured.keep(PassReason.NOTHING_LEFT, 0.0)
        times = self.models.predicted(current)
        kept_s = self._seen.expected(current, float(times.max()))
        self._looked = measured.changed and not self._looked
        if self._looked:
            return measured.keep(PassReason.CHANGED, kept_s)
        spread = measured.spread if measured.same else imbalance(times[np.asarray(current) > 0])
        reason, counts, predicted_s = self._choice(current, spread, kept_s)
        if counts != current and self._pays(counts, kept_s - predicted_s, movement_s):
            self._attempts.astray = False
            if reason is PassReason.BALANCING:
                self._attempts.begin(min(self._seen.best(sum(current))[1], kept_s))
            return measured.move(reason, counts, kept_s, predicted_s)
        if (probe := self._probe(current, times, movement_s)) is not None:
            self._attempts.astray = True
            return measured.move(PassReason.PROBE, probe, kept_s, float(self.models.predicted(probe).max()))
        return measured.keep(reason if counts == current else PassReason.NOT_WORTH_MOVING, kept_s)

    def _choice(
        self, current: tuple[int, ...], spread: float, kept_s: float
    ) -> tuple[PassReason, tuple[int, ...], float]:
        """Where to go, or to stay, whatever moving costs: why, the counts, and their makespan."""
        n = sum(current)
        best, best_s = self._seen.best(n)
        enough_s = kept_s * (1 - _CLEARLY * self._seen.scatter)
        strayed = self._attempts.astray and best_s < enough_s
        if not strayed and spread <= self._tolerance and (all(current) or n < len(current)):
            return PassReason.BALANCED, current, kept_s
        target = self.models.partition(n)
        if target.counts == current and not strayed:
            return PassReason.REPEATED, current, kept_s
        target_s = self._seen.expected(target.counts, target.seconds)
        better = target_s < min(best_s, enough_s)
        if better and self._attempts.ready:
            return PassReason.BALANCING, target.counts, target_s
        if strayed:
            return PassReason.RETURN, best, best_s
        return PassReason.WAITING if better else PassReason.NO_GAIN, current, kept_s

    def _pays(self, counts: tuple[int, ...], gain_s: float, movement_s: MovementCost) -> bool:
        """Whether so many seconds gained in a pass are worth the movement."""
        return gain_s * self._passes > _cost_s(counts, movement_s)

    def _probe(
        self, current: tuple[int, ...], times: Floats, movement_s: MovementCost
    ) -> tuple[int, ...] | None:
        """The counts with a unit for a rank whose turn it is to show its speed; None if it is nobody's."""
        if all(current) or sum(current) < len(current):
            return None
        unit_s = self.models.unit_s(sum(current))
        rank = self._idle.turn(unit_s)
        giver = int(np.argmax(np.where(np.asarray(current) > 1, times, -1.0)))
        if rank is None or current[giver] < 2:
            return None
        counts = tuple(count + (r == rank) - (r == giver) for r, count in enumerate(current))
        if _cost_s(counts, movement_s) > PROBE_SHARE * self._elapsed_s:
            return None
        self._idle.probe(rank, float(unit_s[rank]))
        return counts


def _cost_s(counts: tuple[int, ...], movement_s: MovementCost) -> float:
    return movement_s(counts) if callable(movement_s) else movement_s
