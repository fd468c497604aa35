"""Which arguments compiled code takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from dlbrt.native import numerics
from dlbrt.native.arguments import NotCompiled, admit


@pytest.fixture(autouse=True)
def _default_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


READ_ONLY = np.ones(3)
READ_ONLY.setflags(write=False)


@pytest.mark.parametrize(
    "value",
    [
        np.ones((3, 4))[::2, ::-1],
        np.arange(3),
        np.ones(2, bool),
        np.ones(2, complex),
        np.ones(2, np.float32),
        np.ones(2, np.uint8),
        READ_ONLY,
        *(3, -(2**62) + 1, 2.5, True, 1j, np.float64(1), np.int64(1), np.bool_(1)),
        (1, 2.0, (np.ones(2),)),
    ],
)
def test_numbers_and_arrays_are_taken_as_they_are(value: object) -> None:
    (taken,) = admit(["x"], [value])
    assert taken is value or (isinstance(value, tuple) and taken == value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({}, "`x` is a dictionary"),
        ("a", "`x` is a string"),
        (None, "`x` is None"),
        (object(), "`x` is an object of object"),
        (2**62, "`x` is an integer of 2**62 or more in magnitude"),
        ((1, "a"), "`x[1]` is a string"),
        (np.ones(2, object), "`x` is an array of objects"),
        (np.ones(2, np.float16), "`x` is an array of float16, whose operations have results of that type"),
        (np.float32(1), "`x` is a numpy scalar of float32"),
        (np.ones(2, ">f8"), "`x` is an array in foreign byte order, or not aligned"),
        (np.frombuffer(bytes(17), np.float64, 2, 1), "`x` is an array in foreign byte order, or not aligned"),
        (np.ones(2, "M8[s]"), "`x` is an array of datetime64[s]"),
        (np.ma.ones(2), "`x` is an array of the subclass MaskedArray"),
        ([], "`x` is an empty list"),
        ([1, 2.0], "`x` is a list of float and int, not of numbers of one type"),
        ([np.float64(1)], "`x` is a list of float64, not of numbers of one type"),
        ([[1.0], [1.0, 2.0]], "`x` is a list of lists that differ in length, or occur twice"),
        ([[1.0]] * 2, "`x` is a list of lists that differ in length, or occur twice"),
        ([1, 2**62], "`x` has integers of 2**62 or more in magnitude"),
    ],
)
def test_others_are_refused_by_name(value: object, reason: str) -> None:
    with pytest.raises(NotCompiled) as caught:
        admit(["n", "x"], [1, value])
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize("value", [[1.0, -0.0, math.inf], [3, -4], [True, False], [[1.0, 2.0], [3.0, 4.0]]])
def test_lists_of_numbers_become_arrays(value: list[Any]) -> None:
    (array,) = admit(["x"], [value])
    assert isinstance(array, np.ndarray)
    assert array.tolist() == value


def test_where_errors_are_raised_nothing_is_compiled() -> None:
    with np.errstate(over="raise"), pytest.raises(NotCompiled, match="over='raise'"):
        admit([], [])
    for category in (RuntimeWarning, Warning):
        with warnings.catch_warnings():
            warnings.simplefilter("error", category)
            with pytest.raises(NotCompiled, match="warnings are turned into errors"):
                admit([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        assert admit([], []) == ()


def test_results_are_read_as_they_were_put() -> None:
    results = numerics.new_results(4, 3)
    for k, values in enumerate(((True, False), (2, -3), (0.5, math.inf))):
        for t, value in enumerate(values):
            numerics.put(results, k, t, value)
    assert [numerics.read_results(results, k, 2) for k in range(3)] == [
        [True, False],
        [2, -3],
        [0.5, math.inf],
    ]
    assert [type(numerics.read_results(results, k, 1)[0]) for k in range(3)] == [bool, int, float]
    with pytest.raises(ValueError, match="found none"):
        numerics.read_array(results, 3, 1)
    with pytest.raises(TypeError, match="found complex"):
        numerics.put(results, 0, 0, 1j)
