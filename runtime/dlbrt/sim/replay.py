"""Replay: agents of the core handle the events of a recorded run again and must answer with the same actions.

That a simulation decides as the runtime decides rests on this: both drive the same core, and the core is a
function of its events. So from a real run's events fresh agents produce the same actions, to the last bit of
every profile. Measurements of moved data stand at their places among the events (`Transferred`).

A simulated run becomes a trace in the format of a real one (`dlbrt.observe.trace`). The outcome has the
events and actions of the agents. Which iterations were done when follows from replaying the events; how long
they take without load follows from the loop and the rank's speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbrt.balance.actions import Action
from dlbrt.balance.agent import Agent, BalancingCounts
from dlbrt.balance.events import Event, Worked
from dlbrt.balance.setup import AgentSetup, begins_with
from dlbrt.data.spans import Spans
from dlbrt.observe import trace
from dlbrt.parameters import Parameters
from dlbrt.predict.choose import StrategyChoice
from dlbrt.records import dataclass
from dlbrt.sim.driver import start_in
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome


class ReplayedRank:
    """A rank replayed: its agents, which succeed one another, the first beginning at ``began``."""

    def __init__(self, setup: AgentSetup, rank: int, began: float) -> None:
        self._agent, self._chooser = setup.agent(rank, began)
        self._past_counts: list[Agent] = []

    def handle(self, event: Event | trace.Transferred) -> tuple[Action, ...]:
        """The actions that follow from an event; ValueError or KeyError for an event that is out of place."""
        if isinstance(event, trace.Transferred):
            self._agent.transferred(event.seconds, event.size)
            return ()
        actions = self._agent.handle(event)
        if (successor := self._agent.successor) is not None:
            self._past_counts.append(self._agent)
            self._agent = successor
        return actions

    @property
    def runnable(self) -> Spans:
        """The units that the rank may work on now."""
        return self._agent.runnable

    @property
    def choice(self) -> StrategyChoice | None:
        """The choice of a strategy, if this rank made it."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def accounts(self) -> tuple[BalancingCounts, ...]:
        """The counts of each agent."""
        return tuple(agent.counts() for agent in (*self._past_counts, self._agent))


#: A stretch of work is written as chunks of at most this part of the loop, so that a trace shows how
#: iterations differ.
_PARTS = 1024


def setup_of(
    machine: Machine, loop: LoopModel, strategy: str, parameters: Parameters | None = None
) -> AgentSetup:
    """What the agents of a simulation begin with; ``strategy`` is a name or ``auto``."""
    parameters = parameters or Parameters(byte_s=1 / machine.network.bandwidth)
    initial_strategy, _ = begins_with(strategy, machine.network, machine.groups)
    start = start_in(machine, loop, initial_strategy, parameters)
    return AgentSetup(strategy, start, machine.groups, machine.rules, machine.network)


def trace_of(
    outcome: SimulationOutcome,
    machine: Machine,
    loop: LoopModel,
    setup: AgentSetup,
    source: str = "simulation",
    host_names: Sequence[str] = (),
) -> trace.Trace:
    """The trace of one simulated run of a loop, whose source is ``source``.

    ``outcome`` includes its steps, ``setup`` is what its agents began with (`setup_of`). ``host_names`` has a
    host for each rank; by default all differ.
    """
    hosts = tuple(host_names) or tuple(f"host{rank}" for rank in range(machine.ranks))
    clocks = (0.0,) * machine.ranks
    entries: list[list[trace.TraceEntry]] = [[] for _ in hosts]
    for step in outcome.trace:
        entries[step.rank].append(trace.TraceEntry(step.event, step.actions))
    simulated_ranks = (_Rank(rank, speed, setup, loop) for rank, speed in enumerate(machine.speeds))
    per_rank = tuple(rank.followed(found) for rank, found in zip(simulated_ranks, entries, strict=True))
    run = trace.RunTrace(outcome.strategy, loop.n, per_rank, setup)
    place = trace.TracedMachine(machine.load, machine.speeds)
    return trace.Trace("simulation", hosts, clocks, place, (trace.LoopTrace("1", source, (run,)),))


@dataclass(frozen=True, slots=True)
class _Rank:
    """A rank of a simulation, with its relative speed, whose work is followed."""

    rank: int
    speed: float
    setup: AgentSetup
    loop: LoopModel

    def followed(self, entries: Sequence[trace.TraceEntry]) -> trace.RankTrace:
        """The rank's events, and the iterations that it did."""
        replayed_rank = ReplayedRank(self.setup, self.rank, 0.0)
        chunks: list[trace.Chunk] = []
        for entry in entries:
            if isinstance(entry.event, Worked):
                chunks += self._chunks(replayed_rank.runnable.first(entry.event.units)[0], entry.event)
            replayed_rank.handle(entry.event)
        return trace.RankTrace(0.0, tuple(entries), tuple(chunks))

    def _chunks(self, done: Spans, event: Worked) -> Iterator[trace.Chunk]:
        """A stretch of work as chunks."""
        parts = list(self._parts(done))
        whole_s = sum(seconds for _, seconds in parts)
        began = event.now - event.compute_s
        for positions, computing_s in parts:
            share = computing_s / whole_s if whole_s else 1 / len(parts)
            yield trace.Chunk(positions, began, event.compute_s * share, computing_s)
            began += event.compute_s * share

    def _parts(self, done: Spans) -> Iterator[tuple[range, float]]:
        """Positions, and the seconds that they take on this rank without load."""
        units, size = self.loop.units, max(1, -(-self.loop.n // _PARTS))
        for run in done.runs:
            for low in range(0, len(run), size):
                for positions in units.stretches(run[low : low + size]):
                    yield positions, self._computing_s(positions)

    def _computing_s(self, positions: range) -> float:
        seconds = self.loop.seconds
        if isinstance(seconds, tuple):
            return sum(seconds[positions.start : positions.stop : positions.step]) / self.speed
        return seconds * len(positions) / self.speed
