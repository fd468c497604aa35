"""Pickles of a notebook's variables: functions find their names where they arrive, known objects go as tags.

The memory of arrays lies behind the pickle, as it is.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.mpi.values.caches import CACHED, make_cached
from dlbrt.mpi.values.class_pickles import of_class
from dlbrt.mpi.values.set_pickles import Call, dump_in_order, load

#: What says that an object in the stream is one that its reader has: by its number in the walk, or by name.
KNOWN, NAMED = "known", "named"

#: What says that it is a module.
_MODULE = "module"


def _function(code: types.CodeType, name: str, cells: int) -> types.FunctionType:
    """A function of the notebook, whose globals are the program's, or the notebook's where it comes back."""
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(code, _globals_of_functions, name, None, closure)


def _complete(function: types.FunctionType, state: tuple[Any, ...]) -> None:
    defaults, keywords, attributes, about, contents = state
    function.__defaults__, function.__kwdefaults__ = defaults, keywords
    function.__dict__.update(attributes)
    function.__qualname__, function.__doc__, function.__annotations__, function.__module__ = about
    for cell, content in zip(function.__closure__ or (), contents, strict=True):
        cell.cell_contents = content


def _view(
    owner: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: Any, writeable: bool
) -> Any:
    """An array in the memory of another one."""
    made: Any = np.ndarray(shape, kind, owner if owner.flags.c_contiguous else owner.T, offset, strides)
    if not writeable:
        made.flags.writeable = False
    return made


_globals_of_functions: dict[str, Any] = {}


def use_globals(namespace: dict[str, Any]) -> None:
    """Functions that are loaded from now on have these globals."""
    global _globals_of_functions
    _globals_of_functions = namespace


class CellPickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles values of a namespace; functions of it find its names where they arrive.

    ``by_name`` are its functions that are there by name; ``known`` are objects that go as a tag. ``wanted``
    collects the names that functions look for.
    """

    def __init__(
        self,
        file: Any,
        namespace: Mapping[str, Any],
        by_name: Iterable[str] = (),
        known: Mapping[int, tuple[str, Any]] | None = None,
        buffer_callback: Callable[[pickle.PickleBuffer], Any] | None = None,
        views: Mapping[int, tuple[Any, int]] | None = None,
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffer_callback)
        self._namespace = namespace
        self._known = dict(known or {})
        # Names of functions and classes may have been bound to something else meanwhile.
        found = {name: namespace[name] for name in by_name if name in namespace}
        named = {name: each for name, each in found.items() if isinstance(each, types.FunctionType | type)}
        self._known |= {id(each): (NAMED, name) for name, each in named.items()}
        self._views = views or {}
        self.wanted: set[str] = set()

    def persistent_id(self, value: Any) -> Any:
        """The tag of an object that is known where it arrives."""
        if isinstance(value, types.ModuleType) and value.__name__ in sys.modules:
            return _MODULE, value.__name__
        return self._known.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        """How functions of the namespace travel; all else as cloudpickle has it."""
        if type(value) is Call:
            return value.reduced
        if id(value) in self._views and type(value) is np.ndarray:
            owner, offset = self._views[id(value)]
            layout = value.shape, value.strides, value.dtype, value.flags.writeable
            return _view, (owner, offset, *layout)
        if isinstance(value, types.FunctionType) and value.__globals__ is self._namespace:
            self.wanted |= set(names_of(value.__code__))
            contents = tuple(cell.cell_contents for cell in value.__closure__ or ())
            about = (value.__qualname__, value.__doc__, value.__annotations__, value.__module__)
            state = (value.__defaults__, value.__kwdefaults__, vars(value), about, contents)
            made = (value.__code__, value.__name__, len(contents))
            return _function, made, state, None, None, _complete
        if isinstance(value, io.IOBase) and not isinstance(value, io.BytesIO | io.StringIO):
            raise TypeError("it is, or holds, an open file")
        if type(value) is CACHED and value.__module__ == "__main__":
            return make_cached, (value.__wrapped__, *value.cache_parameters().values())
        reduced = super().reducer_override(value)
        return of_class(value, reduced) if isinstance(value, type) else reduced


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names that code, and the code inside it, looks for outside of functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


class _Loader(pickle.Unpickler):
    """Reads what `CellPickler` has written."""

    def __init__(self, data: Any, buffers: Any, found: Callable[[str, Any], Any]) -> None:
        super().__init__(data, buffers=buffers)
        self._found = found

    def persistent_load(self, tag: tuple[str, Any]) -> Any:
        """The object that a tag stands for."""
        kind, what = tag
        return importlib.import_module(what) if kind == _MODULE else self._found(kind, what)


def write(
    path: Path,
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None = None,
    views: Mapping[int, tuple[Any, int]] | None = None,
) -> None:
    """Write a value, pickled by a `CellPickler`, and the memory of its arrays."""
    data, buffers = _pickled(value, namespace, by_name, known, views)
    raw = [buffer.raw() for buffer in buffers]
    with path.open("wb") as file:
        pickle.dump((len(data), [(each.nbytes, each.readonly) for each in raw]), file)
        file.write(data)
        for each in raw:
            file.write(each)


def _pickled(
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None,
    views: Mapping[int, tuple[Any, int]] | None = None,
) -> tuple[bytes, list[pickle.PickleBuffer]]:
    buffers: list[pickle.PickleBuffer] = []

    def pickler() -> tuple[CellPickler, io.BytesIO]:
        buffers.clear()
        stream = io.BytesIO()
        return CellPickler(stream, namespace, by_name, known, buffers.append, views), stream

    _, data = dump_in_order(pickler, value)
    return data, buffers


def read(path: Path, found: Callable[[str, Any], Any]) -> Any:
    """The value that `write` has written; ``found`` gives the objects that tags stand for."""
    with path.open("rb") as file:
        size, sizes = pickle.load(file)
        data = io.BytesIO(file.read(size))
        buffers = []
        for each, readonly in sizes:
            file.readinto(memory := bytearray(each))
            buffers.append(memoryview(memory).toreadonly() if readonly else memory)
    (value,) = load(_Loader(data, buffers, found), data)
    return value


def image_of(value: Any, namespace: Mapping[str, Any]) -> bytes:
    """A digest of the pickle of a value; empty where it has none."""
    stream, buffers = io.BytesIO(), list[pickle.PickleBuffer]()
    try:
        CellPickler(stream, namespace, buffer_callback=buffers.append).dump(value)
    except Exception:  # values' own hooks may raise anything
        return b""
    digest = hashlib.blake2b(stream.getbuffer())
    for each in buffers:
        digest.update(each.raw())
    return digest.digest()


def unpicklable(
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None = None,
) -> str:
    """Why a value cannot be pickled; empty if it can."""
    try:
        _pickled(value, namespace, by_name, known)
    except Exception as error:  # values' own hooks may raise anything
        return f"{type(error).__name__}: {error}"
    return ""
