"""Logs are cut into segments that ascend, bounded in length, and are put away and found again."""

from __future__ import annotations

from array import array
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from dlbrt.reductions.journal import Extent, Journal, NumericEntries, Piece, Segment, SegmentStore, compact
from dlbrt.reductions.replay import SegmentId, merged

Listed = list[tuple[list[int], list[Any]]]


def listed(segments: list[Segment]) -> Listed:
    return [
        ([segment.position(k) for k in range(len(segment.entries))], [entry[1] for entry in segment.listed()])
        for segment in segments
    ]


def work(journal: Journal, run: range, entries: dict[int, list[str]]) -> None:
    for position in journal.marked(iter(run)):
        journal.log += [(0, text) for text in entries.get(position, [])]
    journal.end_run(run)


def test_runs_that_ascend_share_a_segment_and_others_begin_one() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    journal.mark_all()
    work(journal, range(4, 8), {5: ["a", "b"], 7: ["c"]})
    work(journal, range(10, 50, 2), {12: ["d"], 48: ["e"]})
    work(journal, range(3), {0: ["f"]})
    work(journal, range(3, 4), {})
    journal.finish()
    assert listed(kept) == [([5, 5, 7, 12, 48], ["a", "b", "c", "d", "e"]), ([0], ["f"])]
    assert journal.extents == [Extent(5, 48), Extent(0, 0)]


def test_a_long_log_is_cut_within_a_run() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append, long=2)
    journal.mark_all()
    run = range(6)
    for position in journal.marked(iter(run)):
        journal.log.append((0, str(position)))
        if journal.is_due:
            journal.cut(run, position + 1)
    journal.end_run(run)
    journal.finish()
    assert listed(kept) == [([0, 1], ["0", "1"]), ([2, 3], ["2", "3"]), ([4, 5], ["4", "5"])]


def test_an_entry_for_the_iteration_before_goes_there_across_a_cut() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    journal.mark_all()
    run = range(10, 13)
    for done, position in enumerate(journal.marked(iter(run))):
        if done:
            journal.before((0, f"share of {position - 1}"))
        journal.cut(run, done + 1)
    journal.log.append((0, "share of 12"))
    journal.end_run(run)
    journal.finish()
    positions = [position for positions, _ in listed(kept) for position in positions]
    assert positions == [10, 11, 12]
    assert [text for _, texts in listed(kept) for text in texts] == [f"share of {p}" for p in positions]


def test_where_only_output_comes_the_writer_marks() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    items = iter(range(3))
    assert journal.marked(items) is items
    for ordinal in (1, 1, 4):
        journal.note(ordinal)
        journal.log.append((0, str(ordinal)))
    journal.end_run(range(100, 200, 10))
    journal.log.append((0, "between runs"))
    journal.end_run(range(0))
    journal.finish()
    assert [position for positions, _ in listed(kept) for position in positions] == [110, 110, 140, 140]


def test_floats_of_one_code_are_kept_as_an_array() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    journal.mark_all()
    for _ in journal.marked(iter(range(50))):
        journal.log.append((7, 0.5))
    journal.end_run(range(50))
    journal.finish()
    assert isinstance(kept[0].entries, NumericEntries)
    assert kept[0].part(10, 20).listed() == [(7, 0.5)] * 10


def test_segments_come_one_after_the_other_where_they_do_not_overlap() -> None:
    order: list[SegmentId] = []
    extents = [[Extent(0, 9), Extent(30, 39)], [Extent(20, 29), Extent(10, 19)], [Extent(90, 99)]]

    def fetch(place: SegmentId) -> Segment:
        order.append(place)
        extent = extents[place.rank][place.number]
        positions = np.arange(extent.first, extent.last + 1)
        return Segment(positions, np.arange(10), [(0, int(p)) for p in positions])

    open_at_once = []
    for segment in merged(extents, fetch, 35):
        open_at_once.append(len(order))
        assert len(segment.positions) in (6, 10)
    assert order == [SegmentId(0, 0), SegmentId(1, 1), SegmentId(1, 0), SegmentId(0, 1)]
    assert open_at_once == [1, 2, 3, 4]


