"""How agents of a loop come about, from what all ranks know alike: in a run, a simulation and a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from dlbrt.core.agent import Agent, PeerStrategy, Start
from dlbrt.core.books import Books, Terms
from dlbrt.core.chunks.loop import Known
from dlbrt.core.model.groups import GroupRules, Groups
from dlbrt.core.model.network import Network
from dlbrt.core.parameters import Parameters
from dlbrt.core.registry import AUTO, strategy
from dlbrt.core.regrouping import Regrouping
from dlbrt.core.strategy import Strategy
from dlbrt.dist.deal import Deal
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.balancer import Commit
    from dlbrt.core.chooser import Chooser

__all__ = ["Setup", "agent_of", "begins_with", "start_of"]


def begins_with(
    asked: str, network: Network, groups: Groups, within: tuple[Network, ...] = ()
) -> tuple[Strategy | PeerStrategy, Chooser | None]:
    """The strategy that a loop begins with, which is asked for by name or as ``auto``; what chooses then.

    KeyError where this version has no strategy of that name.
    """
    if asked != AUTO:
        return strategy(asked), None
    from dlbrt.core.chooser import Chooser

    chooser = Chooser(network, groups, within)
    return chooser.begins, chooser


def start_of(
    deal: Deal,
    parameters: Parameters,
    exchange_s: float,
    iteration_bytes: float,
    network: Network,
    groups: Groups = (),
    within: Sequence[Network] = (),
    known: Known | None = None,
    *,
    bare: bool,
) -> Start:
    """What all ranks begin a loop with, which begins with this deal.

    ``exchange_s`` is what a synchronization of all costs; what one of a group costs follows from the
    ``network`` of all, or from that ``within`` the group. ``iteration_bytes`` move with an iteration;
    ``bare``: units have no data of their own.
    """
    networks = within or (network,) * len(groups)
    group_s = {
        tuple(group): own.all_to_all.seconds(len(group)) for group, own in zip(groups, networks, strict=True)
    }
    unit_bytes = iteration_bytes * (2 if deal.units.folded else 1)
    among = network.all_to_all
    terms = Terms(deal.units, parameters, exchange_s, deal.amounts, unit_bytes, group_s, among, bare)
    return Start(deal.shares, terms, known or Known(), begins=True)


def agent_of(
    begins: Strategy | PeerStrategy,
    start: Start,
    rank: int,
    now: float,
    groups: Groups,
    rules: GroupRules,
    commit: Commit | None = None,
    books: Books | None = None,
) -> Agent:
    """The agent of a rank from ``now`` on; a balancer keeps ``books``, its own where none are given."""
    if isinstance(begins, PeerStrategy):
        return begins.agent(rank, start, now)
    return Regrouping(rank, start.shares, begins, start.terms, now, groups, commit, books, rules)


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

        KeyError as `begins_with`.
        """
        begins, chooser = begins_with(self.asked, self.network, self.groups, self.within)
        return agent_of(begins, self.start, rank, now, self.groups, self.rules, chooser), chooser
