"""Amounts: whole ticks by a table, cuts to the nearest unit, counts where all are the same."""

from __future__ import annotations

from itertools import accumulate

import pytest
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import plan_transfers
from dlbrt.data.work_table import UNIFORM, WorkTable
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position

COSTS = st.lists(st.integers(0, 9), min_size=1, max_size=40)


def table(costs: list[int]) -> WorkTable:
    return WorkTable(tuple(range(len(costs) + 1)), tuple(accumulate(costs, initial=0)))


def test_without_a_table_units_are_counted() -> None:
    spans = Spans.of(range(3, 9), range(20, 30, 5))
    assert UNIFORM.of(spans) == 8
    assert UNIFORM.first(spans, 7) == spans.first(7)
    assert UNIFORM.last(spans, 3) == spans.first(5)


def test_between_edges_work_grows_evenly() -> None:
    work_table = WorkTable((0, 10, 20), (0, 100, 400))
    assert [work_table.before(unit) for unit in (0, 5, 10, 15, 20, 25)] == [0, 50, 100, 250, 400, 400]
    assert work_table.of(Spans.of(range(5, 15))) == 200
    assert work_table.of(Spans.of(range(0, 20, 2))) == 200


def test_a_table_has_a_tick_for_each_edge() -> None:
    with pytest.raises(ValueError, match="as many ticks as edges"):
        WorkTable((0, 1), (0,))


@given(COSTS, st.integers(0, 400))
def test_a_cut_is_at_the_nearest_unit(costs: list[int], amount: int) -> None:
    work_table, spans = table(costs), Spans.of(range(len(costs)))
    head, tail = work_table.first(spans, amount)
    assert [*each_position(head), *each_position(tail)] == list(range(len(costs)))
    sums = list(accumulate(costs, initial=0))
    assert abs(work_table.of(head) - amount) == min(abs(s - amount) for s in sums)


@given(COSTS, st.integers(0, 400))
def test_the_last_units_are_the_first_from_behind(costs: list[int], amount: int) -> None:
    work_table, spans = table(costs), Spans.of(range(len(costs)))
    rest, end = work_table.last(spans, amount)
    assert [*each_position(rest), *each_position(end)] == list(range(len(costs)))
    sums = list(accumulate(costs, initial=0))
    assert abs(work_table.of(end) - amount) == min(abs(sums[-1] - s - amount) for s in sums)


@given(COSTS, st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any))
def test_work_moves_until_shares_are_as_decided_to_half_a_unit_a_message(
    costs: list[int], wishes: list[int]
) -> None:
    work_table, ranks = table(costs), len(wishes)
    total = sum(costs)
    shares = [total * wish // sum(wishes) for wish in wishes]
    shares[0] += total - sum(shares)
    held = [Spans.of(range(r, len(costs), ranks)) for r in range(ranks)]
    # Dealt units are weighed by the work between, so the shares are of that.
    weighed = [work_table.of(spans) for spans in held]
    shares[0] += sum(weighed) - total
    if min(shares) < 0:
        return
    plan = plan_transfers(held, shares, work_table)
    transfers, after = plan.transfers, plan.shares
    assert sorted(p for spans in after for p in each_position(spans)) == list(range(len(costs)))
    assert all(transfer.spans for transfer in transfers)
    assert len(transfers) <= max(0, 2 * ranks - 1)
