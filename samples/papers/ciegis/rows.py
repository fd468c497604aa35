"""Rows as the paper deals and prints them, by figures 1 and 3 (`dlbrt.partition.proportional`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dlbrt.partition.proportional import floors, scattered_owners

__all__ = ["floors_and_first", "scattered_rows"]


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
