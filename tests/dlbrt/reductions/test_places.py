"""Values in objects: found by access paths, taken away, put back as the sequential program leaves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.data.array_table import root_of
from dlbrt.reductions.contributions import LoopContributions
from dlbrt.reductions.kinds import REDUCE, SELECT
from dlbrt.reductions.places import Absent, Places


class Holder:
    shared = 5

    def __init__(self) -> None:
        self.total = 1.5
        self.stats: dict[Any, Any] = {"n": 3, "pair": [1, 2]}


class Slotted:
    __slots__ = ("low",)

    def __init__(self) -> None:
        self.low = 2


class Computed:
    def __init__(self) -> None:
        self._total = 0

    @property
    def total(self) -> int:
        return self._total

    @total.setter
    def total(self, value: int) -> None:
        self._total = value


class Guarded(Holder):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def found(variables: dict[str, Any], *names: str) -> Places:
    places = Places()
    places.find(names, variables)
    return places


def test_paths_lead_through_attributes_keys_and_positions() -> None:
    holder = Holder()
    names = ("h.total", 'h.stats["n"]', 'h.stats["pair"][1]')
    places = found({"h": holder}, *names, "plain")
    assert [places.value(name) for name in names] == [1.5, 3, 2]
    assert places.obstacle() is None
    assert [root_of(name) for name in (*names, "plain")] == ["h", "h", "h", "plain"]


def test_objects_are_without_the_values_while_they_are_sent() -> None:
    holder, slotted = Holder(), Slotted()
    places = found({"h": holder, "s": slotted}, "h.total", 'h.stats["n"]', "s.low", "h.shared", "h.new")
    with places.emptied():
        assert (holder.total, holder.stats["n"], slotted.low) == (None, None, None)
        assert vars(holder).keys() == {"total", "stats"}
    assert (holder.total, holder.stats["n"], slotted.low, holder.shared) == (1.5, 3, 2, 5)
    assert vars(holder).keys() == {"total", "stats"}


def test_what_was_not_set_is_not_there_afterwards() -> None:
    holder = Holder()
    places = found({"h": holder}, "h.shared", "h.new", 'h.stats["at"]', 'h.stats["m"]')
    holder.shared = holder.shared  # as a kernel does
    holder.new = holder.stats["m"] = holder.stats["at"] = object()  # type: ignore[attr-defined]
    places.restore({'h.stats["at"]': 7})
    assert vars(holder).keys() == {"total", "stats"}
    assert list(holder.stats) == ["n", "pair", "at"]
    assert holder.stats["at"] == 7


def test_new_keys_come_in_the_order_of_the_iterations() -> None:
    state: dict[str, Any] = {}
    places = found({"s": state}, 's["a"]', 's["b"]')
    state["a"] = state["b"] = None
    places.restore({'s["b"]': 1, 's["a"]': 2})
    assert list(state.items()) == [("b", 1), ("a", 2)]


def test_a_missing_value_raises_where_it_is_used() -> None:
    holder = Holder()
    contributions = LoopContributions()
    contributions.declare({"h.n": REDUCE("+"), 'h.stats["v"]': SELECT("<", 'h.stats["i"]')})
    contributions.begin({"h": holder})
    assert contributions.places.obstacle() == "h.n has no value"
    with pytest.raises(AttributeError, match="no attribute 'n'"):
        contributions.values["h.n"] + 1
    with pytest.raises(KeyError, match="v"):
        contributions.values['h.stats["v"]'] > 1  # noqa: B015
    contributions.finish()
    assert vars(holder).keys() == {"total", "stats"}
    assert list(holder.stats) == ["n", "pair"]


def test_places_that_cannot_hold_a_stand_in() -> None:
    holder = Holder()
    assert found({"a": np.zeros(3)}, "a[0]").obstacle() == "a[0] is an item of a ndarray"
    assert (
        found({"h": holder, "o": holder}, "h.total", "o.total").obstacle()
        == "o.total and h.total are the same"
    )
    for guarded in (Guarded(), Computed()):
        reason = found({"g": guarded}, "g.total").obstacle()
        kind = type(guarded).__name__
        assert reason == f"g.total is an attribute of a {kind}, which sets its attributes in a way of its own"


def test_absent_values_are_stand_ins() -> None:
    absent = Absent(KeyError("k"))
    with pytest.raises(KeyError):
        absent += 1  # type: ignore[operator]
