"""Block and cyclic shares for equal ranks, and the rules by which a number is split into integers.

Every split of a number among ranks follows one of these rules:

===================  =======================================================================================
`equal_counts`       sizes differ by at most 1, the larger ones first
`quickest`           the last rank finishes as early as possible, by speeds in doubles, with least shares
`earliest_finish`    its second stage: what the floors leave goes one by one to the rank that does it soonest
                     (Ciegis et al., 1996, figure 1); also in exact fractions (`dlbrt.partition.proportional`)
`largest_remainder`  each real share's floor or ceiling, ceilings for the greatest fractions
===================  =======================================================================================

`quickest` gives each rank the whole part of its real share, which some optimal shares always contain, and the
rest by `earliest_finish`. Rounding to the nearest may give a slow rank a unit too many, which hurts when few
are left. Real shares are taken slightly low, since in doubles the floor of m w_j / W already goes wrong in
example 1 of that paper. `largest_remainder` is for shares that minimize a time that is not linear in them:
rounding each of those (Clarke et al., section 6.1: d = round(x*)) need not add up to the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import accumulate, pairwise
from math import fsum, isfinite
from operator import lt
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from fractions import Fraction


#: Real numbers, one for each rank or place.
Floats = NDArray[np.float64]

_Rate = TypeVar("_Rate", float, "Fraction")

#: This factor brings a real share in doubles, off by at most five roundings, to the true share or below.
_JUST_BELOW = 1 - 2**-50


def block(n: int, ranks: int) -> tuple[Spans, ...]:
    """Contiguous blocks of n positions, sizes differing by at most 1, the larger ones first."""
    bounds = accumulate(equal_counts(n, _checked(n, ranks)), initial=0)
    return tuple(Spans.of(range(low, high)) for low, high in pairwise(bounds))


def cyclic(n: int, ranks: int) -> tuple[Spans, ...]:
    """Position p goes to rank p mod ranks."""
    return tuple(Spans.of(range(rank, n, ranks)) for rank in range(_checked(n, ranks)))


def in_turns(n: int, ranks: int, turns: int) -> tuple[Spans, ...]:
    """The counts of `block`, each rank's in ``turns`` blocks dealt in turn: a fair sample for every rank.

    Unlike cyclic shares, these are runs without gaps, however short. ValueError for turns below 1.
    """
    if turns < 1:
        raise ValueError(f"expected at least 1 turn, found {turns}")
    counts = [equal_counts(count, turns) for count in equal_counts(n, _checked(n, ranks))]
    runs: list[list[range]] = [[] for _ in counts]
    begin = 0
    for turn in range(turns):
        for own, count in zip(runs, counts, strict=True):
            end = begin + count[turn]
            own += [range(begin, end)] if end > begin else []
            begin = end
    return tuple(Spans(tuple(own)) for own in runs)


def equal_counts(n: int, parts: int) -> tuple[int, ...]:
    """n as ``parts`` integers that differ by at most 1, the larger ones first."""
    size, more = divmod(n, parts)
    return (size + 1,) * more + (size,) * (parts - more)


def quickest(total: int, speeds: Sequence[float], least: Sequence[int] = ()) -> tuple[int, ...]:
    """Integer shares of ``total``, none below ``least``, that minimize max(share / speed).

    Ties go to low ranks. Only correctly rounded sums, products and quotients are used, so that the shares are
    the same on any machine. ValueError for a speed that is not above 0 or not finite, or for ``least`` of
    another number of ranks, below 0 or with a sum above the total.
    """
    floors = tuple(least) or (0,) * len(speeds)
    if not speeds or not (min(speeds) > 0 and isfinite(fsum(speeds))):
        raise ValueError(f"expected at least one speed, each above 0, found {list(speeds)}")
    if len(floors) != len(speeds) or min(floors) < 0 or sum(floors) > total:
        raise ValueError(
            f"expected {len(speeds)} least shares with a sum up to {total}, found {list(floors)}"
        )
    return earliest_finish(total, speeds, _below(total, speeds, floors))


def earliest_finish(total: int, rates: Sequence[_Rate], floors: Sequence[int]) -> tuple[int, ...]:
    """The floors, with the rest of ``total`` given one by one to the rank that would finish it first.

    Ties go to low ranks; a rank of rate 0 gets none.
    """
    shares = list(floors)
    queue = [((shares[rank] + 1) / rate, rank) for rank, rate in enumerate(rates) if rate]
    heapify(queue)
    for _ in range(total - sum(shares)):
        rank = queue[0][1]
        shares[rank] += 1
        heapreplace(queue, ((shares[rank] + 1) / rates[rank], rank))
    return tuple(shares)


def largest_remainder(x: Floats, n: int) -> tuple[int, ...]:
    """Counts that add up to ``n`` exactly, each the floor or the ceiling of its share.

    Each share gets its floor; the remaining units go to the greatest fractions, on a tie to low ranks. ``x``
    is at least one share, none negative, and the shares add up to n except for rounding.
    """
    share = np.maximum(x, 0.0)
    counts = np.floor(share).astype(np.int64)
    order = np.argsort(counts - share, kind="stable")
    while left := n - int(counts.sum()):  # more than once only for numbers that doubles cannot tell apart
        if left > 0:
            counts[order[:left]] += 1
        else:
            givers = order[::-1][counts[order[::-1]] > 0]
            counts[givers[:-left]] -= 1
    return tuple(counts.tolist())


def _below(total: int, speeds: Sequence[float], least: Sequence[int]) -> list[int]:
    """What each rank has at least in some optimal shares: its real share rounded down, or its least."""
    held: set[int] = set()
    while len(held) < len(speeds):
        free = total - sum([least[rank] for rank in held])
        rate = free / fsum([speed for rank, speed in enumerate(speeds) if rank not in held]) * _JUST_BELOW
        shares = [int(rate * speed) for speed in speeds]
        for rank in held:
            shares[rank] = least[rank]
        if not any(map(lt, shares, least)):
            return shares
        held.update(rank for rank, share in enumerate(shares) if share < least[rank])
    return list(least)


def _checked(n: int, ranks: int) -> int:
    if n < 0 or ranks < 1:
        raise ValueError(f"expected 0 or more iterations and at least 1 rank, found {n} and {ranks}")
    return ranks


@dataclass(frozen=True, slots=True)
class InitialPartition:
    """How a run of a loop is dealt at its start, alike on all ranks: units, shares by rank, and work."""

    units: Units
    shares: tuple[Spans, ...]
    work_table: WorkTable = UNIFORM
