"""All primes up to N by trial division: the modified sieve of B. Swartz, who cut it by Newton's method.

Each odd x is divided by the odd primes up to its square root until one divides it, so its least factor is
found; x is a prime where that is x itself. The primes up to sqrt(N) are found first, by the same divisions.
An iteration looks at nothing but its own x and these primes.

Cost: irregular from number to number (a prime takes all divisions, a multiple of three takes one), but smooth
on the average. Divisions go up to the square root and a share 1 / (ln x - 1.08366) of the numbers is prime
(Legendre), so all numbers up to x should take x^1.5 / (ln x - 1.08366); to timings Swartz fitted

    t(x) = A x^1.43 / (ln x - 1.08366)      A is the machine's, and divides out

The clause gives this t, and the range is cut where it is 1/P, 2/P, .. of t(N): the first of 16 ranks gets 2.8
times as many numbers as the last. Of equal ranges the last one alone would take 1.3 times the mean.

    python samples/primes.py [N]      N is the end of the search (default: 2000000)
"""

import sys
import zlib
from math import isqrt, log

import numpy as np


def least_factor(x, primes):
    """The least of the ascending primes that divides x, if it is at most sqrt(x); else x itself."""
    root = isqrt(x)
    for p in primes:
        if p > root:
            break
        if x % p == 0:
            return p
    return x


def odd_primes(limit):
    """The odd primes up to a limit, one after the other."""
    primes = []
    for x in range(3, limit + 1, 2):
        if least_factor(x, primes) == x:
            primes.append(x)
    return primes


def least_factors(n):
    """The least prime factor of each number from 2 to n, at its place; 0 and 1 have none."""
    factor = np.zeros(n + 1, dtype=np.int32)
    factor[2::2] = 2
    primes = odd_primes(isqrt(n))
    # dlb: parallel, BLOCK, cost(cumulative=x**1.43/(log(x)-1.08366))
    for x in range(3, n + 1, 2):
        factor[x] = least_factor(x, primes)
    return factor


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    factor = least_factors(n)
    primes = np.flatnonzero((factor == np.arange(n + 1)) & (factor > 0))
    gaps = np.diff(primes)

    print(f"primes up to {n}: {len(primes)}")
    if n > 2:
        print(f"Legendre's estimate: {n / (log(n) - 1.08366):.1f}")
        print(f"largest: {primes[-1]}")
        print(f"twins: {np.count_nonzero(gaps == 2)}")
        print(f"widest gap: {gaps.max()}, after {primes[gaps.argmax()]}")
    print(f"crc32 of the least factors: {zlib.crc32(factor.tobytes()):08x}")


if __name__ == "__main__":
    main()
