"""How the agents of a loop come about, from what all ranks know alike: in a run, and when it is replayed."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from dlbrt.core.agent import Agent, PeerStrategy, Start
from dlbrt.core.model.groups import GroupRules, Groups
from dlbrt.core.model.network import Network
from dlbrt.core.registry import AUTO, strategy
from dlbrt.core.regrouping import Regrouping
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.chooser import Chooser

__all__ = ["Setup"]


@dataclass(frozen=True, slots=True)
class Setup:
    """What the agents of all ranks begin with; ``asked`` is the name of a strategy, or ``auto``.

    ``groups`` are those of local strategies, which go together by the ``rules``; ``within`` are the networks
    among the ranks of each group, where they differ from that among all.
    """

    asked: str
    start: Start
    groups: Groups = ()
    rules: GroupRules = field(default_factory=GroupRules)
    network: Network = field(default_factory=Network.default)
    within: tuple[Network, ...] = ()

    def agent(self, rank: int, now: float) -> tuple[Agent, Chooser | None]:
        """The agent of a rank from ``now`` on, and what it asks for a strategy, if it does.

        KeyError where this version has no strategy of that name.
        """
        chooser = self._chooser() if self.asked == AUTO else None
        begins = chooser.begins if chooser else strategy(self.asked)
        if isinstance(begins, PeerStrategy):
            return begins.agent(rank, self.start, now), chooser
        shares, terms = self.start.shares, self.start.terms
        return Regrouping(rank, shares, begins, terms, now, self.groups, chooser, rules=self.rules), chooser

    def _chooser(self) -> Chooser:
        from dlbrt.core.chooser import Chooser

        return Chooser(self.network, self.groups, self.within)
