"""A simulated run as a trace, in the format of a real one: `dlbrt.observe.trace`.

What the driver told the agents, and what they asked for, is in the outcome. Which iterations were done when
follows from telling it to agents once more, as `dlbrt.sim.replay` does; what they took without load is what
the loop and the rank's speed say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbrt.core.events import Worked
from dlbrt.core.parameters import Parameters
from dlbrt.core.setup import AgentSetup, begins_with
from dlbrt.dist.spans import Spans
from dlbrt.observe.trace import Chunk, LoopTrace, RankTrace, RunTrace, Trace, TracedMachine, TraceEntry
from dlbrt.records import dataclass
from dlbrt.sim.driver import start_in
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.replay import ReplayedRank

__all__ = ["setup_of", "trace_of"]

#: What was done at once is told in so many parts of the loop, so that a trace says how iterations differ.
_PARTS = 1024


def setup_of(
    machine: Machine, loop: LoopModel, asked: str, parameters: Parameters | None = None
) -> AgentSetup:
    """What the agents of a simulation begin with; ``asked`` is a strategy or ``auto``."""
    parameters = parameters or Parameters(byte_s=1 / machine.network.bandwidth)
    initial_strategy, _ = begins_with(asked, machine.network, machine.groups)
    start = start_in(machine, loop, initial_strategy, parameters)
    return AgentSetup(asked, start, machine.groups, machine.rules, machine.network)


def trace_of(
    outcome: SimulationOutcome,
    machine: Machine,
    loop: LoopModel,
    setup: AgentSetup,
    source: str = "simulation",
    host_names: Sequence[str] = (),
) -> Trace:
    """The trace of one simulated run of a loop, which ``source`` names.

    ``outcome`` has its trace, ``setup`` is what its agents began with (`setup_of`). ``host_names`` are those
    of the ranks, by default one for each.
    """
    hosts = tuple(host_names) or tuple(f"host{rank}" for rank in range(machine.ranks))
    clocks = (0.0,) * machine.ranks
    entries: list[list[TraceEntry]] = [[] for _ in hosts]
    for step in outcome.trace:
        entries[step.rank].append(TraceEntry(step.event, step.actions))
    simulated_ranks = (_Rank(rank, speed, setup, loop) for rank, speed in enumerate(machine.speeds))
    per_rank = tuple(rank.trace(found) for rank, found in zip(simulated_ranks, entries, strict=True))
    run = RunTrace(outcome.strategy, loop.n, per_rank, setup)
    place = TracedMachine(machine.load, machine.speeds)
    return Trace("simulation", hosts, clocks, place, (LoopTrace("1", source, (run,)),))


@dataclass(frozen=True, slots=True)
class _Rank:
    """A rank of a simulation, of that relative speed, whose work is followed."""

    rank: int
    speed: float
    setup: AgentSetup
    loop: LoopModel

    def trace(self, entries: Sequence[TraceEntry]) -> RankTrace:
        """What it was told, and the iterations that it did."""
        replayed_rank = ReplayedRank(self.setup, self.rank, 0.0)
        chunks: list[Chunk] = []
        for entry in entries:
            if isinstance(entry.event, Worked):
                chunks += self._chunks(replayed_rank.runnable.first(entry.event.units)[0], entry.event)
            replayed_rank.handle(entry.event)
        return RankTrace(0.0, tuple(entries), tuple(chunks))

    def _chunks(self, done: Spans, event: Worked) -> Iterator[Chunk]:
        """What was done at once, in parts."""
        parts = list(self._parts(done))
        whole_s = sum(seconds for _, seconds in parts)
        began = event.now - event.compute_s
        for positions, computing_s in parts:
            share = computing_s / whole_s if whole_s else 1 / len(parts)
            yield Chunk(positions, began, event.compute_s * share, computing_s)
            began += event.compute_s * share

    def _parts(self, done: Spans) -> Iterator[tuple[range, float]]:
        """Positions, and the seconds that they take here without load."""
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
