"""Balancing from pass to pass: whether data moves before the next pass, and where to.

This is the loop of Clarke, Lastovetsky and Rychkov (section 4). It ends when the times of the ranks are
within a tolerance: |t_i - t_j| / t_i over ordered pairs, so divided by the smaller time. Five rules make it
safe:

* At a steep cliff one unit changes a time by more than the tolerance. If the functions lead back to the
  current partition, nothing moves, and a partition seen before counts with its measured makespan, not the
  predicted one. So no cycle is walked twice, not even with constant speeds, which the paper shows to
  oscillate.
* A partition is judged by its makespan, since a better one need not have the smaller spread. From a partition
  that measured worse than the best seen, the balancer moves to one predicted to be better than the best, or
  else back to the best.
* Predictions may fail. Of moves in a row that were no faster, the fourth waits for two checks, the next for
  four, and so on, at the best partition. So scattering times do not keep data in motion for ever.
* After a rank has changed its speed, one check waits to see whether the change lasts. Only one check waits:
  where times scatter some rank has always changed, and uneven shares must not stay for that reason.
* Moving costs time. It pays if the passes to come, of which as many are expected as have gone by, gain more
  seconds than the move costs, and if a pass gains clearly more than passes over the same partition differ by.

The functions outlast changes of n, as in elimination, where each pass has less to do than the one before; the
makespans of whole partitions do not. A rank that was left without work because it was slow yields no more
points. It gets one unit to show its speed again when that unit, if nothing has changed, costs at most a
twentieth of the time since then, and half as often after each time that nothing had changed.
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

#: A gain counts if it exceeds this many times the scatter of passes over the same partition.
_CLEARLY = 2

#: Seconds that a move takes, or a function from the new counts to these seconds.
MovementCost = float | Callable[[tuple[int, ...]], float]


class PassReason(Enum):
    """Why data moves, or does not."""

    BALANCING = "other shares follow from the measured speeds"
    RETURN = "back to the shares that measured best"
    PROBE = "a rank long without work shows its speed"
    BALANCED = "the times are within the tolerance"
    REPEATED = "the current shares follow from the measured speeds"
    NO_GAIN = "no other shares are expected to be faster"
    WAITING = "the last shares tried were no faster: the next are tried later"
    NOT_WORTH_MOVING = "moving costs more than it gains"
    CHANGED = "a rank's speed has changed: one check waits to see whether the change lasts"
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
    """A measured pass. ``current`` are the next counts if nothing moves, ``same`` if equal to this pass's.

    ``changed``: whether a rank's speed has drifted.
    """

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
    """The balancer of one iterative routine; counts are in units of the caller's choice.

    An imbalance up to ``tolerance`` counts as balanced; ``every`` is the number of passes from check to
    check, the first being checked; ``known`` are points measured before, one `SpeedPoints` for each rank.
    ValueError for a tolerance that is not above 0, ``every`` or ``ranks`` below 1, or points of another
    number of ranks.
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
        self._last_counts: tuple[int, ...] = ()
        self._waited = False  # the last check waited to see whether a change lasts

    @property
    def points(self) -> tuple[SpeedPoints, ...]:
        """The measured points of each rank, to be kept for another run."""
        return self.models.points

    @property
    def due(self) -> bool:
        """Whether the pass under way, or just done, is checked: only then are its times needed."""
        return self._checks % self._every == 0

    def first(self, n: int) -> tuple[int, ...]:
        """Units of each rank in the first pass: by the points known from before, else equal blocks."""
        return self.models.partition(n).counts

    def skipped(self) -> None:
        """Count a pass whose times were not taken."""
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
        """Decide after a pass in which each rank had ``counts`` units and took ``seconds`` for them.

        If work moved within the pass, counts are what ranks began with, and seconds what those would have
        taken: a rank's speed depends on what it holds. ``kept`` are the units of each rank in the next pass
        if no data moves, by default the same; their sum may differ. ``movement_s`` is the cost of moving from
        ``kept`` to other counts. Short ``passes`` may be reported together, by their mean, and are checked as
        one. A rank with no units or no measurable time yields no point. ValueError for numbers that are
        negative or not finite, or not one for each rank.
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
        if self._last_counts and current != self._last_counts:
            self._attempts.astray = True
        measured = _PassMeasurement(current, current == done, imbalance(worked), measured_s, drifted)
        decision = self._decide(measured, movement_s) if due else measured.keep(PassReason.NOT_DUE)
        self._last_counts = decision.counts
        return decision

    def _decide(self, measured: _PassMeasurement, movement_s: MovementCost) -> PassDecision:
        current = measured.current
        if not measured.measured_s or not self.models.any:
            return measured.keep(PassReason.UNMEASURED)
        if not sum(current):
            return measured.keep(PassReason.NOTHING_LEFT, 0.0)
        times = self.models.predicted(current)
        kept_s = self._seen.expected(current, float(times.max()))
        self._waited = measured.changed and not self._waited
        if self._waited:
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
        """The best next counts, moving costs apart: the reason, the counts, and their makespan."""
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
        """Whether gaining ``gain_s`` seconds in each pass is worth the move."""
        return gain_s * self._passes > _cost_s(counts, movement_s)

    def _probe(
        self, current: tuple[int, ...], times: Floats, movement_s: MovementCost
    ) -> tuple[int, ...] | None:
        """The counts with one unit for an idle rank whose turn it is to show its speed, or None."""
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
