"""The modified sieve of Swartz (appendices B and C): its cumulative work as fitted, and as counted."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from dlbrt.core.partition.work import Work
from numpy.typing import NDArray

#: Where t' becomes positive is 5.94744; the paper's safe x_L.
INCREASING_FROM = 5.95


def t(x: Any) -> Any:
    """Equation (4), A left out."""
    return x**1.43 / (np.log(x) - 1.08366)


def slope(x: Any) -> Any:
    """Equation (5), A left out."""
    r = 1 / (np.log(x) - 1.08366)
    return r * x**0.43 * (1.43 - r)


def work(maximum: float, derivative: bool = True) -> Work:
    """Equation (4) over 0 .. maximum, counted from 0 as the paper does."""
    known = slope if derivative else None
    return Work(t, 0.0, maximum, derivative=known, start=0.0, increasing_from=INCREASING_FROM)


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
