"""Sets with the same hash table on every rank, so that all run through them in the same order.

A set is run through in the order of its hash table. Where an element lies there depends on the size of the
table, and on which entries were taken when it was added, by elements or by elements that have gone since. A
pickle holds the elements alone, and the set that is made of them may have another table. `layouts_of` says
then how to make one with the same, which `SetLayout.fill` and `SetLayout.frozen` do.

The table is read from the interpreter's memory (``PySetObject`` in CPython's setobject.h), since no function
of Python's has it. A layout is tried before it is returned.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, count, cycle, islice
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

#: How CPython looks for a free entry (setobject.c): so many after the first one, then a jump.
_LINEAR_PROBES, _PERTURB_SHIFT = 9, 5
#: The size of a table that is not allocated, and how many elements at least are given room for at once.
_MIN_SIZE, _MIN_RESERVED = 8, 5
_WORD = (1 << 8 * ctypes.sizeof(ctypes.c_size_t)) - 1
#: The hash in an entry whose element has gone.
_REMOVED = -1

_BY_IDENTITY: Any = object.__hash__
_IS_SEEDED = not sys.flags.hash_randomization or os.environ.get("PYTHONHASHSEED", "random") != "random"


AnySet = set[Any] | frozenset[Any]


class _Header(ctypes.Structure):
    """What ``PySetObject`` has after the head that all objects have."""

    _fields_ = (
        ("fill", ctypes.c_ssize_t),
        ("used", ctypes.c_ssize_t),
        ("mask", ctypes.c_ssize_t),
        ("table", ctypes.c_void_p),
        ("hash", ctypes.c_ssize_t),
        ("finger", ctypes.c_ssize_t),
    )


#: An entry is an address and a hash.
_ENTRY = np.dtype([("key", np.uintp), ("hash", np.intp)])


#: How many entries are taken, the entry where ``pop`` begins to look, and all entries.
Table = tuple[int, int, bytes]

_HEAD = object.__basicsize__


def _table_of(held: AnySet) -> Table:
    """The table of a set; those of two sets of the same objects are equal if nothing tells the sets apart."""
    header = _Header.from_address(id(held) + _HEAD)
    mask = header.mask
    entries = ctypes.string_at(header.table, (mask + 1) * _ENTRY.itemsize)
    return header.fill, header.finger & mask, entries


@cache
def _is_readable() -> bool:
    """Whether tables are where CPython has them."""
    grown = set(range(100))
    for held in (set(), {1, 2}, frozenset(range(0, 500, 7)), grown - {3}, grown - set(range(80))):
        header = _Header.from_address(id(held) + _HEAD)
        allocated = sys.getsizeof(held) - sys.getsizeof(set())
        sizes = (_MIN_SIZE if not allocated else allocated / _ENTRY.itemsize), len(held)
        if sizes != (header.mask + 1, header.used):
            return False
        entries = np.frombuffer(_table_of(held)[2], _ENTRY)
        taken = entries[(entries["key"] != 0) & (entries["hash"] != _REMOVED)]
        if taken["key"].tolist() != [id(each) for each in held]:
            return False
    return True


class _Twin:
    """Has the hash of an element, and equals it from when it is made ``equal``."""

    __slots__ = ("_hash", "equal")

    def __init__(self, element: Any) -> None:
        self._hash = hash(element)
        self.equal = False

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self.equal


class _EnlargedError(Exception):
    """A set has room for what it is about to get, and gets nothing of it."""


class _Stop(int):
    """A number that cannot be compared with an equal one."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        raise _EnlargedError


