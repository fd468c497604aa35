"""Rows as the paper deals and prints them, by figures 1 and 3 (`dlbrt.partition.proportional`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dlbrt.partition.proportional import floors, scattered_owners

__all__ = ["elimination_order", "floors_and_first", "scattered_rows"]


def floors_and_first(m: int, rates: Sequence[float]) -> tuple[int, ...]:
    """The floors, and one of the remaining rows for each of the first processors.

    For equal rates this is section 2.1; for others it is what the paper's block times of example 2 rest
    on (rows 7 10 16 19 22 26), although its text names figure 1.
    """
    rows = floors(m, rates)
    more = m - sum(rows)
    return tuple(count + (j < more) for j, count in enumerate(rows))


def scattered_rows(n: int, rates: Sequence[float]) -> tuple[tuple[int, ...], ...]:
    """R_j: the rows of each processor by figure 3, counted from 1 as in the paper, ascending."""
    owners = scattered_owners(n, rates)
    return tuple(tuple((np.flatnonzero(owners == j) + 1).tolist()) for j in range(len(rates)))


def elimination_order(rates: Sequence[float]) -> tuple[int, ...]:
    """The processors in the order in which they should get the blocks of a block LU: slowest first.

    The owner of the first block is the first to be idle (section 4); equal rates stay in order. With rows
    in exact proportion no order is better; with whole rows `elimination.block_order` may be.
    """
    return tuple(sorted(range(len(rates)), key=lambda j: rates[j]))
