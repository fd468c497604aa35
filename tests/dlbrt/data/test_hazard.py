"""What the proof assumed of the data is looked at before the loop: each assumption that fails is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.data.array_table import BLOCK, WHOLE, ArraySpec
from dlbrt.data.field import Field, array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.hazard import hazard, items_reached
from dlbrt.data.space import space_of
from numpy.lib.stride_tricks import as_strided

INDEX = IndexMap(0, 1)
RW, R = BLOCK(0, "rw"), BLOCK(0, "r")
IN_PLACE = BLOCK(0, "rw", in_place=True)


def with_tables(data: Any, spec: ArraySpec, n: int = 4) -> Field:
    return array_field("a", data, spec, INDEX).with_tables(space_of(range(n)))


def field(data: Any, spec: ArraySpec = RW, name: str = "a") -> Field:
    return array_field(name, data, spec, INDEX)


def found(
    fields: list[Field], n: int = 4, hidden: tuple[Any, ...] = (), met: tuple[Any, ...] = ()
) -> str | None:
    arrays = [f.data for f in fields if isinstance(f.data, np.ndarray)]
    arrays += [value for value in met if isinstance(value, np.ndarray)]
    return hazard(fields, arrays, {id(value) for value in hidden}, n, met)


A = np.zeros((4, 3))
SHARED = [0, 0]


@pytest.mark.parametrize(
    "fields",
    [
        [field(np.zeros((4, 3)))],
        [field(np.zeros((4, 3), order="F"))],
        [field(np.zeros((8, 3))[::-2])],
        [field(np.zeros((4, 3))), field(np.zeros((4, 3)), WHOLE("r"), "b")],
        [field(A[:2]), field(A[2:], R, "b")],
        [field(A[:, 0]), field(A[:, 1], R, "b")],
        [field([1, "x", None, 2.5])],
        [field([[0, 1] for _ in range(4)], IN_PLACE)],
        [field([np.zeros(2) for _ in range(4)], IN_PLACE)],
        [field([[[0], [1]] for _ in range(4)], IN_PLACE)],
        [field(np.broadcast_to(np.zeros(3), (4, 3)), R)],
        [field(np.zeros((4, 1))[:, 0])],
        [field(np.zeros((4, 3)), WHOLE("rw"))],
        [field([[0] for _ in range(4)], WHOLE("rw"))],
        [field(np.zeros(9), BLOCK(0, "rw", rows=lambda i: (i, 8), writes=lambda i: i))],
        [with_tables(np.zeros(9), BLOCK(0, "rw", rows=lambda i: [3, 8, 1, 0][i], inspect=True))],
        [with_tables(np.zeros(9), BLOCK(0, "r", rows=lambda i: 0, inspect=True))],
    ],
)
def test_data_as_the_proof_takes_it_is_shared(fields: list[Field]) -> None:
    assert found(fields) is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([field({1: 2})], "is a dict"),
        ([field(np.zeros((4, 3)).view(np.recarray))], "is a recarray"),
        ([field(np.ma.zeros((4, 3)))], "is a MaskedArray"),
        ([field(np.array([None] * 4))], "holds Python objects"),
        ([field(np.zeros(4), BLOCK(1, "rw"))], "has 1 dimensions"),
        ([field([0] * 4, BLOCK(1, "rw"))], "is a list"),
        ([field(np.broadcast_to(np.zeros(3), (4, 3)))], "read-only"),
        ([field(as_strided(np.zeros(9), (4, 3), (8, 8)))], "share memory with one another"),
        ([field(np.zeros(4), BLOCK(0, "rw", rows=lambda i: 0 * i))], "two iterations store to the same row"),
        ([field(np.zeros(3), BLOCK(0, "rw", rows=lambda i: i - 2))], "two iterations store to the same row"),
        (
            [field(np.zeros(9), BLOCK(0, "rw", rows=lambda i: (i, 2), writes=lambda i: i))],
            "another one stores",
        ),
        (
            [field(np.zeros(9), BLOCK(0, "rw", rows=lambda i: (i, -6), writes=lambda i: i))],
            "another one stores",
        ),
        (
            [field(np.zeros(9), WHOLE(0, "rw", rows=lambda i: (i, 2), writes=lambda i: i))],
            "another one stores",
        ),
        (
            [with_tables(np.zeros(9), BLOCK(0, "rw", rows=lambda k: [3, 5, 1, 5][k], inspect=True))],
            "iterations k=1 and k=3 both touch row 5 of a",
        ),
        (
            [
                with_tables(
                    np.zeros(9), BLOCK(0, "rw", rows=lambda i: (i, 2), writes=lambda i: i, inspect=True)
                )
            ],
            "iterations i=0 and i=2 both touch row 2 of a",
        ),
        (
            [field([[0] for _ in range(4)], WHOLE("rw", in_place=True))],
            "iterations may change the same elements of a, a list of lists; in a numpy array",
        ),
        ([field(np.zeros(()), WHOLE("rw"))], "has 0 dimensions"),
        ([field(A), field(A, R, "b")], "are the same object"),
        ([field(A[1:]), field(A[:-1], R, "b")], "also reached under another name"),
        ([field([SHARED] * 4, IN_PLACE)], "elements 0 and 1 of a share an object"),
        ([field([[0], [SHARED], [1], [SHARED, 2]], IN_PLACE)], "1 and 3 of a share an object (list)"),
        ([field([object() for _ in range(4)], IN_PLACE)], "one holds a object"),
        ([field([[object()] for _ in range(4)], IN_PLACE)], "one holds a object"),
        ([field([SHARED, [1]], IN_PLACE), field([[2], SHARED], R, "b")], "elements of a are also reached"),
        ([field([A[0:2], A[1:3]], IN_PLACE)], "memory of elements of a"),
        ([field([A[0], A[1]], IN_PLACE), field(A, WHOLE("r"), "b")], "memory of elements of a"),
    ],
)
def test_data_of_another_kind_is_named(fields: list[Field], reason: str) -> None:
    said = found(fields)
    assert said is not None
    assert reason in said


def test_an_array_reached_in_another_way_is_named() -> None:
    data, rows = np.zeros(4), [[0], [1]]
    assert "also reached" in str(found([field(data)], hidden=(data,)))
    assert "also reached" in str(found([field(data)], met=(data.view(np.recarray),)))
    assert "also reached" in str(found([field(rows, IN_PLACE)], met=(rows[1],)))


def test_another_reference_is_named_with_what_to_do() -> None:
    data = np.zeros((4, 3))
    own = field(data, name="stars")
    holder = type("Holder", (), {})()
    holder.stars = data
    said = hazard([own], [data], {id(data)}, 4, names={"self": holder, "stars": data})
    assert said is not None
    assert said.startswith("stars is also reached as self.stars: use no self in the body")


def test_another_name_of_an_element_is_told_as_a_path() -> None:
    items = [[1], [2]]
    own, named = field(items, IN_PLACE), {"a": items, "book": {"first": items[0]}}
    said = hazard([own], [], set(), 2, [items[0]], named)
    assert said is not None
    assert said.startswith("elements of a are also reached as book['first']: use no book in the body")


def test_items_of_containers_that_are_reached_otherwise() -> None:
    row, store = [0], {"x": [1]}
    names = {"row": row, "store": store, "groups": {"a": row}}
    assert items_reached({"groups": {"a": [], "b": 1}}, [store["x"]], names) is None
    assert items_reached({"groups": {"a": row}}, [], names) == (
        "an item of groups is also reached as row: use one of the names in the body"
    )
    said = items_reached({"groups": [[], store["x"]]}, [store["x"]], names)
    assert said is not None
    assert said.startswith("an item of groups is also reached as store['x']")
    assert items_reached({"groups": {"a": 1, "b": "t"}}, [1, "t"], names) is None
