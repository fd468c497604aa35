"""The time of an elimination (LU and its like) whose rows are dealt to processors in a given way.

Ciegis et al., sections 3 and 4: stage i = 1 .. n-1 changes the rows after i, so the owner of row i loses
it before stage i, and a stage lasts as long as its slowest processor:

    T(p) = sum_i c_i max_j (rows of j after i) / w_j,

with c_i = 1 where a row costs the same at each stage, and c_i = (n + 1 - i) / n for LU, whose rows get
shorter. The unit is a whole row on a processor of rate 1; communication is not counted. Exact for any
owners; where n is a multiple of p and the rates are equal, `efficiency` has it in closed form.

The order of blocks matters (section 4). With rows in exact proportion to the rates, every stage before the
last block lasts as long as the next of any order, so only the owner of the last block counts: the
fastest. Rounding to whole rows adds a second rule: what is slowest to do its rows should be done early.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
from dlbrt.data.layout import Floats
from dlbrt.partition import elimination
from numpy.typing import ArrayLike, NDArray

__all__ = ["StageCost", "block_order", "block_owners", "makespan", "serial_time", "stage_costs"]


#: How many of the fastest processors are tried as owners of the last block.
LAST_TRIED = 8


class StageCost(Enum):
    """How the cost of changing one row goes with the stage."""

    CONSTANT = "constant"
    LU = "LU"


def stage_costs(n: int, stage: StageCost) -> Floats:
    """c_1 .. c_{n-1}."""
    if stage is StageCost.CONSTANT:
        return np.ones(max(n - 1, 0))
    return (n + 1 - np.arange(1, n)) / n


def serial_time(n: int, stage: StageCost) -> float:
    """T(1) at rate 1: n (n - 1) / 2 (equation 4), or (n - 1) (n + 1) / 3 for LU (equation 5)."""
    return n * (n - 1) / 2 if stage is StageCost.CONSTANT else (n - 1) * (n + 1) / 3


def block_owners(rows: Sequence[int], order: Sequence[int] | None = None) -> NDArray[np.int64]:
    """The owner of each row where processor j has ``rows[j]`` consecutive ones, blocks in this order."""
    sequence = np.arange(len(rows)) if order is None else np.asarray(order, dtype=np.int64)
    return np.repeat(sequence, np.asarray(rows, dtype=np.int64)[sequence])


def block_order(rows: Sequence[int], rates: Sequence[float], stage: StageCost) -> tuple[int, ...]:
    """A good order of blocks of so many rows: of those tried, the one with the least `makespan`.

    Tried are the paper's, slowest processor first, and those with one of the fastest last and the others
    by falling M_j / w_j. ValueError unless there are as many rows entries as rates, all rates above 0.
    """
    if len(rows) != len(rates) or not rates or not min(rates) > 0:
        raise ValueError(f"expected rows for each of at least one rate above 0, found {rows} and {rates}")
    slowest_first = sorted(range(len(rates)), key=lambda j: rates[j])
    by_time = sorted(slowest_first, key=lambda j: -rows[j] / rates[j])
    tried = [tuple(slowest_first)]
    tried += [(*(j for j in by_time if j != last), last) for last in slowest_first[-LAST_TRIED:]]
    return min(tried, key=lambda order: makespan(block_owners(rows, order), rates, stage))


def makespan(owners: ArrayLike, rates: Sequence[float], stage: StageCost) -> float:
    """T(p) for n rows whose owners are given in order; see `dlbrt.partition.elimination.makespan`."""
    n = len(np.asarray(owners))
    return elimination.makespan(owners, np.arange(1, n), stage_costs(n, stage), rates)
