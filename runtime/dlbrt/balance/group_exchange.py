"""Group exchanges: numbered rounds in which the groups of a local strategy exchange work.

The remedy that Zaki, Li and Parthasarathy name for a group that finishes early and idles while another is
overloaded (section 1.2.1, "Global vs. Local"): exchange between groups, and groups formed anew.

Law. Rounds are numbered. A group comes to round r when a window of its own ends and either nothing is left in
it, or a profile of one of its members says that round r was requested; all members see that alike. Its
leader, the lowest rank, then sends the group's report to all ranks. A rank that has the reports of all groups
has the same state of all ranks as every other rank: all decide shares by the rule of the strategy, move, and
go on in groups. The loop ends at the round to which no group brings work.

A rank whose group is requested to come gives its profile, as an interrupted rank does; it works on what it
has reserved until the round is over. The leader of a group that has run out requests the round, when a
request pays (`dlbrt.balance.window`), from all ranks of other groups; there the request takes the place of an
interrupt. A request only hastens what comes in any case.

Termination. Each group comes to each round, since the work that it has after the round before is finite and
no other work comes in between; and between two rounds at least one unit is done or dropped, since only a
group that had work after the round before, and has none left, requests the next round. A group that a round
leaves without work comes to the next round at once, and waits there for the others.

No message of one round is taken for a message of another: a rank takes one report from each leader in each
round. A request for a round that is over is dropped; a request for the next round may come early, and is
kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from dlbrt.balance import actions, events
from dlbrt.balance.agent import BalancingCounts, Handlers
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.decision import DecisionRule
from dlbrt.balance.group_state import MAX_WINDOWS, GroupState
from dlbrt.balance.messages import NO_FAILURE, Profile, Window
from dlbrt.balance.strategy import Strategy, defer_to_exchange
from dlbrt.balance.window import request_time
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.transfer import Transfer
from dlbrt.predict.groups import Groups, equal_speed


class GroupExchange:
    """What one rank knows of the rounds; ``group_state`` is that of all ranks before the first round.

    ``number`` is that of the next round, ``arrived`` whether the group has come to it, ``past_windows`` are
    windows from before the last round. With ``dynamic`` each round forms the groups anew.
    """

    def __init__(self, group_state: GroupState, groups: Groups, dynamic: bool, now: float) -> None:
        self.number = 0
        self.groups = groups
        self.arrived = False
        self.past_windows: deque[Window] = deque(maxlen=MAX_WINDOWS)
        self._dynamic = dynamic
        self._context = group_state.context
        self._begin(group_state, now)

    @property
    def leaders(self) -> tuple[int, ...]:
        """The lowest rank of each group."""
        return tuple(group[0] for group in self.groups)

    def outside(self, members: Sequence[int]) -> tuple[int, ...]:
        """The ranks of all other groups."""
        return tuple(rank for group in self.groups for rank in group if rank not in members)

    def request_at(self, group_state: GroupState, now: float, iteration_s: float) -> float | None:
        """When the group of this state, which has run out, requests the round; None: never."""
        held, _ = self._known[group_state.members]
        if not held:
            return None
        window, others = now - self._began_at, (g for g in self.groups if g != group_state.members)
        due_at = self._began_at + max(self._due_after(group, window / held) for group in others)
        context = self._context
        return request_time(now, self._began_at, due_at, iteration_s, context.exchange_s, context.parameters)

    def complete(self, group_state: GroupState, now: float) -> None:
        """End the round, which has left this state of all ranks; the next round is to come."""
        self.number += 1
        self.arrived = False
        speeds = group_state.history.speeds
        if self._dynamic and speeds is not None:
            size = -(-len(group_state.members) // len(self.groups))
            self.groups = equal_speed(speeds, size)
        self._begin(group_state, now)

    def _begin(self, group_state: GroupState, now: float) -> None:
        """Note what each group holds, and how much work it does a second (None: not known)."""
        speeds, work_table = group_state.history.speeds, group_state.context.work_table
        self._began_at = now
        self._known = {
            group: (
                sum(work_table.of(group_state.share(rank)) for rank in group),
                None if speeds is None else sum(speeds[group_state.place(rank)] for rank in group),
            )
            for group in self.groups
        }

    def _due_after(self, group: tuple[int, ...], quantum_s: float) -> float:
        """How long the group works after the last round; ``quantum_s`` is what the asking group took."""
        held, speed = self._known[group]
        return held * quantum_s if speed is None else held / speed


class GroupExchangeBalancer(Balancer):
    """The balancer of a rank whose group may exchange work with others; otherwise it is as `Balancer`."""

    rounds: GroupExchange | None = None
    _requested_round = -1  # the highest round that was requested
    _left = EMPTY  # what this rank still had when its group came to a round

    @classmethod
    def _table(cls) -> Handlers:
        return {
            **super()._table(),
            events.GroupExchangeRequested: cls._group_exchange_requested,
            events.GroupReportsReceived: cls._group_reports_received,
        }

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: each rank counts the windows before rounds that it saw."""
        past_windows = tuple(self.rounds.past_windows) if self.rounds is not None else ()
        return BalancingCounts(windows=past_windows) + super().counts()

    def _balance_by(self, strategy: Strategy, began_at: float) -> None:
        self.rounds = None
        if strategy.local and self._rules.rounds and len(self._groups) > 1:
            self.rounds = GroupExchange(self.group_state, self._groups, self._rules.dynamic, began_at)
        super()._balance_by(strategy, began_at)

    @property
    def _exchange_requested(self) -> bool:
        """Whether another group has requested the next round."""
        return self.rounds is not None and self.rounds.number <= self._requested_round

    @property
    def _may_serve(self) -> bool:
        return self.rounds is not None or super()._may_serve

    def _group_exchange_requested(self, event: events.GroupExchangeRequested) -> actions.Answer:
        window = self._window
        self._requested_round = max(self._requested_round, event.round)
        if self._over or not self._exchange_requested:
            return ()
        if self.rounds is not None and self.rounds.arrived:
            window.interrupt_at = None  # the request has gone to all
        silent = window.profile_sent or self._commitment.awaited
        return () if silent else self._send_profile(event.now, self._reserve())

    def _request_synchronization(self) -> actions.Action:
        if self.rounds is not None and self.rounds.arrived:
            return actions.RequestGroupExchange(
                self.rounds.number, self.rounds.outside(self.group_state.members)
            )
        return super()._request_synchronization()

    def _reserve(self) -> int:
        """Nothing, if all ranks wait for the group report that this rank sends."""
        if self._exchange_requested and self.rank == self.group_state.members[0]:
            return 0
        return super()._reserve()

    def _settled(self, now: float, profiles: Sequence[Profile], decide: DecisionRule) -> actions.Answer:
        requested = self.rounds is not None and any(profile.requests_exchange for profile in profiles)
        return super()._settled(now, profiles, defer_to_exchange if requested else decide)

    def _close_window(
        self, now: float, held: Sequence[Spans], profiles: Sequence[Profile], transfers: tuple[Transfer, ...]
    ) -> actions.Answer:
        rounds, requested = self.rounds, any(profile.requests_exchange for profile in profiles)
        if rounds is None or (any(self.group_state.shares) and not requested):
            return super()._close_window(now, held, profiles, transfers)
        remaining = [share.part(profile.done) for share, profile in zip(held, profiles, strict=True)]
        return self._arrive(rounds, now, remaining, [profile.reserved for profile in profiles])

    def _arrive(
        self, rounds: GroupExchange, now: float, remaining: Sequence[Spans], reserved: Sequence[int]
    ) -> actions.Answer:
        """Come to a round; members keep the ``reserved`` first units of what they have ``remaining``."""
        group_state, window = self.group_state, self._window
        rounds.arrived, leads = True, self.rank == group_state.members[0]
        self._left = remaining[group_state.place(self.rank)]
        requests = leads and not any(group_state.shares) and not self._exchange_requested
        window.interrupt_at = rounds.request_at(group_state, now, window.unit_s) if requests else None
        if self.failed_at != NO_FAILURE:
            window.stop()
        if not leads:
            return (actions.SendGroupReport(rounds.number, None, rounds.leaders),)
        rounds.past_windows.extend(group_state.windows)
        report = group_state.report(list(map(group_state.wanted_of_first, remaining, reserved)))
        return (
            actions.SendGroupReport(rounds.number, report, rounds.leaders),
            *self._time_elapsed(events.TimeElapsed(now)),
        )

    def _group_reports_received(self, event: events.GroupReportsReceived) -> actions.Answer:
        """Every group has come: all ranks have the same state, and go on from it."""
        rounds, window, now = self.rounds, self._window, event.now
        if rounds is None or not rounds.arrived:
            raise ValueError(f"a group exchange was held to which rank {self.rank} had not come")
        self.group_state, reserved = self.group_state.merged(event.reports, self.context)
        transfers = self.group_state.redistribute(reserved, self.strategy.decide)
        rounds.complete(self.group_state, now)
        over = self.group_state.estimates.over
        ahead = self.group_state.wanted_of_first(self._left, window.ahead)
        self._groups = rounds.groups
        self._part(self._groups)
        if over:
            self.center, window.work, self._over = None, EMPTY, True
            return (actions.Finish(),)
        self._open_window(now, ahead, window.ahead_s)
        moves = (actions.Move(transfers),) if transfers else ()
        return (*moves, *self._handle_early(), *self._next(now))
