"""One rank's recording of one run of a loop, in memory; what drives the rank tells it, and only if asked for.

Law. Everything that an agent was told is kept, in order, with what it answered, so that another agent that is
told the same answers the same. A `TimeElapsed` is kept only where it could have had an effect
(`Agent.timer_at`, `Agent.due`) or an answer: ranks that wait look around thousands of times a second.

Memory is bounded: events beyond `MAX_ENTRIES` are counted, not kept. Chunks of iterations that follow one
another are put together, more of them the longer the loop goes on, so that about `MAX_CHUNKS` remain; of
those that do not follow one another, as iterations dealt in turn, the rest is counted.
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
    """Takes down what happens on a rank; ``setup`` is what all ranks began with, once they share the loop."""

    def __init__(self, now: float) -> None:
        self.setup: AgentSetup | None = None
        self._began = now
        self._entries: list[TraceEntry] = []
        self._lost_entries = 0
        self._chunks: list[tuple[int, Chunk]] = []  # each with how many were put together in it
        self._each = 1  # how many may be
        self._scattered = False  # whether putting together has stopped helping
        self._lost_chunks = 0

    def begin(self, setup: AgentSetup, now: float) -> None:
        """The agent begins now."""
        self.setup, self._began = setup, now

    def handle(self, agent: Agent, event: Event) -> tuple[Action, ...]:
        """Tell the agent, and take it down."""
        kept = not isinstance(event, TimeElapsed) or _matters(agent, event.now)
        actions = agent.handle(event)
        if kept or actions:
            self._add(TraceEntry(event, actions))
        return actions

    def note(self, event: Event) -> None:
        """Take down what happened to a rank that has no agent, being alone."""
        self._add(TraceEntry(event))

    def transferred(self, agent: Agent, now: float, seconds: float, size: int) -> None:
        """Tell the agent what moving data took, and take it down."""
        agent.transferred(seconds, size)
        self._add(TraceEntry(Transferred(now, seconds, size)))

    def computed(self, positions: range, began: float, seconds: float, computing_s: float) -> None:
        """These iterations were done, from then on, in so many seconds, of which so many are real."""
        if not positions:
            return
        if len(self._chunks) >= 2 * MAX_CHUNKS and not self._scattered:
            self._thin()
        chunk, room = Chunk(positions, began, seconds, computing_s), len(self._chunks) < 2 * MAX_CHUNKS
        if not _put(self._chunks, 1, chunk, self._each, room):
            self._lost_chunks += 1

    def trace(self) -> RankTrace:
        """All of it."""
        chunks = tuple(chunk for _, chunk in self._chunks)
        return RankTrace(self._began, tuple(self._entries), chunks, self._lost_entries, self._lost_chunks)

    def _add(self, entry: TraceEntry) -> None:
        if len(self._entries) < MAX_ENTRIES:
            self._entries.append(entry)
        else:
            self._lost_entries += 1

    def _thin(self) -> None:
        """Put twice as many together as before."""
        before, self._chunks = self._chunks, []
        self._each *= 2
        for count, chunk in before:
            _put(self._chunks, count, chunk, self._each, True)
        self._scattered = 2 * len(self._chunks) > 3 * MAX_CHUNKS


def _matters(agent: Agent, now: float) -> bool:
    """Whether time going by may have an effect on the agent."""
    return agent.due(now) or ((timer_at := agent.timer_at) is not None and timer_at <= now)


def _put(chunks: list[tuple[int, Chunk]], count: int, chunk: Chunk, each: int, room: bool) -> bool:
    """Add a chunk, to one of the last two if it goes on: of pairs, the two sides come in turn.

    False if it does not, and there is no room for another.
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
    """Both as one range, if they make one, whichever is the lower."""
    low, high = (one, other) if one.start < other.start else (other, one)
    step = low.step if len(low) > 1 else high.step if len(high) > 1 else high.start - low.start
    goes_on = low[-1] + step == high.start and (len(high) == 1 or high.step == step)
    return range(low.start, high[-1] + 1, step) if goes_on else None
