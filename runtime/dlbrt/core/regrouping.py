"""The balancer of a rank whose group may exchange work with others: windows, and rounds of all groups.

A window is followed by a round (`dlbrt.core.rounds`, with the law of it) if its group has run out, or was
summoned. A rank that is summoned gives its profile, as one that is interrupted does; what it has reserved it
works on until the round is over. Everything else is as in `Balancer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dlbrt.core.actions import Action, Finish, State, Summon
from dlbrt.core.balancer import Balancer
from dlbrt.core.events import Stated, Summoned, Waited
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.rounds import Rounds
from dlbrt.core.strategy import Strategy
from dlbrt.dist.spans import EMPTY, Spans

__all__ = ["Regrouping"]


class Regrouping(Balancer):
    """A balancer that takes part in rounds where the rules of groups say so, and there are groups."""

    _wished = -1  # the highest round that somebody has asked for
    _left = EMPTY  # what this rank still had when its group came to a round

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {**super()._handlers(), Summoned: cls._summoned, Stated: cls._stated}

    def _take(self, strategy: Strategy, began_at: float) -> None:
        groups = self._groups if strategy.local else ()
        rounds = self._rules.rounds and len(groups) > 1
        self.rounds = Rounds(self.books, groups, self._rules.dynamic, began_at) if rounds else None
        super()._take(strategy, began_at)

    @property
    def _regroups(self) -> bool:
        """Whether another group has asked for the next round."""
        return self.rounds is not None and self.rounds.number <= self._wished

    def _summoned(self, event: Summoned) -> tuple[Action, ...]:
        self._wished = max(self._wished, event.round)
        if self._over or not self._regroups:
            return ()
        if self.rounds is not None and self.rounds.came:
            self._interrupt_at = None  # all have been summoned
        return () if self._given or self._awaits else self._give_profile(event.now, self._reserve())

    def _ask(self) -> Action:
        if self.rounds is not None and self.rounds.came:
            return Summon(self.rounds.number, self.rounds.outside(self.books.members))
        return super()._ask()

    def _meet(
        self, now: float, held: Sequence[Spans], profiles: Sequence[Profile]
    ) -> tuple[Action, ...] | None:
        rounds, books = self.rounds, self.books
        if rounds is None or (any(books.shares) and not any(profile.regroups for profile in profiles)):
            return None
        rounds.came, head = True, self.rank == books.members[0]
        remaining = [share.part(profile.done) for share, profile in zip(held, profiles, strict=True)]
        self._left = remaining[books.place(self.rank)]
        asks = head and not any(books.shares) and not self._regroups
        self._interrupt_at = rounds.asks_at(books, now, self._iteration_s) if asks else None
        if self.failed_at != NO_FAILURE:
            self._reserved = self._ahead
        if not head:
            return (State(rounds.number, None, rounds.heads),)
        rounds.past.extend(books.windows)
        reserved = [profile.reserved for profile in profiles]
        statement = books.statement(list(map(books.wanted_of_first, remaining, reserved)))
        return (State(rounds.number, statement, rounds.heads), *self._waited(Waited(now)))

    def _stated(self, event: Stated) -> tuple[Action, ...]:
        """Every group has come: all ranks have the same picture, and go on by it."""
        rounds, now = self.rounds, event.now
        if rounds is None or not rounds.came:
            raise ValueError(f"a round was held to which rank {self.rank} had not come")
        self.books, reserved = self.books.joined(event.statements, self.terms)
        transfers = self.books.redistribute(reserved, self.strategy.decide)
        ahead = self.books.wanted_of_first(self._left, self._ahead)
        self.work, self._over = self.books.share(self.rank).part(ahead), not any(self.books.shares)
        rounds.over(self.books, now)
        self._groups = rounds.groups
        self._part(self._groups)
        if self._over:
            self.center = None
            return (Finish(),)
        self._open_window(now, ahead, self._ahead_s)
        return (*self._moves(transfers), *self._take_early(), *self._next(now))
