"""The balancer of one rank: events in, actions out; no MPI, no clock, no randomness.

Law. The loop's iterations are dealt to ranks at the start, one by one or in pairs (`Units`). Time is cut into
windows, numbered by epoch; each ends with a synchronization of the group: its members exchange their
profiles, or send them to the central balancer, which decides for all. Every member keeps the same
`GroupState`, because profiles say how many units each member has done and work is done in a known order; so
every member computes the same movement, and nothing but profiles (and a central decision) needs to travel.
The loop ends for a group at the synchronization that finds nothing left in it.

What a rank does until it has given its profile stands in `dlbrt.balance.member`; this module handles the
answer. A strategy is chosen after the first synchronization (`StrategyCommitment`). Where ranks do not
synchronize under the chosen strategy, this balancer ends: its ``successor`` goes on with the work it holds.
Where groups exchange work, an exchange of all groups may follow a window: see `dlbrt.balance.group_exchange`.

The central balancer. ``GCDLB`` has one group of all ranks, ``LCDLB`` several, which one balancer serves in
turn (Zaki et al., section 1.2.1): a group whose profiles are complete while another group is being served
waits, which is the delay factor of the model. With a master in each group, each group has a balancer of its
own. The central balancer keeps replicas of the groups' states, so that it knows who holds what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, Handlers, InitialState, PeerStrategy, take_over
from dlbrt.balance.decision import Decision, DecisionInputs, DecisionRule
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.member import ChoiceRule, GroupMember, StrategyCommitment
from dlbrt.balance.messages import NO_FAILURE, Profile
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import Strategy, defer_to_exchange
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.transfer import Transfer
from dlbrt.predict.groups import GroupRules, Groups


class CentralBalancer:
    """Takes the profiles of the groups of ``group_states``, decides by ``strategy``, instructs members."""

    def __init__(self, group_states: Sequence[GroupState], strategy: Strategy) -> None:
        self._strategy = strategy
        self._group_states = {rank: each for each in group_states for rank in each.members}
        self._profiles: dict[int, Profile] = {}
        #: By the leader of each group that is served: how many profiles are missing.
        self._missing = {each.members[0]: len(each.members) for each in group_states}

    @property
    def finished(self) -> bool:
        """Whether every group knows that it has nothing left, a group that never had anything too."""
        return not self._missing

    def awaits(self, rank: int) -> bool:
        """Whether it waits for profiles of this rank: no longer once its group has gone to an exchange."""
        return rank in self._group_states and self._group_states[rank].members[0] in self._missing

    def report(self, rank: int, profile: Profile) -> tuple[actions.SendInstructions, ...]:
        """Take in a member's profile; the last one of its group settles the window.

        ValueError for a second profile of a member in one window.
        """
        if rank in self._profiles:
            raise ValueError(f"rank {rank} gave two profiles in one window")
        self._profiles[rank] = profile
        group_state = self._group_states[rank]
        leader = group_state.members[0]
        self._missing[leader] -= 1
        if self._missing[leader]:
            return ()
        self._missing[leader] = len(group_state.members)
        profiles = tuple(self._profiles.pop(member) for member in group_state.members)
        taken: list[Decision | None] = [None]

        def decide(decision_inputs: DecisionInputs) -> Decision | None:
            taken[0] = self._strategy.decide(decision_inputs)
            return taken[0]

        requests_exchange = any(profile.requests_exchange for profile in profiles)
        group_state.settle(profiles, defer_to_exchange if requests_exchange else decide)
        if requests_exchange or not any(group_state.shares):
            del self._missing[leader]
        return (actions.SendInstructions(group_state.members, profiles, taken[0]),)


class Balancer(GroupMember):
    """The balancer of rank ``rank``; ``shares`` are those of all ranks at the start.

    ``groups`` are those of a local strategy and together hold all ranks; ``rules`` say how they exchange
    work. With ``commit``, ``strategy`` balances all ranks until the first synchronization; then rank 0 calls
    ``commit``, and again at later synchronizations of all ranks where the parameters say so. ``group_state``
    is that of all ranks, where the driver makes it. All but ``rank`` and ``now`` must be the same on every
    rank. ValueError for an event that cannot happen in the state it meets.
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
        #: Profiles for a window, or a central balancer, that is still to come.
        self._early: list[events.ProfileReceived] = []
        self._balance_by(strategy, now)
        self._open_window(now)

    @classmethod
    def _table(cls) -> Handlers:
        return {
            **super()._table(),
            events.ProfilesExchanged: cls._profiles_exchanged,
            events.InstructionsReceived: cls._instructions_received,
            events.ProfileReceived: cls._profile_received,
            events.ChoiceRequested: cls._choice_requested,
            events.StrategyAnnounced: cls._strategy_announced,
            events.Received: cls._early_message,
            events.WorkReceived: cls._early_message,
        }

    @property
    def is_central(self) -> bool:
        """As `Agent.is_central`."""
        return self.center is not None

    @property
    def finished(self) -> bool:
        """As `Agent.finished`."""
        return self._over and (self.center is None or self.center.finished)

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: the lowest rank of a group counts for it."""
        state = self.group_state
        if state.members[0] != self.rank:
            return BalancingCounts()
        return BalancingCounts(
            state.synchronizations, state.redistributions, tuple(state.windows), state.gain
        )

    def _balance_by(self, strategy: Strategy, began_at: float) -> None:  # noqa: ARG002
        """Balance by this strategy from here on, in its groups; the shares are those held at ``began_at``."""
        self.strategy = strategy
        self._part(self._groups if strategy.local else (self.group_state.members,))

    def _part(self, groups: Groups) -> None:
        """Go on in these groups, from the state of all ranks."""
        group_state, strategy = self.group_state, self.strategy
        own = groups[0] if len(groups) == 1 else next(group for group in groups if self.rank in group)
        self.master = own[0] if self._rules.masters else 0
        served = (own,) if self._rules.masters else groups
        self.center = None
        if strategy.central and self.master == self.rank:
            self.center = CentralBalancer([group_state.of(group) for group in served], strategy)
        if strategy.local:
            self.group_state = group_state.of(own)

    def _profile_received(self, event: events.ProfileReceived) -> actions.Answer:
        if self.center is not None and self.center.awaits(event.rank):
            return self.center.report(event.rank, event.profile)
        if not self._may_serve:
            raise ValueError(f"rank {self.rank} is no balancer of rank {event.rank}, which reported to it")
        self._early.append(event)
        return ()

    @property
    def _may_serve(self) -> bool:
        """Whether this rank may yet become the balancer of other ranks, which know of it before it does."""
        return self._commitment.open

    def _handle_early(self) -> actions.Answer:
        """Handle profiles that came before this rank knew that it would receive any."""
        early, self._early = self._early, []
        return tuple(action for event in early for action in self._profile_received(event))

    def _profiles_exchanged(self, event: events.ProfilesExchanged) -> actions.Answer:
        return self._settled(event.now, event.profiles, self.strategy.decide)

    def _instructions_received(self, event: events.InstructionsReceived) -> actions.Answer:
        def decided(decision_inputs: DecisionInputs) -> Decision | None:  # noqa: ARG001
            return event.decision

        return self._settled(event.now, event.profiles, decided)

    def _settled(self, now: float, profiles: Sequence[Profile], decide: DecisionRule) -> actions.Answer:
        """Settle the window, as the answer to this rank's profile has come."""
        if not self._window.profile_sent:
            raise ValueError(f"an exchange has completed to which rank {self.rank} had given no profile")
        self._waited_s = self._window.waited_s(now)
        held = self.group_state.shares
        return self._close_window(now, held, profiles, self.group_state.settle(profiles, decide))

    def _close_window(
        self, now: float, held: Sequence[Spans], profiles: Sequence[Profile], transfers: tuple[Transfer, ...]
    ) -> actions.Answer:
        """Go on or end, after the group state was settled by the profiles of members, which ``held`` that."""
        group_state, own, window = self.group_state, self.group_state.place(self.rank), self._window
        if group_state.estimates.over:
            window.work, self._over = EMPTY, True
            return (actions.Finish(),)
        ahead = window.ahead
        if self.failed_at != NO_FAILURE:
            ahead = group_state.wanted_of_first(held[own].part(profiles[own].done), ahead)
        self._open_window(now, ahead, window.ahead_s)
        answer = self._await_choice(now, profiles) if self._commitment.open else self._next(now)
        return (actions.Move(transfers), *answer) if transfers else answer

    def _await_choice(self, now: float, profiles: Sequence[Profile]) -> actions.Answer:
        if self.rank == 0:  # it knows already how long it has waited for the answer
            profiles = (replace(profiles[0], waited_s=self._waited_s), *profiles[1:])
        announced = self._commitment.begin(profiles)
        if self.rank == 0:
            return (actions.RequestChoice(),)
        return (actions.Resume(),) if announced is None else self._commit_to(now, announced)

    def _choice_requested(self, event: events.ChoiceRequested) -> actions.Answer:
        chosen = self._commitment.choose(self.group_state)
        others = tuple(rank for rank in self.group_state.members if rank != self.rank)
        return (actions.AnnounceStrategy(chosen.name, others), *self._commit_to(event.now, chosen))

    def _strategy_announced(self, event: events.StrategyAnnounced) -> actions.Answer:
        chosen = strategy(event.strategy)
        return self._commit_to(event.now, chosen) if self._commitment.announce(chosen) else ()

    def _early_message(self, event: events.Received | events.WorkReceived) -> actions.Answer:
        """Keep what a rank sent that has already gone over to a strategy unknown here."""
        self._commitment.early_events.append(event)
        return ()

    def _commit_to(self, now: float, strategy: Strategy | PeerStrategy) -> actions.Answer:
        """Go on by this strategy; a global one may be replaced later, where the parameters say so."""
        window, commitment = self._window, self._commitment
        commitment.made()
        if isinstance(strategy, PeerStrategy):
            did, failures = (window.done, window.compute_s), (self.failed_at, self._own_failure)
            state = self.group_state
            start = InitialState(state.shares, self.context, phase=1 + state.epoch)
            self.successor = strategy.agent(self.rank, start, now)
            return take_over(self.successor, now, did, failures, commitment.early_events)
        if strategy.name != self.strategy.name:
            self._balance_by(strategy, window.opened_at)
        if strategy.local or not self.context.parameters.adapts:
            commitment.close()
        return (*self._handle_early(), *self._next(now))
