"""Replay: agents of the core are told again what they were told in a recorded run, and must answer the same.

That a simulation decides as the runtime decides rests on this: both drive the same core, and the core is a
function of what it is told. So from a real run's events fresh agents ask for the same actions, to the last
bit of every profile. What was measured of moved data is told at its place among the events (`Transferred`).

Where the recording has left out events, what follows them cannot be told, and is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.core.actions import Action
from dlbrt.core.agent import Account, Agent
from dlbrt.core.events import Event
from dlbrt.core.model.choose import Choice
from dlbrt.core.setup import Setup
from dlbrt.dist.spans import Spans
from dlbrt.observe.trace import Entry, RankTrace, RunTrace, Transferred
from dlbrt.records import dataclass

__all__ = ["Difference", "Listener", "replay"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a rank's answers go apart: entry number ``place``, what was recorded, what came now."""

    rank: int
    place: int
    entry: Entry
    found: tuple[Action, ...] | str

    def __str__(self) -> str:
        return f"rank {self.rank}, entry {self.place}: {self.entry}, replayed: {self.found}"


class Listener:
    """A rank once more: its agents, which take over from one another, the first of them from ``began`` on."""

    def __init__(self, setup: Setup, rank: int, began: float) -> None:
        self._agent, self._chooser = setup.agent(rank, began)
        self._past: list[Agent] = []

    def tell(self, event: Event | Transferred) -> tuple[Action, ...]:
        """What is asked for; ValueError or KeyError for what it cannot be told."""
        if isinstance(event, Transferred):
            self._agent.transferred(event.seconds, event.size)
            return ()
        actions = self._agent.handle(event)
        if (successor := self._agent.successor) is not None:
            self._past.append(self._agent)
            self._agent = successor
        return actions

    @property
    def runnable(self) -> Spans:
        """What the rank may work on now."""
        return self._agent.runnable

    @property
    def choice(self) -> Choice | None:
        """Why the strategy is that one, where this rank chose it."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def accounts(self) -> tuple[Account, ...]:
        """What each agent has to say of its time."""
        return tuple(agent.account() for agent in (*self._past, self._agent))


def replay(run: RunTrace) -> tuple[Difference, ...]:
    """The first difference of each rank that has one; none of a run that rank 0 did alone.

    ValueError if this version does not have the strategy.
    """
    if run.setup is None:
        return ()
    try:
        return tuple(_differences(run, run.setup))
    except KeyError as error:
        raise ValueError(f"this version has no strategy {error}") from None


def _differences(run: RunTrace, setup: Setup) -> Iterator[Difference]:
    for rank, recorded in enumerate(run.per_rank):
        if (found := _first(rank, Listener(setup, rank, recorded.began), recorded)) is not None:
            yield found


def _first(rank: int, listener: Listener, recorded: RankTrace) -> Difference | None:
    for place, entry in enumerate(recorded.entries):
        if entry.event.now < recorded.began:
            continue  # what rank 0 did alone, before the loop was shared
        found = _answer(listener, entry.event)
        if found != entry.actions:
            return Difference(rank, place, entry, found)
    return None


def _answer(listener: Listener, event: Event | Transferred) -> tuple[Action, ...] | str:
    """What is asked for, or why that cannot be told."""
    try:
        return listener.tell(event)
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
