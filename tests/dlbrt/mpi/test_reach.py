"""What an object reaches."""

from __future__ import annotations

import array
import contextvars
import ctypes
import datetime
import decimal
import functools
import gc
import importlib
import inspect
import io
import mmap
import re
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.routines.reach import is_plain, reach_of, reached_asynchronously
from dlbrt.mpi.values import program_modules as modules

TABLE = np.arange(6.0)


@pytest.fixture(autouse=True)
def _of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "_own_names", lambda _: (__name__,))


class Holder:
    """An object of the program."""

    scale = 2.0

    def __init__(self, value: Any) -> None:
        self.value = value

    def total(self) -> float:
        return float(self.value.sum())

    def of_the_table(self) -> float:
        return float(TABLE.sum())


def reads_a_global() -> float:
    return float(TABLE[0])


def calls_another() -> float:
    return reads_a_global()


def reads_nothing(x: float) -> float:
    return x + 1


def names_at_run_time() -> Any:
    return globals()["TA" + "BLE"]


def drawn(array: Any) -> Iterator[float]:
    yield float(array[0])


def closure(array: Any) -> Callable[[], float]:
    return lambda: float(array[0])


PLAIN: list[object] = [
    *(1, 2.5, 1j, True, "text", b"x", None, ..., range(3), slice(1)),
    *(np.float64(1), np.int8(2), np.dtype("f8"), np.add, len, sys, np),
    (1, "a", (2.0, None)),
    frozenset({1}),
]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_values_reach_nothing(value: object) -> None:
    assert is_plain(value)
    reach = reach_of(value)
    assert not reach.arrays
    assert not reach.everything
    assert not reach.active


@pytest.mark.parametrize("value", [[], {}, set(), np.zeros(2), object(), eval, [].append, (1, [])])
def test_what_may_hold_an_array_is_not_plain(value: object) -> None:
    assert not is_plain(value)


INSIDE: dict[str, Callable[[Any], Any]] = {
    "itself": lambda a: a,
    "list": lambda a: [1, [a]],
    "tuple": lambda a: (1, a),
    "dictionary": lambda a: {"k": {"l": a}},
    "key of a set": lambda a: {(1, Holder(a))},
    "deque": lambda a: deque([a]),
    "attribute": lambda a: Holder([a]),
    "bound method": lambda a: Holder(a).total,
    "array's own method": lambda a: a.sum,
    "partial": lambda a: functools.partial(reads_nothing, a),
    "closure": closure,
    "default": lambda a: types.FunctionType(reads_nothing.__code__, {}, "f", (a,)),
    "generator": drawn,
    "iterator": iter,
    "map": lambda a: map(float, a),
    "memoryview": memoryview,
    "weak reference": weakref.ref,
    "array of objects": lambda a: np.array([None, a], dtype=object),
    "flat iterator": lambda a: a.flat,
    "enumeration": np.ndenumerate,
    "masked array": lambda a: np.ma.masked_array(a),
    "context variable": lambda a: in_a_context(a),
    "simple namespace": lambda a: types.SimpleNamespace(x=a),
}


LENDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bytearray": lambda: lent(bytearray(80)),
    "array": lambda: lent(array.array("d", [0.0] * 10)),
    "mapped memory": lambda: lent(mmap.mmap(-1, 80)),
    "array of C": lambda: lent((ctypes.c_double * 10)()),
    "record": lambda: (record := np.zeros(3, dtype=[("a", "f8")])[1:2], record[0]),
}


def lent(owner: Any) -> tuple[Any, Any]:
    """An array in an object's memory, and the object."""
    return np.frombuffer(owner), owner


def in_a_context(value: Any) -> contextvars.ContextVar[Any]:
    found: contextvars.ContextVar[Any] = contextvars.ContextVar("found")
    found.set(value)
    return found


@pytest.mark.parametrize("name", LENDERS)
def test_memory_that_is_lent_is_found(name: str) -> None:
    looked_at, owner = LENDERS[name]()
    reach = reach_of([owner])
    assert any(np.shares_memory(found, looked_at) for found in reach.arrays)


def test_types_that_tell_nothing_reach_everything() -> None:
    assert reach_of(np.broadcast(TABLE, 1.0)).everything
    for leaf in (datetime.datetime(2011, 3, 29), decimal.Decimal(1), re.compile("x")):
        assert not reach_of(leaf).everything


def test_what_runs_unasked_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    class Looking(io.StringIO):
        def write(self, text: str) -> int:
            return len(text) + int(TABLE[0])

    Looking.__module__ = Looking.write.__module__ = __name__
    monkeypatch.setattr(sys, "stdout", Looking())
    reach = reached_asynchronously()
    assert reach.everything or any(found is TABLE for found in reach.arrays)


@pytest.mark.parametrize("name", INSIDE)
def test_arrays_inside_are_found(name: str) -> None:
    array = np.arange(3.0)
    reach = reach_of(INSIDE[name](array))
    assert reach.everything or any(np.shares_memory(found, array) for found in reach.arrays if found.size)
    assert not reach.everything


def test_functions_reach_the_globals_that_their_code_names() -> None:
    for function in (reads_a_global, calls_another, Holder(0).of_the_table):
        reach = reach_of(function)
        assert any(found is TABLE for found in reach.arrays)
        assert reach.active
    assert not reach_of(reads_nothing).arrays


def test_names_found_at_run_time_reach_everything() -> None:
    assert reach_of(names_at_run_time).everything
    assert reach_of(eval).everything
    assert reach_of([exec]).everything


def test_modules_of_the_program_reach_their_names() -> None:
    module = types.ModuleType(__name__)
    vars(module)["table"] = TABLE
    reach = reach_of(module)
    assert any(found is TABLE for found in reach.arrays)
    assert reach.active


def test_mere_containers_are_not_active() -> None:
    assert not reach_of([{"a": (TABLE, 1)}]).active
    for value in (drawn(TABLE), Holder(TABLE), reads_nothing, io.StringIO()):
        assert reach_of(value).active


def test_too_much_to_walk_reaches_everything() -> None:
    assert reach_of([[] for _ in range(30_000)]).everything


def test_functions_that_look_at_the_program_reach_everything() -> None:
    for function in (gc.get_objects, gc.get_referrers, inspect.currentframe, importlib.import_module):
        assert reach_of(function).everything
    assert not reach_of(inspect.isclass).everything


def test_threads_that_wait_are_looked_at() -> None:
    awake = threading.Event()

    def watch(array: Any) -> None:
        awake.wait(60)
        array.sum()

    thread = threading.Thread(target=watch, args=(TABLE,), daemon=True)
    thread.start()
    try:
        reach = reached_asynchronously()
        assert reach.everything or any(found is TABLE for found in reach.arrays)
    finally:
        awake.set()
        thread.join()
