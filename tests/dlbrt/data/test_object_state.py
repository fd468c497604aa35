"""The objects that elements consist of: found in one order, and changed in place."""

from __future__ import annotations

import io
import pickle
import random
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlbrt.data.object_state import UnknownPartError, is_mutable, parts_of, restore, state_of


class Colour(Enum):
    RED = 1


@dataclass
class Particle:
    x: float
    trail: list[float] = field(default_factory=list)
    colour: Colour = Colour.RED


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: Any) -> None:
        self.x = x


def changed_elsewhere(element: Any, change: Any) -> None:
    """What a loop does: a copy is changed, and the states of its objects come back."""
    parts = parts_of(element)
    copy = pickle.loads(pickle.dumps(element))
    copies = parts_of(copy)
    change(copy)
    numbers = {id(copied): number for number, copied in enumerate(copies)}
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.persistent_id = lambda value: numbers.get(id(value))  # type: ignore[method-assign]
    pickler.dump([(copied, state_of(copied)) for copied in filter(is_mutable, copies)])
    unpickler = pickle.Unpickler(io.BytesIO(file.getvalue()))
    unpickler.persistent_load = lambda number: parts[number]  # type: ignore[method-assign]
    for part, state in unpickler.load():
        restore(part, state)


def test_numbers_and_text_have_no_parts() -> None:
    assert parts_of(3) == []
    assert parts_of("text") == []
    assert not any(map(is_mutable, parts_of((1, "a", Colour.RED))))


def test_an_object_is_found_once_however_often_it_is_held() -> None:
    inner: list[Any] = [1]
    outer = [inner, {"again": inner}, (inner,)]
    inner.append(outer)
    assert [id(part) for part in parts_of(outer)] == [id(outer), id(inner), id(outer[1]), id(outer[2])]


def test_an_instance_keeps_its_identity_and_that_of_what_it_holds() -> None:
    particle = Particle(1.0, [0.0])
    trail = particle.trail

    def move(copy: Particle) -> None:
        copy.x += 1
        copy.trail.append(copy.x)

    changed_elsewhere(particle, move)
    assert particle == Particle(2.0, [0.0, 2.0])
    assert particle.trail is trail


def test_attributes_that_are_new_or_deleted() -> None:
    particle = Particle(1.0)

    def change(copy: Any) -> None:
        del copy.trail
        copy.speed = 3

    changed_elsewhere(particle, change)
    assert vars(particle) == {"x": 1.0, "colour": Colour.RED, "speed": 3}


def test_slots() -> None:
    element = Slotted([1])
    inner = element.x

    def change(copy: Slotted) -> None:
        copy.x.append(2)
        copy.y = 5

    changed_elsewhere(element, change)
    assert (element.x, element.y) == ([1, 2], 5)
    assert element.x is inner


@pytest.mark.parametrize(
    ("element", "change"),
    [
        ([1, 2], lambda copy: copy.append(3)),
        ({"a": 1}, lambda copy: copy.update(b=2)),
        ({1, 2}, lambda copy: copy.add(3)),
        (deque([1], maxlen=2), lambda copy: copy.extend([2, 3])),
        (bytearray(b"a"), lambda copy: copy.extend(b"b")),
        (defaultdict(list, a=[1]), lambda copy: copy["b"].append(2)),
        (OrderedDict(a=1, b=2), lambda copy: copy.move_to_end("a")),
        (Counter("ab"), lambda copy: copy.update("a")),
        (SimpleNamespace(v=1), lambda copy: vars(copy).update(w=2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_containers(element: Any, change: Any) -> None:
    expected = pickle.loads(pickle.dumps(element))
    change(expected)
    changed_elsewhere(element, change)
    assert element == expected
    assert list(element) == list(expected) if isinstance(element, dict) else True


def test_an_array_is_filled() -> None:
    element = [np.zeros(3)]
    array = element[0]

    def change(copy: Any) -> None:
        copy[0] += 1

    changed_elsewhere(element, change)
    assert element[0] is array
    assert array.tolist() == [1, 1, 1]


@pytest.mark.parametrize("make", [lambda: np.random.default_rng(1), lambda: random.Random(1)])
def test_a_generator_goes_on_where_its_copy_stopped(make: Any) -> None:
    generator, other = make(), make()
    changed_elsewhere(generator, lambda copy: copy.random())
    other.random()
    assert generator.random() == other.random()


class Closing:
    def __del__(self) -> None:
        pass


def _read_only() -> Any:
    array = np.zeros(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "element",
    [threading.Lock(), {Particle(1.0).trail.__class__, 1}.__iter__(), _read_only(), [].append, object(),
     {(1, Slotted(1)): 2}, np.array([None]), Closing(), np.zeros(1, dtype=[("x", int)])[0]],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_ranks_cannot_give_back(element: Any) -> None:
    with pytest.raises(UnknownPartError):
        parts_of([element])
