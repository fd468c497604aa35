"""What a rank that has given its profile waits for: its group's profiles, or the central balancer's answer;
where groups exchange work, the statements of all of them.

Among all ranks the profiles go by one non-blocking collective; within a group from each member to each other,
which needs no communicator of its own, and so no moment at which all must come together to make one.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from dlbrt.core.decision import Decision
from dlbrt.core.events import Claimed, Event, Exchanged, Instructed, Stated
from dlbrt.core.profile import Profile
from dlbrt.core.statement import Statement
from dlbrt.mpi.counter import Counter
from dlbrt.mpi.wire import INSTRUCTION, PROFILE, STATEMENT, Wire

__all__ = ["Answer", "FromAll", "FromCenter", "FromCounter", "FromGroup", "FromHeads", "answer_to"]


class Answer(Protocol):
    """The answer to a profile that was given."""

    def complete(self) -> bool:
        """Whether it is there."""

    def event(self, now: float) -> Event:
        """It, once it is there."""


class FromAll:
    """The profiles of all ranks."""

    def __init__(self, wire: Wire, profile: Profile) -> None:
        self._request, self._table = wire.exchange(profile.encode())
        self._done = False

    def complete(self) -> bool:
        """As `Answer.complete`."""
        self._done = self._done or self._request.Test()
        return self._done

    def event(self, now: float) -> Exchanged:
        """As `Answer.event`."""
        return Exchanged(now, tuple(Profile.decode(row) for row in self._table.tolist()))


class FromGroup:
    """The profiles of the ranks ``members``, the own one among them."""

    def __init__(self, wire: Wire, profile: Profile, members: Sequence[int]) -> None:
        mine = np.array(profile.encode(), dtype=np.float64)
        self._rows = [mine if rank == wire.rank else np.empty_like(mine) for rank in members]
        self._requests: list[MPI.Request] = []
        for rank, row in zip(members, self._rows, strict=True):
            if rank != wire.rank:
                self._requests.append(wire.receive_memory(row, rank, PROFILE))
                self._requests.append(wire.send_memory(mine, rank, PROFILE))

    def complete(self) -> bool:
        """As `Answer.complete`."""
        if self._requests and MPI.Request.Testall(self._requests):
            self._requests = []
        return not self._requests

    def event(self, now: float) -> Exchanged:
        """As `Answer.event`."""
        return Exchanged(now, tuple(Profile.decode(row.tolist()) for row in self._rows))


class FromCenter:
    """The instruction of the central balancer on rank ``master``, on any rank but its own."""

    def __init__(self, wire: Wire, master: int) -> None:
        self._wire = wire
        self._master = master
        self._content: tuple[tuple[Profile, ...], Decision | None] | None = None

    def complete(self) -> bool:
        """As `Answer.complete`."""
        if self._content is None and (found := self._wire.poll_bytes(self._master, INSTRUCTION)):
            self._content = pickle.loads(found[1])
        return self._content is not None

    def event(self, now: float) -> Instructed:
        """As `Answer.event`."""
        assert self._content is not None
        return Instructed(now, *self._content)


class FromHeads:
    """One statement from each of the ``heads``; ``own`` where this rank is one."""

    def __init__(self, wire: Wire, heads: Sequence[int], own: Statement | None) -> None:
        self._wire = wire
        self._heads = heads
        self._found = {} if own is None else {wire.rank: own}

    def complete(self) -> bool:
        """As `Answer.complete`."""
        for head in self._heads:
            if head not in self._found and (come := self._wire.poll_bytes(head, STATEMENT)):
                self._found[head] = pickle.loads(come[1])
        return len(self._found) == len(self._heads)

    def event(self, now: float) -> Stated:
        """As `Answer.event`."""
        return Stated(now, tuple(self._found[head] for head in self._heads))


class FromCounter:
    """What the counter said as ``count`` was added to it."""

    def __init__(self, counter: Counter, count: int) -> None:
        self._claim = counter.claim(count)
        self._count = count
        self._done = False

    def complete(self) -> bool:
        """As `Answer.complete`."""
        self._done = self._done or self._claim.complete()
        return self._done

    def event(self, now: float) -> Claimed:
        """As `Answer.event`."""
        return Claimed(now, self._claim.number, self._count)


def answer_to(profiles: tuple[Profile, ...], decision: Decision | None) -> bytes:
    """The message that `FromCenter` reads."""
    content: Any = (profiles, decision)
    return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
