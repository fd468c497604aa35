"""The sieve with its range cut in three ways: equal lengths, the paper's formula, what a run has measured.

    dlbc run -n P --strategy none --learned FILE cut_by.py length|formula|profile N

With `profile` the first start measures, and later ones with the same FILE are cut by what it has measured.
"""

from __future__ import annotations

import sys
from math import isqrt, log

import numpy as np
from numpy.typing import NDArray

Factors = NDArray[np.int32]


def least_factor(x: int, primes: list[int]) -> int:
    """The least of the ascending primes that divides x, if it is at most sqrt(x); else x itself."""
    root = isqrt(x)
    for p in primes:
        if p > root:
            break
        if x % p == 0:
            return p
    return x


def by_length(factor: Factors, n: int, primes: list[int]) -> None:
    """Equal lengths of the range."""
    # dlb: parallel, BLOCK
    for x in range(3, n + 1, 2):
        factor[x] = least_factor(x, primes)


def by_formula(factor: Factors, n: int, primes: list[int]) -> None:
    """Equal parts of equation (4)."""
    # dlb: parallel, BLOCK, cost(cumulative=x**1.43/(log(x)-1.08366))
    for x in range(3, n + 1, 2):
        factor[x] = least_factor(x, primes)


def by_profile(factor: Factors, n: int, primes: list[int]) -> None:
    """Equal parts of what an earlier run has measured, by groups of 5."""
    # dlb: parallel, BLOCK, profile(group=5)
    for x in range(3, n + 1, 2):
        factor[x] = least_factor(x, primes)


def main(name: str, n: int) -> None:
    """Find the least factors, and tell how many numbers are prime."""
    primes: list[int] = []
    for x in range(3, isqrt(n) + 1, 2):
        if least_factor(x, primes) == x:
            primes.append(x)
    factor = np.zeros(n + 1, dtype=np.int32)
    {"length": by_length, "formula": by_formula, "profile": by_profile}[name](factor, n, primes)
    found = 1 + int((factor == np.arange(n + 1))[3:].sum())
    print(f"{found} primes, Legendre's estimate {n / (log(n) - 1.08366):.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
