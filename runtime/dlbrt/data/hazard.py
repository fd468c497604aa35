"""Checks, before a loop runs on several ranks, of what the compiler's proof assumed.

The compiler proves iterations independent under assumptions: names denote distinct memory, subscripts do not
wrap onto one another, subscripts that it cannot follow lead to rows of their own, and what is stored to is a
numpy array or a list. Where an assumption fails, rank 0 runs the loop alone, as the sequential program would.

The law for subscripts that the compiler cannot follow: no row that one iteration stores to is touched by
another. It is checked exactly. Each iteration's own stores are joined; sorted by their start, two of
different iterations overlap if and only if two neighbours do. Once stores are disjoint, those that a touched
stretch meets are neighbours, which bisection finds.
"""

from __future__ import annotations

import gc
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

import numpy as np

from dlbrt.data.access_table import AccessTable, AccessTables, RowConflict, merged
from dlbrt.data.array_table import index_name, root_of
from dlbrt.data.field import Field
from dlbrt.data.index_vector import IntegerArray
from dlbrt.data.memory import Array
from dlbrt.data.object_state import ATOMS, UnknownPartError, is_mutable, parts_of
from dlbrt.data.overlap import crowded, exposed_within, overlap
from dlbrt.records import dataclass


def hazard(
    fields: Sequence[Field],
    arrays: Sequence[Array],
    hidden: Set[int],
    n: int,
    met: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
) -> str | None:
    """The reason why the n iterations may not run on several ranks; None if they may.

    ``arrays`` are all arrays that the loop can reach, including those of the fields, and as arrays what else
    exposes memory (`dlbrt.data.overlap`); ``hidden`` are the identities of arrays and lists that are also
    reached in another way than by a field's name; ``met`` are all objects that the loop can reach, except
    elements of the fields' lists. Another reference is described as reached from ``names``, the loop's own.
    """
    stored = [field for field in fields if field.spec.stores]
    reasons = (reason for field in fields for reason in _of_field(field, n))
    reached = names or {}
    overlaps = (reason for field in stored for reason in _overlaps(field, fields, arrays, hidden, reached))
    changed = [field for field in stored if field.spec.in_place and type(field.data) is list]
    shared = (reason for field in changed for reason in _of_elements(field, fields, arrays, met, reached))
    return next(reasons, None) or next(overlaps, None) or next(shared, None)


def reached_otherwise(
    own: Mapping[str, Any],
    fields: Sequence[Field],
    arrays: Sequence[Array],
    met: Iterable[Any],
    names: Mapping[str, Any] | None = None,
) -> str | None:
    """The reason why iterations may not contribute to the objects ``own``, by name; None if they may.

    Each rank has a stand-in for such an object, so nothing else that the loop can reach may be the object or
    share its memory. ``arrays`` and ``met`` are as for `hazard`, without the objects themselves. The other
    reference is described as reached from ``names``, the loop's own.
    """
    if not own:
        return None
    lists = [element for field in fields if type(field.data) is list for element in _reached(field.data)]
    objects = [*met, *lists, *(field.data for field in fields)]
    objects += [behind for value in (*objects, *(names or own).values()) for behind in _behind(value)]
    reached = set(map(id, objects))
    others = [*arrays, *(value for value in lists if isinstance(value, np.ndarray))]
    for name, value in own.items():
        if id(value) in reached or any(value is other for n, other in own.items() if n != name):
            return f"{name} is also reached {elsewhere(name, value, names or own)}"
        if isinstance(value, np.ndarray):
            mine = [other for n, other in own.items() if n != name and isinstance(other, np.ndarray)]
            if any(overlap(value, other) for other in (*others, *mine)):
                return f"memory of {name} is also reached under another name"
    return None


def items_reached(own: Mapping[str, Any], met: Iterable[Any], names: Mapping[str, Any]) -> str | None:
    """The reason why iterations may not add to items of the containers ``own``; None if they may.

    What they add arrives after the loop, so that nothing else which they can reach may be such an item.
    """
    reached = {id(value) for value in (*met, *(v for name, v in names.items() if name not in own))}
    for name, container in own.items():
        items = dict.values(container) if isinstance(container, dict) else container
        for item in items if isinstance(items, list | tuple | deque | ValuesView) else ():
            if id(item) in reached and type(item) not in ATOMS:
                return f"an item of {name} is also reached {elsewhere(name, item, names)}"
    return None


