"""The watchdogs of several hosts hear of each other: by sockets of this machine, at times that are given."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator

import pytest
from dlbrt.watchdog import Hosts, Meeting

TOKEN = "0123456789abcdef"


@pytest.fixture
def hosts() -> Iterator[Callable[..., Hosts]]:
    """Makes the watchdogs of a job; the first one's host is that of rank 0."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind(("127.0.0.1", 0))
    meeting = Meeting(TOKEN, opened.getsockname()[1], ("127.0.0.1",))
    made: list[Hosts] = []

    def make(name: str, token: str = TOKEN) -> Hosts:
        handle = -1 if made else opened.detach()
        made.append(Hosts(meeting._replace(token=token, handle=handle), name))
        return made[-1]

    yield make
    opened.close()
    for each in made:
        each.socket.close()


def hear(one: Hosts, now: float, name: str) -> None:
    """Has one hear, until it knows of that host."""
    until = time.monotonic() + 10
    while one.silent(now)[0] != name:
        assert time.monotonic() < until, f"nothing is heard of {name}"
        one.hear(now)


def test_a_meeting_survives_the_environment() -> None:
    for meeting in (Meeting(TOKEN, 5000, ("10.0.0.1", "192.168.1.7")), Meeting(TOKEN, 1, (), 7)):
        assert Meeting.decode(meeting.encode()) == meeting


def test_a_host_that_falls_silent_is_known_on_both_sides(hosts: Callable[..., Hosts]) -> None:
    first, second = hosts("host0 (rank 0)"), hosts("host1 (ranks 1, 2)")
    assert first.silent(0.0) == second.silent(0.0) == ("", 0.0)
    second.speak()
    hear(first, 10.0, "host1 (ranks 1, 2)")
    hear(second, 20.0, "host0 (rank 0)")  # which has answered at once
    assert first.silent(40.0) == ("host1 (ranks 1, 2)", 30.0)
    assert second.silent(40.0) == ("host0 (rank 0)", 20.0)
    first.excuse(25.0)
    assert first.silent(40.0) == ("host1 (ranks 1, 2)", 5.0)


def test_the_host_that_has_been_silent_longest_is_reported_once(hosts: Callable[..., Hosts]) -> None:
    first, second, third = hosts("host0"), hosts("host1"), hosts("host2")
    second.speak()
    hear(first, 5.0, "host1")
    third.speak()
    until = time.monotonic() + 10
    while len(first._received) < 2:
        assert time.monotonic() < until
        first.hear(8.0)
    assert first.silent(10.0) == ("host1", 5.0)
    assert first.report("host1")
    assert not first.report("host1")
    second.speak()
    hear(first, 9.0, "host2")
    assert first.report("host1")  # it was heard of in between


def test_a_host_whose_ranks_have_ended_is_not_missed(hosts: Callable[..., Hosts]) -> None:
    first, second = hosts("host0"), hosts("host1")
    second.speak()
    hear(first, 1.0, "host1")
    hear(second, 1.0, "host0")
    second.speak(leaving=True)
    hear(first, 2.0, "")
    assert first.silent(1000.0) == ("", 0.0)


def test_another_job_is_not_received(hosts: Callable[..., Hosts]) -> None:
    first, other = hosts("host0"), hosts("host9", "fedcba9876543210")
    other.speak()
    second = hosts("host1")
    second.speak()
    hear(first, 1.0, "host1")
    assert set(first._received) == {"host1"}
