"""Who gives which positions to whom, once new shares are decided.

Every balancer plans alike from the same figures, so the plan is deterministic. Nobody gives and takes. Fewest
messages: where surpluses and deficits fall apart into k sets of sum zero, as many as there can be, givers +
takers - k messages do, and no fewer. To find the most sets is NP-hard (partition is a case of it), so small
ones are looked for: a giver and a taker of the same amount, then two of one side and one of the other, among
a bounded number of ranks. The others are settled one after the other, largest with largest, except where
what is left of one is what another wants: each message settles a rank and the last one two, so there are at
most givers + takers - 1 of them.

Positions are given from the end of the giver's execution order: what it executes next stays with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import sub
from typing import NamedTuple

from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import UNIFORM, WorkTable
from dlbrt.records import dataclass

#: So many givers and takers are looked at for threes.
_LOOKED_AT = 32


class Assignment(NamedTuple):
    """So much work is to go from one rank to another."""

    source: int
    target: int
    amount: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """Positions that move from one rank to another, in one message."""

    source: int
    target: int
    spans: Spans


@dataclass(frozen=True, slots=True)
class Plan:
    """The transfers, by source and target, and what each rank holds after them."""

    transfers: tuple[Transfer, ...]
    shares: tuple[Spans, ...]


def plan_transfers(
    remaining: Sequence[Spans],
    shares: Sequence[int],
    work_table: WorkTable = UNIFORM,
    kept: Sequence[int] = (),
) -> Plan:
    """How rank r comes to hold shares[r] of the work, for each r.

    Exactly so where all positions are the same amount, else to the nearest position of each message. The
    first ``kept`` positions of each rank, whose work its share covers, stay with it and stay first.
    ValueError unless there is one share of 0 or more for each rank and they sum to what remains.
    """
    held = list(map(work_table.of, remaining))
    if len(shares) != len(held) or sum(shares) != sum(held) or min(shares, default=0) < 0:
        raise ValueError(f"expected {len(held)} shares with the sum {sum(held)}, found {list(shares)}")
    return _carried(remaining, _match(list(map(sub, held, shares))), shares, work_table, kept)


def plan_assignments(
    remaining: Sequence[Spans],
    assignments: Sequence[Assignment],
    work_table: WorkTable = UNIFORM,
    kept: Sequence[int] = (),
) -> Plan:
    """What comes of these gifts, each to the nearest position; at most one from a rank to another.

    A rank gives of what it holds, nothing of what it is given. ValueError where it holds less.
    """
    held = list(map(work_table.of, remaining))
    left = held.copy()
    for assignment in assignments:
        left[assignment.source] -= assignment.amount
    for rank, (have, stays) in enumerate(zip(held, left, strict=True)):
        if stays < 0:
            found = have - stays
            raise ValueError(f"expected gifts of rank {rank} up to the {have} that it holds, found {found}")
    return _carried(remaining, assignments, left, work_table, kept)


def _carried(
    remaining: Sequence[Spans],
    assignments: Sequence[tuple[int, int, int]],
    left: Sequence[int],
    work_table: WorkTable,
    kept: Sequence[int],
) -> Plan:
    """The transfers of (giver, taker, amount); ``left`` is what givers are left with of their own."""
    kept = kept or (0,) * len(remaining)
    after = list(remaining)
    transfers: list[Transfer] = []
    received: dict[int, list[range]] = {}
    source, spans, low, reached = -1, EMPTY, 0, 0
    for giver, taker, amount in sorted(assignments):
        if giver != source:
            source, spans, reached = giver, remaining[giver], left[giver]
            low = max(kept[giver], work_table.count(spans, reached))
            after[giver] = spans.part(0, low)
        reached += amount  # a piece ends where so much is before it
        high = work_table.count(spans, reached)
        if high > low:
            piece = spans.part(low, high)
            transfers.append(Transfer(giver, taker, piece))
            received.setdefault(taker, []).extend(piece.runs)
            low = high
    for taker, runs in received.items():
        after[taker] = after[taker].joined(runs, kept[taker])
    return Plan(tuple(transfers), tuple(after))


def _match(surplus: Sequence[int]) -> list[tuple[int, int, int]]:
    """(giver, taker, amount) until nobody has more or less than its share."""
    givers = _Side([(amount, rank) for rank, amount in enumerate(surplus) if amount > 0])
    takers = _Side([(-amount, rank) for rank, amount in enumerate(surplus) if amount < 0])
    matched = _pairs(givers, takers)
    matched += _threes(givers, takers)
    matched += [(giver, taker, amount) for taker, giver, amount in _threes(takers, givers)]
    return matched + _settled(givers, takers)


def _pairs(givers: _Side, takers: _Side) -> list[tuple[int, int, int]]:
    """Those who have, and want, the same amount."""
    matched = []
    for amount in sorted(givers.ranks.keys() & takers.ranks.keys(), reverse=True):
        pairs = min(len(givers.ranks[amount]), len(takers.ranks[amount]))
        matched += [(givers.take(amount), takers.take(amount), amount) for _ in range(pairs)]
    return matched


def _threes(ones: _Side, others: _Side) -> list[tuple[int, int, int]]:
    """One of a side with two of the other, whose amounts are its own together, among the largest of both."""
    matched = []
    some = others.largest(_LOOKED_AT)
    for amount in ones.largest(_LOOKED_AT):
        for part in [part for part in some if amount - part in others.ranks]:
            if others.has(part, amount - part):
                one = ones.take(amount)
                matched += [(one, others.take(each), each) for each in (part, amount - part)]
                break
    return matched


def _settled(givers: _Side, takers: _Side) -> list[tuple[int, int, int]]:
    """All that are left: each message settles a rank, or two where the amounts meet."""
    matched: list[tuple[int, int, int]] = []
    have = want = giver = taker = 0
    while have or givers.ranks:
        if not have:
            have, giver = givers.take_largest()
        if not want:
            want, taker = takers.take_largest()
        if have != want and have in takers.ranks:
            matched.append((giver, takers.take(have), have))
            have = 0
        elif have != want and want in givers.ranks:
            matched.append((givers.take(want), taker, want))
            want = 0
        else:
            amount = min(have, want)
            matched.append((giver, taker, amount))
            have, want = have - amount, want - amount
    return matched


class _Side:
    """Ranks by what each has to give (or to take), the lowest last."""

    def __init__(self, quantities: Sequence[tuple[int, int]]) -> None:
        self.ranks: dict[int, list[int]] = {}
        for amount, rank in reversed(quantities):
            self.ranks.setdefault(amount, []).append(rank)
        self._sorted = sorted(self.ranks)

    def has(self, one: int, other: int) -> bool:
        """Whether there are two ranks of these amounts."""
        return one in self.ranks and other in self.ranks and (one != other or len(self.ranks[one]) > 1)

    def largest(self, count: int) -> list[int]:
        """So many amounts that ranks have, descending."""
        return list(islice(filter(self.ranks.__contains__, reversed(self._sorted)), count))

    def take(self, amount: int) -> int:
        """The lowest rank with this amount, which is settled by that."""
        ranks = self.ranks[amount]
        rank = ranks.pop()
        if not ranks:
            del self.ranks[amount]
        return rank

    def take_largest(self) -> tuple[int, int]:
        """The largest amount, and the lowest rank that has it, likewise."""
        while self._sorted[-1] not in self.ranks:
            self._sorted.pop()
        return self._sorted[-1], self.take(self._sorted[-1])
