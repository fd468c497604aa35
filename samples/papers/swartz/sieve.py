"""The modified sieve of Swartz (appendices B and C): its work, fitted and counted, and cuts of its range.

The loop is over the odd numbers 3, 5, .. up to a maximum; their positions are 0, 1, ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite, isqrt
from typing import Any

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition.density import Density
from dlbrt.partition.fit import Fit
from dlbrt.partition.profiling import GroupTimes, Profiling
from dlbrt.partition.work import CumulativeWork, Curve, evaluate
from numpy.typing import ArrayLike, NDArray

from papers.swartz.newton import cut

#: Where t' becomes positive is 5.94744; the paper's safe x_L.
INCREASING_FROM = 5.95


def legendre(x: ArrayLike) -> Floats:
    """1 / (ln x - 1.08366): the g of the paper's sieve (section 3); its pole is at x = 2.9555."""
    return np.asarray(1 / (np.log(x) - 1.08366), dtype=np.float64)


def scale(t_ref: Curve, x: float, t: float) -> float:
    """The constant A of t = A t_ref from one timing (section 3). It is not needed to cut.

    ValueError unless A is finite and above 0.
    """
    found = float(t / evaluate(t_ref, np.array([x]))[0])
    if not (isfinite(found) and found > 0):
        raise ValueError(f"expected a timing and a curve above 0 at {x}, found {t} and a constant {found}")
    return found


def t(x: Any) -> Any:
    """Equation (4), A left out."""
    return x**1.43 / (np.log(x) - 1.08366)


def slope(x: Any) -> Any:
    """Equation (5), A left out."""
    r = 1 / (np.log(x) - 1.08366)
    return r * x**0.43 * (1.43 - r)


def work(maximum: float, derivative: bool = True) -> CumulativeWork:
    """Equation (4) over 0 .. maximum, counted from 0 as the paper does."""
    known = slope if derivative else None
    return CumulativeWork(t, 0.0, maximum, derivative=known, start=0.0, increasing_from=INCREASING_FROM)


def operations(maximum: int) -> NDArray[np.int32]:
    """By how many odd primes each odd n = 3, 5, .. <= maximum is tried: to its least factor or sqrt(n)."""
    count = (maximum - 1) // 2
    primes = [p for p in range(3, isqrt(maximum) + 1, 2) if all(p % q for q in range(3, isqrt(p) + 1, 2))]
    places = [(p * p - 3) // 2 for p in primes]
    lengths = np.diff([0, *places, count])
    found = np.repeat(np.arange(len(primes) + 1, dtype=np.int32), lengths)
    for number in range(len(primes), 0, -1):
        found[places[number - 1] :: primes[number - 1]] = number
    return found


def positions(maximum: int) -> int:
    """How many odd numbers there are from 3 to the maximum."""
    return (maximum - 1) // 2


def by_length(maximum: int, ranks: int) -> list[int]:
    """Where each rank begins, and the end: the linear cut, equal lengths of the range."""
    return [positions(maximum) * rank // ranks for rank in range(ranks + 1)]


def by_formula(maximum: int, ranks: int) -> list[int]:
    """The same by equation (4)."""
    return _positions_from(work(float(maximum + 1)), maximum, ranks)


def by_fit(found: Fit, maximum: int, ranks: int) -> list[int]:
    """The same by a curve fitted to samples, from where (4) increases: it may have that form."""
    return _positions_from(
        CumulativeWork(found.t, INCREASING_FROM, float(maximum + 1), found.derivative), maximum, ranks
    )


def _positions_from(work: CumulativeWork, maximum: int, ranks: int) -> list[int]:
    """The first odd number from each boundary on; the first rank has those before its domain too."""
    first = np.ceil((cut(work, ranks) - 3) / 2).astype(int)
    return [0, *(int(position) for position in np.clip(first[1:], 0, positions(maximum)))]


def first_pass(maximum: int, bounds: Sequence[int], group: int, took: Callable[[range], float]) -> Density:
    """What the ranks measure, each in its own part of the range, as rank 0 puts it together.

    ``took`` is the time (or work) of some positions one after the other.
    """
    profiling = Profiling(positions(maximum), group)
    parts = [range(low, high) for low, high in pairwise(bounds)]
    recorders = [_recorded(GroupTimes(profiling.n, profiling.group), part, took) for part in parts]
    seconds = [sum(float(s.seconds.sum()) for s in group_times.samples()) for group_times in recorders]
    problem = profiling.learn(seconds, [group_times.samples() for group_times in recorders])
    assert problem is None, problem
    assert profiling.density is not None
    return profiling.density


def _recorded(group_times: GroupTimes, part: range, took: Callable[[range], float]) -> GroupTimes:
    position = part.start
    while position < part.stop:
        run = range(position, min(group_times.limit(position), part.stop))
        group_times.add(run, took(run))
        position = run.stop
    return group_times
