"""Movement plans: nothing lost, shares met, few messages, the same plan everywhere."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from dlbrt.data import layout
from dlbrt.data.spans import EMPTY, Spans, coverage_error
from dlbrt.data.transfer import Assignment, Transfer, plan_assignments, plan_transfers
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spans import each_position


@st.composite
def plans(draw: st.DrawFn) -> tuple[int, list[Spans], list[int]]:
    """A loop, what each rank holds of it, and new shares."""
    ranks, n = draw(st.integers(1, 12)), draw(st.integers(0, 200))
    weights = st.lists(st.integers(1, 9), min_size=ranks, max_size=ranks)
    ends = accumulate(layout.quickest(n, draw(weights)), initial=0)
    blocks = tuple(Spans.of(range(low, high)) for low, high in pairwise(ends))
    held = draw(st.sampled_from([layout.cyclic(n, ranks), blocks]))
    return n, list(held), list(layout.quickest(n, draw(weights)))


@given(plans())
def test_a_plan_gives_each_rank_its_share_and_loses_nothing(plan: tuple[int, list[Spans], list[int]]) -> None:
    n, held, shares = plan
    moved = plan_transfers(held, shares).shares
    assert [len(spans) for spans in moved] == shares
    assert coverage_error(n, moved) is None


@given(plans())
def test_a_plan_has_few_messages_and_no_rank_gives_and_takes(
    plan: tuple[int, list[Spans], list[int]],
) -> None:
    _, held, shares = plan
    transfers = plan_transfers(held, shares).transfers
    givers = {transfer.source for transfer in transfers}
    takers = {transfer.target for transfer in transfers}
    assert not givers & takers
    assert len(transfers) <= max(0, len(givers) + len(takers) - 1)
    assert all(transfer.spans for transfer in transfers)
    assert len({(transfer.source, transfer.target) for transfer in transfers}) == len(transfers)


@given(plans())
def test_givers_give_from_the_end(plan: tuple[int, list[Spans], list[int]]) -> None:
    _, held, shares = plan
    found = plan_transfers(held, shares)
    transfers, moved = found.transfers, found.shares
    for source in {transfer.source for transfer in transfers}:
        order = list(each_position(held[source]))
        assert list(each_position(moved[source])) == order[: shares[source]]
        given_away = [p for t in transfers if t.source == source for p in each_position(t.spans)]
        assert given_away == order[shares[source] :]


@given(plans())
def test_plans_after_plans_keep_every_position(plan: tuple[int, list[Spans], list[int]]) -> None:
    n, held, shares = plan
    current: tuple[Spans, ...] = tuple(held)
    for wanted in (shares, shares[::-1], shares):
        current = plan_transfers(current, wanted).shares
        assert coverage_error(n, current) is None


def test_exact_matches_are_settled_first() -> None:
    held = [Spans.of(range(10)), Spans.of(range(10, 17)), EMPTY, EMPTY]
    assert plan_transfers(held, [0, 0, 7, 10]).transfers == (
        Transfer(0, 3, Spans.of(range(10))),
        Transfer(1, 2, Spans.of(range(10, 17))),
    )


def test_a_remainder_that_matches_exactly_is_settled_next() -> None:
    # 10 meets 6; its remainder 4 meets 4 exactly, though 5 is larger.
    held = [Spans.of(range(10)), Spans.of(range(10, 15)), EMPTY, EMPTY, EMPTY, EMPTY]
    transfers = plan_transfers(held, [0, 0, 6, 4, 3, 2]).transfers
    assert [(t.source, t.target, len(t.spans)) for t in transfers] == [
        (0, 2, 6),
        (0, 3, 4),
        (1, 4, 3),
        (1, 5, 2),
    ]


def counts(surplus: list[int]) -> list[tuple[int, int, int]]:
    """The messages that bring ranks with so much too much, or too little, to the same."""
    need = -min(surplus)
    ends = accumulate([need + amount for amount in surplus], initial=0)
    held = [Spans.of(range(*pair)) for pair in pairwise(ends)]
    transfers = plan_transfers(held, [need] * len(surplus)).transfers
    return [(t.source, t.target, len(t.spans)) for t in transfers]


def test_two_of_one_side_that_are_one_of_the_other_are_settled_by_two_messages() -> None:
    # Largest with largest, all would take 5.
    assert counts([9, 7, -5, -4, -6, -1]) == [(0, 2, 5), (0, 3, 4), (1, 4, 6), (1, 5, 1)]
    assert counts([3, 5, 6, -8, -6]) == [(0, 3, 3), (1, 3, 5), (2, 4, 6)]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_mirrored_surpluses_take_a_message_a_pair(work_table: list[int]) -> None:
    assert len(counts([*work_table, *(-amount for amount in work_table)])) == len(work_table)


def fewest(surplus: list[int]) -> int:
    """Ranks less the most sets of sum zero, by trying all (dynamic programming over sets)."""
    sets = 1 << len(surplus)
    sums = [sum(a for rank, a in enumerate(surplus) if some >> rank & 1) for some in range(sets)]
    most = [0] * sets
    for some in range(1, sets):
        without = [most[some & ~(1 << rank)] for rank in range(len(surplus)) if some >> rank & 1]
        most[some] = max(without) + (sums[some] == 0)
    return len(surplus) - most[-1]


@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=7))
@settings(deadline=None)
def test_messages_are_at_most_one_more_than_the_fewest_among_eight_ranks(surplus: list[int]) -> None:
    surplus = [*surplus, -sum(surplus)]
    if not surplus[-1]:
        surplus.pop()
    least, found = fewest(surplus), len(counts(surplus))
    assert least <= found <= min(least + 1, len(surplus) - 1)


@given(plans(), st.data())
def test_what_is_kept_stays_first(plan: tuple[int, list[Spans], list[int]], data: st.DataObject) -> None:
    n, held, shares = plan
    kept = [data.draw(st.integers(0, min(len(h), s))) for h, s in zip(held, shares, strict=True)]
    found = plan_transfers(held, shares, kept=kept)
    assert coverage_error(n, found.shares) is None
    assert list(map(len, found.shares)) == shares
    for before, after, count in zip(held, found.shares, kept, strict=True):
        assert list(each_position(after))[:count] == list(each_position(before))[:count]


def test_receivers_of_one_giver_get_its_end_in_order() -> None:
    transfers = plan_transfers([Spans.of(range(9)), EMPTY, EMPTY], [3, 3, 3]).transfers
    assert transfers == (Transfer(0, 1, Spans.of(range(3, 6))), Transfer(0, 2, Spans.of(range(6, 9))))


def test_nothing_to_move_is_no_message() -> None:
    assert plan_transfers([Spans.of(range(4)), EMPTY], [4, 0]).transfers == ()
    assert plan_transfers([], []).transfers == ()


@pytest.mark.parametrize("shares", [[3, 0], [4], [5, -1]])
def test_shares_that_do_not_sum_are_refused(shares: list[int]) -> None:
    with pytest.raises(ValueError, match="expected 2 shares with the sum 4"):
        plan_transfers([Spans.of(range(4)), EMPTY], shares)


def test_assignments_are_carried_out_where_a_rank_gives_and_takes() -> None:
    held = [Spans.of(range(2)), Spans.of(range(2, 10)), Spans.of(range(10, 18))]
    plan = plan_assignments(held, [Assignment(2, 1, 4), Assignment(1, 0, 3)], kept=[0, 1, 1])
    assert plan.transfers == (Transfer(1, 0, Spans.of(range(7, 10))), Transfer(2, 1, Spans.of(range(14, 18))))
    assert [len(spans) for spans in plan.shares] == [5, 9, 4]
    assert coverage_error(18, plan.shares) is None


def test_of_what_a_rank_keeps_it_gives_nothing() -> None:
    held = [Spans.of(range(10)), Spans.of(range(10, 20))]
    plan = plan_assignments(held, [Assignment(0, 1, 8)], kept=[5, 0])
    assert plan.transfers == (Transfer(0, 1, Spans.of(range(5, 10))),)
    assert plan.shares == (Spans.of(range(5)), Spans.of(range(5, 20)))


def test_assignments_of_one_rank_come_from_its_end_in_their_order() -> None:
    plan = plan_assignments([EMPTY, Spans.of(range(10)), EMPTY], [Assignment(1, 2, 2), Assignment(1, 0, 3)])
    assert plan.transfers == (Transfer(1, 0, Spans.of(range(5, 8))), Transfer(1, 2, Spans.of(range(8, 10))))


def test_assignments_of_more_than_a_rank_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="expected rank 1 to give at most the 4 that it holds, found 5"):
        plan_assignments([EMPTY, Spans.of(range(4))], [Assignment(1, 0, 5)])
