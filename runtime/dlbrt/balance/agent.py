"""What a driver drives on each rank: an agent, which is told events and asks for actions.

There are two kinds. Under a `dlbrt.balance.strategy.Strategy` ranks balance at synchronizations, by what all
members of a group know alike: their agent is `dlbrt.balance.balancer.Balancer`. Under a `PeerStrategy` there is
no such moment: each rank tells another what it wants or gives, and goes on. Both are pure; the runtime drives
them by MPI, the simulator in virtual time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Protocol

from dlbrt.balance.actions import Action, Resume
from dlbrt.balance.events import Event, Failed, FailureNotified, Received, Worked, WorkReceived
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import NO_FAILURE, RedistributionGain, Window
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.layout import InitialPartition
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units, WorkTable
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class BalancingCounts:
    """What an agent has to say for the statistics, of what it counts for its group or for itself."""

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
    """One rank's part in a loop.

    ``dealt`` are the shares that all ranks begin with, ``failed_at`` is the lowest position known to have
    failed, ``strategy_name`` is what it balances by.
    """

    rank: int
    dealt: tuple[Spans, ...]

    @property
    def successor(self) -> Agent | None:
        """The agent that takes over from here on, once there is one."""

    @property
    def units(self) -> Units:
        """What work is counted in."""

    @property
    def strategy_name(self) -> str:
        """The strategy."""

    @property
    def ends_independently(self) -> bool:
        """Whether the body may have failed elsewhere without this rank's knowing."""

    @property
    def is_central(self) -> bool:
        """Whether it is a central balancer, to which profiles come."""

    @property
    def claims_chunks(self) -> bool:
        """Whether it claims work from the counter that all ranks share."""

    @property
    def receives_messages(self) -> bool:
        """Whether other ranks say and give it something."""

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""

    @property
    def runnable(self) -> Spans:
        """What this rank may work on now."""

    @property
    def waiting(self) -> bool:
        """Whether something is under way without which there is nothing to do but what is runnable."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or to serve here."""

    @property
    def timer_at(self) -> float | None:
        """When `Waited` will have an effect, if nothing comes before; None: never."""

    def due(self, now: float) -> bool:
        """Whether this rank, though it has work, has something to say by the clock: at `Waited`."""

    def handle(self, event: Event) -> tuple[Action, ...]:
        """Take in one event; the actions are to be carried out in order."""

    def transferred(self, seconds: float, size: int) -> None:
        """Learn what moving ``size`` bytes took."""

    def counts(self) -> BalancingCounts:
        """What is to be said at the end."""


@dataclass(frozen=True, slots=True)
class InitialState:
    """What all ranks know alike when a loop begins: the first shares, the terms, and what is ``known`` of it.

    ``begins``: the loop does, with these shares; else they are what is left of it.
    """

    shares: tuple[Spans, ...]
    context: BalancingContext
    known: LoopStatistics = field(default_factory=LoopStatistics)
    begins: bool = False


class PeerStrategy(ABC):
    """A strategy under which ranks balance by words from one to another.

    ``pooled``: whether what the first shares leave is in a pool at rank 0.
    """

    pooled = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the contract."""

    @abstractmethod
    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """The agent of a rank, from ``now`` on."""

    def first_shares(
        self,
        units: Units,  # noqa: ARG002
        ranks: int,  # noqa: ARG002
        work_table: WorkTable,  # noqa: ARG002
        known: LoopStatistics,  # noqa: ARG002
        *,
        without_rows: bool = False,  # noqa: ARG002
    ) -> tuple[Spans, ...] | None:
        """What each of so many ranks begins with; None: all there is, dealt as for any other strategy."""
        return None

    def first_deal(
        self, deal: InitialPartition, known: LoopStatistics, *, without_rows: bool = False
    ) -> InitialPartition:
        """The deal, but with the shares that ranks begin with under this strategy."""
        shares = self.first_shares(
            deal.units, len(deal.shares), deal.work_table, known, without_rows=without_rows
        )
        return deal if shares is None else replace(deal, shares=shares)


def take_over(
    agent: Agent,
    now: float,
    did: tuple[int, float],
    failures: tuple[int, int],
    words: Sequence[Received | WorkReceived],
) -> tuple[Action, ...]:
    """Tell a new agent what has been since the shares that it starts from.

    ``did``: units done here, in so many seconds. ``failures``: the lowest position that all know to have
    failed, and the lowest that this rank knows of. ``words`` have come before it was there.
    """
    known, own = failures
    events: list[Event] = [Worked(now, *did)] if did[0] else []
    if known != NO_FAILURE:
        events.append(FailureNotified(now, known))
    if own < known:
        events.append(Failed(now, own))
    actions = [action for event in (*events, *words) for action in agent.handle(event)]
    return (*actions, Resume())
