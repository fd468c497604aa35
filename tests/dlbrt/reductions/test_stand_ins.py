"""Stand-ins log what is done to them, as it was, and refuse any other use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.reductions.grouping import GroupingAdder
from dlbrt.reductions.identities import BooleanIdentity, ExtremumIdentity, FirstValue, Identity, has_order
from dlbrt.reductions.kinds import ELEMENTS, REDUCE
from dlbrt.reductions.operations import MisuseError, StandIn
from dlbrt.reductions.private_copies import container_shape, private_copy_spec
from dlbrt.reductions.proxies import (
    LoggingAccumulator,
    LoggingAdder,
    LoggingContainer,
    LoggingExtremum,
    adder,
)

Log = list[tuple[Any, ...]]


def test_numpy_leaves_the_operation_to_the_stand_in() -> None:
    log: Log = []
    total = LoggingAccumulator(log.append, 0)
    row = np.arange(3.0)
    assert row + total is total
    assert np.float64(2.0) + total is total
    assert max(LoggingExtremum(log.append, 0, "max"), np.float64(1.0)) is not None
    row[0] = 9.0
    assert log[0][1].tolist() == [0.0, 1.0, 2.0]
    assert [type(operand).__name__ for _, operand in log] == ["ndarray", "float64", "float64"]


def test_operands_that_can_change_are_kept_as_they_were() -> None:
    log: Log = []
    total: Any = LoggingAccumulator(log.append, 0)
    pieces, names = [1], {"a": 1}
    total += pieces
    total += (x for x in (5, 6))
    total += names.keys()
    pieces.append(2)
    names["b"] = 2
    assert [operand for _, operand in log] == [[1], [5, 6], ["a"]]


class Vector:
    def __init__(self, x: float) -> None:
        self.xs = [x]


def test_objects_are_kept_as_they_were_but_stay_themselves_as_elements_and_keys() -> None:
    log: Log = []
    total: Any = LoggingAccumulator(log.append, 0)
    best: Any = LoggingExtremum(log.append, 0, "max")
    hist: Any = LoggingContainer(log.append, 0, "+")
    vector = Vector(1.0)
    total += vector
    total += [vector]
    total += (vector,)
    hist[vector] += 1
    best = max(best, vector)
    vector.xs[0] = 2.0
    assert log[0][1].xs == [1.0]
    assert [log[1][1][0], log[2][1][0], log[3][1], log[4][1]] == [vector] * 4


def test_ties_and_values_that_lose_are_not_logged_twice() -> None:
    log: Log = []
    low: Any = LoggingExtremum(log.append, 0, "min")
    for value in (5, 7, 5, float("nan"), 3, 4, 3.0, 2.5):
        low = min(low, value)
    assert repr([operand for _, operand in log]) == "[5, nan, 3, 3.0, 2.5]"


def test_an_element_that_is_only_read_is_not_logged() -> None:
    log: Log = []
    hist: Any = LoggingContainer(log.append, 0, "+")
    hist[1] + 5
    hist[2] = hist[2]
    assert log == []
    hist[1] = 2 + hist[1] + 5
    assert [(entry[1], entry[2]) for entry in log] == [(1, [(2, 2), (0, 5)])]


def test_keys_that_can_change_are_kept_as_they_were() -> None:
    log: Log = []
    hist: Any = LoggingContainer(log.append, 0, "+")
    where = np.array([0, 1])
    hist[where] += 1
    np.add.at(hist, where, 2.0)
    where[0] = 9
    assert log[0][1].tolist() == [0, 1]
    assert log[1][2][0].tolist() == [0, 1]


MISUSES: list[Callable[[Any], Any]] = [
    lambda s: bool(s),
    lambda s: s == 1,
    lambda s: f"{s}",
    lambda s: float(s),
    lambda s: s[0] if not isinstance(s, LoggingContainer) else s[0].real,
    lambda s: len(s),
    lambda s: list(s),
    lambda s: s.shape,
    lambda s: s / 2,
    lambda s: np.sqrt(s),
    lambda s: LoggingAccumulator([].append, 0) + s,
]


@pytest.mark.parametrize("use", MISUSES, ids=range(len(MISUSES)))
@pytest.mark.parametrize("kind", ["total", "hist", "items"])
def test_any_other_use_is_an_error(kind: str, use: Callable[[Any], Any]) -> None:
    log: Log = []
    made: dict[str, StandIn] = {
        "total": LoggingAccumulator(log.append, 0),
        "hist": LoggingContainer(log.append, 0, "+"),
        "items": LoggingAdder(log.append, 0),
    }
    with pytest.raises((MisuseError, TypeError)):
        use(made[kind])
    assert log == []


def test_a_store_of_another_element_is_an_error() -> None:
    hist: Any = LoggingContainer([].append, 0, "+")
    for value in (0, hist[2]):
        with pytest.raises(MisuseError, match="stored to in another way"):
            hist[1] = value


def test_identities() -> None:
    start: Any = Identity()
    row = np.zeros(2)
    assert str(start + -0.0) == "-0.0"
    assert ("a" + start, start + "b", start * 7) == ("a", "b", 7)
    first = start + row
    row[0] = 1.0
    assert first.tolist() == [0.0, 0.0]
    assert ((BooleanIdentity(True) and 5), (BooleanIdentity(False) or 5)) == (5, 5)
    assert float("inf") < ExtremumIdentity()  # type: ignore[operator]
    assert not float("nan") > ExtremumIdentity()  # type: ignore[operator]


def test_what_has_no_total_order_is_not_selected_from() -> None:
    assert has_order((1.5, "a", np.int64(3)))
    for value in ({1}, (1.0, float("nan")), np.zeros(2), object()):
        assert not has_order(value)
    with pytest.raises(MisuseError, match="no total order"):
        assert {1} < ExtremumIdentity()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("real", "key", "error"),
    [
        ({"a": 1.0}, "b", KeyError("b")),
        ([1.0, 2.0], 2, IndexError("list index out of range")),
        (np.zeros((2, 3)), (1, 3), IndexError("index 3 is out of bounds for axis 1 with size 3")),
    ],
    ids=["dict", "list", "array"],
)
def test_an_element_that_is_missing_fails_where_it_is_read(real: Any, key: Any, error: Exception) -> None:
    log: Log = []
    known = container_shape(ELEMENTS("+"), real)
    assert known is not None
    hist: Any = LoggingContainer(log.append, 0, "+", known.reader())
    with pytest.raises(type(error)) as caught:
        hist[key] += 1.0
    assert caught.value.args == error.args
    assert log == []


def test_places_are_not_known_where_they_may_grow_or_keys_are_no_plain_values() -> None:
    assert container_shape(ELEMENTS("+", grows=True), {"a": 1}) is None
    assert container_shape(ELEMENTS("+"), {Vector(1.0): 1}) is None
    assert container_shape(REDUCE("+"), [1]) is None


def test_an_array_takes_what_is_stored_as_it_is_then() -> None:
    log: Log = []
    stand: Any = adder(np.zeros((2, 2)))(log.append, 0)
    row, key = np.ones(2), np.array([1])
    stand[key] = row
    row[0], key[0] = 5.0, 0
    assert [log[0][1].tolist(), log[0][2].tolist()] == [[1], [1.0, 1.0]]


def test_a_list_takes_objects_themselves_and_slices_what_they_hold() -> None:
    log: Log = []
    stand: Any = adder([0, 0])(log.append, 0)
    row = [1, 2]
    stand[0] = row
    stand[0:2] = row
    row.append(3)
    assert log[0][2] is row
    assert log[1][2] == [1, 2]


@pytest.mark.parametrize("real", [{}, set()])
def test_what_has_no_hash_fails_where_it_is_added(real: Any) -> None:
    log: Log = []
    stand: Any = adder(real)(log.append, 0)
    add = stand.add if isinstance(real, set) else lambda item: stand.__setitem__(item, 0)
    with pytest.raises(TypeError, match="unhashable"):
        add([1])
    assert log == []


@pytest.mark.parametrize("dtype", ["u1", "u8", "i4"])
def test_a_private_array_starts_from_what_leaves_bits_alone(dtype: str) -> None:
    alike = private_copy_spec(ELEMENTS("&", integer=True), np.full(3, 6, dtype))
    assert alike is not None
    private = alike.private("&", 3)
    assert (private & 5).tolist() == [5, 5, 5]


def test_a_largest_value_among_iterations_of_others_drops_nothing() -> None:
    log: Log = []
    largest: Any = LoggingExtremum(log.append, 0, "max", stretch=False)
    for value in (0, 7, 1):
        largest = max(value, largest)
    assert [value for _, value in log] == [0, 7, 1]


def test_integers_are_added_up_apart_in_integers_alone() -> None:
    spec = ELEMENTS("+", integer=True)
    assert private_copy_spec(spec, np.zeros(3, np.int64)) is not None
    assert private_copy_spec(spec, np.zeros(3)) is None  # from 2**53 on, sums of doubles depend on the order
    assert private_copy_spec(ELEMENTS("+"), np.zeros(3, np.int64)) is None


def test_nan_is_the_first_value_only_where_the_loop_begins() -> None:
    log: Log = []
    nan = float("nan")
    assert nan < FirstValue(log.append, 0, at_start=True)
    assert not nan < FirstValue(log.append, 0, at_start=False)
    assert FirstValue(log.append, 0, at_start=False) > 1.0
    assert [(entry[1] != entry[1], entry[2]) for entry in log] == [(True, None)]
    with pytest.raises(MisuseError):
        assert {1} < FirstValue(log.append, 0, at_start=True)


def test_an_item_is_read_once_and_fails_where_the_container_would() -> None:
    log: Log = []
    groups = GroupingAdder(log.append, 0)
    groups["a"].append(1)
    groups["a"].append(2)
    groups.setdefault("b", []).append(3)
    assert [len(entry) for entry in log] == [2, 5, 5, 4, 5]
    fixed = GroupingAdder(log.append, 0, {"a": None}.__getitem__)
    fixed["a"].append(1)
    with pytest.raises(KeyError):
        fixed["b"].append(1)
    with pytest.raises(MisuseError):
        len(groups["a"])