_KEYS_AND_VALUES = ("keys", "values", "items")

#: What shows a dictionary without being one.
_VIEWS: frozenset[type] = frozenset(
    (
        MappingProxyType,
        *(type(getattr(kind(), n)()) for kind in (dict, OrderedDict) for n in _KEYS_AND_VALUES),
    )
)


def _behind(value: Any) -> list[Any]:
    """The dictionary that a view shows."""
    return gc.get_referents(value) if type(value) in _VIEWS else []


def elsewhere(name: str, value: Any, names: Mapping[str, Any]) -> str:
    """How else an object is reached, and what to do about it."""
    path = reference_path(name, value, names)
    if path is None or path == name:
        return "under another name"
    holder = root_of(path)
    if holder == path:
        return f"as {path}: use one of the names in the body"
    return f"as {path}: use no {holder} in the body, but what is taken from it before the loop, and functions"


def _of_field(field: Field, n: int) -> Iterable[str]:
    data = field.data
    if isinstance(data, np.ndarray):
        yield from _of_array(field, data)
    elif type(data) is list:
        if field.axis != 0:
            yield f"{field.name} is a list; the loop indexes its dimension {field.axis}"
    else:
        yield f"{field.name} is a {type(data).__name__}, {_unexpected(field)}"
        return
    if field.by_elements and field.spec.in_place and type(data) is list:
        yield f"iterations may change the same elements of {field.name}{_remedy(data)}"
    elif not field.stores_are_distinct(n):
        yield f"two iterations store to the same row of {field.name}"
    elif not field.stores_are_apart(n):
        yield f"an iteration touches a row of {field.name} that another one stores to"
    if field.spec.stores and field.tables is not None:
        yield from _conflicts(field, field.tables)


def _unexpected(field: Field) -> str:
    """What was expected of a field, and how iterations may use a dictionary."""
    if type(field.data) is not dict or not field.spec.stores or "." in field.name:
        return "neither a numpy array nor a list"
    return (
        "and iterations may only store to a dictionary: where they use an item that they have stored, let "
        f"them give it a name (`item = {field.name}[key] = ..`); `{field.name} = {{}}` or "
        f"`{field.name} = dict(..)` before the loop shows its kind"
    )


def _conflicts(field: Field, tables: AccessTables) -> Iterable[str]:
    conflict = find_conflict(tables, field.length)
    if conflict is not None:
        name = index_name(field.spec)
        values = [f"{name}={field.index.value(p)}" for p in (conflict.first, conflict.second)]
        touched = f"row {conflict.row} of {field.name}"
        yield f"iterations {values[0]} and {values[1]} both touch {touched}{_remedy(field.data)}"


def _remedy(data: Any) -> str:
    """What to do where several iterations store to parts of an element of a list of lists."""
    if type(data) is not list or not data or type(data[0]) is not list:
        return ""
    return ", a list of lists; in a numpy array they may store to single elements of a row"


def _of_array(field: Field, data: Array) -> Iterable[str]:
    if type(data) is not np.ndarray and type(data) is not np.memmap:
        yield f"{field.name} is a {type(data).__name__}, a kind of array that ranks cannot share rows of"
    elif data.dtype.hasobject:
        yield f"{field.name} holds Python objects"
    elif field.axis not in range(data.ndim):
        yield f"{field.name} has {data.ndim} dimensions; the loop indexes dimension {field.spec.axis}"
    elif field.spec.stores and not data.flags.writeable:
        yield f"{field.name} is read-only"
    elif field.spec.stores and _folds(data):
        yield f"elements of {field.name} share memory with one another"


