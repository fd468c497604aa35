"""Objects that iterations contribute to must be reached by their names alone."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.field import array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.hazard import reached_otherwise

HIST = np.zeros(6)
ITEMS: list[Any] = []
ROWS = array_field("rows", [[1], ITEMS, HIST], ArraySpec(Distribution.BLOCK, 0, Mode.READ), IndexMap(0, 1))

CASES: dict[str, tuple[dict[str, Any], list[Any], list[Any], list[Any], str]] = {
    "met": ({"items": ITEMS}, [], [], [ITEMS], "items is"),
    "an element": ({"items": ITEMS}, [ROWS], [], [], "items is"),
    "a view": ({"hist": HIST[2:]}, [], [HIST[:3]], [], "memory of hist is"),
    "an element's memory": ({"hist": HIST[:1]}, [ROWS], [], [], "memory of hist is"),
    "two views": ({"a": HIST, "b": HIST[3:]}, [], [], [], "memory of a is"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_object_that_is_reached_in_another_way_is_found(case: str) -> None:
    own, fields, arrays, met, reason = CASES[case]
    assert reached_otherwise(own, fields, arrays, met) == f"{reason} also reached under another name"


def test_objects_of_their_own_are_let_pass() -> None:
    own = {"a": HIST[:3], "b": HIST[3:], "c": [ITEMS], "d": {}}
    assert reached_otherwise(own, [], [np.zeros(6)], [{}, [], ITEMS]) is None
    assert reached_otherwise({"c": [ITEMS]}, [ROWS], [HIST], [{}, [], ITEMS]) is None
    assert reached_otherwise({}, [ROWS], [HIST], [ITEMS]) is None


@pytest.mark.parametrize("view", [dict.keys, dict.values, dict.items, MappingProxyType])
def test_a_view_of_a_dictionary_leads_to_it(view: Callable[[dict[int, int]], object]) -> None:
    table, other = {1: 2}, {1: 2}
    reason = "d is also reached under another name"
    assert reached_otherwise({"d": table}, [], [], [view(table)]) == reason
    assert reached_otherwise({"d": table}, [], [], [], {"d": table, "shown": view(table)}) == reason
    assert reached_otherwise({"d": table}, [], [], [view(other)]) is None


def test_the_other_way_is_named_where_it_is_found() -> None:
    own = {"items": ITEMS}
    asked = reached_otherwise(own, [], [], [ITEMS], {"items": ITEMS, "self": SimpleNamespace(items=ITEMS)})
    advice = "use no self in the body, but what is taken from it before the loop, and functions"
    assert asked == f"items is also reached as self.items: {advice}"
    two = reached_otherwise({"a": HIST, "b": HIST}, [], [], [])
    assert two == "a is also reached as b: use one of the names in the body"
