"""Records one rank's part of one run of a loop, in memory; its driver does so where a trace is wanted.

Law. All events of an agent are kept, in order, with the agent's actions, so that another agent given the same
events answers with the same actions. A `TimeElapsed` is kept only where it could have had an effect
(`Agent.timer_at`, `Agent.due`) or caused an action, since waiting ranks poll thousands of times a second.

Memory is bounded: events beyond `MAX_ENTRIES` are counted, not kept. Consecutive chunks of iterations are
joined, more of them the longer the loop goes on, so that about `MAX_CHUNKS` remain. Chunks that are not
consecutive, as in a cyclic distribution, are counted once there is no room left.
"""

from __future__ import annotations

from dlbrt.balance.actions import Action
from dlbrt.balance.agent import Agent
from dlbrt.balance.events import Event, TimeElapsed
from dlbrt.balance.setup import AgentSetup
from dlbrt.observe.trace import Chunk, RankTrace, TraceEntry, Transferred

MAX_ENTRIES = 20_000
MAX_CHUNKS = 2048


class Recorder:
    """Records what happens on a rank; ``setup`` is what all ranks began with, once they share the loop."""

    def __init__(self, now: float) -> None:
        self.setup: AgentSetup | None = None
        self._began = now
        self._entries: list[TraceEntry] = []
        self._lost_entries = 0
        self._chunks: list[tuple[int, Chunk]] = []  # each with the number of chunks joined in it
        self._each = 1  # how many chunks may be joined in one
        self._scattered = False  # whether joining has stopped helping
        self._lost_chunks = 0

    def begin(self, setup: AgentSetup, now: float) -> None:
        """The agent begins now."""
        self.setup, self._began = setup, now

    def handle(self, agent: Agent, event: Event) -> tuple[Action, ...]:
        """Give the agent an event, and record it with its actions."""
        kept = not isinstance(event, TimeElapsed) or _matters(agent, event.now)
        actions = agent.handle(event)
        if kept or actions:
            self._add(TraceEntry(event, actions))
        return actions

    def note(self, event: Event) -> None:
        """Record an event of a rank that has no agent, because it is alone."""
        self._add(TraceEntry(event))

    def transferred(self, agent: Agent, now: float, seconds: float, size: int) -> None:
        """Tell the agent how long moving data took, and record it."""
        agent.transferred(seconds, size)
        self._add(TraceEntry(Transferred(now, seconds, size)))

    def computed(self, positions: range, began: float, seconds: float, computing_s: float) -> None:
        """These iterations took that many seconds from ``began`` on, ``computing_s`` without emulation."""
        if not positions:
            return
        if len(self._chunks) >= 2 * MAX_CHUNKS and not self._scattered:
            self._thin()
        chunk, room = Chunk(positions, began, seconds, computing_s), len(self._chunks) < 2 * MAX_CHUNKS
        if not _put(self._chunks, 1, chunk, self._each, room):
            self._lost_chunks += 1

    def trace(self) -> RankTrace:
        """The recording so far."""
        chunks = tuple(chunk for _, chunk in self._chunks)
        return RankTrace(self._began, tuple(self._entries), chunks, self._lost_entries, self._lost_chunks)

    def _add(self, entry: TraceEntry) -> None:
        if len(self._entries) < MAX_ENTRIES:
            self._entries.append(entry)
        else:
            self._lost_entries += 1

    def _thin(self) -> None:
        """Join up to twice as many chunks as before."""
        before, self._chunks = self._chunks, []
        self._each *= 2
        for count, chunk in before:
            _put(self._chunks, count, chunk, self._each, True)
        self._scattered = 2 * len(self._chunks) > 3 * MAX_CHUNKS


def _matters(agent: Agent, now: float) -> bool:
    """Whether the passing of time up to ``now`` may affect the agent."""
    return agent.due(now) or ((timer_at := agent.timer_at) is not None and timer_at <= now)


def _put(chunks: list[tuple[int, Chunk]], count: int, chunk: Chunk, each: int, room: bool) -> bool:
    """Add a chunk, joined to one of the last two if it continues it; the two sides of pairs alternate.

    False if it continues neither and there is no room for another chunk.
    """
    for place in range(len(chunks) - 1, max(-1, len(chunks) - 3), -1):
        had, last = chunks[place]
        positions = joined(last.positions, chunk.positions) if had + count <= each else None
        if positions is not None:
            seconds, computing_s = last.seconds + chunk.seconds, last.computing_s + chunk.computing_s
            chunks[place] = had + count, Chunk(positions, last.began, seconds, computing_s)
            return True
    if room:
        chunks.append((count, chunk))
    return room


def joined(one: range, other: range) -> range | None:
    """Both as one range, in either order; None if they do not form one."""
    low, high = (one, other) if one.start < other.start else (other, one)
    step = low.step if len(low) > 1 else high.step if len(high) > 1 else high.start - low.start
    goes_on = low[-1] + step == high.start and (len(high) == 1 or high.step == step)
    return range(low.start, high[-1] + 1, step) if goes_on else None
