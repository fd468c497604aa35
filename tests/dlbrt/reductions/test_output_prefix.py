"""The output of iterations is shown in their order, once, as soon as there is no gap; the rest is kept."""

from __future__ import annotations

from array import array
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from dlbrt.reductions.journal import Piece
from dlbrt.reductions.operations import CALL, FLUSH, RAW, RECORD, WIDTH, WRITE
from dlbrt.reductions.output import OutputProperties
from dlbrt.reductions.output_prefix import OutputPrefix, add_run, detach, without
from hypothesis import given
from hypothesis import strategies as st

ABOUT = OutputProperties("latin-1", None, False)


def piece(entries: dict[int, list[tuple[Any, ...]]]) -> Piece:
    starts, listed = array("q"), list[tuple[Any, ...]]()
    for each in entries.values():
        starts.append(len(listed))
        listed += each
    return array("q", entries), starts, listed


def by_position(found: Piece) -> dict[int, list[tuple[Any, ...]]]:
    positions, starts, entries = found
    ends = [*starts[1:], len(entries)]
    return {p: entries[start:end] for p, start, end in zip(positions, starts, ends, strict=True)}


def line(position: int) -> list[tuple[Any, ...]]:
    return [(WRITE, str(position)), (WRITE, "\n")]


class Shown:
    """What has been shown, as text."""

    def __init__(self, fails_at: str = "") -> None:
        self.text = ""
        self._fails_at = fails_at

    def __call__(self, entry: tuple[Any, ...]) -> None:
        if entry[1] == self._fails_at:
            raise OSError("full")
        self.text += entry[1]


@given(st.data())
def test_what_is_shown_is_the_prefix_without_a_gap_and_nothing_is_lost(data: st.DataObject) -> None:
    first, n = data.draw(st.integers(0, 3)), data.draw(st.integers(4, 30))
    step = data.draw(st.integers(1, 3))
    silent = data.draw(st.sets(st.integers(0, n)))
    shown = Shown()
    bound = data.draw(st.sampled_from([0, 40, 1000]))
    runs = []
    for start in range(first, first + step):
        whole, cut = range(start, n, step), data.draw(st.integers(0, n))
        runs += [run for run in (whole[:cut], whole[cut:]) if run]
    done: set[int] = set(range(first))
    taken = data.draw(st.permutations(runs))[: data.draw(st.integers(0, len(runs)))]
    with closing(OutputPrefix(first, shown, bound)) as prefix:
        for run in taken:
            prefix.add([run], [(position, line(position)) for position in run if position not in silent])
            done |= set(run)
            reached = next(position for position in range(n + 1) if position not in done)
            assert prefix.reached == max(reached, first)
            assert shown.text == "".join(f"{p}\n" for p in range(first, reached) if p not in silent)
            assert {position for position in range(n) if prefix.holds(position)} == done
        extents, read = prefix.rest()
        left = [read(number) for number in range(len(extents))]
        assert [(each.first, each.last) for each in extents] == [
            (each.positions[0], each.positions[-1]) for each in left
        ]
        text = shown.text + "".join(entry[1] for each in left for entry in each.listed())
        assert text == "".join(f"{p}\n" for p in sorted(done) if p >= first and p not in silent)


def test_after_a_failure_nothing_more_is_shown() -> None:
    shown = Shown(fails_at="2")
    prefix = OutputPrefix(0, shown, bound=1000)
    prefix.add([range(1, 4)], [(position, line(position)) for position in range(1, 4)])
    assert (prefix.failure, shown.text) == (None, "")
    prefix.add([range(1)], [(0, line(0))])
    prefix.add([range(4, 5)], [(4, line(4))])
    assert shown.text == "0\n1\n"
    assert prefix.failure is not None
    assert (prefix.failure.position, str(prefix.failure.error)) == (2, "full")
    assert [extent.first for extent in prefix.rest()[0]] == [3]


def test_output_is_detached_but_for_that_of_an_iteration_that_has_failed() -> None:
    entries = {4: [(RAW, b"four"), (FLUSH,)], 6: line(6)}
    found = detach(piece(entries), range(2, 6), ABOUT)
    assert (found.done, found.output, found.complete) == (range(2, 6), [(4, entries[4])], False)
    assert by_position(found.rest) == {6: entries[6]}


