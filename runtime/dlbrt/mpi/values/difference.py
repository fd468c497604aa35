"""Where two pickles of the same objects differ, as a path that the user can read: ``Particle.created``.

Pickles say what has changed only once they are loaded, and loading one would run the program's own code and
overwrite its classes. So they are loaded inert: each function or class that a pickle names is a `_Name`, and
what would be made by calling it is a `_Made`, with its arguments and its state. Two such trees are compared
side by side.
"""

from __future__ import annotations

import io
import pickle
import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

_MISSING = object()

#: Makers of classes and functions, by the place of the name among their arguments.
_MAKERS = {"_make_skeleton_class": 1, "_make_skeleton_enum": 1, "_make_enum": 1, "_make_class": 1}

#: Where a function's pickled state holds what it reaches.
_FUNCTION_PARTS = ("__globals__", "__dict__", "__closure__", "__defaults__", "__kwdefaults__")


#: What pickling itself notes in a class; and in a function, of the modules that it reaches, those imported.
_NOTES = ("__slotnames__", "_cloudpickle_submodules")


class _Name:
    """A function or class that a pickle names."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self.text.endswith("setstate") and len(arguments) == 2 and isinstance(arguments[0], _Made):
            arguments[0].state.append(arguments[1])  # cloudpickle sets states by calls
            return arguments[0]
        return _Made(self, (*arguments, *keywords.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Name) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


#: numpy's types of items, which have a state but cannot be changed.
_TYPE_OF_ITEMS = _Name("numpy.dtype")


class _Made:
    """What calling a name with these arguments would make, its state, items and entries."""

    def __init__(self, maker: Any, arguments: tuple[Any, ...]) -> None:
        self.maker = maker
        self.arguments = arguments
        self.state: list[Any] = []
        self.items: list[Any] = []
        self.entries: list[tuple[Any, Any]] = []

    def __call__(self, *arguments: Any) -> Any:
        return _Made(self, arguments)

    def append(self, item: Any) -> None:
        self.items.append(item)

    def extend(self, items: list[Any]) -> None:
        self.items.extend(items)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.entries.append((key, value))

    def add(self, item: Any) -> None:
        self.items.append(item)

    @property
    def title(self) -> str:
        """The name of the class or function that this is, if it is one."""
        maker = self.maker.text if isinstance(self.maker, _Name) else ""
        place = _MAKERS.get(maker.rpartition(".")[2])
        return str(self.arguments[place]) if place is not None and len(self.arguments) > place else ""

    def __hash__(self) -> int:
        return id(self)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        return f"{self.maker!r}{self.arguments!r}"


class _Elements:
    """A set, or a frozen one, with its elements in the order of the pickle.

    As long as the set is not changed that order stays, so it tells elements apart whose texts are the same.
    """

    def __init__(self, items: list[Any], *, frozen: bool) -> None:
        self.items, self.frozen = items, frozen

    def add(self, item: Any) -> None:
        self.items.append(item)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        return f"{{{', '.join(sorted(map(repr, self.items)))}}}"


class _Inert(pickle._Unpickler):
    """Loads a pickle without importing or calling anything."""

    stack: list[Any]
    append: Callable[[Any], None]
    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        return _Name(f"{module}.{name}")

    def persistent_load(self, number: Any) -> Any:
        return _Made(_Name("slot"), (number,))

    def load_empty_set(self) -> None:
        self.append(_Elements([], frozen=False))

    def load_frozenset(self) -> None:
        items = self.pop_mark()  # type: ignore[attr-defined]  # of the base; it binds `append` anew
        self.append(_Elements(items, frozen=True))

    def _made(self, keywords: bool) -> None:
        named = self.stack.pop() if keywords else {}
        arguments = self.stack.pop()
        cls = self.stack.pop()
        self.append(_Made(cls, (*arguments, *named.items())))

    def load_newobj(self) -> None:
        self._made(keywords=False)

    def load_newobj_ex(self) -> None:
        self._made(keywords=True)

    def load_build(self) -> None:
        state = self.stack.pop()
        made = self.stack[-1]
        if isinstance(made, _Made):
            made.state.append(state)

    dispatch[pickle.EMPTY_SET[0]] = load_empty_set
    dispatch[pickle.FROZENSET[0]] = load_frozenset
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BUILD[0]] = load_build


def changed_path(before: bytes, after: bytes) -> str | None:
    """The path to the first difference between two pickles of a dictionary, whose keys begin the paths.

    None where values are equal, and what can be changed is one object in the same places; the pickles then
    differ in other identities alone, those of equal texts and numbers.
    """
    old, new = (_Inert(io.BytesIO(data)).load() for data in (before, after))
    return next(_differences(old, new), None)


def _differences(one: Any, other: Any) -> Iterator[str]:
    """The paths of differences; two objects are compared once, so that cycles end."""
    stack, seen, paired = [("", one, other)], dict[tuple[int, int], Any](), _Pairs()
    while stack:
        where, a, b = stack.pop()
        if type(a) is not type(b):
            yield where
            continue
        if not isinstance(a, list | tuple | dict | _Made | _Elements):
            if not _same(a, b):
                yield where
            continue
        if (id(a), id(b)) in seen:
            continue
        seen[id(a), id(b)] = a, b  # held: what follows must not get their identities
        if _can_change(a) and not paired.pair(a, b):
            yield where
            continue
        if isinstance(a, _Made):
            where = a.title or where
        old, new = dict(_parts(where, a)), dict(_parts(where, b))
        if list(old) != list(new):
            yield next((path for _, path in (*new, *old) if (_, path) not in old.keys() & new.keys()), where)
            continue
        stack += [(path, old[kind, path], new[kind, path]) for kind, path in reversed(old)]


class _Pairs:
    """Which object of the one pickle is which of the other."""

    def __init__(self) -> None:
        self._there: dict[int, int] = {}
        self._back: dict[int, int] = {}

    def pair(self, one: Any, other: Any) -> bool:
        """Take two objects as the same one; False where one of them is taken as another already."""
        there = self._there.setdefault(id(one), id(other))
        return (there, self._back.setdefault(id(other), id(one))) == (id(other), id(one))


def _can_change(value: Any) -> bool:
    """Whether it matters that a value is one object in several places."""
    if isinstance(value, _Made):
        return value.maker != _TYPE_OF_ITEMS and bool(value.state or value.items or value.entries)
    return isinstance(value, list | dict) or (isinstance(value, _Elements) and not value.frozen)


def _same(one: Any, other: Any) -> bool:
    """Whether two atoms are the same to the bit: NaN is itself, and 0.0 is not -0.0."""
    return repr(one) == repr(other) if isinstance(one, float | complex) else bool(one == other)


def _parts(where: str, value: Any) -> Iterator[tuple[tuple[Any, str], Any]]:
    """The parts of a value, each with a key and the path to it."""
    if isinstance(value, dict):
        for place, (key, part) in enumerate(value.items()):
            yield from _entry(_path(where, key), key, part, place)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield ((place, ""), f"{where}[{place}]" if where else ""), part
    elif isinstance(value, _Elements):
        for place, part in enumerate(sorted(value.items, key=repr)):
            yield (("element", f"{place} {part!r}"), where), part
    else:
        yield from _made_parts(where, value)


def _made_parts(where: str, made: _Made) -> Iterator[tuple[tuple[Any, str], Any]]:
    yield (("maker", ""), where), made.maker
    yield (("arguments", ""), where), made.arguments
    for place, item in enumerate(made.items):
        yield (("item", str(place)), f"{where}[{place}]"), item
    for place, (key, value) in enumerate(made.entries):
        yield from _entry(f"{where}[{key!r}]", key, value, place)
    for number, state in enumerate(made.state):
        for place, part in enumerate(state if isinstance(state, tuple) else (state,)):
            if not isinstance(part, dict) or not all(isinstance(name, str) for name in part):
                yield (("state", f"{number} {place}"), where), part
                continue
            for name, value in part.items():
                if name in _NOTES:
                    continue
                if name in _FUNCTION_PARTS and isinstance(value, dict):
                    owner = "" if name == "__globals__" else _function_name(part) or where
                    for key, each in value.items():
                        yield ((name, str(key)), f"{owner}.{key}" if owner else str(key)), each
                else:
                    yield ((f"state {number}", name), f"{where}.{name}" if where else name), value


def _function_name(state: Mapping[str, Any]) -> str:
    return str(state.get("__name__", ""))


def _entry(path: str, key: Any, value: Any, place: int) -> Iterator[tuple[tuple[Any, str], Any]]:
    """The parts that an entry of a dictionary is: its value, and its key where that may have parts itself."""
    if isinstance(key, str | int | bytes | bool | float):
        yield (("entry", repr(key)), path), value
    else:
        yield (("entry", repr(place)), path), value
        yield (("key", repr(place)), path), key


def _path(where: str, key: Any) -> str:
    """The path of an entry of a dictionary; that of an entry of the outermost one is its key."""
    return f"{where}[{key!r}]" if where else str(key)
