"""An iteration space gives, in runs of positions, what iterating gives."""

from __future__ import annotations

import builtins
import itertools
import operator
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from dlbrt.data.space import ReadOutError, Space, enumerate_, refuse_iterator, reversed_, space_of, zip_


class Bar:
    """As tqdm is seen: an iterable with an inner one, updated by hand."""

    __module__ = "tqdm.std"

    def __init__(self, iterable: Any) -> None:
        self.iterable = iterable
        self.shown = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __len__(self) -> int:
        return len(self.iterable)

    def update(self, n: int) -> None:
        self.shown += n

    def close(self) -> None:
        self.shown = -1


class OwnSequence:
    """The old protocol: items until IndexError."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, place: int) -> int:
        if place >= 4:
            raise IndexError
        return place * place


LETTERS = list("abcdefg")

SPACES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "range": (lambda: range(3, 20, 4), lambda: range(3, 20, 4)),
    "counting down": (lambda: range(9, -3, -2), lambda: range(9, -3, -2)),
    "empty": (lambda: range(4, 4), lambda: range(4, 4)),
    "list": (lambda: LETTERS, lambda: LETTERS),
    "tuple": (lambda: (1, 2), lambda: (1, 2)),
    "text": (lambda: "añb", lambda: "añb"),
    "generator": (lambda: (k * k for k in range(5)), lambda: [0, 1, 4, 9, 16]),
    "items": (lambda: {"a": 1, "b": 2}.items(), lambda: [("a", 1), ("b", 2)]),
    "deque": (lambda: deque("xyz"), lambda: "xyz"),
    "own sequence": (OwnSequence, lambda: [0, 1, 4, 9]),
    "enumerate": (lambda: enumerate_(LETTERS, 5), lambda: enumerate(LETTERS, 5)),
    "enumerate of a range": (lambda: enumerate_(range(2, 9, 3)), lambda: enumerate(range(2, 9, 3))),
    "reversed": (lambda: reversed_(LETTERS), lambda: reversed(LETTERS)),
    "reversed range": (lambda: reversed_(range(1, 12, 5)), lambda: reversed(range(1, 12, 5))),
    "zip": (lambda: zip_(LETTERS, range(4)), lambda: zip(LETTERS, range(4), strict=False)),
    "zip of a generator": (
        lambda: zip_(LETTERS, (k for k in range(3))),
        lambda: zip(LETTERS, range(3), strict=False),
    ),
    "zip of nothing": (zip_, lambda: ()),
    "zip of reversed": (
        lambda: zip_(LETTERS, reversed_(LETTERS)),
        lambda: zip(LETTERS, reversed(LETTERS), strict=True),
    ),
    "all of them": (
        lambda: enumerate_(zip_(reversed_(LETTERS), enumerate_(range(7), 2)), 1),
        lambda: enumerate(zip(reversed(LETTERS), enumerate(range(7), 2), strict=True), 1),
    ),
    "a bar": (lambda: Bar(LETTERS), lambda: LETTERS),
    "enumerate of a bar": (lambda: enumerate_(Bar(LETTERS)), lambda: enumerate(LETTERS)),
}


@pytest.mark.parametrize("name", SPACES)
def test_the_items_of_all_positions_are_those_of_iterating(name: str) -> None:
    make, plain = SPACES[name]
    space, expected = space_of(make()), list(plain())
    assert len(space) == len(expected)
    assert list(space.items(range(len(space)))[0]) == expected


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("step", [1, 3])
def test_a_run_of_positions_gives_its_items_and_tells_how_far_it_is(name: str, step: int) -> None:
    make, plain = SPACES[name]
    space, expected = space_of(make()), list(plain())
    run = range(1, len(space), step)
    items, counter = space.items(run)
    for done, position in enumerate(run, 1):
        assert next(items) == expected[position]
        assert operator.length_hint(counter) == len(run) - done


@pytest.mark.parametrize("name", ["range", "list", "enumerate", "zip of reversed", "all of them"])
def test_a_space_travels_and_takes_another_ranks_sequences(name: str) -> None:
    make, plain = SPACES[name]
    space: Space = pickle.loads(pickle.dumps(space_of(make())))
    again = space.with_values(part.values for part in space.parts)
    assert list(again.items(range(len(again)))[0]) == list(plain())


def test_the_rows_of_an_array_are_views() -> None:
    array = np.zeros((4, 2))
    for row in space_of(array).items(range(4))[0]:
        row += 1
    assert array.sum() == 8


@pytest.mark.parametrize("values", [[1.5, 2.5, 3.5], np.array([1.5, 2.5, 3.5])])
def test_items_that_are_held_are_those_before_the_loop_or_when_they_were_taken(values: Any) -> None:
    space = enumerate_(zip_(values, reversed_(values)), 1)
    space.hold_items()
    values[2] = 9.0
    assert space.item(2) == (3, (3.5, 1.5))
    assert list(space.items(range(2, 3))[0]) == [(3, (9.0, 1.5))]
    assert space.item(2) == (3, (9.0, 1.5))
    assert pickle.loads(pickle.dumps(space.with_values(iter([values, values])))).item(0) == (1, (1.5, 9.0))


def test_rows_are_held_as_views() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    space = space_of(rows)
    space.hold_items()
    rows[1] = 7.0
    assert np.shares_memory(space.item(1), rows)


def test_a_space_tells_what_its_items_are_taken_from() -> None:
    values, rows = [1.0, 2.0], np.ones((2, 3))
    assert space_of(values).sequence() is values
    assert enumerate_(zip_(range(2), rows), 3).sequence(1) is rows
    assert zip_(range(2), rows).sequence(0) == range(2)
    assert space_of({1: 2}).sequence() == {1: 2}


def test_bars_stay_and_do_not_travel() -> None:
    bar = Bar(LETTERS)
    space = space_of(enumerate_(bar))
    assert space.bars == (bar,)
    assert pickle.loads(pickle.dumps(space)).bars == ()


def failing(count: int) -> Iterator[int]:
    yield from range(count)
    raise LookupError(count)


@pytest.mark.parametrize(
    ("space", "items", "error"),
    [
        (space_of(failing(2)), [0, 1], LookupError(2)),
        (enumerate_(failing(1), 5), [(5, 0)], LookupError(1)),
        (zip_([1, 2, 3], failing(2)), [(1, 0), (2, 1)], LookupError(2)),
        (zip_(failing(2), [1, 2]), [(0, 1), (1, 2)], LookupError(2)),
        (zip_([1, 2], failing(2)), [(1, 0), (2, 1)], None),
        (zip_([1, 2], space_of(failing(1))), [(1, 0)], LookupError(1)),
        (zip_([1], [1, 2], strict=True), [(1, 1)], ValueError()),
    ],
)
def test_an_iterable_that_fails_fails_after_its_items(
    space: Space, items: list[Any], error: Exception | None
) -> None:
    assert list(space.items(range(len(space)))[0]) == items
    assert type(space.error) is type(error)
    assert space.error is None or isinstance(error, ValueError) or space.error.args == error.args
    assert pickle.loads(pickle.dumps(space)).error is None


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (lambda: enumerate_(5), lambda: builtins.enumerate(5)),
        (lambda: enumerate_([1], "x"), lambda: builtins.enumerate([1], "x")),
        (lambda: reversed_({1}), lambda: builtins.reversed({1})),
        (lambda: zip_([1], 5), lambda: builtins.zip([1], 5)),  # noqa: B905
        (lambda: space_of(None), lambda: iter(None)),
    ],
)
def test_what_the_builtins_refuse_is_refused_alike(
    ours: Callable[[], Any], builtin: Callable[[], Any]
) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        builtin()
    with pytest.raises(expected.type):
        ours()


def buffered(numbers: Any, size: int) -> Iterator[Any]:
    buffer = np.empty(size)
    for start in range(0, len(numbers), size):
        buffer[:] = numbers[start : start + size]
        yield buffer


def cleared(texts: str) -> Iterator[dict[str, int]]:
    found: dict[str, int] = {}
    for text in texts:
        found[text] = 1
        yield found
        found.clear()


class Cursor:
    """Gives itself, on another line each time."""

    line = 0

    def __iter__(self) -> Iterator[Cursor]:
        for self.line in range(3):
            yield self


class Counter:
    """Gives itself with a number that has been replaced twice, perhaps by one at the first one's place."""

    def __init__(self) -> None:
        self.x = 1000.5

    def __iter__(self) -> Iterator[Counter]:
        for _ in range(3):
            yield self
            self.x = self.x + 1.0
            self.x = self.x + 1.0


