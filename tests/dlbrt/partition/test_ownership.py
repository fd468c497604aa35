"""Who owns which values of an index: the shares of loops over parts of the same rows."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

import pytest
from dlbrt.data import layout
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans, coverage_error
from dlbrt.data.work_table import Units
from dlbrt.speed.ownership import BlockOwnership, DealtOwnership
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=5)
STEPS = st.sampled_from([-3, -2, -1, 1, 2, 3])


def owners(index: IndexMap, shares: tuple[Spans, ...]) -> dict[int, int]:
    return {index.value(p): rank for rank, spans in enumerate(shares) for p in each_position(spans)}


@given(COUNTS, STEPS, st.integers(-20, 20), STEPS, st.integers(-20, 20), st.integers(0, 30))
def test_cuts_tell_the_owner_by_the_value(
    counts: list[int], step: int, start: int, other_step: int, other_start: int, n: int
) -> None:
    index, bounds = IndexMap(start, step), list(accumulate(counts, initial=0))
    cuts = BlockOwnership.at(index, bounds)
    units = Units(0, bounds[-1])
    dealt = owners(index, tuple(Spans.of(range(*ends)) for ends in pairwise(bounds)))
    assert owners(index, cuts.shares(index, units) or ()) == dealt
    other = IndexMap(other_start, other_step)
    shares = cuts.shares(other, Units(0, n))
    assert shares is not None
    assert coverage_error(n, shares) is None
    found = owners(other, shares)
    assert all(found[value] == dealt[value] for value in found if value in dealt)
    ordered = [found[value] for value in sorted(found)]
    assert ordered == sorted(ordered, reverse=step < 0)  # blocks in order of rank


@pytest.mark.parametrize(("start", "n"), [(1, 10), (4, 7), (9, 2), (11, 0)])
def test_rows_below_a_pivot_stay_with_their_owners(start: int, n: int) -> None:
    dealt = DealtOwnership(IndexMap(1, 1), Units(0, 10), layout.cyclic(10, 3))
    shares = dealt.shares(IndexMap(start, 1), Units(0, n))
    assert shares is not None
    assert owners(IndexMap(start, 1), shares) == {value: (value - 1) % 3 for value in range(start, start + n)}


def test_what_was_not_dealt_is_dealt_anew() -> None:
    dealt = DealtOwnership(IndexMap(0, 2), Units(0, 5), layout.cyclic(5, 2))
    assert dealt.shares(IndexMap(1, 2), Units(0, 5)) is None
    assert dealt.shares(IndexMap(0, 1), Units(0, 5)) is None
    assert dealt.shares(IndexMap(0, 2), Units(0, 6)) is None


def test_pairs_are_owned_by_the_loop_they_were_folded_in() -> None:
    dealt = DealtOwnership(IndexMap(0, 1), Units(0, 8, folded=True), layout.block(4, 2))
    assert dealt.shares(IndexMap(0, 1), Units(0, 8, folded=True)) == layout.block(4, 2)
    assert dealt.shares(IndexMap(0, 1), Units(0, 6, folded=True)) is None
    assert dealt.shares(IndexMap(0, 1), Units(0, 8)) is None


@given(COUNTS, STEPS, st.integers(-20, 20), st.randoms())
def test_blocks_may_lie_in_another_order_than_ranks(
    counts: list[int], step: int, start: int, draw: Random
) -> None:
    order = list(range(len(counts)))
    draw.shuffle(order)
    index, bounds = IndexMap(start, step), list(accumulate(counts, initial=0))
    cuts = BlockOwnership.at(index, bounds, tuple(order))
    units = Units(0, bounds[-1])
    in_order = BlockOwnership.at(index, bounds).shares(index, units)
    assert cuts.shares(index, units) == cuts.by_rank(in_order or ())
    assert cuts.by_block(cuts.by_rank(counts)) == tuple(counts)
    assert [cuts.by_rank(counts)[rank] for rank in order] == counts
