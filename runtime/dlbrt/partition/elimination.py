"""The time of a loop that begins further on from pass to pass, as in an elimination, its rows being dealt.

Ciegis et al., sections 3 and 4: pass i changes the rows from position f_i on, and lasts as long as its
slowest processor,

    T(p) = sum_i c_i max_j (rows of j from f_i on) / w_j,

c_i being the time of a row in pass i on a processor of rate 1: all alike, or (n + 1 - i) / n for LU, whose
rows get shorter. Communication is not counted. `samples/papers/ciegis` has the paper's closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def makespan(owners: ArrayLike, firsts: ArrayLike, costs: ArrayLike, rates: Sequence[float]) -> float:
    """T(p) for n rows whose owners, 0 .. p-1, are given in order, and passes from ``firsts`` on, 0 .. n.

    Infinite where rate 0 has rows to change. ValueError for owners that have no rate, or rates that are
    negative or not finite.
    """
    owner, first = np.asarray(owners, dtype=np.int64), np.asarray(firsts, dtype=np.int64)
    if len(owner) and not 0 <= owner.min() <= owner.max() < len(rates):
        raise ValueError(f"expected owners from 0 to {len(rates) - 1}, found {owner.min()} to {owner.max()}")
    if not all(0 <= rate < np.inf for rate in rates):
        raise ValueError(f"expected rates of 0 or more, found {list(rates)}")
    longest = np.zeros(len(first))
    for j, rate in enumerate(rates):
        left = np.append(np.cumsum((owner == j)[::-1])[::-1], 0)[first]
        with np.errstate(all="ignore"):
            longest = np.maximum(longest, np.where(left, left / np.float64(rate), 0.0))
    return float(np.dot(np.asarray(costs, dtype=np.float64), longest))


def efficiency(owners: ArrayLike, firsts: ArrayLike, costs: ArrayLike, rates: Sequence[float]) -> float:
    """T(1) / T(p) over the sum of the rates, T(1) at rate 1; 1 where there is nothing to do."""
    rows = len(np.asarray(owners)) - np.asarray(firsts, dtype=np.int64)
    time = makespan(owners, firsts, costs, rates)
    serial = float(np.dot(np.asarray(costs, dtype=np.float64), rows))
    return serial / (sum(rates) * time) if time else 1.0
