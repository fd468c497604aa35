"""A field: one array or list of a loop with its distribution, seen as rows along one axis.

Which rows a set of iterations needs or stores to follows from the array table; how rows are taken out
of an array and put back is the same for scattering, moving and gathering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlbrt.contract import Distribution, Mode
from dlbrt.dist.footprint import IndexMap, Rows, count, rows_of, stores_are_distinct
from dlbrt.dist.memory import Array
from dlbrt.dist.space import Part
from dlbrt.dist.spans import Spans
from dlbrt.dist.spec import ArraySpec

__all__ = ["Field", "array_field", "has_rows", "part_field", "put", "put_element", "reached_whole", "take"]

#: Bytes that an element of a list is taken to have, in cost estimates only.
_OBJECT_BYTES = 64


@dataclass(frozen=True, slots=True)
class Field:
    """``data`` (numpy array or list) under ``name``, by an array spec or as a part of the space."""

    name: str
    data: Any
    spec: ArraySpec
    index: IndexMap
    backwards: bool = False

    @property
    def axis(self) -> int:
        """The distributed dimension."""
        return self.spec.axis or 0

    @property
    def length(self) -> int:
        """Rows along the axis."""
        return len(self.data) if isinstance(self.data, list) else int(self.data.shape[self.axis])

    @property
    def by_rows(self) -> bool:
        """Whether a rank holds the rows of its own iterations only."""
        return self.spec.distribution is not Distribution.WHOLE

    def whole(self) -> Field:
        """The same field, held whole by every rank."""
        return replace(self, spec=replace(self.spec, distribution=Distribution.WHOLE))

    @property
    def moves(self) -> bool:
        """Whether rows travel with the iterations (they do not where every rank holds all of them)."""
        return self.by_rows and self.spec.reads

    def needed(self, spans: Spans) -> Rows:
        """The rows whose contents iterations ``spans`` need."""
        return self._rows(spans, stored=False) if self.moves else ()

    def stored(self, spans: Spans) -> Rows:
        """The rows that iterations ``spans`` store to."""
        return self._rows(spans, stored=True) if self.spec.stores else ()

    def stores_are_distinct(self, n: int) -> bool:
        """Whether no two of the n iterations store to one row."""
        return not self.spec.stores or stores_are_distinct(n, self.index, self.spec.stored, self.length)

    def iteration_bytes(self) -> float:
        """About how many bytes move with one iteration."""
        rows = count(self.needed(Spans.of(range(1)))) if self.moves else 0
        if isinstance(self.data, list):
            return rows * _OBJECT_BYTES
        return float(rows * self.data.nbytes / max(1, self.length))

    def _rows(self, spans: Spans, *, stored: bool) -> Rows:
        if self.backwards:
            mirrored = Spans.of(*(_mirror(run, self.length) for run in spans.runs))
            return rows_of(mirrored, self.index, None, self.length)
        return rows_of(spans, self.index, self.spec.stored if stored else self.spec.rows, self.length)


def has_rows(data: Any) -> bool:
    """Whether rows of it can be sent: a list, or an array of plain numbers."""
    if isinstance(data, np.ndarray):
        return type(data) in (np.ndarray, np.memmap) and not data.dtype.hasobject
    return type(data) is list


def array_field(name: str, data: Any, spec: ArraySpec, index: IndexMap) -> Field:
    """The field of a row of the array table.

    A list that is stored to goes by rows even where it is to be whole on every rank: what a rank holds
    of it beyond its rows cannot be seen by a body that was proved independent.
    """
    if isinstance(data, list) and spec.stores:
        spec = replace(spec, distribution=Distribution.BLOCK)
    return Field(name, data, spec, index)


def part_field(part: Part) -> Field:
    """The field of a sequence that the loop iterates over: position p reads element p."""
    spec = ArraySpec(Distribution.BLOCK, 0, Mode.READ)
    return Field("", part.values, spec, IndexMap(0, 1), part.backwards)


def reached_whole(fields: Sequence[Field], arguments: Mapping[str, Any]) -> set[int]:
    """Identities of data that the loop also reaches as a whole.

    By another row of its table, or by an argument that the table does not name, as in
    ``for b in bodies: f(b, bodies)``.
    """
    named = {field.name for field in fields}
    whole = {id(field.data) for field in fields if not (field.by_rows or field.spec.stores)}
    return whole | {id(value) for name, value in arguments.items() if name not in named}


def take(array: Array, axis: int, rows: Rows) -> Array:
    """The rows of an array as one contiguous array: a view where they lie so, else a copy."""
    if len(rows) == 1:
        return np.ascontiguousarray(_view(array, axis, rows[0]))
    packed = np.empty(_packed_shape(array, axis, rows), array.dtype)
    at = 0
    for run in rows:
        _view(packed, axis, range(at, at + len(run)))[...] = _view(array, axis, run)
        at += len(run)
    return packed


def landing(array: Array, axis: int, rows: Rows) -> Array:
    """Memory to receive packed rows in, to be `put` in their places."""
    return np.empty(_packed_shape(array, axis, rows), array.dtype)


def put(array: Array, axis: int, rows: Rows, packed: Array) -> None:
    """Put packed rows in their places."""
    at = 0
    for run in rows:
        _view(array, axis, run)[...] = _view(packed, axis, range(at, at + len(run)))
        at += len(run)


def put_element(field: Field, row: int, element: Any) -> None:
    """Store an element of a list; where the loop changes elements in place, the one that is there changes."""
    if not (field.spec.in_place and _fill(field.data[row], element)):
        field.data[row] = element


def _fill(old: Any, new: Any) -> bool:
    """Give ``old`` the contents of ``new``, lists in lists and arrays included; False if it is no container."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        old[...] = new
        return True
    if not (isinstance(old, list) and isinstance(new, list)):
        return False
    filled = [was if _fill(was, value) else value for was, value in zip(old, new, strict=False)]
    old[:] = filled + new[len(old) :]
    return True


def positions(rows: Rows) -> list[int]:
    """The rows one by one."""
    return [row for run in rows for row in run]


def _view(array: Array, axis: int, run: range) -> Array:
    return array[(slice(None),) * axis + (slice(run.start, run.stop, run.step),)]


def _packed_shape(array: Array, axis: int, rows: Rows) -> tuple[int, ...]:
    return (*array.shape[:axis], count(rows), *array.shape[axis + 1 :])


def _mirror(run: range, length: int) -> range:
    return range(length - 1 - run[-1], length - run[0], run.step)


