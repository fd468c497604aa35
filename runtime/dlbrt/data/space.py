"""Iteration spaces: what a loop runs over, seen as positions 0..n-1.

Distribution and balancing deal in positions; a space turns a run of positions into the items that the loop
target takes, in order. A range is described by its three numbers; a sequence is data, distributed like any
other array (`Space.parts`); any other iterable is read out first. ``enumerate``, ``zip`` and ``reversed``
mean here what the builtins mean, and keep the structure.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dlbrt.data.footprint import IndexMap
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A sequence that items are taken from; position p takes element p, or the p-th from the end."""

    values: Any
    backwards: bool = False

    def elements(self, run: range) -> range:
        """The elements that a run of positions takes, in the order of the positions."""
        return range(len(self.values))[:: -1 if self.backwards else 1][run.start : run.stop : run.step]


class Space(ABC):
    """An iteration space of ``len()`` positions.

    ``index`` maps positions to values of the counting variable, where there is one; ``bars`` are the progress
    bars (tqdm objects) around the iterables, which are updated as usual. ``error`` is what the iterable
    raised after its last item. ``containers`` are dictionaries and the like that have been read out.
    ``is_asked``: the program will ask for an item after the loop.
    """

    index: IndexMap | None = None
    parts: tuple[Part, ...] = ()
    bars: tuple[Any, ...] = ()
    error: BaseException | None = None
    containers: tuple[Any, ...] = ()
    is_asked = False

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        """The items at ``run``, and an iterator that advances with them, whose length hint shows progress."""

    @abstractmethod
    def item(self, position: int) -> Any:
        """The item at a position that a run has had last, or any before the loop."""

    def __getstate__(self) -> dict[str, Any]:
        # Only rank 0 shows progress bars, raises, is asked for items, and has what was read out.
        left = ("bars", "error", "containers", "is_asked", "_held")
        return {name: value for name, value in vars(self).items() if name not in left}

    def hold_items(self) -> None:  # noqa: B027 - most have none that could change
        """Remember items, whose places in sequences iterations are about to store to, as they are."""

    @abstractmethod
    def sequence(self, number: int | None = None) -> Any:
        """What items are taken from, or of several in ``zip`` that of a number: a list or an array has an
        element for each position.
        """

    @abstractmethod
    def with_values(self, values: Iterator[Any]) -> Space:
        """The same space over other sequences, a rank's own copies: one for each part, in order."""


class RangeSpace(Space):
    """A range: ``values[p]`` is the item at position p."""

    def __init__(self, values: range) -> None:
        self.values = values
        self.index = IndexMap(values.start, values.step)

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[type[RangeSpace], tuple[range]]:
        return RangeSpace, (self.values,)

    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        """See `Space`."""
        iterator = iter(self.values[run.start : run.stop : run.step])
        return iterator, iterator

    def item(self, position: int) -> Any:
        """See `Space`."""
        return self.values[position]

    def sequence(self, number: int | None = None) -> Any:  # noqa: ARG002
        """See `Space`."""
        return self.values

    def with_values(self, values: Iterator[Any]) -> Space:  # noqa: ARG002
        """See `Space`."""
        return self


class _Sequence(Space):
    """The elements of a list or array; ``_held`` are those before the loop, or when they were last taken."""

    _held: Any = None

    def __init__(self, part: Part) -> None:
        self.parts = (part,)

    def __len__(self) -> int:
        return len(self.parts[0].values)

    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        counter = iter(self.parts[0].elements(run))
        take = self.parts[0].values.__getitem__ if self._held is None else self._taken
        return map(take, counter), counter

    def item(self, position: int) -> Any:
        values = self.parts[0].values if self._held is None else self._held
        return values[self.parts[0].elements(range(position, position + 1))[0]]

    def hold_items(self) -> None:
        values = self.parts[0].values
        if isinstance(values, list) or values.ndim == 1:  # other elements are parts of the array
            self._held = values.copy()

    def _taken(self, element: int) -> Any:
        """An element as this iteration finds it: earlier ones may have stored to it."""
        self._held[element] = item = self.parts[0].values[element]
        return item

    def sequence(self, number: int | None = None) -> Any:  # noqa: ARG002
        return self.parts[0].values

    def with_values(self, values: Iterator[Any]) -> Space:
        return _Sequence(Part(next(values), self.parts[0].backwards))


