"""The arguments of kernels by value, arrays apart.

cloudpickle carries functions of the program, closures and classes. Numpy arrays do not go through it:
each becomes a slot, described by its layout, and its memory is sent on its own, all of it or just the
rows that the array table says. The slots of one call are numbered in the order in which they are met.
"""

from __future__ import annotations

import ctypes
import io
import operator
import pickle
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field
from typing import Any

import numpy as np

from dlbrt.data.overlap import exposes_memory
from dlbrt.data.uncollected import uncollected
from dlbrt.mpi.values.departure import Departure
from dlbrt.mpi.values.left_behind import generators, stand_in
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.pickles import Numbering, Pickler, Reader
from dlbrt.mpi.values.set_pickles import dump_in_order, met_by_pickler
from dlbrt.mpi.values.taken_apart import PROTOCOL
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for the object in slot ``number`` where this object is itself an argument."""

    number: int


@dataclass(slots=True)
class Packed:
    """A pickle, the objects in its slots, and the identities of those met inside other objects.

    ``arrays`` were pickled by value (arrays of subclasses, or of objects), and so was what else is
    ``exposing`` memory; ``pickler`` remembers every object that it met. ``several`` are the identities of
    arrays, containers and holders of arrays met in more than one place.
    """

    body: bytes = b""
    slots: list[Any] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)
    several: set[int] = field(default_factory=set)
    arrays: list[Any] = field(default_factory=list)
    exposing: list[Any] = field(default_factory=list)
    pickler: Any = None

    def slot(self, value: Any) -> Slot:
        """The slot of an array or list, a new one where it has none yet."""
        number = self.numbers.setdefault(id(value), len(self.slots))
        if number == len(self.slots):
            self.slots.append(value)
        return Slot(number)

    def restart(self, named: Sequence[Any]) -> None:
        """Forget all but the slots of these objects, the first ones."""
        self.slots[:] = named
        self.numbers = {id(value): number for number, value in enumerate(named)}
        for found in (self.inside, self.several, self.arrays, self.exposing):
            found.clear()


#: The objects in the slots of the pickle being read; pickles call `_slot_value` while they load.
_loading: Sequence[Any] = ()


def _slot_value(number: int) -> Any:
    return _loading[number]


#: Objects without which nothing else could be read.
_NAMED = (type, types.FunctionType, types.ModuleType)


def own_reduction(obj: Any, known: Mapping[type, Callable[[Any], Any]]) -> Any:
    """What an object says of itself to a pickler, which would not let its exceptions be caught here."""
    reduce = known.get(type(obj))
    reduced = obj.__reduce_ex__(PROTOCOL) if reduce is None else reduce(obj)
    if isinstance(reduced, str) and not _is_found(obj, reduced):
        raise pickle.PicklingError(f"{type(obj).__name__} {reduced} is not what others find by this name")
    return reduced


def _is_found(obj: Any, name: str) -> bool:
    """Whether an object is found by its name in its module."""
    module = sys.modules.get(str(getattr(obj, "__module__", None) or pickle.whichmodule(obj, name)))  # type: ignore[attr-defined]
    try:
        return operator.attrgetter(name)(module) is obj
    except AttributeError:
        return False


class Packer(Pickler):
    """A pickler that gives arrays slots."""

    def __init__(
        self, file: io.BytesIO, packed: Packed, common: Numbering, departure: Departure | None = None
    ) -> None:
        super().__init__(file, common)
        self._packed = packed
        self._generators = generators()
        self._exposing: dict[type, bool] = {}
        self._departure = departure

    def reducer_override(self, obj: Any) -> Any:
        """See `pickle.Pickler`."""
        if self._departure is None or isinstance(obj, _NAMED):
            return self._reduced(obj)
        try:
            self._departure.check(obj)
            reduced = self._reduced(obj)
            return own_reduction(obj, self.dispatch_table) if reduced is NotImplemented else reduced
        except RecursionError:
            raise
        except BaseException as error:  # objects' own pickling hooks may raise anything
            return stand_in, (self._departure.leave(obj, error),)

    def _reduced(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            self._packed.inside.add(id(obj))
            return _slot_value, (self._packed.slot(obj).number,)
        if isinstance(obj, np.ndarray):
            self._packed.arrays.append(obj)
        elif obj is sys.stdout or obj is sys.__stdout__:
            raise TypeError("iterations write to the standard output object itself")
        elif isinstance(obj, ctypes.CDLL):
            raise TypeError(f"iterations call the library of C {obj._name}")
        elif isinstance(obj, threading.Thread):
            raise TypeError("a thread runs in one process")
        elif self._is_consumed(obj):
            raise TypeError(f"iterations would share the state of a {type(obj).__name__}")
        kind = type(obj)
        if kind not in self._exposing:
            self._exposing[kind] = exposes_memory(obj)
        if self._exposing[kind]:
            self._packed.exposing.append(obj)
        return super().reducer_override(obj)

    def _is_consumed(self, obj: Any) -> bool:
        """Whether a use takes something from an object that all ranks would share."""
        if isinstance(obj, self._generators):
            return self._departure is None or not self._departure.goes_by_name(obj)
        return hasattr(type(obj), "__next__")


#: Types of objects that hold arrays, and of arrays, which may be reached along several paths.
_HOLDERS = frozenset({np.ndarray, list, dict, tuple})


class _ListPacker(Packer):
    """The same, with certain lists in slots as well; slower, since it sees every object at every place."""

    def __init__(
        self,
        file: io.BytesIO,
        packed: Packed,
        common: Numbering,
        lists: Mapping[int, Any],
        holders: Set[int],
        departure: Departure | None = None,
    ) -> None:
        super().__init__(file, packed, common, departure)
        self._lists = lists
        self._holders = holders
        self.met: set[int] = set()

    def persistent_id(self, obj: Any) -> int | str | None:
        if type(obj) in _HOLDERS or id(obj) in self._holders:
            (self._packed.several if id(obj) in self.met else self.met).add(id(obj))
        if type(obj) is not list or id(obj) not in self._lists:
            departure = self._departure
            return departure.unused_bulk(obj) if departure is not None and departure.lean else None
        self._packed.inside.add(id(obj))
        return self._packed.slot(obj).number


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, place: int | str) -> Any:
        return _slot_value(place) if isinstance(place, int) else stand_in(place)


def pack(
    value: Any,
    packed: Packed,
    lists: Mapping[int, Any],
    common: KnownObjects,
    holders: Set[int] = frozenset(),
    departure: Departure | None = None,
) -> None:
    """Pickle ``value`` into ``packed``; ``lists`` (by identity) become slots wherever they are met.

    ``holders``: identities of objects that may be among ``packed.several``, which is filled where there are
    any. ``common`` are objects that the readers have. ``departure`` leaves behind objects that cannot
    leave this process; without it, whatever the pickler raises for them is raised.
    """
    named = list(packed.slots)

    def packer() -> tuple[Packer, io.BytesIO]:
        packed.restart(named)
        file = io.BytesIO()
        if lists or holders or (departure is not None and departure.lean):
            return _ListPacker(file, packed, common.known, lists, holders, departure), file
        return Packer(file, packed, common.known, departure), file

    packed.pickler, packed.body = dump_in_order(packer, value)
    del packed.pickler._packed  # a reference cycle would keep the program's arrays alive


class _RowPacker(_ListPacker):
    """The same for elements of lists, which may be whatever ranks can send each other."""

    def _reduced(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            return super()._reduced(obj)
        return Pickler.reducer_override(self, obj)


def look_into(
    rows: Sequence[Any],
    packed: Packed,
    lists: Mapping[int, Any],
    common: KnownObjects,
    holders: Set[int],
    departure: Departure | None = None,
) -> list[Any]:
    """Note in ``packed.inside`` and ``packed.several`` what rows that travel later lead to; see `pack`.

    Returns the objects met.
    """
    seen = Packed(inside=packed.inside, several=packed.several)
    packer = _RowPacker(io.BytesIO(), seen, common.known, lists, holders, departure)
    packer.met = packed.pickler.met
    with uncollected():
        packer.dump(rows)
    del packer._packed
    return met_by_pickler(packer)


def unpack(body: bytes, slots: Sequence[Any], common: KnownObjects) -> tuple[Any, list[Any]]:
    """The value of a pickle whose slots hold ``slots``, and the objects met in it."""
    global _loading
    _loading = slots
    reader = Reader(common.known.objects, _Unpacker)
    try:
        value = reader.load(body)
        return value, reader.objects
    finally:
        _loading = ()