def within(items: Iterator[Any]) -> Iterator[Any]:
    yield from enumerate(items)


def parts(items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        yield item[:1]


def finished() -> Iterator[list[int]]:
    """Adds to each list once the next one is asked for."""
    for k in range(3):
        yield (found := [k])
        found.append(k)


@pytest.mark.parametrize(
    "iterable",
    [
        buffered(np.arange(6.0), 2),
        cleared("abc"),
        Cursor(),
        Counter(),
        within(buffered(np.arange(6.0), 2)),
        parts(buffered(np.arange(6.0), 2)),
        finished(),
    ],
)
def test_what_changes_an_item_as_it_gives_the_next_is_refused(iterable: Any) -> None:
    with pytest.raises(ReadOutError, match="give a copy"):
        space_of(iterable)


@pytest.mark.parametrize(
    "endless",
    [itertools.count(), itertools.cycle("ab"), itertools.repeat(1)],
    ids=["count", "cycle", "repeat"],
)
def test_what_has_no_end_is_refused(endless: Any) -> None:
    with pytest.raises(ReadOutError, match="no end"):
        enumerate_(endless)


def test_an_iterator_that_the_body_uses_too_is_refused() -> None:
    with pytest.raises(ReadOutError, match=r"an iterator \(list_iterator\) that its body uses, too"):
        refuse_iterator(iter([1, 2]))
    refuse_iterator([1, 2])


def test_an_object_that_comes_again_unchanged_is_read_out() -> None:
    row = [1]
    assert [*items_of(space_of(itertools.repeat(row, 3)))] == [row, row, row]
    assert [*items_of(zip_(itertools.count(), "ab"))] == [(0, "a"), (1, "b")]


def test_groups_outlive_the_next_one() -> None:
    groups = items_of(space_of(itertools.groupby("aabccc")))
    assert [(key, [*group]) for key, group in groups] == [("a", ["a"] * 2), ("b", ["b"]), ("c", ["c"] * 3)]


def items_of(space: Space) -> list[Any]:
    return [*space.items(range(len(space)))[0]]
