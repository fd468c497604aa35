"""What a run knows of its network when it starts: what `dlbc calibrate` has stored, else a coarse measure.

In passing no more is measured than a few messages and exchanges; the patterns follow from them by shapes that
networks have (`Network.coarse`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence

from mpi4py import MPI

from dlbrt.contract import OptionError
from dlbrt.core.model.network import Network, Networks
from dlbrt.core.profile import Profile
from dlbrt.mpi.trips import MessageSizes, bandwidth, one_way_s
from dlbrt.mpi.wire import Communicator
from dlbrt.observe.kept import NETWORKS, cache_place

__all__ = ["known", "quick"]

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