def _folds(data: Array) -> bool:
    """Whether elements may share memory with one another: the strides are too short for the shape."""
    extent = data.itemsize
    for stride, length in sorted(zip(map(abs, data.strides), data.shape, strict=True)):
        if length > 1 and stride < extent:
            return data.size > 0
        extent += stride * (length - 1)
    return False


def _of_elements(
    field: Field,
    fields: Sequence[Field],
    arrays: Sequence[Array],
    met: Iterable[Any],
    names: Mapping[str, Any],
) -> Iterable[str]:
    try:
        changing = _inside(field.data)
    except UnknownPartError as error:
        yield f"elements of {field.name} are changed in place, and one holds a {error}, which ranks cannot do"
        return
    own = set(map(id, changing))
    if len(own) < len(changing):
        yield _shared(field)
    others = list(met)
    for other in fields:
        if type(other.data) is list and other.data is not field.data:
            try:
                others += [*other.data, *_inside(other.data)]
            except UnknownPartError as error:
                yield f"an element of {_name(other)} holds a {error}, which may hold elements of {field.name}"
    if (shared := next((value for value in others if id(value) in own), None)) is not None:
        yield f"elements of {field.name} are also reached {elsewhere(field.name, shared, names)}"
    if crowded([value for value in (*changing, *arrays) if isinstance(value, np.ndarray)]):
        yield f"memory of elements of {field.name} is also reached under another name"


def _shared(field: Field) -> str:
    """Which elements of a list have an object in common that iterations may change."""
    first: dict[int, int] = {}
    for number, element in enumerate(field.data):
        for part in filter(is_mutable, parts_of(element)):
            if (other := first.setdefault(id(part), number)) != number:
                both, kind = f"elements {other} and {number}", type(part).__name__
                return f"{both} of {field.name} share an object ({kind}), which may change"
    raise AssertionError("no two elements share an object")


def _inside(data: list[Any]) -> list[Any]:
    """The mutable objects that the elements of a list consist of, once for each element that has them.

    UnknownPartError where that is not known.
    """
    if set(map(type, data)) <= ATOMS:
        return []
    return [part for element in data for part in parts_of(element) if is_mutable(part)]


def _reached(data: list[Any]) -> list[Any]:
    """The objects in a list, with those that they consist of as far as that is known."""
    try:
        return [*data, *_inside(data)]
    except UnknownPartError:
        return [*data, *(part for value in data if type(value) is list for part in _reached(value))]


def _name(field: Field) -> str:
    return field.name or "what the loop iterates over"


def _overlaps(
    field: Field,
    fields: Sequence[Field],
    arrays: Sequence[Array],
    hidden: Set[int],
    names: Mapping[str, Any],
) -> Iterable[str]:
    if id(field.data) in hidden:
        yield f"{field.name} is also reached {elsewhere(field.name, field.data, names)}"
    for other in fields:
        if other is not field and other.data is field.data:
            yield f"{field.name} and {_name(other)} are the same object"
    if not isinstance(field.data, np.ndarray):
        return
    if field.made:
        yield from _others(field, fields, arrays, hidden)
        return
    lists = {id(other.data): other.data for other in fields if type(other.data) is list}
    for array in chain(arrays, *map(exposed_within, lists.values())):
        if array is not field.data and overlap(array, field.data):
            yield f"memory of {field.name} is also reached under another name"


def holders(field: Field, arrays: Sequence[Array]) -> list[Array]:
    """The arrays whose memory a field has that is a view of another array; none for other fields."""
    return [array for array in arrays if field.made and overlap(array, field.data)]


def _others(
    field: Field, fields: Sequence[Field], arrays: Sequence[Array], hidden: Set[int]
) -> Iterable[str]:
    """A view made at each use is expected to share memory with the array that it is made from alone."""
    found = holders(field, arrays)
    rows = [other for other in fields if other is not field and isinstance(other.data, np.ndarray)]
    shared = any(overlap(other.data, field.data) for other in rows)
    if shared or len(found) > 1 or any(id(array) in hidden for array in found):
        yield f"memory of {field.name} is also reached under another name"


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """Rows starts..stops-1 of the iterations at ``positions``."""

    starts: IntegerArray
    stops: IntegerArray
    positions: IntegerArray

    def sorted(self) -> _Stretches:
        order = np.argsort(self.starts, kind="stable")
        return _Stretches(self.starts[order], self.stops[order], self.positions[order])


