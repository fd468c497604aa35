"""Which names of the program's modules the code of a loop's iterations may use.

On other ranks functions and classes of the program's modules are those of the modules there, whose data goes
with each call. An array that iterations store to must not be among that data as well, if code that they run
may find it there by its name. What they may run is found from the kernel on: what its names mean, what
objects among its arguments are made of, their methods, and so on. Attributes are taken by their name alone,
whatever object they are of.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any

import numpy as np

from dlbrt.data.object_state import ATOMS
from dlbrt.mpi.values.kernels import global_names
from dlbrt.mpi.values.program_modules import is_of_program, program_modules

#: Code that uses one of these may find anything by a text.
_BY_TEXT = frozenset({
    "getattr", "globals", "vars", "locals", "eval", "exec", "__dict__", "modules", "import_module",
    "__import__",
})  # fmt: skip

#: Objects that are looked at before it is taken that code may reach everything.
_MOST_OBJECTS = 10_000


def names_used(kernel: Callable[..., None], arguments: Iterable[Any]) -> frozenset[str] | None:
    """The names that the kernel and code called by it use; None where they are not known."""
    return _Search(kernel, arguments).names()


def finalized_class(kernel: Callable[..., None], arguments: Iterable[Any]) -> type | None:
    """A class with a finalizer of which iterations may make objects; None where there is none.

    Classes of the program's imported modules: those of the program itself go by value, and are refused there.
    """
    finalized = _finalized(sum(len(vars(module)) for module in program_modules()))
    if not finalized:
        return None
    search = _Search(kernel, arguments)
    everything = search.names() is None
    return next((kind for kind in finalized if everything or search.has_seen(kind)), None)


@functools.lru_cache(maxsize=1)
def _finalized(_names: int) -> tuple[type, ...]:
    """The classes of imported modules of the program that have a finalizer in Python."""
    held = (value for module in program_modules()[1:] for value in vars(module).values())
    kinds = (value for value in held if isinstance(value, type) and is_of_program(value))
    return tuple(kind for kind in kinds if isinstance(getattr(kind, "__del__", None), types.FunctionType))


class _Search:
    def __init__(self, kernel: Callable[..., None], arguments: Iterable[Any]) -> None:
        self._modules = [vars(module) for module in program_modules()]
        self._resolved: set[str] = set()
        self._used = set(global_names(kernel.__code__))
        self._seen: dict[int, Any] = {}
        self._waiting: list[Any] = list(arguments)
        self._resolve(self._used, kernel.__globals__)

    def names(self) -> frozenset[str] | None:
        """See `names_used`."""
        while self._waiting:
            value = self._waiting.pop()
            if type(value) in ATOMS or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > _MOST_OBJECTS:
                return None
            self._visit(value)
            if not _BY_TEXT.isdisjoint(self._used):
                return None
        return frozenset(self._used)

    def has_seen(self, value: Any) -> bool:
        """Whether code may come to an object."""
        return id(value) in self._seen

    def _resolve(self, names: Set[str], of_function: Mapping[str, Any]) -> None:
        """Look next at what these names mean, as globals of a function or as attributes of any module."""
        for name in names - self._resolved:
            self._resolved.add(name)
            self._waiting += (module[name] for module in self._modules if name in module)
        self._waiting += (of_function[name] for name in names if name in of_function)

    def _visit(self, value: Any) -> None:
        kind = type(value)
        if kind is types.FunctionType:
            self._visit_function(value)
        elif isinstance(value, type):
            if is_of_program(value):
                self._waiting += [*vars(value).values(), *value.__bases__]
        elif isinstance(value, np.ndarray):
            self._waiting += value.ravel().tolist() if value.dtype.hasobject else ()
        elif not isinstance(value, types.ModuleType):
            self._waiting += _held(value)

    def _visit_function(self, function: types.FunctionType) -> None:
        self._waiting += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        self._waiting += vars(function).values()
        for cell in function.__closure__ or ():
            try:
                self._waiting.append(cell.cell_contents)
            except ValueError:  # it is empty
                continue
        if is_of_program(function):
            names = set(global_names(function.__code__))
            self._used.update(names)
            self._resolve(names, function.__globals__)


def _held(value: Any) -> Iterator[Any]:
    """What an object holds that may be, or lead to, code of the program."""
    yield type(value)
    match value:
        case dict():
            yield from value.keys()
            yield from value.values()
        case list() | tuple() | set() | frozenset():
            if not ATOMS.issuperset(map(type, value)):
                yield from value
        case types.MethodType() | staticmethod() | classmethod():
            yield value.__func__
            yield getattr(value, "__self__", None)
        case property():
            yield from (value.fget, value.fset, value.fdel)
        case functools.partial():
            yield from (value.func, *value.args, *value.keywords.values())
    yield from getattr(value, "__dict__", {}).values()
    yield getattr(value, "__wrapped__", None)
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (getattr(value, name, None) for name in ([slots] if isinstance(slots, str) else slots))
