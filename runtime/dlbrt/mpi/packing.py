"""Kernels and their arguments by value, arrays apart.

cloudpickle carries functions of the program, closures and classes. Numpy arrays do not go through it:
each becomes a slot, described by its layout, and its memory is sent on its own, all of it or just the
rows that the array table says. The slots of one call are numbered in the order they are met.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.mpi.kernels import Signature
from dlbrt.mpi.objects import SharedObjects, met_by_pickler, met_by_unpickler, without_cache
from dlbrt.records import dataclass

__all__ = ["Packed", "SentKernel", "Slot", "pack", "pack_kernel", "unpack"]


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for the object in slot ``number`` where it is an argument of its own."""

    number: int


@dataclass(frozen=True, slots=True)
class SentKernel:
    """A kernel's pickle, what it depends on, and the objects met in it, which all ranks have from then on."""

    signature: Signature
    data: bytes
    common: SharedObjects


@dataclass(slots=True)
class Packed:
    """A pickle, the objects in its slots, and the identities of those met inside other objects.

    ``arrays`` are those that were pickled by value (of other kinds, or of objects); ``pickler`` remembers
    everything that was met.
    """

    body: bytes = b""
    slots: list[Any] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)
    arrays: list[Any] = field(default_factory=list)
    pickler: Any = None

    def slot(self, value: Any) -> Slot:
        """The slot of an array or list, a new one where it has none yet."""
        number = self.numbers.setdefault(id(value), len(self.slots))
        if number == len(self.slots):
            self.slots.append(value)
        return Slot(number)


#: Random generators, by module: drawing from one changes it, as taking from an iterator does.
_GENERATORS = {"random": ("Random",), "numpy.random": ("Generator", "BitGenerator", "RandomState")}


def _generators() -> tuple[type, ...]:
    """The classes of `_GENERATORS` of which there may be objects, as their modules are imported."""
    found = ((sys.modules.get(module), names) for module, names in _GENERATORS.items())
    return tuple(getattr(module, name) for module, names in found if module is not None for name in names)


#: The objects in the slots of the pickle being read; pickles call `_slot_value` while they load.
_loading: Sequence[Any] = ()


def _slot_value(number: int) -> Any:
    return _loading[number]


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle with arrays in slots."""

    def __init__(self, file: io.BytesIO, packed: Packed, common: SharedObjects) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._packed = packed
        self._references = common.references
        self._generators = _generators()

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            self._packed.inside.add(id(obj))
            return _slot_value, (self._packed.slot(obj).number,)
        if isinstance(obj, np.ndarray):
            self._packed.arrays.append(obj)
        elif obj is sys.stdout or obj is sys.__stdout__:
            raise TypeError("iterations write to the standard output object itself")
        elif isinstance(obj, self._generators) or hasattr(type(obj), "__next__"):
            raise TypeError(f"iterations would share the state of a {type(obj).__name__}")
        return self._references.get(id(obj)) or without_cache(obj) or super().reducer_override(obj)


class _ListPacker(_Packer):
    """The same, with certain lists in slots as well; it looks at every object, so it is slower."""

    def __init__(
        self, file: io.BytesIO, packed: Packed, common: SharedObjects, lists: Mapping[int, Any]
    ) -> None:
        super().__init__(file, packed, common)
        self._lists = lists

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) is not list or id(obj) not in self._lists:
            return None
        self._packed.inside.add(id(obj))
        return self._packed.slot(obj).number


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, number: int) -> Any:
        return _slot_value(number)


def pack_kernel(kernel: Callable[..., None], found: Signature) -> SentKernel:
    """Pickle a kernel on its own."""
    file = io.BytesIO()
    pickler = cloudpickle.Pickler(file, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dump(kernel)
    met = met_by_pickler(pickler)
    return SentKernel(found, file.getvalue(), SharedObjects(lambda: met))


def pack(value: Any, packed: Packed, lists: Mapping[int, Any], common: SharedObjects) -> None:
    """Pickle ``value`` into ``packed``; ``lists`` (by identity) become slots wherever they are met.

    ``common`` are objects that the readers have. Raises what the pickler raises for objects that cannot
    leave this process.
    """
    file = io.BytesIO()
    packer = _ListPacker(file, packed, common, lists) if lists else _Packer(file, packed, common)
    packer.dump(value)
    del packer._packed  # the two would hold each other, and with them the program's arrays
    packed.body, packed.pickler = file.getvalue(), packer


def unpack(body: bytes, slots: Sequence[Any], common: SharedObjects) -> tuple[Any, list[Any]]:
    """The value of a pickle whose slots hold ``slots``, and the objects met in it."""
    global _loading
    _loading = slots
    unpacker = _Unpacker(io.BytesIO(body))
    try:
        # Modules that are imported while loading have printed at rank 0 already.
        with contextlib.redirect_stdout(io.StringIO()), common.reading():
            value = unpacker.load()
        return value, met_by_unpickler(unpacker)
    finally:
        _loading = ()
