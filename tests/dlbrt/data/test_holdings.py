"""The directory of an array that stays on the ranks, against a model that copies values about."""

from __future__ import annotations

import pytest
from dlbrt.data.directory import RowDirectory, RowTransfer
from dlbrt.data.footprint import Rows, count, difference, intersection, union
from dlbrt.data.runs import normal
from hypothesis import given
from hypothesis import strategies as st

LENGTH = 24
RANGES = st.builds(range, st.integers(0, LENGTH - 1), st.integers(0, LENGTH), st.integers(1, 3))


def rows_of(ranges: list[range]) -> Rows:
    found: Rows = ()
    for each in ranges:
        if each:
            found = union(found, (normal(each),))
    return found


ROWS = st.lists(RANGES, max_size=3).map(rows_of)


def listed(rows: Rows) -> set[int]:
    return {row for run in rows for row in run}


def valid(directory: RowDirectory, rank: int) -> Rows:
    """The rows that are valid on a rank: all but those that it would lack if it needed all."""
    everything = directory.everything()
    return difference(everything, directory.missing(rank, everything))


@given(ROWS, ROWS)
def test_rows_are_sets(a: Rows, b: Rows) -> None:
    assert listed(intersection(a, b)) == listed(a) & listed(b)
    assert listed(difference(a, b)) == listed(a) - listed(b)
    assert count(intersection(a, b)) == len(listed(a) & listed(b))


