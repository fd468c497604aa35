"""The thread that serves others within iterations: when it may run, and how it ends."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable

import pytest
from dlbrt.mpi.serving import ServingThread
from dlbrt.mpi.team import clock

pytestmark = pytest.mark.mpi

#: Within this time anything that is to happen has happened.
LONG_S = 20.0


class Rank:
    """Notes with how many units under way it is served; ``meanwhile`` is called then."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.served: list[int] = []
        self._meanwhile = meanwhile

    def serve(self, units: int, elapsed_s: float) -> None:
        assert elapsed_s > 0
        self._meanwhile()
        self.served.append(units)


def until(holds: Callable[[], bool]) -> bool:
    """Wait until that holds; whether it does."""
    end = clock() + LONG_S
    while not holds() and clock() < end:
        time.sleep(1e-3)
    return holds()


def test_a_rank_is_served_within_an_iteration_alone() -> None:
    rank = Rank()
    thread = ServingThread(rank.serve)
    time.sleep(0.05)
    assert rank.served == []
    thread.open(3, clock())
    assert until(lambda: len(rank.served) > 1)
    thread.close()
    thread.close()
    served = len(rank.served)
    time.sleep(0.05)
    assert rank.served == [3] * served
    thread.open(1, clock())
    assert until(lambda: rank.served[-1] == 1)
    thread.close()
    thread.end()


def test_the_end_of_an_iteration_waits_until_the_rank_has_been_served() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def serving() -> None:
        begun.set()
        assert goes_on.wait(LONG_S)

    rank = Rank(serving)
    thread = ServingThread(rank.serve)
    thread.open(1, clock())
    assert begun.wait(LONG_S)
    threading.Timer(0.05, goes_on.set).start()
    thread.close()
    assert rank.served
    thread.end()


def test_what_it_raises_is_kept() -> None:
    def fails() -> None:
        raise ValueError("no such message")

    rank = Rank(fails)
    thread = ServingThread(rank.serve)
    thread.open(1, clock())
    assert until(lambda: thread.error is not None)
    thread.close()
    assert str(thread.error) == "no such message"
    assert rank.served == []


def test_it_keeps_nothing_alive_and_is_not_seen() -> None:
    before = threading.active_count()
    rank = Rank()
    thread = ServingThread(rank.serve)
    assert threading.active_count() == before
    gone = weakref.ref(rank)
    del rank
    gc.collect()
    assert gone() is None
    thread.open(1, clock())
    assert until(lambda: thread._over)
    thread.close()
