"""How the actions of agents are carried out in virtual time: what each costs, and what comes of it when.

By the network (Zaki, Li, Parthasarathy, section 1.3.2) an interrupt reaches a group of K after one-to-all
among K; profiles, from when the last one was given, take all-to-all, or all-to-one to the central balancer;
that loses the context switch from its own computing, and its instructions go out one latency apart. A word
to one rank takes the latency, a claim from the counter two.

A message to many is one step, in which each of them is told: what all of a group know alike is computed by
the first that needs it (`dlbrt.sim.replicas`, `dlbrt.core.standing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from dlbrt.core.actions import (
    Alarm,
    Announce,
    Choose,
    Claim,
    Exchange,
    Finish,
    Give,
    Instruct,
    Interrupt,
    Move,
    Report,
    Resume,
    State,
    Summon,
    Tell,
    methods_of,
)
from dlbrt.core.balancer import Balancer
from dlbrt.core.events import (
    Asked,
    Claimed,
    Committed,
    Exchanged,
    Given,
    Instructed,
    Interrupted,
    Reported,
    Stated,
    Summoned,
    Told,
)
from dlbrt.core.model.network import Network
from dlbrt.core.profile import Profile
from dlbrt.core.statement import Statement
from dlbrt.sim.links import Links, Movement
from dlbrt.sim.ranks import Carrier, Rank, Ranks, Telling

__all__ = ["Carriers"]


class Carriers:
    """Those of a run of these ``ranks``, with whose units ``unit_bytes`` move.

    ``end_s`` is when the last rank so far has finished; units that ``moved`` did so in so many
    ``redistributions``.
    """

    def __init__(self, ranks: Ranks, network: Network, unit_bytes: float) -> None:
        self.end_s = 0.0
        self.redistributions = self.moved = 0
        self._ranks = ranks
        self._network = network
        self._links = Links(network, len(ranks), unit_bytes)
        self._given: dict[tuple[int, int], dict[int, Profile]] = {}
        self._stated: dict[int, dict[int, Statement | None]] = {}
        self._asked: dict[int, int] = {}  # by the lowest rank of a group the latest window that one has ended
        self._movements: dict[tuple[int, int], Movement] = {}
        self._counter = 0

    def table(self) -> Mapping[type, Carrier]:
        """By the kind of action."""
        return methods_of(self)

    def _do_alarm(self, each: Rank, action: Alarm, now: float) -> None:
        raise AssertionError(f"expected no failure in a simulation, found {action} of {each.rank} at {now}")

    def _do_resume(self, each: Rank, action: Resume, now: float) -> None:
        """Of this nothing is left to do."""

    def _do_finish(self, each: Rank, action: Finish, now: float) -> None:  # noqa: ARG002
        self.end_s = max(self.end_s, now)

    # Words, and work that is given.

    def _send_out(self, ranks: Sequence[int], told: Telling, now: float) -> None:
        """One rank says it to all of these."""
        self._ranks.send(ranks, told, now + self._network.one_to_all.seconds(len(ranks) + 1))

    def _do_tell(self, each: Rank, action: Tell, now: float) -> None:
        told = partial(Told, source=each.rank, word=action.word)
        if len(action.targets) > 1:
            self._send_out(action.targets, told, now)
        else:
            self._ranks.send(action.targets, told, now + self._network.latency_s)

    def _do_give(self, each: Rank, action: Give, now: float) -> None:
        """What is given is on its way; who gives goes on, whose link is taken by one message at a time."""
        count = len(action.units)
        when = self._links.give(each.rank, action.target, count, now)
        self._ranks.send((action.target,), partial(Given, source=each.rank, units=action.units), when)
        self.redistributions += 1
        self.moved += count

    def _do_claim(self, each: Rank, action: Claim, now: float) -> None:
        """A claim goes to the counter and back."""
        told = partial(Claimed, number=self._counter, count=action.count)
        self._counter += action.count
        self._ranks.send((each.rank,), told, now + 2 * self._network.latency_s)

    # The choice of a strategy.

    def _do_choose(self, each: Rank, action: Choose, now: float) -> None:  # noqa: ARG002
        self._ranks.tell(each, Asked(now))

    def _do_announce(self, each: Rank, action: Announce, now: float) -> None:  # noqa: ARG002
        self._send_out(action.members, partial(Committed, strategy=action.strategy), now)

    # Synchronizations.

    def _do_interrupt(self, each: Rank, action: Interrupt, now: float) -> None:
        """Of those who ask for one synchronization only the first to be heard is.

        To the others nobody listens: all but the first have given their profiles or are about to, and who has
        looks for nothing but the answer (`dlbrt.mpi.crew`). Many ask at one time, each of them all.
        """
        head, told = _balancer(each).books.members[0], partial(Interrupted, epoch=action.epoch)

        def come(now: float) -> None:
            if self._asked.get(head, -1) < action.epoch:
                self._asked[head] = action.epoch
                self._ranks.tell_all(action.members, told, now)

        self._ranks.come(come, now + self._network.one_to_all.seconds(len(action.members) + 1))

    def _gathered(
        self, each: Rank, members: tuple[int, ...], epoch: int, profile: Profile
    ) -> tuple[Profile, ...]:
        """The profiles of a window, this rank's among them, if they are complete; else nothing.

        Windows are told apart by epoch and lowest rank, since no rank is in two groups in one epoch.
        """
        each.among = 0
        key = epoch, members[0]
        given = self._given.setdefault(key, {})
        given[each.rank] = profile
        if len(given) < len(members):
            return ()
        del self._given[key]
        return tuple(map(given.__getitem__, members))

    def _do_exchange(self, each: Rank, action: Exchange, now: float) -> None:
        if profiles := self._gathered(each, action.members, action.epoch, action.profile):
            takes_s = self._network.all_to_all.seconds(len(profiles))
            self._ranks.send(action.members, partial(Exchanged, profiles=profiles), now + takes_s)

    def _do_report(self, each: Rank, action: Report, now: float) -> None:
        members = _balancer(each).books.members
        if profiles := self._gathered(each, members, action.epoch, action.profile):
            when = now + self._network.all_to_one.seconds(len(profiles))
            for member, profile in zip(members, profiles, strict=True):
                self._ranks.send((action.master,), partial(Reported, rank=member, profile=profile), when)

    def _do_instruct(self, each: Rank, action: Instruct, now: float) -> None:
        """The others of the group hear one after the other; the balancer's host itself first."""
        told = partial(Instructed, profiles=action.profiles, decision=action.decision)
        begin_s = now + self._network.switch_s
        if each.rank in action.members:
            each.inbox.appendleft(told)
        others = (member for member in action.members if member != each.rank)
        for place, member in enumerate(others, 1):
            self._ranks.send((member,), told, begin_s + place * self._network.latency_s)
        each.blocked = True
        self._ranks.release(each, begin_s)

    # Rounds of all groups.

    def _do_summon(self, each: Rank, action: Summon, now: float) -> None:  # noqa: ARG002
        self._send_out(action.members, partial(Summoned, round=action.round), now)

    def _do_state(self, each: Rank, action: State, now: float) -> None:
        """When all have come to the round, each head sends what it states to all ranks."""
        count = len(self._ranks)
        stated = self._stated.setdefault(action.round, {})
        stated[each.rank] = action.statement
        if len(stated) < count:
            return
        given = self._stated.pop(action.round)
        found = (given[head] for head in action.heads)
        statements = tuple(statement for statement in found if statement is not None)
        for other in self._ranks.each:
            other.among = count
        takes_s = self._network.all_to_all.seconds(count)
        self._ranks.send(range(count), partial(Stated, statements=statements), now + takes_s)

    # Movements of work that a group decided on.

    def _do_move(self, each: Rank, action: Move, now: float) -> None:
        """A rank has come to a movement; it, and those it sends to, may by now know how long theirs takes."""
        books = _balancer(each).books
        # Windows are told apart as in `_gathered`; after a round all move together.
        key = books.epoch, -1 if each.among else books.members[0]
        movement = self._movements.get(key)
        if movement is None:
            movement = self._movements[key] = self._begun(action)
        if movement.concerns(each.rank):
            each.blocked = True
            for member, ready_s in movement.join(each.rank, now, self._links):
                size = self._links.size(member, movement.given(member))
                took_s = ready_s - movement.came[member]
                self._ranks.moved(self._ranks.each[member], ready_s, took_s, size)
        else:
            movement.pass_by(each.rank, now)
        if len(movement.came) == (each.among or len(books.members)):
            del self._movements[key]

    def _begun(self, action: Move) -> Movement:
        self.redistributions += 1
        self.moved += sum(len(transfer.spans) for transfer in action.transfers)
        return Movement(action.transfers)


def _balancer(each: Rank) -> Balancer:
    """The agent of a rank that synchronizes with others."""
    assert isinstance(each.agent, Balancer)
    return each.agent
