"""How the agents of a loop are made from what all ranks know alike: in a run, a simulation and a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dlbrt.balance.agent import Agent, InitialState, PeerStrategy
from dlbrt.balance.balancer import Balancer
from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import Profile, WorkReport
from dlbrt.balance.strategies import AUTO, UNCHOSEN, strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.layout import InitialPartition
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, Groups
from dlbrt.predict.network import Network
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.balance.chooser import StrategyChooser
    from dlbrt.balance.member import ChoiceRule


def begins_with(
    requested_strategy: str, network: Network, groups: Groups, within: tuple[Network, ...] = ()
) -> tuple[Strategy | PeerStrategy, StrategyChooser | None]:
    """The strategy that a loop begins with, and under ``auto`` the chooser; KeyError for an unknown name."""
    if requested_strategy != AUTO:
        return strategy(requested_strategy), None
    from dlbrt.balance.chooser import StrategyChooser

    return strategy(UNCHOSEN), StrategyChooser(network, groups, within)


@runtime_checkable
class SurveyRule(Protocol):
    """A rule for the choice of a strategy that goes by surveys too, as `StrategyChooser` does."""

    def __call__(self, group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        """As `ChoiceRule`."""

    def surveyed(self, reports: Sequence[WorkReport], context: BalancingContext) -> str | None:
        """As `HandoverRules.choose`."""


@dataclass(frozen=True, slots=True)
class _HandoverRules:
    """As `HandoverRules`; the groups and their rules are for the agents that take over."""

    rule: SurveyRule
    groups: Groups
    rules: GroupRules

    def choose(self, reports: Sequence[WorkReport], context: BalancingContext) -> str | None:
        return self.rule.surveyed(reports, context)

    def successor(self, name: str, rank: int, start: InitialState, now: float) -> Agent:
        """As `HandoverRules.successor`; where parameters say so, it may choose again."""
        chosen = strategy(name)
        again = start.context.parameters.adapts and isinstance(chosen, Strategy) and not chosen.local
        return agent_of(chosen, start, rank, now, self.groups, self.rules, self.rule if again else None)


def initial_state(
    deal: InitialPartition,
    parameters: Parameters,
    exchange_s: float,
    iteration_bytes: float,
    network: Network,
    groups: Groups = (),
    within: Sequence[Network] = (),
    known: LoopStatistics | None = None,
    *,
    without_rows: bool,
    root_bytes: float = 0.0,
) -> InitialState:
    """What all ranks know alike of a loop that begins with this deal.

    ``exchange_s`` is what a synchronization of all ranks costs; the cost for a group follows from the
    ``network`` of all ranks, or from the network ``within`` the group. ``iteration_bytes`` move with an
    iteration, to rank 0 ``root_bytes``; ``without_rows``: units have no data of their own.
    """
    networks = within or (network,) * len(groups)
    group_s = {group: own.all_to_all.seconds(len(group)) for group, own in zip(groups, networks, strict=True)}
    of_unit = 2 if deal.units.folded else 1
    unit_bytes, root_bytes = iteration_bytes * of_unit, root_bytes * of_unit
    exchanges = network.all_to_all
    context = BalancingContext(
        deal.units,
        parameters,
        exchange_s,
        deal.work_table,
        unit_bytes,
        group_s,
        exchanges,
        without_rows,
        root_bytes,
    )
    return InitialState(deal.shares, context, known or LoopStatistics(), begins=True)


def agent_of(
    initial_strategy: Strategy | PeerStrategy,
    start: InitialState,
    rank: int,
    now: float,
    groups: Groups,
    rules: GroupRules,
    commit: ChoiceRule | None = None,
    group_state: GroupState | None = None,
) -> Agent:
    """The agent of a rank from ``now`` on; a balancer makes its own ``group_state`` where none is given."""
    if isinstance(initial_strategy, PeerStrategy):
        if isinstance(commit, SurveyRule):
            return initial_strategy.uncommitted(rank, start, now, _HandoverRules(commit, groups, rules))
        return initial_strategy.agent(rank, start, now)
    balancer = Balancer
    if rules.rounds:
        from dlbrt.balance.group_exchange import GroupExchangeBalancer

        balancer = GroupExchangeBalancer
    return balancer(
        rank, start.shares, initial_strategy, start.context, now, groups, commit, group_state, rules
    )


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """What the agents of all ranks begin with; ``requested_strategy`` is the name of a strategy, or ``auto``.

    ``groups`` are those of local strategies, and ``rules`` say how they exchange work; ``within`` are the
    networks among the ranks of each group, where they differ from the network among all.
    """

    requested_strategy: str
    start: InitialState
    groups: Groups = ()
    rules: GroupRules = field(default_factory=GroupRules)
    network: Network = field(default_factory=Network.default)
    within: tuple[Network, ...] = ()

    def agent(self, rank: int, now: float) -> tuple[Agent, StrategyChooser | None]:
        """The agent of a rank from ``now`` on, and under ``auto`` its chooser; KeyError as `begins_with`."""
        initial, chooser = begins_with(self.requested_strategy, self.network, self.groups, self.within)
        return agent_of(initial, self.start, rank, now, self.groups, self.rules, chooser), chooser
