"""Events to come, by time, then priority, then in the order in which they were asked for.

The sequence number makes the order total, so that the same input gives the same trace (as in SimPy).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from heapq import heappop, heappush

__all__ = ["EventCallback", "EventQueue"]

#: What happens at a time, which it is given.
EventCallback = Callable[[float], None]


class EventQueue:
    """The future: steps to be taken, the earliest first."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, int, int, EventCallback]] = []
        self._order = itertools.count()

    def schedule(self, when: float, priority: int, step: EventCallback) -> None:
        """Take this step at that time; of those at one time the lowest priority number comes first."""
        heappush(self._steps, (when, priority, next(self._order), step))

    def run(self) -> int:
        """Take steps until none is left; how many there were."""
        steps, taken = self._steps, 0
        while steps:
            now, _, _, step = heappop(steps)
            step(now)
            taken += 1
        return taken
