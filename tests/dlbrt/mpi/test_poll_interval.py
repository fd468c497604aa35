"""Chunks grow from one iteration to about a millisecond, at most doubling, and shrink at once."""

from __future__ import annotations

import itertools

import pytest
from dlbrt.mpi.poll_interval import PollInterval


def sizes(iteration_s: float, chunks: int) -> list[int]:
    interval, found = PollInterval(1e-3), []
    for _ in range(chunks):
        found.append(interval.size)
        interval.learn(interval.size, interval.size * iteration_s)
    return found


@pytest.mark.parametrize("iteration_s", [1e-8, 1e-6, 1e-5])
def test_chunks_of_cheap_iterations_grow_to_the_target_by_doubling(iteration_s: float) -> None:
    found = sizes(iteration_s, 40)
    assert found[-1] == pytest.approx(1e-3 / iteration_s, rel=0.01)
    assert all(after <= 2 * before for before, after in itertools.pairwise(found))


def test_dear_iterations_go_one_by_one() -> None:
    assert sizes(0.3, 5) == [1] * 5


def test_a_chunk_that_got_dear_shrinks_the_next_at_once() -> None:
    interval = PollInterval(1e-3)
    interval.size = 1000
    interval.learn(1000, 1.0)
    assert interval.size == 1


def test_a_cut_chunk_says_nothing() -> None:
    interval = PollInterval(1e-3)
    interval.size = 64
    interval.learn(3, 1e-7)
    assert interval.size == 64


def test_chunks_grow_further_where_longer_ones_are_allowed() -> None:
    interval = PollInterval(1e-3)
    for _ in range(10):
        interval.learn(interval.size, interval.size * 5e-4, 8e-3)
    assert interval.size == 16
    interval.learn(16, 16 * 5e-4)
    assert interval.size == 2


def test_only_chunks_that_are_short_grow_fast() -> None:
    interval = PollInterval(4e-3)
    interval.size = 8
    interval.learn(8, 0.5e-3, growth=8)
    assert interval.size == 64
    interval.learn(64, 1.1e-3, growth=8)  # iterations have got dearer, and may go on so
    assert interval.size == 128


@pytest.mark.parametrize(("first_s", "then_s", "again"), [(1e-6, 1e-6, 500), (0.1, 1e-6, 1), (1e-6, 0.1, 1)])
def test_the_same_iterations_begin_with_chunks_that_neither_the_first_nor_the_last_make_long(
    first_s: float, then_s: float, again: int
) -> None:
    interval = PollInterval(1e-3)
    assert interval.again == 1
    interval.learn(1, first_s)
    for _ in range(20):
        interval.learn(interval.size, interval.size * then_s)
    assert interval.again == again
