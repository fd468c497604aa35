"""Objects that iterations contribute to must be reached by their names alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.contract import Distribution, Mode
from dlbrt.dist.field import array_field
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.hazard import reached_otherwise
from dlbrt.dist.spec import ArraySpec

HIST = np.zeros(6)
ITEMS: list[Any] = []
ROWS = array_field("rows", [[1], ITEMS, HIST], ArraySpec(Distribution.BLOCK, 0, Mode.READ), IndexMap(0, 1))

CASES: dict[str, tuple[dict[str, Any], list[Any], list[Any], list[Any], str]] = {
    "met": ({"items": ITEMS}, [], [], [ITEMS], "items is"),
    "an element": ({"items": ITEMS}, [ROWS], [], [], "items is"),
    "a view": ({"hist": HIST[2:]}, [], [HIST[:3]], [], "memory of hist is"),
    "an element's memory": ({"hist": HIST[:1]}, [ROWS], [], [], "memory of hist is"),
    "two names": ({"a": HIST, "b": HIST}, [], [], [], "a is"),
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
