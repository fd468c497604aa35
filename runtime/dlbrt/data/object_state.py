"""The objects that an element of a list consists of, and their state, which is given back in place.

An iteration may change the element that belongs to it: attributes, keys, items, contents. On another rank it
does so to a copy. What comes back is the state of each object of the copy, and rank 0 gives it to the object
that it has: so every other reference to that object sees the change.

The objects are those of which the element consists when it comes, before it is changed (`parts_of`). Tuples,
and classes and functions of the program, are among them for their identity alone; they have no state.
"""

from __future__ import annotations

import contextlib
import copyreg
import enum
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from dlbrt.data.set_tables import copy_of, give_contents

#: Types of objects that no operation changes, and whose identity does not matter.
ATOMS = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range}
)
#: The same of modules that may not be imported.
_VALUES = {
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "decimal": frozenset({"Decimal"}),
    "fractions": frozenset({"Fraction"}),
    "pathlib": frozenset({"PosixPath", "PurePosixPath"}),
    "re": frozenset({"Pattern"}),
    "uuid": frozenset({"UUID"}),
}
_ATOMIC = (np.generic, np.dtype, types.ModuleType)
_NAMED = (type, types.FunctionType)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_HOOKS = ("__reduce_ex__", "__reduce__", "__getstate__", "__new__")
#: Hooks that plain classes lack; a finalizer would run for each copy.
_OWN_HOOKS = ("__setstate__", "__getnewargs__", "__getnewargs_ex__", "__del__")


class UnknownPartError(Exception):
    """An object whose state cannot be given back; the text names its type."""


def parts_of(element: Any) -> list[Any]:
    """The objects with an identity that an element consists of, itself first.

    UnknownPartError where there is one whose state is not known.
    """
    if type(element) in ATOMS:
        return []
    found: list[Any] = []
    seen: dict[int, Any] = {}  # held: what follows must not get their identities
    waiting = [element]
    while waiting:
        value = waiting.pop()
        if type(value) in ATOMS or id(value) in seen:
            continue
        seen[id(value)] = value
        held, counts = _held(value)
        if counts:
            found.append(value)
        waiting += reversed(held)
    return found


def is_mutable(part: Any) -> bool:
    """Whether a part has a state."""
    return not isinstance(part, (*_NAMED, tuple))


def _held(value: Any) -> tuple[list[Any], bool]:
    """The objects directly inside an object, and whether it counts as a part itself."""
    kind = type(value)
    if kind in (list, deque):
        return list(value), True
    if kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
        return list(value), True
    if kind in _DICTS:
        _check_keys(value, kind)
        return list(value.values()), True
    if kind in (set, frozenset):
        _check_keys(value, kind)
        return [], kind is set
    if kind is np.ndarray and not value.dtype.hasobject and value.flags.writeable:
        return [], True
    if kind is bytearray:
        return [], True
    if isinstance(value, _NAMED):
        return _closed_over(value), value.__module__ == "__main__" or "<locals>" in value.__qualname__
    if kind is types.BuiltinFunctionType and isinstance(value.__self__, types.ModuleType | None):
        return [], False
    if isinstance(value, enum.Enum):
        return [kind], False
    if _is_value(value):
        return [], False
    if (held := _generator(value)) is not None:
        return held, True
    if kind is types.SimpleNamespace or _is_plain(kind):  # type: ignore[arg-type]  # a class is hashable
        return [kind, *_attributes(value).values()], True
    raise UnknownPartError(kind.__name__)


def _is_value(value: Any) -> bool:
    kind = type(value)
    if isinstance(value, np.void):
        return False  # a row of a structured array, which can be stored to
    return isinstance(value, _ATOMIC) or kind.__name__ in _VALUES.get(kind.__module__, ())


def _of_numpy_random(value: Any, name: str) -> bool:
    """Whether a value is of a class of numpy.random, which may not be imported."""
    module = sys.modules.get("numpy.random")
    return module is not None and isinstance(value, getattr(module, name))


def _generator(value: Any) -> list[Any] | None:
    """What a random generator draws from, if it is one."""
    if _of_numpy_random(value, "Generator"):
        return [value.bit_generator]
    kind = type(value)
    known = (kind.__module__, kind.__name__) == ("random", "Random")
    return [] if known or _of_numpy_random(value, "BitGenerator") else None


