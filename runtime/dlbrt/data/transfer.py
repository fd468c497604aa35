"""Which positions move from rank to rank once new shares are decided.

All balancers plan alike from the same figures, so the plan is deterministic. No rank both gives and takes.
The number of messages is kept low: where surpluses and deficits split into at most k sets of sum zero, givers
+ takers - k messages suffice and are necessary. Finding the largest k is NP-hard (partition is a special
case), so only small sets are looked for among a bounded number of ranks: a giver and a taker of the same
amount, then two ranks of one side and one of the other. The remaining ranks are settled largest with largest,
except where what is left of one is what another wants. Each message settles one rank and the last message
two, so there are at most givers + takers - 1 messages.

A giver gives positions from the end of its execution order, so that it keeps what it executes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import sub
from typing import NamedTuple

from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import UNIFORM, WorkTable
from dlbrt.records import dataclass

#: How many of the largest givers and takers are searched for sets of three.
_SEARCHED = 32


class Assignment(NamedTuple):
    """An amount of work that is to go from one rank to another."""

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
    """The transfers after which each rank r holds shares[r] of the work.

    This is exact where all positions are the same amount of work; otherwise each message is cut at the
    nearest position. The first ``kept`` positions of each rank, whose work its share covers, stay with it and
    stay first. ValueError unless there is one share of 0 or more for each rank and they sum to the remaining
    work.
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
    """The transfers that carry out the assignments, each cut at the nearest position.

    There is at most one assignment from a rank to another. A rank gives only of what it holds now, not of
    what it receives; ValueError if it holds less.
    """
    held = list(map(work_table.of, remaining))
    left = held.copy()
    for assignment in assignments:
        left[assignment.source] -= assignment.amount
    for rank, (have, stays) in enumerate(zip(held, left, strict=True)):
        if stays < 0:
            found = have - stays
            raise ValueError(f"expected rank {rank} to give at most the {have} that it holds, found {found}")
    return _carried(remaining, assignments, left, work_table, kept)


def _carried(
    remaining: Sequence[Spans],
    assignments: Sequence[tuple[int, int, int]],
    left: Sequence[int],
    work_table: WorkTable,
    kept: Sequence[int],
) -> Plan:
    """The transfers of (giver, taker, amount); ``left`` is the work of their own that givers keep."""
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
        reached += amount  # the piece ends where this much work precedes it
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
    """(giver, taker, amount) after which every rank has its share."""
    givers = _Side([(amount, rank) for rank, amount in enumerate(surplus) if amount > 0])
    takers = _Side([(-amount, rank) for rank, amount in enumerate(surplus) if amount < 0])
    matched = _pairs(givers, takers)
    matched += _threes(givers, takers)
    matched += [(giver, taker, amount) for taker, giver, amount in _threes(takers, givers)]
    return matched + _settled(givers, takers)


def _pairs(givers: _Side, takers: _Side) -> list[tuple[int, int, int]]:
    """Pairs of a giver and a taker of the same amount."""
    matched = []
    for amount in sorted(givers.ranks.keys() & takers.ranks.keys(), reverse=True):
        pairs = min(len(givers.ranks[amount]), len(takers.ranks[amount]))
        matched += [(givers.take(amount), takers.take(amount), amount) for _ in range(pairs)]
    return matched


def _threes(ones: _Side, others: _Side) -> list[tuple[int, int, int]]:
    """Sets of one rank of a side and two of the other that add up to its amount, among the largest."""
    matched = []
    some = others.largest(_SEARCHED)
    for amount in ones.largest(_SEARCHED):
        for part in [part for part in some if amount - part in others.ranks]:
            if others.has(part, amount - part):
                one = ones.take(amount)
                matched += [(one, others.take(each), each) for each in (part, amount - part)]
                break
    return matched


def _settled(givers: _Side, takers: _Side) -> list[tuple[int, int, int]]:
    """The remaining ranks: each message settles one rank, or two where their amounts are equal."""
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
    """Ranks by the amount that each has to give (or to take), the lowest rank last."""

    def __init__(self, quantities: Sequence[tuple[int, int]]) -> None:
        self.ranks: dict[int, list[int]] = {}
        for amount, rank in reversed(quantities):
            self.ranks.setdefault(amount, []).append(rank)
        self._sorted = sorted(self.ranks)

    def has(self, one: int, other: int) -> bool:
        """Whether there are two different ranks with these amounts."""
        return one in self.ranks and other in self.ranks and (one != other or len(self.ranks[one]) > 1)

    def largest(self, count: int) -> list[int]:
        """The ``count`` largest amounts that ranks have, descending."""
        return list(islice(filter(self.ranks.__contains__, reversed(self._sorted)), count))

    def take(self, amount: int) -> int:
        """Remove and return the lowest rank with this amount."""
        ranks = self.ranks[amount]
        rank = ranks.pop()
        if not ranks:
            del self.ranks[amount]
        return rank

    def take_largest(self) -> tuple[int, int]:
        """Remove the lowest rank with the largest amount; returns the amount and the rank."""
        while self._sorted[-1] not in self.ranks:
            self._sorted.pop()
        return self._sorted[-1], self.take(self._sorted[-1])
