"""What a run knows of its network when it starts: what `dlbc calibrate` has stored, else a coarse measure.

In passing no more is measured than a few messages and exchanges; the patterns follow from them by shapes that
networks have (`Network.coarse`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np
from mpi4py import MPI

from dlbrt.balance.messages import Profile
from dlbrt.contract import OptionError
from dlbrt.mpi.communicator import DATA, Communicator
from dlbrt.observe.files import NETWORKS, cache_place
from dlbrt.predict.network import Network, Networks
from dlbrt.records import dataclass

# ------------------------------------------------------------------------------
# Messages there and back between two ranks: latency, and the bandwidth that large ones reach beyond it.
#
# Zaki, Li, Parthasarathy, section 1.3.1: a message of b bytes takes L + b / B. Both ranks call each.


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


# ------------------------------------------------------------------------------

#: Messages of one byte there and back, and exchanges: the fastest counts.
_TRIPS, _EXCHANGES = 3, 2

#: On a slow network this ends after a few milliseconds.
_GROWTH = MessageSizes(first=2**12, factor=4, last=2**16, long_s=2e-3, trips=1)


def known(communicator: Communicator, hosts: Sequence[str], environ: Mapping[str, str]) -> Networks:
    """The networks among all ranks, ``hosts[r]`` being where rank r runs.

    Collective; what rank 0 gets is what counts. A damaged file is told of on standard error and not used.
    """
    stored = _stored(hosts, environ) if communicator.rank == 0 and communicator.ranks > 1 else None
    if communicator.ranks > 1 and not _from_root(communicator, stored is not None):
        return Networks(quick(communicator, hosts))
    return stored or Networks(Network.default())


def quick(communicator: Communicator, hosts: Sequence[str]) -> Network:
    """What a few messages and a few exchanges tell of the network of 2 ranks or more.

    Messages go between rank 0 and one of another host, if there is any. Collective; each rank has its own
    figures, all but these two without the messages.
    """
    latency_s, bytes_s = 0.0, 1.0
    other = next((rank for rank, host in enumerate(hosts) if host != hosts[0]), 1)
    if communicator.rank in (0, other):
        latency_s = min(one_way_s(communicator, 1, other - communicator.rank, _TRIPS))
        bytes_s = bandwidth(communicator, other - communicator.rank, latency_s, _GROWTH)
    # The others wait here meanwhile, asleep: the first exchange is the longest.
    exchange_s = min(_exchange_s(communicator) for _ in range(_EXCHANGES))
    return Network.coarse(latency_s, bytes_s, communicator.ranks, exchange_s)


def _exchange_s(communicator: Communicator) -> float:
    start = time.perf_counter()
    request, _ = communicator.exchange([0.0] * Profile.width())
    communicator.complete([request])
    return time.perf_counter() - start


def _from_root(communicator: Communicator, flag: bool) -> bool:
    """Rank 0's flag, on each rank."""
    request, table = communicator.exchange([float(flag)])
    communicator.complete([request])
    return bool(table[0, 0])


def _stored(hosts: Sequence[str], environ: Mapping[str, str]) -> Networks | None:
    """What is stored for these hosts and this library."""
    place = cache_place(environ)
    if place is None or not os.path.exists(path := os.path.join(place, NETWORKS)):
        return None
    from dlbrt.observe.networks import NetworkSite, find, read

    try:
        found = find(read(path), NetworkSite.of(hosts, MPI.Get_library_version()))
    except OptionError as error:
        print(f"dlb: {error}; until then the network is measured coarsely", file=sys.stderr, flush=True)
        return None
    return found.networks if found else None
