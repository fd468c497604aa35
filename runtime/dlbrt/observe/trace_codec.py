"""Values of the core as JSON and back, exactly: events, actions and what they carry.

Law. What is decoded equals what was encoded, with the same types (Python's for numpy's numbers). None,
booleans, integers, text and finite floats stand for themselves (Python writes the shortest decimal that reads
as the same double), and a tuple is an array. Every other value is an object with one member, whose name is
its type:

=================  ================================================================================
``{"Worked": o}``  a dataclass or named tuple by its fields; an enum by the name of its member
``{"Spans": a}``   `dlbrt.data.spans.Spans`, by its own flat triples
``{"same": k}``    value number ``k`` of a table: a long value that occurs again is kept once
lowercase names    ``list``, ``range``, ``dict`` (pairs), ``set``, ``float`` (``inf``, ``-inf``, ``nan``)
=================  ================================================================================

No class is named here. Any dataclass, named tuple or enum at the top level of a pure module or of
`dlbrt.observe` can be written; a second table says in which module each class was found. So new events,
actions and messages need no change, and only such classes, with fields of the annotated types, can come out
of a file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from dlbrt.data.spans import Spans
from dlbrt.standard_library import import_apart

#: The modules and packages below `dlbrt` whose classes can be written.
_PARTS = frozenset(
    {"balance", "predict", "chunks", "diffusion", "speed"}
    | {"partition", "emulation", "data", "parameters", "observe"}
)

#: A value whose JSON is longer than this is kept once.
_LONG = 64


class CodecError(ValueError):
    """A value that cannot be written, or JSON that is not a written value; the message says which."""


class Encoder:
    """Encodes values that may share parts; ``shared`` and ``modules`` are its tables so far."""

    def __init__(self) -> None:
        self.shared: list[Any] = []
        self.modules: dict[str, str] = {}
        self._classes: dict[str, type] = {}
        self._names: dict[type, str] = {}
        self._places: dict[str, int] = {}
        self._seen: dict[int, tuple[Any, Any]] = {}

    def encode(self, value: Any) -> Any:
        """The value as JSON, parts of it perhaps in the table; CodecError for another type of value."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is tuple:
            return list(map(self._part, value))
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind is Spans:
            return {self._name(kind): list(value.encode())}
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, Enum):
            return {self._name(kind): value.name}
        if is_dataclass(kind) or isinstance(value, tuple):
            members = {name: self._part(getattr(value, name)) for name in _field_names(kind)}
            return {self._name(kind): members}
        return self._container(value)

    def _container(self, value: Any) -> dict[str, Any]:
        if isinstance(value, list):
            return {"list": list(map(self._part, value))}
        if isinstance(value, frozenset):
            return {"set": sorted(map(self._part, value), key=json.dumps)}
        if isinstance(value, Mapping):
            return {"dict": [[self._part(key), self._part(each)] for key, each in value.items()]}
        raise CodecError(f"a {type(value).__qualname__} cannot be written")

    def _part(self, value: Any) -> Any:
        """A part of a value: a reference to the table if it is long."""
        if value is None or isinstance(value, int | float | str):
            return self.encode(value)
        known = self._seen.get(id(value))
        if known is not None:
            return known[1]
        found = self.encode(value)
        text = json.dumps(found)
        if len(text) > _LONG:
            place = self._places.setdefault(text, len(self.shared))
            if place == len(self.shared):
                self.shared.append(found)
            found = {"same": place}
            self._seen[id(value)] = value, found  # holding the value keeps its id from being reused
        return found

    def forget(self) -> None:
        """Release the values encoded so far; equal values are still found in the table."""
        self._seen.clear()

    def _name(self, kind: type) -> str:
        """The name of the class, with its module if another class has the same name."""
        if kind not in self._names:
            module = kind.__module__.removeprefix("dlbrt.")
            if _class(module, kind.__qualname__) is not kind:
                raise CodecError(f"a {kind.__module__}.{kind.__qualname__} is no value of the core")
            name = kind.__name__
            if name in self._classes or name in _PLAIN:
                name = f"{module}.{name}"
            self._classes[name] = kind
            self._names[kind], self.modules[name] = name, module
        return self._names[kind]


