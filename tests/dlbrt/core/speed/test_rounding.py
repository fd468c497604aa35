"""Whole units by the largest remainder."""

from __future__ import annotations

from math import ceil, floor, fsum

import numpy as np
import pytest
from dlbrt.core.speed.rounding import whole
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("shares", "n", "expected"),
    [
        ([2.5, 2.5, 5.0], 10, (3, 2, 5)),
        ([1.2, 1.3, 1.5], 4, (1, 1, 2)),
        ([0.4, 0.3, 0.3], 1, (1, 0, 0)),
        ([0.0, 0.0], 0, (0, 0)),
        ([3.0], 3, (3,)),
        ([2.9999999999, 7.0000000001], 10, (3, 7)),
        ([0.5] * 4, 2, (1, 1, 0, 0)),
        ([3.0000000001, 7.0000000001], 9, (3, 6)),
        ([0.0, 1.0, 5.0], 4, (0, 0, 4)),
        ([1.0, 1.0], 7, (4, 3)),
    ],
)
def test_examples(shares: list[float], n: int, expected: tuple[int, ...]) -> None:
    assert whole(np.array(shares), n) == expected


def test_rounding_each_share_would_not_add_up() -> None:
    shares = [2.4, 2.4, 2.4, 2.8]
    assert sum(map(round, shares)) == 9
    assert sum(whole(np.array(shares), 10)) == 10


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(0, 10**6))
def test_counts_add_up_and_are_floors_or_ceilings(weights: list[float], n: int) -> None:
    total = fsum(weights)
    shares = [n * w / total for w in weights] if total else [n / len(weights)] * len(weights)
    counts = whole(np.array(shares), n)
    assert sum(counts) == n
    assert all(floor(s - 1e-6) <= c <= ceil(s + 1e-6) for s, c in zip(shares, counts, strict=True))