@pytest.mark.parametrize("each", [1, 3])
def test_numbers_of_iterations_that_interleave_go_to_these(each: int) -> None:
    kept: list[list[Segment]] = [[], []]
    extents = []
    for rank in range(2):
        journal = Journal(kept[rank].append)
        journal.mark_all()
        run = range(rank, 8, 2)
        for position in journal.marked(iter(run)):
            journal.log += [(6, position + k / 8) for k in range(each + (position == 4))]
        journal.end_run(run)
        journal.finish()
        extents.append(journal.extents)
    assert isinstance(kept[0][0].entries, NumericEntries)
    found = [*merged(extents, lambda place: kept[place.rank][place.number], 7)]
    expected = [position + k / 8 for position in range(8) for k in range(each + (position == 4))]
    assert all(isinstance(segment.entries, NumericEntries) for segment in found)
    assert [number for _, numbers in listed(found) for number in numbers] == expected
    assert [place for places, _ in listed(found) for place in places] == [int(number) for number in expected]


@pytest.mark.parametrize("bound", [0, 5, 100])
def test_what_is_put_away_is_found_again(bound: int) -> None:
    pieces = [b"one", b"", b"three", b"four"]
    with closing(SegmentStore(bound)) as segment_store:
        for piece in pieces:
            segment_store.add(piece)
        assert [segment_store.take(number) for number in (3, 0, 2, 1)] == [pieces[k] for k in (3, 0, 2, 1)]


def test_an_integer_among_floats_stays_one() -> None:
    segment = compact(np.array([0]), np.array([0]), [(0, 1.5), (0, 2)])
    assert segment.listed() == [(0, 1.5), (0, 2)]


def test_partners_of_pairs_are_piled_up_apart_from_the_lower_positions() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    journal.mark_all()
    for low, high in ((range(2), range(18, 20)), (range(2, 5), range(15, 18))):
        for run, descending in ((low, False), (high, True)):
            for position in journal.marked(iter(run)):
                journal.log.append((0, str(position)))
            journal.end_run(run, descending=descending)
    journal.finish()
    lower, upper = list(range(5)), list(range(15, 20))
    assert listed(kept) == [(lower, list(map(str, lower))), (upper, list(map(str, upper)))]
    assert journal.extents == [Extent(0, 4), Extent(15, 19)]


def test_a_pile_that_is_long_is_closed_and_begun_anew() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append, long=3)
    journal.mark_all()
    for high in (range(8, 10), range(6, 8), range(4, 6)):
        for position in journal.marked(iter(high)):
            journal.log.append((0, str(position)))
        journal.end_run(high, descending=True)
    journal.finish()
    assert journal.extents == [Extent(6, 9), Extent(4, 5)]


class Taking:
    """Takes the entries of even positions; ``done`` has the positions that it is given as done."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.taken: list[tuple[int, Any]] = []

    def is_due(self, *, logged: bool) -> bool:
        return logged

    def take(self, piece: Piece, done: range) -> Piece:
        self.done += done
        kept: Piece = array("q"), array("q"), []
        for position, entry in zip(piece[0], piece[2], strict=True):
            if position % 2 == 0:
                self.taken.append((position, entry[1]))
            else:
                kept[0].append(position)
                kept[1].append(len(kept[2]))
                kept[2].append(entry)
        return kept

    def finished(self, done: range) -> None:
        self.done += done


def test_what_is_taken_out_as_iterations_are_done_is_in_no_segment() -> None:
    kept: list[Segment] = []
    journal = Journal(kept.append)
    journal.live = live = Taking()
    for done, position in enumerate(range(4, 12)):  # positions 6 and 7 write nothing
        if position not in (6, 7):
            journal.note(done)
            journal.log.append((0, position))
        if journal.is_due:
            journal.cut(range(4, 20), done + 1)
    journal.end_run(range(4, 12))
    assert live.done == list(range(4, 12))
    journal.note(0)
    journal.log.append((0, "raised"))
    journal.end_run(range(12, 13), failed=True)
    journal.end_run(range(20, 23))
    assert live.done == [*range(4, 12), *range(20, 23)]
    journal.finish()
    assert live.taken == [(4, 4), (8, 8), (10, 10), (12, "raised")]
    assert [entry for segment in kept for entry in segment.listed()] == [(0, 5), (0, 9), (0, 11)]


def test_a_failing_iteration_is_not_among_those_done() -> None:
    journal = Journal(lambda _: None)
    journal.live = live = Taking()
    journal.end_run(range(3, 9, 2), failed=True)
    journal.cut(range(10, 20), 4)
    journal.end_run(range(10, 16), failed=True)
    assert live.done == [3, 5, *range(10, 15)]