def _closed_over(value: Any) -> list[Any]:
    """The values that a function holds; a class holds none that iterations may change."""
    found = list(getattr(value, "__defaults__", None) or ())
    for cell in getattr(value, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # a cell may be empty
            found.append(cell.cell_contents)
    return found


def _check_keys(keys: Iterable[Any], kind: type) -> None:
    """Keys are compared with others: they must be values, and in a set in no order of addresses."""
    for key in keys:
        if type(key) not in ATOMS and not isinstance(key, enum.Enum) and not _is_value(key):
            if type(key) not in (tuple, frozenset):
                raise UnknownPartError(f"{kind.__name__} with a key of type {type(key).__name__}")
            _check_keys(key, kind)


@cache
def _is_plain(kind: Any) -> bool:
    """Whether all state of its instances is in attributes, which they are pickled by."""
    own = [each for each in kind.__mro__ if each is not object]
    return (
        all(getattr(kind, hook) is getattr(object, hook) for hook in _HOOKS)
        and not any(hasattr(kind, hook) for hook in _OWN_HOOKS)
        and kind not in copyreg.dispatch_table
        and all(each.__dictoffset__ or "__slots__" in vars(each) for each in own)
        and bool(own)
        and not (kind.__module__ == "__main__" and any(n.startswith("_") and "__" in n for n in _slots(kind)))
    )


def _slots(kind: type) -> list[str]:
    """The names of the slots of a class, mangled, as pickle finds them."""
    names: list[str] = copyreg._slotnames(kind)  # type: ignore[attr-defined]
    return names


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an instance by name, those in slots last."""
    slots = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    own = {name: held for name, held in getattr(value, "__dict__", {}).items() if name not in slots}
    return own | slots


def state_of(part: Any) -> Any:
    """The state of a mutable part, for `restore`."""
    kind = type(part)
    if kind in _CONTAINERS:
        return _CONTAINERS[kind][0](part)
    if _of_numpy_random(part, "Generator"):
        return None
    if _generator(part) is None:
        return _attributes(part)
    return part.state if _of_numpy_random(part, "BitGenerator") else part.getstate()


def restore(part: Any, state: Any) -> None:
    """Give a part the state that its copy on another rank had."""
    if type(part) in _CONTAINERS:
        _CONTAINERS[type(part)][1](part, state)
    elif _generator(part) is None:
        _restore_attributes(part, state)
    elif _of_numpy_random(part, "BitGenerator"):
        part.state = state
    elif state is not None:
        part.setstate(state)


def _restore_attributes(part: Any, state: Mapping[str, Any]) -> None:
    slots = frozenset(_slots(type(part)))
    for name in slots - state.keys():
        if hasattr(part, name):
            object.__delattr__(part, name)
    own = {name: held for name, held in state.items() if name not in slots}
    if hasattr(part, "__dict__"):
        part.__dict__.clear()
        part.__dict__.update(own)
        own = {}
    for name, held in (own | {name: state[name] for name in slots & state.keys()}).items():
        object.__setattr__(part, name, held)


def _fill(part: Any, state: Any) -> None:
    part[:] = state


def _refill(part: Any, state: Any) -> None:
    part.clear()
    part.update(state)


def _extend(part: Any, state: Any) -> None:
    part.clear()
    part.extend(state)


def _array_state(part: Any) -> Any:
    return np.copy(part), part.flags.writeable


def _fill_array(part: Any, state: Any) -> None:
    elements, writeable = state
    if part.dtype != elements.dtype:
        part.dtype = elements.dtype
    if part.shape != elements.shape:
        part.resize(elements.shape, refcheck=False)
    part[...] = elements
    if part.flags.writeable != writeable:  # a view of an iterator's cannot be set at all
        part.flags.writeable = writeable


#: How the contents of a container are taken out, and put into another one.
_CONTAINERS: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any, Any], None]]] = {
    list: (list, _fill),
    deque: (list, _extend),
    set: (copy_of, give_contents),
    bytearray: (bytes, _fill),
    np.ndarray: (_array_state, _fill_array),
    dict: (dict, _refill),
    OrderedDict: (dict, _refill),
    defaultdict: (dict, _refill),
    Counter: (dict, _refill),
}
