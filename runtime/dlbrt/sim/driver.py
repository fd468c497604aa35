"""One balancer a rank, driven in virtual time: what they ask for becomes events to come.

The counterpart of `dlbrt.mpi.team`, step by step: `dlbrt.sim.ranks` has what happens to ranks, by the rules
by which processes of a run look around; `dlbrt.sim.executor` what comes of what they ask for. An event is a
synchronization, never an iteration, so that a run takes milliseconds whatever it simulates.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dlbrt.core.agent import Agent, InitialState, PeerStrategy
from dlbrt.core.balancer import ChoiceRule
from dlbrt.core.chunks.loop import LoopStatistics
from dlbrt.core.parameters import Parameters
from dlbrt.core.setup import agent_of, initial_state
from dlbrt.core.strategy import Strategy
from dlbrt.dist.spans import Spans
from dlbrt.sim.carriers import ActionExecutor
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome, SimulationStep
from dlbrt.sim.ranks import SimulatedRank, SimulatedRanks
from dlbrt.sim.replicas import ReplicatedGroupState
from dlbrt.sim.worker import SimulatedWorker

__all__ = ["simulate", "start_in"]

#: Where a strategy is to be chosen, what was done is told in so many pieces: they show how the speed goes.
PIECES = 32


def simulate(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters | None = None,
    commit: ChoiceRule | None = None,
    *,
    known: LoopStatistics | None = None,
    traced: bool = True,
) -> SimulationOutcome:
    """Run a loop to its end. ``commit`` is asked at the first synchronization, as by `Balancer`.

    ``known`` is what chunk rules are told of the loop: ``LoopStatistics()`` in its first run; by default all that an
    earlier run would have told, speeds included. ``traced``: whether to keep every event and action, which
    takes memory in proportion. RuntimeError if a rank waits for ever, which is a defect of the policy.
    """
    with _uncollected():
        trace: list[SimulationStep] | None = [] if traced else None
        start = start_in(machine, loop, strategy, parameters or Parameters(), known)
        simulated_ranks = _make_ranks(machine, loop, start, _agents(machine, strategy, start, commit))
        ranks = SimulatedRanks(simulated_ranks, 1 if commit is None else PIECES, trace)
        executor = ActionExecutor(ranks, machine.network, loop.unit_bytes)
        events = ranks.run(executor.table())
        return _outcome(simulated_ranks, executor, events, trace or ())


def start_in(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters,
    known: LoopStatistics | None = None,
) -> InitialState:
    """What ranks begin with under that strategy; chunk rules know so much, or what an earlier run tells."""
    network, deal, without_rows = machine.network, loop.deal(machine.ranks), not loop.unit_bytes
    exchange_s = network.all_to_all.seconds(machine.ranks)
    if isinstance(strategy, PeerStrategy):
        known = known or LoopStatistics(
            *loop.costs().mean_and_deviation, 2 * network.latency_s, machine.speeds
        )
        deal = strategy.first_deal(deal, known, without_rows=without_rows)
    else:
        known = None
    size = loop.iteration_bytes
    return initial_state(
        deal, parameters, exchange_s, size, network, machine.groups, known=known, without_rows=without_rows
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the search for cycles: all ranks would be gone through, and what they are lives on anyway."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _agents(
    machine: Machine, strategy: Strategy | PeerStrategy, start: InitialState, commit: ChoiceRule | None
) -> Iterator[Agent]:
    """Those of all ranks, in order; balancers with books that know what one of them has found."""
    peers = isinstance(strategy, PeerStrategy)
    first = None if peers else ReplicatedGroupState(range(machine.ranks), start.shares, start.context, {})
    for rank in range(machine.ranks):
        group_state = None if first is None else first.another()
        yield agent_of(strategy, start, rank, 0.0, machine.groups, machine.rules, commit, group_state)


def _make_ranks(
    machine: Machine, loop: LoopModel, start: InitialState, agents: Iterator[Agent]
) -> list[SimulatedRank]:
    costs, processors = loop.costs(), machine.processors(list(map(len, start.shares)))
    workers = (SimulatedWorker(processor, costs) for processor in processors)
    return [SimulatedRank(rank, *pair) for rank, pair in enumerate(zip(agents, workers, strict=True))]


def _outcome(
    simulated_ranks: list[SimulatedRank],
    executor: ActionExecutor,
    events: int,
    trace: Iterable[SimulationStep],
) -> SimulationOutcome:
    workers = [each.worker for each in simulated_ranks]
    return SimulationOutcome(
        strategy=simulated_ranks[0].agent.strategy_name,
        makespan_s=executor.end_s,
        compute_s=tuple(worker.compute_s for worker in workers),
        done=tuple(Spans.of(*worker.parts) for worker in workers),
        synchronizations=sum(
            (each.past_counts + each.agent.counts()).synchronizations for each in simulated_ranks
        ),
        redistributions=executor.redistributions,
        moved=executor.moved,
        events=events,
        trace=tuple(trace),
    )
