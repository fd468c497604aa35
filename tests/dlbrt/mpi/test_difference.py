"""The path by which a change is named, found in two pickles that nothing is imported or run from."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import cloudpickle
import numpy as np
import pytest
from dlbrt.mpi.values.difference import changed_path


def program() -> dict[str, Any]:
    """A small program in a namespace of its own, so that its classes and functions go by value."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(
        "class Particle:\n"
        "    created = 0\n"
        "    def __init__(self, x):\n"
        "        self.x = x\n"
        "def objective(x):\n"
        "    return x\n"
        "objective.nfev = 0\n"
        "total = [0]\n"
        "def counter():\n"
        "    count = 0\n"
        "    def step():\n"
        "        nonlocal count\n"
        "        count += 1\n"
        "        return total\n"
        "    return step\n"
        "step = counter()\n",
        names,
    )
    names["cfg"] = {"dt": 1.0, "grid": {"shape": [1, 2]}, 3: None, "names": {"a", "b"}}
    names["particle"] = names["Particle"](1)
    names["ring"] = [names["particle"]]
    names["ring"].append(names["ring"])
    return names


def pickled(names: dict[str, Any]) -> bytes:
    return bytes(cloudpickle.dumps({name: value for name, value in names.items() if name[0] != "_"}))


def setting(text: str) -> Callable[[dict[str, Any]], object]:
    return lambda names: exec(text, names)


CHANGES = {
    "Particle.created += 1": "Particle.created",
    "objective.nfev += 1": "objective.nfev",
    "cfg['dt'] = 2.0": "cfg['dt']",
    "cfg['dt'] = -0.0": "cfg['dt']",
    "cfg['grid']['shape'].append(3)": "cfg['grid']['shape'][2]",
    "cfg[3] = 0": "cfg[3]",
    "cfg['new'] = 1": "cfg['new']",
    "cfg['names'].add('c')": "cfg['names']",
    "del cfg['dt']": "cfg['dt']",
    "cfg['dt'] = cfg.pop('dt')": "cfg",
    "particle.x = 2": "particle.x",
    "particle.y = 2": "particle.y",
    "ring[0] = None": "ring[0]",
    "total.append(1)": "total[1]",
    "Particle.move = lambda self: None": "Particle.move",
    "setattr(Particle, '__len__', lambda self: 0)": "Particle.__len__",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_named_by_its_path(change: str) -> None:
    names = program()
    pickled(names)  # pickling notes something in classes the first time
    before = pickled(names)
    exec(change, names)
    assert changed_path(before, pickled(names)) == CHANGES[change]


def test_a_closure_that_counts_is_a_change() -> None:
    names = program()
    before = pickled(names)
    names["step"]()
    assert changed_path(before, pickled(names)) is not None


@pytest.mark.parametrize("place", range(0, 60, 7))
def test_of_many_objects_made_alike_none_is_passed_over(place: int) -> None:
    names = {"prices": [Decimal(number) for number in range(60)]}
    before = pickled(names)
    names["prices"][place] = Decimal(60)
    assert changed_path(before, pickled(names)) == f"prices[{place}][0]"


def test_the_state_of_an_element_of_a_set_is_compared() -> None:
    names = program()
    names["all"] = {names["Particle"](number) for number in range(5)}
    before = pickled(names)
    assert changed_path(before, pickled(names)) is None
    next(iter(names["all"])).x = -1
    assert changed_path(before, pickled(names)) == "all.x"


def test_frozen_sets_are_compared_with_what_stands_beside_them() -> None:
    names: dict[str, Any] = {"a": {"kinds": frozenset({"x"}), "size": 1}, "b": [frozenset({1, 2}), 3]}
    before = pickled(names)
    assert changed_path(before, pickled(names)) is None
    names["a"]["size"] = 2
    assert changed_path(before, pickled(names)) == "a['size']"
    names["a"]["size"], names["b"][0] = 1, frozenset({1, 3})
    assert "b[0]" in str(changed_path(before, pickled(names)))


def test_the_state_of_a_key_is_compared() -> None:
    names = program()
    names["mass"] = {names["Particle"](1): 1.0}
    before = pickled(names)
    next(iter(names["mass"])).x = -1
    assert "mass[" in str(changed_path(before, pickled(names)))


def test_equal_sets_in_another_order_are_no_change() -> None:
    one, other = {"s": {0, 8}}, {"s": {8, 0}}  # the two collide, so the first one comes first
    assert (list(one["s"]), list(other["s"])) == ([0, 8], [8, 0])
    assert changed_path(pickled(one), pickled(other)) is None


def test_one_object_where_there_were_two_is_a_change_and_the_other_way_round() -> None:
    shared = [1, 2]
    one, two = {"a": shared, "b": shared}, {"a": [1, 2], "b": [1, 2]}
    assert changed_path(pickled(one), pickled(two)) == "b"
    assert changed_path(pickled(two), pickled(one)) == "b"


def test_equal_values_in_other_objects_are_no_change() -> None:
    names = program()
    before = pickled(names)
    names["cfg"]["grid"] = {"shape": [1, 2]}
    assert changed_path(before, pickled(names)) is None


def test_what_pickling_notes_itself_is_no_change() -> None:
    names = program()
    assert changed_path(pickled(names), pickled(names)) is None


def test_a_module_that_a_body_imports_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "xml.dom", raising=False)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("import xml\ndef body():\n    return xml.dom", names)
    before = pickled(names)
    importlib.import_module("xml.dom")

    assert changed_path(before, pickled(names)) is None


def test_arrays_inside_objects_are_compared() -> None:
    names = {"state": {"u": np.zeros(3)}}
    before = pickled(names)
    names["state"]["u"][1] = 5.0
    assert changed_path(before, pickled(names)) is not None


def test_looking_runs_nothing_of_the_program() -> None:
    names: dict[str, Any] = {"__name__": "__main__", "ran": []}
    exec(
        "class Loud:\n    def __reduce__(self):\n        return loud, (1,)\n"
        "def loud(x):\n    ran.append(x)\n    return Loud()\n"
        "thing = Loud()\n",
        names,
    )
    before = cloudpickle.dumps({"thing": names["thing"]})
    assert changed_path(before, cloudpickle.dumps({"thing": names["thing"]})) is None
    assert names["ran"] == []


class Span:
    """Its state is a tuple."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last

    def __getstate__(self) -> tuple[int, int]:
        return self.first, self.last

    def __setstate__(self, state: tuple[int, int]) -> None:
        self.first, self.last = state


@pytest.mark.parametrize("changed", [Span(2, 5), Span(1, 6)])
def test_every_part_of_a_state_counts(changed: Span) -> None:
    before, after = (cloudpickle.dumps({"span": span}) for span in (Span(1, 5), changed))
    assert changed_path(before, after) == "span"
