"""Rows in proportion to the rates of processors, in blocks and scattered; the efficiency on equal processors.

Ciegis, Sablinskas, Simkevicius, Wasniewski, Informatica 7 (1996): problem (1) is to find integers M_j >= 0 of
sum m with the greatest M_j / w_j least. Block distribution: M_j = floor(m w_j / W) (equation 3), and each
remaining row goes to the processor that would finish it first (figure 1). Scattered (figure 3): rows are
dealt from the last to the first, each to the processor that would finish it first, so that the rows from any
row to the last are always shared in proportion, as elimination needs.

Ties go to the processor named first. The floors and figure 1 are computed in exact fractions: in doubles the
paper's example 1 depends on the order in which W is summed. Figure 3 is computed in doubles as in the paper:
its row 50 is a tie of 5/1.5 and 12/3.6, which doubles decide.

The efficiency of a static distribution of equal tasks is E_p = T(1) / (p T(p)) on p equal processors (section
2.1, table 1), without communication. The efficiency "0.5" that the paper prints for m = p + 1 rows is the
limit of (p + 1) / 2p. The closed forms of eliminations are in `samples/papers/ciegis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import fsum, isfinite

import numpy as np
from numpy.typing import NDArray

from dlbrt.data.layout import earliest_finish


def floors(m: int, rates: Sequence[float]) -> tuple[int, ...]:
    """floor(m w_j / W), exactly (equation 3); ValueError for bad rates or m below 0."""
    exact = _checked(m, rates)
    total = sum(exact)
    return tuple(int(m * rate / total) for rate in exact)


def block_rows(m: int, rates: Sequence[float]) -> tuple[int, ...]:
    """Rows per processor by figure 1: optimal for problem (1); a rate of 0 gets none.

    ValueError unless m is 0 or more and the rates are 0 or more, finite, and one above 0.
    """
    return earliest_finish(m, _checked(m, rates), floors(m, rates))


def scattered_owners(n: int, rates: Sequence[float]) -> NDArray[np.int64]:
    """The processor of each of n rows by figure 3; ValueError as `block_rows`.

    Processor j finishes its k-th row at k / w_j; the n earliest finishing times, in order, are those of
    rows n, n - 1, .. 1.
    """
    _checked(n, rates)
    total = fsum(rates)
    # At time T = (n + p) / W the processors have finished sum floor(w_j T) > W T - p = n rows: the last of
    # the n rows ends no later, and processor j has at most w_j T of them.
    counts = [int((n + len(rates)) * (rate / total)) + 1 if rate else 0 for rate in rates]
    owner = np.repeat(np.arange(len(rates)), counts)
    finish = np.concatenate(
        [np.arange(1, count + 1) / (rate or 1.0) for count, rate in zip(counts, rates, strict=True)]
    )
    earliest = np.argsort(finish, kind="stable")[:n]
    return owner[earliest][::-1]


def slowest_first(rates: Sequence[float]) -> tuple[int, ...]:
    """The processors in the order in which they should get the blocks of an elimination (section 4).

    The owner of the first block is the first to be idle. With rows in exact proportion to the rates no order
    is better. Equal rates stay in order.
    """
    return tuple(sorted(range(len(rates)), key=lambda j: rates[j]))


def _checked(m: int, rates: Sequence[float]) -> list[Fraction]:
    if m < 0:
        raise ValueError(f"expected 0 or more rows, found {m}")
    if not rates or not all(rate >= 0 and isfinite(rate) for rate in rates) or not any(rates):
        raise ValueError(f"expected rates of 0 or more and one above 0, found {list(rates)}")
    return [Fraction(rate) for rate in rates]


def product_efficiency(m: int, p: int) -> float:
    """m equal tasks in blocks on p processors: m / (p ceil(m / p))."""
    return m / (p * _stages(m, p))


def product_bound(r: int, p: int) -> float:
    """The least efficiency for m > r p, r = floor(m / p): 1 - (p - 1) / (p (r + 1)) (equation 2, table 1)."""
    return 1 - (p - 1) / (p * (r + 1))


def fewest_processors(m: int, p: int) -> int:
    """The least number of p equal processors that do m equal tasks in the same time as all p (remark 1).

    For m = p + 1 it is floor((m + 1) / 2): the others are idle for half of the time.
    """
    return -(-m // _stages(m, p))


def _stages(m: int, p: int) -> int:
    if m < 1 or p < 1:
        raise ValueError(f"expected at least 1 row and 1 processor, found {m} and {p}")
    return -(-m // p)
