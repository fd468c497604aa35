"""What estimates of all strategies share when one is to be chosen: computed once."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from dlbrt.core.chunks.loop import Known as Facts
from dlbrt.core.model.fluid import Rest
from dlbrt.core.model.known import Known

__all__ = ["Outlook", "facts"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """``rest`` is what is left, ``facts`` what rules of self-scheduling are told, ``speeds`` are means of
    those seen.

    ``floor_s`` is when all could be done at no cost, the mean over the paths that the load may take.
    """

    rest: Rest
    facts: Facts
    speeds: tuple[float, ...]
    floor_s: float

    @classmethod
    def of(cls, known: Known, floor_s: float) -> Outlook:
        """At a synchronization."""
        speeds = tuple(sum(seen) / len(seen) for seen in known.history.speeds)
        return cls(known.rest, facts(known), speeds, floor_s)


def facts(known: Known) -> Facts:
    """Speeds as weights, an iteration's time, and what a request's two messages cost.

    The deviation is that of what a mean iteration would have taken at the speeds seen so far, rank by rank.
    """
    mean_s = known.rest.mean_s * len(known.speeds) / sum(known.speeds)
    squares = 0.0
    for seen in known.history.speeds:
        times = [1 / speed for speed in seen]
        mean = sum(times) / len(times)
        squares += sum((each / mean - 1) ** 2 for each in times) / len(times)
    deviation_s = mean_s * sqrt(squares / len(known.history.speeds))
    return Facts(mean_s, deviation_s, 2 * known.network.latency_s, known.speeds)
