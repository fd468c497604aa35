"""Objects that stay at rank 0 because they cannot leave it, and what stands for them on the other ranks.

An open file, a lock or a random generator has no copy that would be the same thing. Where the names in the
body do not lead to such an object (`dlbrt.mpi.values.uses`), the other ranks get a `LeftBehind` in its place.

Law. Code that is not seen may come to it all the same. So every operation on it raises and is noted by the
rank; code of the program may catch the exception, but not the note, and rank 0 does not accept what that rank
has done. Holding one, handing it on and asking whether it ``is`` another object are no operations: it has a
number among the objects that all ranks know, so rank 0 gets its own object back.

Rank 0 itself works on the program's own objects. What its iterations do to an object left behind shows in the
object's state (`state_of`), as far as it has one that can be compared.
"""

from __future__ import annotations

import io
import sys
import threading
from typing import Any, NoReturn

_LOCKS = (type(threading.Lock()), type(threading.RLock()))

#: Random generators, by module: drawing from one changes it, as taking from an iterator does.
_GENERATORS = {"random": ("Random",), "numpy.random": ("Generator", "BitGenerator", "RandomState")}

#: What makes and ends objects and their classes, which is no use of one.
_OF_CLASSES = {"__new__", "__init__", "__del__", "__init_subclass__", "__subclasshook__", "__class_getitem__"}
_OF_CLASSES |= {"__class__", "__dict__", "__doc__", "__hash__"}

#: Operators that none of the built-in types has.
_OPERATORS = {"__call__", "__next__", "__bool__", "__index__", "__matmul__", "__rmatmul__", "__imatmul__"}
_OPERATORS |= {"__array__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__await__", "__fspath__"}

#: The paths of the objects left behind that this rank's iterations have used.
_used: list[str] = []


class LeftBehindError(RuntimeError):
    """An iteration uses an object that has stayed at rank 0."""


class CannotLeaveError(Exception):
    """Iterations use an object that cannot leave rank 0; the text names it and says what to do."""


def _use(self: object, *_: object, **__: object) -> NoReturn:
    path = path_of(self)
    _used.append(path)
    raise LeftBehindError(f"{path} has stayed at rank 0, and this iteration uses it")


def _operators() -> dict[str, Any]:
    """Every special method of the built-in types that an object may be used by."""
    kinds = (int, float, complex, str, bytes, list, dict, set, io.TextIOBase, memoryview)
    names = {name for kind in kinds for name in dir(kind) if name[:2] == "__" == name[-2:]} - _OF_CLASSES
    return {**dict.fromkeys(sorted(names | _OPERATORS), _use), "__hash__": object.__hash__}


#: Stands for the object at ``path``; that it has a hash lets it be the key of a dictionary.
LeftBehind = type("LeftBehind", (), {**_operators(), "__slots__": ("path",), "__module__": __name__})


def stand_in(path: str) -> Any:
    """What stands on another rank for the object at ``path``."""
    made: Any = object.__new__(LeftBehind)
    object.__setattr__(made, "path", path)
    return made


def path_of(made: object) -> str:
    """The path of the object that a `LeftBehind` stands for."""
    return str(object.__getattribute__(made, "path"))


def forget_uses() -> None:
    """A loop begins on this rank."""
    _used.clear()


def use() -> str | None:
    """The first object left behind that this rank's iterations have used, if any."""
    return f"{_used[0]} (used by iterations, though it cannot leave rank 0)" if _used else None


def check_uses() -> None:
    """LeftBehindError where this rank's iterations have used an object left behind, caught or not."""
    if _used:
        raise LeftBehindError(f"its iterations use {_used[0]}, which cannot leave rank 0")


def generators() -> tuple[type, ...]:
    """The classes of random generators whose modules are imported, so that there may be objects of them."""
    found = ((sys.modules.get(module), name) for module, names in _GENERATORS.items() for name in names)
    kinds = (getattr(module, name, None) for module, name in found)  # a file of the program may hide one
    return tuple(kind for kind in kinds if isinstance(kind, type))


def state_of(value: Any) -> Any:
    """What a use of the object changes, to be compared with what it is later; None where nothing is known.

    A lock has no state between two iterations that use it properly. What is written to standard output, by
    whatever name, is noticed there (`dlbrt.mpi.output.standard_output`); its position changes meanwhile.
    """
    if isinstance(value, _LOCKS):
        return ()
    if any(value is each for each in _standard_output()):
        return "a name for standard output"
    try:
        if isinstance(value, generators()):
            return _of_generator(value)
        if isinstance(value, io.IOBase) and type(value).__module__ == "_io":
            return "closed" if value.closed else value.tell()
    except Exception:  # a pipe has no position, a generator may draw from the system
        return None
    return None


def _standard_output() -> list[Any]:
    """The streams of Python's that lead to standard output."""
    text = sys.__stdout__
    binary = getattr(text, "buffer", None)
    return [each for each in (text, binary, getattr(binary, "raw", None)) if each is not None]


def _of_generator(value: Any) -> Any:
    for get in ("getstate", "get_state"):
        if hasattr(value, get):
            return getattr(value, get)()
    return getattr(value, "bit_generator", value).state


def help_for(value: Any) -> str:
    """What a user may do about an object that iterations use and that cannot leave rank 0."""
    if isinstance(value, generators()):
        return "make one generator per iteration, as np.random.default_rng((seed, i)) does"
    if isinstance(value, io.IOBase):
        return "read the file before the loop, or open it in the iteration"
    if isinstance(value, (*_LOCKS, threading.Condition)) or type(value).__module__ == "_multiprocessing":
        return "a lock is not needed, since iterations do not share memory"
    if hasattr(type(value), "__next__"):
        return "read it into a list before the loop (items = list(...)) and use items[i]"
    return "make it in the iteration, or take what iterations need of it before the loop"
