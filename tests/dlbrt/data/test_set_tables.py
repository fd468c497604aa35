"""Sets get the tables of others: one order now, and the same one whatever is done to them afterwards."""

from __future__ import annotations

import ctypes
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from itertools import chain
from typing import Any

import pytest
from dlbrt.data import set_tables
from dlbrt.data.set_tables import SetLayout, are_hashed_alike, copy_of, give_contents, layouts_of

from tests.support.random_sets import history, random_set

SEEDS = range(400)
FIELDS: Any = set_tables._Header._fields_


class Text(str):
    __slots__ = ()


class Equal:
    """Equals everything."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return True


class Failing(Equal):
    """Can be compared with nothing."""

    __hash__ = Equal.__hash__

    def __eq__(self, other: object) -> bool:
        raise ValueError(self.number)


def crowded(kind: type[Equal]) -> frozenset[Any]:
    """A set that has just grown, so that its table has much room, of elements that go to the same entry."""
    for seed in range(100):
        numbers = [32 * number for number in random.Random(seed).sample(range(100), 6)]
        if layouts_of([frozenset(numbers)]) != [None]:
            return frozenset([*map(kind, numbers)])
    raise AssertionError("such a set keeps its order")


def rebuilt(held: set[Any]) -> set[Any]:
    (layout,) = layouts_of([held])
    if layout is None:
        return set([*held])  # noqa: C405  # as a pickle does it, one by one
    made: set[Any] = set()
    layout.fill(made)
    return made


def test_a_set_is_made_again_as_it_is() -> None:
    laid_out = 0
    for seed in SEEDS:
        held = random_set(seed)
        laid_out += layouts_of([held]) != [None]
        assert history(rebuilt(held)) == history(held), seed
    assert laid_out > len(SEEDS) // 2  # or the test shows nothing


FROZEN: dict[str, Callable[[set[Any]], frozenset[Any]]] = {
    "of a set": frozenset,
    "of a list": lambda held: frozenset([*held]),
    "less some": lambda held: frozenset(held) - {*[*held][:3]},
    "and more": lambda held: frozenset(held) | {5, 6, 1024},
    "in common": lambda held: frozenset(held) & {*range(0, 300, 2)},
}


@pytest.mark.parametrize("made", FROZEN.values(), ids=FROZEN.keys())
def test_a_frozen_set_is_made_again_as_it_is(made: Callable[[set[Any]], frozenset[Any]]) -> None:
    for seed in SEEDS:
        held = made(random_set(seed))
        (layout,) = layouts_of([held])
        again = frozenset([*held]) if layout is None else layout.frozen()
        # A copy of a set that has room for as many takes over its table.
        for grown in (set(), {1, 2, 3}):
            assert [*grown | again] == [*grown | held], seed
        assert [*again] == [*held], seed


def test_a_copy_has_the_table_and_so_has_what_gets_the_contents() -> None:
    for seed in SEEDS:
        held, other = random_set(seed), random_set(seed + 1)
        copied, again = copy_of(held), copy_of(held)
        give_contents(other, again)
        shown = history(held)
        assert history(copied) == shown, seed
        assert history(other) == shown, seed


def test_elements_stay_the_objects_that_they_are() -> None:
    held = {Text(number * 1021) for number in range(50)}
    held.difference_update([*held][::3])
    layout = set_tables._layout(set_tables._table_of(held), [*held])
    made: set[Any] = set()
    layout.fill(made)
    assert {*map(id, made)} == {*map(id, held)}
    assert [*made] == [*held]


def test_layouts_can_be_pickled() -> None:
    held = {number * 1024 for number in range(30)}
    held.discard(1024)
    (layout,) = layouts_of([held])
    assert isinstance(layout, SetLayout)
    assert pickle.loads(pickle.dumps(layout)) == layout


def test_sets_that_a_pickle_brings_have_no_layout() -> None:
    assert layouts_of([set(), {1}, frozenset({1, 2, 3}), set(range(1000))]) == [None] * 4


@pytest.mark.parametrize(
    ("kind", "found"),
    [(Equal, "in another order"), (Failing, r"cannot be compared with others \(ValueError\(\d+\)\)")],
)
def test_elements_that_compare_with_others_may_be_in_the_way_in_a_frozen_set(
    kind: type[Equal], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_tables, "_IS_SEEDED", True)
    held = crowded(kind)
    with pytest.raises(TypeError, match=found):
        layouts_of([held])
    assert [*rebuilt({*held})] == [*{*held}]


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("elements", "alike", "alike_if_seeded"),
    [
        ([1, 2.5, 3j, True, Fraction(1, 3)], True, True),
        ([(1, (2.0, frozenset({3})))], True, True),
        (["a", b"b", Colour.RED], False, True),
        ([(1, ("a",))], False, True),
        ([object()], False, False),
        ([(1, object())], False, False),
        ([int], False, False),
        ([], True, True),
    ],
)
def test_it_is_known_which_elements_are_hashed_alike_everywhere(
    elements: list[Any], alike: bool, alike_if_seeded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_tables, "_IS_SEEDED", False)
    assert are_hashed_alike(elements) is alike
    monkeypatch.setattr(set_tables, "_IS_SEEDED", True)
    assert are_hashed_alike(elements) is alike_if_seeded


@pytest.mark.parametrize(("seed", "seeded"), [("0", True), ("7", True), ("random", False), (None, False)])
def test_a_seed_for_all_ranks_is_seen(seed: str | None, seeded: bool) -> None:
    program = "from dlbrt.data import set_tables\nprint(set_tables._IS_SEEDED)"
    environ = {} if seed is None else {"PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ, timeout=60
    )
    assert done.stdout == f"{seeded}\n"


def test_sets_of_objects_of_their_own_get_no_layout() -> None:
    held = {object() for _ in range(50)}
    assert layouts_of([held]) == [None]
    copied = copy_of(held)
    assert copied == held
    other = {*[*held][:10], object()}
    give_contents(other, held)
    assert other == held


def test_an_interpreter_whose_tables_are_not_known_can_keep_orders_that_pickles_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_tables, "_is_readable", lambda: False)
    assert layouts_of([{1, 2, 3}]) == [None]
    other = {7}
    give_contents(other, {1, 2, 3})
    assert other == {1, 2, 3}
    with pytest.raises(TypeError, match="does not say in which order"):
        layouts_of([next(filter(_is_disordered, map(random_set, SEEDS)))])


def _is_disordered(held: set[Any]) -> bool:
    return [*set([*held])] != [*held]  # noqa: C405


def test_tables_of_another_form_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set_tables._is_readable.__wrapped__()

    class Other(ctypes.Structure):
        _fields_ = tuple((f"other_{name}" if name == "used" else name, kind) for name, kind in FIELDS)
        used = -1

    monkeypatch.setattr(set_tables, "_Header", Other)
    assert not set_tables._is_readable.__wrapped__()


def test_what_is_read_of_many_small_sets_is_little(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [{number, number + 1} for number in range(50)]
    asked: list[int] = []
    known = set_tables.are_hashed_alike

    def noted(elements: Any) -> bool:
        elements = [*elements]
        asked.append(len(elements))
        return known(elements)

    monkeypatch.setattr(set_tables, "are_hashed_alike", noted)
    assert layouts_of(held) == [None] * 50
    assert asked == [len([*chain.from_iterable(held)])]
