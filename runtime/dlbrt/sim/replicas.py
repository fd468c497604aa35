"""Books that many replicas keep as one: the first to settle a window computes, the others take it over.

A replicated balancer (Zaki, Li, Parthasarathy, section 1.2.1) does the same arithmetic on every member of a
group. On P processors that costs nothing; in one process it costs P times as much. A window cannot close
before every member has closed the one before it, so the latest one of each group is all there is to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dlbrt.core.books import Books, Terms
from dlbrt.core.decision import Decision
from dlbrt.core.profile import Profile
from dlbrt.core.statement import Statement
from dlbrt.core.strategy import Situation
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer

__all__ = ["Latest", "Replica"]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A window as it was settled: its number, by what, the books afterwards, the movement."""

    epoch: int
    profiles: tuple[Profile, ...]
    books: dict[str, Any]
    transfers: tuple[Transfer, ...]


#: The window of each group that was settled last.
Latest = dict[tuple[int, ...], _Settled]


class Replica(Books):
    """One of the books that share ``latest``."""

    def __init__(
        self,
        members: Sequence[int],
        shares: Sequence[Spans],
        terms: Terms,
        latest: Latest,
    ) -> None:
        super().__init__(members, shares, terms)
        self._latest = latest

    def of(self, members: Sequence[int]) -> Replica:
        """As `Books.of`."""
        part = Replica(members, (), self.terms, self._latest)
        vars(part).update(vars(super().of(members)))
        return part

    def joined(self, statements: Sequence[Statement], terms: Terms) -> tuple[Books, tuple[int, ...]]:
        """As `Books.joined`."""
        found, kept = super().joined(statements, terms)
        whole = Replica(found.members, (), terms, self._latest)
        vars(whole).update(vars(found))
        return whole, kept

    def settle(
        self, profiles: Sequence[Profile], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        """As `Books.settle`; ValueError if another replica settled the window by other profiles."""
        known = self._latest.get(self.members)
        if known is None or known.epoch != self.epoch:
            epoch, given = self.epoch, tuple(profiles)
            transfers = super().settle(profiles, decide)
            self._latest[self.members] = _Settled(epoch, given, dict(vars(self)), transfers)
            return transfers
        if known.profiles != tuple(profiles):
            raise ValueError(f"two replicas of {self.members} have other profiles of window {known.epoch}")
        vars(self).update(known.books)
        return known.transfers
