"""A processor by the loads seen so far, and how they are taken to go on (sections 1.3.1 and 1.3.2).

A `Processor` has the loads seen so far and then a cycle that repeats: the last one, their mean, all of them
again (`LoadContinuation`), or any other that is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import isfinite

from dlbrt.predict.effective_speed import Averaging, Processor

__all__ = ["LoadContinuation", "effective_load", "under"]


class LoadContinuation(Enum):
    """How the load goes on after what was seen."""

    LAST = "last"
    MEAN = "mean"
    REPEAT = "repeat"


def under(
    loads: Sequence[float],
    duration_s: float,
    speed: float = 1.0,
    forecast: LoadContinuation | Sequence[float] = LoadContinuation.MEAN,
) -> Processor:
    """Under the loads l(1), l(2), .. (0 or more, integers or not), then as forecast.

    ``forecast`` may be the loads of the cycle themselves. ValueError for no loads, negative ones, or a
    speed or duration that is not above 0.
    """
    cycle = list(forecast) if not isinstance(forecast, LoadContinuation) else []
    if not (loads or cycle) or not all(load >= 0 and isfinite(load) for load in (*loads, *cycle)):
        raise ValueError(f"expected at least one load, each 0 or more, found {list(loads)} and {cycle}")
    if not (0 < speed < float("inf") and 0 < duration_s < float("inf")):
        raise ValueError(f"expected a speed and a duration above 0, found {speed} and {duration_s}")
    rates = [1 / (load + 1) for load in loads]
    ahead = [1 / (load + 1) for load in cycle] or _ahead(rates, forecast)
    return Processor.at(ahead, duration_s, speed, rates)


def effective_load(
    processor: Processor, begin_s: float, end_s: float, averaging: Averaging = Averaging.EXACT
) -> float:
    """lambda = S / sigma: how many times longer work takes than without load."""
    return processor.speed / processor.average(begin_s, end_s, averaging)


def _ahead(rates: Sequence[float], forecast: object) -> list[float]:
    """The cycle of rates that follows those seen."""
    if forecast is LoadContinuation.LAST:
        return [rates[-1]]
    if forecast is LoadContinuation.MEAN:
        return [sum(rates) / len(rates)]
    return list(rates)
