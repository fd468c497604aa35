"""Where values are kept that iterations contribute to through an object: ``self.total``, ``best["v"]``.

While a kernel runs, the object holds there what iterations work on, the value itself or a stand-in. At the end
rank 0 puts the value back. An object that is sent to other ranks goes without the value.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MemberDescriptorType
from typing import Any, NoReturn

from dlbrt.reductions.operations import NAMES, StandIn

#: The steps of an access path: an attribute, a key that is text, a position.
_STEP = re.compile(r'\.(\w+)|\["([^"]*)"\]|\[(\d+)\]')

#: Types of objects that keep any value under a key.
_KEYED = frozenset({dict, defaultdict, OrderedDict, Counter, list})

_NOTHING: Any = object()


def root_of(name: str) -> str:
    """The name that an access path begins with."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


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

    ``original`` is the value before the loop, `Absent` where there is none.
    """

    __slots__ = ("_attribute", "_inherited", "_step", "name", "original", "owner")

    def __init__(self, name: str, variables: Mapping[str, Any]) -> None:
        self.name = name
        self.owner: Any = variables[root_of(name)]
        steps = [found.groups() for found in _STEP.finditer(name)]
        for attribute, key, position in steps[:-1]:
            self.owner = getattr(self.owner, attribute) if attribute else self.owner[_key(key, position)]
        attribute, key, position = steps[-1]
        self._attribute = attribute is not None
        self._step = attribute if self._attribute else _key(key, position)
        try:
            self.original = self.value
        except Exception as error:  # properties may raise anything
            self.original = Absent(error)
        self._inherited = self._attribute and _own(self.owner, self._step) is _NOTHING

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
        if isinstance(value, Absent) or (self._inherited and value is self.original):
            self._remove()
        elif self.value is not value:
            self.put(value)

    def _remove(self) -> None:
        with contextlib.suppress(AttributeError, LookupError):
            if self._attribute:
                delattr(self.owner, self._step)
            else:
                del self.owner[self._step]

    def same(self, other: Place) -> bool:
        """Whether it is the same place under another name."""
        return self.owner is other.owner and self._step == other._step

    def obstacle(self) -> str | None:
        """Why it cannot hold a stand-in; None if it can."""
        kind = type(self.owner).__name__
        if not self._attribute:
            return None if type(self.owner) in _KEYED else f"{self.name} is an item of a {kind}"
        plain = type(self.owner).__setattr__ is object.__setattr__
        if not plain or type(self.owner).__getattribute__ is not object.__getattribute__:
            return f"{self.name} is an attribute of a {kind}, which sets its attributes in a way of its own"
        if self._inherited and not isinstance(self.original, Absent):
            return f"{self.name} is no attribute of the object's own"
        return None


def _key(text: str | None, position: str | None) -> Any:
    return text if position is None else int(position)


def _own(owner: Any, attribute: str) -> Any:
    """What an object keeps in an attribute of its own."""
    if isinstance(getattr(type(owner), attribute, None), MemberDescriptorType):
        return getattr(owner, attribute, _NOTHING)
    return getattr(owner, "__dict__", {}).get(attribute, _NOTHING)


@contextlib.contextmanager
def emptied(places: Sequence[Place]) -> Iterator[None]:
    """A context in which the objects are without the values."""
    held = [(place, place.value) for place in places if not isinstance(place.original, Absent)]
    for place, _ in held:
        place.put(None)
    try:
        yield
    finally:
        for place, value in reversed(held):
            place.put(value)
