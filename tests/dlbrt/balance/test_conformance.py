"""What every strategy without synchronizations has to hold to, under any order of events."""

from __future__ import annotations

import pytest
from dlbrt.balance.agent import InitialState, PeerStrategy
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.strategies import names, strategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.layout import InitialPartition, block
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.peer_player import Played, play

PEERS = [name for name in names() if isinstance(strategy(name), PeerStrategy)]

#: What FSC and FAC need to be themselves.
MEASURED = LoopStatistics(1e-3, 2e-3, 1e-4)


def played(
    name: str,
    units: Units,
    ranks: int,
    seed: int,
    work_table: WorkTable = UNIFORM,
    known: LoopStatistics | None = None,
    fails_at: frozenset[int] = frozenset(),
    *,
    without_rows: bool = False,
) -> Played:
    found = strategy(name)
    assert isinstance(found, PeerStrategy)
    known = known or LoopStatistics()
    start = units.all.runs[0].start if len(units) else 0
    blocks = tuple(spans.shifted(start) for spans in block(len(units), ranks))
    deal = found.first_deal(InitialPartition(units, blocks, work_table), known, without_rows=without_rows)
    context = BalancingContext(units, Parameters(), 1e-4, work_table, without_rows=without_rows)
    start_of_all = InitialState(deal.shares, context, known, begins=True)
    return play([found.agent(rank, start_of_all, 0.0) for rank in range(ranks)], seed, fails_at)


def triangle(n: int) -> WorkTable:
    """Unit k costs k + 1 ticks."""
    return WorkTable(tuple(range(n + 1)), tuple(k * (k + 1) // 2 for k in range(n + 1))) if n else UNIFORM


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_each_iteration_is_done_exactly_once(name: str, ranks: int, n: int) -> None:
    for seed in range(3):
        for without_rows in (False, True):
            done = [
                p
                for own in played(name, Units(0, n), ranks, seed, without_rows=without_rows).done
                for p in own
            ]
            assert sorted(done) == list(range(n))


@pytest.mark.parametrize("name", PEERS)
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, 300),
    first=st.integers(0, 20),
    ranks=st.integers(1, 9),
    folded=st.booleans(),
    uneven=st.booleans(),
    known=st.sampled_from([LoopStatistics(), MEASURED, LoopStatistics(1e-3, 0.0, 0.0)]),
    seed=st.integers(0, 1000),
    without_rows=st.booleans(),
)
def test_so_is_each_of_folded_uneven_or_begun_loops(
    name: str,
    n: int,
    first: int,
    ranks: int,
    folded: bool,
    uneven: bool,
    known: LoopStatistics,
    seed: int,
    without_rows: bool,
) -> None:
    units = Units(first, first + n, folded)
    work_table = triangle(first + n) if uneven and not folded else UNIFORM
    found = played(name, units, ranks, seed, work_table, known, without_rows=without_rows)
    assert sorted(p for own in found.done for p in own) == list(range(first, first + n))


@pytest.mark.parametrize("name", PEERS)
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 200),
    ranks=st.integers(1, 6),
    folded=st.booleans(),
    fails_at=st.frozensets(st.integers(0, 199), min_size=1, max_size=3),
    seed=st.integers(0, 1000),
    without_rows=st.booleans(),
)
def test_the_failure_reported_is_that_of_the_lowest_failing_iteration(
    name: str, n: int, ranks: int, folded: bool, fails_at: frozenset[int], seed: int, without_rows: bool
) -> None:
    failing = frozenset(position for position in fails_at if position < n)
    found = played(name, Units(0, n, folded), ranks, seed, fails_at=failing, without_rows=without_rows)
    end = min(failing, default=n)
    done = [position for own in found.done for position in own]
    assert len(done) == len(set(done))
    assert set(range(end)) <= set(done)
    assert min(found.failed, default=n) == end


@pytest.mark.parametrize("name", PEERS)
def test_the_same_order_of_events_gives_the_same_run(name: str) -> None:
    first, second = (played(name, Units(0, 200), 5, seed=3) for _ in range(2))
    assert first == second


def test_chunks_of_a_pool_go_out_in_order() -> None:
    found = played("SS", Units(0, 50), 3, seed=1)
    assert all(own == sorted(own) for own in found.done)


def test_stealing_and_diffusion_begin_with_blocks_and_give_what_others_lack() -> None:
    for name in ("steal", "diffusion"):
        found = played(name, Units(0, 400), 4, seed=2)
        assert found.assignments > 0
