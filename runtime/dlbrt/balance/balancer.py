"""The balancer of one rank: events in, actions out; no MPI, no clock, no randomness.

Law. The loop's iterations are dealt to ranks at the start, one by one or in pairs (`Units`). Time is cut
into windows, numbered by epoch; a synchronization of the group ends each: its members' profiles are exchanged
among them, or sent to the central balancer, which decides for all. Every member keeps the same picture of who
holds what (`GroupState`), because profiles say how many units each has done and work is done in a known order; so
every member computes the same movement, and nothing but profiles (and a central decision) needs to travel.
The loop ends for a group at the synchronization that finds nothing left in it.

What a rank does until it has given its profile stands in `dlbrt.balance.member`; here, what comes of the answer.
Where a strategy is to be chosen, that is after the first synchronization (`dlbrt.balance.member`). One under
which ranks do not synchronize is the end of this balancer: its ``successor`` goes on with what it holds.

Where groups exchange work, a window may be followed by a round of all groups: see `dlbrt.balance.group_exchange_balancer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dlbrt.balance.actions import (
    Action,
    AnnounceStrategy,
    Finish,
    Move,
    RequestChoice,
    Resume,
    SendInstructions,
)
from dlbrt.balance.agent import Agent, BalancingCounts, InitialState, PeerStrategy, take_over
from dlbrt.balance.decision import Decision
from dlbrt.balance.events import (
    ChoiceRequested,
    InstructionsReceived,
    ProfileReceived,
    ProfilesExchanged,
    Received,
    StrategyAnnounced,
    WorkReceived,
)
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.member import ChoiceRule, GroupMember, StrategyCommitment
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import DecisionInputs, Strategy, defer_to_exchange
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.transfer import Transfer
from dlbrt.predict.groups import GroupRules, Groups

# ------------------------------------------------------------------------------
# The central balancer: it takes the profiles of each group, decides for it, and instructs its members.
#
# ``GCDLB`` has one group of all ranks, ``LCDLB`` several, which one balancer serves in turn (Zaki et al.,
# section 1.2.1): a group whose profiles are complete while another is being served waits, which is the delay
# factor of the model; with a master in each group there is a balancer for each. The center keeps replicas of
# the groups' books, so that it knows who holds what.


class CentralBalancer:
    """The balancer of the groups whose ``group_states`` are given, by the rule of a central ``strategy``."""

    def __init__(self, group_states: Sequence[GroupState], strategy: Strategy) -> None:
        self._strategy = strategy
        self._group_states = {rank: each for each in group_states for rank in each.members}
        self._profiles: dict[int, Profile] = {}
        self._missing = {
            each.members[0]: len(each.members) for each in group_states
        }  # of each group that is served

    @property
    def finished(self) -> bool:
        """Whether every group has been told that it has nothing left, one that never had anything too."""
        return not self._missing

    def awaits(self, rank: int) -> bool:
        """Whether it waits for profiles of this rank: not of one whose group has gone to a round."""
        return rank in self._group_states and self._group_states[rank].members[0] in self._missing

    def report(self, rank: int, profile: Profile) -> tuple[SendInstructions, ...]:
        """A member's profile has come; the last one of its group settles the window.

        ValueError for a second profile of a member in one window.
        """
        if rank in self._profiles:
            raise ValueError(f"rank {rank} gave two profiles in one window")
        self._profiles[rank] = profile
        group_states = self._group_states[rank]
        head = group_states.members[0]
        self._missing[head] -= 1
        if self._missing[head]:
            return ()
        self._missing[head] = len(group_states.members)
        profiles = tuple(self._profiles.pop(member) for member in group_states.members)
        taken: list[Decision | None] = [None]

        def decide(decision_inputs: DecisionInputs) -> Decision | None:
            taken[0] = self._strategy.decide(decision_inputs)
            return taken[0]

        requests_exchange = any(profile.requests_exchange for profile in profiles)
        group_states.settle(profiles, defer_to_exchange if requests_exchange else decide)
        if requests_exchange or not any(group_states.shares):
            del self._missing[head]
        return (SendInstructions(group_states.members, profiles, taken[0]),)


# ------------------------------------------------------------------------------


class Balancer(GroupMember):
    """The balancer of rank ``rank`` of those that ``shares`` are for.

    ``dealt`` are the shares to begin with. ``groups`` are those of a local strategy, together all ranks,
    which go together by the ``rules``. With ``commit``, ``strategy`` holds until the first synchronization
    only, and is one of all ranks; rank 0 asks it then, and where the parameters say so at later
    synchronizations of all ranks. ``group_state`` are those of all ranks, where the driver makes them. All but
    ``rank`` and ``now`` must be the same on every rank. Raises ValueError for an event that cannot happen in
    the state it meets.
    """

    def __init__(
        self,
        rank: int,
        shares: Sequence[Spans],
        strategy: Strategy,
        context: BalancingContext,
        now: float,
        groups: Sequence[Sequence[int]] = (),
        commit: ChoiceRule | None = None,
        group_state: GroupState | None = None,
        rules: GroupRules | None = None,
    ) -> None:
        group_state = group_state or GroupState(range(len(shares)), shares, context)
        parts = tuple(map(tuple, groups)) or (group_state.members,)
        super().__init__(rank, shares, context, group_state, parts, StrategyCommitment(commit))
        self.center: CentralBalancer | None = None
        self.successor: Agent | None = None
        self._rules = rules or GroupRules()
        self._early: list[
            ProfileReceived
        ] = []  # reports of a window, or to a balancer, that is still to come
        self._take(strategy, now)
        self._open_window(now)

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {
            **super()._handlers(),
            ProfilesExchanged: cls._profiles_exchanged,
            InstructionsReceived: cls._instructions_received,
            ProfileReceived: cls._profile_received,
            ChoiceRequested: cls._choice_requested,
            StrategyAnnounced: cls._strategy_announced,
            Received: cls._early_message,
            WorkReceived: cls._early_message,
        }

    @property
    def is_central(self) -> bool:
        """As `Agent.is_central`."""
        return self.center is not None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or to serve here."""
        return self._over and (self.center is None or self.center.finished)

    def counts(self) -> BalancingCounts:
        """What the lowest rank of a group says for it."""
        group_state = self.group_state
        if group_state.members[0] != self.rank:
            return BalancingCounts()
        return BalancingCounts(
            group_state.synchronizations,
            group_state.redistributions,
            tuple(group_state.windows),
            group_state.gain,
        )

    def _take(self, strategy: Strategy, began_at: float) -> None:  # noqa: ARG002
        """Balance by this strategy from here on, in its groups; what each holds is as of ``began_at``."""
        self.strategy = strategy
        self._part(self._groups if strategy.local else (self.group_state.members,))

    def _part(self, groups: Groups) -> None:
        """Go on in these groups, by the books of all ranks."""
        group_state, strategy = self.group_state, self.strategy
        own = groups[0] if len(groups) == 1 else next(group for group in groups if self.rank in group)
        self.master = own[0] if self._rules.masters else 0
        served = (own,) if self._rules.masters else groups
        central = strategy.central and self.master == self.rank
        self.center = (
            CentralBalancer([group_state.of(group) for group in served], strategy) if central else None
        )
        if strategy.local:
            self.group_state = group_state.of(own)

    def _profile_received(self, event: ProfileReceived) -> tuple[Action, ...]:
        if self.center is not None and self.center.awaits(event.rank):
            return self.center.report(event.rank, event.profile)
        if not self._may_serve:
            raise ValueError(f"rank {self.rank} is no balancer of rank {event.rank}, which reported to it")
        self._early.append(event)
        return ()

    @property
    def _may_serve(self) -> bool:
        """Whether this rank may yet become the balancer of others, who know of it before it does."""
        return self._commitment.open

    def _take_early(self) -> tuple[Action, ...]:
        """What was reported before this rank knew that it would be."""
        early, self._early = self._early, []
        return tuple(action for event in early for action in self._profile_received(event))

    def _profiles_exchanged(self, event: ProfilesExchanged) -> tuple[Action, ...]:
        return self._settled(event.now, event.profiles, self.strategy.decide)

    def _instructions_received(self, event: InstructionsReceived) -> tuple[Action, ...]:
        def decided(decision_inputs: DecisionInputs) -> Decision | None:  # noqa: ARG001
            return event.decision

        return self._settled(event.now, event.profiles, decided)

    def _settled(
        self, now: float, profiles: Sequence[Profile], decide: Callable[[DecisionInputs], Decision | None]
    ) -> tuple[Action, ...]:
        """The answer to this rank's profile is there."""
        if not self._window.profile_sent:
            raise ValueError(f"an exchange completed to which rank {self.rank} gave nothing")
        self._waited_s = self._window.waited_s(now)
        held = self.group_state.shares
        return self._close_window(now, held, profiles, self.group_state.settle(profiles, decide))

    def _close_window(
        self, now: float, held: Sequence[Spans], profiles: Sequence[Profile], transfers: tuple[Transfer, ...]
    ) -> tuple[Action, ...]:
        """The books are settled, by the profiles of members who ``held`` so much: go on, or end."""
        group_state, own, window = self.group_state, self.group_state.place(self.rank), self._window
        if group_state.estimates.over:
            window.work, self._over = EMPTY, True
            return (Finish(),)
        ahead = window.ahead
        if self.failed_at != NO_FAILURE:
            ahead = group_state.wanted_of_first(held[own].part(profiles[own].done), ahead)
        self._open_window(now, ahead, window.ahead_s)
        goes_on = self._await_choice(now, profiles) if self._commitment.open else self._next(now)
        return (*self._moves(transfers), *goes_on)

    def _moves(self, transfers: tuple[Transfer, ...]) -> tuple[Action, ...]:
        return (Move(transfers),) if transfers else ()

    def _await_choice(self, now: float, profiles: Sequence[Profile]) -> tuple[Action, ...]:
        if self.rank == 0:  # who chooses knows already how long it has waited for the answer
            profiles = (replace(profiles[0], waited_s=self._waited_s), *profiles[1:])
        announced = self._commitment.begin(profiles)
        if self.rank == 0:
            return (RequestChoice(),)
        return (Resume(),) if announced is None else self._commit_to(now, announced)

    def _choice_requested(self, event: ChoiceRequested) -> tuple[Action, ...]:
        chosen = self._commitment.choose(self.group_state)
        others = tuple(rank for rank in self.group_state.members if rank != self.rank)
        return (AnnounceStrategy(chosen.name, others), *self._commit_to(event.now, chosen))

    def _strategy_announced(self, event: StrategyAnnounced) -> tuple[Action, ...]:
        chosen = strategy(event.strategy)
        return self._commit_to(event.now, chosen) if self._commitment.announce(chosen) else ()

    def _early_message(self, event: Received | WorkReceived) -> tuple[Action, ...]:
        """Others have gone over already to a strategy that this rank has not heard of."""
        self._commitment.words.append(event)
        return ()

    def _commit_to(self, now: float, strategy: Strategy | PeerStrategy) -> tuple[Action, ...]:
        """Go on by this strategy; what balances among all ranks may be changed again, if that is wanted."""
        window, commitment = self._window, self._commitment
        commitment.made()
        if isinstance(strategy, PeerStrategy):
            did, failures = (window.done, window.compute_s), (self.failed_at, self._own_failure)
            self.successor = strategy.agent(
                self.rank, InitialState(self.group_state.shares, self.context), now
            )
            return take_over(self.successor, now, did, failures, commitment.words)
        if strategy.name != self.strategy.name:
            self._take(strategy, window.opened_at)
        if strategy.local or not self.context.parameters.adapts:
            commitment.close()
        return (*self._take_early(), *self._next(now))
