"""What a driver drives on each rank: an agent, which takes in events and returns actions.

There are two kinds. Under a `dlbrt.balance.strategy.Strategy` ranks balance at synchronizations, by what all
members of a group know alike; their agent is a `dlbrt.balance.balancer.Balancer`. Under a `PeerStrategy`
ranks never synchronize: each sends another rank a request or work, and goes on; its agent is a
`dlbrt.balance.peer.Peer`. Both are pure: the runtime drives them by MPI, the simulator in virtual time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Protocol

from dlbrt.balance import actions, events
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import NO_FAILURE, RedistributionGain, Window, WorkReport
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.layout import InitialPartition
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class BalancingCounts:
    """What an agent counts for the statistics, for its group or for itself."""

    synchronizations: int = 0
    redistributions: int = 0
    windows: tuple[Window, ...] = ()
    gain: RedistributionGain = field(default_factory=RedistributionGain)

    def __add__(self, other: BalancingCounts) -> BalancingCounts:
        return BalancingCounts(
            self.synchronizations + other.synchronizations,
            self.redistributions + other.redistributions,
            self.windows + other.windows,
            self.gain + other.gain,
        )


class Agent(Protocol):
    """One rank's part in a loop; ``dealt`` are the shares that all ranks begin with."""

    rank: int
    dealt: tuple[Spans, ...]

    @property
    def successor(self) -> Agent | None:
        """The agent that takes over, once there is one."""

    @property
    def units(self) -> Units:
        """What work is counted in."""

    @property
    def strategy_name(self) -> str:
        """The name of the strategy that it balances by."""

    @property
    def ends_independently(self) -> bool:
        """Whether the body may have failed on another rank without this rank knowing."""

    @property
    def is_central(self) -> bool:
        """Whether it is a central balancer, which receives profiles."""

    @property
    def claims_chunks(self) -> bool:
        """Whether it claims work from the counter that all ranks share."""

    @property
    def receives_messages(self) -> bool:
        """Whether other ranks send it messages and work."""

    @property
    def serves(self) -> Container[type]:
        """The kinds of messages, and `Spans` for work, that it takes while its rank is within an iteration
        (`dlbrt.balance.events.UnderWay`)."""

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""

    @property
    def runnable(self) -> Spans:
        """What this rank may work on now."""

    @property
    def waiting(self) -> bool:
        """Whether the rank has nothing to do but `runnable` until something under way arrives."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or to serve here."""

    @property
    def timer_at(self) -> float | None:
        """When `TimeElapsed` will have an effect, if nothing comes before; None: never."""

    def due(self, now: float) -> bool:
        """Whether a rank that still has work has to act by the clock: its driver sends `TimeElapsed`."""

    def handle(self, event: events.Event) -> actions.Answer:
        """Take in one event; the actions are to be carried out in order."""

    def transferred(self, seconds: float, size: int) -> None:
        """Learn how long moving ``size`` bytes took."""

    def counts(self) -> BalancingCounts:
        """What the agent has counted, at the end of the loop."""


Handlers = Mapping[type, Callable[[Any, Any], actions.Answer]]


class EventHandler:
    """Handles events by a table of their kinds; a subclass adds its own entries to `_table`."""

    _handlers: ClassVar[Handlers]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._handlers = cls._table()

    @classmethod
    def _table(cls) -> Handlers:
        return {}

    def handle(self, event: events.Event) -> actions.Answer:
        """As `Agent.handle`."""
        return self._handlers[type(event)](self, event)


@dataclass(frozen=True, slots=True)
class InitialState:
    """What all ranks know alike: the first shares, the context, and the statistics ``known`` of the loop.

    ``begins``: the loop begins with these shares; otherwise they are what is left of it. ``phase`` tells
    agents that follow one another on a rank apart: it grows.
    """

    shares: tuple[Spans, ...]
    context: BalancingContext
    known: LoopStatistics = field(default_factory=LoopStatistics)
    begins: bool = False
    phase: int = 0


class HandoverRules(Protocol):
    """What a rank needs to go over from one strategy to another while it steals."""

    def choose(self, reports: Sequence[WorkReport], context: BalancingContext) -> str | None:
        """At rank 0: the strategy to go over to, by the reports of all ranks in order; None: none."""

    def successor(self, strategy: str, rank: int, start: InitialState, now: float) -> Agent:
        """The agent under ``strategy``, from the shares of ``start``."""


class PeerStrategy(ABC):
    """A strategy under which ranks balance by messages from one to another, without synchronizations.

    ``pooled``: whether the units that the first shares leave are in a pool at rank 0.
    """

    pooled = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the contract."""

    @abstractmethod
    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """The agent of a rank from ``now`` on."""

    def uncommitted(
        self,
        rank: int,
        start: InitialState,
        now: float,
        rules: HandoverRules,  # noqa: ARG002
    ) -> Agent:
        """The agent until ``rules`` choose a strategy, where that is possible (`dlbrt.balance.handover`)."""
        return self.agent(rank, start, now)

    def first_deal(
        self,
        deal: InitialPartition,
        known: LoopStatistics,  # noqa: ARG002
        *,
        without_rows: bool = False,  # noqa: ARG002
    ) -> InitialPartition:
        """The deal with the shares that ranks begin with; by default all units, as for other strategies."""
        return deal


def take_over(
    agent: Agent,
    now: float,
    did: tuple[int, float],
    failures: tuple[int, int],
    early: Sequence[events.Event],
) -> actions.Answer:
    """Tell a new agent what has happened since the shares that it starts from.

    ``did``: units done here, and the seconds they took. ``failures``: the lowest position that all ranks know
    to have failed, and the lowest that this rank knows of. ``early`` events came before the agent existed.
    """
    known, own = failures
    delivered: list[events.Event] = [events.Worked(now, *did)] if did[0] else []
    if known != NO_FAILURE:
        delivered.append(events.FailureNotified(now, known))
    if own < known:
        delivered.append(events.Failed(now, own))
    answer = [action for event in (*delivered, *early) for action in agent.handle(event)]
    return (*answer, actions.Resume())
