"""What stands for an object that has stayed at rank 0, and which objects stay."""

from __future__ import annotations

import copy
import functools
import io
import operator
import os
import pickle
import queue
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.values import left_behind
from dlbrt.mpi.values.caches import KeptResults
from dlbrt.mpi.values.departure import Departure
from dlbrt.mpi.values.left_behind import CannotLeaveError, LeftBehindError, help_for, stand_in, state_of
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.packing import Packed, pack, unpack
from dlbrt.mpi.values.pickles import met_by_pickler
from dlbrt.mpi.values.snapshots import snapshot


@pytest.fixture(autouse=True)
def _no_uses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("dlbrt.mpi.values.departure.collect", dict)
    left_behind.forget_uses()
    yield
    left_behind.forget_uses()


OPERATIONS: dict[str, Callable[[Any], object]] = {
    "attribute": lambda s: s.anything,
    "attribute set": lambda s: setattr(s, "anything", 1),
    "attribute asked for": lambda s: hasattr(s, "anything"),
    "call": lambda s: s(),
    "with": lambda s: s.__enter__(),
    "next": next,
    "iter": list,
    "truth": bool,
    "length": len,
    "item": lambda s: s[0],
    "item set": lambda s: operator.setitem(s, 0, 1),
    "contains": lambda s: 1 in s,
    "equal": lambda s: s == 1,
    "unequal": lambda s: s != 1,
    "less": lambda s: s < 1,
    "sum": lambda s: s + 1,
    "sum from the right": lambda s: 1 + s,
    "sum in place": lambda s: operator.iadd(s, 1),
    "number": float,
    "index": operator.index,
    "text": str,
    "shown": repr,
    "format": lambda s: f"{s}",
    "isinstance": lambda s: isinstance(s, io.IOBase),
    "copy": copy.copy,
    "pickle": pickle.dumps,
    "array": lambda s: np.asarray(s, dtype=float),
    "path": lambda s: Path(s),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_raises_and_is_noted(operation: str) -> None:
    with pytest.raises(LeftBehindError, match=r"self\.log has stayed at rank 0"):
        OPERATIONS[operation](stand_in("self.log"))
    with pytest.raises(LeftBehindError, match=r"its iterations use self\.log, which cannot leave rank 0"):
        left_behind.check_uses()


def test_holding_one_is_no_operation() -> None:
    held = stand_in("self.log")
    assert held is not None
    assert {held: 1}[held] == 1
    assert [held][0] is held
    assert left_behind.path_of(held) == "self.log"
    del held
    left_behind.check_uses()


def test_states_show_uses_of_generators_and_files(tmp_path: Path) -> None:
    file = (tmp_path / "text").open("w+")
    for value, use in (
        (np.random.default_rng(1), lambda v: v.random()),
        (np.random.RandomState(1), lambda v: v.rand()),
        (random.Random(1), lambda v: v.random()),
        (file, lambda v: v.write("x")),
    ):
        before = pickle.dumps(state_of(value))
        assert pickle.dumps(state_of(value)) == before
        use(value)
        assert pickle.dumps(state_of(value)) != before
    file.close()
    assert state_of(file) == "closed"
    assert state_of(threading.Lock()) == ()
    assert state_of(iter([1])) is None
    assert state_of(random.SystemRandom()) is None
    with os.fdopen(os.pipe()[1], "w") as pipe:
        assert state_of(pipe) is None


def test_help_fits() -> None:
    assert "one generator per iteration" in help_for(random.Random())
    assert "lock is not needed" in help_for(threading.RLock())
    assert "open it in the iteration" in help_for(sys.__stderr__)
    assert "into a list" in help_for(iter([]))
    assert "before the loop" in help_for(object())


class Sim:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Careless(Sim):
    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        state["lock"].acquire()


def packed_beside(sim: Any, kernel: Callable[..., object], *, lean: bool = False) -> tuple[Any, Departure]:
    departure, again = Departure(kernel, {"a": sim}), True
    departure.lean = lean
    while again:
        packed = Packed()
        pack(sim, packed, {}, KnownObjects(), frozenset(), departure)
        again = departure.keep_what_reads(met_by_pickler(packed.pickler))
    value, _ = unpack(packed.body, packed.slots, KnownObjects())
    left_behind.check_uses()
    return value, departure


def test_what_is_not_used_is_replaced_by_one_object_wherever_it_is_met() -> None:
    lock = threading.Lock()
    sim = Sim(A=np.arange(3.0), lock=lock, parts=[Sim(lock=lock)], rng=random.Random(1), jobs=queue.Queue())
    sim.write = io.StringIO().write
    copied, departure = packed_beside(sim, lambda a: a.A)
    assert copied.A is sim.A
    assert left_behind.path_of(copied.lock) == "a.lock"
    assert copied.parts[0].lock is copied.lock
    assert left_behind.path_of(copied.rng) == "a.rng"
    assert [value for value in departure.behind if value is lock] == [lock]
    assert departure.with_state == "a.rng"
    with pytest.raises(LeftBehindError):
        copied.jobs.put(1)


def test_what_is_used_is_named() -> None:
    with pytest.raises(
        CannotLeaveError, match=r"a\.cfg\['log'\] cannot go to other ranks \(.*\); read the file"
    ):
        packed_beside(Sim(cfg={"log": sys.__stderr__}), lambda a: a.cfg["log"])


def test_an_object_that_reads_another_stays_with_it() -> None:
    careless = Careless(lock=threading.Lock())
    copied, _ = packed_beside(Sim(n=1, careless=careless, call=threading.Lock().acquire), lambda a: a.n)
    assert copied.n == 1
    assert left_behind.path_of(copied.careless) == "a.careless"
    assert left_behind.path_of(copied.call) == "a.call"


def test_an_object_that_reads_another_cannot_leave_where_it_is_used() -> None:
    careless = Careless(lock=threading.Lock())
    said = r"a\.careless cannot .* \(a\.careless\.lock has to stay.*\); let Careless\.__getstate__"
    with pytest.raises(CannotLeaveError, match=said):
        packed_beside(Sim(careless=careless), lambda a: a.careless)


LARGE: dict[str, Callable[[], Any]] = {
    "an array": lambda: np.zeros(1000),
    "a list": lambda: list(range(5000)),
    "a dictionary": lambda: dict.fromkeys(range(5000)),
    "a text": lambda: "x" * 5000,
    "a tuple of objects": lambda: tuple([threading.Event] * 5000),
}


@pytest.mark.parametrize("kind", LARGE)
def test_large_objects_stay_where_no_name_leads_to_them(kind: str) -> None:
    sim = Sim(A=np.arange(3.0), large=LARGE[kind](), small=[1], inner=Sim(large=LARGE[kind](), n=1))
    copied, departure = packed_beside(sim, lambda a: (a.A, a.inner.n), lean=True)
    assert (copied.small, copied.inner.n, departure.lightened) == ([1], 1, True)
    assert left_behind.path_of(copied.large) == "a.large"
    assert not departure.behind
    with pytest.raises(LeftBehindError):
        len(copied.inner.large)


@pytest.mark.parametrize("kind", LARGE)
def test_large_objects_travel_where_a_name_leads_to_them(kind: str) -> None:
    sim = Sim(large=LARGE[kind](), n=1)
    copied, departure = packed_beside(sim, lambda a: (a.n, a.large), lean=True)
    assert len(copied.large) == len(sim.large)
    copied, _ = packed_beside(sim, lambda a: a.n)
    assert len(copied.large) == len(sim.large)
    assert not departure.lightened


class Reversed(Sim):
    def __getstate__(self) -> dict[str, Any]:
        return {"large": list(reversed(self.large))}


def test_what_pickling_makes_travels() -> None:
    copied, _ = packed_beside(Reversed(large=list(range(5000))), lambda a: a.n, lean=True)
    assert copied.large[0] == 4999


def test_looking_for_caches_is_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("of_the_program")
    module.out, module.cached = stand_in("of_the_program.out"), functools.lru_cache(lambda k: [k])  # type: ignore[attr-defined]
    monkeypatch.setattr("dlbrt.mpi.values.caches.program_modules", lambda: [module])
    kept = module.cached(3)
    assert id(kept) in KeptResults().now()
    left_behind.check_uses()


def test_uses_since_the_loop_began() -> None:
    rng = random.Random(1)
    _, departure = packed_beside(Sim(n=1, rng=rng), lambda a: a.n)
    departure.begin()
    assert not departure.may_have_been_used()
    rng.random()
    assert departure.may_have_been_used()


def test_a_snapshot_has_the_states_of_what_stays() -> None:
    rng, lock = random.Random(1), threading.Lock()
    values, behind = {"a": Sim(rng=rng, lock=lock)}, [rng, lock]
    before = snapshot(values, [], behind)
    assert snapshot(values, [], behind) == before
    rng.random()
    assert snapshot(values, [], behind) != before
    with pytest.raises(TypeError, match="lock"):
        snapshot(values, [])
    before = snapshot({"a": rng}, [])
    assert snapshot({"a": rng}, []) == before
    rng.random()
    assert snapshot({"a": rng}, []) != before
    there = {"a": Sim(rng=stand_in("a.rng"))}
    assert snapshot(there, []) == snapshot(there, [])
    left_behind.check_uses()
