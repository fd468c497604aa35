"""The objects that a notebook's variables consist of, and the state of each that a cell may change.

The number of an object in a walk through the values stands for it on its way to the cell and back.
"""

from __future__ import annotations

import enum
import hashlib
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dlbrt.data.set_tables import copy_of, give_contents

#: Objects that change in place, and whose contents are walked.
_CONTAINERS = (list, dict, set, bytearray)


def walk(values: Iterable[Any]) -> list[Any]:
    """The objects with a state of their own that values consist of, each once, in an order of their own."""
    found: dict[int, Any] = {}
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        if id(value) in found or not _is_walked(value):
            continue
        found[id(value)] = value
        waiting += list(_parts(value))[::-1]
    return [each for each in found.values() if type(each) not in (tuple, frozenset)]


def _is_walked(value: Any) -> bool:
    plain = type(value) in (*_CONTAINERS, tuple, np.ndarray) or isinstance(value, type | types.FunctionType)
    return plain or _has_plain_state(value)


def _has_plain_state(value: Any) -> bool:
    """Whether an object's state is its ``__dict__``, and no class says how it is pickled."""
    kind = type(value)
    if isinstance(value, type | types.ModuleType | types.FunctionType) or not hasattr(value, "__dict__"):
        return False
    standard = all(getattr(kind, name, None) is getattr(object, name, None) for name in _OF_PICKLING)
    return standard and all(_adds_a_dictionary(each) for each in kind.__mro__[:-1])


#: The methods by which classes say how their objects are pickled.
_OF_PICKLING = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__", "__new__"),
)

#: The flag of classes that Python code has made.
_HEAP_TYPE = 1 << 9


def _adds_a_dictionary(kind: type) -> bool:
    """Whether what a class adds to its objects lies in their ``__dict__``."""
    return bool(kind.__flags__ & _HEAP_TYPE) and "__slots__" not in vars(kind)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject and value.dtype == object:
            yield from value.flat
    elif isinstance(value, types.FunctionType):
        if value.__module__ == "__main__":
            state = _state_of_function(value)
            yield from (*state[0].values(), *state[1], *state[2], *state[3].values())
    elif isinstance(value, type):
        yield from _state_of_class(value).values()
    elif _has_plain_state(value):
        yield from vars(value).values()
        yield type(value)


def _state_of_function(function: types.FunctionType) -> tuple[dict[str, Any], ...]:
    """What a function keeps: attributes, the contents of its closure, defaults; the same of keywords."""
    contents = [_content_of(each) for each in function.__closure__ or ()]
    defaults = list(function.__defaults__ or ())
    return dict(vars(function)), contents, defaults, dict(function.__kwdefaults__ or {})  # type: ignore[return-value]


def _content_of(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


#: What a class has of its own that is no state.
_DEFINED = (types.FunctionType, staticmethod, classmethod, property, types.MemberDescriptorType, type)


def _state_of_class(kind: type) -> dict[str, Any]:
    """The attributes of a class of the notebook that are values."""
    if kind.__module__ != "__main__" or isinstance(kind, enum.EnumMeta):
        return {}
    return {
        name: value
        for name, value in vars(kind).items()
        if not name.startswith(("__", "_abc_"))
        and not isinstance(value, _DEFINED)
        and not hasattr(value, "__get__")
    }


def state_of(value: Any) -> Any:
    """What an object is given back; None where it has no state that can change."""
    if isinstance(value, dict):
        return list(value.items())
    if type(value) is set:
        return copy_of(value)
    if type(value) in _CONTAINERS:
        return list(value)
    if type(value) is np.ndarray:
        return value
    if isinstance(value, types.FunctionType):
        return _state_of_function(value)[:2] if value.__module__ == "__main__" else None
    if isinstance(value, type):
        return _state_of_class(value) or None
    return dict(vars(value)) if _has_plain_state(value) else None


def restore(value: Any, state: Any) -> None:
    """Give an object the state that `state_of` has found elsewhere."""
    if isinstance(value, np.ndarray):
        np.copyto(value, state, casting="no")
    elif isinstance(value, list | bytearray):
        value[:] = state
    elif isinstance(value, set):
        give_contents(value, state)
    elif isinstance(value, dict):
        value.clear()
        value.update(state)
    elif isinstance(value, types.FunctionType):
        attributes, contents = state
        vars(value).clear()
        vars(value).update(attributes)
        for cell, content in zip(value.__closure__ or (), contents, strict=True):
            if content is not _content_of(cell):
                cell.cell_contents = content
    elif isinstance(value, type):
        for name in _state_of_class(value).keys() - state.keys():
            type.__delattr__(value, name)
        for name, each in state.items():
            if vars(value).get(name) is not each:
                type.__setattr__(value, name, each)
    else:
        vars(value).clear()
        vars(value).update(state)


def digest_of(value: Any) -> bytes | None:
    """A digest of an array of numbers; None for other objects, whose state always travels."""
    if type(value) is not np.ndarray or value.dtype.hasobject:
        return None
    return hashlib.blake2b(np.ascontiguousarray(value).view(np.uint8).data).digest()


def views_of(arrays: Iterable[Any], owners: Iterable[int]) -> tuple[dict[int, tuple[Any, int]], set[int]]:
    """The arrays that lie in the memory of another one, by their ids, with that one and the distance in bytes
    from its beginning; and those that share memory in another way.

    ``owners``: the ids of arrays that others are seen as parts of, where both have the same memory.
    """
    first = set(owners)
    placed = [(*byte_bounds(each), each) for each in arrays if each.size]
    placed.sort(key=lambda found: (found[0], -found[1], id(found[2]) not in first, found[2].base is not None))
    views: dict[int, tuple[Any, int]] = {}
    mixed: set[int] = set()
    owner, owner_start, owner_end, reach = None, 0, 0, 0
    for start, end, each in placed:
        if owner is None or start >= reach:
            owner, owner_start, owner_end = each, start, end
        elif each is not owner:
            whole = owner.flags.c_contiguous or owner.flags.f_contiguous
            if whole and end <= owner_end and not each.dtype.hasobject and not owner.dtype.hasobject:
                views[id(each)] = owner, each.ctypes.data - owner_start
            else:
                mixed.add(id(each))
        reach = max(reach, end)
    return views, mixed
