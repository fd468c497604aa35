"""One agent for each rank, driven in virtual time: actions become future events.

The counterpart of `dlbrt.mpi.driver`, step by step: `dlbrt.sim.ranks` polls by the same rules as the
processes of a run, and `dlbrt.sim.action_executor` carries out actions. An event is a synchronization, never
an iteration, so that a run takes milliseconds whatever it simulates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

from dlbrt.balance.agent import Agent, InitialState, PeerStrategy
from dlbrt.balance.decision import DecisionRule
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.member import ChoiceRule
from dlbrt.balance.messages import GroupReport, Profile
from dlbrt.balance.setup import agent_of, initial_state
from dlbrt.balance.strategy import Strategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.data.uncollected import uncollected
from dlbrt.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.action_executor import ActionExecutor
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome, SimulationStep
from dlbrt.sim.ranks import SimulatedRank, SimulatedRanks
from dlbrt.sim.worker import SimulatedWorker

# A group state that all replicas share: the first replica to settle a window computes, the others reuse the
# result.
#
# A replicated balancer (Zaki, Li, Parthasarathy, section 1.2.1) does the same arithmetic on every member of a
# group. On P processors that costs no extra time; in one process it costs P times as much. A window cannot
# close before every member has closed the one before it, so only the latest window of each group is kept.
# Between two windows a group state does not change, so all replicas at the same window share one mapping of
# attributes.


@dataclass(frozen=True, slots=True)
class _Settled:
    """A settled window: its epoch, the profiles, the group state afterwards, and the transfers."""

    epoch: int
    profiles: tuple[Profile, ...]
    group_state: dict[str, Any]
    transfers: tuple[Transfer, ...]


class _Group:
    """What the replicas of one group share: the window that was settled last."""

    def __init__(self) -> None:
        self.settled: _Settled | None = None


class ReplicatedGroupState(GroupState):
    """A group state shared by the members of a group; ``known`` is common to all groups."""

    def __init__(
        self,
        members: Sequence[int],
        shares: Sequence[Spans],
        context: BalancingContext,
        known: dict[tuple[int, ...], _Group],
    ) -> None:
        super().__init__(members, shares, context)
        self._known = known
        self._group = known.setdefault(self.members, _Group())

    def another(self) -> ReplicatedGroupState:
        """A replica for another member."""
        _ = self.estimates  # computed once, for all
        replica = ReplicatedGroupState.__new__(ReplicatedGroupState)
        replica.__dict__ = vars(self)
        return replica

    def of(self, members: Sequence[int]) -> ReplicatedGroupState:
        """As `GroupState.of`."""
        part = ReplicatedGroupState(members, (), self.context, self._known)
        vars(part).update(vars(super().of(members)))
        return part

    def merged(
        self, reports: Sequence[GroupReport], context: BalancingContext
    ) -> tuple[GroupState, tuple[int, ...]]:
        """As `GroupState.merged`."""
        merged, kept = super().merged(reports, context)
        whole = ReplicatedGroupState(merged.members, (), context, self._known)
        vars(whole).update(vars(merged))
        return whole, kept

    def settle(self, profiles: Sequence[Profile], decide: DecisionRule) -> tuple[Transfer, ...]:
        """As `GroupState.settle`; ValueError if another replica settled the window by other profiles."""
        known = self._group.settled
        if known is None or known.epoch != self.epoch:
            known = self._group.settled = self._settled(tuple(profiles), decide)
        elif known.profiles is not profiles and known.profiles != tuple(profiles):
            raise ValueError(f"two replicas of {self.members} have other profiles of window {known.epoch}")
        self.__dict__ = known.group_state
        return known.transfers

    def _settled(self, profiles: tuple[Profile, ...], decide: DecisionRule) -> _Settled:
        """Settle the window for all replicas; those still at the window before keep their state."""
        epoch = self.epoch
        self.__dict__ = dict(vars(self))
        self.history, self.windows = copy(self.history), self.windows.copy()
        transfers = super().settle(profiles, decide)
        _ = self.estimates
        return _Settled(epoch, profiles, vars(self), transfers)


#: Before a strategy is chosen, completed work is reported in this many pieces, which show how the speed
#: changes.
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
    """Run a loop to its end. ``commit`` chooses a strategy at the first synchronization, as in `Balancer`.

    ``known`` is what chunk rules know of the loop: ``LoopStatistics()`` in its first run; by default all that
    an earlier run would have measured, speeds included. ``traced``: whether to keep every event and action,
    which takes memory in proportion. RuntimeError if a rank waits for ever, which is a defect of the policy.
    """
    with uncollected():
        trace: list[SimulationStep] | None = [] if traced else None
        start = start_in(machine, loop, strategy, parameters or Parameters(), known)
        begins_s = (0.0,) * machine.ranks
        agents = agents_of(machine, strategy, start, commit, begins_s)
        simulated_ranks = _make_ranks(machine, loop, start, agents)
        ranks = SimulatedRanks(simulated_ranks, 1 if commit is None else PIECES, trace)
        executor = ActionExecutor(ranks, machine.network, loop.unit_bytes)
        ranks.begin(executor.table(), begins_s)
        events = ranks.run()
        return _outcome(simulated_ranks, executor, events, trace or ())


def start_in(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters,
    known: LoopStatistics | None = None,
) -> InitialState:
    """What ranks begin with under ``strategy``; ``known`` as for `simulate`."""
    network, deal, without_rows = machine.network, loop.deal(machine.ranks), not loop.unit_bytes
    exchange_s = network.all_to_all.seconds(machine.ranks)
    if isinstance(strategy, PeerStrategy):
        mean, deviation = loop.costs().mean_and_deviation
        known = known or LoopStatistics(mean, deviation, 2 * network.latency_s, machine.speeds)
        deal = strategy.first_deal(deal, known, without_rows=without_rows)
    else:
        known = None
    size = loop.iteration_bytes
    return initial_state(
        deal, parameters, exchange_s, size, network, machine.groups, known=known, without_rows=without_rows
    )


def agents_of(
    machine: Machine,
    strategy: Strategy | PeerStrategy,
    start: InitialState,
    commit: ChoiceRule | None,
    begins_s: Sequence[float],
) -> Iterator[Agent]:
    """The agents of all ranks, in order, which begin at these times; balancers share one group state."""
    peers = isinstance(strategy, PeerStrategy)
    first = None if peers else ReplicatedGroupState(range(machine.ranks), start.shares, start.context, {})
    for rank, now in enumerate(begins_s):
        group_state = None if first is None else first.another()
        yield agent_of(strategy, start, rank, now, machine.groups, machine.rules, commit, group_state)


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
    counts = (each.past_counts + each.agent.counts() for each in simulated_ranks)
    return SimulationOutcome(
        strategy=simulated_ranks[0].agent.strategy_name,
        makespan_s=executor.end_s,
        compute_s=tuple(worker.compute_s for worker in workers),
        done=tuple(Spans.of(*worker.parts) for worker in workers),
        synchronizations=sum(each.synchronizations for each in counts),
        redistributions=executor.redistributions,
        moved=executor.moved,
        events=events,
        trace=tuple(trace),
    )
