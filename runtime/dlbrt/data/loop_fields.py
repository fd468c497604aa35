"""The fields of a loop: what its array table names, and the sequences that it runs over.

Names are looked up among the kernel's arguments. A path (``self.A``, ``state["v"]``) leads through other
objects; that nothing else leads there has to be seen in the arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import Any

from dlbrt.contract import Distribution
from dlbrt.data.array_table import ArraySpec, root_of
from dlbrt.data.field import Field, array_field, has_rows, part_field, reached_whole
from dlbrt.data.footprint import IndexMap
from dlbrt.data.space import Space
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ArrayTable:
    """The array table of a loop, and how its iterations are dealt.

    ``items`` are the sequences of the space whose elements iterations change in place, with their numbers.
    """

    iterations: Distribution
    specs: dict[str, ArraySpec]
    items: dict[str, int] = field(default_factory=dict)

    def fields(self, arguments: Mapping[str, Any], space: Space) -> list[Field]:
        """The fields, their data looked up among the kernel's arguments (``self.A`` through ``self``).

        Data that has no rows and is only read (a dictionary, a tuple) is sent by value with the arguments.
        """
        index = space.index or IndexMap(0, 1)
        found = [self._named(arguments, name, index) for name in self.specs]
        named = [field for field in found if field.spec.stores or has_rows(field.data)]
        fields = joined(named, self._parts(space))
        whole = reached_whole(fields, arguments)
        return [f.whole() if id(f.data) in whole and not f.spec.stores else f for f in fields]

    def _named(self, arguments: Mapping[str, Any], name: str, index: IndexMap) -> Field:
        spec = self.specs[name]

        def found() -> Any:
            return _lookup(arguments, name) if spec.of is None else spec.of()

        data = found()
        return array_field(name, data, spec, index, made=found() is not data)

    def _parts(self, space: Space) -> list[Field]:
        """The sequences of the space; where `zip` had to read them out, one holds the elements of all."""
        changed = {number: name for name, number in self.items.items()}
        if len(changed) > 0 and max(changed) >= len(space.parts):
            changed = {0: next(iter(self.items))}
        return [part_field(part, changed.get(number, "")) for number, part in enumerate(space.parts)]


def joined(named: Sequence[Field], parts: Sequence[Field]) -> list[Field]:
    """All fields; where a named one is what the loop iterates over, row by row, they are one field."""
    found, left = [], list(parts)
    for each in named:
        same = [part for part in left if part.data is each.data and each.has_rows_of(part)]
        left = [part for part in left if not any(part is other for other in same)]
        found.append(each.joined(same))
    return found + left


def _lookup(arguments: Mapping[str, Any], name: str) -> Any:
    *_, value = _along(arguments, name)
    return value


def _along(arguments: Mapping[str, Any], name: str) -> Iterator[Any]:
    """The argument that a dotted name begins with, and what each attribute leads to."""
    root, *attributes = name.split(".")
    value = arguments[root]
    yield value
    for attribute in attributes:
        value = getattr(value, attribute)
        yield value


def along_path(name: str, arguments: Mapping[str, Any], rows: Set[int]) -> list[Any]:
    """The objects on the path to an array, the argument first: for ``self.grid.u`` self and its grid.

    With several keys (``state["grid"]["u"]``) so are all containers inside; ``rows`` as for `_containers`.
    """
    dotted, *brackets = name.split("[")
    *held, last = _along(arguments, dotted)
    if not brackets:
        return held
    inner = [value for value in _containers(last, rows) if value is not last] if len(brackets) > 1 else []
    return [*held, last, *inner]


def reached_twice(fields: Sequence[Field], arguments: Mapping[str, Any], several: Set[int]) -> str | None:
    """Why a path may not be the only one to its array; ``several`` are containers met in several places."""
    counts = Counter(map(id, arguments.values()))
    rows = {id(each.data) for each in fields}
    for each in fields:
        if not (each.spec.stores and each.is_path) or each.iterated:
            continue
        start = root_of(each.name)
        held = _containers(_lookup(arguments, each.name.partition("[")[0]), rows) if "[" in each.name else ()
        if counts[id(arguments[start])] > 1 or not several.isdisjoint(map(id, held)):
            return f"what holds {each.name} is also reached under another name"
    return None


def _containers(holder: Any, rows: Set[int]) -> Iterator[Any]:
    """A list, tuple or dictionary and those in it, but for the loop's ``rows``, identities of lists."""
    if type(holder) in (list, tuple, dict) and id(holder) not in rows:
        yield holder
        for inner in holder.values() if type(holder) is dict else holder:
            yield from _containers(inner, rows)
