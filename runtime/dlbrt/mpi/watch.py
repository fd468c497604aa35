"""Enforcement of a plan: what the plan takes as unchanged by the loop is looked at while the loop runs.

The compiler proves what it sees. Of a call that it has not seen it takes for granted that the call changes
nothing which iterations share. So each rank that runs iterations of such a loop notes, before its first one,
what they reach and what the plan does not store to: objects that travel by value as a pickle, arrays and
lists by rows, the state of Python's and numpy's random generators. Afterwards it looks again. What differs is
named by its path (``Particle.created``).

Law. Rank 0 begins a loop that it does not know yet with its first iterations alone, on the program's own
objects: a prefix of the sequential run. If they contradict the plan, it goes on alone, and the result is
exact. What shows later, on any rank, shows before anything is gathered: then rank 0 keeps what it did from
the first iteration on without a gap, and does the rest alone (`Undo`).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dlbrt.data.digests import Digests, changed_row, row_digests
from dlbrt.data.field import Field, put, take
from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array
from dlbrt.data.spans import Spans
from dlbrt.mpi.values.difference import changed_path
from dlbrt.mpi.values.packing import snapshot
from dlbrt.mpi.values.program_state import collect
from dlbrt.records import dataclass

#: How many calls a sentence names.
_NAMED_CALLS = 3


class ContradictionError(RuntimeError):
    """A call that the compiler has not seen has changed what the plan takes as unchanged, past undoing."""


@dataclass(frozen=True, slots=True)
class WatchedArray:
    """An array, its name, the fields that store to it, and the digests of its rows as they were."""

    name: str
    array: Array
    axis: int
    stores: tuple[Field, ...]
    before: Digests


class Watch:
    """What one rank's iterations reach and the plan takes as unchanged, as it is when this is made.

    ``values`` are objects by name; ``slots`` the arrays and lists of the loop, ``fields`` those of its table;
    ``apart`` are the identities of slots that are not looked at.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        slots: Sequence[Any],
        fields: Sequence[Field],
        apart: Iterable[int] = (),
        held: Spans | None = None,
    ) -> None:
        self._values, self._slots = values, slots
        apart = set(apart)
        self._lists = {
            field.name or "the sequence that the loop runs over": (field, _rows_held(field, held))
            for field in fields
            if type(field.data) is list and not field.spec.stores
        }
        self._arrays = [_watched(value, values, fields) for value in slots if _is_plain(value, fields, apart)]
        self._before = self._snapshot()

    def contradiction(self, done: Spans, received: Sequence[Spans] = ()) -> str | None:
        """What has changed though the plan says that iterations ``done`` do not change it; None if nothing.

        Rows of the iterations ``received`` have come from other ranks since.
        """
        for each in self._arrays:
            stored = [field.stored(done) for field in each.stores]
            come = [field.needed(spans) for field in each.stores for spans in received]
            row = changed_row(each.before, row_digests(each.array, each.axis), (*stored, *come))
            if row is not None:
                return f"row {row} of {each.name}" if each.array.ndim else each.name
        after = self._snapshot()
        if after == self._before:
            return None
        if after is None or self._before is None:
            return "something that can no longer be sent to other ranks"
        return changed_path(self._before, after)

    def _snapshot(self) -> bytes | None:
        """A pickle of everything but the arrays; None where some object cannot be pickled."""
        lists = {
            name: {row: field.data[row] for run in rows for row in run if row < len(field.data)}
            for name, (field, rows) in self._lists.items()
        }
        try:
            return snapshot({**self._values, **_state(), **lists}, self._slots)
        except Exception:  # objects' own pickling hooks may raise anything
            return None


def calls_named(calls: Mapping[str, int]) -> str:
    """The calls that a plan takes on trust, with their lines, for a sentence."""
    named = [f"{call}(..) in line {line}" for call, line in calls.items()]
    more = f" and {len(named) - _NAMED_CALLS} more" if len(named) > _NAMED_CALLS else ""
    return ", ".join(named[:_NAMED_CALLS]) + more


def _state() -> dict[str, Any]:
    """What bodies may change of the interpreter and its modules, by name."""
    found: dict[str, Any] = {
        f"{module}.{name}": value for module, values in collect().items() for name, value in values.items()
    }
    if (random := sys.modules.get("random")) is not None and hasattr(random, "getstate"):
        found["the state of the module random"] = random.getstate()
    if (legacy := sys.modules.get("numpy.random")) is not None:
        name, keys, *rest = legacy.get_state(legacy=True)
        found["the state of numpy.random"] = (name, keys.tobytes(), *rest)
    found["os.environ"] = dict(os.environ)
    found["the current directory"] = os.getcwd()
    found["np.geterr()"] = np.geterr()
    return found


def _is_plain(value: Any, fields: Sequence[Field], apart: set[int]) -> bool:
    """Whether a slot holds an array that is looked at by rows."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject or id(value) in apart:
        return False
    return not any(field.by_elements for field in fields if field.data is value)


def _watched(array: Array, values: Mapping[str, Any], fields: Sequence[Field]) -> WatchedArray:
    own = [field for field in fields if field.data is array]
    stores = tuple(field for field in own if field.spec.stores)
    axis = stores[0].axis if stores else 0
    names = (field.name for field in own if field.name)
    name = next(names, None) or next((n for n, v in values.items() if v is array), "an array")
    return WatchedArray(name, array, axis, stores, row_digests(array, axis))


def _rows_held(field: Field, held: Spans | None) -> Rows:
    """The rows of a list that this rank has: all of them at rank 0."""
    if held is None or not field.by_rows:
        return (range(field.length),)
    return field.needed(held)


class Undo:
    """Rows at rank 0 as they were before iterations that do not continue its first ones without a gap.

    Rank 0 works on the program's own arrays. If the plan is contradicted, iterations after the gap are done
    again, so what they have stored to must be as before.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = [field for field in fields if field.spec.stores]
        self._kept: list[tuple[Field, Rows, Any]] = []
        self.possible = not any(
            field.spec.in_place and isinstance(field.data, list) for field in self._fields
        )

    def keep(self, positions: range) -> None:
        """Keep what iterations at these positions are about to store to."""
        for field in self._fields:
            if field.by_elements:
                continue  # the twin of the whole field is kept anyway
            rows = field.stored(Spans.of(positions))
            if isinstance(field.data, list):
                kept: Any = [field.data[row] for run in rows for row in run]
            else:
                kept = take(field.data, field.axis, rows).copy() if rows else None
            self._kept.append((field, rows, kept))

    def undo(self) -> None:
        """Restore what has been kept, the latest first."""
        for field, rows, kept in reversed(self._kept):
            if isinstance(field.data, list):
                for row, element in zip((row for run in rows for row in run), kept, strict=True):
                    field.data[row] = element
            elif rows:
                put(field.data, field.axis, rows, kept)
        self._kept.clear()
