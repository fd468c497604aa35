"""Kernels and their arguments by value, arrays apart.

cloudpickle carries functions of the program, closures and classes. Numpy arrays do not go through it:
each becomes a slot, described by its layout, and its memory is sent on its own, all of it or just the
rows that the array table says. The slots of one call are numbered in the order they are met.
"""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np

__all__ = ["Packed", "Slot", "pack", "unpack"]


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for the object in slot ``number`` where it is an argument of its own."""

    number: int


@dataclass(slots=True)
class Packed:
    """A pickle, the objects in its slots, and the identities of those met inside other objects."""

    body: bytes = b""
    slots: list[Any] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)

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


class _Packer(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle with arrays in slots."""

    def __init__(self, file: io.BytesIO, packed: Packed) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._packed = packed

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            self._packed.inside.add(id(obj))
            return _slot_value, (self._packed.slot(obj).number,)
        return super().reducer_override(obj)


class _ListPacker(_Packer):
    """The same, with certain lists in slots as well; it looks at every object, so it is slower."""

    def __init__(self, file: io.BytesIO, packed: Packed, lists: Mapping[int, Any]) -> None:
        super().__init__(file, packed)
        self._lists = lists

    def persistent_id(self, obj: Any) -> int | None:
        if type(obj) is not list or id(obj) not in self._lists:
            return None
        self._packed.inside.add(id(obj))
        return self._packed.slot(obj).number


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, number: int) -> Any:
        return _slot_value(number)


def pack(value: Any, packed: Packed, lists: Mapping[int, Any]) -> None:
    """Pickle ``value`` into ``packed``; ``lists`` (by identity) become slots wherever they are met.

    Raises what the pickler raises for objects that cannot leave this process.
    """
    file = io.BytesIO()
    packer = _ListPacker(file, packed, lists) if lists else _Packer(file, packed)
    packer.dump(value)
    packed.body = file.getvalue()


def unpack(body: bytes, slots: Sequence[Any]) -> Any:
    """The value of a pickle whose slots hold ``slots``."""
    global _loading
    _loading = slots
    try:
        # Modules that are imported while loading have printed at rank 0 already.
        with contextlib.redirect_stdout(io.StringIO()):
            return _Unpacker(io.BytesIO(body)).load()
    finally:
        _loading = ()
