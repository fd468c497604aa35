"""What `auto` does at the first synchronization: it asks the model, and commits to the cheapest strategy.

Until then all ranks balance together (Zaki et al., section 1.3.3: no strategy is chosen before the first
synchronization point), as under `GDDLB`, or as under `GCDLB` where the network makes that clearly cheaper. At
the first synchronization rank 0 has all profiles, with the speeds of each rank by slices of its time, and the
group state says what is left. Rank 0 asks the model while the other ranks work, and announces the choice. The
duration of that synchronization shows how late hosts answer that others use too: where it is longer than by
the network, all messages are taken to be as late.

Where an exchange among all ranks costs some per cent of the loop, groups from the start do better if loads
last for a short part of it, and worse if loads last long, as one group then stays slower than the other: over
the paper's cases groups lose as much as they gain. How long loads last is not known before ranks have been
observed, so all ranks begin together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.group_state import MAX_WAIT_FACTOR, GroupState
from dlbrt.balance.messages import Profile
from dlbrt.balance.strategies import BEFORE_CHOICE, strategy, synchronizing
from dlbrt.balance.strategy import Strategy
from dlbrt.predict.groups import Groups
from dlbrt.predict.network import Network
from dlbrt.predict.schemes import scheme
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.predict.choose import StrategyChoice

#: How all ranks balance until a strategy is chosen, where this costs at most that part of the other way.
CENTRAL, CHEAPER = "GCDLB", 0.6


@dataclass(slots=True)
class StrategyChooser:
    """Commits to a strategy, by the network and the groups that a local strategy would have.

    ``within`` are the networks among the ranks of each group, where they differ from the network among all.
    ``choice`` is the record that explains the choice, once there is one. From the same inputs the same
    strategy is chosen, on any machine.
    """

    network: Network
    groups: Groups
    within: tuple[Network, ...] = ()
    choice: StrategyChoice | None = field(default=None, init=False)

    @property
    def initial_strategy(self) -> Strategy:
        """How all ranks balance until a strategy is chosen."""
        ranks = sum(map(len, self.groups))
        apart_s = scheme(BEFORE_CHOICE).synchronization_s(self.network, ranks)
        central_s = scheme(CENTRAL).synchronization_s(self.network, ranks) + self.network.switch_s
        return synchronizing(CENTRAL if central_s < CHEAPER * apart_s else BEFORE_CHOICE)

    def __call__(self, group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        """The strategy for what is left; the group state is that after the synchronization.

        The present strategy stays where the rest is done before a choice would have paid.
        """
        speeds = group_state.history.speeds
        if speeds is None or not self.asks_model(group_state):
            return self.initial_strategy if self.choice is None else strategy(self.choice.strategy)
        self.choice = self._choose_by_model(group_state, profiles, speeds)
        return strategy(self.choice.strategy)

    def asks_model(self, group_state: GroupState) -> bool:
        """Whether so much is left that a choice would pay."""
        left_s = group_state.remaining_makespan_s
        return left_s is not None and left_s >= group_state.context.parameters.min_choice_s

    def load(self) -> None:
        """Import the model, so that the next choice takes no longer than later ones."""
        import dlbrt.balance.consult  # noqa: F401

    def _choose_by_model(
        self, group_state: GroupState, profiles: Sequence[Profile], speeds: Sequence[float]
    ) -> StrategyChoice:
        from dlbrt.balance.consult import chosen

        late = self._late(group_state, profiles[0].waited_s)
        networks = self.network.slowed(late), tuple(each.slowed(late) for each in self.within)
        return chosen(group_state, profiles, speeds, self.groups, networks)

    def _late(self, group_state: GroupState, waited_s: float) -> float:
        """How many times as long as expected rank 0 waited, less an iteration of the slowest; at least 1."""
        ranks = len(group_state.members)
        expected_s = scheme(self.initial_strategy.name).synchronization_s(self.network, ranks)
        if expected_s <= 0:
            return 1.0
        return min(MAX_WAIT_FACTOR, max(1.0, group_state.excess_wait_s(waited_s) / expected_s))
