"""The efficiency of an elimination in closed form: the estimates of Ciegis et al.

E_p = T(1) / (p T(p)) on p equal processors, or over the sum of the rates where they differ; communication is
not counted. Sections 2.1 (the last row), 3.1 and 3.2 (blocks), 3.3 (tables 2 and 3: scattered) and 4 (table
4: two processors). A misprint is set right: table 2 has .679 for r = 2, printed .69. Functions of n rows
need n = p r, as the paper does, else ValueError; `elimination.makespan` counts any n. That of a product of
rows, which `dlbc explain` tells, is in `dlbrt.partition.proportional`.
"""

from __future__ import annotations

from math import isqrt, sqrt

from papers.ciegis.elimination import StageCost, serial_time

__all__ = [
    "block_efficiency",
    "block_limit",
    "last_row_processors",
    "last_row_time",
    "optimal_last_row_split",
    "scattered_efficiency",
    "two_blocks_efficiency",
]


def last_row_time(n: int, s: int) -> float:
    """R(s) = 2n/s + s - 1: a row of n products split among s processors, and the s parts added up.

    The unit is one floating-point operation; section 2.1, communication not counted.
    """
    if n < 1 or s < 1:
        raise ValueError(f"expected a row of 1 or more and 1 processor or more, found {n} and {s}")
    return 2 * n / s + s - 1


def last_row_processors(n: int, p: int) -> int:
    """Among how many of p processors to split the last row: the integer beside s* = sqrt(2n) that is best."""
    near = isqrt(2 * max(n, 1))
    return min((min(max(s, 1), p) for s in (near, near + 1)), key=lambda s: last_row_time(n, s))


def block_efficiency(n: int, p: int, stage: StageCost) -> float:
    """Elimination of n = p r rows in blocks of r on p equal processors (sections 3.1, 3.2)."""
    r = _rows_each(n, p)
    if stage is StageCost.CONSTANT:
        return _efficiency(n, p, stage, r * (2 * n - r - 1) / 2)
    return _efficiency(n, p, stage, r / (2 * n) * ((n - r) * (n + r + 1) + 2 / 3 * (r * r - 1)))


def block_limit(p: int, stage: StageCost) -> float:
    """That for many rows: 1 / (2 - 1/p), and 2 / (3 - 1/p^2) for LU."""
    return 1 / (2 - 1 / p) if stage is StageCost.CONSTANT else 2 / (3 - 1 / (p * p))


def scattered_efficiency(n: int, p: int, stage: StageCost) -> float:
    """Elimination of n = p r rows dealt in turn to p equal processors (section 3.3, tables 2 and 3)."""
    r = _rows_each(n, p)
    if stage is StageCost.CONSTANT:
        return _efficiency(n, p, stage, n * (r + 1) / 2 - r)
    # The paper's double sum, its inner sums being p (2n + 3 - (2j + 1) p) / 2.
    first = r * (p - 1) * (2 * n + 2 - p) / 2
    rest = p / 2 * ((2 * n + 3 - p) * r * (r - 1) / 2 - p * r * (r * r - 1) / 3)
    return _efficiency(n, p, stage, (first + rest) / n)


def two_blocks_efficiency(n: float, s: float) -> float:
    """LU of n rows in two blocks, n / (1 + s) for rate 1, the rest for rate s (section 4, table 4)."""
    if not (n > 1 and s > 0):
        raise ValueError(f"expected more than 1 row and a rate above 0, found {n} and {s}")
    both = 1 + s
    below = n * n * (2 * s * s + 6 * s + 3) + 3 * n * both - 2 * both * both
    return 2 * (n * n - 1) * both * both / below


def optimal_last_row_split(n: int) -> float:
    """s* = sqrt(2n), where R'(s) = 0."""
    return sqrt(2 * n)


def _efficiency(n: int, p: int, stage: StageCost, time: float) -> float:
    return serial_time(n, stage) / (p * time) if time else 1.0


def _rows_each(n: int, p: int) -> int:
    if n < 1 or p < 1 or n % p:
        raise ValueError(f"expected rows that are a multiple of the processors, found {n} and {p}")
    return n // p
