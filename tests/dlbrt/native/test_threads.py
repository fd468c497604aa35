"""Chunks on several threads: every iteration once, and the lowest one that is not done is known."""

from __future__ import annotations

from threading import Barrier, Event
from typing import Any

import numpy as np
import pytest
from dlbrt.native.numerics import put, read_results
from dlbrt.native.threads import join_results, run_threads


def _chunk(first: int, last: int, step: int, results: Any, Z: Any, stop: int) -> int:
    for i in range(first, last, step):
        if i == stop:
            return i
        Z[i] += 1
        put(results, 0, (i - first) // step, i * i)
    return last


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("bounds", [(0, 100, 1), (3, 99, 7), (99, 2, -5), (0, 1, 1), (5, 5, 1), (5, 0, 1)])
def test_every_iteration_is_done_once_and_results_are_in_order(
    bounds: tuple[int, int, int], threads: int
) -> None:
    Z = np.zeros(100)
    reached, parts = run_threads(_chunk, *bounds, (Z, -1), threads, rows=1)
    expected = list(range(*bounds))
    assert reached == bounds[1]
    assert np.flatnonzero(Z).tolist() == sorted(expected)
    assert Z.sum() == len(expected)
    results = join_results(parts, bounds[2])
    assert not expected or read_results(results, 0, len(expected)) == [i * i for i in expected]


@pytest.mark.parametrize(("bounds", "stop"), [((0, 1000, 1), 310), ((999, -1, -3), 600), ((0, 10, 1), 0)])
def test_the_lowest_iteration_that_is_not_done_is_returned(bounds: tuple[int, int, int], stop: int) -> None:
    Z = np.zeros(1000)
    reached, parts = run_threads(_chunk, *bounds, (Z, stop), 2, rows=1)
    order = list(range(*bounds))
    assert reached == stop
    done = [i for part in parts for i in range(part.first, part.reached, bounds[2])]
    assert sorted(done) == np.flatnonzero(Z).tolist()
    assert done[: order.index(stop)] == order[: order.index(stop)]


def test_threads_run_at_the_same_time() -> None:
    both = Barrier(2, timeout=30)

    def chunk(first: int, last: int, step: int, results: Any) -> int:
        if not first:
            both.wait()
        elif not met.is_set():
            met.set()
            both.wait()
        return last

    met = Event()
    assert run_threads(chunk, 0, 2, 1, (), 2)[0] == 2


def test_what_a_part_raises_is_raised_when_all_have_ended() -> None:
    def chunk(first: int, last: int, step: int, results: Any) -> int:
        raise ZeroDivisionError(first)

    with pytest.raises(ZeroDivisionError):
        run_threads(chunk, 0, 100, 1, (), 2)
    assert run_threads(_chunk, 0, 9, 1, (np.zeros(9), -1), 2, rows=1)[0] == 9
