"""Which objects the body of a loop may use, by the names in its code.

A body comes to an object along attributes, constant keys and variables, whose names stand in the code: its
own and that of the functions and methods it may call. So the walk begins at the kernel and its arguments, and
follows an attribute or a key only once some code that has been met names it. Methods are met by their names
as well. Special methods, which operators call, count as called where an object is mentioned otherwise than by
one of its attributes.

The walk follows too much rather than too little. Items of lists are all used. Keys of a dictionary are apart
only where each mention of it is followed by a constant key (``cfg["dt"]``, not ``cfg.get(name)``). Code that
finds attributes in another way than by name (``getattr``, ``vars``, ``copy.copy``) may use everything.

Of installed packages the methods of objects that are met are read, and no more. What other code there uses is
found on the ranks (`dlbrt.mpi.values.left_behind`).
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import itertools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from dlbrt.data.object_state import ATOMS
from dlbrt.mpi.values.code_names import names_in
from dlbrt.mpi.values.program_modules import is_module_of_program, is_of_program

#: Attributes and library functions by which code comes to attributes that it does not name.
_DYNAMIC = frozenset(
    {"__dict__", "__getattribute__", "__getstate__", "__reduce__", "__reduce_ex__", "f_locals"}
)
_DYNAMIC_FUNCTIONS = {
    "builtins": frozenset({"getattr", "vars", "eval", "exec", "locals", "globals"}),
    "copy": frozenset({"copy", "deepcopy", "replace"}),
    "dataclasses": frozenset({"asdict", "astuple", "replace", "fields"}),
    "gc": frozenset({"get_referents", "get_referrers", "get_objects"}),
    "inspect": frozenset({"getmembers", "getmembers_static", "getattr_static"}),
    "operator": frozenset({"attrgetter", "itemgetter", "methodcaller"}),
    "pickle": frozenset({"dump", "dumps", "Pickler"}),
}

#: Names by which code may come to the class of an object, to make another one.
_CLASS_NAMES = ("type", "__class__", "cls")

#: Special methods that no operator of a body calls on an object from before the loop.
_MAKING = frozenset(
    {"__init__", "__new__", "__post_init__", "__del__", "__init_subclass__", "__set_name__", "__getstate__"}
    | {"__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__prepare__"}
    | {"__copy__", "__deepcopy__", "__replace__", "__dir__", "__sizeof__", "__class_getitem__"}
)

#: Special methods that looking up an attribute calls.
_OF_ATTRIBUTES = frozenset(
    {"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__", "__delete__"}
)

#: `Py_TPFLAGS_HEAPTYPE`: a class that is made while the program runs.
_HEAP_TYPE = 1 << 9

#: A path, the value there, and the last name on the way to it; no name where there is none.
_Edge = tuple[str, Any, str]

#: Items or bytes that make a value large, and types that have so many.
_BULKY = 4096
_SIZED = frozenset({list, dict, set, frozenset, tuple, str, bytes, bytearray})

_READ_ONLY: tuple[Any, ...] = (*ATOMS, np.generic, np.dtype, types.CodeType)


class Uses:
    """The objects that a kernel may use when it is called with arguments of these names.

    ``modules`` are the data of the program's modules, as `dlbrt.mpi.values.program_modules.collect` gives it.
    """

    def __init__(
        self, kernel: object, arguments: Mapping[str, Any], modules: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._paths: dict[int, str] = {}
        self._used: set[int] = set()
        self._kept: list[Any] = []  # no object that has been met gives its identity to another
        self._names, self._whole, self._bare = set[str](), set[str](), set[str]()
        self._everything = False  # whether names do not tell
        self._parked: dict[str, list[_Edge]] = {}
        self._dicts: dict[str, list[tuple[str, dict[Any, Any]]]] = {}  # apart by keys, by the name met under
        self._operated: dict[str, list[_Edge]] = {}  # what operators call, by the name of an operand
        self._entered: set[tuple[int, str]] = set()
        self._waiting: deque[_Edge] = deque([("", kernel, "")])  # in order: paths are short
        self._waiting += [(name, value, name) for name, value in arguments.items()]
        for module, held in modules.items():
            path = module.replace(":", ".")
            for name, value in held.items():
                self._edge(name.rpartition(".")[2], f"{path}.{name}", value)
        self._walk()
        self._used.update(self._paths)

    def used(self, value: object) -> str | None:
        """The path along which iterations may come to an object; None where no name leads there."""
        return self._paths[id(value)] if id(value) in self._used else None

    def path(self, value: object) -> str | None:
        """The path to an object, used or not; None where there is none that is known."""
        self._follow_all(id(value))
        return self._paths.get(id(value))

    @staticmethod
    def reached_from(value: object) -> Set[int]:
        """The identities of the objects to which an object leads by any name."""
        below = Uses(None, {"": value}, {})
        below._follow_all()
        return below._paths.keys()

    def _follow_all(self, wanted: int | None = None) -> None:
        """Go on along all names, until an object with the identity ``wanted`` is met."""
        if wanted in self._paths:
            return
        self._everything = True
        self._release()
        self._walk(wanted)

    def _release(self) -> None:
        """Follow what waits for a name, whatever the name."""
        self._waiting += [edge for edges in self._parked.values() for edge in edges]
        self._waiting += [
            e for each in self._dicts.values() for path, held in each for e in _entries(path, held)
        ]
        self._waiting += [edge for edges in self._operated.values() for edge in edges]
        self._parked, self._dicts, self._operated = {}, {}, {}

    def _walk(self, wanted: int | None = None) -> None:
        while self._waiting and wanted not in self._paths:
            path, value, name = self._waiting.popleft()
            if isinstance(value, _READ_ONLY) or _is_numeric(value) or _is_runtime(value):
                if is_bulky(value):
                    self._paths.setdefault(id(value), path)
                    self._kept.append(value)
                continue
            if isinstance(value, dict | type) and (id(value), name) not in self._entered:
                self._entered.add((id(value), name))
                self._enter(path, value, name)
            if is_made_later(type(value)) and (id(type(value)), name) not in self._entered:
                self._entered.add((id(type(value)), name))
                self._operate(type(value), name)
            if id(value) not in self._paths:
                self._paths[id(value)] = path
                self._kept.append(value)
                self._visit(path, value)

    def _enter(self, path: str, value: dict[Any, Any] | type, name: str) -> None:
        """Follow what depends on the name under which a dictionary or a class is met."""
        if isinstance(value, type):
            if name and is_made_later(value):
                self._waiting += _methods(value, lambda name: name in _MAKING)
        elif not name or self._everything or name in self._whole:
            self._waiting += _entries(path, value)
        else:
            for key, held in value.items():
                self._edge(key if isinstance(key, str) else "", f"{path}[{key!r}]", held)
            self._dicts.setdefault(name, []).append((path, value))

    def _operate(self, kind: type, name: str) -> None:
        """Follow what operators call on an object of a class that is met under a name, where they may."""
        called = _methods(kind, lambda name: _is_special(name) and name not in _MAKING)
        receivers = {f.__code__.co_varnames[:1] for _, f, _ in called if isinstance(f, types.FunctionType)}
        names = {name, *itertools.chain.from_iterable(receivers)}
        if "" in names or self._everything or names & self._bare:
            self._waiting += called
        else:
            for each in names:
                self._operated.setdefault(each, []).extend(called)

    def _edge(self, name: str, path: str, value: Any) -> None:
        """An attribute, key or variable that leads to a value, to be followed where some code names it."""
        if self._everything or name in self._names:
            self._waiting.append((path, value, name))
        else:
            self._parked.setdefault(name, []).append((path, value, name))

    def _visit(self, path: str, value: Any) -> None:
        """Follow what leads on from an object."""
        if isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.ModuleType):
            if is_module_of_program(value):
                for key, held in vars(value).items():
                    self._edge(key, f"{value.__name__}.{key}", held)
        elif isinstance(value, type):
            if is_made_later(value):
                self._visit_class(value)
        else:
            self._visit_instance(path, value)

    def _visit_instance(self, path: str, value: Any) -> None:
        kind = type(value)
        if isinstance(value, list | tuple | set | frozenset | np.ndarray):
            items = value.ravel().tolist() if isinstance(value, np.ndarray) else value
            if not set(map(type, items)) <= ATOMS:
                numbered = isinstance(value, list | tuple)
                each = enumerate(items)
                self._waiting += [(f"{path}[{n}]" if numbered else path, held, "") for n, held in each]
        if kind in (list, tuple, dict, set, frozenset):
            return
        self._waiting.append((path, kind, ""))
        for name, held in attributes_of(value):
            self._edge(name, f"{path}.{name}" if path else name, held)
        if not is_pickled_by_attributes(kind):
            self._waiting += [(path, held, "") for held in gc.get_referents(value) if held is not kind]

    def _visit_class(self, kind: type) -> None:
        self._waiting += _methods(kind, lambda name: name in _OF_ATTRIBUTES)
        for path, held, name in _methods(kind, lambda name: name not in _MAKING):
            self._edge(name, path, held)
        for path, held, name in _methods(kind, lambda name: name in _MAKING):
            for way in (name, *_CLASS_NAMES):
                self._edge(way, path, held)

    def _visit_function(self, function: types.FunctionType) -> None:
        """Take what the code of a function names as used, and follow its variables from outside."""
        names, known = names_in(function.__code__), function.__globals__
        is_ours = is_of_program(function)
        used = set(names.used)
        for first, *rest in names.of_modules:
            value = known.get(first)
            while rest and isinstance(value, types.ModuleType) and not is_module_of_program(value):
                value = vars(value).get(rest.pop(0))
            used.update(rest)
            self._everything |= is_ours and _finds_attributes(value)
        for name in names.used:
            value = known.get(name, getattr(builtins, name, None))
            self._everything |= is_ours and _finds_attributes(value)
            if name in known and is_ours:
                self._waiting.append((name, value, name))
            if isinstance(module := sys.modules.get(name), types.ModuleType):
                self._waiting.append((name, module, name))  # the function may import it
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._waiting += [(name, held, name) for held in gc.get_referents(cell)]
        self._waiting += [("", held, "") for held in (function.__defaults__, function.__kwdefaults__) if held]
        for name, held in vars(function).items():
            self._edge(name, f"{function.__name__}.{name}", held)
        if not str(function.__module__).startswith("dlbrt."):
            self._everything |= is_ours and not _DYNAMIC.isdisjoint(used)
            self._take(used, names.whole, names.bare)

    def _take(self, names: Set[str], whole: Set[str], bare: Set[str]) -> None:
        """Code that has been met has these names: follow what waits for them."""
        if self._everything:
            self._release()
        for name in names - self._names:
            self._waiting += self._parked.pop(name, ())
        for name in whole - self._whole:
            self._waiting += [e for path, held in self._dicts.pop(name, ()) for e in _entries(path, held)]
        for name in bare - self._bare:
            self._waiting += self._operated.pop(name, ())
        self._names |= names
        self._whole |= whole
        self._bare |= bare


def is_bulky(value: object) -> bool:
    """Whether a value is large by itself: many items, a long text, or an array of many bytes."""
    kind = type(value)
    if kind is np.ndarray:
        return bool(value.nbytes >= _BULKY)  # type: ignore[attr-defined]
    return kind in _SIZED and len(value) >= _BULKY  # type: ignore[arg-type]


def _finds_attributes(value: object) -> bool:
    """Whether it is a function or class of the library that comes to attributes without their names."""
    module = str(getattr(value, "__module__", "")).lstrip("_") if callable(value) else ""
    return module in _DYNAMIC_FUNCTIONS and getattr(value, "__name__", "") in _DYNAMIC_FUNCTIONS[module]


def is_made_later(kind: type) -> bool:
    """Whether a class is none of those that the interpreter begins with, so that it may be in Python."""
    return bool(kind.__flags__ & _HEAP_TYPE)


def _methods(kind: type, taken: Callable[[str], bool]) -> list[_Edge]:
    """What a class and its bases hold under the names that are ``taken``."""
    return [
        (f"{base.__name__}.{name}", held, name)
        for base in kind.__mro__
        if base is not object and is_made_later(base)
        for name, value in vars(base).items()
        if taken(name)
        for held in _unwrapped(value)
    ]


def _entries(path: str, held: Mapping[Any, Any]) -> Iterator[tuple[str, Any, str]]:
    for key, value in held.items():
        yield f"{path}[{key!r}]", key, ""
        yield f"{path}[{key!r}]", value, ""


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object holds itself."""
    with contextlib.suppress(AttributeError):
        yield from object.__getattribute__(value, "__dict__").items()
    for base in type(value).__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, types.MemberDescriptorType) and name != "__dict__":
                with contextlib.suppress(AttributeError):  # a slot that has no value
                    yield name, slot.__get__(value)


def is_pickled_by_attributes(kind: type) -> bool:
    """Whether an object is pickled as its attributes, or in a way that the program says in Python."""
    if kind is types.SimpleNamespace:
        return True
    hooks: tuple[Callable[..., Any], ...] = (kind.__reduce_ex__, kind.__reduce__)
    plain = (object.__reduce_ex__, object.__reduce__)
    return all(hook in plain or isinstance(hook, types.FunctionType) for hook in hooks)


def _is_runtime(value: object) -> bool:
    """Whether a value belongs to the runtime (``BLOCK``), which leads to nothing of the program."""
    kind = value if isinstance(value, type) else type(value)
    return str(kind.__module__).startswith("dlbrt.")


def _is_special(name: str) -> bool:
    return name[:2] == "__" == name[-2:]


def _is_numeric(value: object) -> bool:
    return type(value) is np.ndarray and not value.dtype.hasobject


def _unwrapped(value: Any) -> Iterator[Any]:
    """What a value of a class holds that may be called or reached: the functions of a property, a method."""
    if isinstance(value, property):
        yield from filter(None, (value.fget, value.fset, value.fdel))
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, staticmethod | classmethod):
        yield value.__func__
    elif not isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType):
        yield value
