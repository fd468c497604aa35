"""The program's own modules on other ranks: which they are, and what they hold.

A function of a module beside the program is known to the other ranks by name, and they import the module;
what the program has set in it since (``helper.scale = 3``) would be missing. So the data of the program's own
modules goes with each call: all globals but functions, classes, modules and libraries of C, and what the
module's functions and classes hold themselves: attributes, defaults that can change, variables closed over.
"""

from __future__ import annotations

import abc
import contextlib
import copyreg
import ctypes
import functools
import importlib
import io
import os
import pickle
import sys
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import cloudpickle

from dlbrt.data.object_state import ATOMS
from dlbrt.mpi.values.left_behind import LeftBehind, path_of, stand_in
from dlbrt.mpi.values.nesting import bounded

#: What modules, classes and functions hold, by the name of the module and a path in it (``helper:Mesh.cut``).
ModuleData = dict[str, dict[str, Any]]

_Holder = types.ModuleType | type | types.FunctionType

_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type, ctypes.CDLL)
_KINDS = (type, abc.ABCMeta)
MAIN = ("__main__", "__mp_main__")
_INHERENT = ("_abc_impl",)  # what Python itself puts into classes
_RUNTIME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

#: Directories, and files, of modules that belong to the program though they do not lie beside it.
_named_roots: list[str] = []


def collect() -> ModuleData:
    """The data of the program's own modules."""
    data: ModuleData = {}
    for name in _own_names(len(sys.modules)):
        module = sys.modules.get(name)
        if module is not None:
            held = {path: _held(holder) for path, holder in _holders(module, len(vars(module)))}
            data |= _sendable({path: values for path, values in held.items() if values or path == name})
    return data


def program_modules() -> list[types.ModuleType]:
    """The program itself and the modules that lie beside it, of those imported."""
    names = ("__main__", *_own_names(len(sys.modules)))
    return [module for name in names if (module := sys.modules.get(name)) is not None]


def is_of_program(value: Any) -> bool:
    """Whether a function or class was defined by the program itself or a module that lies beside it."""
    return _is_ours(getattr(value, "__module__", None))


def is_module_of_program(module: types.ModuleType) -> bool:
    """Whether a module is the program itself or lies beside it."""
    return _is_ours(getattr(module, "__name__", None))


def _is_ours(name: str | None) -> bool:
    return name in MAIN or name in _own_names(len(sys.modules))


def apply(data: ModuleData) -> None:
    """Apply collected data, importing modules that are not imported yet."""
    for path, values in data.items():
        name, _, inside = path.partition(":")
        holder: Any = importlib.import_module(name)
        for attribute in filter(None, inside.split(".")):
            holder = _unwrapped(vars(holder)[attribute])
        _give(holder, values)


@functools.lru_cache(maxsize=1)
def _own_names(_modules: int) -> tuple[str, ...]:
    """Names of the program's own modules; computed again when the number of modules changes."""
    roots = _program_roots()
    return tuple(name for name, module in list(sys.modules.items()) if _is_own(name, module, roots))


def name_roots(places: Iterable[str]) -> None:
    """Take what lies in these directories, and these files, installed ones too, for the program's modules."""
    _named_roots.extend(os.path.abspath(each) for each in places)
    _own_names.cache_clear()


def lies_beside_program(path: str) -> bool:
    """Whether a file lies below the directory of the program, or the one that holds its outermost package."""
    return _lies_in(path, _program_roots())


def _program_roots() -> tuple[str, ...]:
    """The directory of the program, or the one that holds its outermost package: as named, and without links.

    Python finds the modules of a program beside the file that a link leads to.
    """
    main = sys.modules["__main__"]
    file, package = os.path.abspath(getattr(main, "__file__", None) or ""), getattr(main, "__package__", None)
    files = [file] if package else [file, os.path.realpath(file)]
    homes = [_outermost(each, package or "") for each in files]
    return tuple(dict.fromkeys([*homes, *map(os.path.realpath, homes)]))


def _outermost(file: str, package: str) -> str:
    home = os.path.dirname(file)
    for _ in filter(None, package.split(".")):
        home = os.path.dirname(home)
    while os.path.isfile(os.path.join(home, "__init__.py")) and home != os.path.dirname(home):
        home = os.path.dirname(home)
    return home


def _lies_in(path: str, places: Sequence[str]) -> bool:
    """Whether a file is one of these, or lies below one of these directories, with or without links."""
    starts = tuple(os.path.join(place, "") for place in places)
    if not starts:
        return False
    return any(os.path.join(each, "").startswith(starts) for each in (path, os.path.realpath(path)))


def _is_own(name: str, module: object, roots: Sequence[str]) -> bool:
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or name in MAIN or not path.endswith(".py"):
        return False
    path = os.path.abspath(path)
    return _lies_in(path, _named_roots) or (not _is_installed(path) and _lies_in(path, roots))


def _is_installed(path: str) -> bool:
    return "site-packages" in path or path.startswith((_RUNTIME, os.path.dirname(os.__file__)))


def is_library(path: str) -> bool:
    """Whether the module in a file is installed, and not named as one of the program's."""
    path = os.path.abspath(path)
    return _is_installed(path) and not _lies_in(path, _named_roots)


