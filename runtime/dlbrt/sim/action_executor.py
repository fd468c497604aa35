"""The execution of agents' actions in virtual time: what each costs, and which events follow when.

Costs follow the network (Zaki, Li, Parthasarathy, section 1.3.2). An interrupt reaches a group of K after
one-to-all among K. Profiles take all-to-all, or all-to-one to the central balancer, from when the last one
was given. The central balancer loses the context switch from its own computing, and its instructions go out
one latency apart. A message to one rank takes the latency, a claim from the counter twice the latency. A
message of b bytes takes L + b / B (eq. 1.3.5); messages go side by side, but one at a time from and to each
rank.

A message to many is one step that delivers it to all of them: what all of a group know alike is computed by
the first that needs it (`dlbrt.sim.driver`, `dlbrt.balance.group_estimates`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from dlbrt.balance import actions, events
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.messages import GroupReport, Profile
from dlbrt.data.transfer import Transfer
from dlbrt.predict.network import Network
from dlbrt.sim.ranks import ActionHandler, EventFactory, SimulatedRank, SimulatedRanks


class Links:
    """The links of a network of ``ranks``, with ``unit_bytes`` for each unit that moves.

    A rank sends in the order of the plan, from when it begins to move, and goes on when all that it sends and
    receives has arrived. Units for rank 0 need no message, since it has the rows already
    (`dlbrt.mpi.driver`).
    """

    def __init__(self, network: Network, ranks: int, unit_bytes: float) -> None:
        self._network = network
        self._unit_bytes = unit_bytes
        self._sends_from = [0.0] * ranks  # when each rank's link is free to send, and to receive
        self._receives_from = [0.0] * ranks

    def size(self, rank: int, transfers: Sequence[Transfer]) -> int:
        """The number of bytes that a rank sends."""
        units = sum(len(t.spans) for t in transfers if t.source == rank and t.target != 0)
        return round(units * self._unit_bytes)

    def send(self, rank: int, transfers: Sequence[Transfer], now: float) -> dict[int, float]:
        """A rank sends its transfers; when the last one arrives at each target."""
        arrives: dict[int, float] = {}
        for transfer in transfers:
            if transfer.source == rank and (target := transfer.target) != 0:
                arrives[target] = self.give(rank, target, len(transfer.spans), now)
        return arrives

    def give(self, source: int, target: int, units: int, now: float) -> float:
        """A rank sends units and their data to another; when they arrive."""
        begin = max(now, self._sends_from[source], self._receives_from[target])
        size = units * self._unit_bytes if target else 0.0
        end = begin + self._network.message_s(size)
        self._sends_from[source] = self._receives_from[target] = end
        return end


class PendingRedistribution:
    """A redistribution under way: when each rank ``arrived`` at it, and what each still awaits."""

    def __init__(self, transfers: Sequence[Transfer]) -> None:
        self.arrived: dict[int, float] = {}
        self._given: dict[int, list[Transfer]] = {}
        for transfer in transfers:
            self._given.setdefault(transfer.source, []).append(transfer)
        self._awaited = Counter(t.target for t in transfers if t.target != 0)
        self._ready_s: dict[int, float] = {}

    def given(self, rank: int) -> Sequence[Transfer]:
        """The transfers that a rank sends."""
        return self._given.get(rank, ())

    def concerns(self, rank: int) -> bool:
        """Whether a rank sends anything, or receives something by message."""
        return rank in self._given or rank in self._awaited

    def pass_by(self, rank: int, now: float) -> None:
        """A rank has arrived that the redistribution does not concern; it goes on."""
        self.arrived[rank] = now

    def join(self, rank: int, now: float, links: Links) -> list[tuple[int, float]]:
        """A rank has arrived; the ranks whose time to go on is now known, with that time."""
        arrives = links.send(rank, self.given(rank), now)
        self.arrived[rank] = now
        self._ready_s[rank] = max(now, self._ready_s.get(rank, now), *arrives.values())
        for target, when in arrives.items():
            self._awaited[target] -= 1
            self._ready_s[target] = max(when, self._ready_s.get(target, when))
        return [(r, self._ready_s[r]) for r in (rank, *arrives) if r in self.arrived and not self._awaited[r]]


class ActionExecutor:
    """Carries out the actions of ``ranks``, with ``unit_bytes`` for each unit that moves.

    ``end_s`` is when the last rank so far finished; ``moved`` counts the units that moved in all
    ``redistributions``.
    """

    def __init__(self, ranks: SimulatedRanks, network: Network, unit_bytes: float) -> None:
        self.end_s = 0.0
        self.redistributions = self.moved = 0
        self._ranks = ranks
        self._network = network
        self._links = Links(network, len(ranks), unit_bytes)
        self._profiles: dict[tuple[int, int], dict[int, Profile]] = {}
        self._group_reports: dict[int, dict[int, GroupReport | None]] = {}
        # The latest interrupted epoch of each group, by the group's lowest rank.
        self._interrupted_epochs: dict[int, int] = {}
        self._movements: dict[tuple[int, int], PendingRedistribution] = {}
        self._counter = 0

    def table(self) -> Mapping[type, ActionHandler]:
        """The handlers, by the kind of action."""
        return actions.methods_of(self)

    def _do_notify_failure(self, each: SimulatedRank, action: actions.NotifyFailure, now: float) -> None:
        raise AssertionError(f"expected no failure in a simulation, found {action} of {each.rank} at {now}")

    def _do_resume(self, each: SimulatedRank, action: actions.Resume, now: float) -> None:
        """Do nothing: a rank resumes when it next settles."""

    def _do_finish(self, _: SimulatedRank, __: actions.Finish, now: float) -> None:
        self.end_s = max(self.end_s, now)

    # Messages, and work sent to another rank.

    def _send_out(self, ranks: Sequence[int], event_at: EventFactory, now: float) -> None:
        """One rank sends a message to all these ranks."""
        self._ranks.send(ranks, event_at, now + self._network.one_to_all.seconds(len(ranks) + 1))

    def _do_send(self, each: SimulatedRank, action: actions.Send, now: float) -> None:
        event_at = partial(events.Received, source=each.rank, message=action.message)
        if len(action.targets) > 1:
            self._send_out(action.targets, event_at, now)
        else:
            self._ranks.send(action.targets, event_at, now + self._network.latency_s)

    def _do_send_work(self, each: SimulatedRank, action: actions.SendWork, now: float) -> None:
        """The units are on their way, and the sender goes on; its link takes one message at a time."""
        count = len(action.units)
        when = self._links.give(each.rank, action.target, count, now)
        self._ranks.send(
            (action.target,), partial(events.WorkReceived, source=each.rank, units=action.units), when
        )
        self.redistributions += 1
        self.moved += count

    def _do_claim_chunks(self, each: SimulatedRank, action: actions.ClaimChunks, now: float) -> None:
        """The claim goes to the counter and back."""
        event_at = partial(events.ChunksClaimed, number=self._counter, count=action.count)
        self._counter += action.count
        self._ranks.send((each.rank,), event_at, now + 2 * self._network.latency_s)

    # The choice of a strategy.

    def _do_request_choice(self, each: SimulatedRank, _: actions.RequestChoice, now: float) -> None:
        self._ranks.deliver(each, events.ChoiceRequested(now))

    def _do_announce_strategy(self, _: SimulatedRank, action: actions.AnnounceStrategy, now: float) -> None:
        self._send_out(action.members, partial(events.StrategyAnnounced, strategy=action.strategy), now)

    # Synchronizations.

    def _do_interrupt(self, each: SimulatedRank, action: actions.Interrupt, now: float) -> None:
        """Only the first interrupt of a window is delivered.

        By the time another one would arrive, all ranks have given their profiles or are about to, and a rank
        that has waits only for the answer (`dlbrt.mpi.driver`). Many ranks may interrupt all others at one
        time.
        """
        head, event_at = (
            _balancer(each).group_state.members[0],
            partial(events.Interrupted, epoch=action.epoch),
        )

        def schedule(now: float) -> None:
            if self._interrupted_epochs.get(head, -1) < action.epoch:
                self._interrupted_epochs[head] = action.epoch
                self._ranks.deliver_all(action.members, event_at, now)

        self._ranks.schedule(schedule, now + self._network.one_to_all.seconds(len(action.members) + 1))

    def _gathered(
        self, each: SimulatedRank, members: tuple[int, ...], epoch: int, profile: Profile
    ) -> tuple[Profile, ...]:
        """Add this rank's profile; all profiles of the window if they are complete, else ().

        A window's key is its epoch and the group's lowest rank, since no rank is in two groups in one epoch.
        """
        each.among = 0
        key = epoch, members[0]
        given = self._profiles.setdefault(key, {})
        given[each.rank] = profile
        if len(given) < len(members):
            return ()
        del self._profiles[key]
        return tuple(map(given.__getitem__, members))

    def _do_exchange_profiles(
        self, each: SimulatedRank, action: actions.ExchangeProfiles, now: float
    ) -> None:
        if profiles := self._gathered(each, action.members, action.epoch, action.profile):
            takes_s = self._network.all_to_all.seconds(len(profiles))
            self._ranks.send(
                action.members, partial(events.ProfilesExchanged, profiles=profiles), now + takes_s
            )

    def _do_send_profile(self, each: SimulatedRank, action: actions.SendProfile, now: float) -> None:
        members = _balancer(each).group_state.members
        if profiles := self._gathered(each, members, action.epoch, action.profile):
            when = now + self._network.all_to_one.seconds(len(profiles))
            for member, profile in zip(members, profiles, strict=True):
                event_at = partial(events.ProfileReceived, rank=member, profile=profile)
                self._ranks.send((action.master,), event_at, when)

    def _do_send_instructions(
        self, each: SimulatedRank, action: actions.SendInstructions, now: float
    ) -> None:
        """The balancer's own rank takes its instructions first, the other members one after the other."""
        event_at = partial(events.InstructionsReceived, profiles=action.profiles, decision=action.decision)
        begin_s = now + self._network.switch_s
        if each.rank in action.members:
            each.inbox.appendleft(event_at)
        others = (member for member in action.members if member != each.rank)
        for place, member in enumerate(others, 1):
            self._ranks.send((member,), event_at, begin_s + place * self._network.latency_s)
        each.blocked = True
        self._ranks.release(each, begin_s)

    # Group exchanges.

    def _do_request_group_exchange(
        self, _: SimulatedRank, action: actions.RequestGroupExchange, now: float
    ) -> None:
        self._send_out(action.members, partial(events.GroupExchangeRequested, round=action.round), now)

    def _do_send_group_report(self, each: SimulatedRank, action: actions.SendGroupReport, now: float) -> None:
        """When all ranks have come to the round, each leader sends its group report to all ranks."""
        count = len(self._ranks)
        reports_by_rank = self._group_reports.setdefault(action.round, {})
        reports_by_rank[each.rank] = action.report
        if len(reports_by_rank) < count:
            return
        del self._group_reports[action.round]
        led = (reports_by_rank[leader] for leader in action.leaders)
        reports = tuple(report for report in led if report is not None)
        for other in self._ranks.each:
            other.among = count
        takes_s = self._network.all_to_all.seconds(count)
        self._ranks.send(range(count), partial(events.GroupReportsReceived, reports=reports), now + takes_s)

    # Redistributions that a group decided on.

    def _do_move(self, each: SimulatedRank, action: actions.Move, now: float) -> None:
        """A rank arrives at a redistribution; for it and its targets, the time to go on may now be known."""
        group_state = _balancer(each).group_state
        # Windows have keys as in `_gathered`; after a group exchange all ranks move together.
        key = group_state.epoch, -1 if each.among else group_state.members[0]
        movement = self._movements.get(key)
        if movement is None:
            movement = self._movements[key] = self._begun(action)
        if movement.concerns(each.rank):
            each.blocked = True
            for member, ready_s in movement.join(each.rank, now, self._links):
                size = self._links.size(member, movement.given(member))
                took_s = ready_s - movement.arrived[member]
                self._ranks.moved(self._ranks.each[member], ready_s, took_s, size)
        else:
            movement.pass_by(each.rank, now)
        if len(movement.arrived) == (each.among or len(group_state.members)):
            del self._movements[key]

    def _begun(self, action: actions.Move) -> PendingRedistribution:
        self.redistributions += 1
        self.moved += sum(len(transfer.spans) for transfer in action.transfers)
        return PendingRedistribution(action.transfers)


def _balancer(each: SimulatedRank) -> Balancer:
    """The agent of a rank, which synchronizes with others."""
    assert isinstance(each.agent, Balancer)
    return each.agent
