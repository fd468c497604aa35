"""Replay: agents of the core are told again what they were told in a recorded run, and must answer the same.

That a simulation decides as the runtime decides rests on this: both drive the same core, and the core is a
function of what it is told. So from a real run's events fresh agents ask for the same actions, to the last
bit of every profile. What was measured of moved data is told at its place among the events (`Transferred`).
"""

from __future__ import annotations

from dlbrt.core.actions import Action
from dlbrt.core.agent import Agent, BalancingCounts
from dlbrt.core.events import Event
from dlbrt.core.model.choose import StrategyChoice
from dlbrt.core.setup import AgentSetup
from dlbrt.dist.spans import Spans
from dlbrt.observe.trace import Transferred

__all__ = ["ReplayedRank"]


class ReplayedRank:
    """A rank once more: its agents, which take over from one another, the first of them from ``began`` on."""

    def __init__(self, setup: AgentSetup, rank: int, began: float) -> None:
        self._agent, self._chooser = setup.agent(rank, began)
        self._past_counts: list[Agent] = []

    def handle(self, event: Event | Transferred) -> tuple[Action, ...]:
        """What is asked for; ValueError or KeyError for what it cannot be told."""
        if isinstance(event, Transferred):
            self._agent.transferred(event.seconds, event.size)
            return ()
        actions = self._agent.handle(event)
        if (successor := self._agent.successor) is not None:
            self._past_counts.append(self._agent)
            self._agent = successor
        return actions

    @property
    def runnable(self) -> Spans:
        """What the rank may work on now."""
        return self._agent.runnable

    @property
    def choice(self) -> StrategyChoice | None:
        """Why the strategy is that one, where this rank chose it."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def accounts(self) -> tuple[BalancingCounts, ...]:
        """What each agent has to say of its time."""
        return tuple(agent.counts() for agent in (*self._past_counts, self._agent))
