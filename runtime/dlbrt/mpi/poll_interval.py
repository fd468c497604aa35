"""How many iterations a rank does between two polls: found by growing from one.

A chunk is what is done between two polls for interrupts. A poll costs about a microsecond. A chunk is long
enough that polls cost well under a percent, and short enough that a rank that interrupts does not wait long.
Iterations may cost anything from nanoseconds to minutes, so the size grows from one: where a run begins, and
where it goes on in another place, as with iterations that another rank has given.
"""

from __future__ import annotations

from dlbrt.parameters import CHUNK_S

#: How many times as many iterations a compiled chunk may have as the one before: where iterations take
#: nanoseconds, doubling would take too long. Chunks that last a quarter of their time double at most.
COMPILED_GROWTH, _SHORT = 8, 4


class PollInterval:
    """How many iterations to do between two polls, for chunks of about ``target_s`` seconds."""

    def __init__(self, target_s: float = CHUNK_S) -> None:
        self.size = 1
        self._target_s = target_s
        self._next: int | None = None  # the position after those learned from
        self._first: int | None = None  # how many of the first iterations last as long as a chunk

    @property
    def again(self) -> int:
        """The size to begin with when the same iterations are done again."""
        return max(1, min(self.size, self._first or 1) // 2)

    def begin(self, position: int) -> None:
        """Iterations from a position on come next: elsewhere they may cost anything, so one goes first."""
        if self._next is not None and position != self._next:
            self.size = 1

    def end(self, done: range) -> None:
        """These iterations have been done; the next ones are expected to cost about as much."""
        if done:
            self._next = done[-1] + done.step

    def learn(self, iterations: int, seconds: float, least_s: float = 0.0, growth: int = 2) -> None:
        """Learn from a chunk of ``iterations`` that took ``seconds``, emulated waiting included.

        ``least_s``: chunks may last so long, if that is longer than they would. ``growth``: the next one may
        have so many times as many iterations.
        """
        target_s = max(self._target_s, least_s)
        ideal = iterations * target_s / max(seconds, 1e-9)
        if self._first is None:
            self._first = int(ideal)
        if iterations < self.size and seconds < target_s:
            return  # the last, shorter chunk of a run says nothing about a full one
        # Growth is bounded: iterations may get more expensive as the loop goes on.
        growth = growth if seconds < target_s / _SHORT else min(growth, 2)
        self.size = max(1, min(int(ideal), growth * self.size))
