"""How many iterations to do between two looks for interrupts.

A look costs about a microsecond; a chunk is made long enough that looks cost well under a percent,
and short enough that a rank that interrupts does not wait long. Iterations may cost anything from
nanoseconds to minutes, so the size is found by growing from one.
"""

from __future__ import annotations

from dlbrt.core.parameters import CHUNK_S

__all__ = ["PollInterval"]


class PollInterval:
    """Chunk sizes for chunks of about ``target_s`` seconds."""

    def __init__(self, target_s: float = CHUNK_S) -> None:
        self.size = 1
        self._target_s = target_s

    def learn(self, iterations: int, seconds: float) -> None:
        """A chunk of that many iterations took that long, emulated waiting included."""
        if iterations < self.size and seconds < self._target_s:
            return  # the last, shorter chunk of a run says nothing about a full one
        ideal = iterations * self._target_s / max(seconds, 1e-9)
        # Growth is bounded: iterations may get more expensive as the loop goes on.
        self.size = max(1, min(int(ideal), 2 * self.size))
