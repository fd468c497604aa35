"""What `auto` does: ranks steal until a strategy is chosen by a model at the first synchronization.

Zaki, Li and Parthasarathy (section 1.3.3) choose no strategy before the first synchronization point, which
all ranks wait for. Over the grid of `tests/bench/strategies_grid.py` and over the paper's cases that wait
costs more than a choice gains. Stealing costs nothing as long as all ranks are busy; so ranks begin with it,
and the first synchronization is a survey that no rank waits for (`dlbrt.balance.survey`). The model predicts
by it how long each strategy takes from there. Ranks steal on, or all go over to the strategy chosen
(`dlbrt.balance.handover`). The model takes rank 0 some milliseconds, so a short rest is not worth it: ranks
steal on then, and the model is asked when the loop is over and someone reads what it predicts.

Where the user wants it (`Parameters.adapts`), strategies are chosen again: at further surveys while ranks
steal, and at synchronizations where all ranks have any. There rank 0 has all profiles, with the speeds of
each rank by slices of its time, and the group state says what is left. Rank 0 asks the model while the other
ranks work, and announces the choice. The profiles say how long each rank waited for the synchronization
before. It shows how late hosts answer that others use too: where it is longer than by the network, all
messages are taken to be as late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.group_state import MAX_WAIT_FACTOR, BalancingContext, GroupState
from dlbrt.balance.messages import Profile, WorkReport
from dlbrt.balance.strategies import UNCHOSEN, strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.predict.groups import Groups
from dlbrt.predict.network import Network
from dlbrt.predict.schemes import scheme
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.predict.choose import StrategyChoice

#: How all ranks have synchronized where no choice is known.
BY_DEFAULT = "GDDLB"

#: Where a survey finds that ranks have at most so many units left on average, they steal on: speeds are those
#: of one unit or two, and one unit too many decides on the end.
FEW_UNITS = 4

#: Where a survey finds that less than so many seconds are left, the model is not asked while ranks work: it
#: takes rank 0 up to 20 ms.
SHORT_REST_S = 0.5


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the model is asked by: reports of all ranks, and their speeds, in work a second."""

    reports: Sequence[WorkReport]
    context: BalancingContext
    speeds: Sequence[float]

    @property
    def left_s(self) -> float:
        """How long all ranks together take for what is left."""
        return sum(self.context.work_table.of(each.work) for each in self.reports) / sum(self.speeds)


@dataclass(slots=True)
class StrategyChooser:
    """Commits to a strategy, by the network and the groups that a local strategy would have.

    ``within`` are the networks among the ranks of each group, where they differ from the network among all.
    ``chosen``: whether a strategy was chosen while ranks worked. From the same inputs the same strategy is
    chosen, on any machine.
    """

    network: Network
    groups: Groups
    within: tuple[Network, ...] = ()
    chosen: bool = field(default=False, init=False)
    _choice: StrategyChoice | None = field(default=None, init=False)
    _survey: _Survey | None = field(default=None, init=False)

    @property
    def choice(self) -> StrategyChoice | None:
        """The record that explains the choice, once there is one; the model may be asked for it only now."""
        if self._choice is None and self._survey is not None:
            self._choice, self._survey = self._chosen_by(self._survey, stays=True), None
        return self._choice

    def surveyed(self, reports: Sequence[WorkReport], context: BalancingContext) -> str | None:
        """As `HandoverRules.choose`: the strategy that is chosen by the reports of all ranks.

        A rank that has done nothing yet counts as fast as the others on average.
        """
        if not any(each.work for each in reports):
            return None
        seen = [each.quanta / each.compute_s if each.compute_s > 0 else 0.0 for each in reports]
        mean = sum(seen) / (sum(map(bool, seen)) or 1)
        survey = _Survey(reports, context, [speed or mean for speed in seen])
        few = sum(len(each.work) for each in reports) <= FEW_UNITS * len(reports)
        if not mean or few or survey.left_s < SHORT_REST_S:
            self._survey = survey if mean else None
            return None
        self._choice, self.chosen = self._chosen_by(survey, stays=False), True
        return self._choice.strategy

    def _chosen_by(self, survey: _Survey, *, stays: bool) -> StrategyChoice:
        from dlbrt.balance.consult import chosen_by_survey

        networks, known = (self.network, self.within), (survey.reports, survey.context, survey.speeds)
        return chosen_by_survey(*known, self.groups, networks, stays=stays)

    def __call__(self, group_state: GroupState, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        """The strategy for what is left; the group state is that after the synchronization.

        Where the rest is done before a choice would have paid, ranks go on without synchronizations.
        """
        speeds = group_state.history.speeds
        if speeds is None or not self.asks_model(group_state):
            return strategy(UNCHOSEN if self._choice is None else self._choice.strategy)
        self._choice, self.chosen = self._choose_by_model(group_state, profiles, speeds), True
        return strategy(self._choice.strategy)

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
        in_force = scheme(self._choice.strategy if self._choice is not None else BY_DEFAULT)
        expected_s = in_force.synchronization_s(self.network, len(waited_s))
        expected_s += self.network.switch_s if in_force.central else 0.0
        known = sorted(seconds for seconds in waited_s if seconds > 0)
        if expected_s <= 0 or 2 * len(known) <= len(waited_s):
            return 1.0
        excess_s = group_state.excess_wait_s(known[(len(known) - 1) // 2])
        return min(MAX_WAIT_FACTOR, max(1.0, excess_s / expected_s))
