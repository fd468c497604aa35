"""What one rank posts, another finds: the same event, and nothing of another call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest
from dlbrt.balance.actions import AnnounceStrategy, Interrupt, NotifyFailure, RequestGroupExchange
from dlbrt.balance.events import (
    Event,
    FailureNotified,
    GroupExchangeRequested,
    Interrupted,
    ProfileReceived,
    StrategyAnnounced,
)
from dlbrt.balance.messages import Profile, StealRequest
from dlbrt.data.spans import Spans
from dlbrt.mpi.communicator import Communicator, Notification
from dlbrt.mpi.messenger import Messenger, NotificationAction

SERIAL, OTHERS = 7, (1, 2)


class Loop:
    """A wire on which what is sent comes back, from rank 0."""

    rank, ranks = 0, 3

    def __init__(self) -> None:
        self.notes: deque[Notification] = deque()
        self.messages: dict[int, deque[bytes]] = {}

    def interrupt(self, note: Notification, targets: Iterable[int]) -> list[Any]:
        self.notes.extend(note for _ in targets)
        return []

    def interrupted(self) -> Notification | None:
        return self.notes.popleft() if self.notes else None

    def send_bytes(self, data: bytes, target: int, tag: int) -> Any:
        self.messages.setdefault(tag, deque()).append(data)

    def poll_bytes(self, source: int, tag: int) -> tuple[int, bytearray] | None:
        waiting = self.messages.get(tag)
        return (0, bytearray(waiting.popleft())) if waiting else None


def posts(*serials: int) -> list[Messenger]:
    communicator = cast(Communicator, Loop())
    return [Messenger(communicator, serial) for serial in serials]


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (Interrupt(0, OTHERS), Interrupted(0.0, 0)),
        (NotifyFailure(0, OTHERS), FailureNotified(0.0, 0)),
        (RequestGroupExchange(0, OTHERS), GroupExchangeRequested(0.0, 0)),
        (AnnounceStrategy("steal", OTHERS), StrategyAnnounced(0.0, "steal")),
        (AnnounceStrategy("none", OTHERS), StrategyAnnounced(0.0, "none")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_note_is_heard_by_each_as_what_it_said(action: NotificationAction, told: Event) -> None:
    (messenger,) = posts(SERIAL)
    messenger.notify(action)
    for _ in OTHERS:
        heard = messenger.poll_notification()
        assert heard is not None
        assert replace(heard, now=0.0) == told
    assert messenger.poll_notification() is None


def test_a_note_of_another_call_is_dropped() -> None:
    before, now = posts(SERIAL - 1, SERIAL)
    before.notify(Interrupt(3, (1,)))
    assert now.poll_notification() is None
    now.notify(Interrupt(3, (1,)))
    assert isinstance(now.poll_notification(), Interrupted)


def test_a_profile_comes_as_it_was_reported() -> None:
    (messenger,) = posts(SERIAL)
    profile = Profile(5, 0.125, 1e-9, 17, 2, True, 0.25, tuple(map(float, range(8))))
    assert messenger.poll_profile() is None
    messenger.send_profile(profile, 1)
    found = messenger.poll_profile()
    assert isinstance(found, ProfileReceived)
    assert (found.rank, found.profile) == (0, profile)


def test_words_and_units_come_in_order_but_those_of_another_call() -> None:
    before, now = posts(SERIAL - 1, SERIAL)
    units = Spans.of(range(3, 9, 2))
    before.send(StealRequest(), (1,))
    now.send(StealRequest(), (1,))
    now.send(units, (1,))
    assert list(now.poll_messages()) == [(0, StealRequest()), (0, units)]
