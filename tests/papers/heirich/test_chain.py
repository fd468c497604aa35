"""Ends of blocks travel, and blocks stay whole."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import ChainExchange, Piece, Schedule, exchange, planned_flows
from papers.heirich.chain import payable

SHARES = st.lists(st.integers(0, 200), min_size=1, max_size=12)
CHAINS = SHARES.flatmap(
    lambda shares: st.tuples(
        st.just(shares), st.lists(st.integers(-300, 300), min_size=len(shares) - 1, max_size=len(shares) - 1)
    )
)
SCHEDULE = Schedule.every(0.3, 1)


def cuts(shares: list[int]) -> list[int]:
    return [0, *accumulate(shares)]


def played(shares: list[int], done: ChainExchange) -> list[list[int]]:
    """Who has which positions in the end, each moved by itself; checked on the way."""
    held = [list(range(low, low + count)) for low, count in zip(cuts(shares), shares, strict=False)]
    for each in done.rounds:
        given = [set(range(piece.start, piece.stop)) for piece in each.pieces]
        for piece, positions in zip(each.pieces, given, strict=True):
            assert abs(piece.source - piece.target) == 1
            assert positions
            assert positions <= set(held[piece.source])
            held[piece.source] = [i for i in held[piece.source] if i not in positions]
        for piece, positions in zip(each.pieces, given, strict=True):
            held[piece.target] = sorted({*held[piece.target], *positions})
        assert held == [list(range(a, b)) for a, b in zip(each.cuts, each.cuts[1:], strict=False)]
    return held


@given(CHAINS)
def test_blocks_stay_whole_whatever_flows_are_asked_for(chain: tuple[list[int], list[int]]) -> None:
    shares, flows = chain
    done = exchange(cuts(shares), flows)
    held = played(shares, done)
    assert sum(map(len, held)) == sum(shares)
    paid = [flow - owed for flow, owed in zip(flows, done.owed, strict=True)]
    assert all(
        0 <= abs(owed) <= abs(flow) and owed * flow >= 0 for flow, owed in zip(flows, done.owed, strict=True)
    )
    into, out = [0, *paid], [*paid, 0]
    assert [len(block) for block in held] == [n + a - b for n, a, b in zip(shares, into, out, strict=True)]


@given(CHAINS)
def test_what_shares_can_bear_is_done_in_as_many_rounds_as_links_in_a_row(
    chain: tuple[list[int], list[int]],
) -> None:
    shares, flows = chain
    after = [n + a - b for n, a, b in zip(shares, [0, *flows], [*flows, 0], strict=True)]
    done = exchange(cuts(shares), flows)
    if min(after) >= 0:
        assert not any(done.owed)
        assert len(done.rounds) <= longest_way(flows)
    else:
        assert any(done.owed)


def longest_way(flows: list[int]) -> int:
    longest = way = before = 0
    for flow in flows:
        way = way + 1 if flow * before > 0 else int(flow != 0)
        longest, before = max(longest, way), flow
    return longest


def test_the_ends_of_blocks_go_to_the_neighbours() -> None:
    done = exchange([0, 10, 20, 30], [-3, 4])
    (only,) = done.rounds
    assert only.pieces == (Piece(1, 0, 10, 13), Piece(1, 2, 16, 20))
    assert only.cuts == (0, 13, 16, 30)


def test_what_a_rank_has_not_yet_goes_in_a_later_round() -> None:
    done = exchange([0, 30, 30, 30], [20, 10])
    assert [each.cuts for each in done.rounds] == [(0, 10, 30, 30), (0, 10, 20, 30)]
    assert done.owed == (0, 0)


def test_what_nobody_can_give_stays_owed() -> None:
    done = exchange([0, 10, 20, 30], [15, -15])
    assert [each.cuts for each in done.rounds] == [(0, 0, 30, 30)]
    assert done.owed == (5, -5)


@pytest.mark.parametrize(
    ("share", "down", "up", "given"),
    [(10, 8, 9, (5, 5)), (10, 3, 20, (3, 7)), (10, 20, 3, (7, 3)), (10, 4, 6, (4, 6)), (1, 1, 1, (0, 1))],
)
def test_a_rank_that_is_asked_for_too_much_halves(
    share: int, down: int, up: int, given: tuple[int, int]
) -> None:
    found = payable(np.array([0, share, 0]), np.array([-down, up]))
    assert found.tolist() == [-given[0], given[1]]


@settings(deadline=None)
@given(SHARES, st.integers(0, 12), st.integers(1, 3))
def test_planned_flows_are_borne_by_the_shares(shares: list[int], cycles: int, rounds: int) -> None:
    flows = planned_flows(shares, SCHEDULE, cycles, rounds=rounds)
    done = exchange(cuts(shares), flows)
    assert not any(done.owed)
    assert played(shares, done)


def test_a_chain_with_all_work_at_one_end_is_balanced() -> None:
    shares = [1000] + [0] * 9
    flows = planned_flows(shares, SCHEDULE, 1000)
    done = exchange(cuts(shares), flows)
    assert all(abs(len(block) - 100) <= 2 for block in played(shares, done))
    assert len(done.rounds) == 9


@pytest.mark.parametrize(
    ("bounds", "flows", "words"),
    [
        ([0], [], "two cuts or more"),
        ([0, 5, 4], [1], "do not decrease"),
        ([0, 5, 9], [1, 2], "expected 1 flows between 2 ranks, found 2"),
    ],
)
def test_bad_chains_are_refused(bounds: list[int], flows: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        exchange(bounds, flows)


def test_a_chain_has_a_rank() -> None:
    with pytest.raises(ValueError, match="expected 1, 2 or 3 sides of 1 or more"):
        planned_flows([], SCHEDULE, 1)
