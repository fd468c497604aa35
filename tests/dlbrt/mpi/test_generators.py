"""The states of the global random generators; seeds."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.values.generators import (
    GENERATORS,
    are_seeds,
    columns_of,
    holds_seeds,
    is_seed,
    key_of,
    restore,
    state_of_seeds,
    states,
)


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_restored_generator_draws_the_same_again(generator: str) -> None:
    draw = random.random if generator == "random" else np.random.random_sample
    kept = states([generator])
    first = [draw(), random.gauss(0, 1), np.random.normal(), draw()]
    restore(generator, kept[key_of(generator)])
    assert draw() == first[0]
    assert list(kept) == [key_of(generator)]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.random.SeedSequence(3).spawn(2)[1], True),
        (np.random.SeedSequence(), True),
        (np.random.SeedSequence([3, 4]), False),  # the list may be one of the program's
        (np.random.SeedSequence(np.arange(3)), False),
        (np.random.default_rng(3), False),
        (3, False),
    ],
)
def test_seeds_of_numbers_alone(value: object, plain: bool) -> None:
    assert is_seed(value) == plain


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.random.SeedSequence(3).spawn(3), True),
        ([], False),
        ([np.random.SeedSequence(3), 4], False),
        ([np.random.SeedSequence(3), np.random.SeedSequence([3, 4])], False),
        ([np.random.default_rng(3)], False),
    ],
)
def test_a_list_of_seeds_is_known(values: list[object], found: bool) -> None:
    assert are_seeds(values) == found


def spawned(seed: Any, count: int) -> Any:
    seed.spawn(count)
    return seed


def of_pool_size(size: int) -> Any:
    return np.random.SeedSequence(5, pool_size=size)


@pytest.mark.parametrize(
    "seeds",
    [
        np.random.SeedSequence(3).spawn(4),
        np.random.SeedSequence(3).spawn(1),
        [np.random.SeedSequence(), np.random.SeedSequence(2), np.random.SeedSequence(3, spawn_key=(4, 5))],
        [spawned(np.random.SeedSequence(3), count) for count in (0, 2, 1000, 2)],
        [of_pool_size(8), of_pool_size(8)],
    ],
)
def test_seeds_made_of_columns_are_the_same(seeds: list[Any]) -> None:
    columns = columns_of(seeds)
    assert columns is not None
    made = pickle.loads(pickle.dumps(columns)).seeds()
    assert state_of_seeds(made) == state_of_seeds(seeds)
    assert all(seed.pool.base is None and seed.pool.flags.writeable for seed in made)
    drawn = [[np.random.default_rng(seed).random() for seed in each] for each in (seeds, made)]
    assert drawn[0] == drawn[1]
    assert [seed.spawn(1)[0].spawn_key for seed in made] == [seed.spawn(1)[0].spawn_key for seed in seeds]


def test_seeds_with_pools_of_several_sizes_have_no_columns() -> None:
    assert columns_of([of_pool_size(4), of_pool_size(8)]) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (7, True),
        (None, True),
        (np.random.SeedSequence(3), True),
        ([np.random.SeedSequence(3), 4, np.int64(5)], True),
        ((1, 2), True),
        ([], True),
        (np.arange(3), True),
        (np.array([np.random.default_rng(3)]), False),
        ([1, np.random.default_rng(3)], False),
        ([np.random.PCG64(3)], False),
        ([np.random.RandomState(3)], False),
        ([[1, 2]], False),
        ({1: 2}, False),
        (np.random.default_rng(3), False),
    ],
)
def test_what_numpy_makes_new_generators_of(value: object, found: bool) -> None:
    assert holds_seeds(value) == found
