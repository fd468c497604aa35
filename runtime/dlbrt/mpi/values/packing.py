"""Kernels and their arguments by value, arrays apart.

cloudpickle carries functions of the program, closures and classes. Numpy arrays do not go through it:
each becomes a slot, described by its layout, and its memory is sent on its own, all of it or just the
rows that the array table says. The slots of one call are numbered in the order in which they are met.

Pickling a function by value costs a tenth of a millisecond, which small loops called often would pay at each
call. A kernel's pickle can be used again as long as every global that the kernel and the functions it calls
refer to is bound to the same object, and that object is immutable, or lives in a module that the other ranks
import (`signature`).
"""

from __future__ import annotations

import copyreg
import ctypes
import io
import operator
import pickle
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.data.overlap import exposes_memory
from dlbrt.mpi.values.departure import Departure
from dlbrt.mpi.values.generators import is_seed, reduction_of_global, state_of_seed
from dlbrt.mpi.values.left_behind import LeftBehind, generators, path_of, stand_in, state_of
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.pickles import PROTOCOL, Numbering, Pickler, Reader, met_by_pickler
from dlbrt.mpi.values.program_modules import is_of_program
from dlbrt.mpi.values.uses import attributes_of
from dlbrt.records import dataclass

Signature = tuple[Any, ...]

_PLAIN = (int, float, complex, str, bytes, bool, type(None))


class _MutableError(Exception):
    """A global that can change unseen."""


def named(kernel: Callable[..., None], arguments: Sequence[Any]) -> dict[str, Any]:
    """The arguments of a kernel by the names of its parameters, without the first, the loop itself."""
    names = kernel.__code__.co_varnames[1 : kernel.__code__.co_argcount]
    return dict(zip(names, arguments, strict=True))


def signature(kernel: Callable[..., None]) -> Signature | None:
    """What the kernel's pickle depends on: equal signatures, equal pickles. None if this is not known.

    A signature holds the objects themselves, so that no other object takes over their identities.
    """
    if not isinstance(kernel, types.FunctionType):
        return None
    try:
        return tuple(_of_function(kernel, set()))
    except _MutableError:
        return None


def _of_function(function: types.FunctionType, seen: set[int]) -> Iterator[Any]:
    if id(function) in seen:
        return
    seen.add(id(function))
    if function.__closure__ or function.__dict__:
        raise _MutableError
    yield _Same(function)
    yield function.__code__
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield from _of_value(value, seen)
    names = function.__globals__
    for name in global_names(function.__code__):
        if name in names:
            yield name
            yield from _of_value(names[name], seen)


def _of_value(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, types.FunctionType) and value.__module__ == "__main__":
        yield from _of_function(value, seen)
    elif type(value) in _PLAIN:
        yield type(value)
        yield repr(value) if isinstance(value, float | complex) else value
    elif isinstance(value, types.ModuleType) or _is_elsewhere(value) or _is_ours(value):
        yield _Same(value)
    else:
        raise _MutableError


def _is_elsewhere(value: Any) -> bool:
    """Whether a class or function is known by name in an imported module."""
    named = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType)
    return named and getattr(value, "__module__", None) not in (None, "__main__")


def _is_ours(value: Any) -> bool:
    """Whether a value belongs to the runtime (``BLOCK``, ``dlb``), which every rank has."""
    return type(value).__module__.startswith("dlbrt.")


def global_names(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes in a code object and those nested in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)


class _Same:
    """Compares an object by identity."""

    __slots__ = ("value",)
    __hash__ = object.__hash__

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for the object in slot ``number`` where this object is itself an argument."""

    number: int


@dataclass(frozen=True, slots=True)
class SentKernel:
    """A kernel's pickle, its signature, and the objects met in it, which all ranks have from then on."""

    signature: Signature
    data: bytes
    common: KnownObjects


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


#: The objects in the slots of the pickle being read; pickles call `_slot_value` while they load.
_loading: Sequence[Any] = ()


def _slot_value(number: int) -> Any:
    return _loading[number]


#: Objects without which nothing else could be read.
_NAMED = (type, types.FunctionType, types.ModuleType)


def _own_reduction(obj: Any, known: Mapping[type, Callable[[Any], Any]]) -> Any:
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


class _Packer(Pickler):
    """The same with arrays in slots."""

    def __init__(
        self, file: io.BytesIO, packed: Packed, common: Numbering, departure: Departure | None = None
    ) -> None:
        super().__init__(file, common)
        self._packed = packed
        self._generators = generators()
        self._exposing: dict[type, bool] = {}
        self._departure = departure

    def reducer_override(self, obj: Any) -> Any:
        if self._departure is None or isinstance(obj, _NAMED):
            return self._reduced(obj)
        try:
            self._departure.check(obj)
            reduced = self._reduced(obj)
            return _own_reduction(obj, self.dispatch_table) if reduced is NotImplemented else reduced
        except RecursionError:
            raise
        except Exception as error:  # objects' own pickling hooks may raise anything
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