class SetLayout(NamedTuple):
    """How a set with a certain table is made.

    Its table has ``size`` entries. ``order`` are elements and, for entries without one, numbers that are
    added first; those that are ``exchanged`` give way to an element each, in turn, and those in ``removed``
    go at the end. ``pop`` begins to look at the entry ``finger``. The number ``start`` goes where the first
    element does.
    """

    order: tuple[Any, ...]
    size: int
    start: int
    exchanged: tuple[tuple[int, Any], ...] = ()
    removed: tuple[int, ...] = ()
    finger: int = 0

    def fill(self, held: set[Any]) -> None:
        """Give an empty set this table."""
        _begin_pops(held, self.finger, self.size)
        if self.size > _MIN_SIZE:
            # For a dictionary a set makes room before it adds the first key.
            held.add(self.start)
            others = (number for number in range(self.size // 4) if number != self.start)
            with suppress(_EnlargedError):
                held.update(dict.fromkeys([_Stop(self.start), *others]))
            held.discard(self.start)  # the next element takes its entry
        held.update(self.order)
        for number, element in self.exchanged:
            held.discard(number)
            held.add(element)
        for number in self.removed:
            held.discard(number)

    def frozen(self) -> frozenset[Any]:
        """A frozen set with this table."""
        first = self.order[: max(self.size // 2 - 1, _MIN_RESERVED - 1)]
        made = frozenset(self._with_room(first))
        if len(first) < len(self.order):
            made = made.union(self.order[len(first) :])
        return made - frozenset(self.removed) if self.removed else made

    def _with_room(self, elements: Sequence[Any]) -> dict[Any, None]:
        """Elements of which a frozen set gets a table of the whole size.

        For a dictionary a set makes room for twice as many entries as there are keys and more, up to a power
        of two. Twins of elements add to the keys, and are found to be there already.
        """
        missing = max(self.size // 4, _MIN_RESERVED) - len(elements) if self.size > _MIN_SIZE else 0
        twins = [_Twin(element) for element in islice(cycle(elements), max(missing, 0))]
        found = dict.fromkeys([*elements, *twins])
        for twin in twins:
            twin.equal = True
        return found


def layouts_of(sets: Collection[AnySet]) -> list[SetLayout | None]:
    """How sets with the tables of these (sets and frozen ones) are made.

    None where one has it after the elements have been added in order, or where other ranks hash the elements
    differently. TypeError where none can be made.
    """
    together = are_hashed_alike(chain.from_iterable(sets))
    return [_layout_of(held) if together or are_hashed_alike(held) else None for held in sets]


def _layout_of(held: AnySet) -> SetLayout | None:
    elements = [*held]
    if not _is_readable():
        again = [*type(held)(elements)]
        if all(one is other for one, other in zip(again, elements, strict=True)):
            return None
        raise TypeError("this interpreter does not say in which order other ranks run through a set")
    table = _table_of(held)
    try:
        if _table_of(type(held)(elements)) == table:
            return None
        layout = _layout(table, elements)
        made: AnySet = layout.frozen() if isinstance(held, frozenset) else set()
        if isinstance(made, set):
            layout.fill(made)
        if _table_of(made) == table:
            return layout
    except Exception as error:  # the elements' own code compares them
        raise TypeError(f"a set whose elements cannot be compared with others ({error!r})") from error
    raise TypeError("other ranks would run through a set in another order")


def copy_of(held: set[Any]) -> set[Any]:
    """A set with the same table; Python's own copy may have a smaller one."""
    if not are_hashed_alike(held):
        return set(held)
    made: set[Any] = set()
    _fill(made, held)
    return made


def give_contents(held: set[Any], contents: set[Any]) -> None:
    """Give a set the contents and the table of another one; only what differs where that has no order."""
    if are_hashed_alike(contents):
        held.clear()
        _fill(held, contents)
        return
    held -= held - contents
    for each in contents:
        if each not in held:
            held.add(each)


def _fill(held: set[Any], contents: set[Any]) -> None:
    """Give an empty set the contents and the table of another one."""
    layout = _layout_of(contents)
    if layout is not None:
        layout.fill(held)
        return
    if _is_readable():
        _begin_pops(held, 0, len(_table_of(contents)[2]) // _ENTRY.itemsize)
    held.update([*contents])


def _begin_pops(held: set[Any], entry: int, size: int) -> None:
    """Let ``pop``, of an empty set that gets a table of this size, begin to look at an entry."""
    if _Header.from_address(id(held) + _HEAD).finger & (size - 1) != entry:
        held.update(range(entry or size))  # each number at its own entry
        for number in range((entry or size) - 1):
            held.discard(number)
        held.pop()
        held.clear()


def are_hashed_alike(elements: Iterable[Any]) -> bool:
    """Whether elements have the same hash on every rank, as far as their types tell.

    Hashes of texts depend on ``PYTHONHASHSEED``, those of many other objects on where they are in memory.
    """
    level = [*elements]
    while kinds := set(map(type, level)):
        if any(kind.__hash__ is _BY_IDENTITY for kind in kinds):
            return False
        nested = kinds & {tuple, frozenset}
        if not _IS_SEEDED and not all(issubclass(kind, Number | np.generic) for kind in kinds - nested):
            return False
        level = [*chain.from_iterable(each for each in level if type(each) in nested)] if nested else []
    return True


def _layout(table: Table, elements: Sequence[Any]) -> SetLayout:
    """The layout of a table with these elements."""
    entries = np.frombuffer(table[2], _ENTRY)
    size = len(entries)
    places = np.flatnonzero(entries["key"])
    hashes = entries["hash"][places]
    # Numbers are their own hashes. These are found at their places, and have no element's hash.
    first = size * next(block for block in count() if not (hashes // size == block).any())
    removed = places[hashes == _REMOVED].tolist()
    hashes = np.where(hashes == _REMOVED, places, hashes)
    order = _insertion_order(places.tolist(), hashes.tolist(), size - 1)
    content = dict(zip(sorted({*places.tolist()} - {*removed}), elements, strict=True))
    rest = content.keys() - {*order} if len(order) < len(places) else ()
    exchanged = tuple((first + at, content[at]) for at in rest)
    content.update((at, first + at) for at in chain(rest, removed))
    order = [*rest, *order]
    return SetLayout(
        order=tuple(map(content.__getitem__, order)),
        size=size,
        start=first + order[0] if order else 0,
        exchanged=exchanged,
        removed=tuple(first + at for at in removed),
        finger=table[1],
    )


def _insertion_order(places: Sequence[int], hashes: Sequence[int], mask: int) -> list[int]:
    """An order in which elements with these hashes get the ``places`` of theirs in an empty table.

    An element takes the first free entry of those that it tries. Not all get theirs where some took entries
    of elements that had gone: these wait for each other.
    """
    order = [place for place, found in zip(places, hashes, strict=True) if found & mask == place]
    taken = set(order)
    waiting: dict[int, list[tuple[int, Iterator[int]]]] = {}
    for own, found in zip(places, hashes, strict=True):
        if found & mask == own:
            continue
        moving = [(own, _entries_tried(found, mask))]
        for place, tried in moving:  # which grows
            for entry in tried:
                if entry == place:
                    order.append(place)
                    taken.add(place)
                    moving += waiting.pop(place, ())
                    break
                if entry not in taken:
                    waiting.setdefault(entry, []).append((place, tried))
                    break
    return order


def _entries_tried(found: int, mask: int) -> Iterator[int]:
    """The entries that are tried, in turn, for an element with a hash."""
    at, perturbed = found & mask, found & _WORD
    while True:
        yield from range(at, at + 1 + (_LINEAR_PROBES if at + _LINEAR_PROBES <= mask else 0))
        perturbed >>= _PERTURB_SHIFT
        at = (5 * at + 1 + perturbed) & mask
