"""The states of the global random generators."""

from __future__ import annotations

import random

import numpy as np
import pytest
from dlbrt.mpi.values.generators import GENERATORS, are_seeds, is_seed, key_of, restore, states


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
