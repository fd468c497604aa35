"""What `auto` does at the first synchronization: it asks the model, and commits to the cheapest strategy.

Until then all ranks balance together (Zaki et al., section 1.3.3: no strategy is chosen before the first
synchronization point), as under `GDDLB`, or as under `GCDLB` where the network makes that clearly cheaper.
Where a synchronization is dear, ranks are many, or they have a few iterations each, there is none: ranks
steal from the start. Stealing is also what most predictions end in, since it is nearer to its own than others
(`TAKES` in `dlbrt.predict.choose`).

At the first synchronization rank 0 has all profiles, with the speeds of each rank by slices of its time, and
the group state says what is left. Rank 0 asks the model while the other ranks work, and announces the choice.
The profiles say how long each rank waited for the synchronization before. It shows how late hosts answer that
others use too: where it is longer than by the network, all messages are taken to be as late.

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

#: Where a synchronization of all ranks costs at least so many seconds, or a rank has at most so many units on
#: average, ranks begin, and stay, with a strategy that has none: over the grid of
#: `tests/bench/strategies_grid.py` the synchronization at which another would be chosen costs more than that
#: one gains. The same holds of more than `MANY_RANKS` ranks.
DEAR_S, FEW_UNITS, MANY_RANKS, WITHOUT_SYNCHRONIZATIONS = 0.1, 8, 16, "steal"


@dataclass(slots=True)
class StrategyChooser:
    """Commits to a strategy, by the network and the groups that a local strategy would have.

    ``within`` are the networks among the ranks of each group, where they differ from the network among all,
    ``units`` how many units the loop has (None: enough for a choice).
    ``choice`` is the record that explains the choice, once there is one. From the same inputs the same
    strategy is chosen, on any machine.
    """

    network: Network
    groups: Groups
    within: tuple[Network, ...] = ()
    units: int | None = None
    choice: StrategyChoice | None = field(default=None, init=False)

    @property
    def initial_strategy(self) -> Strategy | PeerStrategy:
        """How all ranks balance until a strategy is chosen; for good where no synchronization is worth it."""
        apart_s, central_s = self._synchronizations_s()
        ranks = sum(map(len, self.groups))
        few = self.units is not None and self.units <= FEW_UNITS * ranks
        if few or ranks > MANY_RANKS or min(apart_s, central_s) >= DEAR_S:
            return strategy(WITHOUT_SYNCHRONIZATIONS)
        return synchronizing(CENTRAL if central_s < CHEAPER * apart_s else BEFORE_CHOICE)

    def _synchronizations_s(self) -> tuple[float, float]:
        """What a synchronization of all ranks costs with replicated balancers, and with a central one."""
        ranks = sum(map(len, self.groups))
        apart_s = scheme(BEFORE_CHOICE).synchronization_s(self.network, ranks)
        return apart_s, scheme(CENTRAL).synchronization_s(self.network, ranks) + self.network.switch_s

    def __call__(self, group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        """The strategy for what is left; the group state is that after the synchronization.

        Where the rest is done before a choice would have paid, ranks go on without synchronizations.
        """
        speeds = group_state.history.speeds
        if speeds is None or not self.asks_model(group_state):
            return strategy(WITHOUT_SYNCHRONIZATIONS if self.choice is None else self.choice.strategy)
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

        late = self._late(group_state, [profile.waited_s for profile in profiles])
        networks = self.network.slowed(late), tuple(each.slowed(late) for each in self.within)
        return chosen(group_state, profiles, speeds, self.groups, networks)

    def _late(self, group_state: GroupState, waited_s: Sequence[float]) -> float:
        """How many times as long as expected ranks waited for a synchronization; at least 1.

        It is the median over ranks, less an iteration of the slowest: one rank alone may have waited for
        another's iteration. Before all but rank 0 have told how long they waited, hosts count as punctual.
        """
        apart_s, central_s = self._synchronizations_s()
        expected_s = central_s if self.initial_strategy.name == CENTRAL else apart_s
        known = sorted(seconds for seconds in waited_s if seconds > 0)
        if expected_s <= 0 or 2 * len(known) <= len(waited_s):
            return 1.0
        excess_s = group_state.excess_wait_s(known[(len(known) - 1) // 2])
        return min(MAX_WAIT_FACTOR, max(1.0, excess_s / expected_s))
