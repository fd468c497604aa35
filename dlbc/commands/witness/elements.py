"""The keys that identify elements of containers among all elements of the program, and names for people.

The key of an array's element is its address, so that views and aliases share it; that of an element of a
list, dictionary or set is (identity of the object, what part of it, index or key). Whoever remembers keys
keeps the objects alive, since an identity or address may be used again.

For people (`A[3, 5]`, `rows[2][0]`, `d['x']`, `self.total`), a container has the name that the loop uses for
it, else the place where it was found in another container, else the text of the expression at hand.
"""

from __future__ import annotations

import array
import operator
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

SEQUENCES = (list, deque, bytearray, array.array)
KEYED = (dict, set)
#: The types whose elements have keys.
WATCHED = (np.ndarray, *SEQUENCES, *KEYED)
_DEPTH = 4
Keys = Iterable[Hashable]


def addresses(part: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The address of each element, in the array's own shape."""
    found = np.asarray(part.__array_interface__["data"][0], dtype=np.int64)
    for extent, stride in zip(part.shape, part.strides, strict=True):
        found = found[..., np.newaxis] + np.arange(extent, dtype=np.int64) * stride
    return found


def length(holder: object) -> Hashable:
    """What changes when elements are added or removed."""
    return (id(holder), "length", None)


def position(holder: object) -> Hashable:
    """The position of an iterator or a file, or the state of a random generator."""
    return (id(holder), "position", None)


def attribute(holder: object, name: str) -> Hashable:
    """An attribute of an object."""
    return (id(holder), "attribute", name)


def whole(holder: Any) -> Keys:
    """All elements and the length; empty for objects without elements."""
    if isinstance(holder, np.ndarray):
        return _parts(addresses(holder).ravel().tolist(), holder.dtype)
    if isinstance(holder, SEQUENCES):
        return [length(holder), *((id(holder), "item", k) for k in range(len(holder)))]
    if isinstance(holder, KEYED):
        return [length(holder), *((id(holder), "key", key) for key in holder)]
    if isinstance(holder, np.flatiter):
        return whole(holder.base)
    return [position(holder)] if hasattr(holder, "__next__") else ()


def deep(holder: Any, depth: int = _DEPTH) -> Keys:
    """All elements of an object and of the containers in it."""
    inner: Iterable[Any] = ()
    if isinstance(holder, Mapping):
        inner = holder.values()
    elif isinstance(holder, list | tuple | deque):
        inner = holder
    elif isinstance(holder, np.ndarray) and holder.dtype == object:
        inner = holder.ravel()
    own = whole(holder) if isinstance(holder, WATCHED) else ()
    if not depth:
        return own
    return chain(own, *(deep(x, depth - 1) for x in inner if isinstance(x, (*WATCHED, tuple))))


def item(holder: Any, key: Any) -> Keys:
    """The elements that ``holder[key]`` accesses; none if it fails."""
    try:
        if isinstance(holder, np.ndarray):
            return _array_item(holder, key)
        if isinstance(holder, SEQUENCES):
            return _sequence_item(holder, key)
        if isinstance(holder, KEYED):
            hash(key)
            return [(id(holder), "key", key)]
        if isinstance(holder, np.flatiter):
            return [int(k) for k in np.atleast_1d(addresses(holder.base).ravel()[key])]
    except (IndexError, TypeError, ValueError):
        return ()
    return ()


def _sequence_item(holder: Any, key: Any) -> Keys:
    count, me = len(holder), id(holder)
    if isinstance(key, slice):
        reached: list[Hashable] = [(me, "item", k) for k in range(*key.indices(count))]
        relative = key.stop is None or key.stop < 0 or key.stop > count or (key.start or 0) < 0
        return [length(holder), *reached] if relative else reached
    index = operator.index(key)
    if not -count <= index < count:
        return [length(holder)]
    return [(me, "item", index)] if index >= 0 else [length(holder), (me, "item", index + count)]


def _array_item(holder: np.ndarray[Any, Any], key: Any) -> Keys:
    if isinstance(key, str):
        return whole(holder[key])
    indices = key if isinstance(key, tuple) else (key,)
    if len(indices) == holder.ndim and all(type(k) is int for k in indices):
        found: int = holder.__array_interface__["data"][0]
        for index, extent, stride in zip(indices, holder.shape, holder.strides, strict=True):
            if not -extent <= index < extent:
                return ()
            found += (index if index >= 0 else index + extent) * stride
        return _parts([found], holder.dtype)
    return _parts(np.atleast_1d(addresses(holder)[key]).ravel().tolist(), holder.dtype)


def _parts(found: list[int], dtype: np.dtype[Any]) -> list[int]:
    """The addresses, with those of parts that views may show: fields of records, imaginary parts."""
    offsets = _offsets(dtype)
    return found if offsets == (0,) else [start + offset for start in found for offset in offsets]


def _offsets(dtype: np.dtype[Any]) -> tuple[int, ...]:
    if dtype.fields:
        fields = dtype.fields.values()
        return tuple(sorted({field[1] + inner for field in fields for inner in _offsets(field[0])}))
    return (0, dtype.itemsize // 2) if dtype.kind == "c" else (0,)


def reinterprets(holder: object) -> bool:
    """Whether an array views memory as elements of another size, so that addresses do not identify them."""
    base = holder.base if isinstance(holder, np.ndarray) else None
    if not isinstance(holder, np.ndarray) or not isinstance(base, np.ndarray):
        return False
    return base.itemsize != holder.itemsize and not base.dtype.fields and base.dtype.kind != "c"


def gives_view(holder: Any, key: Any) -> bool:
    """Whether ``holder[key]`` is a view, which reads no element."""
    if not isinstance(holder, np.ndarray):
        return False
    indices = key if isinstance(key, tuple) else (key,)
    if isinstance(key, str) or any(k is Ellipsis for k in indices):
        return True
    basic = all(k is None or isinstance(k, slice | int | np.integer) for k in indices)
    integers = sum(isinstance(k, int | np.integer) for k in indices)
    return basic and not any(isinstance(k, bool) for k in indices) and integers < holder.ndim


_NAMES = {"length": "the length of {0}", "position": "the state of {0}", "item": "{0}[{1!r}]"}
_NAMES |= {"key": "{0}[{1!r}]", "attribute": "{0}.{1}"}


class ElementNames:
    """The names of the accessed containers, which it keeps alive."""

    def __init__(self) -> None:
        self._kept: dict[int, object] = {}
        self._own: dict[int, str] = {}
        self._within: dict[int, tuple[object, str]] = {}
        self._hints: dict[int, str] = {}

    def keep(self, holder: object) -> None:
        """Keep the object alive, so that its identity and memory are not used again."""
        self._kept[id(holder)] = holder

    def call(self, holder: object, name: str) -> None:
        """The loop uses ``name`` for ``holder``; the first name counts."""
        self.keep(holder)
        self._own.setdefault(id(holder), name)

    def hint(self, holder: object, name: str) -> None:
        """``name`` is the text of ``holder`` as an argument of a call."""
        self.keep(holder)
        self._hints.setdefault(id(holder), name)

    def place(self, holder: object, around: object, suffix: str) -> None:
        """``holder`` was found in ``around``, at ``suffix``."""
        if id(holder) not in self._own and holder is not around:
            self.keep(holder)
            self.keep(around)
            self._within.setdefault(id(holder), (around, suffix))

    def clear(self) -> None:
        """Forget all names and objects."""
        for held in (self._kept, self._own, self._within, self._hints):
            held.clear()

    def of(self, holder: object, otherwise: str) -> str:
        """The name of ``holder``, else the text ``otherwise``."""
        return self._known(holder) or self._hints.get(id(holder)) or otherwise

    def _known(self, holder: object) -> str | None:
        suffix = ""
        for _ in range(len(self._within) + 1):
            if name := self._own.get(id(holder)):
                return name + suffix
            if id(holder) not in self._within:
                return None
            holder, last = self._within[id(holder)]
            suffix = last + suffix
        return None

    def element(self, key: Hashable, holder: object, otherwise: str) -> str:
        """The name of an element of ``holder``, whose text at the access is ``otherwise``."""
        if isinstance(key, int):
            return self._array_element(key, holder, otherwise)
        if not isinstance(key, tuple):
            return otherwise
        return _NAMES[key[1]].format(self.of(holder, otherwise), key[2])

    def _array_element(self, address: int, holder: Any, otherwise: str) -> str:
        known = [h for h in self._kept.values() if isinstance(h, np.ndarray) and self._known(h)]
        for found in sorted(known, key=lambda h: (h.base is not None, -h.size)):
            if (name := _indexed(found, address)) is not None:
                return self.of(found, otherwise) + name
        inner = _indexed(holder, address) if isinstance(holder, np.ndarray) else None
        return otherwise + (inner or "")


def _indexed(holder: np.ndarray[Any, Any], address: int) -> str | None:
    start, stop = np.lib.array_utils.byte_bounds(holder) if holder.size else (0, 0)
    if not start <= address < stop:
        return None
    starts = addresses(holder)
    places = np.argwhere((starts <= address) & (address < starts + holder.itemsize))
    return f"[{', '.join(str(int(k)) for k in places[0])}]" if len(places) else None
