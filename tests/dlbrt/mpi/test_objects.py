"""Objects that came with a call are references afterwards: identities hold on the way there and back."""

from __future__ import annotations

import functools
import io
import pickle
from typing import Any

import cloudpickle
import numpy as np
import pytest
from dlbrt.data.array_table import BLOCK
from dlbrt.data.field import Field, array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.mpi.values.objects import SharedObjects, met_by_pickler, met_by_unpickler, without_cache


class Node:
    def __init__(self, value: int) -> None:
        self.value = value


def both_sides(*values: Any) -> tuple[SharedObjects, SharedObjects, list[Any]]:
    """Rank 0's objects after sending ``values``, a worker's, and the worker's values."""
    file = io.BytesIO()
    pickler = cloudpickle.Pickler(file)
    pickler.dump(list(values))
    unpickler = pickle.Unpickler(io.BytesIO(file.getvalue()))
    received = unpickler.load()
    return (
        SharedObjects(lambda: met_by_pickler(pickler)),
        SharedObjects(lambda: met_by_unpickler(unpickler)),
        received,
    )


def list_field(data: list[Any], mode: str = "r") -> Field:
    return array_field("xs", data, BLOCK(0, mode), IndexMap(0, 1))


def test_an_object_of_the_call_is_the_same_object_in_later_messages() -> None:
    marker, node = object(), Node(1)
    lead, other, (marker_there, node_there) = both_sides(marker, node)
    assert marker_there is not marker
    there = other.loads(lead.dumps([marker, node, Node(2)]))
    assert there[0] is marker_there
    assert there[1] is node_there
    assert there[2].value == 2
    back = lead.loads(other.dumps([marker_there, node_there], back=True))
    assert back[0] is marker
    assert back[1] is node


def test_what_reads_references_is_none_itself() -> None:
    node = Node(1)
    first, *_ = both_sides(node)
    call = first.dumps([node, 1])  # a pickle with references, as a call's body may be
    unpickler = pickle.Unpickler(io.BytesIO(call))
    with first.reading():
        unpickler.load()
    met = met_by_unpickler(unpickler)
    assert any(getattr(value, "__name__", "") == "_known" for value in met)
    back = SharedObjects(lambda: [*first.known, *met])
    assert back.loads(back.dumps([node], back=True)) == [node]


def test_a_function_of_the_program_comes_back_as_itself() -> None:
    scope: dict[str, Any] = {"__name__": "__main__", "SCALE": 2}
    exec("class Cell:\n    def area(self): return SCALE\ndef make(): return Cell()", scope)
    lead, other, (make_there,) = both_sides(scope["make"])
    method = scope["Cell"].area
    back = lead.loads(other.dumps([make_there, make_there()], back=True))
    assert back[0] is scope["make"]
    assert type(back[1]) is scope["Cell"]
    assert scope["Cell"].area is method


@pytest.mark.parametrize("make", [Node, lambda k: [k], lambda k: {"k": k}])
def test_elements_of_a_list_come_back_as_themselves(make: Any) -> None:
    here = [make(k) for k in range(3)]
    lead, other = SharedObjects(), SharedObjects()
    lead.fields = [list_field(here)]
    there: list[Any] = lead.loads(lead.dumps(here))
    other.fields = [list_field(there)]
    other.note(other.fields[0], range(3), there)
    back = lead.loads(other.dumps([there[2], make(7), there[0]], back=True))
    assert back[0] is here[2]
    assert back[2] is here[0]
    assert all(back[1] is not element for element in here)


def test_a_view_comes_back_as_a_view() -> None:
    array = np.arange(12.0).reshape(3, 4)
    copy = array.copy()
    lead, other = SharedObjects(lambda: [array]), SharedObjects(lambda: [copy])
    for view in (copy[1], copy[::-1, 1::2], copy.T[2:], copy.reshape(-1)[5:6]):
        back = lead.loads(other.dumps(view, back=True))
        assert np.array_equal(back, view)
        assert back.strides == view.strides
        assert np.shares_memory(back, array)
    assert not np.shares_memory(lead.loads(other.dumps(copy[1] + 0, back=True)), array)


def test_a_remembering_function_of_the_program_travels_by_value() -> None:
    def plain(x: int) -> int:
        return x + 1

    cached = functools.lru_cache(7)(plain)
    there = SharedObjects().loads(SharedObjects().dumps(cached))
    assert there(4) == 5
    assert there.cache_parameters() == {"maxsize": 7, "typed": False}
    assert without_cache(functools.lru_cache(len)) is None
