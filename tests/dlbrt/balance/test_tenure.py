"""Shares kept from pass to pass, and cut anew where it pays."""

from __future__ import annotations

from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.parameters import REPLAN_S
from dlbrt.speed.ownership import BlockOwnership, IterationOwnership
from dlbrt.speed.pass_balancer import PassBalancer, PassReason
from dlbrt.speed.points import ModelKind

INNER, UNITS = IndexMap(1, 1), Units(0, 100)


def iteration_ownership(*, balanced: bool = True, least_s: float = 0.0) -> IterationOwnership:
    balancer = PassBalancer(2, ModelKind.PIECEWISE) if balanced else None
    return IterationOwnership("a", BlockOwnership.at(INNER, (0, 50, 100)), 2, balancer, least_s)


def counts(shares: tuple[Spans, ...] | None) -> tuple[int, ...]:
    assert shares is not None
    return tuple(map(len, shares))


def run(one: IterationOwnership, seconds: tuple[float, float], *, unit_s: float = 0.0) -> tuple[int, ...]:
    found = counts(one.shares("a", INNER, UNITS, unit_s))
    one.run_finished("a", (INNER, UNITS), found, seconds)
    return found


def test_a_slow_rank_gets_less_from_the_second_pass_on() -> None:
    one = iteration_ownership()
    assert run(one, (1.0, 3.0)) == (50, 50)
    assert run(one, (1.5, 1.5)) == (75, 25)
    assert run(one, (1.5, 1.5)) == (75, 25)
    assert one.version == 1


def test_all_loops_over_the_rows_count_and_move_together() -> None:
    one = iteration_ownership()
    run(one, (1.0, 1.0))
    other = IndexMap(0, 2), Units(0, 51)
    assert counts(one.shares("b", *other, 0.0)) == (26, 25)
    one.run_finished("b", other, (26, 25), (0.0, 2.0))
    assert run(one, (1.5, 1.5)) == (75, 25)
    assert counts(one.shares("b", *other, 0.0)) == (38, 13)


def test_data_that_costs_more_to_move_than_it_gains_stays() -> None:
    one = iteration_ownership()
    assert run(one, (1.0, 3.0), unit_s=10.0) == (50, 50)
    assert run(one, (1.0, 3.0), unit_s=10.0) == (50, 50)


def test_shares_stay_where_planning_anew_costs_more_than_is_gained() -> None:
    one = iteration_ownership()
    uneven = REPLAN_S / 5, REPLAN_S
    assert [run(one, uneven) for _ in range(2)] == 2 * [(50, 50)]  # a pass would gain two thirds of it
    assert run(one, uneven) == (83, 17)


def test_work_moved_within_a_pass_begins_where_it_was_done() -> None:
    one = iteration_ownership()
    assert counts(one.shares("a", INNER, UNITS, 0.0)) == (50, 50)
    one.run_finished("a", (INNER, UNITS), (80, 20), (1.0, 1.0))
    assert run(one, (1.0, 1.0)) == (80, 20)


def test_times_too_short_to_tell_are_taken_together() -> None:
    one = iteration_ownership(least_s=1.0)
    assert run(one, (0.1, 0.4)) == (50, 50)
    assert run(one, (0.1, 0.4)) == (50, 50)
    assert run(one, (0.1, 0.4)) == (50, 50)
    assert run(one, (0.2, 0.2)) == (80, 20)


def test_without_a_balancer_shares_stay() -> None:
    one = iteration_ownership(balanced=False)
    assert run(one, (1.0, 9.0)) == run(one, (1.0, 9.0)) == (50, 50)


def test_the_rows_that_are_left_are_what_is_shared() -> None:
    one = iteration_ownership()
    for first in range(1, 90):
        index, units = IndexMap(first, 1), Units(0, 101 - first)
        found = counts(one.shares("a", index, units, 0.0))
        assert sum(found) == len(units)
        one.run_finished("a", (index, units), found, (found[0] * 0.01, found[1] * 0.01))
    assert abs(found[0] - found[1]) <= 2


def test_every_pass_has_a_record() -> None:
    one = iteration_ownership()
    for seconds in ((1.0, 3.0), (1.5, 1.5), (1.5, 1.5)):
        run(one, seconds)
    first, second, last = one.pass_records
    assert (first.rows, first.seconds, first.imbalance) == ((50, 50), (1.0, 3.0), 2.0)
    assert (first.shares, first.moved, first.reason) == ((75, 25), 25, PassReason.BALANCING.value)
    assert first.predicted_s == 1.5
    assert (second.rows, second.shares, second.moved) == ((75, 25), (75, 25), 0)
    assert (last.rows, last.seconds, last.reason, last.predicted_s) == (
        (75, 25),
        (1.5, 1.5),
        "no pass followed",
        None,
    )
    assert [record.passes for record in one.pass_records] == [1, 1, 1]
    assert one.balancer is not None
    assert one.balancer.points[0].units == (50, 75)


def test_passes_that_were_too_short_are_recorded_together_and_fixed_shares_as_such() -> None:
    short = iteration_ownership(least_s=4.0)
    for _ in range(3):
        run(short, (1.0, 1.0))
    assert [(record.passes, record.seconds) for record in short.pass_records] == [(3, (1.0, 1.0))]
    fixed = iteration_ownership(balanced=False)
    for _ in range(2):
        run(fixed, (1.0, 0.0))
    assert [record.shares for record in fixed.pass_records] == [(50, 50), (50, 50)]
    assert [record.imbalance for record in fixed.pass_records] == [None, None]


def test_blocks_keep_their_order_when_they_are_cut_anew() -> None:
    """Rank 1 has the first block, and less of it from the second pass on."""
    blocks = BlockOwnership.at(INNER, (0, 50, 100), (1, 0))
    one = IterationOwnership("a", blocks, 2, PassBalancer(2, ModelKind.PIECEWISE))
    assert one.shares("a", INNER, UNITS, 0.0) == (Spans.of(range(50, 100)), Spans.of(range(50)))
    assert run(one, (1.0, 3.0)) == (50, 50)
    assert one.shares("a", INNER, UNITS, 0.0) == (Spans.of(range(25, 100)), Spans.of(range(25)))
    assert [(record.shares, record.moved) for record in one.pass_records] == [((75, 25), 25)]
