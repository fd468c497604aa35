"""The messages between the agents of one call, over MPI: actions become messages, messages become events.

A notification is a few numbers for ranks that compute: they poll for it between chunks of iterations. A
profile goes to the central balancer, instructions come back; the leader of a group reports to all what its
group has. Agents without synchronizations send messages, and work that they give away: its rows follow.

Notifications and messages carry the number of the call, since they may arrive when it is over: one that
belongs to another call is dropped.

A rank that has sent its profile waits for a `PendingReply`. Among all ranks profiles are exchanged by one
non-blocking collective; within a group each member sends to each other, which needs no communicator for the
group, and so no moment at which all ranks must come together to create one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from mpi4py import MPI

from dlbrt.balance import actions, events
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

#: Sends under way beyond which those that have completed are forgotten.
_SENDING = 64

#: After a message, so many probes have to find nothing before no other is taken to be there: MPI may bring
#: forward one message at each probe.
_PROBES = 4

#: The actions that become notifications.
NotificationAction = (
    actions.Interrupt | actions.NotifyFailure | actions.RequestGroupExchange | actions.AnnounceStrategy
)


class PendingReply:
    """A reply that a rank waits for: ``poll`` says whether it is there, ``event`` turns it into an event."""

    def __init__(self, poll: Callable[[], bool], event: Callable[[float], events.Event]) -> None:
        self._poll = poll
        self._done = False
        self.event = event

    def complete(self) -> bool:
        """Whether the reply has arrived."""
        self._done = self._done or self._poll()
        return self._done


def exchange_among_all(communicator: Communicator, profile: Profile) -> PendingReply:
    """The profiles of all ranks."""
    request, table = communicator.exchange(profile.encode())
    return PendingReply(
        request.Test,
        lambda now: events.ProfilesExchanged(now, tuple(map(Profile.decode, table.tolist()))),
    )


def exchange_in_group(communicator: Communicator, profile: Profile, members: Sequence[int]) -> PendingReply:
    """The profiles of the ranks ``members``, this rank among them."""
    mine = np.array(profile.encode(), dtype=np.float64)
    rows = [mine if rank == communicator.rank else np.empty_like(mine) for rank in members]
    requests: list[MPI.Request] = []
    for rank, row in zip(members, rows, strict=True):
        if rank != communicator.rank:
            requests.append(communicator.receive_memory(row, rank, PROFILE))
            requests.append(communicator.send_memory(mine, rank, PROFILE))
    return PendingReply(
        lambda: not requests or communicator.have_completed(requests),
        lambda now: events.ProfilesExchanged(now, tuple(Profile.decode(row.tolist()) for row in rows)),
    )


def pending_instructions(communicator: Communicator, master: int) -> PendingReply:
    """The instructions of the central balancer on rank ``master``, which is another rank."""
    found: list[bytearray] = []

    def poll() -> bool:
        if message := communicator.poll_bytes(master, INSTRUCTIONS):
            found.append(message[1])
        return bool(found)

    return PendingReply(poll, lambda now: events.InstructionsReceived(now, *pickle.loads(found[0])))


def pending_group_reports(
    communicator: Communicator, leaders: Sequence[int], own: GroupReport | None
) -> PendingReply:
    """One report from each of the ``leaders``; ``own`` where this rank is one."""
    found = {} if own is None else {communicator.rank: own}

    def poll() -> bool:
        for leader in leaders:
            if leader not in found and (message := communicator.poll_bytes(leader, GROUP_REPORT)):
                found[leader] = pickle.loads(message[1])
        return len(found) == len(leaders)

    return PendingReply(
        poll, lambda now: events.GroupReportsReceived(now, tuple(found[leader] for leader in leaders))
    )


def pending_claim(counter: SharedCounter, count: int) -> PendingReply:
    """The value of the counter before ``count`` was added to it."""
    request, found = counter.fetch_and_add(count)
    return PendingReply(request.Test, lambda now: events.ChunksClaimed(now, int(found[0]), count))


class Messenger:
    """The messages of the call ``serial``, as one rank sends and receives them."""

    def __init__(self, communicator: Communicator, serial: int) -> None:
        self._communicator = communicator
        self._serial = serial
        self._sending: list[MPI.Request] = []

    def notify(self, action: NotificationAction) -> None:
        """Notify ranks that compute."""
        self._keep(self._communicator.interrupt(_written(self._serial, action), action.members))

    def send_profile(self, profile: Profile, master: int) -> None:
        """Send a profile to the central balancer on another rank."""
        data = np.array(profile.encode(), dtype=np.float64).tobytes()
        self._send(data, (master,), REPORT)

    def send_instructions(self, action: actions.SendInstructions) -> None:
        """Send the decision to the other members of a group."""
        others = (rank for rank in action.members if rank != self._communicator.rank)
        content = pickle.dumps((action.profiles, action.decision), pickle.HIGHEST_PROTOCOL)
        self._send(content, others, INSTRUCTIONS)

    def send_group_report(self, report: GroupReport) -> None:
        """Send the report of this rank's group to all other ranks."""
        others = (rank for rank in range(self._communicator.ranks) if rank != self._communicator.rank)
        self._send(pickle.dumps(report, pickle.HIGHEST_PROTOCOL), others, GROUP_REPORT)

    def send(self, message: Message | Spans, targets: Iterable[int]) -> None:
        """Send a message, or the announcement of units whose rows follow."""
        self._send(pickle.dumps((self._serial, message), pickle.HIGHEST_PROTOCOL), targets, MESSAGE)

    def complete(self) -> None:
        """Wait until what was sent has arrived."""
        self._communicator.complete(self._sending)

    def poll_notification(self) -> events.Event | None:
        """The event of a notification, if one has come."""
        note = self._communicator.interrupted()
        return None if note is None or note.serial != self._serial else _read(note, clock())

    def poll_profile(self) -> events.ProfileReceived | None:
        """A profile for the central balancer here, if one has come."""
        if (found := self._communicator.poll_bytes(ANY, REPORT)) is None:
            return None
        profile = Profile.decode(np.frombuffer(found[1], dtype=np.float64).tolist())
        return events.ProfileReceived(clock(), found[0], profile)

    def poll_messages(self) -> Iterator[tuple[int, Message | Spans]]:
        """The messages that have come, each with its source; for units that come, the rows follow."""
        more = 1
        while more:
            if (found := self._communicator.poll_bytes(ANY, MESSAGE)) is None:
                more -= 1
                continue
            more = _PROBES
            serial, message = pickle.loads(found[1])
            if serial == self._serial:  # otherwise its sender did not know yet that a loop was over
                yield found[0], message

    def _send(self, data: bytes, targets: Iterable[int], tag: int) -> None:
        self._keep([self._communicator.send_bytes(data, rank, tag) for rank in targets])

    def _keep(self, requests: list[MPI.Request]) -> None:
        if len(self._sending) > _SENDING:
            done = self._communicator.have_completed
            self._sending = [request for request in self._sending if not done([request])]
        self._sending += requests


def _written(serial: int, action: NotificationAction) -> Notification:
    """The notification of an action."""
    match action:
        case actions.Interrupt(epoch):
            return Notification(serial, epoch=epoch)
        case actions.NotifyFailure(position):
            return Notification(serial, failed_at=position)
        case actions.RequestGroupExchange(number):
            return Notification(serial, round=number)
        case actions.AnnounceStrategy(strategy):
            return Notification(serial, strategy=names().index(strategy))


def _read(note: Notification, now: float) -> events.Event:
    """The event of a notification."""
    if note.strategy >= 0:
        return events.StrategyAnnounced(now, names()[note.strategy])
    if note.round >= 0:
        return events.GroupExchangeRequested(now, note.round)
    if note.epoch >= 0:
        return events.Interrupted(now, note.epoch)
    return events.FailureNotified(now, note.failed_at)
