"""How positions are dealt to ranks that are alike, BLOCK and CYCLIC; and numbers divided by weight.

Numbers are divided by largest remainder, which keeps each share within one of its proportion, in exact
arithmetic: in doubles the floor of m w_j / W already goes wrong in example 1 of Ciegis et al. (1996). That is
what decisions during a run use. It is not figure 1 of that paper, which gives the remaining rows to those who
finish them first, and by which loops are dealt at their start (`core.partition.initial`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite, lcm

from dlbrt.dist.spans import Spans

__all__ = ["block", "cyclic", "in_turns", "proportional"]


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


def proportional(total: int, weights: Sequence[float]) -> tuple[int, ...]:
    """Integer shares of ``total`` in proportion to the weights, by largest remainder; their sum is total.

    Exact for any size: every finite float is a fraction, and all are brought to one denominator. Ties
    go to the lowest index; a zero weight gets 0, and if all are zero the shares are equal. ValueError for
    a negative total, no weights, or a weight that is negative or not finite.
    """
    if total < 0 or not weights:
        raise ValueError(f"expected a total of 0 or more and at least one weight, found {total}, {weights}")
    whole = _integers(weights)
    unit = sum(whole)
    if not unit:
        whole, unit = [1] * len(whole), len(whole)
    parts = [divmod(total * weight, unit) for weight in whole]
    shares = [share for share, _ in parts]
    # Fewer units are left than there are positive remainders, so a zero weight gets none of them.
    for index in sorted(range(len(parts)), key=lambda index: -parts[index][1])[: total - sum(shares)]:
        shares[index] += 1
    return tuple(shares)


def _integers(weights: Sequence[float]) -> list[int]:
    """Integers in exactly the proportion of the weights."""
    for weight in weights:
        if not (weight >= 0 and isfinite(weight)):
            raise ValueError(f"expected weights of 0 or more, found {weight}")
    ratios = [weight.as_integer_ratio() for weight in weights]
    common = lcm(*(denominator for _, denominator in ratios))
    return [numerator * (common // denominator) for numerator, denominator in ratios]


def _blocks(sizes: Sequence[int]) -> tuple[Spans, ...]:
    bounds = accumulate(sizes, initial=0)
    return tuple(Spans.of(range(low, high)) for low, high in pairwise(bounds))


def _checked(n: int, ranks: int) -> int:
    if n < 0 or ranks < 1:
        raise ValueError(f"expected 0 or more iterations and at least 1 rank, found {n} and {ranks}")
    return ranks