def find_conflict(tables: AccessTables, length: int, *, reads: bool = True) -> RowConflict | None:
    """A conflict, if there is one, cached in the tables; without ``reads`` only among stores."""
    key = length, reads
    if key not in tables.conflicts:
        tables.conflicts[key] = _find(tables, length, reads)
    return tables.conflicts[key]


def _find(tables: AccessTables, length: int, reads: bool) -> RowConflict | None:
    stores = _joined(tables.stored, length).sorted()
    overlap = np.flatnonzero(stores.starts[1:] < stores.stops[:-1])
    if len(overlap):
        place = int(overlap[0])
        return _conflict(stores.positions[place], stores.positions[place + 1], stores.starts[place + 1])
    if not reads or tables.touched is tables.stored or not len(stores.starts):
        return None
    return _met(_Stretches(*tables.touched.stretches()), stores)


def _met(touched: _Stretches, stores: _Stretches) -> RowConflict | None:
    """A touched stretch that meets the store of another iteration; the stores are disjoint and sorted."""
    first = np.searchsorted(stores.stops, touched.starts, side="right")
    after = np.searchsorted(stores.starts, touched.stops, side="left")
    some = np.flatnonzero(first < after)
    first, last = first[some], after[some] - 1
    owners = stores.positions
    changes = np.concatenate([[0], np.cumsum(owners[1:] != owners[:-1])])
    wrong = (owners[first] != touched.positions[some]) | (changes[first] != changes[last])
    if not wrong.any():
        return None
    place = int(np.flatnonzero(wrong)[0])
    position = touched.positions[some[place]]
    met = np.arange(first[place], last[place] + 1)
    store = met[owners[met] != position][0]
    return _conflict(position, owners[store], max(touched.starts[some[place]], stores.starts[store]))


def _conflict(one: np.int64, other: np.int64, row: np.int64) -> RowConflict:
    return RowConflict(int(min(one, other)), int(max(one, other)), int(row))


def _joined(table: AccessTable, length: int) -> _Stretches:
    """What each iteration touches as disjoint stretches, merged in a lane of its own."""
    starts, stops, positions = table.stretches()
    if len(table.starts) <= 1:
        return _Stretches(starts, stops, positions)
    lane = length + 2  # so that the end of a lane does not touch the next one
    starts, stops = merged(starts + positions * lane, stops + positions * lane)
    positions = starts // lane
    return _Stretches(starts - positions * lane, stops - positions * lane, positions)


# Other references to an object that is expected to be reached by its name alone.

#: The search for another reference gives up after this many objects.
_MAX_VISITED = 10_000


def reference_path(name: str, value: Any, names: Mapping[str, Any]) -> str | None:
    """The shortest path to the object from names other than ``name``: ``self.table``, ``rows[3]``.

    The search follows attributes, lists, tuples and dictionaries; None if it finds no path.
    """
    waiting = deque((other, held) for other, held in names.items() if other != name)
    seen = {id(value)}
    for _ in range(_MAX_VISITED):
        if not waiting:
            return None
        text, held = waiting.popleft()
        if held is value:
            return text
        if id(held) not in seen:
            seen.add(id(held))
            waiting.extend(islice(_parts(text, held), _MAX_VISITED))
    return None


def _parts(text: str, held: Any) -> Iterator[tuple[str, Any]]:
    """The objects that an object holds, with the text that reaches each."""
    if type(held) in (list, tuple):
        yield from ((f"{text}[{place}]", part) for place, part in enumerate(held))
    elif type(held) is dict:
        keys = ((key, part) for key, part in held.items() if type(key) in (str, int))
        yield from ((f"{text}[{key!r}]", part) for key, part in keys)
    elif not isinstance(held, type):
        attributes = getattr(held, "__dict__", None)
        if type(attributes) is dict:
            yield from ((f"{text}.{key}", part) for key, part in attributes.items())
