"""What one rank posts, another finds: the same event, and nothing of another call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest
from dlbrt.core.actions import Alarm, Announce, Interrupt, Summon
from dlbrt.core.events import Alarmed, Committed, Event, Interrupted, Reported, Summoned
from dlbrt.core.peers.words import Ask
from dlbrt.core.profile import Profile
from dlbrt.dist.spans import Spans
from dlbrt.mpi.post import Noted, Post
from dlbrt.mpi.wire import Note, Wire

SERIAL, OTHERS = 7, (1, 2)


class Loop:
    """A wire on which what is sent comes back, from rank 0."""

    rank, ranks = 0, 3

    def __init__(self) -> None:
        self.notes: deque[Note] = deque()
        self.messages: dict[int, deque[bytes]] = {}

    def interrupt(self, note: Note, targets: Iterable[int]) -> list[Any]:
        self.notes.extend(note for _ in targets)
        return []

    def interrupted(self) -> Note | None:
        return self.notes.popleft() if self.notes else None

    def send_bytes(self, data: bytes, target: int, tag: int) -> Any:
        self.messages.setdefault(tag, deque()).append(data)

    def poll_bytes(self, source: int, tag: int) -> tuple[int, bytearray] | None:
        waiting = self.messages.get(tag)
        return (0, bytearray(waiting.popleft())) if waiting else None


def posts(*serials: int) -> list[Post]:
    wire = cast(Wire, Loop())
    return [Post(wire, serial) for serial in serials]


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (Interrupt(0, OTHERS), Interrupted(0.0, 0)),
        (Alarm(0, OTHERS), Alarmed(0.0, 0)),
        (Summon(0, OTHERS), Summoned(0.0, 0)),
        (Announce("steal", OTHERS), Committed(0.0, "steal")),
        (Announce("none", OTHERS), Committed(0.0, "none")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_note_is_heard_by_each_as_what_it_said(action: Noted, told: Event) -> None:
    (post,) = posts(SERIAL)
    post.notify(action)
    for _ in OTHERS:
        heard = post.noted()
        assert heard is not None
        assert replace(heard, now=0.0) == told
    assert post.noted() is None


def test_a_note_of_another_call_is_dropped() -> None:
    before, now = posts(SERIAL - 1, SERIAL)
    before.notify(Interrupt(3, (1,)))
    assert now.noted() is None
    now.notify(Interrupt(3, (1,)))
    assert isinstance(now.noted(), Interrupted)


def test_a_profile_comes_as_it_was_reported() -> None:
    (post,) = posts(SERIAL)
    profile = Profile(5, 0.125, 1e-9, 17, 2, True, 0.25, tuple(map(float, range(8))))
    assert post.reported() is None
    post.report(profile, 1)
    found = post.reported()
    assert isinstance(found, Reported)
    assert (found.rank, found.profile) == (0, profile)


def test_words_and_units_come_in_order_but_those_of_another_call() -> None:
    before, now = posts(SERIAL - 1, SERIAL)
    units = Spans.of(range(3, 9, 2))
    before.tell(Ask(), (1,))
    now.tell(Ask(), (1,))
    now.tell(units, (1,))
    assert list(now.words()) == [(0, Ask()), (0, units)]
