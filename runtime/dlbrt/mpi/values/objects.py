"""The objects that a call brought to every rank, known by number from then on.

Messages after the call itself (rows of lists, final values, exceptions) refer to functions, classes and
objects that all ranks have already. Sent again by value they would arrive as other objects: ``xs[i] is
MISSING`` would fail, and a class that comes back would overwrite rank 0's own. So they are sent as numbers. A
pickler meets objects in some order, and the unpickler meets them in the same order: this is the numbering,
and nothing has to be sent for it.
"""

from __future__ import annotations

import contextlib
import functools
import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.data.field import Field
from dlbrt.data.object_state import is_mutable, parts_of, state_of

_CACHED = type(functools.lru_cache(len))

#: Types of objects whose identity does not matter.
_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})

#: Types of objects that have an identity, but that the pickler does not pass to its reducers.
_CONTAINERS = frozenset({list, dict, set, bytearray, tuple})

#: The objects known to the pickle being read; pickles call `_known` while they load.
_reading: ContextVar[SharedObjects] = ContextVar("reading")


def _known(number: int) -> Any:
    return _reading.get().known[number]


def _view(
    number: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, writeable: bool
) -> Any:
    array = _known(number)
    interface = {
        "version": 3,
        "data": (array.ctypes.data + offset, not writeable),
        "shape": shape,
        "strides": strides,
        "typestr": f"|V{dtype.itemsize}",
    }
    return np.asarray(_Window(array, interface)).view(dtype)


