"""Which arrays an object reaches: those that code which is given the object may read or change.

Containers, instances and closures are walked by the references that the interpreter itself knows. A function
of the program also reaches the globals that its code names, as do the functions it calls; a function of a
library is taken to reach its arguments alone. Modules and classes of libraries are not entered. Where an
object's reach cannot be determined (it looks names up at run time, or it is too large) it is everything.
"""

from __future__ import annotations

import builtins
import contextvars
import datetime
import decimal
import gc
import re
import signal
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dlbrt.data.memory import Array
from dlbrt.mpi.values.kernels import global_names
from dlbrt.mpi.values.program_modules import is_module_of_program, is_of_program
from dlbrt.records import dataclass

#: Types without references to anything that changes.
_PLAIN = frozenset({
    int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice,
    types.BuiltinFunctionType, types.CodeType, np.ufunc,
})  # fmt: skip

#: The flag of types that show the garbage collector what they refer to.
_TPFLAGS_HAVE_GC = 1 << 14

#: Types without that flag which refer to nothing that changes.
_LEAVES = (
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
    *(decimal.Decimal, re.Pattern, re.Match, type(threading.Lock())),
)

#: Types without code of their own.
_CONTAINERS = frozenset({list, tuple, dict, set, frozenset, np.ndarray, bytearray, types.MethodType})

#: Functions that find values by names made at run time.
_BY_NAME = (
    *(eval, exec, globals, locals, vars, compile, __import__, breakpoint, sys._getframe),
    *(gc.get_objects, gc.get_referrers, gc.get_referents),
)
_LIBRARY_BY_NAME = frozenset({
    ("inspect", "currentframe"), ("inspect", "stack"), ("inspect", "getouterframes"),
    ("importlib", "import_module"), ("runpy", "run_path"), ("runpy", "run_module"),
})  # fmt: skip
_NAMES_BY_NAME = frozenset({"eval", "exec", "globals", "locals", "vars", "__import__", "_getframe"})

#: Objects visited before the reach is taken to be everything.
_MAX_OBJECTS = 20_000


@dataclass(frozen=True, slots=True)
class Reach:
    """The arrays that an object reaches; ``everything``: it may reach any others as well.

    ``active``: it has code of the program or of a library behind it, which may change what it reaches when
    it is merely read (a generator, an operator of a class).
    """

    arrays: tuple[Array, ...] = ()
    everything: bool = False
    active: bool = False


class Rows:
    """A value that calls ``see`` when it is subscripted; ``changed``: what is read is changed as well."""

    __slots__ = ("_changed", "_see", "_value")

    def __init__(self, see: Callable[..., None], value: Any, changed: bool) -> None:
        self._see, self._value, self._changed = see, value, changed

    def __getitem__(self, key: Any) -> Any:
        self._see(self._value, _subscripts(key), writing=self._changed)
        return self._value[key]

    def __setitem__(self, key: Any, new: Any) -> None:
        self._see(self._value, _subscripts(key), writing=True)
        self._value[key] = new

    def __delitem__(self, key: Any) -> None:
        self._see(self._value, _subscripts(key), writing=True)
        del self._value[key]


def _subscripts(key: Any) -> tuple[Any, ...]:
    """A key as a tuple of at least one subscript."""
    return key if type(key) is tuple and key else (key,)


def is_plain(value: object) -> bool:
    """Whether a value is a number, text or the like, in which no array can be reached."""
    kind = type(value)
    if kind in weakref.ProxyTypes:
        return False  # asking for its class would fail where its object is gone
    if kind in _PLAIN:
        return not isinstance(value, types.BuiltinFunctionType) or _is_free(value)
    if isinstance(value, types.ModuleType):
        return not is_module_of_program(value)
    if isinstance(value, np.generic | np.dtype):
        return not isinstance(value, np.object_ | np.void)
    return kind in (tuple, frozenset) and all(map(is_plain, value))  # type: ignore[call-overload]


def reach_of(value: object) -> Reach:
    """What a value reaches."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return Reach((value,))
    if is_plain(value):
        return Reach()
    return _Walk().over(value)


def reached_asynchronously() -> Reach:
    """What code of the program reaches that may run at any time, without a call.

    Handlers of signals and of log records, replacements of standard output, other threads, and the like.
    """
    signals = [signal.getsignal(number) for number in signal.valid_signals()]
    streams = [sys.stdout, sys.stderr, sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()]
    others = [np.geterrcall(), warnings.showwarning]
    threads = [each for each in threading.enumerate() if each is not threading.current_thread()]
    # A finalizer does not reach the object that it is for: that is gone when it runs.
    finalizers = [each.peek() for each in getattr(weakref.finalize, "_registry", ())]
    called = [found[1:] for found in finalizers if found is not None and not _frees_code(found[1])]
    return reach_of([*signals, *streams, *others, *_log_handlers(), *called, *threads])


def _frees_code(finalizer: object) -> bool:
    """Whether a finalizer is one of numba's, which give compiled code free."""
    return str(getattr(finalizer, "__module__", "")).startswith("numba.")


