"""Live output on ranks that pass messages by lists: what is sent, when, and what rank 0 shows of it."""

from __future__ import annotations

import io
import sys
from array import array
from collections import defaultdict, deque
from typing import Any

import pytest
from dlbrt.mpi.communicator import ANY, OUTPUT
from dlbrt.mpi.output import live_output
from dlbrt.mpi.output.live_output import Allowance, ForwardedOutput, ShownOutput
from dlbrt.reductions.journal import Piece
from dlbrt.reductions.operations import WRITE
from dlbrt.reductions.output import OutputProperties

ABOUT = OutputProperties("utf-8", None, False)


class Request:
    def Test(self) -> bool:
        return True


class Wires:
    """The messages under way between all ranks."""

    def __init__(self) -> None:
        self.under_way: defaultdict[int, deque[tuple[int, bytes]]] = defaultdict(deque)


class LocalCommunicator:
    """Stands for a rank's communicator."""

    def __init__(self, wires: Wires, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks
        self._wires = wires

    def send_bytes(self, data: bytes, target: int, tag: int) -> Request:
        assert tag == OUTPUT
        self._wires.under_way[target].append((self.rank, data))
        return Request()

    def have_completed(self, requests: list[Request]) -> bool:
        return all(request.Test() for request in requests)

    def poll_bytes(self, source: int, tag: int) -> tuple[int, bytearray] | None:
        queue = self._wires.under_way[self.rank]
        found = next((each for each in queue if source in (ANY, each[0])), None)
        if found is None:
            return None
        queue.remove(found)
        return found[0], bytearray(found[1])

    def wait_bytes(self, source: int, tag: int) -> tuple[int, bytearray]:
        found = self.poll_bytes(source, tag)
        assert found is not None, "waits for a message that nobody has sent"
        return found

    def complete(self, requests: list[Request]) -> None:
        """All have been sent."""


class Ranks:
    """Rank 0 and two others in one loop; ``now`` is the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, serial: int = 7, first: int = 0) -> None:
        self.now = 100.0
        self.wires = Wires()
        self.stream = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        monkeypatch.setattr(live_output, "clock", lambda: self.now)
        monkeypatch.setattr(sys, "stdout", self.stream)
        made: list[Any] = [LocalCommunicator(self.wires, rank, 3) for rank in range(3)]
        self.root = ShownOutput(made[0], serial, ABOUT, first)
        self.others = [ForwardedOutput(each, serial, ABOUT) for each in made[1:]]

    def poll(self) -> None:
        """Let time pass, and all ranks look for messages, twice."""
        for each in [self.root, *self.others] * 2:
            self.now += 1.0
            each.poll()

    @property
    def shown(self) -> list[str]:
        """The lines that rank 0 has shown."""
        buffer: Any = self.stream.buffer
        return buffer.getvalue().decode().split()

    @property
    def messages(self) -> int:
        """How many messages are under way."""
        return sum(map(len, self.wires.under_way.values()))


@pytest.fixture
def ranks(monkeypatch: pytest.MonkeyPatch) -> Ranks:
    return Ranks(monkeypatch)


def lines(*positions: int) -> Piece:
    entries: list[tuple[Any, ...]] = [(WRITE, f"{position}\n") for position in positions]
    return array("q", positions), array("q", range(len(positions))), entries


def test_a_loop_without_output_sends_nothing(ranks: Ranks) -> None:
    for number, live in enumerate((ranks.root, *ranks.others)):
        live.finished(range(10 * number, 10 * number + 10))
        assert not live.is_due(logged=False)
    ranks.poll()
    assert ranks.messages == 0
    assert [live.finish().messages for live in ranks.others] == [0, 0]


def test_lines_are_shown_once_all_iterations_before_are_known_to_be_done(ranks: Ranks) -> None:
    one, two = ranks.others
    two.take(lines(4, 5), range(4, 6))
    ranks.poll()
    assert ranks.shown == []
    ranks.root.take(lines(0, 1), range(2))
    assert ranks.shown == ["0", "1"]
    one.finished(range(2, 4))  # nothing printed there; rank 0 has asked for it
    ranks.poll()
    assert ranks.shown == ["0", "1", "4", "5"]


def test_a_rank_that_ends_before_it_is_asked_reports_what_it_has_done(ranks: Ranks) -> None:
    one, two = ranks.others
    one.finished(range(3))
    two.take(lines(3), range(3, 4))
    ranks.root.end(1, one.finish())
    ranks.root.end(2, two.finish())
    assert ranks.shown == ["3"]


def test_what_is_not_sent_yet_comes_at_the_end(ranks: Ranks) -> None:
    one, two = ranks.others
    for position in range(50):  # faster than a rank may send
        one.take(lines(position), range(position, position + 1))
    assert 0 < ranks.messages < 50
    report = one.finish()
    assert report.messages == ranks.messages
    ranks.root.end(1, report)
    ranks.root.end(2, two.finish())
    assert ranks.shown == [str(position) for position in range(50)]


def test_a_request_of_an_earlier_call_is_dropped(monkeypatch: pytest.MonkeyPatch, ranks: Ranks) -> None:
    ranks.root.take(lines(0), range(1))
    later = Ranks(monkeypatch, serial=8)
    later.wires.under_way.update(ranks.wires.under_way)
    later.others[0].finished(range(4))
    later.poll()
    assert later.messages == 0
    assert later.others[0].finish().messages == 0


def test_what_is_left_in_the_journal_is_not_overtaken(ranks: Ranks) -> None:
    record: Piece = (array("q", [0, 1]), array("q", [0, 1]), [(WRITE, "0\n"), (WRITE, "\ud800")])
    rest = ranks.root.take(record, range(2))
    assert rest == (array("q", [1]), array("q", [0]), [(WRITE, "\ud800")])
    assert ranks.root.take(lines(2), range(2, 3)) == lines(2)
    ranks.others[0].take(lines(3), range(3, 4))
    ranks.poll()
    assert ranks.shown == ["0"]
    extents, read = ranks.root.prefix.rest()
    assert [read(number).listed() for number in range(len(extents))] == [[(WRITE, "3\n")]]


def test_iterations_that_are_done_again_are_not_shown_twice(ranks: Ranks) -> None:
    one, two = ranks.others
    one.take(lines(0, 1), range(2))
    two.take(lines(6), range(6, 7))
    for rank, live in enumerate(ranks.others, 1):
        ranks.root.end(rank, live.finish())
    ranks.root.redo()
    assert ranks.root.take(lines(0, 1, 2, 6), range(7)) == lines(2)
    assert ranks.root.take(lines(6), range(0)) == lines(6)  # written after the iteration was done
    assert ranks.shown == ["0", "1"]


def test_a_loop_begun_alone_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = Ranks(monkeypatch, first=5)
    ranks.root.take(lines(5), range(5, 6))
    assert ranks.shown == ["5"]


def test_messages_are_allowed_at_once_and_then_at_a_rate() -> None:
    allowance = Allowance(0.5, burst=3, now=10.0)
    times = []
    for now in (10.0, 10.0, 10.0, 10.0, 10.25, 10.5, 10.75, 11.0, 90.0, 90.0, 90.0, 90.0):
        if allowance.allows(now):
            allowance.spend()
            times.append(now)
    assert times == [10.0] * 3 + [10.5, 11.0] + [90.0] * 3
