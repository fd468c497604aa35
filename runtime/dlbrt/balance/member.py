"""A rank in a window of its group, until it has given its profile.

Law of windows. A rank gives its profile when it runs out of work or when it is interrupted, whichever comes
first. A rank that has run out interrupts the others (receiver-initiated balancing, Zaki et al., section 1.2),
not at once but when an interrupt pays (`dlbrt.balance.window`). A rank that a synchronization left without
work never interrupts, unless the first one left a dear movement to the strategy chosen: then it does so at
once. An interrupt of a window that has passed is dropped; an interrupt of a window to come is remembered.
Under strategies that go by the clock (`dlbrt.balance.strategy.Periodicity`) a rank gives its profile
uninterrupted when a period has passed since the last synchronization. It need not idle while the profiles
travel (`dlbrt.balance.window`).

Law of failures. A failure of the body at position f cuts the work: iterations from f on are dropped
everywhere, iterations before f are still done, so that the failure reported is that of the lowest failing
iteration. The group is interrupted at once, and learns of the failure by the next profile; other groups learn
of it by an alarm, which each member that receives it passes on in its next profile.

Law of the commitment (`StrategyCommitment`). Rank 0 chooses a strategy after a synchronization of all ranks
(Zaki et al., section 1.3.3: not before the first), while the others work. No rank takes part in another
synchronization before it has heard of the choice. The choice may arrive before the exchange has completed on
this rank; it is kept then, and so are messages of ranks that have already gone over to a strategy without
synchronizations.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from math import inf

from dlbrt.balance import actions, events
from dlbrt.balance.agent import EventHandler, Handlers, PeerStrategy
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategy import Strategy
from dlbrt.balance.window import UNKNOWN, OpenWindow, SpeedTrace, interrupt_time, period_s, reserve, tail
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.predict.groups import Groups

#: At a synchronization of all ranks: the strategy to commit to, by the group state and the profiles.
ChoiceRule = Callable[[GroupState, Sequence[Profile]], Strategy | PeerStrategy]


class StrategyCommitment:
    """What one rank knows of the choice; rank 0 calls ``commit`` for it (None: the strategy stays as it is).

    While ``awaited``, a strategy is being chosen. ``speed_trace`` records this rank's speed as long as a
    choice may need it; ``early_events`` are for the agent that may take over.
    """

    def __init__(self, commit: ChoiceRule | None) -> None:
        self.awaited = False
        self.speed_trace = SpeedTrace() if commit else None
        self.early_events: list[events.Received | events.WorkReceived] = []
        self._commit = commit
        self._announced: Strategy | PeerStrategy | None = None
        self._profiles: Sequence[Profile] = ()

    @property
    def open(self) -> bool:
        """Whether a strategy is chosen at the next synchronization, or is being chosen."""
        return self._commit is not None

    def begin(self, profiles: Sequence[Profile]) -> Strategy | PeerStrategy | None:
        """Await the choice that follows a synchronization by these profiles; return it if it is known."""
        self.awaited, self._profiles = True, profiles
        return self._announced

    def choose(self, group_state: GroupState) -> Strategy | PeerStrategy:
        """Choose, at rank 0; ValueError where no choice is to be made."""
        if self._commit is None or not self.awaited:
            raise ValueError(f"there is no strategy to choose in window {group_state.epoch}")
        return self._commit(group_state, self._profiles)

    def announce(self, chosen: Strategy | PeerStrategy) -> bool:
        """Take in what rank 0 has chosen; whether this rank goes on by it at once."""
        if not self.awaited:
            self._announced = chosen
        return self.awaited

    def made(self) -> None:
        """Note that this rank goes on by the choice."""
        self.awaited, self._announced = False, None

    def close(self) -> None:
        """Expect no further choice."""
        self._commit = self.speed_trace = None


class GroupMember(EventHandler):
    """Rank ``rank`` up to its profile; `dlbrt.balance.balancer.Balancer` handles the answer.

    ``shares`` are those of all ranks, ``group_state`` is that of its group, which is one of the ``groups``.
    ValueError for an event that cannot happen in the state it meets.
    """

    #: What it balances by, and where its profile goes if the strategy is central.
    strategy: Strategy
    master: int

    claims_chunks = receives_messages = False
    serves: Container[type] = ()

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
        self._byte_s = self._waited_s = 0.0  # for the next profile
        self._requested_epoch = -1  # the epoch of an interrupt that came too early

    @classmethod
    def _table(cls) -> Handlers:
        return {
            events.Worked: cls._worked,
            events.Exhausted: cls._exhausted,
            events.Interrupted: cls._interrupted,
            events.TimeElapsed: cls._time_elapsed,
            events.Failed: cls._failed,
            events.FailureNotified: cls._failure_notified,
        }

    def transferred(self, seconds: float, size: int) -> None:
        """As `Agent.transferred`; the time goes into the next profile."""
        if size > 0:
            self._byte_s = seconds / size

    @property
    def strategy_name(self) -> str:
        """As `Agent.strategy_name`."""
        return self.strategy.name

    @property
    def ends_independently(self) -> bool:
        """As `Agent.ends_independently`: each group ends for itself."""
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
        """The units that this rank still has to do."""
        return self._window.work

    @property
    def runnable(self) -> Spans:
        """As `Agent.runnable`: all its work, or what it has reserved while profiles travel."""
        # Until the next profile reports the failure, only iterations before the failing one count as done.
        if self._commitment.awaited and self._own_failure < self.failed_at and not self._window.profile_sent:
            return EMPTY
        return self._window.runnable

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`."""
        return self._window.profile_sent or (self._commitment.awaited and not self.runnable)

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`."""
        return None if self._over else self._window.timer_at

    def due(self, now: float) -> bool:
        """As `Agent.due`: whether its profile is due by the clock."""
        return self._window.due(now)

    def _open_window(self, now: float, ahead: int = 0, ahead_s: float = 0.0) -> None:
        """Open the next window by the group state; ``ahead`` units of the share are done already."""
        due_at = now + period_s(self.group_state, self.strategy.periodicity)
        work = self.group_state.share(self.rank).part(ahead)
        self._window = OpenWindow(now, due_at, work, ahead, ahead_s)

    def _next(self, now: float) -> actions.Answer:
        """Begin the window just opened."""
        window = self._window
        if self.failed_at > self._own_failure:
            return self._failed(events.Failed(now, self._own_failure))
        if not window.work:
            return self._exhausted(events.Exhausted(now))
        if self._requested_epoch == self.epoch or self._exchange_requested:
            return self._send_profile(now, self._reserve())
        if self.strategy.interrupts_early:
            window.tail = tail(self.group_state, self.rank, len(window.work))
        return (actions.Resume(),)

    def _worked(self, event: events.Worked) -> actions.Answer:
        window, speed_trace = self._window, self._commitment.speed_trace
        if event.units > (held := len(self.runnable)):
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {held}")
        if speed_trace is not None:
            progress = (*event.progress, (event.units, event.compute_s))
            speed_trace.add_progress(window.work.part(0, event.units), self.context.work_table, progress)
        window.worked(event.units, event.compute_s)
        return ()

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self.runnable or self.waiting:
            raise ValueError(f"rank {self.rank} still holds {len(self.work)} units, or waits already")
        window, group_state = self._window, self.group_state
        if window.tail:
            return self._foresee(event.now)
        if self.strategy.interrupts and len(group_state.members) > 1 and group_state.share(self.rank):
            window.interrupt_at = interrupt_time(group_state, self.rank, window, event.now)
        return (*self._send_profile(inf), *self._time_elapsed(events.TimeElapsed(event.now)))

    def _foresee(self, now: float) -> actions.Answer:
        """Interrupt the others now, with only the tail left, if they will not be done when the tail is."""
        window = self._window
        end = now + window.tail * window.unit_s
        window.tail = 0
        if interrupt_time(self.group_state, self.rank, window, end) > end:
            return (actions.Resume(),)
        return (*self._send_profile(now, len(window.work)), self._request_synchronization(), actions.Resume())

    def _interrupted(self, event: events.Interrupted) -> actions.Answer:
        if event.epoch > self.epoch or self._commitment.awaited:
            self._requested_epoch = max(self._requested_epoch, event.epoch)
            return ()
        if event.epoch != self.epoch or self._window.profile_sent or self._over:
            return ()
        return self._send_profile(event.now, self._reserve())

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:
        window = self._window
        if window.due(event.now):
            # Others may be in the middle of an iteration: this rank begins another rather than wait for them.
            return self._send_profile(event.now, max(1, self._reserve()))
        if window.interrupt_at is None or event.now < window.interrupt_at:
            return ()
        window.interrupt_at, window.called_at = None, event.now
        return (self._request_synchronization(),)

    def _failed(self, event: events.Failed) -> actions.Answer:
        outside = tuple(r for group in self._groups for r in group if r not in self.group_state.members)
        alarm = (actions.NotifyFailure(event.position, outside),) if outside else ()
        return (*alarm, *self._cut(event.now, event.position))

    def _failure_notified(self, event: events.FailureNotified) -> actions.Answer:
        known = min(self.failed_at, self._own_failure)
        return () if self._over or event.position >= known else self._cut(event.now, event.position)

    def _cut(self, now: float, position: int) -> actions.Answer:
        """Drop the work from ``position`` on, and call the group to a synchronization at once."""
        window = self._window
        self._own_failure = min(self._own_failure, position)
        if self._commitment.awaited:
            return ()
        if window.profile_sent:
            window.stop()  # the next profile, due at once, reports the failure
            return ()
        window.work = self.units.wanted(window.work, self._own_failure)
        return (*self._send_profile(now), self._request_synchronization())

    def _send_profile(self, called_at: float, reserved: int = 0) -> actions.Answer:
        """Give the profile; this rank was called, or calls the others, at ``called_at`` (inf: it ran out)."""
        window, speed_trace = self._window, self._commitment.speed_trace
        window.send_profile(called_at, reserved)
        failed_at = min(self.failed_at, self._own_failure)
        slices = speed_trace.slices() if speed_trace is not None else UNKNOWN
        measured = window.done, window.compute_s, self._byte_s
        profile = Profile(*measured, failed_at, reserved, self._exchange_requested, self._waited_s, slices)
        if self.strategy.central:
            return (actions.SendProfile(self.epoch, profile, self.master),)
        return (actions.ExchangeProfiles(self.epoch, profile, self.group_state.members),)

    def _reserve(self) -> int:
        """How many units to work on while the profiles travel."""
        return reserve(self.group_state, self.rank, self._window)

    def _request_synchronization(self) -> actions.Action:
        """Ask the other members to end the window."""
        members, place = self.group_state.members, self.group_state.place(self.rank)
        return actions.Interrupt(self.epoch, members[:place] + members[place + 1 :])

    @property
    def _exchange_requested(self) -> bool:
        """Whether another group has asked for a group exchange: never where groups balance for themselves."""
        return False
