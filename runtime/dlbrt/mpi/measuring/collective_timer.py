"""Repeated collective operations, timed by clocks that agree.

A pattern takes from the moment when all ranks are there to the moment when the last one has what it waited
for, so the time stamps of several ranks are compared. Clocks of hosts differ by a constant, which is found by
Cristian's algorithm: an exchange of messages with rank 0 that took r seconds gives it to within r / 2, and
the shortest exchange counts. A clock whose offset may be 0 is taken to agree with rank 0's.

All ranks stop after the same repetition: each repetition ends in an exchange of stamps, and from the same
table each rank computes when the next one begins, and whether there is one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from dlbrt.mpi.communicator import PACKED, Communicator

Timestamps = np.ndarray[Any, Any]

#: The seconds of a repetition, from when each rank began and ended: arrays by rank, by rank 0's clock.
Read = Callable[[Timestamps, Timestamps], float]

#: Repetitions of a pattern, and the seconds for which they go on. The first one, which makes connections,
#: does not count.
_LEAST, _MOST, _BUDGET_S = 5, 50, 0.25

#: Seconds from an exchange of stamps to the next beginning; doubled, up to the longest, where a rank was
#: late.
_FIRST_LEAD_S, _LONGEST_LEAD_S, _LATE_S = 2e-4, 1e-2, 3e-5

#: Seconds before the beginning from which a rank no longer sleeps.
_AWAKE_S = 1e-4

_TRIPS = 8


class CollectiveTimer:
    """The ranks of a communicator; the constructor and `median_s` are collective.

    ``clock_offset_s`` is by how many seconds this rank's clock is ahead of rank 0's.
    """

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        self._lead_s = _FIRST_LEAD_S
        self.clock_offset_s = 0.0
        for other in range(1, communicator.ranks):
            if communicator.rank == 0:
                _send_time(communicator, other)
            elif communicator.rank == other:
                self.clock_offset_s = _measure_offset(communicator)

    def now(self) -> float:
        """Seconds on rank 0's clock."""
        return time.perf_counter() - self.clock_offset_s

    def median_s(self, act: Callable[[], None], read: Read) -> float:
        """Median seconds of ``act``, begun on all ranks at the same time; the same on each rank."""
        first = began = float(self.communicator.allgather([self.now()]).max())
        found: list[float] = []
        while len(found) <= _LEAST or (len(found) <= _MOST and began - first < _BUDGET_S):
            at = began + self._lead_s
            stamps = self.communicator.allgather(self._acted(act, at))
            if (stamps[:, 0] - at).max() > _LATE_S:
                self._lead_s = min(2 * self._lead_s, _LONGEST_LEAD_S)
            found.append(max(0.0, read(stamps[:, 0], stamps[:, 1])))
            began = float(stamps.max())
        return median(found[1:])

    def _acted(self, act: Callable[[], None], at: float) -> tuple[float, float]:
        """Run ``act`` at time ``at``, or later where that has passed; when it began and ended."""
        while (left := at - self.now()) > 0:
            if left > _AWAKE_S:
                time.sleep(left - _AWAKE_S)
            else:
                os.sched_yield()
        start = self.now()
        act()
        return start, self.now()


def _send_time(communicator: Communicator, other: int) -> None:
    for _ in range(_TRIPS):
        communicator.wait_bytes(other, PACKED)
        communicator.complete(
            [communicator.send_bytes(np.float64(time.perf_counter()).tobytes(), other, PACKED)]
        )


def _measure_offset(communicator: Communicator) -> float:
    """This rank's clock minus rank 0's."""
    shortest_s, clock_offset_s = float("inf"), 0.0
    for _ in range(_TRIPS):
        start = time.perf_counter()
        communicator.complete([communicator.send_bytes(b"\0", 0, PACKED)])
        [there] = np.frombuffer(communicator.wait_bytes(0, PACKED)[1], dtype=np.float64).tolist()
        taken_s = time.perf_counter() - start
        if taken_s < shortest_s:
            shortest_s, clock_offset_s = taken_s, start + taken_s / 2 - there
    return 0.0 if abs(clock_offset_s) <= shortest_s / 2 else clock_offset_s
