"""What the agents of one call say to one another, over MPI: actions become messages, messages become events.

Four kinds travel. A note is a few numbers, for ranks that compute: they look for notes between chunks of
iterations. A profile goes to the central balancer, an instruction back; the head of a group states to all
what its group has. Agents without synchronizations send words, and work that they give: its rows follow. The
answers to a profile are waited for by `dlbrt.mpi.answers`.

Notes and words carry the number of the call, since they may come when it is over: one that is for another
call is dropped.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator

import numpy as np
from mpi4py import MPI

from dlbrt.core.actions import (
    AnnounceStrategy,
    Interrupt,
    NotifyFailure,
    RequestGroupExchange,
    SendInstructions,
)
from dlbrt.core.events import (
    Event,
    FailureNotified,
    GroupExchangeRequested,
    Interrupted,
    ProfileReceived,
    StrategyAnnounced,
)
from dlbrt.core.peers.words import Message
from dlbrt.core.profile import Profile
from dlbrt.core.registry import names
from dlbrt.core.statement import GroupReport
from dlbrt.dist.spans import Spans
from dlbrt.mpi.answers import encode_instructions
from dlbrt.mpi.team import clock
from dlbrt.mpi.wire import ANY, GROUP_REPORT, INSTRUCTIONS, MESSAGE, REPORT, Communicator, Notification

__all__ = ["Messenger", "NotificationAction"]

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
