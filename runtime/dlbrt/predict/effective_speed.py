"""A processor under discrete external load: its effective speed, and when it finishes.

Zaki, Li, Parthasarathy, sections 1.3.1 and 1.3.2: the load is an integer l(k) during the k-th duration of
persistence t_l, and the effective speed is S / (l(k) + 1). Here speeds are integrated over a window; the
paper's mean over whole blocks is in `samples/papers/zaki/speed.py`, which also makes processors from loads.

What the load will be is not known. A `Processor` has the parts of its speed that were seen, and then a cycle
of parts that repeats (`Processor.at`).

Forecast (`LoadForecast`). Section 1.3.3: at the first synchronization the load function seen so far is
plugged into the model. But strategies differ by what the load will do: the assumption that speeds stay as
they are favours the global strategies, since the groups would differ for ever. So besides the path of mean
speeds there are drawn paths. A rank's speed in a slice of time is a part of its unloaded speed; it changes
from one slice to the next with the probability with which it was seen to change, to one of all the parts
seen. The draws come from a generator that is an argument, so that every rank draws the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from math import ceil
from random import Random

from dlbrt.records import dataclass

#: Blocks of the forecast that are summed beforehand; sums further ahead are computed when needed.
UNROLLED = 24


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor of base speed ``speed`` (S: base work a second) under discrete load.

    ``sums`` are the sums of 1 / (l + 1) over the first 0, 1, .. blocks, ``cycle`` those over the blocks that
    repeat from then on, ``duration_s`` is t_l. Times count from the beginning of the first block.
    """

    speed: float
    sums: tuple[float, ...]
    cycle: tuple[float, ...]
    duration_s: float

    @classmethod
    def at(
        cls, cycle: Iterable[float], duration_s: float, speed: float = 1.0, seen: Sequence[float] = ()
    ) -> Processor:
        """At the parts ``seen`` of its speed in the first blocks, then at the parts in ``cycle``; above 0."""
        again = list(cycle)
        turns, period = -(-UNROLLED // len(again)), _sums(again)
        sums = period if turns == 1 and not seen else _sums([*seen, *again * turns])
        return cls(speed, sums, period, duration_s)

    @classmethod
    def steady(cls, speed: float = 1.0) -> Processor:
        """Without external load, or with a constant load that is part of the speed."""
        return _Steady(speed, (0.0, 1.0), (0.0, 1.0), 1.0)

    def average(self, begin_s: float, end_s: float) -> float:
        """sigma: the average effective speed between two times; at an instant, that of its block."""
        if end_s <= begin_s:
            block = max(1, ceil(begin_s / self.duration_s))  # the paper's number, from 1
            return self.speed * (self._summed(block) - self._summed(block - 1))
        return (self.capacity(end_s) - self.capacity(begin_s)) / (end_s - begin_s)

    def finish(self, begin_s: float, work_s: float) -> float:
        """When work of ``work_s`` seconds on the base processor, begun at ``begin_s``, is done."""
        if work_s <= 0:
            return begin_s
        return max(begin_s, self.reached(self.capacity(begin_s) + work_s))

    def done(self, begin_s: float, end_s: float) -> float:
        """Base seconds of work done between two times."""
        return self.capacity(end_s) - self.capacity(begin_s)

    def capacity(self, time_s: float) -> float:
        """Base seconds of work that can be done from 0 to ``time_s``."""
        block = int(time_s // self.duration_s)
        if block + 1 < len(self.sums):
            whole, next_whole = self.sums[block], self.sums[block + 1]
        else:
            whole, next_whole = self._summed(block), self._summed(block + 1)
        part = (time_s - block * self.duration_s) * (next_whole - whole)
        return self.speed * (self.duration_s * whole + part)

    def reached(self, capacity: float) -> float:
        """When ``capacity`` base seconds of work can be done: the inverse of `capacity`."""
        wanted = capacity / (self.speed * self.duration_s)
        if wanted < self.sums[-1]:
            block = max(0, bisect_right(self.sums, wanted) - 1)
            whole, next_whole = self.sums[block], self.sums[block + 1]
        else:
            block = self._block_reaching(wanted)
            whole, next_whole = self._summed(block), self._summed(block + 1)
        return (block + (wanted - whole) / (next_whole - whole)) * self.duration_s

    def _summed(self, blocks: int) -> float:
        """The sum of 1 / (l + 1) over the first ``blocks`` blocks."""
        known = len(self.sums) - 1
        if blocks <= known:
            return self.sums[blocks]
        turns, rest = divmod(blocks - known, len(self.cycle) - 1)
        return self.sums[known] + turns * self.cycle[-1] + self.cycle[rest]

    def _block_reaching(self, wanted: float) -> int:
        """How many blocks are wholly needed for a sum of ``wanted``."""
        beyond = max(0.0, wanted - self.sums[-1])
        turns = int(beyond // self.cycle[-1])
        rest = bisect_right(self.cycle, beyond - turns * self.cycle[-1]) - 1
        in_cycle = min(max(rest, 0), len(self.cycle) - 2)
        return len(self.sums) - 1 + turns * (len(self.cycle) - 1) + in_cycle


@dataclass(frozen=True, slots=True)
class _Steady(Processor):
    """A processor of constant speed, for which a product replaces sums and a search."""

    def capacity(self, time_s: float) -> float:
        """As `Processor.capacity`."""
        return self.speed * time_s

    def reached(self, capacity: float) -> float:
        """As `Processor.reached`."""
        return capacity / self.speed


def _sums(rates: Sequence[float]) -> tuple[float, ...]:
    return tuple(accumulate(rates, initial=0.0))


#: Slices drawn ahead; then they repeat.
AHEAD = 24

#: A change of speed by less than this part is noise.
STEADY = 0.05


@dataclass(frozen=True, slots=True)
class LoadForecast:
    """Speeds seen, in units of work a second, above 0: ``speeds[r][k]`` is rank r's in the k-th slice.

    Slices last ``slice_s``, the oldest first, the same number for each rank. ``unloaded`` are the ranks'
    speeds without external load; where they are not known, the highest speed seen of each rank. ValueError
    where there are no slices, where their numbers differ, or where a speed is not above 0.
    """

    speeds: tuple[tuple[float, ...], ...]
    slice_s: float
    unloaded: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        slices = {len(seen) for seen in self.speeds}
        if len(slices) != 1 or 0 in slices or len(self.unloaded) not in (0, len(self.speeds)):
            raise ValueError(f"expected as many slices for each rank, at least one, found {sorted(slices)}")
        if not (min(map(min, self.speeds)) > 0 and min(self.unloaded, default=1.0) > 0 and self.slice_s > 0):
            raise ValueError("expected speeds and a duration above 0")

    def mean_path(self) -> tuple[Processor, ...]:
        """Each rank goes on at its mean speed."""
        return tuple(Processor.steady(sum(seen) / len(seen)) for seen in self.speeds)

    def drawn_path(self, random: Random) -> tuple[Processor, ...]:
        """Each rank goes on at its speed until the speed changes to another one that was seen."""
        full = self.unloaded or tuple(map(max, self.speeds))
        parts = [[speed / most for speed in seen] for seen, most in zip(self.speeds, full, strict=True)]
        pool, chance = [part for seen in parts for part in seen], _chance_of_change(parts)
        return tuple(
            Processor.at(_drawn(seen[-1], pool, chance, random), self.slice_s, most)
            for seen, most in zip(parts, full, strict=True)
        )


def _chance_of_change(parts: Sequence[Sequence[float]]) -> float:
    """How often a rank's speed changed from one slice to the next, by Laplace's rule with half a case."""
    changed = seen = 0
    for own in parts:
        seen += len(own) - 1
        changed += sum(abs(a - b) > STEADY * a for a, b in pairwise(own))
    return (changed + 0.5) / (seen + 1)


def _drawn(part: float, pool: Sequence[float], chance: float, random: Random) -> list[float]:
    """The parts of the next slices."""
    path = []
    for other in random.choices(pool, k=AHEAD):
        if random.random() < chance:
            part = other
        path.append(part)
    return path
