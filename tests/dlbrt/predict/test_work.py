"""Iterations held, their cost in whole units, and where they are cut."""

from __future__ import annotations

from itertools import accumulate

from dlbrt.predict.work import IterationCosts, Runs, count
from hypothesis import given
from hypothesis import strategies as st

COSTS = st.lists(st.integers(0, 9), min_size=1, max_size=30)


def positions(runs: Runs) -> list[int]:
    return [position for begin, end in runs for position in range(begin, end)]


def held(costs: list[int]) -> tuple[IterationCosts, Runs]:
    """The iterations in two runs, the later one first."""
    middle = len(costs) // 2
    work = IterationCosts(1.0, tuple(accumulate(costs, initial=0)))
    return work, work.joined(((middle, len(costs)),), ((0, middle),))


@given(COSTS, st.floats(0, 100))
def test_an_iteration_begun_is_finished(costs: list[int], units: float) -> None:
    work, runs = held(costs)
    left = work.left_after(runs, units)
    done = positions(runs)[: count(runs) - count(left)]
    assert positions(runs) == done + positions(left)
    assert sum(costs[i] for i in done) >= min(units, sum(costs)) - 1e-6
    costly = [i for i in done if costs[i]]
    if costly:
        assert sum(costs[i] for i in costly[:-1]) < units


@given(COSTS, st.floats(0, 100))
def test_what_is_left_comes_with_its_cost(costs: list[int], units: float) -> None:
    work, runs = held(costs)
    left = work.left_after(runs, units)
    assert work.remaining_after(runs, work.units(runs), units) == (left, work.units(left))
    size, uniform = len(costs), IterationCosts(1.0)
    left = uniform.left_after(((0, size),), units)
    assert uniform.remaining_after(((0, size),), size, units) == (left, count(left))


@given(COSTS, st.floats(0, 100))
def test_the_first_iterations_cost_nearest(costs: list[int], units: float) -> None:
    work, runs = held(costs)
    first, rest = work.nearest(runs, units)
    assert positions(first) + positions(rest) == positions(runs)
    order = positions(runs)
    sums = list(accumulate((costs[i] for i in order), initial=0))
    # Cuts between runs count as well, though the one before may be as near.
    assert abs(work.units(first) - units) <= min(abs(s - units) for s in sums) + max(costs)


@given(st.integers(1, 100), st.floats(0, 120))
def test_uniform_iterations_are_a_unit_each(size: int, units: float) -> None:
    uniform, listed = IterationCosts(1.0), IterationCosts(1.0, range(size + 1))
    runs = ((0, size),)
    assert count(uniform.left_after(runs, units)) == count(listed.left_after(runs, units))
    if units % 1 != 0.5:
        assert list(map(count, uniform.nearest(runs, units))) == list(map(count, listed.nearest(runs, units)))


def test_time_for_exactly_so_many_iterations_begins_no_other() -> None:
    assert count(IterationCosts(0.1).left_after(((0, 10),), 0.3 / 0.1)) == 7
    assert count(IterationCosts(0.1).left_after(((0, 10),), 0.1 * 3 / 0.1)) == 7
    assert count(IterationCosts(0.1).left_after(((0, 10),), 3.01)) == 6
    assert count(IterationCosts(0.1).left_after(((0, 10),), 0.0)) == 10


def test_runs_of_a_uniform_loop_become_one() -> None:
    assert IterationCosts(1.0).joined(((3, 5), (9, 10)), (), ((20, 24),)) == ((0, 7),)
    assert IterationCosts(1.0).joined((), ()) == ()
    assert IterationCosts(1.0, range(30)).joined(((3, 5),), ((20, 24),)) == ((3, 5), (20, 24))
