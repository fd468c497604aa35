"""Arrows of work that moves lead forward in time, whatever the strategy, the clocks, and what had to go."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dlbrt.balance.actions import Move
from dlbrt.balance.events import ProfilesExchanged, Worked
from dlbrt.balance.strategies import names
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.observe.trace import LoopTrace, RankTrace, RunTrace, Trace, TracedMachine, TraceEntry, Transferred
from dlbrt.observe.trace_events import Arrow, arrows
from dlbrt.observe.trace_writer import text_of
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.replay import setup_of, trace_of
from papers.zaki.network import ethernet

from tests.support.arrows import check_arrows
from tests.support.tier import pairs

#: Under these, ranks give work that has rows.
MOVERS = ["GDDLB", "LCDLB", "SS", "diffusion", "steal"]


def simulated(name: str, seed: int, size: int) -> Trace:
    """A run on five ranks of different speeds and loads, of iterations with rows of that size."""
    load = LoadSpec(random=RandomLoad(5, 0.5, seed))
    where = Machine((1.0, 0.75, 0.5, 1.0, 0.75), ethernet(), load, blocks(5, 3))
    what = LoopModel(300, tuple(0.01 + 1e-4 * place for place in range(300)), iteration_bytes=size)
    return trace_of(
        simulate_strategy(where, what, name, traced=True), where, what, setup_of(where, what, name)
    )


@pytest.mark.parametrize(("name", "size"), pairs(sorted(names()), [0, 80_000]))
def test_arrows_of_simulated_runs_lead_forward_between_slices(name: str, size: int) -> None:
    shown = [check_arrows(text_of(simulated(name, seed, size))) for seed in range(3)]
    assert any(shown) or name not in MOVERS or not size


@pytest.mark.parametrize("name", MOVERS)
def test_clocks_that_were_compared_badly_do_not_turn_them(name: str) -> None:
    trace = simulated(name, 1, 80_000)
    assert check_arrows(text_of(replace(trace, offsets_s=(0.0, 0.2, -0.2, 0.1, -0.1)))) > 0


def moving(giver: tuple[float, float], taker: tuple[float, float], began: float = 0.0) -> RunTrace:
    """Two ranks that compute, and then move five units, from when to when."""
    move = Move((Transfer(0, 1, Spans.of(range(5))),))
    ranks = tuple(
        RankTrace(
            start,
            (
                TraceEntry(Worked(begin, 5, begin - start)),
                TraceEntry(ProfilesExchanged(begin, ()), (move,)),
                TraceEntry(Transferred(end, end - begin, 0)),
            ),
        )
        for start, (begin, end) in ((began, giver), (0.0, taker))
    )
    return RunTrace("GDDLB", 10, ranks)


@pytest.mark.parametrize(
    ("run", "left", "came"),
    [
        (moving((1.0, 2.0), (1.5, 3.0)), 1.0, 3.0),
        (moving((2.0, 3.0), (1.0, 1.5)), 1.5, 1.5),
        (moving((2.0, 3.0), (1.0, 1.5), 1.75), 1.75, 1.75),
    ],
    ids=["in order", "the taker is first", "before the giver began"],
)
def test_where_an_arrow_begins_and_ends(run: RunTrace, left: float, came: float) -> None:
    [arrow] = arrows(run, (0.0, 0.0))
    assert arrow == Arrow(0, 1, 5, pytest.approx(left, abs=2e-9), pytest.approx(came, abs=2e-9))
    assert arrow.left <= arrow.came
    trace = Trace("run", ("a", "b"), (0.0, 0.0), TracedMachine(), (LoopTrace("1", "p", (run,)),))
    assert arrow.came > 1.6 or check_arrows(text_of(trace)) == 5


def test_times_are_told_on_one_clock() -> None:
    [arrow] = arrows(moving((1.0, 2.0), (4.0, 5.0)), (-3.0, 1.0))
    assert arrow.left == pytest.approx(4.0, abs=2e-9)
    assert arrow.came == pytest.approx(4.0, abs=2e-9)