def test_what_an_iteration_writes_late_is_not_overtaken() -> None:
    entries = {3: line(3), 5: line(5)}
    found = detach(piece(entries), range(4, 6), ABOUT)
    assert (found.done, found.output, found.complete) == (range(0), [], False)
    assert by_position(found.rest) == entries


@pytest.mark.parametrize(
    "entry", [(WRITE, "\u20ac"), (RECORD, None), (WRITE, "\ud800")], ids=["no character", "record", "half"]
)
def test_from_the_first_entry_on_that_has_to_be_replayed_all_stays(entry: tuple[Any, ...]) -> None:
    entries = {2: line(2), 4: [*line(4), entry], 6: line(6)}
    found = detach(piece(entries), range(0, 8, 2), ABOUT)
    assert (found.done, found.output, found.complete) == (range(0, 4, 2), [(2, [(WRITE, "2\n")])], False)
    assert by_position(found.rest) == {4: entries[4], 6: entries[6]}


TOTAL, ITEMS = WIDTH, 2 * WIDTH


def test_what_is_contributed_stays_in_the_journal() -> None:
    entries = {
        3: [(TOTAL, 0.5)],
        4: [*line(4), (TOTAL, 2)],
        5: [(ITEMS + CALL, "append", (5,), {}), *line(5)],
    }
    found = detach(piece(entries), range(4, 6), ABOUT)
    assert (found.done, found.complete) == (range(4, 6), True)
    assert found.output == [(4, [(WRITE, "4\n")]), (5, [(WRITE, "5\n")])]
    assert by_position(found.rest) == {3: entries[3], 4: [(TOTAL, 2)], 5: entries[5][:1]}


@pytest.mark.parametrize(
    "entry",
    [
        (TOTAL, None),
        (TOTAL, 10**400),
        (TOTAL, np.float64(1)),
        (ITEMS + CALL, "insert", (0, 1), {}),
        (TOTAL + 6, 2.0),
    ],
    ids=["None", "large", "numpy", "insert", "product"],
)
def test_from_the_first_contribution_on_that_may_fail_all_stays(entry: tuple[Any, ...]) -> None:
    entries = {2: line(2), 4: [*line(4), entry], 6: line(6)}
    found = detach(piece(entries), range(0, 8, 2), ABOUT)
    assert (found.done, found.output, found.complete) == (range(0, 4, 2), [(2, [(WRITE, "2\n")])], False)
    assert by_position(found.rest) == {4: entries[4], 6: entries[6]}


def test_texts_that_follow_each_other_are_one_and_stay_in_order() -> None:
    entries = [(WRITE, "a"), (WRITE, "b"), (RAW, b"c"), (FLUSH,), (FLUSH,), (WRITE, "d")]
    [(_, shown)] = detach(piece({0: entries}), range(1), ABOUT).output
    assert shown == [(WRITE, "ab"), (RAW, b"c"), (FLUSH,), (FLUSH,), (WRITE, "d")]


def test_characters_that_the_stream_has_are_shown() -> None:
    assert detach(piece({0: [(WRITE, "\u00fc")]}), range(1), ABOUT).complete


def test_a_piece_without_some_positions_keeps_the_others() -> None:
    entries = {1: line(1), 2: line(2), 3: [*line(3), (TOTAL, 1)], 7: line(7)}
    kept = {1: entries[1], 3: [(TOTAL, 1)], 7: entries[7]}
    assert by_position(without(piece(entries), [2, 3])) == kept


@given(st.lists(st.sets(st.integers(0, 40), min_size=1, max_size=3)))
def test_runs_are_joined_where_they_continue_each_other(sets: list[set[int]]) -> None:
    runs: list[range] = []
    added = []
    for positions in sets:
        for position in sorted(positions):
            add_run(runs, range(position, position + 1))
            added.append(position)
    assert [position for run in runs for position in run] == added


def test_runs_of_one_step_are_one_run() -> None:
    runs: list[range] = []
    for run in (range(4), range(0), range(4, 6), range(9, 15, 2), range(15, 19, 2), range(19, 20)):
        add_run(runs, run)
    assert runs == [range(6), range(9, 20, 2)]
