"""One balancer a rank, driven in virtual time: what they ask for becomes events to come.

The counterpart of `dlbrt.mpi.team`, step by step: `dlbrt.sim.ranks` has what happens to ranks, by the rules
by which processes of a run look around; `dlbrt.sim.carriers` what comes of what they ask for. An event is a
synchronization, never an iteration, so that a run takes milliseconds whatever it simulates.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dlbrt.core.agent import Agent, PeerStrategy, Start
from dlbrt.core.balancer import Commit
from dlbrt.core.chunks.loop import Known
from dlbrt.core.parameters import Parameters
from dlbrt.core.setup import agent_of, start_of
from dlbrt.core.strategy import Strategy
from dlbrt.dist.spans import Spans
from dlbrt.sim.carriers import Carriers
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import Outcome, Step
from dlbrt.sim.ranks import Rank, Ranks
from dlbrt.sim.replicas import Replica
from dlbrt.sim.worker import Worker

__all__ = ["simulate", "start_in"]

#: Where a strategy is to be chosen, what was done is told in so many pieces: they show how the speed goes.
PIECES = 32


def simulate(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters | None = None,
    commit: Commit | None = None,
    *,
    known: Known | None = None,
    traced: bool = True,
) -> Outcome:
    """Run a loop to its end. ``commit`` is asked at the first synchronization, as by `Balancer`.

    ``known`` is what chunk rules are told of the loop: ``Known()`` in its first run; by default all that an
    earlier run would have told, speeds included. ``traced``: whether to keep every event and action, which
    takes memory in proportion. RuntimeError if a rank waits for ever, which is a defect of the policy.
    """
    with _uncollected():
        trace: list[Step] | None = [] if traced else None
        start = start_in(machine, loop, strategy, parameters or Parameters(), known)
        crew = _crew(machine, loop, start, _agents(machine, strategy, start, commit))
        ranks = Ranks(crew, 1 if commit is None else PIECES, trace)
        carriers = Carriers(ranks, machine.network, loop.unit_bytes)
        events = ranks.run(carriers.table())
        return _outcome(crew, carriers, events, trace or ())


def start_in(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters,
    known: Known | None = None,
) -> Start:
    """What ranks begin with under that strategy; chunk rules know so much, or what an earlier run tells."""
    network, deal, bare = machine.network, loop.deal(machine.ranks), not loop.unit_bytes
    exchange_s = network.all_to_all.seconds(machine.ranks)
    if isinstance(strategy, PeerStrategy):
        known = known or Known(*loop.costs().mean_and_deviation, 2 * network.latency_s, machine.speeds)
        deal = strategy.first_deal(deal, known, bare=bare)
    else:
        known = None
    size = loop.iteration_bytes
    return start_of(deal, parameters, exchange_s, size, network, machine.groups, known=known, bare=bare)


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
    machine: Machine, strategy: Strategy | PeerStrategy, start: Start, commit: Commit | None
) -> Iterator[Agent]:
    """Those of all ranks, in order; balancers with books that know what one of them has found."""
    peers = isinstance(strategy, PeerStrategy)
    first = None if peers else Replica(range(machine.ranks), start.shares, start.terms, {})
    for rank in range(machine.ranks):
        books = None if first is None else first.another()
        yield agent_of(strategy, start, rank, 0.0, machine.groups, machine.rules, commit, books)


def _crew(machine: Machine, loop: LoopModel, start: Start, agents: Iterator[Agent]) -> list[Rank]:
    costs, courses = loop.costs(), machine.courses(list(map(len, start.shares)))
    workers = (Worker(course, costs) for course in courses)
    return [Rank(rank, *pair) for rank, pair in enumerate(zip(agents, workers, strict=True))]


def _outcome(crew: list[Rank], carriers: Carriers, events: int, trace: Iterable[Step]) -> Outcome:
    workers = [each.worker for each in crew]
    return Outcome(
        strategy=crew[0].agent.strategy_name,
        makespan_s=carriers.end_s,
        compute_s=tuple(worker.compute_s for worker in workers),
        done=tuple(Spans.of(*worker.parts) for worker in workers),
        synchronizations=sum((each.past + each.agent.account()).synchronizations for each in crew),
        redistributions=carriers.redistributions,
        moved=carriers.moved,
        events=events,
        trace=tuple(trace),
    )
