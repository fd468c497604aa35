"""What iterations touch, all at once or one by one, is what Python's own subscripts reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.data import access_table as module
from dlbrt.data.access_table import AccessTable, FootprintError, evaluate
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans
from hypothesis import given
from hypothesis import strategies as st

IX = np.random.default_rng(5).integers(-40, 40, 400)
PTR = np.concatenate([[0], np.cumsum(np.abs(IX) % 5)])

SUBSCRIPTS: list[Callable[[int], Any]] = [
    lambda i: i,
    lambda i: IX[i],
    lambda i: int(IX[i]),
    lambda i: IX.tolist()[i],
    lambda i: (IX[i], i, 3),
    lambda i: (IX[i] - i, -i),
    lambda i: slice(PTR[i], PTR[i + 1]),
    lambda i: slice(int(PTR[i]), int(PTR[i + 1])),
    lambda i: (slice(PTR[i], PTR[i + 1]), i),
    lambda i: slice(i * (i + 1) // 2, (i + 1) * (i + 2) // 2),
    lambda i: (slice(None, i), slice(-i, None)),
    lambda i: slice(-3 - i, -1),
    lambda i: slice(i, 2 * i, 1),
    lambda i: i if i % 3 else slice(i, i + 4),
    lambda i: (i,) * (i % 3),
    lambda i: i * i * 10**17,
    lambda i: 10**30 - i,
    lambda i: slice(i, 10**30),
    lambda i: IX.astype(np.uint8)[i],
    lambda i: (),
    lambda i: 7,
]


def reached(found: Any, length: int) -> set[int]:
    """The rows that Python's own subscripts reach."""
    rows: set[int] = set()
    for item in found if isinstance(found, tuple) else (found,):
        part = item if isinstance(item, slice) else range(int(item), int(item) + 1)
        if isinstance(part, slice):
            rows.update(range(length)[part])
        elif -length <= part[0] < length:
            rows.add(part[0] % length)
    return rows


def rows(table: AccessTable, *positions: int) -> set[int]:
    spans = Spans.of(*(range(p, p + 1) for p in positions))
    return {row for run in table.rows(spans) for row in run}


@pytest.mark.parametrize("number", range(len(SUBSCRIPTS)))
@pytest.mark.parametrize("n", [1, 20, 99])
@pytest.mark.parametrize("length", [0, 1, 60])
@pytest.mark.parametrize("index", [IndexMap(0, 1), IndexMap(100, -1), IndexMap(3, 2)], ids=str)
def test_tables_agree_with_python(number: int, n: int, length: int, index: IndexMap) -> None:
    subscripts = SUBSCRIPTS[number]
    table = evaluate(subscripts, index, n, length)
    for p in range(n):
        assert rows(table, p) == reached(subscripts(index.value(p)), length)
    stretches = zip(*(part.tolist() for part in table.stretches()), strict=True)
    touched = {(row, p) for start, stop, p in stretches for row in range(start, stop)}
    assert touched == {(row, p) for p in range(n) for row in reached(subscripts(index.value(p)), length)}


@given(st.lists(st.tuples(st.integers(0, 98), st.integers(1, 9), st.integers(1, 4)), max_size=5), st.data())
def test_rows_of_shares_are_sorted_disjoint_and_complete(
    ranges: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    subscripts = data.draw(st.sampled_from(SUBSCRIPTS))
    taken = {p for a, n, s in ranges for p in range(a, min(99, a + n * s), s)}
    table = evaluate(subscripts, IndexMap(0, 1), 99, 60)
    found = table.rows(Spans.of(*(range(p, p + 1) for p in sorted(taken))))
    listed = [row for run in found for row in run]
    assert all(run.step >= 1 and run for run in found)
    assert listed == sorted(set(listed))
    assert set(listed) == {row for p in taken for row in reached(subscripts(p), 60)}


def test_the_index_itself_is_the_row_where_no_subscript_is_given() -> None:
    assert rows(evaluate(None, IndexMap(2, 1), 100, 50), 0, 1, 99) == {2, 3}


def test_an_empty_loop_touches_nothing() -> None:
    table = evaluate(lambda i: i, IndexMap(0, 1), 0, 5)
    assert table.rows(Spans(())) == ()
    assert table.mean() == 0


def test_arrays_are_subscripted_for_all_iterations_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def subscripts(i: Any) -> Any:
        calls.append(1)
        return slice(PTR[i], PTR[i + 1])

    evaluate(subscripts, IndexMap(0, 1), 300, 2000)
    assert len(calls) == 4  # once for all, and three to be sure


def test_what_differs_one_by_one_is_evaluated_one_by_one() -> None:
    seen: list[int] = []

    def subscripts(i: Any) -> Any:
        seen.append(1)
        return 5 if type(i) is int else i

    table = evaluate(subscripts, IndexMap(0, 1), 200, 300)
    assert rows(table, *range(200)) == {5}
    assert len(seen) == 204


@pytest.mark.parametrize(
    ("subscripts", "reason"),
    [
        (lambda i: [1, 2][i], "iteration 2 touches .*IndexError"),
        (lambda i: 1 // (i - 70), "iteration 70 touches .*ZeroDivisionError"),
        (lambda i: i / 2, "integers and slices"),
        (lambda i: "rows", "integers and slices"),
        (lambda i: slice(0, i, 2), "without a step"),
        (lambda i: slice(i / 2, None), "integers"),
        (lambda i: slice(i - 2, i + 1), "rows -2 to 1 lie on both sides"),
        (lambda i: np.array([i]), "integers and slices"),
    ],
)
def test_what_cannot_be_told_is_said(subscripts: Callable[[int], Any], reason: str) -> None:
    with pytest.raises(FootprintError, match=reason):
        evaluate(subscripts, IndexMap(0, 1), 100, 50)


def test_short_loops_are_evaluated_one_by_one() -> None:
    def subscripts(i: Any) -> Any:
        assert type(i) is int
        return i

    assert rows(evaluate(subscripts, IndexMap(0, 1), module._SHORT, 100), 3) == {3}
