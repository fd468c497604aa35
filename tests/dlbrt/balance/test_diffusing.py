"""When a rank begins a round of diffusion, and when it leaves that to others."""

from __future__ import annotations

import pytest
from dlbrt.balance.actions import Send
from dlbrt.balance.agent import InitialState
from dlbrt.balance.diffusing import DiffusionPeer
from dlbrt.balance.events import Exhausted, Received, Worked
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import LoadReport
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.parameters import DIFFUSION_EXCHANGES, DIFFUSION_NEEDED_EXCHANGES, Parameters

#: A word and its answer.
ANSWER_S = 1e-3

NOW = 2.0

START = InitialState(block(3000, 3), BalancingContext(Units(0, 3000), Parameters(), ANSWER_S))


def after_a_round(others_s: tuple[float, float], *, works: bool) -> DiffusionPeer:
    """Rank 1 of a chain of 3, as a round is over in which its neighbours had so much to do."""
    found = DiffusionPeer("diffusion", 1, START, 0.0)
    found.handle(Worked(1.0, 500 if works else 1000, 1.0))
    if not works:
        found.handle(Exhausted(1.0))
    for turn in (0, 1):
        for rank, seconds in zip((0, 2), others_s, strict=True):
            found.handle(Received(NOW, rank, LoadReport(1, turn, 1000.0, seconds)))
    return found


@pytest.mark.parametrize(
    ("others_s", "works", "exchanges"),
    [
        ((1.0, 1.0), True, DIFFUSION_EXCHANGES),
        ((1.0, 0.0), True, DIFFUSION_NEEDED_EXCHANGES),
        ((1e-4, 0.0), False, DIFFUSION_NEEDED_EXCHANGES),
    ],
)
def test_rounds_follow_quickest_where_one_has_work_and_its_neighbour_none(
    others_s: tuple[float, float], works: bool, exchanges: float
) -> None:
    found = after_a_round(others_s, works=works)
    assert bool(found.work) == works
    assert found.timer_at == pytest.approx(NOW + exchanges * ANSWER_S)


def test_who_has_nothing_nor_its_neighbours_begins_no_round_but_joins_one() -> None:
    found = after_a_round((0.0, 0.0), works=False)
    assert found.timer_at is None
    said = found.handle(Received(3.0, 0, LoadReport(2, 0, 1000.0, 0.5)))
    assert [type(action) for action in said] == [Send]


def test_nobody_hurries_before_neighbours_are_known() -> None:
    found = DiffusionPeer("diffusion", 1, START, 0.0)
    found.handle(Worked(1.0, 10, 0.01))
    assert found.timer_at == pytest.approx(DIFFUSION_EXCHANGES * ANSWER_S)
