"""The network as a run knows it at the start: what `dlbc calibrate` has stored, else a coarse measurement.

The coarse measurement takes only a few messages and exchanges; the patterns follow from them by the usual
shapes of networks (`Network.coarse`). A message of b bytes takes L + b / B (Zaki, Li, Parthasarathy, section
1.3.1): latency L and bandwidth B are measured by messages there and back between two ranks, and both ranks
make each call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence

import numpy as np
from mpi4py import MPI

from dlbrt.balance.messages import Profile
from dlbrt.contract import OptionError
from dlbrt.mpi.communicator import DATA, Communicator
from dlbrt.observe.files import NETWORKS, cache_place
from dlbrt.observe.terminal import write_line
from dlbrt.predict.network import Network, Networks
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class MessageSizes:
    """Messages grow from ``first`` bytes by ``factor`` until one takes ``long_s``, or has ``last`` bytes.

    Each size makes ``trips`` round trips.
    """

    first: int
    factor: int
    last: int
    long_s: float
    trips: int


def one_way_s(communicator: Communicator, size: int, other: int, trips: int) -> Sequence[float]:
    """Half the seconds of each round trip of ``size`` bytes to the ``other`` rank, one after the other.

    The lower rank begins; the first trip, which makes the connection, does not count.
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
    """Bytes a second beyond the latency: the median of the largest messages sent. Rank 0's figure counts."""
    size, found = growth.first, 0.0
    while size:
        taken_s = _median(one_way_s(communicator, size, other, growth.trips))
        # Where the clock sees little beyond the latency, the whole time of the message has to do.
        found = size / (taken_s - latency_s if taken_s > 2 * latency_s else max(taken_s, 1e-9))
        enough = taken_s >= growth.long_s or size >= growth.last
        size = _agreed(communicator, other, 0 if enough else growth.factor * size)
    return found


def _median(values: Sequence[float]) -> float:
    """The median without `statistics` and `numpy.ma`, which every start of a program would load."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _agreed(communicator: Communicator, other: int, number: int) -> int:
    """The lower rank's number, on both."""
    content = np.array([number], dtype=np.int64)
    step = communicator.send_memory if communicator.rank < other else communicator.receive_memory
    request: MPI.Request = step(content, other, DATA)
    communicator.complete([request])
    return int(content[0])


#: Round trips of one byte, and exchanges; the fastest counts.
_TRIPS, _EXCHANGES = 3, 2

#: On a slow network this ends after a few milliseconds.
_GROWTH = MessageSizes(first=2**12, factor=4, last=2**16, long_s=2e-3, trips=1)


def known(communicator: Communicator, hosts: Sequence[str], environ: Mapping[str, str]) -> Networks:
    """The networks among all ranks, ``hosts[r]`` being where rank r runs.

    Collective; rank 0's result counts. A damaged file is reported on standard error and not used.
    """
    stored = _stored(hosts, environ) if communicator.rank == 0 and communicator.ranks > 1 else None
    if communicator.ranks > 1 and not communicator.allgather([float(stored is not None)])[0, 0]:
        return Networks(quick(communicator, hosts))
    return stored or Networks(Network.default())


def quick(communicator: Communicator, hosts: Sequence[str]) -> Network:
    """The network of 2 ranks or more, as a few messages and exchanges show it.

    Messages go between rank 0 and a rank of another host, if there is one. Collective; each rank has its own
    figures, and only those two ranks have figures of messages.
    """
    latency_s, bytes_s = 0.0, 1.0
    other = next((rank for rank, host in enumerate(hosts) if host != hosts[0]), 1)
    if communicator.rank in (0, other):
        latency_s = min(one_way_s(communicator, 1, other - communicator.rank, _TRIPS))
        bytes_s = bandwidth(communicator, other - communicator.rank, latency_s, _GROWTH)
    # The other ranks sleep here meanwhile: the first exchange is the longest.
    exchange_s = min(_exchange_s(communicator) for _ in range(_EXCHANGES))
    return Network.coarse(latency_s, bytes_s, communicator.ranks, exchange_s)


def _exchange_s(communicator: Communicator) -> float:
    start = time.perf_counter()
    communicator.allgather([0.0] * Profile.width())
    return time.perf_counter() - start


def _stored(hosts: Sequence[str], environ: Mapping[str, str]) -> Networks | None:
    """The networks stored for these hosts and this MPI library."""
    place = cache_place(environ)
    if place is None or not os.path.exists(path := os.path.join(place, NETWORKS)):
        return None
    from dlbrt.observe.networks import NetworkSite, find, read

    try:
        found = find(read(path), NetworkSite.of(hosts, MPI.Get_library_version()))
    except OptionError as error:
        write_line(f"dlb: {error}; until then the network is measured coarsely")
        return None
    return found.networks if found else None
