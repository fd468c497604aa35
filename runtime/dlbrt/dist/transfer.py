"""Who gives which positions to whom, once new shares are decided.

Every balancer plans alike from the same figures, so the plan is deterministic: largest surplus to largest
deficit, but an exact match first, since it settles two ranks with one message. Each message settles at
least one rank and the last one two, so there are at most givers + receivers - 1 of them. Positions are given
from the end of the giver's execution order: what it executes next stays with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.spans import EMPTY, Spans

__all__ = ["Transfer", "apply", "plan_transfers"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Positions that move from one rank to another, in one message."""

    source: int
    target: int
    spans: Spans


def plan_transfers(
    remaining: Sequence[Spans], shares: Sequence[int], amounts: Amounts = UNIFORM
) -> tuple[Transfer, ...]:
    """Transfers after which rank r holds shares[r] of the work, by source and target.

    Exactly so where all positions are the same amount, else to the nearest position of each message.
    ValueError unless there is one share of 0 or more for each rank and they sum to what remains.
    """
    held = [amounts.of(spans) for spans in remaining]
    if len(shares) != len(held) or sum(shares) != sum(held) or min(shares, default=0) < 0:
        raise ValueError(f"expected {len(held)} shares with the sum {sum(held)}, found {list(shares)}")
    surplus = [have - share for have, share in zip(held, shares, strict=True)]
    gifts: dict[int, list[tuple[int, int]]] = {}
    for source, target, amount in _match(surplus):
        gifts.setdefault(source, []).append((target, amount))
    return tuple(
        transfer
        for source in sorted(gifts)
        for transfer in _cut(source, remaining[source], sorted(gifts[source]), amounts)
        if transfer.spans
    )


def apply(remaining: Sequence[Spans], transfers: Sequence[Transfer]) -> tuple[Spans, ...]:
    """What each rank holds after the transfers, which :func:`plan_transfers` made for ``remaining``."""
    held = list(remaining)
    given = [0] * len(held)
    for transfer in transfers:
        given[transfer.source] += len(transfer.spans)
    for rank, amount in enumerate(given):
        if amount:
            held[rank], _ = held[rank].last(amount)
    received: dict[int, Spans] = {}
    for transfer in transfers:
        received[transfer.target] = received.get(transfer.target, EMPTY).union(transfer.spans)
    for rank, spans in received.items():
        held[rank] = held[rank].union(spans)
    return tuple(held)


def _cut(source: int, spans: Spans, gifts: list[tuple[int, int]], amounts: Amounts) -> list[Transfer]:
    """The end of the giver's positions, cut for its receivers."""
    _, tail = amounts.last(spans, sum(amount for _, amount in gifts))
    transfers = []
    for place, (target, amount) in enumerate(gifts, 1):
        part, tail = amounts.first(tail, amount) if place < len(gifts) else (tail, EMPTY)
        transfers.append(Transfer(source, target, part))
    return transfers


def _match(surplus: Sequence[int]) -> list[tuple[int, int, int]]:
    """(giver, receiver, amount) until nobody has more or less than its share."""
    givers = _Side({rank: amount for rank, amount in enumerate(surplus) if amount > 0})
    takers = _Side({rank: -amount for rank, amount in enumerate(surplus) if amount < 0})
    matched = [
        (giver, taker, amount)
        for amount in sorted(set(givers.ranks) & set(takers.ranks), reverse=True)
        for giver, taker in zip(sorted(givers.ranks[amount]), sorted(takers.ranks[amount]), strict=False)
    ]
    for giver, taker, amount in matched:
        givers.lower(giver, amount)
        takers.lower(taker, amount)
    while givers:
        matched.append(_settle(givers, takers))
    return matched


def _settle(givers: _Side, takers: _Side) -> tuple[int, int, int]:
    """The next message: an exact match for the largest giver or taker, else the largest of both."""
    giver, taker = givers.largest(), takers.largest()
    exact_taker = takers.lowest(givers.amounts[giver])
    exact_giver = givers.lowest(takers.amounts[taker])
    if exact_taker is not None:
        taker = exact_taker
    elif exact_giver is not None:
        giver = exact_giver
    amount = min(givers.amounts[giver], takers.amounts[taker])
    givers.lower(giver, amount)
    takers.lower(taker, amount)
    return giver, taker, amount


class _Side:
    """Ranks with what each has still to give (or to take): the largest, or those with a given amount."""

    def __init__(self, amounts: dict[int, int]) -> None:
        self.amounts = amounts
        self.ranks: dict[int, set[int]] = {}
        for rank, amount in amounts.items():
            self.ranks.setdefault(amount, set()).add(rank)
        self._heap = [(-amount, rank) for rank, amount in amounts.items()]
        heapify(self._heap)

    def __bool__(self) -> bool:
        return bool(self.amounts)

    def largest(self) -> int:
        """The rank with the largest amount, the lowest of equals."""
        while self.amounts.get(self._heap[0][1]) != -self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][1]

    def lowest(self, amount: int) -> int | None:
        """The lowest rank with exactly this amount."""
        return min(self.ranks.get(amount, ()), default=None)

    def lower(self, rank: int, by: int) -> None:
        """The rank gave (or took) so much."""
        old = self.amounts.pop(rank)
        self.ranks[old].discard(rank)
        if not self.ranks[old]:
            del self.ranks[old]
        if old > by:
            self.amounts[rank] = old - by
            self.ranks.setdefault(old - by, set()).add(rank)
            heappush(self._heap, (by - old, rank))
