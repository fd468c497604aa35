"""A vector computes what integers compute one by one, or refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.data.index_vector import IndexVector
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.lists(st.integers(-50, 50) | st.integers(-(2**40), 2**40), min_size=1, max_size=8)
SMALL = st.integers(-9, 9)

OPERATIONS: dict[str, Callable[[Any, int], Any]] = {
    "+": lambda i, k: k + (i + k),
    "-": lambda i, k: k - (i - k),
    "*": lambda i, k: k * i * k,
    "//": lambda i, k: i // k,
    "%": lambda i, k: i % k,
    "k %": lambda i, k: k % i + k // i,
    "**": lambda i, k: i**k,
    "<<": lambda i, k: i << k,
    ">>": lambda i, k: i >> k,
    "unary": lambda i, k: -abs(~+i) + k,
    "both": lambda i, k: i * (i + k) // 2 - i,
}


@given(VALUES, st.sampled_from(sorted(OPERATIONS)), SMALL)
def test_arithmetic_is_that_of_integers_or_refused(values: list[int], name: str, k: int) -> None:
    operation = OPERATIONS[name]
    try:
        found = operation(IndexVector(np.array(values, np.int64)), k)
    except TypeError:
        return
    assert found.values.tolist() == [operation(value, k) for value in values]
    assert (found.low, found.high) == (min(found.values.tolist()), max(found.values.tolist()))


@pytest.mark.parametrize(
    "operation",
    [
        lambda i: i * 2**61,
        lambda i: i**40,
        lambda i: i << 61,
        lambda i: i // (i - 2),
        lambda i: i + 0.5,
        lambda i: i / 2,
        lambda i: i + True,
        lambda i: i == 2,
        lambda i: i != 2,
        lambda i: i < 2,
        lambda i: 0 if i else 1,
        lambda i: min(i, 2),
        lambda i: {1: 2}[i],
        lambda i: [1, 2, 3, 4][i],
        lambda i: i in [7],
        lambda i: int(i),
        lambda i: np.sqrt(i),
        lambda i: np.zeros(9, np.uint8)[i] + i,
        lambda i: np.int32(4) * i,
        lambda i: np.ones(4) + i,
    ],
)
def test_what_integers_do_in_another_way_is_refused(operation: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        operation(IndexVector(np.arange(1, 5)))


def test_values_near_the_limit_are_refused() -> None:
    with pytest.raises(TypeError, match="too large"):
        IndexVector(np.array([2**62]))


def test_it_subscripts_arrays_as_each_of_its_values_does() -> None:
    vector = IndexVector(np.array([3, 0, -1]))
    table = np.arange(10, 18).reshape(4, 2)
    assert table[vector, 1].tolist() == [17, 11, 17]
    assert table[vector][:, 0].tolist() == [16, 10, 16]
    assert (table[vector, 0] + vector).tolist() == [19, 10, 15]
