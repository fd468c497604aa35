"""`dlbrt.records.dataclass` against the standard library's: the same classes, made by both, act alike."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest
from dlbrt import records

Made = Callable[..., Any]


def point(dataclass: Made, **options: Any) -> Any:
    """A class with every kind of field that is used."""

    @dataclass(**options)
    class Point:
        """A point."""

        x: int
        tags: list[str] = field(default_factory=list)
        y: float = 0.5
        name: str = field(default="p", repr=False, compare=False)
        doubled: int = field(init=False, default=0)
        seen: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            object.__setattr__(self, "doubled", 2 * self.x)

    return Point


#: All combinations that occur.
OPTIONS: list[dict[str, Any]] = [
    {"frozen": True, "slots": True},
    {"frozen": True},
    {"slots": True},
    {},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "eq": False},
    {"slots": True, "eq": False},
]

#: Ways to make a point.
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, ["a"]), {"y": 2.0}),
    ((), {"x": 3, "name": "q"}),
    ((), {}),
    ((1,), {"x": 2}),
    ((1,), {"z": 2}),
    ((1, [], 0.0, "q", 9), {}),
]


def outcome(act: Callable[[], Any]) -> Any:
    """What comes of it: a value, or the kind and words of an error."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error)


def facts(make: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """All that is seen of an object and of others like it."""
    made, other, changed = (outcome(lambda: make(*arguments, **named)) for _ in range(3))
    if isinstance(made, tuple):
        return made
    return [
        {each.name: getattr(made, each.name) for each in dataclasses.fields(make)},
        repr(made),
        made == other,
        made == make(7),
        made == "text",
        dataclasses.asdict(made),
        dataclasses.astuple(made),
        outcome(lambda: dataclasses.asdict(dataclasses.replace(made, y=4.0))),
        outcome(lambda: dataclasses.asdict(dataclasses.replace(made, doubled=4))),
        outcome(lambda: setattr(changed, "x", 5)),
        outcome(lambda: delattr(changed, "y")),
        outcome(lambda: setattr(changed, "unknown", 5)) is None,
        outcome(lambda: hash((make(1) == make(1), type(made).__hash__ is None))),
        dataclasses.asdict(copy.copy(made)),
        dataclasses.asdict(copy.deepcopy(made)),
        make.__match_args__,
        hasattr(made, "__dict__"),
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_acts_as_the_standard_library_s(options: dict[str, Any]) -> None:
    ours, theirs = point(records.dataclass, **options), point(dataclasses.dataclass, **options)
    for arguments, named in CALLS:
        assert facts(ours, arguments, named) == facts(theirs, arguments, named)


def test_a_hash_is_that_of_the_fields() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Pair:
        first: int
        second: str
        note: str = field(default="", compare=False)

    @records.dataclass(frozen=True, slots=True)
    class One:
        only: int

    assert hash(Pair(1, "b", "c")) == hash(Pair(1, "b")) == hash((1, "b"))
    assert hash(One(5)) == hash((5,))
    assert One(5) != Pair(5, "")
    assert len({One(5), One(5), One(6)}) == 2


def test_what_a_class_defines_itself_stays() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    assert repr(Own(1)) == "own"
    assert Own(1) == 3
    assert hash(Own(4)) == hash((4,)), "as the standard library does"


def test_fields_are_inherited() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Base:
        x: int

    @records.dataclass(frozen=True, slots=True)
    class Derived(Base):
        y: int = 2

    class Plain(Base):
        pass

    assert repr(Derived(1)).endswith("Derived(x=1, y=2)")
    assert (Base(1) == Derived(1)) is False
    assert Plain(3).x == 3
    assert Base(3) == Base(3), "a derived class made first leaves the base's own"


@records.dataclass(frozen=True, slots=True)
class Sent:
    """At the top of a module, so that it can be pickled."""

    x: int
    values: tuple[int, ...] = ()


@records.dataclass(slots=True)
class Changing:
    """Likewise, not frozen."""

    x: int = 0


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_it_can_be_pickled(protocol: int) -> None:
    for value in (Sent(1, (2, 3)), Changing(4)):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
