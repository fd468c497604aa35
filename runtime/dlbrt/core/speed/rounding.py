"""Whole units out of real shares, by the largest remainder: each gets its floor, the next units the greatest
fractions, low ranks first where they tie. Rounding each share, as the paper has it (Clarke et al., 6.1:
d = round(x*)), need not add up to n.
"""

from __future__ import annotations

import numpy as np

from dlbrt.core.partition.work import Floats

__all__ = ["whole"]


def whole(x: Floats, n: int) -> tuple[int, ...]:
    """Counts that add up to ``n`` exactly, each the floor or the ceiling of its share.

    ``x`` are at least one share, of 0 or more, that add up to n but for their rounding.
    """
    share = np.maximum(x, 0.0)
    counts = np.floor(share).astype(np.int64)
    order = np.argsort(counts - share, kind="stable")
    while left := n - int(counts.sum()):  # more than once only for numbers that doubles do not tell apart
        if left > 0:
            counts[order[:left]] += 1
        else:
            givers = order[::-1][counts[order[::-1]] > 0]
            counts[givers[:-left]] -= 1
    return tuple(counts.tolist())
