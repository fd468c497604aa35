"""Where two pickles of the same objects differ, as a path that the user can read: ``Particle.created``.

Pickles say what has changed only once they are loaded, and loading one would run the program's own code and
overwrite its classes. So they are loaded inert: each function or class that a pickle names is a `_Name`, and
what would be made by calling it is a `_Made`, with its arguments and its state. Two such trees are compared
side by side.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

_MISSING = object()

#: cloudpickle's makers of classes and functions, by the place of the name among their arguments.
_MAKERS = {"_make_skeleton_class": 1, "_make_skeleton_enum": 1}

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

    def __repr__(self) -> str:
        return f"{self.maker!r}{self.arguments!r}"


class _Inert(pickle._Unpickler):
    """Loads a pickle without importing or calling anything."""

    stack: list[Any]
    append: Callable[[Any], None]
    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        return _Name(f"{module}.{name}")

    def persistent_load(self, number: Any) -> Any:
        return _Made(_Name("slot"), (number,))

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

    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex
    dispatch[pickle.BUILD[0]] = load_build


def changed_path(before: bytes, after: bytes) -> str | None:
    """The path to the first difference between two pickles of a dictionary, whose keys begin the paths.

    None where values are equal, so that the pickles differ in the identities of objects alone.
    """
    old, new = (_Inert(io.BytesIO(data)).load() for data in (before, after))
    return next(_differences(old, new), None)


def _differences(one: Any, other: Any) -> Iterator[str]:
    """The paths of differences; two objects are compared once, so that cycles end."""
    stack, seen = [("", one, other)], set[tuple[int, int]]()
    while stack:
        where, a, b = stack.pop()
        if type(a) is not type(b):
            yield where
            continue
        if not isinstance(a, list | tuple | dict | _Made | set | frozenset):
            if not _same(a, b):
                yield where
            continue
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if isinstance(a, _Made):
            where = a.title or where
        old, new = dict(_parts(where, a)), dict(_parts(where, b))
        if list(old) != list(new):
            yield next((path for _, path in (*new, *old) if (_, path) not in old.keys() & new.keys()), where)
            continue
        stack += [(path, old[kind, path], new[kind, path]) for kind, path in reversed(old)]


def _same(one: Any, other: Any) -> bool:
    """Whether two atoms are the same to the bit: NaN is itself, and 0.0 is not -0.0."""
    return repr(one) == repr(other) if isinstance(one, float | complex) else bool(one == other)


def _parts(where: str, value: Any) -> Iterator[tuple[tuple[Any, str], Any]]:
    """The parts of a value, each with a key and the path to it."""
    if isinstance(value, dict):
        for place, (key, part) in enumerate(value.items()):
            known = key if isinstance(key, str | int | bytes | bool | float) else place
            yield (("entry", repr(known)), _entry(where, key)), part
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield ((place, ""), f"{where}[{place}]" if where else ""), part
    elif isinstance(value, set | frozenset):
        yield (("elements", ""), where), str(sorted(map(repr, value)))
    else:
        yield from _made_parts(where, value)


def _made_parts(where: str, made: _Made) -> Iterator[tuple[tuple[Any, str], Any]]:
    yield (("maker", ""), where), made.maker
    yield (("arguments", ""), where), list(made.arguments)
    for place, item in enumerate(made.items):
        yield (("item", str(place)), f"{where}[{place}]"), item
    for place, (key, value) in enumerate(made.entries):
        yield (("entry", repr(place)), f"{where}[{key!r}]"), value
    for number, state in enumerate(made.state):
        for place, part in enumerate(state if isinstance(state, tuple) else (state,)):
            if not isinstance(part, dict):
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
                    yield ((f"state {number}", str(name)), f"{where}.{name}" if where else str(name)), value


def _function_name(state: Mapping[str, Any]) -> str:
    return str(state.get("__name__", ""))


def _entry(where: str, key: Any) -> str:
    """The path of an entry of a dictionary; that of an entry of the outermost one is its key."""
    return f"{where}[{key!r}]" if where else str(key)
