"""What a cost reads: the same values, in numbers that do not wrap; all else as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.partition.cost_values import wide, widened

BYTES = np.array([100, 200, 3], np.uint8)
SHORT = np.array([[300, -400], [500, 32_000]], np.int16)
LARGE = np.array([5, 2**63 + 1], np.uint64)
SMALL = np.array([5, 6], np.uint64)
HALF = np.array([300, 400], np.float16)
SIZE = np.int8(100)

#: What is read, and the number that it means.
MEANT: list[tuple[Callable[[], Any], Any]] = [
    (lambda: SIZE * SIZE, 10_000),
    (lambda: SIZE.item() + SIZE.itemsize, 108),
    (lambda: list(range(SIZE))[SIZE - 1], 99),
    (lambda: BYTES * 3, [300, 600, 9]),
    (lambda: 3 * BYTES[1], 600),
    (lambda: [3 * b for b in BYTES], [300, 600, 9]),
    (lambda: BYTES.max() * BYTES.max(), 40_000),
    (lambda: BYTES[1:].sum(), 203),
    (lambda: BYTES[[1, 0]] * 2, [400, 200]),
    (lambda: np.maximum(BYTES, 7) * 100, [10_000, 20_000, 700]),
    (lambda: np.where(BYTES > 3, BYTES, 0) * 9, [900, 1800, 0]),
    (lambda: np.concatenate([BYTES, BYTES])[1] * 2, 400),
    (lambda: BYTES @ BYTES, 50_009),
    (lambda: np.dot(BYTES, b=BYTES), 50_009),
    (lambda: SHORT[1] * 100, [50_000, 3_200_000]),
    (lambda: SHORT[1, 1] * 100, 3_200_000),
    (lambda: SHORT.T.reshape(-1)[3] * 2, 64_000),
    (lambda: np.prod(SHORT[0]), -120_000),
    (lambda: LARGE[1] - 7, 2**63 - 6),
    (lambda: SMALL - 7, [-2, -1]),
    (lambda: LARGE * 1, [5, 2**63 + 1]),
    (lambda: HALF * HALF, [90_000, 160_000]),
    (lambda: HALF[0] * HALF[1], 120_000),
    (lambda: math.comb(SIZE, 20), math.comb(100, 20)),
]


@pytest.mark.parametrize(("read", "meant"), MEANT)
def test_numbers_of_a_narrow_type_are_computed_with_as_wide_ones(read: Callable[[], Any], meant: Any) -> None:
    assert np.asarray(widened(read)()).tolist() == meant


#: What does not depend on how wide numbers are, or asks for it.
THE_SAME: list[Callable[[], Any]] = [
    lambda: BYTES.dtype,
    lambda: SHORT.nbytes + SHORT.shape[0] + len(BYTES),
    lambda: (~BYTES).tolist(),
    lambda: 200 in BYTES,
    lambda: BYTES.tobytes(),
    lambda: isinstance(BYTES, np.ndarray),
]


@pytest.mark.parametrize("read", THE_SAME)
def test_what_is_asked_of_the_array_itself_is_as_before(read: Callable[[], Any]) -> None:
    assert widened(read)() == read()


def test_variables_of_functions_are_widened_and_those_without_a_value_stay_so() -> None:
    size = np.int16(300)

    def cost(i: int, *, by: int = 2) -> Any:
        return sum(size * size * by for _ in range(i)) if i else later

    found = widened(cost)
    assert found(1) == 180_000
    assert found(1, by=3) == 270_000
    with pytest.raises(NameError):
        found(0)
    later = 7
    assert widened(cost)(0) == later


def test_nothing_is_rewrapped_or_copied_without_need() -> None:
    table, flags, whole = [1, 2], np.array([True, False]), np.arange(3)

    def cost() -> Any:
        return table, flags, whole, math

    assert widened(cost) is cost
    assert widened(math.sqrt) is math.sqrt
    for value in (table, flags, whole, 5, 2.5, "ab", None, np.bool_(True), np.timedelta64(3), (1, "a")):
        assert wide(value) is value
    assert wide(BYTES).base is BYTES


def test_what_comes_together_is_widened_together() -> None:
    i, b, name = wide((1, BYTES[1], "x"))
    assert (i, b * 2, name) == (1, 400, "x")