def test_what_is_remembered_of_a_delivery_is_that_of_the_same_needs() -> None:
    all_rows, half = (range(LENGTH),), (range(LENGTH // 2),)
    for needs in ([all_rows, half], [all_rows, all_rows], [all_rows, ()], [all_rows, half]):
        directory = RowDirectory(LENGTH, 2)
        for wanted in ([all_rows, half], [all_rows, all_rows]):
            directory.deliver(wanted)
            directory.stored([all_rows, ()])  # valid on rank 0 alone again
        found = directory.deliver(needs)
        assert [(each.source, each.targets, each.rows) for each in found] == (
            [(0, (1,), needs[1])] if needs[1] else []
        )


@given(st.integers(1, 5), st.data())
def test_every_rank_has_what_it_needs(ranks: int, data: st.DataObject) -> None:
    directory = RowDirectory(LENGTH, ranks)
    current = dict.fromkeys(range(LENGTH), 0)
    memory: list[dict[int, int]] = [dict(current), *({} for _ in range(ranks - 1))]
    for change_axis in range(1, 6):
        needs = [data.draw(ROWS) for _ in range(ranks)]
        before = [dict(each) for each in memory]
        for row_transfer in directory.deliver(needs):
            for target in row_transfer.targets:
                assert target != row_transfer.source
                memory[target].update(
                    {row: before[row_transfer.source][row] for row in listed(row_transfer.rows)}
                )
        for rank, rows in enumerate(needs):
            assert {row: memory[rank][row] for row in listed(rows)} == {
                row: current[row] for row in listed(rows)
            }
        owners = data.draw(st.lists(st.integers(-1, ranks - 1), min_size=LENGTH, max_size=LENGTH))
        stores = [
            rows_of([range(row, row + 1) for row in range(LENGTH) if owners[row] == r]) for r in range(ranks)
        ]
        for rank, rows in enumerate(stores):
            for row in listed(rows):
                memory[rank][row] = current[row] = change_axis
        directory.stored(stores)
        for rank, given_up in enumerate(directory.evict(needs)):
            assert not listed(given_up) & listed(needs[rank])
            assert rank or not given_up
            for row in listed(given_up):
                del memory[rank][row]
        for rank in range(ranks):
            assert all(memory[rank][row] == current[row] for row in listed(valid(directory, rank)))
        assert set().union(*(listed(valid(directory, rank)) for rank in range(ranks))) == set(range(LENGTH))


@given(st.integers(1, 4), st.data())
def test_what_one_rank_gets_is_delivered_as_to_all(ranks: int, data: st.DataObject) -> None:
    one, all_ = RowDirectory(LENGTH, ranks), RowDirectory(LENGTH, ranks)
    for _ in range(4):
        rank, rows = data.draw(st.integers(0, ranks - 1)), data.draw(ROWS)
        needs = [rows if each == rank else () for each in range(ranks)]
        assert one.deliver_to(rank, rows) == all_.deliver(needs)
        changed, rows = data.draw(st.integers(0, ranks - 1)), data.draw(ROWS)
        one.stored_by(changed, rows)
        all_.stored_by(changed, rows)
        assert all(listed(valid(one, each)) == listed(valid(all_, each)) for each in range(ranks))


def test_only_what_changed_travels() -> None:
    directory = RowDirectory(12, 3)
    needs: list[Rows] = [(range(5),), (range(3, 9),), (range(7, 12),)]
    assert directory.deliver(needs) == [
        RowTransfer(0, (1,), (range(3, 9),)),
        RowTransfer(0, (2,), (range(7, 12),)),
    ]
    assert directory.deliver(needs) == []
    directory.stored([(range(4),), (range(4, 8),), (range(8, 12),)])
    assert sorted(directory.deliver(needs), key=lambda s: (s.source, s.targets)) == [
        RowTransfer(0, (1,), (range(3, 4),)),
        RowTransfer(1, (0,), (range(4, 5),)),
        RowTransfer(1, (2,), (range(7, 8),)),
        RowTransfer(2, (1,), (range(8, 9),)),
    ]


def test_what_all_get_from_one_goes_together() -> None:
    directory = RowDirectory(8, 4)
    directory.stored_by(2, (range(5, 6),))
    (row_transfer,) = directory.deliver([(range(5, 6),)] * 4)
    assert row_transfer == RowTransfer(2, (0, 1, 3), (range(5, 6),))
    assert row_transfer.carried == 3


def test_a_row_that_nobody_has_is_a_defect() -> None:
    directory = RowDirectory(4, 2)
    with pytest.raises(AssertionError, match="valid on no rank"):
        directory.deliver([(), (range(3, 6),)])


@given(st.integers(1, 4), st.data())
def test_an_array_turned_to_another_dimension_is_whole(ranks: int, data: st.DataObject) -> None:
    rows, columns = 6, 5
    small = st.lists(st.builds(range, st.integers(0, 4), st.integers(0, 5)), max_size=2).map(rows_of)
    directory = RowDirectory(rows, ranks)
    owners = data.draw(st.lists(st.integers(0, ranks - 1), min_size=rows, max_size=rows))
    directory.stored(
        [rows_of([range(r, r + 1) for r in range(rows) if owners[r] == rank]) for rank in range(ranks)]
    )
    memory = [
        {(r, c) for r in listed(valid(directory, rank)) for c in range(columns)} for rank in range(ranks)
    ]
    needs = [data.draw(small) for _ in range(ranks)]
    turned, found = directory.change_axis(columns, needs)
    before = [set(each) for each in memory]
    for row_transfer, across in found:
        (target,) = row_transfer.targets
        sent = {(r, c) for r in listed(row_transfer.rows) for c in listed(across)}
        assert sent <= before[row_transfer.source]
        memory[target] |= sent
    for rank in range(ranks):
        assert listed(needs[rank]) <= listed(valid(turned, rank))
        assert {(r, c) for r in range(rows) for c in listed(valid(turned, rank))} <= memory[rank]
    assert set().union(*(listed(valid(turned, rank)) for rank in range(ranks))) == set(range(columns))


@given(st.integers(2, 5), st.integers(0, LENGTH - 1), st.data())
def test_a_row_is_spread_from_a_rank_that_has_it_to_those_that_have_not(
    ranks: int, row: int, data: st.DataObject
) -> None:
    directory = RowDirectory(LENGTH, ranks)
    for _ in range(2):
        directory.deliver([data.draw(ROWS) for _ in range(ranks)])
        directory.stored_by(data.draw(st.integers(0, ranks - 1)), data.draw(ROWS))
    source, targets = directory.spread(row)
    assert [rank for rank in range(ranks) if row not in listed(valid(directory, rank))] == list(targets)
    assert row in listed(valid(directory, source))


def test_a_directory_goes_back_to_a_state() -> None:
    directory = RowDirectory(LENGTH, 2)
    state = directory.state
    directory.stored([(), (range(LENGTH),)])
    assert directory.spread(3) == (1, (0,))
    directory.go_to(state)
    assert directory.spread(3) == (0, (1,))
