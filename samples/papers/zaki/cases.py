"""The paper's 28 cases (Zaki, Li, Parthasarathy, table 1.4), with its sizes, and what it printed of them.

The time per iteration is calibrated by the times without balancing (tables 1.1 - 1.3): on average work takes
2.449 times as long under its load (`MEAN_SLOWDOWN`). TRFD's times are of both loops together; they are
divided as the loops' work is, the transpose left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import isqrt

from dlbrt.data.layout import block
from dlbrt.predict.groups import Groups, blocks
from dlbrt.predict.schemes import Scheme
from dlbrt.predict.work import IterationCosts, Runs

__all__ = ["CASES", "MEAN_SLOWDOWN", "MOST_LOAD", "Case", "trfd_first", "trfd_pairs", "trfd_second"]

MOST_LOAD = 5
MEAN_SLOWDOWN = (MOST_LOAD + 1) / sum(1 / (load + 1) for load in range(MOST_LOAD + 1))

#: Groups of the local strategies: two.
GROUPS = 2
DOUBLE = 8


@dataclass(frozen=True, slots=True)
class Case:
    """A row of table 1.4: ``size`` iterations of ``work``, after the fold where the loop is triangular.

    ``actual`` and ``predicted`` are the paper's best strategies, ``difference`` its % between the two;
    ``static_s`` are its seconds without balancing, of TRFD those of both loops.
    """

    name: str
    ranks: int
    size: int
    work: IterationCosts
    iteration_bytes: int
    actual: str
    predicted: str
    difference: float = 0.0
    static_s: float = 0.0

    def held(self) -> tuple[Runs, ...]:
        """Equal blocks."""
        return tuple(
            tuple((run.start, run.stop) for run in spans.runs) for spans in block(self.size, self.ranks)
        )

    def groups(self, scheme: Scheme) -> Groups:
        return blocks(self.ranks, self.ranks // GROUPS if scheme.local else self.ranks)


def trfd_first(n: int) -> int:
    """Operations of each column of TRFD's first loop."""
    return n**3 + 3 * n**2 + n


def trfd_second(n: int, i: int) -> int:
    """Twice the operations of column i, from 1, of the second loop; r is the row of the pair numbered i."""
    r = (1 + isqrt(8 * i - 7)) // 2
    return 2 * n**3 + (6 - r) * n**2 + (4 - 2 * r - r * r) * n + r - r * r


def trfd_pairs(n: int) -> list[int]:
    """Twice the operations after the fold: i with M - i + 1, an odd one in the middle alone."""
    m = n * (n + 1) // 2
    pairs = [trfd_second(n, i) + trfd_second(n, m - i + 1) for i in range(1, m // 2 + 1)]
    return pairs + ([trfd_second(n, m // 2 + 1)] if m % 2 else [])


def _uniform(size: int, ranks: int, seconds: float) -> IterationCosts:
    return IterationCosts(seconds * ranks / (size * MEAN_SLOWDOWN))


def _mxm() -> Iterator[Case]:
    rows = (
        (4, 400, 400, 143.7, "GDDLB", "GDDLB", 0.0),
        (4, 400, 800, 428.6, "GDDLB", "GDDLB", 0.0),
        (4, 800, 400, 351.0, "GDDLB", "GDDLB", 0.0),
        (4, 800, 800, 722.3, "GDDLB", "GDDLB", 0.0),
        (16, 1600, 400, 266.1, "GDDLB", "GCDLB", 0.7),
        (16, 1600, 800, 535.9, "GCDLB", "GDDLB", 1.1),
        (16, 3200, 400, 532.1, "GDDLB", "GDDLB", 0.0),
        (16, 3200, 800, 1057.3, "GDDLB", "GDDLB", 0.0),
    )
    for ranks, n, r, seconds, actual, predicted, difference in rows:
        name, work = f"MXM n={n} r={r}", _uniform(n, ranks, seconds)
        yield Case(name, ranks, n, work, DOUBLE * r, actual, predicted, difference, seconds)


def _trfd() -> Iterator[Case]:
    rows = (
        (4, 30, 31.4, ("LDDLB", "GDDLB", 8.2), ("LDDLB", "GDDLB", 3.5)),
        (4, 40, 111.6, ("LDDLB", "LDDLB", 0.0), ("GDDLB", "LDDLB", 6.2)),
        (4, 50, 417.4, ("LDDLB", "LDDLB", 0.0), ("GDDLB", "GDDLB", 0.0)),
        (16, 30, 23.0, ("LDDLB", "LDDLB", 0.0), ("LDDLB", "LDDLB", 0.0)),
        (16, 40, 70.0, ("LDDLB", "LDDLB", 0.0), ("LDDLB", "LDDLB", 0.0)),
        (16, 50, 246.9, ("LDDLB", "LDDLB", 0.0), ("LDDLB", "LDDLB", 0.0)),
    )
    for ranks, n, seconds, first, second in rows:
        m = n * (n + 1) // 2
        pairs = trfd_pairs(n)
        operations = m * trfd_first(n) + sum(pairs) / 2
        unit_s = seconds * ranks / (operations * MEAN_SLOWDOWN)
        uniform = IterationCosts(unit_s * trfd_first(n))
        yield Case(f"TRFD n={n} L1", ranks, m, uniform, DOUBLE * m, *first, static_s=seconds)
        folded = IterationCosts(unit_s / 2, tuple(accumulate(pairs, initial=0)))
        name = f"TRFD n={n} L2"
        yield Case(name, ranks, len(pairs), folded, 2 * DOUBLE * m, *second, static_s=seconds)


def _ac() -> Iterator[Case]:
    rows = (
        (4, 100, 58.1, "LDDLB", "LDDLB", 0.0),
        (4, 150, 290.3, "LDDLB", "GDDLB", 1.43),
        (4, 200, 879.8, "GCDLB", "GDDLB", 0.1),
        (4, 250, 2163.4, "GCDLB", "GDDLB", 0.03),
        (16, 100, 16.0, "LDDLB", "LDDLB", 0.0),
        (16, 150, 82.8, "GDDLB", "LDDLB", 2.9),
        (16, 200, 224.2, "GDDLB", "GDDLB", 0.0),
        (16, 250, 549.7, "GDDLB", "GDDLB", 0.0),
    )
    for ranks, n, seconds, actual, predicted, difference in rows:
        pairs = n * n // 2
        work = _uniform(pairs, ranks, seconds)
        yield Case(f"AC n={n}", ranks, pairs, work, 0, actual, predicted, difference, seconds)


CASES = (*_mxm(), *_trfd(), *_ac())
