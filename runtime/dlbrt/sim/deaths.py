"""Ranks that die in virtual time, and a loop that the living finish (`dlbrt.balance.restart`).

All ranks learn of a death one broadcast later, at their next poll; making a communicator of the living takes
them an exchange of all with all. How long a system takes to see that a process has ended is not counted. Then
rank 0 sends each of the others the rows of its share, one after the other, and the rest of the loop begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dlbrt.balance.agent import BalancingCounts, InitialState, PeerStrategy
from dlbrt.balance.member import ChoiceRule
from dlbrt.balance.restart import deal_of_rest, strategy_of_rest
from dlbrt.balance.setup import initial_state
from dlbrt.balance.strategies import strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.data.spans import Spans, left_out
from dlbrt.data.uncollected import uncollected
from dlbrt.data.work_table import UNIFORM
from dlbrt.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.action_executor import ActionExecutor
from dlbrt.sim.driver import PIECES, agents_of, start_in
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.ranks import SimulatedRank, SimulatedRanks
from dlbrt.sim.worker import SimulatedWorker


@dataclass(frozen=True, slots=True)
class Death:
    """A rank above 0 dies at a time in seconds from loop entry; ValueError for rank 0, which ends the job."""

    rank: int
    at_s: float

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise ValueError(f"expected a rank above 0, whose death does not end the job; found {self.rank}")


def simulate_deaths(
    machine: Machine,
    loop: LoopModel,
    initial_strategy: Strategy | PeerStrategy,
    deaths: Sequence[Death],
    parameters: Parameters | None = None,
    commit: ChoiceRule | None = None,
) -> SimulationOutcome:
    """As `dlbrt.sim.driver.simulate`, with ranks that die; a death after the end has no effect.

    ``done`` are positions. RuntimeError if a rank waits for ever.
    """
    with uncollected():
        return _Deaths(machine, loop, parameters or Parameters()).run(initial_strategy, deaths, commit)


class _Attempt:
    """A run of what is left of a loop, by ranks that begin at ``begins_s``, until a death calls it off."""

    def __init__(
        self,
        machine: Machine,
        loop: LoopModel,
        workers: Sequence[SimulatedWorker],
        begun: tuple[Strategy | PeerStrategy, InitialState, ChoiceRule | None],
        begins_s: Sequence[float],
    ) -> None:
        agents = agents_of(machine, *begun, begins_s)
        self.loop, self.begins_s = loop, begins_s
        self.each = [SimulatedRank(k, *pair) for k, pair in enumerate(zip(agents, workers, strict=True))]
        self.ranks = SimulatedRanks(self.each, 1 if begun[2] is None else PIECES, None)
        self.executor = ActionExecutor(self.ranks, machine.network, loop.unit_bytes)
        self.ranks.begin(self.executor.table(), begins_s)

    def stop(self, rank: int, now: float) -> float:
        """A rank does no more than it is at; when that is done, ``now`` or later."""
        worker = self.each[rank].worker
        if not worker.busy:
            return max(now, self.begins_s[rank])
        when, count = worker.next_poll(now)
        worker.stop(count, 1)
        return when

    def done(self, rank: int) -> Spans:
        """The positions that a rank has done."""
        return self.loop.units.positions(Spans.of(*self.each[rank].worker.parts))


class _Deaths:
    """A loop whose ranks die, and what has come of it in all attempts so far."""

    def __init__(self, machine: Machine, loop: LoopModel, parameters: Parameters) -> None:
        self._machine, self._loop, self._parameters = machine, loop, parameters
        self._alive = list(range(machine.ranks))  # by their first numbers
        self._by_root: list[Spans] = []  # what rank 0 has done in attempts that were called off
        self._compute_s = [0.0] * machine.ranks
        self._counts = BalancingCounts()
        self._lost = self._events = self._redistributions = self._moved = 0

    def run(
        self, initial: Strategy | PeerStrategy, deaths: Sequence[Death], commit: ChoiceRule | None
    ) -> SimulationOutcome:
        """The whole loop."""
        machine, loop = self._machine, self._loop
        start = start_in(machine, loop, initial, self._parameters)
        self._processors = machine.processors(list(map(len, start.shares)))
        attempt = self._attempt(machine, loop, (initial, start, commit), (0.0,) * machine.ranks)
        for death in sorted(deaths, key=lambda each: (each.at_s, each.rank)):
            if death.rank not in self._alive:
                continue
            self._events += attempt.ranks.run(death.at_s)
            if attempt.ranks.over:
                break
            now = self._call_off(attempt, death)
            if not (left := left_out(loop.n, self._by_root)):
                return self._outcome(initial.name, now, [Spans.of() for _ in range(machine.ranks)])
            attempt = self._restarted(initial.name, left, now)
        self._events += attempt.ranks.run()
        self._add(attempt)
        done = [Spans.of() for _ in range(machine.ranks)]
        for place, rank in enumerate(self._alive):
            done[rank] = attempt.done(place)
        return self._outcome(attempt.each[0].agent.strategy_name, attempt.executor.end_s, done)

    def _attempt(
        self,
        machine: Machine,
        loop: LoopModel,
        begun: tuple[Strategy | PeerStrategy, InitialState, ChoiceRule | None],
        begins_s: Sequence[float],
    ) -> _Attempt:
        costs = loop.costs()
        workers = [SimulatedWorker(self._processors[rank], costs) for rank in self._alive]
        return _Attempt(machine, loop, workers, begun, begins_s)

    def _call_off(self, attempt: _Attempt, death: Death) -> float:
        """When the living have a communicator of their own; all that other ranks have done is lost."""
        network, place = self._machine.network, self._alive.index(death.rank)
        attempt.stop(place, death.at_s)
        known_s = death.at_s + network.one_to_all.seconds(len(self._alive))
        stopped = [attempt.stop(other, known_s) for other in range(len(self._alive)) if other != place]
        self._by_root.append(attempt.done(0))
        self._lost += sum(len(attempt.done(other)) for other in range(1, len(self._alive)))
        self._add(attempt)
        del self._alive[place]
        return max(stopped) + network.all_to_all.seconds(len(self._alive))

    def _restarted(self, name: str, left: Spans, now: float) -> _Attempt:
        """The living begin what is left anew, each when its rows have come."""
        count, network = len(self._alive), self._machine.network
        speeds = tuple(self._machine.speeds[rank] for rank in self._alive)
        machine = Machine(speeds, network, groups=(tuple(range(count)),))
        loop = replace(self._loop, folded=False, work_table=UNIFORM, shares=())
        deal = deal_of_rest(left, loop.n, count)
        start = initial_state(
            deal, self._parameters, network.all_to_all.seconds(count), loop.iteration_bytes, network,
            machine.groups, without_rows=not loop.iteration_bytes,
        )  # fmt: skip
        begins_s = [now]
        for share in deal.shares[1:]:
            now += network.message_s(len(share) * loop.iteration_bytes)
            begins_s.append(now)
        return self._attempt(machine, loop, (strategy(strategy_of_rest(name)), start, None), begins_s)

    def _add(self, attempt: _Attempt) -> None:
        """Add what an attempt has counted."""
        for rank, each in zip(self._alive, attempt.each, strict=True):
            self._compute_s[rank] += each.worker.compute_s
            self._counts += each.past_counts + each.agent.counts()
        self._redistributions += attempt.executor.redistributions
        self._moved += attempt.executor.moved

    def _outcome(self, name: str, makespan_s: float, done: list[Spans]) -> SimulationOutcome:
        """``done`` is what each rank has done in the attempt that came to its end."""
        done[0] = Spans.of(*(run for part in (*self._by_root, done[0]) for run in part.runs))
        return SimulationOutcome(
            strategy=name,
            makespan_s=makespan_s,
            compute_s=tuple(self._compute_s),
            done=tuple(done),
            synchronizations=self._counts.synchronizations,
            redistributions=self._redistributions,
            moved=self._moved,
            events=self._events,
            lost=self._lost,
        )
