"""Chunks of compiled iterations: what they refuse, and what is put back where Python fails afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from dlbrt.native import chunks as native_chunks
from dlbrt.native.arguments import NotCompiled
from dlbrt.native.chunk_spec import ChunkSpec, check_index
from dlbrt.native.chunks import CompiledChunks
from dlbrt.native.numerics import count_note, no_room, note, put

pytestmark = pytest.mark.filterwarnings("default")


def _chunk(first, last, step, results, A, x):
    for i in range(first, last, step):
        A[i] = i * x
    return last


def _columns(first, last, step, results, A, x):
    for i in range(first, last, step):
        A[:, i] = i * x
    return last


@pytest.mark.parametrize("values", [range(2, 9), range(8, -1, -2), range(-9, -1, 3)])
def test_what_iterations_after_a_failure_have_stored_is_put_back(values: range) -> None:
    A = np.full(10, -1.0)
    chunks = CompiledChunks(ChunkSpec([_chunk], rows={"A": 0}), [A, 2.0])
    assert chunks.run(values) == len(values)
    chunks.undo(2)
    expected = np.full(10, -1.0)
    expected[list(values[:2])] = [2.0 * i for i in values[:2]]
    assert A.tolist() == expected.tolist()


def test_columns_are_put_back() -> None:
    A: Any = np.arange(12.0).reshape(3, 4)
    chunks = CompiledChunks(ChunkSpec([_columns], rows={"A": 1}), [A, 2.0])
    chunks.run(range(1, 4))
    chunks.undo(1)
    assert A.tolist() == [[0, 2, 2, 3], [4, 2, 6, 7], [8, 2, 10, 11]]


def test_indices_of_more_bits_than_integers_may_have_are_refused() -> None:
    check_index(2**40, 62)
    with pytest.raises(NotCompiled, match="index is so large"):
        check_index(2**40, 40)


def chosen(seconds: Sequence[float], monkeypatch: pytest.MonkeyPatch) -> str:
    """The form that runs the third chunk, where iterations take so long in the turns of the second."""

    def first(start, last, step, results, A):
        return last

    def second(start, last, step, results, A):
        return last

    chunks = CompiledChunks(ChunkSpec([first, second]), [np.zeros(3)])
    clock, ran = SimpleNamespace(now_s=0.0), []
    durations = iter([1.0, *seconds, 1.0, 1.0])

    def run(form: Any, values: range) -> int:
        ran.append((form.py_func.__name__, values))
        clock.now_s += next(durations) * len(values)
        return values.stop

    monkeypatch.setattr(chunks, "_run", run)
    monkeypatch.setattr(native_chunks, "time", SimpleNamespace(perf_counter=lambda: clock.now_s))
    for begin in (0, 100, 200):
        assert chunks.run(range(begin, begin + 100)) == 100
    assert [i for _, values in ran for i in values] == list(range(300))
    name, _ = ran[-1]
    return str(name).partition("_")[0]


#: The parts are run in the second form, the first, the first, the second, the second, the first.
@pytest.mark.parametrize(
    ("seconds", "form"),
    [
        ((1.0, 2.0, 2.0, 1.0, 1.0, 2.0), "second"),
        ((2.0, 1.0, 1.0, 2.0, 2.0, 1.0), "first"),
        ((0.95, 1.0, 1.0, 0.95, 0.95, 1.0), "first"),  # too little for a change
        ((1.0, 2.0, 2.0, 9.0, 1.0, 2.0), "second"),  # one part is disturbed
        ((2.0, 9.0, 1.0, 2.0, 2.0, 1.0), "first"),
        ((6.0, 5.9, 5.0, 4.5, 4.0, 3.9), "first"),  # iterations cost less and less
    ],
)
def test_one_disturbed_part_does_not_decide_on_the_form(
    seconds: tuple[float, ...], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen(seconds, monkeypatch) == form


def three_forms() -> list[Any]:
    """Forms that do nothing: two that are compared, and the one as written."""

    def first(start, last, step, results, A):
        return last

    def second(start, last, step, results, A):
        return last

    def written(start, last, step, results, A):
        return last

    return [first, second, written]


@pytest.mark.parametrize(("count", "found"), [(1, 1), (31, 31), (32, 64), (64, 64), (65, 128), (200, 256)])
def test_chunks_are_whole_strips_where_they_are_not_much_longer(count: int, found: int) -> None:
    chunks = CompiledChunks(ChunkSpec([_chunk], strip=64), [np.zeros(3), 1.0])
    assert chunks.in_strips(count) == found
    assert CompiledChunks(ChunkSpec([_chunk]), [np.zeros(3), 1.0]).in_strips(count) == count


def test_forms_are_compared_by_whole_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = CompiledChunks(ChunkSpec(three_forms(), strip=64), [np.zeros(3)])
    lengths = []
    clock = SimpleNamespace(now_s=0.0)

    def run(form: Any, values: range) -> int:
        lengths.append(len(values))
        clock.now_s += len(values) * 1e-3
        return values.stop

    monkeypatch.setattr(chunks, "_run", run)
    monkeypatch.setattr(native_chunks, "time", SimpleNamespace(perf_counter=lambda: clock.now_s))
    for length in (50, 50, 80, 500):
        chunks.run(range(length))
    assert lengths == [50, 50, 64, 16, 64, 64, 64, 64, 64, 180]


def test_runs_that_are_short_compare_forms_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run has room for more than three turns, and both turns of a pair are of one run."""

    spec, clock, ran = ChunkSpec(three_forms(), strip=64), SimpleNamespace(now_s=0.0), []

    def run(form: Any, values: range) -> int:
        ran.append(form.py_func.__name__.partition("_")[0])
        clock.now_s += len(values) * (1e-3 if ran[-1] == "second" else 2e-3)
        return values.stop

    monkeypatch.setattr(native_chunks, "time", SimpleNamespace(perf_counter=lambda: clock.now_s))
    turns = []
    for _ in range(5):
        chunks = CompiledChunks(spec, [np.zeros(3)])
        monkeypatch.setattr(chunks, "_run", run)
        ran.clear()
        for length in (64, 192):
            chunks.run(range(length))
        turns.append([*ran])
    one = ["first", "second", "first", "first"]  # the last one is of the second pair, which the run ends
    assert turns == [one, ["first", "first", "second", "second"], ["first", "second", "first", "second"],
                     ["second"] * 2, ["second"] * 2]  # fmt: skip


