"""Integer boundaries: which iterations a part has, so that the largest part is least.

`optimal` is exact for per-iteration work given by its prefix sums: no other boundaries have a smaller
largest part. It is the exact bisection of Pinar and Aykanat (J. Parallel Distrib. Comput. 64, 2004), after
Nicol. Filling one part after the other shows whether parts of at most B exist. B is bisected, and each trial
moves one end of the interval to a value that a part really takes, so the search ends, and with the optimum.
Parts are compared as computed, p[b] - p[a] over the speed: exact for integers with a sum up to 2^53 on equal
processors, and otherwise optimal as rounded. Of all optimal boundaries, the result has those nearest to equal
work.

`settled` rounds the real boundaries of `newton`. It is exact among all integers beside them, without a prefix
sum over iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, inf
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.data.layout import Floats
from dlbrt.partition.newton import fractions
from dlbrt.partition.work import Curve, checked_density, evaluate
from dlbrt.records import dataclass

Numbers = NDArray[Any]


def prefix_sums(work: ArrayLike) -> Numbers:
    """The n + 1 sums of the first 0, 1, .. n of n per-iteration works; integers exactly, as int64.

    Floats are summed in the machine's longest format. WorkError where one is NaN, infinite or negative,
    naming its position, or all are zero. OverflowError for integers beyond int64.
    """
    checked = checked_density(work).reshape(-1)
    if checked.dtype.kind == "f":
        sums = np.cumsum(checked, dtype=np.longdouble).astype(np.float64)
        return np.concatenate(([0.0], sums))
    if float(checked.astype(np.float64).sum()) > 2.0**62:
        raise OverflowError("the sum of the work exceeds 64 bits: give it in a larger unit, or as floats")
    return np.concatenate(([0], np.cumsum(checked, dtype=np.int64)))


def optimal(prefix: Numbers, speeds: int | Sequence[float]) -> tuple[int, ...]:
    """P + 1 boundaries of P contiguous parts, the greatest work over speed being least.

    ``prefix`` is made by `prefix_sums`; ``speeds`` is P, or a speed for each part in order, 0 or more and one
    above
    0. A part may be empty. ValueError for other speeds, for sums that decrease, or for no sums.
    """
    if not len(prefix) or not (prefix[1:] >= prefix[:-1]).all():
        raise ValueError("expected prefix sums that do not decrease, beginning with that of no work")
    rates = [1.0] * speeds if isinstance(speeds, int) else [float(speed) for speed in speeds]
    return _Search(prefix, rates, fractions(rates).tolist()).bounds()


def settled(cuts: Floats, t: Curve, speeds: Sequence[float] | None = None) -> tuple[int, ...]:
    """Boundaries from the integers beside the real ones, the greatest work over speed being least."""
    near = np.unique(np.concatenate((np.floor(cuts), np.ceil(cuts))))
    sums = np.maximum.accumulate(evaluate(t, near))
    chosen = optimal(sums - sums[0], speeds or len(cuts) - 1)
    return tuple(int(near[place]) for place in chosen)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The bisection of the largest part's time over a prefix-sum array."""

    prefix: Numbers
    speeds: list[float]
    targets: list[float]

    @property
    def n(self) -> int:
        return len(self.prefix) - 1

    def bounds(self) -> tuple[int, ...]:
        work = np.diff(self.prefix)
        low = float(work.max()) / max(self.speeds) if self.n else 0.0
        low = max(low, float(self.prefix[-1] - self.prefix[0]) / sum(self.speeds)) * (1 - 1e-12)
        high = self._first_guess()
        while low < high:
            middle = low + (high - low) / 2
            if middle >= high:  # the two are neighbouring doubles
                middle = low
            filled, following = self._fill(middle)
            if filled is None:
                low = following
            else:
                high = following
        return self._evened(high)

    def _first_guess(self) -> float:
        """The time of the boundaries nearest to the targets; of all work on the fastest part at worst."""
        total = self.prefix[-1] - self.prefix[0]
        near = [self._near(target) for target in self.targets]
        times = [self._time(a, b, s) for a, b, s in zip(near, near[1:], self.speeds, strict=False)]
        return min(max(times), _time(float(total), max(self.speeds)))

    def _fill(self, most: float) -> tuple[list[int] | None, float]:
        """Fill parts up to ``most``: their ends and longest time, or None and the next time to try."""
        ends, longest, following = [0], 0.0, inf
        for speed in self.speeds:
            begin = ends[-1]
            end = self._reach(begin, speed, most)
            longest = max(longest, self._time(begin, end, speed))
            if end < self.n:
                following = min(following, self._time(begin, end + 1, speed))
            ends.append(end)
        return (ends, longest) if ends[-1] == self.n else (None, following)

    def _evened(self, most: float) -> tuple[int, ...]:
        """Boundaries with parts of at most ``most``, as near to the targets as possible."""
        least = [self.n]
        for speed in reversed(self.speeds[1:]):
            least.append(self._retreat(least[-1], speed, most))
        least.reverse()
        chosen = [0]
        for part, speed in enumerate(self.speeds):
            reach = self._reach(chosen[-1], speed, most)
            wanted = self._near(self.targets[part + 1])
            chosen.append(min(max(wanted, least[part], chosen[-1]), reach))
        return tuple(chosen)

    def _near(self, target: float) -> int:
        """The boundary whose sum is nearest to this fraction of all work."""
        if target >= 1:
            return self.n
        first = self.prefix[0]
        wanted = float(first) + float(self.prefix[-1] - first) * target
        above = self._find(wanted, "left")
        closer = above > 0 and wanted - self.prefix[above - 1] <= self.prefix[above] - wanted
        return above - 1 if closer else above

    def _reach(self, begin: int, speed: float, most: float) -> int:
        """The last end that a part from ``begin`` can have within ``most``."""
        end = self._find(float(self.prefix[begin]) + most * speed, "right") - 1
        end = min(max(end, begin), self.n)
        while end < self.n and self._time(begin, end + 1, speed) <= most:
            end += 1
        while end > begin and self._time(begin, end, speed) > most:
            end -= 1
        return end

    def _retreat(self, end: int, speed: float, most: float) -> int:
        """The first beginning that a part to ``end`` can have within ``most``."""
        begin = self._find(float(self.prefix[end]) - most * speed, "left")
        begin = min(max(begin, 0), end)
        while begin > 0 and self._time(begin - 1, end, speed) <= most:
            begin -= 1
        while begin < end and self._time(begin, end, speed) > most:
            begin += 1
        return begin

    def _find(self, value: float, side: Literal["left", "right"]) -> int:
        """The place of a value among the sums; searched in their own type, or numpy converts them all."""
        value = min(max(value, float(self.prefix[0]) - 1), float(self.prefix[-1]) + 1)
        if self.prefix.dtype.kind != "f":
            return int(self.prefix.searchsorted(floor(value) if side == "right" else ceil(value), side))
        return int(self.prefix.searchsorted(value, side))

    def _time(self, begin: int, end: int, speed: float) -> float:
        return _time(float(self.prefix[end] - self.prefix[begin]), speed)


def _time(work: float, speed: float) -> float:
    if speed > 0:
        return work / speed
    return inf if work > 0 else 0.0
