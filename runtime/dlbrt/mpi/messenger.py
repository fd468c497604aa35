"""What the agents of one call say to one another, over MPI: actions become messages, messages become events.

Four kinds travel. A note is a few numbers, for ranks that compute: they look for notes between chunks of
iterations. A profile goes to the central balancer, an instruction back; the head of a group states to all
what its group has. Agents without synchronizations send words, and work that they give: its rows follow. The
answers to a profile are waited for by `dlbrt.mpi.messenger`.

Notes and words carry the number of the call, since they may come when it is over: one that is for another
call is dropped.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from dlbrt.balance.actions import (
    AnnounceStrategy,
    Interrupt,
    NotifyFailure,
    RequestGroupExchange,
    SendInstructions,
)
from dlbrt.balance.decision import Decision
from dlbrt.balance.events import (
    ChunksClaimed,
    Event,
    FailureNotified,
    GroupExchangeRequested,
    GroupReportsReceived,
    InstructionsReceived,
    Interrupted,
    ProfileReceived,
    ProfilesExchanged,
    StrategyAnnounced,
)
from dlbrt.balance.messages import GroupReport, Message, Profile
from dlbrt.balance.strategies import names
from dlbrt.data.spans import Spans
from dlbrt.mpi.communicator import (
    ANY,
    GROUP_REPORT,
    INSTRUCTIONS,
    MESSAGE,
    PROFILE,
    REPORT,
    Communicator,
    Notification,
    SharedCounter,
)
from dlbrt.mpi.team import clock

# ------------------------------------------------------------------------------
# What a rank that has given its profile waits for: its group's profiles, or the central balancer's answer;
# where groups exchange work, the statements of all of them.
#
# Among all ranks the profiles go by one non-blocking collective; within a group from each member to each
# other, which needs no communicator of its own, and so no moment at which all must come together to make one.


class PendingReply(Protocol):
    """The answer to a profile that was given."""

    def complete(self) -> bool:
        """Whether it is there."""

    def event(self, now: float) -> Event:
        """It, once it is there."""


class PendingAllgather:
    """The profiles of all ranks."""

    def __init__(self, communicator: Communicator, profile: Profile) -> None:
        self._request, self._table = communicator.exchange(profile.encode())
        self._done = False

    def complete(self) -> bool:
        """As `PendingReply.complete`."""
        self._done = self._done or self._request.Test()
        return self._done

    def event(self, now: float) -> ProfilesExchanged:
        """As `PendingReply.event`."""
        return ProfilesExchanged(now, tuple(Profile.decode(row) for row in self._table.tolist()))


class PendingGroupProfiles:
    """The profiles of the ranks ``members``, the own one among them."""

    def __init__(self, communicator: Communicator, profile: Profile, members: Sequence[int]) -> None:
        mine = np.array(profile.encode(), dtype=np.float64)
        self._rows = [mine if rank == communicator.rank else np.empty_like(mine) for rank in members]
        self._requests: list[MPI.Request] = []
        for rank, row in zip(members, self._rows, strict=True):
            if rank != communicator.rank:
                self._requests.append(communicator.receive_memory(row, rank, PROFILE))
                self._requests.append(communicator.send_memory(mine, rank, PROFILE))

    def complete(self) -> bool:
        """As `PendingReply.complete`."""
        if self._requests and MPI.Request.Testall(self._requests):
            self._requests = []
        return not self._requests

    def event(self, now: float) -> ProfilesExchanged:
        """As `PendingReply.event`."""
        return ProfilesExchanged(now, tuple(Profile.decode(row.tolist()) for row in self._rows))


class PendingInstructions:
    """The instruction of the central balancer on rank ``master``, on any rank but its own."""

    def __init__(self, communicator: Communicator, master: int) -> None:
        self._communicator = communicator
        self._master = master
        self._content: tuple[tuple[Profile, ...], Decision | None] | None = None

    def complete(self) -> bool:
        """As `PendingReply.complete`."""
        if self._content is None and (found := self._communicator.poll_bytes(self._master, INSTRUCTIONS)):
            self._content = pickle.loads(found[1])
        return self._content is not None

    def event(self, now: float) -> InstructionsReceived:
        """As `PendingReply.event`."""
        assert self._content is not None
        return InstructionsReceived(now, *self._content)


class PendingGroupReports:
    """One statement from each of the ``leaders``; ``own`` where this rank is one."""

    def __init__(self, communicator: Communicator, leaders: Sequence[int], own: GroupReport | None) -> None:
        self._communicator = communicator
        self._leaders = leaders
        self._found = {} if own is None else {communicator.rank: own}

    def complete(self) -> bool:
        """As `PendingReply.complete`."""
        for head in self._leaders:
            if head not in self._found and (come := self._communicator.poll_bytes(head, GROUP_REPORT)):
                self._found[head] = pickle.loads(come[1])
        return len(self._found) == len(self._leaders)

    def event(self, now: float) -> GroupReportsReceived:
        """As `PendingReply.event`."""
        return GroupReportsReceived(now, tuple(self._found[head] for head in self._leaders))


class PendingClaim:
    """What the counter said as ``count`` was added to it."""

    def __init__(self, counter: SharedCounter, count: int) -> None:
        self._claim = counter.fetch_and_add(count)
        self._count = count
        self._done = False

    def complete(self) -> bool:
        """As `PendingReply.complete`."""
        self._done = self._done or self._claim.complete()
        return self._done

    def event(self, now: float) -> ChunksClaimed:
        """As `PendingReply.event`."""
        return ChunksClaimed(now, self._claim.number, self._count)


def encode_instructions(profiles: tuple[Profile, ...], decision: Decision | None) -> bytes:
    """The message that `PendingInstructions` reads."""
    content: Any = (profiles, decision)
    return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)


# ------------------------------------------------------------------------------

#: Messages under way beyond which those that have arrived are forgotten.
_SENDING = 64

#: What is said by a note.
NotificationAction = Interrupt | NotifyFailure | RequestGroupExchange | AnnounceStrategy


class Messenger:
    """The messages of the call ``serial``, as one rank sends and finds them."""

    def __init__(self, communicator: Communicator, serial: int) -> None:
        self._communicator = communicator
        self._serial = serial
        self._sending: list[MPI.Request] = []

    def notify(self, action: NotificationAction) -> None:
        """Tell ranks that compute."""
        self._keep(self._communicator.interrupt(_written(self._serial, action), action.members))

    def send_profile(self, profile: Profile, master: int) -> None:
        """Give a profile to the central balancer of another rank."""
        data = np.array(profile.encode(), dtype=np.float64).tobytes()
        self._send(data, (master,), REPORT)

    def send_instructions(self, action: SendInstructions) -> None:
        """Tell the other members of a group what was decided."""
        others = (rank for rank in action.members if rank != self._communicator.rank)
        self._send(encode_instructions(action.profiles, action.decision), others, INSTRUCTIONS)

    def send_group_report(self, report: GroupReport) -> None:
        """Tell all other ranks what this one's group has."""
        others = (rank for rank in range(self._communicator.ranks) if rank != self._communicator.rank)
        self._send(pickle.dumps(report, pickle.HIGHEST_PROTOCOL), others, GROUP_REPORT)

    def send(self, message: Message | Spans, targets: Iterable[int]) -> None:
        """Say a word, or that these units come."""
        self._send(pickle.dumps((self._serial, message), pickle.HIGHEST_PROTOCOL), targets, MESSAGE)

    def complete(self) -> None:
        """Wait until what was sent has arrived."""
        self._communicator.complete(self._sending)

    def poll_notification(self) -> Event | None:
        """What a note says, if one has come."""
        note = self._communicator.interrupted()
        return None if note is None or note.serial != self._serial else _read(note, clock())

    def poll_profile(self) -> ProfileReceived | None:
        """A profile for the central balancer here, if one has come."""
        if (found := self._communicator.poll_bytes(ANY, REPORT)) is None:
            return None
        profile = Profile.decode(np.frombuffer(found[1], dtype=np.float64).tolist())
        return ProfileReceived(clock(), found[0], profile)

    def poll_messages(self) -> Iterator[tuple[int, Message | Spans]]:
        """The words that have come, each with who said it; units that come, whose rows follow."""
        while found := self._communicator.poll_bytes(ANY, MESSAGE):
            serial, message = pickle.loads(found[1])
            if serial == self._serial:  # else its teller did not know yet that a loop was over
                yield found[0], message

    def _send(self, data: bytes, targets: Iterable[int], tag: int) -> None:
        self._keep([self._communicator.send_bytes(data, rank, tag) for rank in targets])

    def _keep(self, requests: list[MPI.Request]) -> None:
        if len(self._sending) > _SENDING:
            self._sending = [request for request in self._sending if not request.Test()]
        self._sending += requests


def _written(serial: int, action: NotificationAction) -> Notification:
    """The note that says this."""
    match action:
        case Interrupt(epoch):
            return Notification(serial, epoch=epoch)
        case NotifyFailure(position):
            return Notification(serial, failed_at=position)
        case RequestGroupExchange(number):
            return Notification(serial, round=number)
        case AnnounceStrategy(strategy):
            return Notification(serial, strategy=names().index(strategy))


def _read(note: Notification, now: float) -> Event:
    """What it tells the agent that hears it."""
    if note.strategy >= 0:
        return StrategyAnnounced(now, names()[note.strategy])
    if note.round >= 0:
        return GroupExchangeRequested(now, note.round)
    return Interrupted(now, note.epoch) if note.epoch >= 0 else FailureNotified(now, note.failed_at)
