"""What load may come, from what was seen: paths for the model to be played on.

Zaki, Li, Parthasarathy, section 1.3.3: at the first synchronization the load function seen so far is plugged
into the model. But the strategies differ by what the load will do: that the speeds seen so far stay as they
are favours the global strategies, since the groups would differ for ever. So besides the path of means
there are drawn ones. A rank's speed in a slice of time is a part of its unloaded speed; with the probability
with which it was seen to change from one slice to the next it changes, to one of all the parts seen.

Pure: the draws come from a generator that is given, so that every rank draws the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from dlbrt.core.model.speed import Processor
from dlbrt.records import dataclass

__all__ = ["LoadForecast"]

#: Slices drawn ahead; then they repeat.
AHEAD = 24

#: A change of speed by less than this part is noise.
STEADY = 0.05


@dataclass(frozen=True, slots=True)
class LoadForecast:
    """Speeds seen, in units of work a second, above 0: ``speeds[r][k]`` is rank r's in the k-th slice.

    Slices last ``slice_s`` and are as many for each rank, the oldest first. ``unloaded`` are the ranks'
    speeds without external load where they are known; else the highest that each was seen at. ValueError for
    slices that are none, differ in number, or hold speeds not above 0.
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

    @classmethod
    def constant(cls, speeds: Sequence[float]) -> LoadForecast:
        """Nothing but one speed for each rank is known."""
        return cls(tuple((speed,) for speed in speeds), 1.0)

    def mean_path(self) -> tuple[Processor, ...]:
        """Each rank goes on at its mean speed."""
        means = (sum(seen) / len(seen) for seen in self.speeds)
        return tuple(Processor.steady(mean) for mean in means)

    def drawn_path(self, random: Random) -> tuple[Processor, ...]:
        """Each rank goes on as it is, until its speed changes to another that was seen."""
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
