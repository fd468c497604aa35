"""A field: one array or list of a loop with its distribution, seen as rows along one axis.

Which rows a set of iterations needs or stores to follows from the array table, or from an inspection of every
iteration before the loop. Scattering, moving and gathering take rows out of an array and put them back alike.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from dlbrt.contract import Distribution, Mode
from dlbrt.data.access_table import AccessTable, AccessTables, FootprintError, ItemMap, evaluate
from dlbrt.data.array_table import ArraySpec, root_of
from dlbrt.data.footprint import (
    IndexMap,
    Rows,
    SubscriptFunction,
    count,
    rows_of,
    stores_are_apart,
    stores_are_distinct,
)
from dlbrt.data.index_vector import IntegerArray
from dlbrt.data.memory import Array
from dlbrt.data.object_state import is_mutable, parts_of, state_of
from dlbrt.data.space import Part, Space
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass

#: Assumed bytes of an element of a list, in cost estimates only.
OBJECT_BYTES = 64

#: Up to this many ranges of rows, or from this mean length on, each range is copied by itself.
_FEW = 32


@dataclass(frozen=True, slots=True)
class Field:
    """``data`` (numpy array or list) under ``name``, by an array spec or as a part of the space.

    ``tables`` hold what each iteration touches, where the subscripts are inspected. ``made``: each use of the
    name makes a view of another array (``rec["x"]``, ``z.real``), as ``data`` is one. ``iterated``: the loop
    runs over it, and no name in the body leads to it. ``parts``: by row, the objects that elements consisted
    of when they came to this rank, if iterations change them in place.
    """

    name: str
    data: Any
    spec: ArraySpec
    index: IndexMap
    backwards: bool = False
    tables: AccessTables | None = None
    made: bool = False
    iterated: bool = False
    parts: dict[int, list[Any]] = field(default_factory=dict)

    @property
    def is_path(self) -> bool:
        """Whether it is reached through another object (``self.A``, ``state["v"]``)."""
        return "." in self.name or "[" in self.name

    @property
    def axis(self) -> int:
        """The distributed dimension; the array table may count it from the end."""
        axis = self.spec.axis or 0
        return axis + getattr(self.data, "ndim", 0) if axis < 0 else axis

    @property
    def length(self) -> int:
        """Rows along the axis."""
        return len(self.data) if isinstance(self.data, list) else int(self.data.shape[self.axis])

    @property
    def by_rows(self) -> bool:
        """Whether a rank holds the rows of its own iterations only."""
        return self.spec.distribution is not Distribution.WHOLE

    @property
    def by_elements(self) -> bool:
        """Whether every rank holds all of it and returns the elements that it has changed."""
        return self.spec.stores and self.spec.axis is None and not self.by_rows

    @property
    def inspected(self) -> bool:
        """Whether the rows are those of ``tables``."""
        return self.spec.inspect and (self.by_rows or self.spec.stores)

    def with_tables(self, space: Space) -> Field:
        """The field with the rows of each iteration; FootprintError if they depend on the run.

        Data without the axis stays as it is.
        """
        if type(self.data) is not list and self.axis not in range(getattr(self.data, "ndim", 0)):
            return self
        try:
            touched = self._table(self.spec.rows, space)
            own = self.spec.writes is None or not self.spec.stores
            stored = touched if own else self._table(self.spec.writes, space)
        except FootprintError as error:
            kind = type(self.data)
            if kind in (list, np.ndarray):
                raise FootprintError(f"{self.name}: {error}") from error
            raise FootprintError(
                f"{self.name} is a {kind.__name__}, neither a numpy array nor a list"
            ) from error
        return replace(self, tables=AccessTables(touched, stored))

    def _table(self, subscripts: SubscriptFunction | None, space: Space) -> AccessTable:
        """What iterations touch, by subscripts in terms of the index, or of what an iteration takes."""
        n, count = len(space), 0 if subscripts is None else _parameters(subscripts)
        if subscripts is None or (count == 1 and space.index is not None):
            return evaluate(subscripts, self.index, n, self.length)
        items = ItemMap(list(space.items(range(n))[0]))
        return evaluate(subscripts if count == 1 else _of_parts(subscripts), items, n, self.length)

    def has_rows_of(self, part: Field) -> bool:
        """Whether each iteration touches the one row that it gets from a sequence which it runs over."""
        own = self.spec.rows is None and self.spec.writes is None and self.axis == 0
        return own and not part.backwards and self.index == IndexMap(0, 1)

    def joined(self, parts: Sequence[Field]) -> Field:
        """The field of all that is done to the same rows, here and as parts of the space."""
        if not parts:
            return self
        stores = self.spec.stores or any(part.spec.stores for part in parts)
        in_place = self.spec.in_place or any(part.spec.in_place for part in parts)
        mode = Mode.UPDATE if stores else Mode.READ
        return replace(self, spec=replace(self.spec, mode=mode, in_place=in_place))

    def whole(self) -> Field:
        """The same field, held whole by every rank."""
        return replace(self, spec=replace(self.spec, distribution=Distribution.WHOLE))

    @property
    def overwrites(self) -> bool:
        """Whether its rows need not be sent, since each iteration that ends overwrites its own."""
        condition = self.spec.overwritten
        if condition is None or not self.by_rows or not isinstance(self.data, np.ndarray):
            return False
        try:
            return bool(condition())
        except Exception:  # names that are no numbers: nothing is known
            return False

    @property
    def moves(self) -> bool:
        """Whether rows travel with the iterations; they do not where every rank holds all of them."""
        return self.by_rows and self.spec.reads

    def needed(self, spans: Spans) -> Rows:
        """The rows whose contents iterations ``spans`` need."""
        return self._rows(spans, stored=False) if self.moves else ()

    @property
    def copied(self) -> bool:
        """Whether it is a list that is stored to and held whole by every rank, so that each gets all rows."""
        return isinstance(self.data, list) and self.spec.stores and not self.by_rows

    def scattered(self, spans: Spans) -> Rows:
        """The rows to send before the loop."""
        if self.copied:
            return (range(self.length),) if self.data else ()
        return self.needed(spans)

    def stored(self, spans: Spans) -> Rows:
        """The rows that iterations ``spans`` store to."""
        return self._rows(spans, stored=True) if self.spec.stores and not self.by_elements else ()

    def note_parts(self, rows: Sequence[int]) -> None:
        """Note what elements of a list consist of, before iterations change them in place."""
        if self.spec.in_place:
            self.parts.update((row, parts_of(self.data[row])) for row in rows)

    def states(self, rows: Sequence[int]) -> list[tuple[Any, Any]]:
        """The noted objects of elements that have a state, with their states."""
        noted = (part for row in rows for part in self.parts.get(row, ()))
        return [(part, state_of(part)) for part in noted if is_mutable(part)]

    def stores_are_distinct(self, n: int) -> bool:
        """Whether no two of the n iterations store to one row, as far as affine subscripts show."""
        if not self.spec.stores or self.by_elements or self.inspected:
            return True
        return stores_are_distinct(n, self.index, self.spec.stored, self.length)

    def stores_are_apart(self, n: int) -> bool:
        """Whether none of the n iterations touches a row that another stores to.

        As far as affine subscripts show, for distinct stores (`stores_are_distinct`).
        """
        if not self.spec.stores or self.by_elements or self.inspected or self.spec.writes is None:
            return True
        return stores_are_apart(n, self.index, self.spec.stored, self.spec.rows, self.length)

    def iteration_bytes(self) -> float:
        """The approximate number of bytes that move with one more iteration.

        In blocks its neighbours, which share rows with it, move too.
        """
        rows: float = count(self.needed(_FIRST)) if self.moves and self.tables is None else 0
        if self.moves and self.tables is not None:
            rows = self.tables.touched.mean()
        elif self.moves and self.spec.distribution is Distribution.BLOCK:
            rows = count(self.needed(_FIRST_TWO)) - rows
        if isinstance(self.data, list):
            return rows * OBJECT_BYTES
        return float(rows * self.data.nbytes / max(1, self.length))

    def _rows(self, spans: Spans, *, stored: bool) -> Rows:
        if self.tables is not None:
            return (self.tables.stored if stored else self.tables.touched).rows(spans)
        if self.backwards:
            mirrored = Spans.of(*(_mirror(run, self.length) for run in spans.runs))
            return rows_of(mirrored, self.index, None, self.length)
        return _known_rows(spans, self.index, self.spec.stored if stored else self.spec.rows, self.length)


def overwriting(fields: Sequence[Field], names: Container[str]) -> list[Field]:
    """The fields, those of the ``names`` in mode ``w``."""
    return [
        replace(field, spec=replace(field.spec, mode=Mode.WRITE)) if field.name in names else field
        for field in fields
    ]


_FIRST, _FIRST_TWO = Spans.of(range(1)), Spans.of(range(2))

#: Results of `rows_of`, by a key that holds the identity of the subscripts' code, with what keeps it alive.
_KNOWN: dict[tuple[object, ...], tuple[Rows, object]] = {}
_MAX_KNOWN = 4096


def _parameters(subscripts: Callable[..., Any]) -> int:
    return int(subscripts.__code__.co_argcount)


def _of_parts(subscripts: Callable[..., Any]) -> SubscriptFunction:
    """Subscripts in terms of the parts of an item, as a function of the item."""
    return lambda item: subscripts(*item)  # type: ignore[misc]


def _known_rows(spans: Spans, index: IndexMap, subscripts: SubscriptFunction | None, length: int) -> Rows:
    """As `rows_of`, from a cache: loops run many times over the same rows."""
    form = form_of_subscripts(subscripts)
    if form is None:
        return rows_of(spans, index, subscripts, length)
    key = (spans, index.start, index.step, length, *form)
    if key not in _KNOWN:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = rows_of(spans, index, subscripts, length), subscripts
    return _KNOWN[key][0]


def form_of_subscripts(subscripts: SubscriptFunction | None) -> tuple[object, ...] | None:
    """A key for subscripts that read only their argument and integers of their closure; None for others."""
    if subscripts is None:
        return (None,)
    code = getattr(subscripts, "__code__", None)
    if code is None or code.co_names or getattr(subscripts, "__defaults__", None):
        return None
    values = [cell.cell_contents for cell in getattr(subscripts, "__closure__", None) or ()]
    return (id(code), *values) if all(type(value) is int for value in values) else None


def has_rows(data: Any) -> bool:
    """Whether its rows can be sent: it is a list, or an array of plain numbers."""
    if isinstance(data, np.ndarray):
        return type(data) in (np.ndarray, np.memmap) and not data.dtype.hasobject
    return type(data) is list


def array_field(name: str, data: Any, spec: ArraySpec, index: IndexMap, made: bool = False) -> Field:
    """The field of a row of the array table."""
    return Field(name, data, spec, index, made=made)


def part_field(part: Part, name: str = "") -> Field:
    """The field of a sequence that the loop iterates over: position p reads element p.

    Where it has a ``name``, iterations change their elements in place.
    """
    mode = Mode.UPDATE if name else Mode.READ
    spec = ArraySpec(Distribution.BLOCK, 0, mode, in_place=bool(name))
    return Field(name, part.values, spec, IndexMap(0, 1), part.backwards, iterated=True)


def reached_whole(fields: Sequence[Field], arguments: Mapping[str, Any]) -> set[int]:
    """Identities of data that the loop also reaches as a whole.

    It does so by another entry of its array table, or by an argument that the table does not name, as in
    ``for b in bodies: f(b, bodies)``.
    """
    named = {root_of(field.name) for field in fields if not field.iterated}
    whole = {id(field.data) for field in fields if not (field.by_rows or field.spec.stores)}
    return whole | {id(value) for name, value in arguments.items() if name not in named}


def take(array: Array, axis: int, rows: Rows) -> Array:
    """The rows of an array as one contiguous array: a view if they are contiguous, else a copy."""
    if len(rows) == 1:
        return np.ascontiguousarray(_view(array, axis, rows[0]))
    if _fragmented(rows):
        return np.ascontiguousarray(np.take(array, _numbers(rows), axis))
    packed = np.empty(_packed_shape(array, axis, rows), array.dtype)
    at = 0
    for run in rows:
        _view(packed, axis, range(at, at + len(run)))[...] = _view(array, axis, run)
        at += len(run)
    return packed


def receive_buffer(array: Array, axis: int, rows: Rows) -> Array:
    """Memory to receive packed rows in, before `put` puts them in their places."""
    return np.empty(_packed_shape(array, axis, rows), array.dtype)


def put(array: Array, axis: int, rows: Rows, packed: Array) -> None:
    """Put packed rows in their places."""
    if _fragmented(rows):
        array[(slice(None),) * axis + (_numbers(rows),)] = packed
        return
    at = 0
    for run in rows:
        _view(array, axis, run)[...] = _view(packed, axis, range(at, at + len(run)))
        at += len(run)


def positions(rows: Rows) -> list[int]:
    """The rows one by one."""
    return [row for run in rows for row in run]


def _fragmented(rows: Rows) -> bool:
    """Whether there are so many short ranges that numpy takes the rows faster one by one."""
    return len(rows) > _FEW and count(rows) < _FEW * len(rows)


def _numbers(rows: Rows) -> IntegerArray:
    """The rows one by one, as an array."""
    starts, lengths, steps = np.array([(run.start, len(run), run.step) for run in rows], dtype=np.int64).T
    before = np.cumsum(lengths) - lengths
    within = np.arange(int(lengths.sum())) - np.repeat(before, lengths)
    numbers: IntegerArray = np.repeat(starts, lengths) + within * np.repeat(steps, lengths)
    return numbers


def _view(array: Array, axis: int, run: range) -> Array:
    return array[(slice(None),) * axis + (slice(run.start, run.stop, run.step),)]


def _packed_shape(array: Array, axis: int, rows: Rows) -> tuple[int, ...]:
    return (*array.shape[:axis], count(rows), *array.shape[axis + 1 :])


def _mirror(run: range, length: int) -> range:
    return range(length - 1 - run[-1], length - run[0], run.step)