def _log_handlers() -> Iterator[object]:
    """The handlers and filters of all loggers, if the program logs."""
    logging = sys.modules.get("logging")
    if logging is not None:
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            yield from getattr(logger, "handlers", ())
            yield from getattr(logger, "filters", ())


def _is_free(function: types.BuiltinFunctionType) -> bool:
    """Whether a built-in function is bound to no object and looks nothing up by name."""
    owner = function.__self__
    return (owner is None or isinstance(owner, types.ModuleType)) and function not in _BY_NAME


def _is_dead(proxy: object) -> bool:
    """Whether the object of a weak proxy is gone."""
    try:
        return isinstance(proxy, type(None))  # asks for the object's class
    except ReferenceError:
        return True


class _Walk:
    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._waiting: list[Any] = []
        self._arrays: list[Array] = []
        self._active = False

    def over(self, value: object) -> Reach:
        self._waiting.append(value)
        looked_at = 0
        while self._waiting:
            each = self._waiting.pop()
            if type(each) in weakref.ProxyTypes:
                if _is_dead(each):
                    continue
                return Reach(everything=True, active=True)
            if id(each) in self._seen or is_plain(each):
                continue
            self._seen.add(id(each))
            looked_at += 1
            if looked_at > _MAX_OBJECTS or not self._enter(each):
                return Reach(everything=True, active=True)
        return Reach(tuple(self._arrays), active=self._active)

    def _enter(self, value: Any) -> bool:
        """Visit one object; False if its reach cannot be determined."""
        if isinstance(value, np.ndarray):
            self._arrays.append(value)
            self._waiting += [value.base] if type(value.base) is not np.ndarray else []
            self._waiting += value.ravel().tolist() if value.dtype == object else gc.get_referents(value)
            return True
        if isinstance(value, memoryview | weakref.ref):
            self._waiting.append(value.obj if isinstance(value, memoryview) else value())
            return True
        if isinstance(value, types.ModuleType):
            self._active = True
            self._waiting += list(vars(value).values())
            return True
        if isinstance(value, types.BuiltinFunctionType):
            return value not in _BY_NAME and self._refer(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            self._waiting += [*vars(value).values(), *value.__bases__] if is_of_program(value) else []
            return True
        if isinstance(value, dict) and "__spec__" in value and "__name__" in value:
            return False  # the globals of a module: a frame leads to them
        return self._refer(value)

    def _refer(self, value: Any) -> bool:
        self._active = self._active or type(value) not in _CONTAINERS
        if isinstance(value, contextvars.ContextVar):
            self._waiting.append(value.get(None))
        elif isinstance(value, threading.local):
            self._waiting.append(vars(value))
        elif not type(value).__flags__ & _TPFLAGS_HAVE_GC:
            return self._untold(value)
        self._memory(value)
        self._waiting += gc.get_referents(value)
        return True

    def _untold(self, value: Any) -> bool:
        """Visit an object whose type does not show what it refers to; False where that is not known."""
        if isinstance(value, np.flatiter | np.void):
            self._waiting.append(value.base)
        elif isinstance(value, bytearray):
            self._memory(value)
        else:
            return isinstance(value, _LEAVES)
        return True

    def _memory(self, value: Any) -> None:
        """The memory that an object exports: arrays may view it."""
        try:
            lent = memoryview(value)
        except (TypeError, BufferError, ValueError):
            return
        if lent.nbytes and lent.contiguous:
            self._arrays.append(np.frombuffer(lent, np.uint8))

    def _function(self, function: types.FunctionType) -> bool:
        cells = (cell for cell in function.__closure__ or () if _is_full(cell))
        self._waiting += [cell.cell_contents for cell in cells]
        self._waiting += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        self._waiting += list(vars(function).values())
        if not is_of_program(function):
            return (function.__module__, function.__name__) not in _LIBRARY_BY_NAME
        self._active = True
        names = set(global_names(function.__code__))
        self._waiting += [function.__globals__[name] for name in names if name in function.__globals__]
        return not any(name in _NAMES_BY_NAME and _is_builtin(function, name) for name in names)


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # the name has no value yet
        return False


def _is_builtin(function: types.FunctionType, name: str) -> bool:
    return function.__globals__.get(name, getattr(builtins, name, sys)) in (*_BY_NAME, sys)
