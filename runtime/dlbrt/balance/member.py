"""A rank in a window of its group: it works, and gives its profile.

Law. That it does when it runs out of work or when it is interrupted, whichever comes first. One that has run
out interrupts the others (receiver-initiated balancing, Zaki et al., section 1.2), not at once but when it
pays: see `dlbrt.balance.window`. A rank that a synchronization left without work never interrupts. An
interrupt of a window that has passed is dropped, one of a window that is still to come is remembered. Under
strategies that go by the clock (`Clocked`) a rank gives its profile uninterrupted when a period has passed
since the last synchronization. It need not idle while the profiles travel: see `dlbrt.balance.window`.

A failure of the body at position f cuts the work: iterations from f on are dropped everywhere, those
before f are still done, so that the failure reported is that of the lowest failing iteration. The group is
told at once, and hears of it by the next profile; other groups are told by an alarm, which a member passes on
in its next profile.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from dlbrt.balance.actions import Action, ExchangeProfiles, Interrupt, NotifyFailure, Resume, SendProfile
from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.events import (
    Event,
    Exhausted,
    Failed,
    FailureNotified,
    Interrupted,
    Received,
    TimeElapsed,
    Worked,
    WorkReceived,
)
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategy import Strategy
from dlbrt.balance.window import UNKNOWN, OpenWindow, SpeedTrace, interrupt_time, period_s, reserve, tail
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.predict.groups import Groups

# ------------------------------------------------------------------------------
# How all ranks come to go on by a strategy that is chosen while the loop runs, as one of them sees it.
#
# Law. Rank 0 chooses after a synchronization of all ranks (Zaki et al., section 1.3.3: not before the first),
# while the others work. No rank takes part in another synchronization before it has heard. The choice may come
# first, where the exchange has not completed here as it has on rank 0; it is kept then, and so are words of
# ranks that have gone over already to a strategy without synchronizations.

#: At a synchronization of all ranks: the strategy to commit to, by the books and the profiles.
ChoiceRule = Callable[[GroupState, Sequence[Profile]], Strategy | PeerStrategy]


class StrategyCommitment:
    """What one rank knows of it; ``commit`` is asked at rank 0, None: all is as it was at the start.

    While ``awaited``, a strategy is being chosen. ``speed_trace`` is how this rank's speed has gone, as long as that
    may matter; ``words`` are for the agent that is to take over.
    """

    def __init__(self, commit: ChoiceRule | None) -> None:
        self.awaited = False
        self.speed_trace = SpeedTrace() if commit else None
        self.words: list[Received | WorkReceived] = []
        self._commit = commit
        self._announced: Strategy | PeerStrategy | None = None
        self._profiles: Sequence[Profile] = ()

    @property
    def open(self) -> bool:
        """Whether a strategy is chosen at the next synchronization, or is being chosen."""
        return self._commit is not None

    def begin(self, profiles: Sequence[Profile]) -> Strategy | PeerStrategy | None:
        """A synchronization by these profiles is over: the choice is awaited, or known already."""
        self.awaited, self._profiles = True, profiles
        return self._announced

    def choose(self, group_state: GroupState) -> Strategy | PeerStrategy:
        """The choice, at rank 0; ValueError where none is to be made."""
        if self._commit is None or not self.awaited:
            raise ValueError(f"there is no strategy to choose in window {group_state.epoch}")
        return self._commit(group_state, self._profiles)

    def announce(self, chosen: Strategy | PeerStrategy) -> bool:
        """Rank 0 has chosen; whether this rank goes on by it at once."""
        if not self.awaited:
            self._announced = chosen
        return self.awaited

    def made(self) -> None:
        """This rank goes on by the choice."""
        self.awaited, self._announced = False, None

    def close(self) -> None:
        """There will be no other."""
        self._commit = self.speed_trace = None


# ------------------------------------------------------------------------------


class GroupMember:
    """Rank ``rank`` of those that ``shares`` are for, up to its profile; `dlbrt.balance.balancer` goes on.

    ``group_state`` are those of its group, which is one of the ``groups``. ``commitment``: while a strategy is
    being chosen, the rank takes part in no synchronization. ValueError for an event that cannot happen in the
    state it meets.
    """

    #: By what it balances, and where its profile goes if the strategy is central.
    strategy: Strategy
    master: int

    #: As `Agent.claims` and `Agent.listens`: ranks come together.
    claims_chunks = receives_messages = False

    def __init__(
        self,
        rank: int,
        shares: Sequence[Spans],
        context: BalancingContext,
        group_state: GroupState,
        groups: Groups,
        commitment: StrategyCommitment,
    ) -> None:
        self.rank = rank
        self.context = context
        self.units = context.units
        self.dealt = tuple(shares)
        self.group_state = group_state
        self._groups = groups
        self._commitment = commitment
        self._window: OpenWindow
        self._own_failure = NO_FAILURE
        self._over = False
        self._byte_s = self._waited_s = 0.0  # as the next profile tells them
        self._requested_epoch = -1  # the epoch of an interrupt that came too early

    def handle(self, event: Event) -> tuple[Action, ...]:
        """Take in one event; the actions are to be carried out in order."""
        return self._handlers()[type(event)](self, event)

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {
            Worked: cls._worked,
            Exhausted: cls._exhausted,
            Interrupted: cls._interrupted,
            TimeElapsed: cls._time_elapsed,
            Failed: cls._failed,
            FailureNotified: cls._failure_notified,
        }

    def transferred(self, seconds: float, size: int) -> None:
        """Learn what moving ``size`` bytes took; it goes into the next profile."""
        if size > 0:
            self._byte_s = seconds / size

    @property
    def strategy_name(self) -> str:
        """As `Agent.strategy_name`."""
        return self.strategy.name

    @property
    def ends_independently(self) -> bool:
        """As `Agent.ends_independently`: groups end by themselves."""
        return self.strategy.local

    @property
    def epoch(self) -> int:
        """The number of the window."""
        return self.group_state.epoch

    @property
    def failed_at(self) -> int:
        """The lowest position that the group knows to have failed."""
        return self.group_state.failed_at

    @property
    def work(self) -> Spans:
        """The units that this rank has still to do."""
        return self._window.work

    @property
    def runnable(self) -> Spans:
        """What this rank may work on now: its work, or while profiles travel what it has reserved of it."""
        # A failure is told with the next profile; till then counts go on telling what is done only up to it.
        if self._commitment.awaited and self._own_failure < self.failed_at and not self._window.profile_sent:
            return EMPTY
        return self._window.runnable

    @property
    def waiting(self) -> bool:
        """Whether something is under way without which there is nothing to do but what is runnable."""
        return self._window.profile_sent or (self._commitment.awaited and not self.runnable)

    @property
    def timer_at(self) -> float | None:
        """When `TimeElapsed` will have an effect, if nothing comes before; None: never."""
        return None if self._over else self._window.timer_at

    def due(self, now: float) -> bool:
        """Whether this rank, though it has work, is to give its profile by the clock: at `TimeElapsed`."""
        return self._window.due(now)

    def _open_window(self, now: float, ahead: int = 0, ahead_s: float = 0.0) -> None:
        """The next window, by the books; of its share this rank has done so much already."""
        due_at, work = (
            now + period_s(self.group_state, self.strategy.periodicity),
            self.group_state.share(self.rank),
        )
        self._window = OpenWindow(now, due_at, work.part(ahead), ahead, ahead_s)

    def _next(self, now: float) -> tuple[Action, ...]:
        """What this rank does in the window just opened."""
        window = self._window
        if self.failed_at > self._own_failure:
            return self._failed(Failed(now, self._own_failure))
        if not window.work:
            return self._exhausted(Exhausted(now))
        if self._requested_epoch == self.epoch or self._exchange_requested:
            return self._send_profile(now, self._reserve())
        window.tail = (
            tail(self.group_state, self.rank, len(window.work)) if self.strategy.interrupts_early else 0
        )
        return (Resume(),)

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        window, speed_trace = self._window, self._commitment.speed_trace
        if event.units > (held := len(self.runnable)):
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {held}")
        if speed_trace is not None:
            did, progress = (
                window.work.part(0, event.units),
                (*event.progress, (event.units, event.compute_s)),
            )
            speed_trace.add_progress(did, self.context.work_table, progress)
        window.worked(event.units, event.compute_s)
        return ()

    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        if self.runnable or self.waiting:
            raise ValueError(f"rank {self.rank} still holds {len(self.work)} units, or waits already")
        window, group_state = self._window, self.group_state
        if window.tail:
            return self._foresee(event.now)
        if group_state.share(self.rank) and self.strategy.interrupts and len(group_state.members) > 1:
            window.interrupt_at = interrupt_time(group_state, self.rank, window, event.now)
        return (*self._send_profile(inf), *self._time_elapsed(TimeElapsed(event.now)))

    def _foresee(self, now: float) -> tuple[Action, ...]:
        """Only the tail is left: if the others will not be done when it is, they hear of it now."""
        window = self._window
        end = now + window.tail * window.unit_s
        window.tail = 0
        if interrupt_time(self.group_state, self.rank, window, end) > end:
            return (Resume(),)
        return (*self._send_profile(now, len(window.work)), self._request_synchronization(), Resume())

    def _interrupted(self, event: Interrupted) -> tuple[Action, ...]:
        if event.epoch > self.epoch or self._commitment.awaited:
            self._requested_epoch = max(self._requested_epoch, event.epoch)
            return ()
        if event.epoch != self.epoch or self._window.profile_sent or self._over:
            return ()
        return self._send_profile(event.now, self._reserve())

    def _time_elapsed(self, event: TimeElapsed) -> tuple[Action, ...]:
        window = self._window
        if window.due(event.now):
            # Others may be in the midst of an iteration: this rank begins one rather than wait for them.
            return self._send_profile(event.now, max(1, self._reserve()))
        if window.interrupt_at is None or event.now < window.interrupt_at:
            return ()
        window.interrupt_at, window.called_at = None, event.now
        return (self._request_synchronization(),)

    def _failed(self, event: Failed) -> tuple[Action, ...]:
        outside = tuple(r for group in self._groups for r in group if r not in self.group_state.members)
        alarm = (NotifyFailure(event.position, outside),) if outside else ()
        return (*alarm, *self._cut(event.now, event.position))

    def _failure_notified(self, event: FailureNotified) -> tuple[Action, ...]:
        known = min(self.failed_at, self._own_failure)
        return () if self._over or event.position >= known else self._cut(event.now, event.position)

    def _cut(self, now: float, position: int) -> tuple[Action, ...]:
        """Nothing from ``position`` on is to be done: the group is told at once."""
        window = self._window
        self._own_failure = min(self._own_failure, position)
        if self._commitment.awaited:
            return ()
        if window.profile_sent:
            window.stop()  # the next profile, due at once, will tell
            return ()
        window.work = self.units.wanted(window.work, self._own_failure)
        return (*self._send_profile(now), self._request_synchronization())

    def _send_profile(self, called_at: float, reserved: int = 0) -> tuple[Action, ...]:
        """This rank was called to at that time, or calls the others; infinity: it has run out."""
        window, speed_trace = self._window, self._commitment.speed_trace
        window.send_profile(called_at, reserved)
        failed_at = min(self.failed_at, self._own_failure)
        slices = speed_trace.slices() if speed_trace is not None else UNKNOWN
        did = window.done, window.compute_s, self._byte_s
        profile = Profile(*did, failed_at, reserved, self._exchange_requested, self._waited_s, slices)
        if self.strategy.central:
            return (SendProfile(self.epoch, profile, self.master),)
        return (ExchangeProfiles(self.epoch, profile, self.group_state.members),)

    def _reserve(self) -> int:
        """Units to work on while the profiles travel."""
        return reserve(self.group_state, self.rank, self._window)

    def _request_synchronization(self) -> Action:
        """Ask the others for what this rank waits for: the end of the window."""
        members, place = self.group_state.members, self.group_state.place(self.rank)
        return Interrupt(self.epoch, members[:place] + members[place + 1 :])

    @property
    def _exchange_requested(self) -> bool:
        """Whether another group asks for a round of all groups: not where groups are for themselves."""
        return False
