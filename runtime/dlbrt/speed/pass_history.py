"""What the balancer of passes remembers: partitions and their makespans, attempts, ranks without work."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from dlbrt.data.layout import Floats
from dlbrt.speed.points import DRIFT

#: Partitions of the same n whose makespan is remembered.
_MAX_SEEN = 64

#: How much of what is known of the scatter of makespans the latest difference makes up.
_SCATTER_WEIGHT = 0.25

#: The part of the time gone by that asking a rank without work for its speed may cost.
PROBE_SHARE = 0.05

#: Attempts in a row that may be no faster before the next one has to wait: functions are explored by these.
_FREE = 3

#: The longest wait is 2 to this power of checks.
_LONGEST = 30


class PartitionHistory:
    """The partitions of the present n that were run, their makespans, and how far these scatter."""

    def __init__(self) -> None:
        self._n = -1
        self._makespans: dict[tuple[int, ...], float] = {}
        self.scatter = 0.0

    def note(self, counts: tuple[int, ...], makespan_s: float, forget: bool) -> None:
        """Take a pass; ``forget`` those before, of ranks that were not what they are."""
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
        """The partition of ``n`` that measured best, and its makespan; none and inf if there is none."""
        if n != self._n or not self._makespans:
            return (), inf
        best = min(self._makespans, key=lambda known: self._makespans[known])
        return best, self._makespans[best]

    def expected(self, counts: tuple[int, ...], otherwise_s: float) -> float:
        """The makespan of a partition: as it was measured, else what is said."""
        return self._makespans.get(counts, otherwise_s)


class MoveAttempts:
    """How those moves went that the functions asked for.

    After some in a row that were no faster than what had been, what the functions say is noise, or not to be
    had: the next attempt waits for twice as many checks each time.
    """

    def __init__(self) -> None:
        self.astray = False  # the present partition need not be the best: a move failed, or was not ours
        self._target_s: float | None = None
        self._failures = 0
        self._wait = 0

    @property
    def ready(self) -> bool:
        """Whether another may be made."""
        return self._wait == 0

    def begin(self, target_s: float) -> None:
        """One is made now; it succeeds with a makespan below ``target_s``."""
        self._target_s = target_s

    def note(self, makespan_s: float, changed: bool) -> None:
        """Take the makespan of a pass, in which a rank's speed may have ``changed`` at all sizes."""
        self._wait = max(0, self._wait - 1)
        if changed:
            self._failures = self._wait = 0
        elif self._target_s is not None:
            self.astray = not makespan_s < self._target_s
            self._failures = self._failures + 1 if self.astray else self._failures // 2
            if self._failures > _FREE:
                self._wait = 2 ** min(self._failures - _FREE, _LONGEST)
        self._target_s = None


class IdleRanks:
    """Since when each rank is without work, and how often it was asked for its speed."""

    def __init__(self, ranks: int) -> None:
        self._since_s = [0.0] * ranks
        self._probes = [0] * ranks
        self._now_s = 0.0
        self._expected: tuple[int, float] | None = None

    def note(self, counts: tuple[int, ...], now_s: float) -> None:
        """Take the counts of a pass, before whose end the passes took so many seconds in all."""
        self._now_s = now_s
        for rank, count in enumerate(counts):
            if count:
                self._since_s[rank] = now_s
            if count > 1:
                self._probes[rank] = 0

    def turn(self, unit_s: Floats) -> int | None:
        """A rank for which one unit, of which it takes so many seconds, is little of the time gone by."""
        for rank, since_s in enumerate(self._since_s):
            waited_s = self._now_s - since_s
            if waited_s and unit_s[rank] * 2.0 ** self._probes[rank] <= PROBE_SHARE * waited_s:
                return rank
        return None

    def probe(self, rank: int, unit_s: float) -> None:
        """It is asked now, in the belief that a unit takes so many seconds."""
        self._probes[rank] += 1
        self._expected = rank, unit_s

    def surprised(self, seconds: Sequence[float]) -> bool:
        """Whether a rank that was asked answers, by the times of a pass, that it is another than believed."""
        asked, self._expected = self._expected, None
        return asked is not None and not asked[1] / DRIFT <= seconds[asked[0]] <= asked[1] * DRIFT
