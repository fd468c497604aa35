"""What a steal may cost: bounds on what a victim gives, and how many ranks a thief asks."""

from __future__ import annotations

import pytest
from dlbrt.balance.actions import Answer, Send, SendWork
from dlbrt.balance.agent import InitialState
from dlbrt.balance.events import Exhausted, Received, TimeElapsed, Worked
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import StealRefused, StealRequest
from dlbrt.balance.stealing import StealingPeer
from dlbrt.data.layout import block
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters

#: A message and its answer; units of each rank; how long a unit takes in seconds.
ANSWER_S, EACH, UNIT_S = 1e-3, 1000, 1e-2

#: The same work for all units, and known to be.
KNOWN = WorkTable((0, 2 * EACH), (0, 2 * EACH))


def given(
    done: int,
    request: StealRequest,
    work_table: WorkTable = UNIFORM,
    row_s: float = 0.0,
    unit_s: float = UNIT_S,
) -> int:
    """How many units rank 0 of two gives to the other when it has done so many."""
    units = Units(0, 2 * EACH)
    context = BalancingContext(units, Parameters(byte_s=1e-9), ANSWER_S, work_table, row_s / 1e-9)
    victim = StealingPeer("steal", 0, InitialState(block(2 * EACH, 2), context, begins=True), 0.0)
    victim.handle(Worked(done * unit_s, done, done * unit_s))
    answer = victim.handle(Received(done * unit_s, 1, request))
    return sum(len(action.units) for action in answer if isinstance(action, SendWork))


@pytest.mark.parametrize("done", [200, 400, 600])
def test_a_transfer_takes_no_longer_than_a_quarter_of_the_time_that_speeds_were_seen(done: int) -> None:
    """Rows of half the time of a unit: without a bound two fifths of what is left would go."""
    row_s, alike = UNIT_S / 2, StealRequest(1 / UNIT_S, 0.0)
    units = given(done, alike, KNOWN, row_s)
    bound = int(done * UNIT_S / 4 / row_s)
    assert units == pytest.approx(min(bound, (EACH - done) * 2 / 5), abs=2)


def test_little_is_not_moved_where_its_rows_are_dear() -> None:
    """After 20 units no more than 10 of the other 980 could move: no tenth."""
    assert given(20, StealRequest(1 / UNIT_S, 0.0), KNOWN, UNIT_S / 2) == 0


@pytest.mark.parametrize(("work_table", "part"), [(KNOWN, 9 / 10), (UNIFORM, 2 / 3)])
def test_a_thief_counts_as_twice_as_fast_at_most_where_its_iterations_may_be_light(
    work_table: WorkTable, part: float
) -> None:
    """Eight units are left, so another steal is no small part of their time; the thief is 9 times as fast."""
    left = 8
    assert given(EACH - left, StealRequest(9.0, 0.0), work_table, unit_s=1.0) == pytest.approx(
        left * part, abs=1
    )


def test_a_thief_counts_as_fast_as_its_victim_where_another_steal_is_cheap() -> None:
    left = 500
    assert given(EACH - left, StealRequest(9 / UNIT_S, 0.0)) == pytest.approx(left / 2, abs=1)
    assert given(EACH - left, StealRequest(9 / UNIT_S, 0.0), KNOWN) == pytest.approx(left * 9 / 10, abs=1)


@pytest.mark.parametrize(("faster", "gives"), [(1.2, False), (1.9, True)])
def test_the_last_unit_goes_only_to_a_rank_that_ends_it_much_sooner(faster: float, gives: bool) -> None:
    assert given(EACH - 1, StealRequest(faster, 0.0), KNOWN, unit_s=1.0) == int(gives)


@pytest.mark.parametrize(("root_s", "gives"), [(0.0, True), (20 * UNIT_S, False)])
def test_rank_0_pays_for_the_rows_that_it_lacks(root_s: float, gives: bool) -> None:
    """It has all rows of its own arrays, but not those of arrays that stay on the ranks."""
    units = Units(0, 2 * EACH)
    rows = {"unit_bytes": 20 * UNIT_S / 1e-9, "root_bytes": root_s / 1e-9}
    context = BalancingContext(units, Parameters(byte_s=1e-9), ANSWER_S, KNOWN, **rows)
    victim = StealingPeer("steal", 1, InitialState(block(2 * EACH, 2), context, begins=True), 0.0)
    now = EACH / 2 * UNIT_S
    victim.handle(Worked(now, EACH // 2, now))
    answer = victim.handle(Received(now, 0, StealRequest(1 / UNIT_S, 0.0)))
    assert any(isinstance(action, SendWork) for action in answer) == gives


def asks(answer: Answer) -> list[int]:
    """The ranks that are asked."""
    sent = [action for action in answer if isinstance(action, Send)]
    return [rank for each in sent if isinstance(each.message, StealRequest) for rank in each.targets]


def test_a_thief_asks_sixteen_others_before_it_waits() -> None:
    units, ranks = Units(0, 40), 40
    context = BalancingContext(units, Parameters(), ANSWER_S)
    thief = StealingPeer("steal", 0, InitialState(block(40, ranks), context, begins=True), 0.0)
    thief.handle(Worked(1.0, 1, 1.0))
    asked: list[int] = []
    answer, now = thief.handle(Exhausted(1.0)), 1.0
    for _ in range(16):
        (victim,) = asks(answer)
        asked.append(victim)
        answer = thief.handle(Received(now, victim, StealRefused()))
        now += 1e-9
    assert len(set(asked)) == 16
    assert thief.waiting
    assert thief.timer_at is not None
    assert len(asks(thief.handle(TimeElapsed(thief.timer_at)))) == 1
