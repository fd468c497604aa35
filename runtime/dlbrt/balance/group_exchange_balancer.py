"""The balancer of a rank whose group may exchange work with others: windows, and rounds of all groups.

A window is followed by a round (`dlbrt.balance.group_exchange`, with the law of it) if its group has run out, or was
summoned. A rank that is summoned gives its profile, as one that is interrupted does; what it has reserved it
works on until the round is over. Everything else is as in `Balancer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance.actions import Action, Finish, RequestGroupExchange, SendGroupReport
from dlbrt.balance.agent import BalancingCounts
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.decision import Decision
from dlbrt.balance.events import GroupExchangeRequested, GroupReportsReceived, TimeElapsed
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategy import DecisionInputs, Strategy, defer_to_exchange
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.transfer import Transfer

if TYPE_CHECKING:
    from dlbrt.balance.group_exchange import GroupExchange
    from dlbrt.predict.groups import Groups


class GroupExchangeBalancer(Balancer):
    """A balancer that takes part in rounds where the rules of groups say so, and there are groups."""

    rounds: GroupExchange | None = None
    _requested_round = -1  # the highest round that somebody has asked for
    _left = EMPTY  # what this rank still had when its group came to a round

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {
            **super()._handlers(),
            GroupExchangeRequested: cls._group_exchange_requested,
            GroupReportsReceived: cls._group_reports_received,
        }

    def counts(self) -> BalancingCounts:
        """Of rounds each rank has what it saw."""
        past_windows = tuple(self.rounds.past_windows) if self.rounds is not None else ()
        return BalancingCounts(windows=past_windows) + super().counts()

    def _take(self, strategy: Strategy, began_at: float) -> None:
        groups = self._groups if strategy.local else ()
        rounds = self._rules.rounds and len(groups) > 1
        self.rounds = self._first_rounds(groups, began_at) if rounds else None
        super()._take(strategy, began_at)

    def _first_rounds(self, groups: Groups, began_at: float) -> GroupExchange:
        from dlbrt.balance.group_exchange import GroupExchange

        return GroupExchange(self.group_state, groups, self._rules.dynamic, began_at)

    @property
    def _exchange_requested(self) -> bool:
        """Whether another group has asked for the next round."""
        return self.rounds is not None and self.rounds.number <= self._requested_round

    @property
    def _may_serve(self) -> bool:
        return self.rounds is not None or super()._may_serve

    def _group_exchange_requested(self, event: GroupExchangeRequested) -> tuple[Action, ...]:
        window = self._window
        self._requested_round = max(self._requested_round, event.round)
        if self._over or not self._exchange_requested:
            return ()
        if self.rounds is not None and self.rounds.arrived:
            window.interrupt_at = None  # all have been summoned
        silent = window.profile_sent or self._commitment.awaited
        return () if silent else self._send_profile(event.now, self._reserve())

    def _request_synchronization(self) -> Action:
        if self.rounds is not None and self.rounds.arrived:
            return RequestGroupExchange(self.rounds.number, self.rounds.outside(self.group_state.members))
        return super()._request_synchronization()

    def _reserve(self) -> int:
        """None, if all wait for what this rank says for its group at a round."""
        if self._exchange_requested and self.rank == self.group_state.members[0]:
            return 0
        return super()._reserve()

    def _settled(
        self, now: float, profiles: Sequence[Profile], decide: Callable[[DecisionInputs], Decision | None]
    ) -> tuple[Action, ...]:
        requests_exchange = self.rounds is not None and any(profile.requests_exchange for profile in profiles)
        return super()._settled(now, profiles, defer_to_exchange if requests_exchange else decide)

    def _close_window(
        self, now: float, held: Sequence[Spans], profiles: Sequence[Profile], transfers: tuple[Transfer, ...]
    ) -> tuple[Action, ...]:
        rounds, group_state = self.rounds, self.group_state
        if rounds is None or (
            any(group_state.shares) and not any(profile.requests_exchange for profile in profiles)
        ):
            return super()._close_window(now, held, profiles, transfers)
        remaining = [share.part(profile.done) for share, profile in zip(held, profiles, strict=True)]
        return self._come(rounds, now, remaining, [profile.reserved for profile in profiles])

    def _come(
        self, rounds: GroupExchange, now: float, remaining: Sequence[Spans], reserved: Sequence[int]
    ) -> tuple[Action, ...]:
        """The group comes to a round; of what its members had left they keep so much."""
        group_state, window = self.group_state, self._window
        rounds.arrived, head = True, self.rank == group_state.members[0]
        self._left = remaining[group_state.place(self.rank)]
        asks = head and not any(group_state.shares) and not self._exchange_requested
        window.interrupt_at = rounds.request_at(group_state, now, window.unit_s) if asks else None
        if self.failed_at != NO_FAILURE:
            window.stop()
        if not head:
            return (SendGroupReport(rounds.number, None, rounds.leaders),)
        rounds.past_windows.extend(group_state.windows)
        report = group_state.report(list(map(group_state.wanted_of_first, remaining, reserved)))
        return (SendGroupReport(rounds.number, report, rounds.leaders), *self._time_elapsed(TimeElapsed(now)))

    def _group_reports_received(self, event: GroupReportsReceived) -> tuple[Action, ...]:
        """Every group has come: all ranks have the same picture, and go on by it."""
        rounds, window, now = self.rounds, self._window, event.now
        if rounds is None or not rounds.arrived:
            raise ValueError(f"a round was held to which rank {self.rank} had not come")
        self.group_state, reserved = self.group_state.merged(event.reports, self.context)
        transfers = self.group_state.redistribute(reserved, self.strategy.decide)
        rounds.complete(self.group_state, now)
        over, ahead = (
            self.group_state.estimates.over,
            self.group_state.wanted_of_first(self._left, window.ahead),
        )
        self._groups = rounds.groups
        self._part(self._groups)
        if over:
            self.center, window.work, self._over = None, EMPTY, True
            return (Finish(),)
        self._open_window(now, ahead, window.ahead_s)
        return (*self._moves(transfers), *self._take_early(), *self._next(now))