def _owner(array: Any) -> Any:
    """The array that owns the memory of a view, as far as arrays go."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class _Window:
    """Memory of an array, which lives as long as the view of it."""

    def __init__(self, array: Any, interface: dict[str, Any]) -> None:
        self.array = array
        self.__array_interface__ = interface


def _element(place: int, row: int) -> Any:
    objects = _reading.get()
    return objects.originals.get(place, objects.fields[place].data)[row]


def _part(place: int, row: int, number: int) -> Any:
    objects = _reading.get()
    return objects.parts(objects.fields[place], row)[number]


#: The functions that stand in pickles for objects that the reader has.
_READERS = (_known, _view, _element, _part)


def _never(_: Any) -> None:
    return None


Reducer = Callable[[Any], "tuple[Any, ...] | None"]


def without_cache(obj: Any) -> tuple[Any, ...] | None:
    """The reduction of a function of the program under ``lru_cache``, which pickles itself by name.

    Other ranks have no ``__main__`` to find it in.
    """
    if type(obj) is not _CACHED or (obj.__module__ != "__main__" and "<locals>" not in obj.__qualname__):
        return None
    return _cached, (obj.__wrapped__, *obj.cache_parameters().values())


def _cached(function: Callable[..., Any], size: int | None, typed: bool) -> Any:
    return functools.lru_cache(size, typed)(function)


def met_by_pickler(pickler: Any) -> list[Any]:
    """The objects that a pickler has met, in the order of its numbering."""
    return [value for _, value in sorted(pickler.memo.copy().values(), key=lambda item: item[0])]


def met_by_unpickler(unpickler: Any) -> list[Any]:
    """The same objects as the other side has made them."""
    return [value for _, value in sorted(unpickler.memo.copy().items())]


class SharedObjects:
    """The objects that the ranks of one call have in common; ``sources`` return them in parts, when needed.

    ``fields`` are the loop's, in the order of its table. ``originals`` are, by place, the elements that lists
    among them had when every rank received them all: this rank may have stored others since.
    """

    def __init__(self, *sources: Callable[[], Sequence[Any]]) -> None:
        self.fields: Sequence[Field] = ()
        self.originals: Mapping[int, Sequence[Any]] = {}
        self._elements: dict[int, tuple[Callable[..., Any], tuple[int, ...]]] = {}
        self._parts: dict[tuple[int, int], list[Any]] = {}
        self._held: list[Any] = []  # so that no other object takes the identity of one noted
        self._containers = False
        self._sources = sources

    @cached_property
    def known(self) -> list[Any]:
        """The objects by number; kept alive here, so that no other object takes over an identity."""
        return [value for source in self._sources for value in source()]

    @cached_property
    def references(self) -> dict[int, tuple[Callable[..., Any], tuple[int, ...]]]:
        """What stands in a pickle for each of them, by identity."""
        found: dict[int, tuple[Callable[..., Any], tuple[int, ...]]]
        found = {id(value): (_known, (number,)) for number, value in enumerate(self.known)}
        for function in _READERS:  # met where the call's own pickle had references; pickled by name
            found.pop(id(function), None)
        return found

    def note(self, field: Field, rows: Sequence[int], elements: Sequence[Any]) -> None:
        """Note elements of a list that have come: they are sent back as references, as rank 0 has them.

        Where the loop changes elements in place, so are the objects that they consist of.
        """
        place = self._place(field)
        for row, element in zip(rows, elements, strict=True):
            if type(element) in _ATOMS:
                continue
            if field.spec.in_place:
                parts = self._parts[place, row] = parts_of(element)
                for number, part in enumerate(parts):
                    self._note(part, _part, (place, row, number))
            else:
                self._note(element, _element, (place, row))

    def _note(self, value: Any, reader: Callable[..., Any], place: tuple[int, ...]) -> None:
        self._elements[id(value)] = (reader, place)
        self._held.append(value)
        self._containers |= type(value) in _CONTAINERS

    def parts(self, field: Field, row: int) -> list[Any]:
        """The objects that rank 0's element consists of, before it is changed."""
        key = self._place(field), row
        if key not in self._parts:
            self._parts[key] = parts_of(field.data[row])
        return self._parts[key]

    def states(self, field: Field, rows: Sequence[int]) -> list[tuple[Any, Any]]:
        """The objects that elements of a list consisted of when they came, with their states."""
        place = self._place(field)
        found = (part for row in rows for part in self._parts.get((place, row), ()))
        return [(part, state_of(part)) for part in found if is_mutable(part)]

    def _place(self, field: Field) -> int:
        return next(place for place, known in enumerate(self.fields) if known is field)

    def view(self, array: Any) -> tuple[Any, ...] | None:
        """The reduction of a view of an array that rank 0 has: there it becomes a view again."""
        if type(array) is not np.ndarray or array.base is None or array.dtype.hasobject or not array.size:
            return None
        number, base = self._owners.get(id(_owner(array)), (0, None))
        if base is None:
            return None
        offset = array.ctypes.data - base.ctypes.data
        return _view, (number, offset, array.shape, array.strides, array.dtype, array.flags.writeable)

    @cached_property
    def _owners(self) -> dict[int, tuple[int, Any]]:
        """The known arrays by the identity of what owns their memory."""
        arrays = ((number, v) for number, v in enumerate(self.known) if type(v) is np.ndarray)
        return {id(_owner(array)): (number, array) for number, array in arrays}

    def dumps(self, value: Any, *, back: bool = False, taken_apart: Reducer = _never) -> bytes:
        """A pickle of ``value``; ``back``: it is sent to rank 0. Raises what the objects' own hooks raise.

        ``taken_apart`` returns the reduction (as ``__reduce__``) of objects that are not to be pickled in
        their own way, else None.
        """
        file = io.BytesIO()
        kind = _ContainerPickler if back and self._containers else _Pickler
        references = self._elements | self.references if back else self.references
        view = self.view if back else _never
        kind(file, references, lambda obj: taken_apart(obj) or view(obj)).dump(value)
        return file.getvalue()

    def loads(self, data: bytes | bytearray) -> Any:
        """The value of a pickle that another rank made."""
        with self.reading():
            return _Unpickler(io.BytesIO(data)).load()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """In this context, references in pickles that are read mean these objects."""
        token = _reading.set(self)
        try:
            yield
        finally:
            _reading.reset(token)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle, with the objects that the reader has as references."""

    def __init__(self, file: io.BytesIO, references: Mapping[int, Any], taken_apart: Reducer) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._references = references
        self._taken_apart = taken_apart

    def reducer_override(self, obj: Any) -> Any:
        found = self._references.get(id(obj)) or self._taken_apart(obj) or without_cache(obj)
        return found or super().reducer_override(obj)


class _ContainerPickler(_Pickler):
    """The same for lists and dictionaries as well; it looks at every object, so it is slower."""

    def persistent_id(self, obj: Any) -> tuple[int, ...] | None:
        if type(obj) not in _CONTAINERS:
            return None
        reference = self._references.get(id(obj))
        return reference[1] if reference is not None and reference[0] in (_element, _part) else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, place: tuple[int, ...]) -> Any:
        return _element(*place) if len(place) == 2 else _part(*place)
