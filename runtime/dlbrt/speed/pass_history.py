"""What the balancer of passes remembers: partitions and their makespans, attempted moves, idle ranks."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from dlbrt.data.layout import Floats
from dlbrt.speed.points import DRIFT

#: How many partitions of the same n are remembered.
_MAX_SEEN = 64

#: The weight of the latest difference in the mean scatter of makespans.
_SCATTER_WEIGHT = 0.25

#: The part of the elapsed time that probing an idle rank may cost.
PROBE_SHARE = 0.05

#: Failed attempts in a row after which the next one has to wait; the first ones explore the functions.
_FREE_FAILURES = 3

#: The longest wait, in checks, is 2 to this power.
_MAX_WAIT_POWER = 30


class PartitionHistory:
    """The partitions of the current n that were run, their makespans, and the scatter of these."""

    def __init__(self) -> None:
        self._n = -1
        self._makespans: dict[tuple[int, ...], float] = {}
        self.scatter = 0.0

    def note(self, counts: tuple[int, ...], makespan_s: float, forget: bool) -> None:
        """Add a pass; ``forget`` the earlier ones, which ranks ran at other speeds."""
        if forget or sum(counts) != self._n:
            self._makespans.clear()
            self._n = sum(counts)
        if (before := self._makespans.pop(counts, 0.0)) > 0:
            self.scatter += _SCATTER_WEIGHT * (abs(makespan_s - before) / before - self.scatter)
        self._makespans[counts] = makespan_s
        if len(self._makespans) > _MAX_SEEN:
            best, _ = self.best(self._n)
            del self._makespans[next(known for known in self._makespans if known != best)]

    def best(self, n: int) -> tuple[tuple[int, ...], float]:
        """The partition of ``n`` that measured best, and its makespan; () and inf if there is none."""
        if n != self._n or not self._makespans:
            return (), inf
        best = min(self._makespans, key=lambda known: self._makespans[known])
        return best, self._makespans[best]

    def expected(self, counts: tuple[int, ...], predicted_s: float) -> float:
        """The makespan of a partition as it was measured, or else as predicted."""
        return self._makespans.get(counts, predicted_s)


class MoveAttempts:
    """How the moves went that the functions suggested.

    After several in a row that were no faster than before, the predictions are noise or out of reach: the
    next attempt waits for twice as many checks each time.
    """

    def __init__(self) -> None:
        self.astray = False  # the current partition may not be the best: a move failed, or was not ours
        self._target_s: float | None = None
        self._failures = 0
        self._wait = 0

    @property
    def ready(self) -> bool:
        """Whether another move may be attempted."""
        return self._wait == 0

    def begin(self, target_s: float) -> None:
        """A move is attempted; it succeeds with a makespan below ``target_s``."""
        self._target_s = target_s

    def note(self, makespan_s: float, changed: bool) -> None:
        """Add the makespan of a pass, in which a rank's speed may have ``changed`` at all sizes."""
        self._wait = max(0, self._wait - 1)
        if changed:
            self._failures = self._wait = 0
        elif self._target_s is not None:
            self.astray = not makespan_s < self._target_s
            self._failures = self._failures + 1 if self.astray else self._failures // 2
            if self._failures > _FREE_FAILURES:
                self._wait = 2 ** min(self._failures - _FREE_FAILURES, _MAX_WAIT_POWER)
        self._target_s = None


class IdleRanks:
    """Since when each rank has been without work, and how often it was probed for its speed."""

    def __init__(self, ranks: int) -> None:
        self._since_s = [0.0] * ranks
        self._probes = [0] * ranks
        self._now_s = 0.0
        self._expected: tuple[int, float] | None = None

    def note(self, counts: tuple[int, ...], now_s: float) -> None:
        """Add the counts of a pass; all passes up to its end took ``now_s`` seconds."""
        self._now_s = now_s
        for rank, count in enumerate(counts):
            if count:
                self._since_s[rank] = now_s
            if count > 1:
                self._probes[rank] = 0

    def turn(self, unit_s: Floats) -> int | None:
        """A rank for which one unit of ``unit_s`` seconds is a small part of the time it has waited."""
        for rank, since_s in enumerate(self._since_s):
            waited_s = self._now_s - since_s
            if waited_s and unit_s[rank] * 2.0 ** self._probes[rank] <= PROBE_SHARE * waited_s:
                return rank
        return None

    def probe(self, rank: int, unit_s: float) -> None:
        """The rank is probed, and a unit is expected to take ``unit_s`` seconds."""
        self._probes[rank] += 1
        self._expected = rank, unit_s

    def surprised(self, seconds: Sequence[float]) -> bool:
        """Whether the times of a pass show another speed of the probed rank than expected."""
        probed, self._expected = self._expected, None
        return probed is not None and not probed[1] / DRIFT <= seconds[probed[0]] <= probed[1] * DRIFT
