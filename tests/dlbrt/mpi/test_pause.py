"""Waits spin, then sleep; a long wait polls less often, and is prolonged by a hundredth at most."""

from __future__ import annotations

import itertools

import pytest
from dlbrt.mpi import communicator
from dlbrt.mpi.communicator import Pause


def test_sleeps_grow_with_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps: list[float] = []
    monkeypatch.setattr(communicator.time, "sleep", sleeps.append)
    pause = Pause(spins=5)
    for _ in range(5):
        pause()
    assert not sleeps
    while sum(sleeps) < 3.0:
        pause()
    waited = itertools.accumulate(sleeps, initial=0.0)
    assert all(each <= max(2e-5, before / 100) + 1e-9 for each, before in zip(sleeps, waited, strict=False))
    assert sleeps[-1] == max(sleeps) == 1e-2