class _ListPacker(_Packer):
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


def pack_kernel(kernel: Callable[..., None], found: Signature) -> SentKernel:
    """Pickle a kernel on its own."""
    file = io.BytesIO()
    pickler = cloudpickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dump([kernel])
    met = met_by_pickler(pickler)
    return SentKernel(found, file.getvalue(), KnownObjects(lambda: met))


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
    file = io.BytesIO()
    numbers = common.known
    if lists or holders or (departure is not None and departure.lean):
        packer: _Packer = _ListPacker(file, packed, numbers, lists, holders, departure)
    else:
        packer = _Packer(file, packed, numbers, departure)
    packer.dump([value])
    del packer._packed  # a reference cycle would keep the program's arrays alive
    packed.body, packed.pickler = file.getvalue(), packer


class _RowPacker(_ListPacker):
    """The same for elements of lists, which may be whatever ranks can send each other."""

    def _reduced(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            return super()._reduced(obj)
        return cloudpickle.Pickler.reducer_override(self, obj)


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
    packer.dump(rows)
    del packer._packed
    return met_by_pickler(packer)


def _is_reduced_by_program(kind: type) -> bool:
    """Whether the program says in which way objects of a class are pickled; that may leave something out."""
    hooks = (getattr(kind, name, None) for name in ("__reduce__", "__reduce_ex__", "__getstate__"))
    by_table = kind in copyreg.dispatch_table and is_of_program(kind)
    return by_table or any(isinstance(hook, types.FunctionType) and is_of_program(hook) for hook in hooks)


def _left_out(obj: Any, reduced: Any) -> dict[str, Any]:
    """The attributes of an object that its own way of being pickled leaves out, those that can be sent."""
    state = reduced[2] if isinstance(reduced, tuple) and len(reduced) > 2 else None
    names = state if isinstance(state, dict) else {}
    hidden = {name: value for name, value in attributes_of(obj) if names.get(name, obj) is not value}
    return {name: value for name, value in hidden.items() if _can_be_packed(value)}


def _can_be_packed(value: Any) -> bool:
    try:
        _Packer(io.BytesIO(), Packed(), Numbering()).dump(value)
    except Exception:  # objects' own pickling hooks may raise anything
        return False
    return True


class _SnapshotPacker(_Packer):
    """cloudpickle with the arrays and lists of slots as their numbers; other arrays by value.

    Of objects left behind (``states``, by identity) it has the state that can be compared, if any.
    """

    states: Mapping[int, bytes]

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is LeftBehind:
            return stand_in, (path_of(obj),)
        if obj is sys.__stdout__ or obj is sys.__stderr__:
            return stand_in, ("a standard stream",)  # what is written to it is noticed there
        if id(obj) in self.states:
            return stand_in, (type(obj).__name__,), self.states[id(obj)]
        if is_seed(obj):
            return stand_in, ("SeedSequence",), state_of_seed(obj)
        if (reduced := reduction_of_global(obj)) is not None:
            return reduced
        if type(obj) is np.ndarray and id(obj) not in self._packed.numbers:
            return cloudpickle.Pickler.reducer_override(self, obj)
        reduced = super().reducer_override(obj)
        if type(obj) is types.FunctionType and isinstance(reduced, tuple):
            reduced[2][1].pop("_cloudpickle_submodules", None)  # those imported by now, by anyone
        if reduced is NotImplemented and _is_reduced_by_program(type(obj)):
            reduced = _own_reduction(obj, self.dispatch_table)
            hidden = _left_out(obj, reduced)
            return (stand_in, (type(obj).__name__,), (reduced, hidden)) if hidden else reduced
        return reduced

    def persistent_id(self, obj: Any) -> int | None:
        return self._packed.numbers.get(id(obj)) if type(obj) is list else None


def snapshot(values: Mapping[str, Any], slots: Sequence[Any], behind: Sequence[Any] = ()) -> bytes:
    """A pickle of ``values``, to be compared with a later one; of ``slots`` it holds the numbers alone.

    Objects left ``behind`` are compared by what a use of them changes. Raises whatever the pickler raises for
    objects that cannot leave this process.
    """
    packed, file = Packed(slots=list(slots)), io.BytesIO()
    packed.numbers.update((id(value), number) for number, value in enumerate(slots))
    packer = _SnapshotPacker(file, packed, Numbering())
    packer.states = {id(value): pickle.dumps(state_of(value)) for value in behind}
    packer.dump(dict(values))
    return file.getvalue()


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
