"""A rank that sleeps while it waits for a command is woken, and may be woken again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from dlbrt.mpi import communicator, wakeups
from dlbrt.mpi.communicator import Pause
from dlbrt.mpi.wakeups import Wakeups


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Wakeups:
    """Those of a rank that wakes itself, as the only other of its host."""
    monkeypatch.setattr(wakeups, "_BRIEF_S", 0.0)
    host = SimpleNamespace(gather=lambda path, root: [path, path][root:])
    return Wakeups(cast("Any", host))


def test_a_rank_sleeps_until_it_is_woken(own: Wakeups) -> None:
    assert not own.sleep(0.001)
    for _ in range(3):
        own.wake()
        own.wake()
        assert own.sleep(60.0)
        assert not own.sleep(0.001)


def test_nobody_is_woken_who_hardly_sleeps(own: Wakeups, monkeypatch: pytest.MonkeyPatch) -> None:
    own.wake()
    assert own.sleep(60.0)
    monkeypatch.setattr(wakeups, "_BRIEF_S", 60.0)
    own.wake()
    assert not own.sleep(0.001)


def test_a_full_pipe_is_no_trouble(own: Wakeups) -> None:
    for _ in range(1 << 17):
        own.wake()
    assert own.sleep(60.0)


def test_a_wait_that_is_woken_begins_anew(own: Wakeups, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps: list[float] = []
    monkeypatch.setattr(communicator.time, "sleep", sleeps.append)
    monkeypatch.setattr(own, "sleep", lambda seconds: sleeps.append(seconds) or len(sleeps) == 2000)
    pause = Pause(3, own)
    while len(sleeps) < 2000:
        pause()
    assert sleeps[-1] > 1e-3
    for _ in range(3):
        pause()
    assert len(sleeps) == 2000
    pause()
    assert sleeps[-1] == min(sleeps)
