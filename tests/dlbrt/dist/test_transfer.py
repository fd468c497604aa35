"""Movement plans: nothing lost, shares met, few messages, the same plan everywhere."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from dlbrt.dist import layout
from dlbrt.dist.spans import EMPTY, Spans, coverage_error
from dlbrt.dist.transfer import Transfer, apply, plan_transfers
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def plans(draw: st.DrawFn) -> tuple[int, list[Spans], list[int]]:
    """A loop, what each rank holds of it, and new shares."""
    ranks, n = draw(st.integers(1, 12)), draw(st.integers(0, 200))
    weights = st.lists(st.integers(0, 9), min_size=ranks, max_size=ranks)
    ends = accumulate(layout.proportional(n, draw(weights)), initial=0)
    blocks = tuple(Spans.of(range(low, high)) for low, high in pairwise(ends))
    held = draw(st.sampled_from([layout.cyclic(n, ranks), blocks]))
    return n, list(held), list(layout.proportional(n, draw(weights)))


@given(plans())
def test_a_plan_gives_each_rank_its_share_and_loses_nothing(plan: tuple[int, list[Spans], list[int]]) -> None:
    n, held, shares = plan
    moved = apply(held, plan_transfers(held, shares))
    assert [len(spans) for spans in moved] == shares
    assert coverage_error(n, moved) is None


@given(plans())
def test_a_plan_has_few_messages_and_no_rank_gives_and_takes(
    plan: tuple[int, list[Spans], list[int]],
) -> None:
    _, held, shares = plan
    transfers = plan_transfers(held, shares)
    givers = {transfer.source for transfer in transfers}
    takers = {transfer.target for transfer in transfers}
    assert not givers & takers
    assert len(transfers) <= max(0, len(givers) + len(takers) - 1)
    assert all(transfer.spans for transfer in transfers)
    assert len({(transfer.source, transfer.target) for transfer in transfers}) == len(transfers)


@given(plans())
def test_givers_give_from_the_end(plan: tuple[int, list[Spans], list[int]]) -> None:
    _, held, shares = plan
    transfers = plan_transfers(held, shares)
    moved = apply(held, transfers)
    for source in {transfer.source for transfer in transfers}:
        order = list(held[source].positions())
        assert list(moved[source].positions()) == order[: shares[source]]
        given_away = [p for t in transfers if t.source == source for p in t.spans.positions()]
        assert given_away == order[shares[source] :]


@given(plans())
def test_plans_after_plans_keep_every_position(plan: tuple[int, list[Spans], list[int]]) -> None:
    n, held, shares = plan
    current: tuple[Spans, ...] = tuple(held)
    for wanted in (shares, shares[::-1], shares):
        current = apply(current, plan_transfers(current, wanted))
        assert coverage_error(n, current) is None


def test_exact_matches_are_settled_first() -> None:
    held = [Spans.of(range(10)), Spans.of(range(10, 17)), EMPTY, EMPTY]
    assert plan_transfers(held, [0, 0, 7, 10]) == (
        Transfer(0, 3, Spans.of(range(10))),
        Transfer(1, 2, Spans.of(range(10, 17))),
    )


def test_a_remainder_that_matches_exactly_is_settled_next() -> None:
    # 10 meets 6; its remainder 4 meets 4 exactly, though 5 is larger.
    held = [Spans.of(range(10)), Spans.of(range(10, 15)), EMPTY, EMPTY, EMPTY, EMPTY]
    transfers = plan_transfers(held, [0, 0, 6, 4, 3, 2])
    assert [(t.source, t.target, len(t.spans)) for t in transfers] == [
        (0, 2, 6),
        (0, 3, 4),
        (1, 4, 3),
        (1, 5, 2),
    ]


def test_receivers_of_one_giver_get_its_end_in_order() -> None:
    transfers = plan_transfers([Spans.of(range(9)), EMPTY, EMPTY], [3, 3, 3])
    assert transfers == (Transfer(0, 1, Spans.of(range(3, 6))), Transfer(0, 2, Spans.of(range(6, 9))))


def test_nothing_to_move_is_no_message() -> None:
    assert plan_transfers([Spans.of(range(4)), EMPTY], [4, 0]) == ()
    assert plan_transfers([], []) == ()


@pytest.mark.parametrize("shares", [[3, 0], [4], [5, -1]])
def test_shares_that_do_not_sum_are_refused(shares: list[int]) -> None:
    with pytest.raises(ValueError, match="expected 2 shares with the sum 4"):
        plan_transfers([Spans.of(range(4)), EMPTY], shares)
