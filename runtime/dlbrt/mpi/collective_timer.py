"""Ranks that do something together again and again, timed by clocks that agree.

What a pattern takes runs from the moment when all are there to the moment when the last has what it waited
for, so the stamps of several ranks are compared. Clocks of hosts differ by a constant, found as Cristian
does: of an exchange of messages with rank 0 that took r seconds it is known to r / 2, and the shortest
exchange is believed. A clock that may be the same as rank 0's is taken to be the same.

No rank goes on where another stops: each repetition ends in an exchange of stamps, and from the same table
each rank computes when the next one begins, and whether there is one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from dlbrt.mpi.communicator import DATA, Communicator

Timestamps = np.ndarray[Any, Any]

#: What a repetition took, from when each rank began and ended: arrays by rank, in rank 0's seconds.
Read = Callable[[Timestamps, Timestamps], float]

#: Repetitions of a pattern, and for how long they go on. The first one, which makes connections, is left out.
_LEAST, _MOST, _BUDGET_S = 5, 50, 0.25

#: Between an exchange of stamps and the next beginning; doubled, up to the longest, where a rank was late.
_FIRST_LEAD_S, _LONGEST_LEAD_S, _LATE_S = 2e-4, 1e-2, 3e-5

#: So long before the beginning a rank no longer sleeps.
_AWAKE_S = 1e-4

_TRIPS = 8


class CollectiveTimer:
    """The ranks of a wire. What is asked of it is asked on all of them, in the same order.

    ``clock_offset_s`` is by how many seconds this rank's clock is ahead of rank 0's.
    """

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        self.clock_offset_s = self._find_offset()
        self._lead_s = _FIRST_LEAD_S

    def now(self) -> float:
        """Seconds on rank 0's clock."""
        return time.perf_counter() - self.clock_offset_s

    def median_s(self, act: Callable[[], None], read: Read) -> float:
        """What ``act`` takes, begun on all ranks at the same time: the median, the same on each rank."""
        first = began = float(self._exchanged(self.now()).max())
        found: list[float] = []
        while len(found) <= _LEAST or (len(found) <= _MOST and began - first < _BUDGET_S):
            at = began + self._lead_s
            stamps = self._exchanged(*self._acted(act, at))
            if (stamps[:, 0] - at).max() > _LATE_S:
                self._lead_s = min(2 * self._lead_s, _LONGEST_LEAD_S)
            found.append(max(0.0, read(stamps[:, 0], stamps[:, 1])))
            began = float(stamps.max())
        return median(found[1:])

    def _acted(self, act: Callable[[], None], at: float) -> tuple[float, float]:
        """When it began, ``at`` or later, and when it ended."""
        while (left := at - self.now()) > 0:
            if left > _AWAKE_S:
                time.sleep(left - _AWAKE_S)
            else:
                os.sched_yield()
        start = self.now()
        act()
        return start, self.now()

    def _exchanged(self, *numbers: float) -> Timestamps:
        request, table = self.communicator.exchange(numbers)
        self.communicator.complete([request])
        return table

    def _find_offset(self) -> float:
        """By how many seconds this rank's clock is ahead of rank 0's."""
        clock_offset_s = 0.0
        for other in range(1, self.communicator.ranks):
            if self.communicator.rank == 0:
                _send_time(self.communicator, other)
            elif self.communicator.rank == other:
                clock_offset_s = _measure_offset(self.communicator)
        return clock_offset_s


def _send_time(communicator: Communicator, other: int) -> None:
    for _ in range(_TRIPS):
        communicator.wait_bytes(other, DATA)
        communicator.complete(
            [communicator.send_bytes(np.float64(time.perf_counter()).tobytes(), other, DATA)]
        )


def _measure_offset(communicator: Communicator) -> float:
    """This clock less rank 0's."""
    shortest_s, clock_offset_s = float("inf"), 0.0
    for _ in range(_TRIPS):
        start = time.perf_counter()
        communicator.complete([communicator.send_bytes(b"\0", 0, DATA)])
        [there] = np.frombuffer(communicator.wait_bytes(0, DATA)[1], dtype=np.float64).tolist()
        taken_s = time.perf_counter() - start
        if taken_s < shortest_s:
            shortest_s, clock_offset_s = taken_s, start + taken_s / 2 - there
    return 0.0 if abs(clock_offset_s) <= shortest_s / 2 else clock_offset_s
