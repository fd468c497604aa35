"""Whether the agents of a recorded run, told again what they were told, answer the same.

Where the recording has left out events, what follows them cannot be told, and is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlbrt.balance.actions import Action
from dlbrt.balance.events import Event
from dlbrt.balance.setup import AgentSetup
from dlbrt.observe.trace import RankTrace, RunTrace, TraceEntry, Transferred
from dlbrt.sim.replay import ReplayedRank


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a rank's answers go apart: entry number ``place``, what was recorded, what came now."""

    rank: int
    place: int
    entry: TraceEntry
    found: tuple[Action, ...] | str

    def __str__(self) -> str:
        return f"rank {self.rank}, entry {self.place}: {self.entry}, replayed: {self.found}"


def replay(run: RunTrace) -> tuple[ReplayDifference, ...]:
    """The first difference of each rank that has one; none of a run that rank 0 did alone.

    ValueError if this version does not have the strategy.
    """
    if run.setup is None:
        return ()
    try:
        return tuple(_differences(run, run.setup))
    except KeyError as error:
        raise ValueError(f"this version has no strategy {error}") from None


def _differences(run: RunTrace, setup: AgentSetup) -> Iterator[ReplayDifference]:
    for rank, recorded in enumerate(run.per_rank):
        if (found := _first(rank, ReplayedRank(setup, rank, recorded.began), recorded)) is not None:
            yield found


def _first(rank: int, replayed_rank: ReplayedRank, recorded: RankTrace) -> ReplayDifference | None:
    for place, entry in enumerate(recorded.entries):
        if entry.event.now < recorded.began:
            continue  # what rank 0 did alone, before the loop was shared
        found = _answer(replayed_rank, entry.event)
        if found != entry.actions:
            return ReplayDifference(rank, place, entry, found)
    return None


def _answer(replayed_rank: ReplayedRank, event: Event | Transferred) -> tuple[Action, ...] | str:
    """What is asked for, or why that cannot be told."""
    try:
        return replayed_rank.handle(event)
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
