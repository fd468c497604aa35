"""A rank asks the pool for more before it has run out, however dear its iterations are."""

from __future__ import annotations

from itertools import accumulate

import pytest
from dlbrt.balance.actions import Send
from dlbrt.balance.events import Exhausted
from dlbrt.balance.messages import ChunkRequest
from dlbrt.balance.strategies import strategy
from dlbrt.data.work_table import WorkTable
from dlbrt.predict.network import Network
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome

RANKS = 8
EACH = 100
MEAN_S = 5e-3


def triangle(name: str) -> SimulationOutcome:
    """Iterations that grow from next to nothing to 10 ms, with rows, on equal ranks."""
    n = RANKS * EACH
    costs = range(1, 2 * n, 2)
    work_table = WorkTable(tuple(range(n + 1)), tuple(accumulate(costs, initial=0)))
    seconds = tuple(MEAN_S * cost / n for cost in costs)
    loop = LoopModel(n, seconds, work_table=work_table, iteration_bytes=800)
    return simulate(Machine((1.0,) * RANKS, Network.default()), loop, strategy(name))


@pytest.mark.parametrize("name", ["SS", "GSS", "FAC2", "AWF_C"])
def test_who_needs_rows_seldom_waits_for_them(name: str) -> None:
    """Of what ranks but the pool's ask for, little is asked for without work."""
    trace = [step for step in triangle(name).trace if step.rank]
    asked = sum(
        isinstance(action, Send) and isinstance(action.message, ChunkRequest)
        for step in trace
        for action in step.actions
    )
    without = sum(
        isinstance(step.event, Exhausted) and any(isinstance(action, Send) for action in step.actions)
        for step in trace
    )
    assert asked > 2 * RANKS
    assert without <= RANKS


def test_iterations_that_grow_are_dealt_one_by_one_without_loss() -> None:
    assert triangle("SS").makespan_s <= 1.03 * EACH * MEAN_S
