"""Plays agents that balance by words, in an order of events drawn at random: an adversary, not a machine.

Messages from one rank to another keep their order and nothing else is certain: how much a rank does before it
looks, which message comes first, how time goes by. Whatever a strategy promises has to hold under every
order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from dlbrt.balance.actions import Action, ClaimChunks, Finish, NotifyFailure, Resume, Send, SendWork
from dlbrt.balance.agent import Agent
from dlbrt.balance.events import (
    ChunksClaimed,
    Event,
    Exhausted,
    Failed,
    FailureNotified,
    Received,
    TimeElapsed,
    Worked,
    WorkReceived,
)
from dlbrt.balance.messages import NO_FAILURE
from dlbrt.data.spans import Spans

from tests.support.spans import each_position

__all__ = ["Played", "play"]

#: Steps after which a run counts as one that does not end.
MOST_STEPS = 400_000


@dataclass
class Played:
    """Who did what, in order; words and gifts counted. ``failed`` are the positions whose body raised."""

    done: list[list[int]]
    failed: list[int] = field(default_factory=list)
    words: int = 0
    assignments: int = 0
    steps: int = 0


class _Play:
    def __init__(self, agents: list[Agent], random: Random, fails_at: frozenset[int]) -> None:
        self.agents = agents
        self.random = random
        self.fails_at = fails_at
        self.now = 0.0
        self.channels: dict[tuple[int, int], deque[Callable[[float], Event]]] = {}
        self.played = Played([[] for _ in agents])
        self.counter = 0

    def run(self) -> Played:
        while not all(agent.finished for agent in self.agents):
            self.played.steps += 1
            assert self.played.steps < MOST_STEPS, "it does not end"
            steps = self.possible()
            if not steps or self.random.random() < 0.02:
                self.wait(bool(steps))
            else:
                self.random.choice(steps)()
        return self.played

    def possible(self) -> list[Callable[[], None]]:
        found: list[Callable[[], None]] = []
        for (_, target), channel in self.channels.items():
            if channel and not self.agents[target].finished:
                found.append(lambda t=target, c=channel: self.tell(t, c.popleft()(self.now)))  # type: ignore[misc]
        for rank, agent in enumerate(self.agents):
            if agent.finished:
                continue
            if agent.runnable:
                found.append(lambda r=rank: self.work(r))  # type: ignore[misc]
            elif not agent.waiting:
                found.append(lambda r=rank: self.tell(r, Exhausted(self.now)))  # type: ignore[misc]
            if agent.due(self.now):
                found.append(lambda r=rank: self.tell(r, TimeElapsed(self.now)))  # type: ignore[misc]
        return found

    def wait(self, something: bool) -> None:
        """Let time go by, to when somebody wakes; nobody may wait for ever."""
        times = [agent.timer_at for agent in self.agents if not agent.finished]
        wakes = [when for when in times if when is not None]
        assert something or wakes, "all wait for one another"
        self.now = max(self.now, min(wakes)) if wakes and not something else self.now + 1e-3
        for rank, agent in enumerate(self.agents):
            if not agent.finished:
                self.tell(rank, TimeElapsed(self.now))

    def work(self, rank: int) -> None:
        agent = self.agents[rank]
        units = Spans((agent.runnable.runs[0][: self.random.randint(1, 5)],))
        took_s = len(units) * self.random.choice((1e-5, 1e-3, 1e-2))
        for count, position in self.positions(agent, units):
            if position in self.fails_at:
                self.played.failed.append(position)
                if count:
                    self.tell(rank, Worked(self.now, count, took_s))
                self.tell(rank, Failed(self.now, position))
                return
            self.played.done[rank].append(position)
        self.tell(rank, Worked(self.now, len(units), took_s))

    @staticmethod
    def positions(agent: Agent, units: Spans) -> list[tuple[int, int]]:
        """In the order of execution, and how many units count as done where one of them fails.

        Of pairs all do: what is not done of them comes after the failure (`dlbrt.mpi.walk`).
        """
        found = []
        if not agent.units.folded:
            found = list(enumerate(each_position(units)))
        elif units:
            run = units.runs[0]
            found = [(len(units), p) for stretch in agent.units.stretches(run) for p in stretch]
        return [(count, p) for count, p in found if p < agent.failed_at]

    def tell(self, rank: int, event: Event) -> None:
        for action in self.agents[rank].handle(event):
            self.carry_out(rank, action)

    def carry_out(self, rank: int, action: Action) -> None:
        match action:
            case Send(targets, word):
                self.played.words += len(targets)
                for target in targets:
                    self.send(rank, target, lambda now: Received(now, rank, word))
            case SendWork(target, units):
                self.played.assignments += 1
                assert units
                assert target != rank
                self.send(rank, target, lambda now: WorkReceived(now, rank, units))
            case NotifyFailure(position, members):
                for target in members:
                    self.send(rank, target, lambda now: FailureNotified(now, position))
            case ClaimChunks(count):
                number, self.counter = self.counter, self.counter + count
                self.send(rank, rank, lambda now: ChunksClaimed(now, number, count))
            case Resume() | Finish():
                pass
            case _:
                raise AssertionError(f"no driver of such agents carries out {action}")

    def send(self, source: int, target: int, event: Callable[[float], Event]) -> None:
        self.channels.setdefault((source, target), deque()).append(event)


def play(agents: list[Agent], seed: int, fails_at: frozenset[int] = frozenset()) -> Played:
    """Play to the end. AssertionError if that does not come, or all wait for one another."""
    assert all(agent.failed_at == NO_FAILURE for agent in agents)
    return _Play(agents, Random(seed), fails_at).run()
