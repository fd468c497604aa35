"""New shares, movement, and when a redistribution is refused."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from dlbrt.predict.redistribute import ModelOptions, MovementCosts, redistribute
from dlbrt.predict.work import IterationCosts, Runs, count
from hypothesis import given
from hypothesis import strategies as st

FREE = MovementCosts(0.0, 0.0, 0.0)
SPEEDS = st.lists(st.floats(0.1, 10), min_size=1, max_size=8)


def blocks(sizes: list[int]) -> list[Runs]:
    ends = list(accumulate(sizes, initial=0))
    return [((a, b),) if b > a else () for a, b in pairwise(ends)]


def test_work_is_dealt_by_speed_and_movement_counted() -> None:
    found = redistribute(IterationCosts(1.0), blocks([0, 30, 60]), [1.0, 1.0, 1.0], ModelOptions(), FREE)
    assert found is not None
    assert list(map(count, found.held)) == [30, 30, 30]
    assert (found.moved, found.messages) == (30, 1)  # alpha = sum |gamma - chi| / 2
    assert (found.before_s, found.after_s) == (60.0, 30.0)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=8), st.data())
def test_nothing_is_lost_in_a_move_and_messages_are_few(sizes: list[int], data: st.DataObject) -> None:
    speeds = data.draw(st.lists(st.floats(0.1, 10), min_size=len(sizes), max_size=len(sizes)))
    costs = data.draw(st.lists(st.integers(0, 9), min_size=sum(sizes), max_size=sum(sizes)))
    for work in (IterationCosts(1.0), IterationCosts(1.0, tuple(accumulate(costs, initial=0)))):
        found = redistribute(work, blocks(sizes), speeds, ModelOptions(min_moved=0.0), FREE)
        if found is None:
            continue
        assert sum(map(count, found.held)) == sum(sizes)
        if work.prefix is not None:
            every = [i for runs in found.held for begin, end in runs for i in range(begin, end)]
            assert sorted(every) == list(range(sum(sizes)))
        gained = [count(new) - size for new, size in zip(found.held, sizes, strict=True)]
        assert found.moved >= sum(map(abs, gained)) // 2
        assert 1 <= found.messages < len(sizes)
        assert found.after_s <= 0.9 * found.before_s


@given(st.lists(st.integers(1, 9), min_size=40, max_size=80), st.floats(0.2, 5))
def test_what_costs_differently_is_dealt_by_cost(costs: list[int], speed: float) -> None:
    work = IterationCosts(1.0, tuple(accumulate(costs, initial=0)))
    found = redistribute(work, blocks([len(costs), 0, 0]), [1.0, speed, 1.0], ModelOptions(), FREE)
    assert found is not None
    for runs, rate in zip(found.held, [1.0, speed, 1.0], strict=True):
        assert abs(work.units(runs) - sum(costs) * rate / (speed + 2)) <= 2 * max(costs)


def test_too_little_to_move_is_not_moved() -> None:
    assert redistribute(IterationCosts(1.0), blocks([10, 10]), [1.0, 1.0], ModelOptions(), FREE) is None
    assert redistribute(IterationCosts(1.0), blocks([0, 1]), [1.0, 1.0], ModelOptions(), FREE) is None
    assert (
        redistribute(
            IterationCosts(1.0), blocks([995, 1005]), [1.0, 1.0], ModelOptions(profitability=0.0), FREE
        )
        is None
    )


@pytest.mark.parametrize(("more", "moves"), [(54, False), (56, True)])
def test_a_gain_below_a_tenth_is_refused(more: int, moves: bool) -> None:
    held = blocks([100 - more, more])
    assert (redistribute(IterationCosts(1.0), held, [1.0, 1.0], ModelOptions(), FREE) is not None) == moves


def test_the_papers_rule_leaves_the_cost_of_movement_out_and_a_charged_one_does_not() -> None:
    held, dear = blocks([0, 20]), MovementCosts(0.0, 0.0, 5.0)
    assert redistribute(IterationCosts(1.0), held, [1.0, 1.0], ModelOptions(), dear) is not None
    assert redistribute(IterationCosts(1.0), held, [1.0, 1.0], ModelOptions(charged=True), dear) is None
    assert redistribute(IterationCosts(1.0), held, [1.0, 1.0], ModelOptions(charged=True), FREE) is not None


def test_one_huge_iteration_moves_only_to_where_it_is_done_sooner() -> None:
    work = IterationCosts(1.0, (0, 1000, 1001))
    assert redistribute(work, [((0, 1),), ((1, 2),)], [1.0, 1.0], ModelOptions(), FREE) is None
    assert redistribute(work, [((0, 1),), ()], [9.0, 1.0], ModelOptions(), FREE) is None
    found = redistribute(work, [((0, 1),), ()], [1.0, 9.0], ModelOptions(), FREE)
    assert found is not None
    assert found.held == ((), ((0, 1),))


def test_where_iterations_are_dear_the_nearest_cost_moves() -> None:
    found = redistribute(IterationCosts(1.0, (0, 7, 15)), [(), ((0, 2),)], [1.0, 1.0], ModelOptions(), FREE)
    assert found is not None
    assert found.held == (((1, 2),), ((0, 1),))


def test_iterations_that_cost_nothing_are_no_work() -> None:
    assert (
        redistribute(IterationCosts(1.0, (0, 0, 0, 0)), [((0, 3),), ()], [1.0, 1.0], ModelOptions(), FREE)
        is None
    )
