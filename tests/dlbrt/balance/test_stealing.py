"""What a steal may cost: bounds on what a victim gives, and how many ranks a thief asks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from dlbrt.balance.actions import Answer, Send, SendWork
from dlbrt.balance.agent import InitialState
from dlbrt.balance.events import Exhausted, Received, TimeElapsed, UnderWay, Worked, WorkReceived
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import StealRefused, StealRequest, StealUpdate
from dlbrt.balance.stealing import StealingPeer
from dlbrt.data.layout import block
from dlbrt.data.spans import Spans
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
    return sum(map(len, gifts(victim, done * unit_s, {1: request}).values()))


def gifts(victim: StealingPeer, now: float, requests: Mapping[int, StealRequest]) -> dict[int, Spans]:
    """What a rank gives to each thief of which it finds a request."""
    for thief, request in requests.items():
        assert victim.handle(Received(now, thief, request)) == ()
    assert victim.due(now)
    answer = victim.handle(TimeElapsed(now))
    assert not victim.due(now)
    return {action.target: action.units for action in answer if isinstance(action, SendWork)}


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


@pytest.mark.parametrize(("faster", "gives"), [(1.1, False), (1.9, True)])
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
    assert bool(gifts(victim, now, {0: StealRequest(1 / UNIT_S, 0.0)})) == gives


def among_three(each: int) -> list[StealingPeer]:
    """Three ranks with so many units each."""
    context = BalancingContext(Units(0, 3 * each), Parameters(), ANSWER_S)
    start = InitialState(block(3 * each, 3), context, begins=True)
    return [StealingPeer("steal", rank, start, 0.0) for rank in range(3)]


def test_a_victim_keeps_its_last_unit_from_a_thief_that_has_got_work_since() -> None:
    """Within a long unit it finds a request, and then that its sender will be busy for a while."""
    _, victim, _ = among_three(2)
    victim.handle(Worked(1.0, 1, 1.0))
    victim.handle(Received(1.0, 0, StealRequest(4.0, 0.0)))
    assert gifts(victim, 1.0, {}) == {0: victim.units.all.part(3, 4)}

    _, victim, _ = among_three(2)
    victim.handle(Worked(1.0, 1, 1.0))
    victim.handle(Received(1.0, 0, StealRequest(4.0, 0.0)))
    victim.handle(Received(1.0, 0, StealUpdate(StealRequest(4.0, 0.8))))
    assert gifts(victim, 1.0, {}) == {}
    assert victim.handle(Received(1.0, 0, StealUpdate(StealRequest(4.0, 0.0)))) == ()  # has been answered
    assert not victim.due(1.0)


def test_a_thief_that_gets_work_tells_the_others_that_it_has_asked() -> None:
    thief, _, _ = among_three(2)
    thief.handle(Worked(1.0, 2, 1.0))
    (first,) = asks(thief.handle(Exhausted(1.0)))
    assert thief.timer_at is not None
    now = thief.timer_at
    (second,) = asks(thief.handle(TimeElapsed(now)))
    answer = thief.handle(WorkReceived(now, first, thief.units.all.part(2 * first + 1, 2 * first + 2)))
    (told,) = [action for action in answer if isinstance(action, Send)]
    assert told == Send((second,), StealUpdate(StealRequest(2.0, 0.5)))
    thief.handle(Worked(now + 1.0, 1, 1.0))
    answer = thief.handle(Exhausted(now + 1.0))
    assert Send((second,), StealUpdate(StealRequest(1.5, 0.0))) in answer


@pytest.mark.parametrize("done", [0, 1])
def test_a_unit_under_way_stays(done: int) -> None:
    """However fast the thief is."""
    _, victim, _ = among_three(4)
    if done:
        victim.handle(Worked(1.0, done, 1.0))
    victim.handle(UnderWay(9.0, 1, 8.0))
    (units,) = gifts(victim, 9.0, {0: StealRequest(1e9, 0.0)}).values()
    assert victim.work.runs[0].start == 4 + done
    assert victim.units.all.part(4 + done, 8) == victim.work.then(units)


def test_a_unit_that_takes_longer_than_those_before_shows_what_others_may_take() -> None:
    """Two of three units seem to be done in half a second; the one under way has taken eight already."""
    assert given_within(0.1) == 0
    assert given_within(8.0) == 1


def given_within(elapsed_s: float) -> int:
    """How many of three units a victim gives within the first of them, after two that took a second each."""
    _, victim, _ = among_three(5)
    victim.handle(Worked(2.0, 2, 2.0))
    now = 2.0 + elapsed_s
    victim.handle(UnderWay(now, 1, elapsed_s))
    return sum(map(len, gifts(victim, now, {0: StealRequest(0.3, 0.0)}).values()))


def test_a_rank_asks_nobody_within_a_unit() -> None:
    thief, _, _ = among_three(2)
    thief.handle(Worked(1.0, 1, 1.0))
    assert thief.due(2.0)
    thief.handle(UnderWay(2.0, 1, 1.0))
    assert not thief.due(2.0)
    assert thief.handle(TimeElapsed(2.0)) == ()
    thief.handle(Worked(3.0, 1, 2.0))
    assert asks(thief.handle(Exhausted(3.0)))


def test_the_thief_that_idles_is_answered_first() -> None:
    _, victim, _ = among_three(3)
    victim.handle(Worked(1.0, 1, 1.0))
    found = gifts(victim, 1.0, {0: StealRequest(1.0, 0.9), 2: StealRequest(1.0, 0.0)})
    assert found == {2: victim.units.all.part(5, 6)}


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
