"""The balancer of a rank whose group may exchange work with others: windows, and rounds of all groups.

A window is followed by a round (`dlbrt.core.rounds`, with the law of it) if its group has run out, or was
summoned. A rank that is summoned gives its profile, as one that is interrupted does; what it has reserved it
works on until the round is over. Everything else is as in `Balancer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.core.actions import Action, Finish, State, Summon
from dlbrt.core.agent import Account
from dlbrt.core.balancer import Balancer
from dlbrt.core.decision import Decision
from dlbrt.core.events import Stated, Summoned, Waited
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.strategy import Situation, Strategy, leave
from dlbrt.dist.spans import EMPTY, Spans
from dlbrt.dist.transfer import Transfer

if TYPE_CHECKING:
    from dlbrt.core.model.groups import Groups
    from dlbrt.core.rounds import Rounds

__all__ = ["Regrouping"]


class Regrouping(Balancer):
    """A balancer that takes part in rounds where the rules of groups say so, and there are groups."""

    rounds: Rounds | None = None
    _wished = -1  # the highest round that somebody has asked for
    _left = EMPTY  # what this rank still had when its group came to a round

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {**super()._handlers(), Summoned: cls._summoned, Stated: cls._stated}

    def account(self) -> Account:
        """Of rounds each rank has what it saw."""
        past = tuple(self.rounds.past) if self.rounds is not None else ()
        return Account(windows=past) + super().account()

    def _take(self, strategy: Strategy, began_at: float) -> None:
        groups = self._groups if strategy.local else ()
        rounds = self._rules.rounds and len(groups) > 1
        self.rounds = self._first_rounds(groups, began_at) if rounds else None
        super()._take(strategy, began_at)

    def _first_rounds(self, groups: Groups, began_at: float) -> Rounds:
        from dlbrt.core.rounds import Rounds

        return Rounds(self.books, groups, self._rules.dynamic, began_at)

    @property
    def _regroups(self) -> bool:
        """Whether another group has asked for the next round."""
        return self.rounds is not None and self.rounds.number <= self._wished

    @property
    def _may_serve(self) -> bool:
        return self.rounds is not None or super()._may_serve

    def _summoned(self, event: Summoned) -> tuple[Action, ...]:
        window = self._window
        self._wished = max(self._wished, event.round)
        if self._over or not self._regroups:
            return ()
        if self.rounds is not None and self.rounds.came:
            window.interrupt_at = None  # all have been summoned
        silent = window.given or self._commitment.awaited
        return () if silent else self._give_profile(event.now, self._reserve())

    def _ask(self) -> Action:
        if self.rounds is not None and self.rounds.came:
            return Summon(self.rounds.number, self.rounds.outside(self.books.members))
        return super()._ask()

    def _reserve(self) -> int:
        """None, if all wait for what this rank says for its group at a round."""
        if self._regroups and self.rank == self.books.members[0]:
            return 0
        return super()._reserve()

    def _settled(
        self, now: float, profiles: Sequence[Profile], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Action, ...]:
        regroups = self.rounds is not None and any(profile.regroups for profile in profiles)
        return super()._settled(now, profiles, leave if regroups else decide)

    def _close_window(
        self,
        now: float,
        held: Sequence[Spans],
        profiles: Sequence[Profile],
        transfers: tuple[Transfer, ...],
    ) -> tuple[Action, ...]:
        rounds, books = self.rounds, self.books
        if rounds is None or (any(books.shares) and not any(profile.regroups for profile in profiles)):
            return super()._close_window(now, held, profiles, transfers)
        remaining = [share.part(profile.done) for share, profile in zip(held, profiles, strict=True)]
        return self._come(rounds, now, remaining, [profile.reserved for profile in profiles])

    def _come(
        self, rounds: Rounds, now: float, remaining: Sequence[Spans], reserved: Sequence[int]
    ) -> tuple[Action, ...]:
        """The group comes to a round; of what its members had left they keep so much."""
        books, window = self.books, self._window
        rounds.came, head = True, self.rank == books.members[0]
        self._left = remaining[books.place(self.rank)]
        asks = head and not any(books.shares) and not self._regroups
        window.interrupt_at = rounds.asks_at(books, now, window.unit_s) if asks else None
        if self.failed_at != NO_FAILURE:
            window.stop()
        if not head:
            return (State(rounds.number, None, rounds.heads),)
        rounds.past.extend(books.windows)
        statement = books.statement(list(map(books.wanted_of_first, remaining, reserved)))
        return (State(rounds.number, statement, rounds.heads), *self._waited(Waited(now)))

    def _stated(self, event: Stated) -> tuple[Action, ...]:
        """Every group has come: all ranks have the same picture, and go on by it."""
        rounds, window, now = self.rounds, self._window, event.now
        if rounds is None or not rounds.came:
            raise ValueError(f"a round was held to which rank {self.rank} had not come")
        self.books, reserved = self.books.joined(event.statements, self.terms)
        transfers = self.books.redistribute(reserved, self.strategy.decide)
        rounds.over(self.books, now)
        over, ahead = self.books.standing.over, self.books.wanted_of_first(self._left, window.ahead)
        self._groups = rounds.groups
        self._part(self._groups)
        if over:
            self.center, window.work, self._over = None, EMPTY, True
            return (Finish(),)
        self._open_window(now, ahead, window.ahead_s)
        return (*self._moves(transfers), *self._take_early(), *self._next(now))
