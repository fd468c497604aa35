"""Which objects a body may use, by the names in its code and in that of what it calls."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.values.uses import Uses


class Part:
    def __init__(self, marked: object) -> None:
        self.file = marked
        self.size = 3


class Sim:
    """Holds an object in many places."""

    __slots__ = ("__dict__", "slot")

    def __init__(self, marked: object) -> None:
        self.file = marked

    def through(self) -> Any:
        return self.inner()

    def inner(self) -> Any:
        return self.file

    @property
    def shown(self) -> Any:
        return self.file

    @functools.cached_property
    def cached(self) -> Any:
        return self.file

    @classmethod
    def made(cls, marked: object) -> Sim:
        return cls(marked)

    @staticmethod
    def of(sim: Sim) -> Any:
        return sim.file

    def unused(self) -> Any:
        return self.file


class Compared(Sim):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and bool(self.file == other.file)

    __hash__ = None  # type: ignore[assignment]


@dataclasses.dataclass
class Config:
    file: Any
    size: int = 3

    def shown(self) -> str:
        return str(self)

    def doubled(self) -> int:
        return self.size * 2


MARKED = threading.Lock()


def of_module() -> Any:
    return MARKED


@pytest.fixture(autouse=True)
def _of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """This module is the program."""
    monkeypatch.setattr("dlbrt.mpi.values.uses.is_of_program", lambda value: value.__module__ == __name__)


def used(kernel: Callable[..., object], **arguments: Any) -> str | None:
    return Uses(kernel, arguments, {}).used(MARKED)


def sim(kind: type[Sim] = Sim) -> Any:
    return kind(MARKED)


USED: dict[str, tuple[Callable[..., object], Any]] = {
    "an attribute": (lambda a: a.file, sim()),
    "a method of a method": (lambda a: a.through(), sim()),
    "a property": (lambda a: a.shown, sim()),
    "a cached property": (lambda a: a.cached, sim()),
    "a static method": (lambda a: a.of(a), sim()),
    "an operator": (lambda a: a == 1, sim(Compared)),
    "a data class that is compared": (lambda a: a == 1, Config(MARKED)),
    "a data class that is handed on": (lambda a: print(a), Config(MARKED)),
    "a data class that a method shows": (lambda a: a.shown(), Config(MARKED)),
    "a data class under another name": (lambda a: [b.size for b in [a]], Config(MARKED)),
    "a data class in a list": (lambda a: a, [Config(MARKED)]),
    "getattr": (lambda a: getattr(a, "fi" + "le"), sim()),
    "vars": (lambda a: vars(a)["fi" + "le"], sim()),
    "a copy": (lambda a: copy.copy(a), sim()),
    "an inner function": (lambda a: [(lambda: b.file)() for b in [a]], sim()),
    "an item of a list": (lambda a: a, [sim(), [MARKED]]),
    "an item of a tuple in a deque": (lambda a: a, deque([(1, MARKED)])),
    "an item of an array of objects": (lambda a: a, np.array([None, MARKED], dtype=object)),
    "a key": (lambda a: a["file"], {"file": MARKED, "size": 3}),
    "a key that is computed": (lambda a, k: a[k], {"file": MARKED}),
    "get": (lambda a: a.get("file"), {"file": MARKED}),
    "a loop over values": (lambda a: [v for v in a.values() if v], {"file": MARKED}),
    "a dictionary under two names": (lambda a: a["size"] and a, {"file": MARKED, "size": 3}),
    "a dictionary handed on": (lambda a: len(a), {"file": MARKED}),
    "a key in an attribute": (lambda a: a.cfg["file"], SimpleNamespace(cfg={"file": MARKED})),
    "an alias of a dictionary": (lambda a: [c["x"] for c in [a.cfg]], SimpleNamespace(cfg={"file": MARKED})),
    "a key in a key": (lambda a: a["io"]["file"], {"io": {"file": MARKED}}),
    "a bound method": (lambda a: a(), sim().through),
    "a closure": (lambda a: a(), (lambda held: lambda: held)(MARKED)),
    "a default": (lambda a: a(), lambda held=MARKED: held),
    "a partial function": (lambda a: a(), functools.partial(len, MARKED)),
    "a dictionary with a default": (lambda a: a["file"] and a.keys(), {"file": MARKED}),
}


@pytest.mark.parametrize("way", USED)
def test_ways_to_an_object(way: str) -> None:
    kernel, argument = USED[way]
    assert used(kernel, a=argument) is not None


NOT_USED: dict[str, tuple[Callable[..., object], Any]] = {
    "another attribute": (lambda a: a.size, Part(MARKED)),
    "another method": (lambda a: a.other(), sim()),
    "a function of a module of that name": (lambda a: np.file(a.size), sim()),  # type: ignore[attr-defined]
    "another key": (lambda a: a["size"], {"file": MARKED, "size": 3}),
    "another key, stored to": (lambda a: operator.setitem(a.cfg, "x", 1), SimpleNamespace(part=Part(MARKED))),
    "another key in a comprehension": (lambda a: [a["size"] for _ in "ab"], {"file": MARKED, "size": 3}),
    "another key of an inner dictionary": (lambda a: a["io"]["size"], {"io": {"file": MARKED, "size": 3}}),
    "another key of an attribute": (
        lambda a: a.cfg["size"],
        SimpleNamespace(cfg={"file": MARKED, "size": 3}),
    ),
    "an attribute of a part": (lambda a: a.part.size, SimpleNamespace(part=Part(MARKED))),
    "attributes of a data class": (lambda a: a.size * a.doubled(), Config(MARKED)),
    "the class, looked at": (lambda a: type(a).shown is None, SimpleNamespace(part=Part(MARKED))),
}


@pytest.mark.parametrize("way", NOT_USED)
def test_names_that_lead_elsewhere(way: str) -> None:
    kernel, argument = NOT_USED[way]
    assert used(kernel, a=argument) is None


def test_a_variable_of_the_module_is_used_where_a_function_that_is_called_names_it() -> None:
    uses = Uses(lambda: None, {}, {"helper": {"lock": MARKED}})
    assert uses.used(MARKED) is None
    assert uses.path(MARKED) == "helper.lock"
    assert Uses(lambda helper: helper.lock, {}, {"helper": {"lock": MARKED}}).used(MARKED) == "helper.lock"


def test_a_class_that_is_called_runs_its_constructor() -> None:
    box: dict[str, Any] = {}

    class Made:
        def __init__(self) -> None:
            self.held = box["file"]

    box["file"] = MARKED
    assert used(lambda a: a(), a=Made) is not None
    assert used(lambda a: type(a)(), a=Made()) is not None


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        (Part(MARKED), "a.file"),
        ({"io": {"file": MARKED}}, "a['io']['file']"),
        ({3: [0, MARKED]}, "a[3][1]"),
        (SimpleNamespace(parts=[Part(MARKED)]), "a.parts[0].file"),
    ],
)
def test_the_path_is_as_in_the_program(argument: Any, path: str) -> None:
    uses = Uses(lambda a: a, {"a": argument}, {})
    assert uses.path(MARKED) == path


def test_slots_lead_on_by_their_names() -> None:
    slotted = sim()
    slotted.file, slotted.slot = None, MARKED
    assert used(lambda a: a.file, a=slotted) is None
    assert used(lambda a: a.slot, a=slotted) == "a.slot"


def test_what_nothing_leads_to_has_no_path() -> None:
    assert Uses(lambda a: a, {"a": {"b": 1}}, {}).path(MARKED) is None


def test_what_an_object_leads_to() -> None:
    assert id(MARKED) in Uses.reached_from(sim())
    assert id(MARKED) not in Uses.reached_from(Part(None))
