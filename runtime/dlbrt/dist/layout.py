"""How positions are dealt to ranks that are alike, BLOCK and CYCLIC; and numbers divided by weight.

Numbers are divided so that the last to finish finishes earliest (`quickest`). Each rank gets the whole part
of its real share, as some best shares always have it, and what is left goes one by one to where it is done
soonest: figure 1 of Ciegis et al. (1996), second stage. Rounding to the nearest may give a slow rank a unit
too many, which hurts when few are left. Real shares are taken a little low, since in doubles the floor of
m w_j / W already goes wrong in that paper's example 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import accumulate, pairwise
from math import fsum, isfinite
from operator import lt

from dlbrt.dist.spans import Spans

__all__ = ["block", "cyclic", "in_turns", "quickest"]

#: Times a real share in doubles, at most five roundings off: at or below the true one.
_JUST_BELOW = 1 - 2**-50


def block(n: int, ranks: int) -> tuple[Spans, ...]:
    """Contiguous blocks of n positions, sizes differing by at most 1, the larger ones first."""
    size, more = divmod(n, _checked(n, ranks))
    return _blocks([size + (rank < more) for rank in range(ranks)])


def cyclic(n: int, ranks: int) -> tuple[Spans, ...]:
    """Position p goes to rank p mod ranks."""
    return tuple(Spans.of(range(rank, n, ranks)) for rank in range(_checked(n, ranks)))


def in_turns(n: int, ranks: int, turns: int) -> tuple[Spans, ...]:
    """The counts of `block`, each rank's in ``turns`` blocks, dealt in turn: a fair sample for each.

    Unlike cyclic shares they are runs without gaps, however short. ValueError for turns below 1.
    """
    if turns < 1:
        raise ValueError(f"expected at least 1 turn, found {turns}")
    counts = [len(share) for share in block(n, ranks)]
    runs: list[list[range]] = [[] for _ in counts]
    begin = 0
    for turn in range(turns):
        for own, count in zip(runs, counts, strict=True):
            end = begin + count // turns + (turn < count % turns)
            own += [range(begin, end)] if end > begin else []
            begin = end
    return tuple(Spans(tuple(own)) for own in runs)


def quickest(total: int, speeds: Sequence[float], least: Sequence[int] = ()) -> tuple[int, ...]:
    """Integer shares of ``total``, none below ``least``, with the earliest end: max(share / speed) is least.

    Ties go to low ranks. Only sums, products and quotients, each correctly rounded, so that the shares are
    the same on any machine. ValueError for a speed that is not above 0 or not finite, or ``least`` of
    another number of ranks, below 0 or with a sum above the total.
    """
    floors = tuple(least) or (0,) * len(speeds)
    if not speeds or not (min(speeds) > 0 and isfinite(fsum(speeds))):
        raise ValueError(f"expected at least one speed, each above 0, found {list(speeds)}")
    if len(floors) != len(speeds) or min(floors) < 0 or sum(floors) > total:
        raise ValueError(
            f"expected {len(speeds)} least shares with a sum up to {total}, found {list(floors)}"
        )
    shares = _below(total, speeds, floors)
    queue = [
        ((share + 1) / speed, rank) for rank, (share, speed) in enumerate(zip(shares, speeds, strict=True))
    ]
    heapify(queue)
    for _ in range(total - sum(shares)):
        rank = queue[0][1]
        shares[rank] += 1
        heapreplace(queue, ((shares[rank] + 1) / speeds[rank], rank))
    return tuple(shares)


def _below(total: int, speeds: Sequence[float], least: Sequence[int]) -> list[int]:
    """What each rank has in some best shares: its real share rounded down; or its least, if that is more."""
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


def _blocks(sizes: Sequence[int]) -> tuple[Spans, ...]:
    bounds = accumulate(sizes, initial=0)
    return tuple(Spans.of(range(low, high)) for low, high in pairwise(bounds))


def _checked(n: int, ranks: int) -> int:
    if n < 0 or ranks < 1:
        raise ValueError(f"expected 0 or more iterations and at least 1 rank, found {n} and {ranks}")
    return ranks