def test_what_iterations_leave_is_kept_while_forms_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(start, last, step, results, A):
        for i in range(start, last, step):
            A[i] = 2.0 * i
            put(results, 0, (i - start) // step, i)
        return last

    def second(start, last, step, results, A):
        for i in range(start, last, step):
            A[i] = i + i
            put(results, 0, (i - start) // step, i)
        return last

    monkeypatch.setattr(native_chunks, "_LEAST_S", 0.0)
    chunks = CompiledChunks(ChunkSpec([first, second], columns=[frozenset()]), [np.zeros(90)])
    for values in (range(8), range(8, 50), range(50, 90)):
        assert chunks.run(values) == len(values)
        assert [list(column) for column in chunks.columns(len(values))] == [list(values)]


def test_notes_for_which_there_is_no_room_are_made_again_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def form(first, last, step, results, A):
        at = 0
        for i in range(first, last, step):
            put(results, 0, (i - first) // step, at)
            for j in range(i):
                if no_room(results, at):
                    return i
                note(results, 0, at, A[j] + i)
                at = count_note(results, at)
            put(results, 1, (i - first) // step, at)
        return last

    monkeypatch.setattr(native_chunks, "_NOTES", 4)
    spec = ChunkSpec([form], columns=[frozenset()] * 2, notes=[frozenset()], noted={0: [0]})
    chunks = CompiledChunks(spec, [np.arange(40.0)])
    for values in (range(6), range(6, 40)):
        assert chunks.run(values) == len(values)
        [notes] = chunks.columns(len(values))
        assert [list(each) for each in notes] == [[float(j + i) for j in range(i)] for i in values]


def test_chunks_of_some_microseconds_compare_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first(start, last, step, results, A):
        return last

    def second(start, last, step, results, A):
        return last

    chunks = CompiledChunks(ChunkSpec([first, second]), [np.zeros(3)])
    ran = []
    clock = SimpleNamespace(now_s=0.0)

    def run(form: Any, values: range) -> int:
        ran.append(values)
        clock.now_s += len(values) * 1e-6
        return values.stop

    monkeypatch.setattr(chunks, "_run", run)
    monkeypatch.setattr(native_chunks, "time", SimpleNamespace(perf_counter=lambda: clock.now_s))
    short = [range(200)] * 20
    for values in short:
        chunks.run(values)
    assert ran == short
    chunks.run(range(600))
    assert len(ran) > len(short) + 1