class Decoder:
    """Decodes what an `Encoder` with these tables has written; CodecError if the tables are invalid."""

    def __init__(self, shared: Sequence[Any], modules: Mapping[str, str]) -> None:
        self._classes = {name: _found(name, module) for name, module in modules.items()}
        self._hints = {name: _hints(kind) for name, kind in self._classes.items()}
        self._shared: list[Any] = []
        for each in shared:  # each refers only to earlier ones
            self._shared.append(self.decode(each))

    def decode(self, found: Any) -> Any:
        """The value; CodecError for JSON that is not a value."""
        if found is None or isinstance(found, bool | int | float | str):
            return found
        if isinstance(found, list):
            return tuple(map(self.decode, found))
        if not isinstance(found, dict) or len(found) != 1:
            raise CodecError(f"expected an object with one member, found {_short(found)}")
        [(name, content)] = found.items()
        try:
            return self._named(name, content)
        except CodecError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise CodecError(f"expected a {name}, found {_short(content)} ({error})") from None

    def _named(self, name: str, content: Any) -> Any:
        if (plain := _PLAIN.get(name)) is not None:
            return plain(self, content)
        kind = self._classes.get(name)
        if kind is None:
            raise CodecError(f"expected a value, found one of a class without a module, {name}")
        if kind is Spans:
            return Spans.decode([_integer(number) for number in content])
        if issubclass(kind, Enum):
            return kind[content]
        if (expected := set(_field_names(kind))) != content.keys():
            odd = ", ".join(sorted(expected ^ content.keys()))
            raise CodecError(f"a {name} of another version: its fields differ ({odd})")
        values = {field: self.decode(value) for field, value in content.items()}
        for field, hint in self._hints[name].items():
            if field in values and not fits(values[field], hint):
                raise CodecError(f"expected a {name} whose {field} is {hint}, found {_short(values[field])}")
        return kind(**values)

    def same(self, place: Any) -> Any:
        """The value at that place of the table."""
        if not 0 <= _integer(place) < len(self._shared):
            raise CodecError(f"expected the number of one of {len(self._shared)} values, found {place}")
        return self._shared[place]


def _range(_: Decoder, content: Any) -> range:
    start, stop, step = map(_integer, content)
    return range(start, stop, step)


def _float(_: Decoder, content: Any) -> float:
    if content not in ("inf", "-inf", "nan"):
        raise CodecError(f"expected inf, -inf or nan, found {_short(content)}")
    return float(content)


_PLAIN: dict[str, Callable[[Decoder, Any], Any]] = {
    "same": Decoder.same,
    "range": _range,
    "float": _float,
    "list": lambda decoder, content: [decoder.decode(each) for each in content],
    "set": lambda decoder, content: frozenset(decoder.decode(each) for each in content),
    "dict": lambda decoder, content: {decoder.decode(k): decoder.decode(each) for k, each in content},
}


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise CodecError(f"expected an integer, found {_short(value)}")
    return value


def _field_names(kind: type) -> tuple[str, ...]:
    """The constructor's fields of a dataclass or a named tuple; none for other classes."""
    if issubclass(kind, tuple):
        return tuple(getattr(kind, "_fields", ()))
    return tuple(each.name for each in fields(kind) if each.init) if is_dataclass(kind) else ()


def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields; empty if they cannot be determined."""
    try:
        return get_type_hints(kind)
    except (NameError, TypeError):
        return {}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has an annotated type, as far as can be checked; an integer also fits float."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is tuple and parts[1:] != (...,):
        same = isinstance(value, tuple) and len(value) == len(parts)
        return same and all(map(fits, value, parts))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            fits(key, parts[0]) and fits(each, parts[1]) for key, each in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return isinstance(value, origin) and all(fits(each, parts[0]) for each in value)
    if hint in (int, float):
        return type(value) is int or (hint is float and type(value) is float)
    return isinstance(value, hint) if isinstance(hint, type) else hint is not None or value is None


def _class(module: str, name: str) -> type | None:
    """The class of that name at the top level of a module whose classes can be written."""
    if not all(map(str.isidentifier, module.split("."))) or module.split(".")[0] not in _PARTS:
        return None
    try:
        found = getattr(import_apart(f"dlbrt.{module}"), name, None)
    except ImportError:
        return None
    valued = isinstance(found, type) and (is_dataclass(found) or issubclass(found, tuple | Enum))
    return found if valued and found.__module__ == f"dlbrt.{module}" else None


def _found(name: str, module: Any) -> type:
    kind = _class(module, name.rpartition(".")[2]) if isinstance(module, str) else None
    if kind is None:
        raise CodecError(f"this version has no {name} in {module}")
    return kind


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