class _ReadOut(_Sequence):
    """The items of a dictionary, a view of one, a deque or a set.

    The loop may change it, as `dictionary[key] = ...` does under another name. So runs that go through it in
    order, as that of rank 0 alone, take each item as it is by then; and fail as Python does where its length
    changes.
    """

    def __init__(self, items: list[Any], container: Any) -> None:
        super().__init__(Part(items))
        self.containers = (container,)
        self._iterator, self._reached = iter(container), 0

    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        if run.start == 0 != self._reached:
            self._iterator, self._reached = iter(self.containers[0]), 0
        if run.start != self._reached or run.step != 1:
            return super().items(run)
        self._reached = run.stop
        counter = iter(run)
        return self._items_now(counter, self._iterator), counter

    def _items_now(self, counter: Iterator[int], iterator: Iterator[Any]) -> Iterator[Any]:
        values = self.parts[0].values
        for position in counter:
            for item in iterator:
                if not _is_still(item, values[position]):
                    values[position] = item
                yield values[position]
                break
        if self._reached == len(values):
            next(iterator, None)  # raises if the last iteration has changed the length

    def hold_items(self) -> None:
        pass  # they are held in any case

    def sequence(self, number: int | None = None) -> Any:  # noqa: ARG002
        return self.containers[0]

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("what has been read out goes to other ranks by its items")


class _Enumerate(Space):
    """``enumerate(space, start)``; the count is the index variable."""

    def __init__(self, space: Space, start: int) -> None:
        self.space = space
        self.parts, self.bars, self.error = space.parts, space.bars, space.error
        self.containers = space.containers
        self.index: IndexMap = IndexMap(start, 1)

    def __len__(self) -> int:
        return len(self.space)

    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        start = self.index.start
        counter = iter(range(start + run.start, start + run.stop, run.step))
        return builtins.zip(counter, self.space.items(run)[0], strict=False), counter

    def item(self, position: int) -> Any:
        return self.index.start + position, self.space.item(position)

    def hold_items(self) -> None:
        self.space.hold_items()

    def sequence(self, number: int | None = None) -> Any:
        return self.space.sequence(number)

    def with_values(self, values: Iterator[Any]) -> Space:
        return _Enumerate(self.space.with_values(values), self.index.start)


class _Zip(Space):
    """``zip`` of spaces, cut to one length."""

    def __init__(self, spaces: Sequence[Space], length: int) -> None:
        self.spaces = tuple(spaces)
        self.length = length
        self.parts = tuple(itertools.chain.from_iterable(space.parts for space in spaces))
        self.bars = tuple(itertools.chain.from_iterable(space.bars for space in spaces))
        self.containers = tuple(itertools.chain.from_iterable(space.containers for space in spaces))

    def __len__(self) -> int:
        return self.length

    def items(self, run: range) -> tuple[Iterator[Any], Iterator[int]]:
        columns = [space.items(run) for space in self.spaces]
        return builtins.zip(*(items for items, _ in columns), strict=False), columns[-1][1]

    def item(self, position: int) -> Any:
        return tuple(space.item(position) for space in self.spaces)

    def hold_items(self) -> None:
        for space in self.spaces:
            space.hold_items()

    def sequence(self, number: int | None = None) -> Any:
        return self if number is None else self.spaces[number].sequence()

    def with_values(self, values: Iterator[Any]) -> Space:
        return _Zip([space.with_values(values) for space in self.spaces], self.length)


def _is_still(item: Any, read: Any) -> bool:
    """Whether an item is the one that was read out, or a pair of the same key and value."""
    pairs = type(item) is tuple is type(read) and len(item) == len(read)
    return item is read or (pairs and all(map(operator.is_, item, read)))


def space_of(iterable: Any) -> Space:
    """The space of an iterable: ranges, lists and arrays stay as they are, any other iterable is read out.

    TypeError for what is none. What iterating raises is the space's ``error``.
    """
    if isinstance(iterable, Space):
        return iterable
    if _is_bar(iterable):
        space = space_of(iterable.iterable)
        space.bars = (iterable, *space.bars)
        return space
    if isinstance(iterable, range):
        return RangeSpace(iterable)
    if _is_plain(iterable):
        return _Sequence(Part(iterable))
    return _read_out(iterable)


class ReadOutError(RuntimeError):
    """The loop runs over what cannot be read out before it; the message says why, and what to do."""


def refuse_iterator(iterable: Any) -> None:
    """Raise ReadOutError for an iterator: the body has it too, and would find nothing left in it."""
    if hasattr(type(iterable), "__next__"):
        kind = type(iterable).__name__
        raise ReadOutError(
            f"the loop runs over an iterator ({kind}) that its body uses, too; it is read out before the "
            "loop: make a list of it, and have the body take what it needs from the list"
        )


