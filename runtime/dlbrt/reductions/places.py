"""Where values are kept that iterations contribute to through an object: ``self.total``, ``best["v"]``.

While a kernel runs, the object holds there what iterations work on, the value itself or a stand-in. At the
end rank 0 puts the value back. An object that is sent to other ranks goes without the value.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MemberDescriptorType
from typing import Any, NoReturn

from dlbrt.data.array_table import root_of
from dlbrt.reductions.operations import NAMES, StandIn

#: The steps of an access path: an attribute, a key that is text, a position.
_STEP = re.compile(r'\.(\w+)|\["([^"]*)"\]|\[(\d+)\]')

#: Types of objects that keep any value under a key.
_KEYED = frozenset({dict, defaultdict, OrderedDict, Counter, list})

#: Methods that run where any attribute is set or read.
_HOOKS = ("__setattr__", "__getattribute__")


#: Stands for the lack of a value.
_NOTHING: Any = object()


class Absent(StandIn):
    """Stands where there is no value: the first use raises what reading it has raised."""

    __slots__ = ("_error",)

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _raise(self, *_: object) -> NoReturn:
        raise self._error


for _use in (*NAMES, "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__getitem__"):
    setattr(Absent, _use, Absent._raise)


class Place:
    """One attribute of ``owner``, or one item of it; ``name`` is the access path.

    ``original`` is the value before the loop, `Absent` where there is none; ``inherited``: it is that of the
    class, and the object has none of its own. ``holders``: the objects that the path leads through, the last
    one being the owner.
    """

    __slots__ = ("_attribute", "_step", "holders", "inherited", "name", "original", "owner")

    def __init__(self, name: str, variables: Mapping[str, Any]) -> None:
        self.name = name
        self.owner: Any = variables[root_of(name)]
        self.holders = [self.owner]
        steps = [found.groups() for found in _STEP.finditer(name)]
        for attribute, key, position in steps[:-1]:
            self.owner = getattr(self.owner, attribute) if attribute else self.owner[_key(key, position)]
            self.holders.append(self.owner)
        attribute, key, position = steps[-1]
        self._attribute = attribute is not None
        self._step = attribute if self._attribute else _key(key, position)
        try:
            self.original = self.value
        except Exception as error:  # properties may raise anything
            self.original = Absent(error)
        self.inherited = self._attribute and not self._is_own()

    @property
    def value(self) -> Any:
        """What is there now."""
        return getattr(self.owner, self._step) if self._attribute else self.owner[self._step]

    def put(self, value: Any) -> None:
        """Put a value there; `Absent` empties it."""
        if self._attribute:
            setattr(self.owner, self._step, value)
        else:
            self.owner[self._step] = value

    def restore(self, value: Any) -> None:
        """Put the value there with which the loop ends."""
        if isinstance(value, Absent) or (self.inherited and value is self.original):
            self._remove()
        elif self._held() is not value:
            self.put(value)

    def take(self) -> Any:
        """Take away the value that the object itself has there; returns it, or `_NOTHING`."""
        value = self._held() if not self._attribute or self._is_own() else _NOTHING
        if value is not _NOTHING and (self.is_new or self.inherited):
            self._remove()
        elif value is not _NOTHING:
            self.put(None)
        return value

    @property
    def is_new(self) -> bool:
        """Whether there was no value before the loop."""
        return isinstance(self.original, Absent)

    def _is_own(self) -> bool:
        """Whether the object itself has the attribute."""
        slot = isinstance(getattr(type(self.owner), self._step, None), MemberDescriptorType)
        return slot or self._step in getattr(self.owner, "__dict__", {})

    def _is_computed(self) -> bool:
        """Whether setting it runs a descriptor of the class, such as a property; slots only keep a value."""
        kinds = (vars(kind) for kind in type(self.owner).__mro__)
        found = next((names[self._step] for names in kinds if self._step in names), None)
        return hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType)

    def _remove(self) -> None:
        with contextlib.suppress(AttributeError, LookupError):
            if self._attribute:
                delattr(self.owner, self._step)
            else:
                del self.owner[self._step]

    def _held(self) -> Any:
        try:
            return self.value
        except Exception:  # as above
            return _NOTHING

    def same(self, other: Place) -> bool:
        """Whether it is the same place under another name."""
        return self.owner is other.owner and self._step == other._step

    def obstacle(self) -> str | None:
        """Why it cannot hold a stand-in; None if it can."""
        kind = type(self.owner).__name__
        if self.is_new and self._held() is self.original:
            return f"{self.name} has no value"
        if not self._attribute:
            return None if type(self.owner) in _KEYED else f"{self.name} is an item of a {kind}"
        hooked = any(getattr(type(self.owner), hook) is not getattr(object, hook) for hook in _HOOKS)
        if hooked or self._is_computed():
            return f"{self.name} is an attribute of a {kind}, which sets its attributes in a way of its own"
        return None


def _key(text: str | None, position: str | None) -> Any:
    return text if position is None else int(position)


class Places:
    """The places of one run of a loop at rank 0, those of companions too."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}

    def find(self, names: Iterable[str], variables: Mapping[str, Any]) -> None:
        """Find the places among ``names``; where a value is missing, its stand-in is put there."""
        for name in names:
            if not name.isidentifier() and name not in self._places:
                self._places[name] = Place(name, variables)

    def value(self, name: str) -> Any:
        """What was at a place before the loop."""
        place = self._places[name]
        if place.is_new:
            place.put(place.original)
        return place.original

    @property
    def holders(self) -> dict[str, list[Any]]:
        """By the names of places, the objects that lead to them."""
        return {name: place.holders for name, place in self._places.items()}

    def obstacle(self) -> str | None:
        """Why the loop cannot be shared because of a place; None if it can."""
        places = list(self._places.values())
        for number, place in enumerate(places):
            if reason := place.obstacle():
                return reason
            same = next((other for other in places[:number] if other.same(place)), None)
            if same is not None:
                return f"{place.name} and {same.name} are the same"
        return None

    @contextlib.contextmanager
    def emptied(self) -> Iterator[None]:
        """A context in which the objects are without the values, new keys and attributes included."""
        held = [(place, place.take()) for place in self._places.values()]
        try:
            yield
        finally:
            for place, value in reversed(held):
                if value is not _NOTHING:
                    place.put(value)

    def restore(self, values: Mapping[str, Any]) -> None:
        """Put the final values in their places; a place without one is as it was.

        New keys and attributes come in the order in which iterations made them.
        """
        made = [name for name in values if name in self._places and self._places[name].is_new]
        for name in made:
            self._places[name].restore(self._places[name].original)
        for name in (*(name for name in self._places if name not in made), *made):
            self._places[name].restore(values.get(name, self._places[name].original))
