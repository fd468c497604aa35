"""The form of a payload: equal as long as nothing differs that the payload depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.field import array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.space import space_of
from dlbrt.mpi.root.plain_payload import form_of
from dlbrt.mpi.routines.loop_residents import LoopResidents

A, B = np.arange(12.0), np.zeros(12)


def form(
    over: Any = range(1, 11),
    described: frozenset[str] = frozenset(),
    data: Any = None,
    shift: int = 1,
    mode: Mode = Mode.UPDATE,
    **changes: Any,
) -> Any:
    named = {"a": A, "b": B, "dt": 0.5, "n": 12} | changes
    space = space_of(over)
    index = space.index or IndexMap(0, 1)

    def rows(i: int) -> int:
        return i + shift

    fields = [
        array_field(name, named[name], ArraySpec(Distribution.BLOCK, 0, mode, rows), index)
        for name in ("a", "b")
    ]
    return form_of(named, fields, space, LoopResidents(), described, data or {})


def test_what_is_equal_has_an_equal_form() -> None:
    assert form() == form(a=A[:], dt=0.5) is not None


def test_arrays_of_other_memory_have_an_equal_form() -> None:
    assert form() == form(a=A.copy()) is not None


def test_data_of_modules_counts_by_its_contents_and_functions_by_themselves() -> None:
    held = {"helper": {"list": [1, 2.5, "three"], "code": {"f": len, 3: (np.zeros, np.float64)}}}
    same = {"helper": {"list": [1, 2.5, "three"], "code": {"f": len, 3: (np.zeros, np.float64)}}}
    assert form(data=held) == form(data=same) is not None
    same["helper"]["code"]["f"] = max
    assert form(data=held) != form(data=same)


def test_a_container_that_is_met_twice_is_not_two() -> None:
    one: list[Any] = [1]
    assert form(data={"helper": {"a": one, "b": one}}) != form(data={"helper": {"a": one, "b": [1]}})
    one.append(one)
    assert form(data={"helper": {"a": one}}) is not None


CHANGES: dict[str, dict[str, Any]] = {
    "memory shared otherwise": {"b": A[::-1]},
    "a part": {"a": A[1:]},
    "another stride": {"a": A[::-1]},
    "one array under two names": {"b": A},
    "a number's type": {"n": 12.0},
    "the sign of zero": {"dt": -0.0},
    "a type of numpy's": {"dt": np.float64(0.5)},
    "other iterations": {"over": range(2, 11)},
    "another step": {"over": range(1, 11, 2)},
    "other subscripts": {"shift": 2},
    "only read": {"mode": Mode.READ},
    "data of a module": {"data": {"helper": {"scale": 2}}},
    "a list of a module": {"data": {"helper": {"table": [1, [2]]}}},
    "a longer list of a module": {"data": {"helper": {"table": [1, 2]}}},
    "what is contributed to": {"described": frozenset({"dt"})},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_has_another_form(change: str) -> None:
    assert form(**CHANGES[change]) not in (form(), None)


def test_an_array_that_may_no_longer_be_stored_to_has_another_form() -> None:
    other = B.copy()
    before = form(b=other)
    other.flags.writeable = False
    assert form(b=other) != before


def test_parts_of_one_array_have_a_form_by_their_distance() -> None:
    forms = [form(b=A[first:][:8]) for first in (2, 3)]
    assert None not in forms
    assert forms[0] != forms[1]


UNKNOWN: dict[str, Callable[[], dict[str, Any]]] = {
    "an object": lambda: {"n": object()},
    "a list": lambda: {"n": [1, 2]},
    "memory that is not numpy's": lambda: {"a": np.frombuffer(bytearray(96))},
    "a sequence": lambda: {"over": [1, 2, 3]},
    "pairs": lambda: {"over": enumerate(range(5, 9))},
    "an array that iterations contribute to": lambda: {"described": frozenset({"a"})},
    "objects of a module": lambda: {"data": {"helper": {"table": [object()]}}},
    "a function that no module has": lambda: {"data": {"helper": {"table": [lambda: 1]}}},
    "an array of a module": lambda: {"data": {"helper": {"table": {"a": np.zeros(3)}}}},
    "much data of a module": lambda: {"data": {"helper": {"table": list(range(1000))}}},
    "an array of objects": lambda: {"a": np.array([None] * 12)},
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_may_change_unseen_has_none(case: str) -> None:
    assert form(**UNKNOWN[case]()) is None


def test_the_value_that_iterations_contribute_to_does_not_count() -> None:
    described = frozenset({"dt"})
    assert form(described=described) == form(described=described, dt=0.75)
    assert form(described=described) != form(described=described, dt=1)
