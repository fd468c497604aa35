"""Partitions of the ranks into groups."""

from __future__ import annotations

import pytest
from dlbrt.predict.groups import Groups, at_random, blocks, by_host, by_nearness, default, equal_speed
from hypothesis import given
from hypothesis import strategies as st

RANKS, SIZE = st.integers(1, 40), st.integers(1, 50)


def distances(ranks: int) -> list[list[float]]:
    return [[float(abs(a - b)) for b in range(ranks)] for a in range(ranks)]


@given(RANKS, SIZE, st.integers(0, 9))
def test_every_rank_is_in_one_of_ceil_p_over_k_groups_of_nearly_one_size(
    ranks: int, size: int, seed: int
) -> None:
    speeds = [1.0 + (rank * 7 + seed) % 5 for rank in range(ranks)]
    made: list[Groups] = [
        blocks(ranks, size),
        at_random(ranks, size, seed),
        equal_speed(speeds, size),
        by_nearness(distances(ranks), size),
    ]
    for groups in made:
        assert sorted(rank for group in groups for rank in group) == list(range(ranks))
        assert len(groups) == -(-ranks // size)
        assert max(map(len, groups)) <= min(size, min(map(len, groups)) + 1)
        assert groups == tuple(sorted(tuple(sorted(group)) for group in groups))


def test_blocks_are_neighbouring_ranks() -> None:
    assert blocks(4, 2) == ((0, 1), (2, 3))
    assert blocks(16, 8) == (tuple(range(8)), tuple(range(8, 16)))
    assert blocks(9, 4) == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    assert blocks(3, 100) == ((0, 1, 2),)


def test_groups_by_host_are_the_default_and_one_host_is_halved() -> None:
    hosts = ["b", "a", "b", "c", "a"]
    assert by_host(hosts) == default(hosts) == ((0, 2), (1, 4), (3,))
    assert default(["a"] * 5) == ((0, 1, 2), (3, 4))
    assert default(["a"]) == ((0,),)


def test_equal_speed_groups_have_nearly_equal_power() -> None:
    speeds = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    power = [sum(speeds[rank] for rank in group) for group in equal_speed(speeds, 4)]
    assert power == [18.0, 18.0]
    assert equal_speed([9, 9, 1, 1], 2) == ((0, 2), (1, 3))


def test_random_groups_are_those_of_the_seed() -> None:
    assert at_random(16, 4, 3) == at_random(16, 4, 3)
    assert len({at_random(16, 4, seed) for seed in range(20)}) == 20


def test_nearness_finds_the_racks() -> None:
    rack = [0, 1, 0, 1, 2, 2, 0, 1, 2]
    apart = [[0.0 if a == b else 1.0 if rack[a] == rack[b] else 9.0 for b in range(9)] for a in range(9)]
    assert by_nearness(apart, 3) == ((0, 2, 6), (1, 3, 7), (4, 5, 8))


@pytest.mark.parametrize(("ranks", "size"), [(4, 0), (0, 2), (4, -1)])
def test_no_ranks_and_no_size_are_refused(ranks: int, size: int) -> None:
    with pytest.raises(ValueError, match="expected at least 1 rank"):
        blocks(ranks, size)


def test_distances_must_be_square() -> None:
    with pytest.raises(ValueError, match="expected 2 distances"):
        by_nearness([[0.0, 1.0], [1.0]], 2)
