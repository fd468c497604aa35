"""A processor by the loads seen so far, and how they are taken to go on (sections 1.3.1 and 1.3.2).

A `Processor` has the loads seen so far and then a cycle that repeats: the last one, their mean, all of them
again (`LoadContinuation`), or any other that is given.

The load is an integer l(k) during the k-th duration of persistence t_l. Between synchronizations at t_(j-1)
and t_j, in the blocks a = ceil(t_(j-1) / t_l) and b = ceil(t_j / t_l), the average effective speed is

    sigma(j) = sum_(k=a..b) S / (l(k) + 1) / (b - a + 1) = S / lambda(j).

Two traps: a is 0 for t = 0, which is no block, so it is at least 1; and sigma of the processor that finishes
first depends on b, which depends on t_j, which depends on sigma: `block_finish` solves for both. The blocks a
and b count fully where the window has a part of them; `Processor` integrates instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import ceil, isfinite

from dlbrt.predict.effective_speed import Processor

__all__ = ["LoadContinuation", "block_average", "block_finish", "effective_load", "under"]


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
    processor: Processor,
    begin_s: float,
    end_s: float,
    average: Callable[[Processor, float, float], float] = Processor.average,
) -> float:
    """lambda = S / sigma: how many times longer work takes than without load."""
    return processor.speed / average(processor, begin_s, end_s)


def block_average(processor: Processor, begin_s: float, end_s: float) -> float:
    """sigma as the paper has it: the mean effective speed of the blocks a..b."""
    first = _block(processor, begin_s)
    return _mean_of(processor, first, max(first, _block(processor, end_s)))


def block_finish(processor: Processor, begin_s: float, work_s: float) -> float:
    """t_j and sigma together: the first b such that at the mean speed of a..b the work ends within b.

    The mean jumps from block to block. If the work would end after b at the mean of a..b, but before b + 1
    begins at the mean of a..b+1, it ends between the two.
    """
    first = block = _block(processor, begin_s)
    while True:
        end_s = begin_s + work_s / _mean_of(processor, first, block)
        if end_s <= block * processor.duration_s:
            return max(end_s, (block - 1) * processor.duration_s, begin_s)
        block += 1


def _block(processor: Processor, time_s: float) -> int:
    """The paper's number of the block that a time falls in, from 1."""
    return max(1, ceil(time_s / processor.duration_s))


def _mean_of(processor: Processor, first: int, last: int) -> float:
    """The mean effective speed of the blocks numbered first..last."""
    return processor.average((first - 1) * processor.duration_s, last * processor.duration_s)


def _ahead(rates: Sequence[float], forecast: object) -> list[float]:
    """The cycle of rates that follows those seen."""
    if forecast is LoadContinuation.LAST:
        return [rates[-1]]
    if forecast is LoadContinuation.MEAN:
        return [sum(rates) / len(rates)]
    return list(rates)
