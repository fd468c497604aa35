"""Messages there and back between two ranks: latency, and the bandwidth that large ones reach beyond it.

Zaki, Li, Parthasarathy, section 1.3.1: a message of b bytes takes L + b / B. Both ranks call each.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from mpi4py import MPI

from dlbrt.mpi.wire import DATA, Communicator
from dlbrt.records import dataclass

__all__ = ["MessageSizes", "bandwidth", "one_way_s"]


@dataclass(frozen=True, slots=True)
class MessageSizes:
    """Messages grow from ``first`` bytes by ``factor`` until one takes ``long_s``, or has ``last`` bytes.

    Of each size so many ``trips`` are made.
    """

    first: int
    factor: int
    last: int
    long_s: float
    trips: int


def one_way_s(communicator: Communicator, size: int, other: int, trips: int) -> Sequence[float]:
    """Half of what messages of ``size`` bytes to the ``other`` rank and back take, one after the other.

    Of the two the lower rank begins; the first trip, which makes the connection, is left out.
    """
    content = np.zeros(size, dtype=np.uint8)
    found = []
    for _ in range(trips + 1):
        start = time.perf_counter()
        steps = (communicator.send_memory, communicator.receive_memory)
        for step in steps if communicator.rank < other else reversed(steps):
            communicator.complete([step(content, other, DATA)])
        found.append((time.perf_counter() - start) / 2)
    return found[1:]


def bandwidth(communicator: Communicator, other: int, latency_s: float, growth: MessageSizes) -> float:
    """Bytes a second beyond the latency: the median of the largest messages sent. What counts is rank 0's."""
    size, found = growth.first, 0.0
    while size:
        taken_s = _median(one_way_s(communicator, size, other, growth.trips))
        # Where the clock sees little beyond the latency, what the message took is all that there is to go by.
        found = size / (taken_s - latency_s if taken_s > 2 * latency_s else max(taken_s, 1e-9))
        enough = taken_s >= growth.long_s or size >= growth.last
        size = _agreed(communicator, other, 0 if enough else growth.factor * size)
    return found


def _median(values: Sequence[float]) -> float:
    """Without `statistics` and `numpy.ma`, which programs would load at the start for this alone."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _agreed(communicator: Communicator, other: int, number: int) -> int:
    """The lower rank's number, on both."""
    content = np.array([number], dtype=np.int64)
    step = communicator.send_memory if communicator.rank < other else communicator.receive_memory
    request: MPI.Request = step(content, other, DATA)
    communicator.complete([request])
    return int(content[0])
