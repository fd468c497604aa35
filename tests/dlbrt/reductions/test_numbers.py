"""Many numbers combined at once give what one after the other gives: value, type and bits."""

from __future__ import annotations

import operator
import warnings
from functools import reduce
from typing import Any

import numpy as np
import pytest
from dlbrt.reductions.numbers import Numbers, Operands, folded, is_combinable
from dlbrt.reductions.operations import NAMES

OPERATIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
RNG = np.random.default_rng(5)
FLOATS = RNG.normal(size=300) * 10.0 ** RNG.integers(-12, 12, 300)
INTEGERS = RNG.integers(-9, 9, 300)
STARTS = [
    0,
    0.0,
    -0.0,
    7,
    2**60,
    10**30,
    -3.5,
    np.float64(2.5),
    np.int64(4),
    1e308,
    float("inf"),
    float("nan"),
]
OPERANDS = {
    "floats": Numbers(float, FLOATS),
    "numpy floats": Numbers(np.float64, FLOATS),
    "integers": Numbers(int, INTEGERS),
    "numpy integers": Numbers(np.int64, INTEGERS),
    "large integers": Numbers(int, INTEGERS << 58),
    "not finite": Numbers(float, np.array([1.0, np.inf, -np.inf, np.nan])),
    "negative zeros": Numbers(float, np.array([-0.0] * 5)),
    "overflowing": Numbers(np.float64, np.full(9, 1e308)),
    "one": Numbers(np.float64, np.array([0.1])),
}


def one_after_the_other(sign: str, start: Any, numbers: Numbers) -> Any:
    return reduce(OPERATIONS[sign], numbers.listed(), start)


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize("sign", OPERATIONS)
@pytest.mark.parametrize("start", STARTS, ids=repr)
def test_the_outcome_is_that_of_one_after_the_other(start: Any, sign: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = OPERANDS[name]
        found = folded(NAMES[f"__i{sign}__"], start, numbers)
        if type(start) is int and start >= 2**63 and numbers.kind is np.int64:  # numpy raises OverflowError
            assert found is None
            return
        expected = one_after_the_other(sign, start, numbers)
        assert found is None or (type(found), repr(found)) == (type(expected), repr(expected))
        if is_combinable(start):
            total = OPERATIONS[sign](start, Operands(numbers, lambda _: None))
            assert (type(total), repr(total)) == (type(expected), repr(expected))


def test_sums_of_floats_are_found_at_once() -> None:
    for start in (0, 0.0, np.float64(1.0)):
        for kind in (float, np.float64):
            assert folded(NAMES["__iadd__"], start, Numbers(kind, FLOATS)) is not None


def test_what_is_no_number_is_not_combined() -> None:
    for value in ("", True, None, [0.0], 1j, np.float32(1.0)):
        assert not is_combinable(value)
        assert folded(NAMES["__iadd__"], value, OPERANDS["floats"]) is None
