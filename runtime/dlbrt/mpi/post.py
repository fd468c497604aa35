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

from dlbrt.core.actions import Alarm, Announce, Instruct, Interrupt, Summon
from dlbrt.core.events import Alarmed, Committed, Event, Interrupted, Reported, Summoned
from dlbrt.core.peers.words import Word
from dlbrt.core.profile import Profile
from dlbrt.core.registry import names
from dlbrt.core.statement import Statement
from dlbrt.dist.spans import Spans
from dlbrt.mpi.answers import answer_to
from dlbrt.mpi.team import clock
from dlbrt.mpi.wire import ANY, INSTRUCTION, REPORT, STATEMENT, WORD, Note, Wire

__all__ = ["Noted", "Post"]

#: Messages under way beyond which those that have arrived are forgotten.
_SENDING = 64

#: What is said by a note.
Noted = Interrupt | Alarm | Summon | Announce


class Post:
    """The messages of the call ``serial``, as one rank sends and finds them."""

    def __init__(self, wire: Wire, serial: int) -> None:
        self._wire = wire
        self._serial = serial
        self._sending: list[MPI.Request] = []

    def notify(self, action: Noted) -> None:
        """Tell ranks that compute."""
        self._keep(self._wire.interrupt(_written(self._serial, action), action.members))

    def report(self, profile: Profile, master: int) -> None:
        """Give a profile to the central balancer of another rank."""
        data = np.array(profile.encode(), dtype=np.float64).tobytes()
        self._send(data, (master,), REPORT)

    def instruct(self, action: Instruct) -> None:
        """Tell the other members of a group what was decided."""
        others = (rank for rank in action.members if rank != self._wire.rank)
        self._send(answer_to(action.profiles, action.decision), others, INSTRUCTION)

    def state(self, statement: Statement) -> None:
        """Tell all other ranks what this one's group has."""
        others = (rank for rank in range(self._wire.ranks) if rank != self._wire.rank)
        self._send(pickle.dumps(statement, pickle.HIGHEST_PROTOCOL), others, STATEMENT)

    def tell(self, said: Word | Spans, targets: Iterable[int]) -> None:
        """Say a word, or that these units come."""
        self._send(pickle.dumps((self._serial, said), pickle.HIGHEST_PROTOCOL), targets, WORD)

    def complete(self) -> None:
        """Wait until what was sent has arrived."""
        self._wire.complete(self._sending)

    def noted(self) -> Event | None:
        """What a note says, if one has come."""
        note = self._wire.interrupted()
        return None if note is None or note.serial != self._serial else _read(note, clock())

    def reported(self) -> Reported | None:
        """A profile for the central balancer here, if one has come."""
        if (found := self._wire.poll_bytes(ANY, REPORT)) is None:
            return None
        profile = Profile.decode(np.frombuffer(found[1], dtype=np.float64).tolist())
        return Reported(clock(), found[0], profile)

    def words(self) -> Iterator[tuple[int, Word | Spans]]:
        """The words that have come, each with who said it; units that come, whose rows follow."""
        while found := self._wire.poll_bytes(ANY, WORD):
            serial, said = pickle.loads(found[1])
            if serial == self._serial:  # else its teller did not know yet that a loop was over
                yield found[0], said

    def _send(self, data: bytes, targets: Iterable[int], tag: int) -> None:
        self._keep([self._wire.send_bytes(data, rank, tag) for rank in targets])

    def _keep(self, requests: list[MPI.Request]) -> None:
        if len(self._sending) > _SENDING:
            self._sending = [request for request in self._sending if not request.Test()]
        self._sending += requests


def _written(serial: int, action: Noted) -> Note:
    """The note that says this."""
    match action:
        case Interrupt(epoch):
            return Note(serial, epoch=epoch)
        case Alarm(position):
            return Note(serial, failed_at=position)
        case Summon(number):
            return Note(serial, round=number)
        case Announce(strategy):
            return Note(serial, strategy=names().index(strategy))


def _read(note: Note, now: float) -> Event:
    """What it tells the agent that hears it."""
    if note.strategy >= 0:
        return Committed(now, names()[note.strategy])
    if note.round >= 0:
        return Summoned(now, note.round)
    return Interrupted(now, note.epoch) if note.epoch >= 0 else Alarmed(now, note.failed_at)
