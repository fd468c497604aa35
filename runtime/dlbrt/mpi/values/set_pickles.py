"""Sets whose hash tables a pickle alone would not bring to its reader (`dlbrt.data.set_tables`).

They are written ahead of the value in which they are met, in pickles of their own with the same memo: empty
ones, frozen ones as the result of a call, then calls that fill those that are not frozen. In the memo each
has its own number from then on, so that the value refers to it wherever it is met.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from dlbrt.data.object_state import ATOMS
from dlbrt.data.set_tables import SetLayout, layouts_of
from dlbrt.data.uncollected import uncollected

#: What pickles of sets, and of frozen ones, have in them.
_SIGNS = pickle.EMPTY_SET + pickle.MEMOIZE, pickle.FROZENSET + pickle.MEMOIZE

#: A set, or a frozen one, with the layout of its table.
LaidOut = tuple[Any, SetLayout]


class Call:
    """Is pickled as a call, and so read as its result."""

    __slots__ = ("reduced",)

    def __init__(self, made: Callable[..., Any], *arguments: Any) -> None:
        self.reduced = made, arguments


def dump_in_order(new: Callable[[], tuple[Any, io.BytesIO]], value: Any) -> tuple[Any, bytes]:
    """Pickle a list with a value, its sets with their tables; returns the pickler too. See `load`.

    ``new`` makes a pickler and its file, again where there are sets that go ahead.
    """
    pickler, file = new()
    begun = [value]
    with uncollected():
        pickler.dump(begun)
        sets = laid_out(file.getvalue(), pickler, begun)
        if sets:
            pickler, file = new()
            write_ahead(pickler, sets, [])
            pickler.dump(begun)
        return pickler, file.getvalue()


def load(unpickler: pickle.Unpickler, stream: io.BytesIO) -> Any:
    """The last object in a stream; those before it were sets."""
    end = len(stream.getbuffer())
    value = unpickler.load()
    while stream.tell() < end:
        value = unpickler.load()
    return value


def met_before(pickler: Any, obj: Any) -> list[Any]:
    """The objects that a pickler has met before one that it may have met."""
    memo = _memo(pickler)
    return _in_order(memo)[: _number_of(obj, memo)]


def met_since(pickler: Any, obj: Any) -> list[Any]:
    """The objects that a pickler has met since one, and that one."""
    memo = _memo(pickler)
    return _in_order(memo)[_number_of(obj, memo) :]


def met_by_pickler(pickler: Any) -> list[Any]:
    """The objects that a pickler has met, in the order of its numbering."""
    return _in_order(_memo(pickler))


def _memo(pickler: Any) -> dict[int, tuple[int, Any]]:
    """The objects met, by identity, with their numbers; of a large pickle a large part of its time."""
    with uncollected():
        memo: dict[int, tuple[int, Any]] = pickler.memo.copy()
        return memo


def _in_order(memo: Mapping[int, tuple[int, Any]]) -> list[Any]:
    """The objects by their numbers, which leave none out."""
    found: list[Any] = [None] * len(memo)
    for number, value in memo.values():
        found[number] = value
    return found


def _number_of(obj: Any, memo: Mapping[int, tuple[int, Any]]) -> int:
    """The number of an object; if it was not met, the next one."""
    number, value = memo.get(id(obj), (len(memo), obj))
    return number if value is obj else len(memo)


def laid_out(data: bytes, pickler: Any, begun: list[Any]) -> list[LaidOut]:
    """The sets in the pickle of ``begun``, just written, that go ahead of it. See `layouts_of`."""
    if not any(sign in data for sign in _SIGNS):
        return []
    memo = _memo(pickler)  # in much data a sign is found by chance
    first = _number_of(begun, memo)
    found = [each for each in memo.values() if each[0] >= first and type(each[1]) in (set, frozenset)]
    sets = [value for _, value in sorted(found, key=itemgetter(0))]
    return [(each, layout) for each, layout in zip(sets, layouts_of(sets), strict=True) if layout is not None]


def write_ahead(pickler: Any, sets: Sequence[LaidOut], begun: list[Any]) -> None:
    """Write sets ahead of a value; the first object that the pickler meets is the list ``begun``.

    They are in the order in which they were met: what is in a frozen one before it, what is in another one
    after it. TypeError for a frozen one that is among what its elements lead to.
    """
    filled = [(each, layout) for each, layout in sets if type(each) is set]
    begun += [set() for _ in filled]
    pickler.dump(begun)
    _number(pickler, zip(begun, (each for each, _ in filled), strict=True))
    for group in _groups([(each, layout) for each, layout in sets if type(each) is frozenset]):
        made = [Call(SetLayout.frozen, layout) for _, layout in group]
        pickler.dump(made)
        _number(pickler, zip(made, (each for each, _ in group), strict=True))
    pickler.dump([Call(SetLayout.fill, layout, each) for each, layout in reversed(filled)])


def _groups(frozen: Sequence[LaidOut]) -> list[list[LaidOut]]:
    """Frozen sets in groups, those that are in another one, if only through objects, in an earlier one."""
    groups: list[list[LaidOut]] = []
    number: dict[int, int] = {}
    for each, layout in frozen:
        inside: list[Any] = [*each]
        for held in inside:  # which grows
            if type(held) in (tuple, frozenset):
                inside += held
        known = {tuple, frozenset} | ATOMS
        first = max((number.get(id(held), -1) for held in inside), default=-1) + 1
        number[id(each)] = first if known.issuperset(map(type, inside)) else len(groups)
        if number[id(each)] == len(groups):
            groups.append([])
        groups[number[id(each)]].append((each, layout))
    return groups


def _number(pickler: Any, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Give objects the numbers of others, which stand for them. TypeError for one that has a number."""
    memo = pickler.memo.copy()
    for stand_in, each in pairs:
        if id(each) in memo:
            raise TypeError("an element of a frozen set leads to the set")
        number, _ = memo.pop(id(stand_in))
        memo[id(each)] = number, each
    pickler.memo = memo
