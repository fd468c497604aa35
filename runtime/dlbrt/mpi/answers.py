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
from dlbrt.core.events import (
    ChunksClaimed,
    Event,
    GroupReportsReceived,
    InstructionsReceived,
    ProfilesExchanged,
)
from dlbrt.core.profile import Profile
from dlbrt.core.statement import GroupReport
from dlbrt.mpi.counter import SharedCounter
from dlbrt.mpi.wire import GROUP_REPORT, INSTRUCTIONS, PROFILE, Communicator

__all__ = [
    "PendingAllgather",
    "PendingClaim",
    "PendingGroupProfiles",
    "PendingGroupReports",
    "PendingInstructions",
    "PendingReply",
    "encode_instructions",
]


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
