"""A network that does whatever MPI allows: messages of one pair and tag stay in order, and nothing else does.

Each message takes a time of its own, from nothing to longer than the whole loop. Times may be multiples of
one number, so that things happen at the same instant.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any

from dlbrt.balance import events
from dlbrt.data.spans import Spans

#: What a rank's generator waits for: so many seconds; its timer, or what may come to it; the latter alone.
Wait = float
Steps = Generator[Wait, None, None]
TIMER, COMING = -1.0, -2.0

NOTICE, PROFILE, REPORT, INSTRUCTIONS, GROUP_REPORT, MESSAGE, DATA = (
    "notice", "profile", "report", "instructions", "group report", "message", "data",
)  # fmt: skip

#: Tags whose messages do not name their loop: one that is left would be taken for one of the next loop.
WITHOUT_SERIAL = (PROFILE, REPORT, INSTRUCTIONS, GROUP_REPORT, DATA)


class Violation(AssertionError):
    """A law that did not hold."""


class Rows(Enum):
    """Which data moves with units."""

    NONE = "none"
    MOVED = "to all but rank 0, which has it"
    RESIDENT = "to all"


@dataclass(frozen=True)
class Draws:
    """How times are drawn. ``tick_s``: all times are multiples of it (0: any times).

    ``latency_s`` is a typical message, ``tail`` the part of the messages that take up to a thousand times as
    long; ``slow_pairs`` of the pairs of ranks are a hundred times as slow. ``late_s``: how late a rank that
    waits looks. Ranks are up to ``uneven`` times as slow as others; of ``frozen`` of them a chunk takes
    ``pause_s`` longer once.
    """

    tick_s: float = 0.0
    latency_s: float = 1e-4
    tail: float = 0.0
    slow_pairs: float = 0.0
    late_s: float = 0.0
    uneven: float = 1.0
    frozen: float = 0.0
    pause_s: float = 0.0


@dataclass
class Played:
    """What came of it."""

    done: list[list[int]]
    raised: list[int] = field(default_factory=list)
    interrupted: bool = False
    messages: Counter[str] = field(default_factory=Counter)
    synchronizations: int = 0
    events: int = 0
    trace: list[str] = field(default_factory=list)
    end_s: float = 0.0


@dataclass(slots=True)
class Envelope:
    """A message under way."""

    arrives_s: float
    content: Any
    taken: bool = False


class Network:
    """The channels; each has one sender, one receiver, one tag, and keeps its order."""

    def __init__(self, random: Random, draws: Draws, ranks: int, wake: Callable[[float, int], None]) -> None:
        self._random, self._draws, self._wake = random, draws, wake
        self._channels: dict[tuple[int, str], dict[int, deque[Envelope]]] = {}
        pairs = itertools.product(range(ranks), range(ranks))
        self._slow = {pair for pair in pairs if random.random() < draws.slow_pairs}
        self.sent: Counter[str] = Counter()

    def rounded(self, seconds: float) -> float:
        """A time as the clock shows it."""
        tick = self._draws.tick_s
        return round(seconds / tick) * tick if tick else seconds

    def latency_s(self, source: int, target: int) -> float:
        """How long a message takes."""
        draw, draws = self._random.random, self._draws
        seconds = draws.latency_s * 2 * draw()
        if draw() < draws.tail:
            seconds *= 10 ** (3 * draw())
        return self.rounded(seconds * (100 if (source, target) in self._slow else 1))

    def post(self, now: float, source: int, target: int, tag: str, content: Any) -> Envelope:
        """Send a message."""
        self.sent[tag] += 1
        channel = self._channels.setdefault((target, tag), {}).setdefault(source, deque())
        arrives_s = now + self.latency_s(source, target)
        if channel:
            arrives_s = max(arrives_s, channel[-1].arrives_s)
        channel.append(envelope := Envelope(arrives_s, content))
        self._wake(arrives_s, target)
        return envelope

    def sources(self, now: float, target: int, tag: str) -> list[int]:
        """The ranks of whom a message has come."""
        channels = self._channels.get((target, tag), {})
        return [source for source, each in channels.items() if each and each[0].arrives_s <= now]

    def take(
        self, now: float, target: int, tag: str, source: int | None = None
    ) -> tuple[int, Envelope] | None:
        """A message that has come: of that rank, or of any."""
        come = self.sources(now, target, tag)
        if source is None:
            source = self._random.choice(come) if come else None
        if source is None or source not in come:
            return None
        envelope = self._channels[target, tag][source].popleft()
        envelope.taken = True
        return source, envelope

    def left(self) -> Iterable[tuple[int, str, int, Any]]:
        """Messages that nobody has taken: target, tag, source, content."""
        for (target, tag), channels in self._channels.items():
            for source, each in channels.items():
                yield from ((target, tag, source, envelope.content) for envelope in each)


@dataclass(slots=True)
class Pending:
    """A reply that a rank waits for; ``poll`` gives its event once it has come."""

    poll: Callable[[], Callable[[float], events.Event] | None]
    found: Callable[[float], events.Event] | None = None

    def complete(self) -> bool:
        """Whether it has come."""
        self.found = self.found or self.poll()
        return self.found is not None


def mask(units: Spans) -> int:
    """Units as bits of an integer."""
    found = 0
    for run in units.runs:
        if run.step == 1:
            found |= ((1 << len(run)) - 1) << run.start
        else:
            for unit in run:
                found |= 1 << unit
    return found


def numbers(bits: int) -> list[int]:
    """The units of a mask."""
    return [unit for unit in range(bits.bit_length()) if bits >> unit & 1]


def union(masks: Iterable[int]) -> int:
    """The units in any of these."""
    found = 0
    for each in masks:
        found |= each
    return found