def _read_out(iterable: Iterable[Any]) -> Space:
    """The items of an iterable up to its end, or to where it fails: the iterations before come first.

    ReadOutError if it surely has no end, or changes its first item as it gives the second.
    """
    if type(iterable) in _ENDLESS or (type(iterable) is itertools.repeat and not _has_length(iterable)):
        kind = type(iterable).__name__
        raise ReadOutError(f"the loop runs over itertools.{kind}, which has no end: use range")
    iterator, items, error = iter(iterable), list[Any](), None
    if type(iterator) is itertools.groupby:
        iterator = ((key, iter([*group])) for key, group in iterator)  # groups end as the next one begins
    try:
        for item in itertools.islice(iterator, 1):
            items.append(item)
            before = _contents(item)
            items += itertools.islice(iterator, 1)
            if len(items) > 1 and not _same(before, _contents(item)):
                raise ReadOutError(_SAME.format(type(item).__name__))
        items.extend(iterator)  # which keeps the items before a failure
    except ReadOutError:
        raise
    except (Exception, SystemExit, GeneratorExit) as raised:  # not an interrupt from the keyboard
        error = raised
    if type(iterable) in _CONTAINERS and error is None:
        return _ReadOut(items, iterable)
    space = _Sequence(Part(items))
    space.error = error
    return space


#: What gives its items again and again, those that it has by then.
_CONTAINERS = frozenset(
    (
        *(dict, set, frozenset, OrderedDict, defaultdict, Counter, deque),
        *(type(getattr(kind(), n)()) for kind in (dict, OrderedDict) for n in ("keys", "values", "items")),
    )
)

#: Iterables that no loop reads to the end.
_ENDLESS = (itertools.count, itertools.cycle)

_SAME = (
    "the loop runs over what changes an item ({}) as it gives the next one; it is read out before the loop, "
    "so all iterations would find the last contents: have it give a copy"
)


def _has_length(iterable: Any) -> bool:
    try:
        return bool(iterable.__length_hint__() >= 0)
    except TypeError:
        return False


def _contents(item: Any) -> list[Any]:
    """What of an object is replaced as its contents change: its bytes, or the objects that it holds.

    Of a tuple, the contents of what it holds.
    """
    if type(item) is tuple:
        return [part for each in item if type(each) is not tuple for part in _contents(each)]
    if type(item) is np.ndarray:
        return [item.tobytes()]
    if isinstance(item, bytearray):
        return [bytes(item)]
    if isinstance(item, dict):
        return [*item, *item.values()]
    if isinstance(item, list | set):
        return [*item]
    return [*vars(item).values()] if hasattr(item, "__dict__") else []


def _same(before: list[Any], after: list[Any]) -> bool:
    """Whether the contents are the same objects, or the same bytes."""
    pairs = zip(before, after, strict=False)
    alike = all(a is b or (type(a) is bytes and type(b) is bytes and a == b) for a, b in pairs)
    return alike and len(before) == len(after)


def enumerate_(iterable: Any, start: int = 0) -> Space:
    """The builtin ``enumerate`` as a space; raises what the builtin raises."""
    if not isinstance(iterable, Space):
        builtins.enumerate(iterable, start)
    return _Enumerate(space_of(iterable), operator.index(start))


def reversed_(iterable: Any) -> Space:
    """The builtin ``reversed`` as a space; raises what the builtin raises."""
    if isinstance(iterable, range):
        return RangeSpace(iterable[::-1])
    backwards = builtins.reversed(iterable)
    return _Sequence(Part(iterable, backwards=True)) if _is_plain(iterable) else _read_out(backwards)


def zip_(*iterables: Any, strict: bool = False) -> Space:
    """The builtin ``zip`` as a space; raises what the builtin raises.

    Where an iterable has no length, or with ``strict``, the builtin reads the items out.
    """
    if strict or not iterables or not all(hasattr(it, "__len__") for it in iterables):
        return _read_out(builtins.zip(*map(_iterable, iterables), strict=strict))
    spaces = [space_of(it) for it in iterables]
    if any(space.error is not None for space in spaces):
        return _read_out(builtins.zip(*map(_iterable, spaces), strict=False))
    return _Zip(spaces, min(map(len, spaces)))


def _is_plain(iterable: Any) -> bool:
    return type(iterable) is list or (type(iterable) is np.ndarray and iterable.ndim > 0)


def _is_bar(value: object) -> bool:
    named = any("tqdm" in kind.__module__ for kind in type(value).__mro__)
    return named and all(hasattr(value, name) for name in ("iterable", "update", "close"))


def _iterable(value: Any) -> Iterable[Any]:
    """What gives the items of a space, and raises what its iterable raised; another value is it itself."""
    if not isinstance(value, Space):
        return value  # type: ignore[no-any-return]
    items = value.items(range(len(value)))[0]
    return items if value.error is None else itertools.chain(items, _failing(value.error))


def _failing(error: BaseException) -> Iterator[Any]:
    raise error
    yield
