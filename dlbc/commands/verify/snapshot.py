"""What a program leaves in its namespace: a description of every value, by which two runs are compared.

A description is JSON: `[kind, type, content]`, with a kind of `Kind`. Arrays of numbers and text go to files
of their own (`.npy`), bit by bit. Nothing of the program runs while values are described: containers are read
by the methods of their builtin classes, objects by their `__dict__` and slots, and only values of builtin
classes are put into words.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, Final

from dlbc.commands.verify.open_elements import OpenElements

#: A description, as JSON has it.
Node = list[Any]

#: Kinds of descriptions: a value in words, the items of a sequence, of a mapping, of a set, the attributes
#: of an object, an array's files, the path of an object that was described before, a type alone, and what may
#: be anything (`OpenElements`). A fourth part of an array's says in a file which elements may be anything.
LEAF, ITEMS, PAIRS, MEMBERS, FIELDS, ARRAY, SAME, OPAQUE = ["=", "[", "{", "set", ".", "array", "@", "?"]
OPEN: Final = "*"

_LEAVES: Final = frozenset(
    (int, float, complex, bool, str, bytes, type(None), range, slice, Fraction, Decimal)
) | {date, datetime, time, timedelta}
#: What a program defines or imports is not data.
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)
#: Of a structure that is nested deeper, or has more values, the rest counts by its type alone.
_DEEPEST = 60
_MOST_VALUES = 2_000_000


def describe(
    namespace: Mapping[str, object], directory: Path, open_elements: OpenElements | None = None
) -> dict[str, Node]:
    """A description for each name that holds data; arrays are written to ``directory``.

    The states of the global random generators are among them, by the expressions that give them.
    """
    writer = _Describer(directory, open_elements or OpenElements())
    data = {name: value for name, value in namespace.items() if not issubclass(type(value), _CODE)}
    found = {name: writer.node(value, name) for name, value in data.items() if not name.startswith("__")}
    return found | {text: writer.node(state, text) for text, state in _random_states()}


def _random_states() -> Iterator[tuple[str, object]]:
    if (module := sys.modules.get("random")) is not None:
        yield "random.getstate()", module.getstate()
    if (module := sys.modules.get("numpy.random")) is not None:
        yield "numpy.random.get_state()", module.get_state()


class _Describer:
    """Describes values; an object that is met again is described by its first path."""

    def __init__(self, directory: Path, open_elements: OpenElements) -> None:
        self._directory = directory
        self._open = open_elements
        self._numpy: Any = sys.modules.get("numpy")
        self._paths: dict[int, str] = {}
        self._kept: list[object] = []  # an identity means one object as long as that is alive
        self._arrays = 0
        self._values = 0

    def node(self, value: Any, path: str, depth: int = 0) -> Node:
        """The description of a value that `path` leads to."""
        kind = type(value)
        self._values += 1
        if kind in _LEAVES or (self._numpy and issubclass(kind, self._numpy.generic)):
            return [LEAF, _name(kind), repr(value)]
        if depth > _DEEPEST or self._values > _MOST_VALUES:
            return [OPAQUE, _name(kind), ""]
        if issubclass(kind, tuple | frozenset):
            return self._content(value, path, depth)
        if id(value) in self._paths:
            return [SAME, _name(kind), self._paths[id(value)]]
        self._paths[id(value)] = path
        self._kept.append(value)
        return self._content(value, path, depth)

    def _content(self, value: Any, path: str, depth: int) -> Node:
        kind = type(value)
        if self._numpy and issubclass(kind, self._numpy.ndarray):
            return self._array(value, path, depth)
        if issubclass(kind, tuple | list | deque | bytearray):
            base = next(each for each in (tuple, list, deque, bytearray) if issubclass(kind, each))
            return [ITEMS, _name(kind), self._items(value, base.__iter__(value), path, depth)]
        if issubclass(kind, dict):
            return [PAIRS, _name(kind), self._pairs(dict.items(value), path, depth)]
        if issubclass(kind, set | frozenset):
            own = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
            members = (self.node(x, f"{path}{{}}", depth + 1) for x in own)
            return [MEMBERS, _name(kind), sorted(members, key=repr)]
        if self._numpy and issubclass(kind, self._numpy.random.Generator):
            return self.node(value.bit_generator.state, path, depth)
        if _is_of_program(kind):
            fields = [(name, self.node(x, f"{path}.{name}", depth + 1)) for name, x in _fields(value)]
            return [FIELDS, _name(kind), fields]
        return [OPAQUE, _name(kind), ""]

    def _items(self, value: object, items: Iterable[Any], path: str, depth: int) -> list[Node]:
        """The descriptions of the items of a sequence; what is open has been met as well."""
        described = [self.node(x, f"{path}[{k}]", depth + 1) for k, x in enumerate(items)]
        for k in self._open.of_list(value):
            described[k] = [OPEN, "", ""]
        return described

    def _pairs(self, items: Iterable[tuple[Any, Any]], path: str, depth: int) -> list[tuple[str, Node, Node]]:
        """For each entry the key as it is written in a path, its description, and that of the value."""
        pairs = []
        for key, value in items:
            described = self.node(key, f"a key of {path}", depth + 1)
            shown = described[2] if described[0] == LEAF else "..."
            pairs.append((shown, described, self.node(value, f"{path}[{shown}]", depth + 1)))
        return pairs

    def _array(self, value: Any, path: str, depth: int) -> Node:
        numpy = self._numpy
        plain = numpy.asarray(numpy.ma.getdata(value))
        opened = self._open.of_array(plain)
        if plain.dtype.hasobject:
            items = [self.node(x, f"{path}.flat[{k}]", depth + 1) for k, x in enumerate(plain.flat)]
            for k in () if opened is None else numpy.flatnonzero(opened):
                items[k] = [OPEN, "", ""]
            return [ITEMS, f"{_name(type(value))} {plain.dtype} {plain.shape}", items]
        parts = [plain, *([numpy.ma.getmaskarray(value)] if numpy.ma.isMaskedArray(value) else [])]
        files = [self._file(part) for part in parts]
        return [ARRAY, _name(type(value)), files, *([] if opened is None else [self._file(opened)])]

    def _file(self, array: Any) -> str:
        """Write an array to a file; its name."""
        name = f"{self._arrays}.npy"
        self._numpy.save(self._directory / name, array, allow_pickle=False)
        self._arrays += 1
        return name


def _name(kind: type) -> str:
    known = kind.__module__ in ("builtins", "__main__")
    return kind.__qualname__ if known else f"{kind.__module__}.{kind.__qualname__}"


def _is_of_program(kind: type) -> bool:
    """Whether a class is neither of Python's library nor of an installed package, or is a plain record."""
    module = kind.__module__
    if module == "__main__" or kind.__qualname__ in ("SimpleNamespace", "Namespace"):
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or "site-packages"
    return module.partition(".")[0] not in sys.stdlib_module_names and "site-packages" not in file


def _fields(value: object) -> Iterator[tuple[str, object]]:
    """The attributes of an object, without any code of its class."""
    for kind in type.mro(type(value)):
        for name, member in vars(kind).items():
            if isinstance(member, MemberDescriptorType) and kind.__module__ != "builtins":
                try:
                    yield name, member.__get__(value)
                except AttributeError:
                    continue  # the slot is empty
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    if type(own) is dict:
        yield from own.items()