@functools.lru_cache(maxsize=64)
def _holders(module: types.ModuleType, _names: int) -> tuple[tuple[str, _Holder], ...]:
    """The module, and the functions and classes that it defines, by path; again when it has more names."""
    return (module.__name__, module), *_defined(vars(module), f"{module.__name__}:", "", module.__name__)


def _defined(
    names: Mapping[str, Any], before: str, around: str, module: str
) -> Iterator[tuple[str, type | types.FunctionType]]:
    for name, wrapped in names.items():
        value = _unwrapped(wrapped)
        if type(value) is types.FunctionType and value.__module__ == module:
            yield before + name, value
        elif _is_plain_class(value) and (value.__module__, value.__qualname__) == (module, around + name):
            yield before + name, value
            yield from _defined(vars(value), f"{before}{name}.", f"{around}{name}.", module)


def _is_plain_class(value: Any) -> bool:
    """Whether it is a class that holds what its body, and the program, have put into it, and no more."""
    return type(value) in _KINDS or (issubclass(type(value), type) and is_of_program(type(value)))


def _unwrapped(value: Any) -> Any:
    # Not `isinstance`, which asks an object that stands for one left behind, and so would be a use of it.
    return value.__func__ if issubclass(type(value), staticmethod | classmethod) else value


def _held(holder: _Holder) -> dict[str, Any]:
    """The data of a module, class or function itself, by name."""
    if type(holder) is types.FunctionType:
        plain = not (holder.__closure__ or holder.__defaults__ or holder.__kwdefaults__ or holder.__dict__)
        return {} if plain else _held_by_function(holder)
    inherent = () if isinstance(holder, types.ModuleType) else _INHERENT
    return {
        name: value
        for name, value in vars(holder).items()
        if not (type(value) is types.FunctionType and value.__module__ not in MAIN)
        and not (name[:2] == "__" == name[-2:] or name in inherent or type(value) is LeftBehind)
        and (_is_set_by_main(value) if issubclass(type(value), _CODE) or _is_descriptor(value) else True)
    }


def _held_by_function(function: types.FunctionType) -> dict[str, Any]:
    held = {f"__dict__.{name}": v for name, v in vars(function).items() if name != "__wrapped__"}
    for name in ("__defaults__", "__kwdefaults__"):
        values = getattr(function, name) or ()
        if not all(type(v) in ATOMS for v in (values.values() if isinstance(values, dict) else values)):
            held[name] = values
    for number, cell in enumerate(function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # a cell may be empty
            if not isinstance(cell.cell_contents, _CODE):
                held[f"__closure__.{number}"] = cell.cell_contents
    return held


def _give(holder: Any, values: Mapping[str, Any]) -> None:
    """Set what `_held` has found."""
    if isinstance(holder, types.ModuleType):
        vars(holder).update(values)
        return
    for path, value in values.items():
        name, _, inside = path.partition(".") if isinstance(holder, types.FunctionType) else (path, "", "")
        if name == "__dict__":
            vars(holder)[inside] = value
        elif name == "__closure__":
            holder.__closure__[int(inside)].cell_contents = value
        elif isinstance(holder, type):
            type.__setattr__(holder, name, value)  # not in a way of the class's own
        else:
            setattr(holder, name, value)


def _is_set_by_main(value: Any) -> bool:
    """Whether it is a function or class of the main program, which the module gets from nowhere else."""
    value = _unwrapped(value)
    return isinstance(value, types.FunctionType | type) and value.__module__ in MAIN


def _is_descriptor(value: Any) -> bool:
    """Whether a value computes attributes, by code that is not the program's."""
    return hasattr(type(value), "__get__") and not is_of_program(type(value))


def _sendable(data: ModuleData) -> ModuleData:
    """The data without the values that cannot leave this process."""
    values = [value for held in data.values() for value in held.values()]
    if _can_leave([value for value in values if not hasattr(value, "__array_interface__")], _QuickTrial):
        return data
    return {path: {n: v for n, v in held.items() if _can_leave(v, _Trial)} for path, held in data.items()}


def _can_leave(value: Any, kind: type[pickle.Pickler]) -> bool:
    try:
        bounded(kind(io.BytesIO()).dump, value)
    except Exception:  # the pickler raises whatever the objects' own hooks raise
        return False
    return True


def _of_left_behind(value: Any) -> tuple[Any, ...]:
    return stand_in, (path_of(value),)


def _of_text(value: Any) -> Any:
    if value is sys.__stdout__ or value is sys.__stderr__:
        return stand_in, ("a standard stream",)
    return cloudpickle.Pickler.dispatch_table[io.TextIOWrapper](value)


#: How objects are taken that may stay at rank 0: that is no use of them. cloudpickle would take standard
#: output only while ``sys.stdout`` is the same stream, which it is not while iterations run.
_REDUCERS: dict[type, Any] = {LeftBehind: _of_left_behind, io.TextIOWrapper: _of_text}


class _QuickTrial(pickle.Pickler):
    dispatch_table: ClassVar[Mapping[type, Any]] = ChainMap(_REDUCERS, copyreg.dispatch_table)  # type: ignore[misc]


class _Trial(cloudpickle.Pickler):  # type: ignore[misc]
    dispatch_table: ClassVar[Mapping[type, Any]] = ChainMap(_REDUCERS, cloudpickle.Pickler.dispatch_table)
