"""``python -m dlbrt.mpi.calibration RANKS [RESULT]``, under mpiexec: measure the network, show and store it.

The table goes to standard output. RESULT is a file for what was measured, as one JSON object. All ranks end
with the same status: 0 done; 2 where the network cannot be stored, or there are other ranks than expected.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from mpi4py import MPI

from dlbrt.balance.messages import Profile
from dlbrt.contract import OptionError
from dlbrt.mpi.collective_timer import CollectiveTimer, Read, Timestamps
from dlbrt.mpi.communicator import ANY, REPORT, Communicator, Notification
from dlbrt.mpi.messenger import PendingAllgather, PendingGroupProfiles
from dlbrt.mpi.network import MessageSizes, bandwidth, one_way_s
from dlbrt.observe.networks import (
    Calibration,
    NetworkSite,
    PatternSamples,
    default_path,
    read,
    table,
    to_json,
    update,
)
from dlbrt.predict.network import Network, Networks, fit

# ------------------------------------------------------------------------------
# What communication costs among these ranks, measured with the messages and waits of the runtime itself.
#
# Zaki, Li, Parthasarathy, section 1.5.1 and figure 1.6. Latency is half of what a byte takes there and back,
# bandwidth what large messages reach beyond it. The patterns are those of a synchronization: interrupts from
# one rank to all, profiles from all to the central balancer, the exchange of profiles among all (one
# non-blocking collective) or among the members of a group (from each to each). They are measured for 2 to P
# ranks, which are taken from the hosts in turn, so that few ranks too are spread over them all.
#
# Collective: every function here is called on all ranks of its wire. Ranks that have no part in a measurement
# wait for the next one asleep.

#: What a rank of a wire does in a pattern.
Act = Callable[[Communicator], None]

_PROFILE = Profile(0, 0.0)
_REPORT = np.array(_PROFILE.encode(), dtype=np.float64).tobytes()

#: Up to so many ranks each number of them is measured, above it a few.
_EACH = 8

#: Ranks of other hosts (or of this one, if there are none) to which rank 0 measures the latency.
_PARTNERS, _TRIPS = 8, 20

_GROWTH = MessageSizes(first=2**16, factor=2, last=2**23, long_s=2e-2, trips=5)


def measure(communicator: Communicator, hosts: Sequence[str]) -> Calibration:
    """Measure the network among the 2 ranks or more of ``communicator``, in some seconds; the same on each rank.

    ``hosts[r]`` is where rank r runs.
    """
    mine = hosts[communicator.rank]
    spread = _spread(hosts)
    with _among(communicator, spread) as part:
        assert part is not None
        afar = [number for number, rank in enumerate(spread) if hosts[rank] != hosts[0]]
        network, samples = _measured(part, afar or range(1, part.ranks), _exchange_all)
    with _among(communicator, [rank for rank, host in enumerate(hosts) if host == mine]) as near:
        assert near is not None
        own = _within(near, network, whole=not afar)
    _meet(communicator)
    within = {host: found for host, found in communicator.comm.allgather((mine, own)) if found is not None}
    site = NetworkSite.of(hosts, MPI.Get_library_version())
    return Calibration(site, Networks(network, tuple(sorted(within.items()))), samples)


def sizes(ranks: int) -> list[int]:
    """For which numbers of ranks the patterns are measured: all up to 8, then some, ``ranks`` among them."""
    few = [*range(2, min(ranks, _EACH) + 1)]
    step = _EACH
    while step < ranks:
        few += [size for size in (step * 3 // 2, step * 2) if size < ranks]
        step *= 2
    return [*few, ranks] if ranks > _EACH else few


def _spread(hosts: Sequence[str]) -> list[int]:
    """All ranks, from the hosts in turn, rank 0 the first."""
    seen: dict[str, int] = {}
    turns = []
    for rank, host in enumerate(hosts):
        seen[host] = turn = seen.get(host, -1) + 1
        turns.append((turn, rank))
    return [rank for _, rank in sorted(turns)]


@contextmanager
def _among(communicator: Communicator, members: Sequence[int]) -> Iterator[Communicator | None]:
    """A wire of these ranks alone, in this order; None on others. Several are made at a time."""
    _meet(communicator)
    inside = communicator.rank in members
    color = min(members) if inside else MPI.UNDEFINED
    comm = communicator.comm.Split(color, members.index(communicator.rank) if inside else 0)
    if comm == MPI.COMM_NULL:
        yield None
        return
    assert isinstance(comm, MPI.Intracomm)
    part = Communicator(comm)
    comm.Free()
    yield part
    part.comm.Free()


def _meet(communicator: Communicator) -> None:
    """Wait asleep until all are here: calls of MPI that block would keep processors from who measures."""
    communicator.complete([communicator.comm.Ibarrier()])


def _within(near: Communicator, network: Network, whole: bool) -> Network | None:
    """The network among the ranks of one host, if they are several.

    Where these are the ``whole``, it is known but for the exchange, which goes otherwise within a group.
    """
    if near.ranks < 2:
        return None
    if not whole:
        return _measured(near, range(1, near.ranks), _exchange_group)[0]
    [samples] = _patterns(near, [(_exchange_group, _all_to_all)])
    return replace(network, all_to_all=fit(samples))


def _measured(
    communicator: Communicator, partners: Sequence[int], exchange: Act
) -> tuple[Network, PatternSamples]:
    """Everything, rank 0 sending messages to and fro with ``partners``; the same on each rank."""
    latency_s = _latency_s(communicator, partners[:_PARTNERS])
    bytes_s = 0.0
    if communicator.rank in (0, partners[0]):
        bytes_s = bandwidth(communicator, 0 if communicator.rank else partners[0], latency_s, _GROWTH)
    latency_s, bytes_s, switch_s = _of_root(
        communicator, [latency_s, bytes_s, _request_s(communicator, partners[0])]
    )
    one, gather, among = _patterns(
        communicator, [(_interrupt, _one_to_all), (_report, _all_to_one), (exchange, _all_to_all)]
    )
    samples = PatternSamples(one, gather, among)
    return samples.network(latency_s, bytes_s, switch_s), samples


def _of_root(communicator: Communicator, numbers: Sequence[float]) -> list[float]:
    """Rank 0's numbers, on each rank."""
    request, table = communicator.exchange(numbers)
    communicator.complete([request])
    found: list[float] = table[0].tolist()
    return found


def _latency_s(communicator: Communicator, partners: Sequence[int]) -> float:
    """Of a message of one byte from rank 0 to a partner, on rank 0: the median of all."""
    found: list[float] = []
    for partner in partners:
        if communicator.rank in (0, partner):
            found += one_way_s(communicator, 1, 0 if communicator.rank else partner, _TRIPS)
    return median(found) if found else 0.0


def _request_s(communicator: Communicator, partner: int) -> float:
    """What it takes rank 0 away from computing to find a report that has come, and to take it."""
    found = [0.0]
    for _ in range(_TRIPS):
        if communicator.rank == partner:
            communicator.complete([communicator.send_bytes(_REPORT, 0, REPORT)])
        elif communicator.rank == 0:
            communicator.until(lambda: communicator.profile_waiting() or None)
            start = time.perf_counter()
            if communicator.profile_waiting() and (report := communicator.poll_bytes(ANY, REPORT)):
                Profile.decode(np.frombuffer(report[1], dtype=np.float64).tolist())
            found.append(time.perf_counter() - start)
    return median(found)


def _patterns(
    communicator: Communicator, kinds: Sequence[tuple[Act, Read]]
) -> list[tuple[tuple[int, float], ...]]:
    """Samples of each kind, for each number of ranks; the same on each rank."""
    rows = []
    for size in sizes(communicator.ranks):
        with _among(communicator, range(size)) as part:
            stage = CollectiveTimer(part) if part else None
            taken = (
                [stage.median_s(partial(act, part), read) for act, read in kinds] if stage and part else []
            )
        rows.append((size, _of_root(communicator, taken or [0.0] * len(kinds))))
    return [tuple((size, taken[kind]) for size, taken in rows) for kind in range(len(kinds))]


def _interrupt(communicator: Communicator) -> None:
    """From rank 0 to all others."""
    if communicator.rank == 0:
        communicator.complete(communicator.interrupt(Notification(0), range(1, communicator.ranks)))
    else:
        communicator.until(communicator.interrupted)


def _report(communicator: Communicator) -> None:
    """From all others to rank 0."""
    if communicator.rank:
        communicator.complete([communicator.send_bytes(_REPORT, 0, REPORT)])
    else:
        for _ in range(1, communicator.ranks):
            communicator.wait_bytes(ANY, REPORT)


def _exchange_all(communicator: Communicator) -> None:
    answer = PendingAllgather(communicator, _PROFILE)
    communicator.until(lambda: answer.complete() or None)


def _exchange_group(communicator: Communicator) -> None:
    answer = PendingGroupProfiles(communicator, _PROFILE, range(communicator.ranks))
    communicator.until(lambda: answer.complete() or None)


def _one_to_all(starts: Timestamps, ends: Timestamps) -> float:
    """The longest that a rank took which was there; one that came late did not wait for what had come."""
    return float((ends - np.maximum(starts, starts[0])).max())


def _all_to_one(starts: Timestamps, ends: Timestamps) -> float:
    return float(ends[0] - starts.max())


def _all_to_all(starts: Timestamps, ends: Timestamps) -> float:
    return float(ends.max() - starts.max())


# ------------------------------------------------------------------------------

_USAGE = 2


def main() -> None:
    """Run on each rank; ends the process."""
    communicator = Communicator(MPI.COMM_WORLD)
    try:
        status = _calibrate(communicator, int(sys.argv[1]), sys.argv[2:])
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        communicator.fail(error)
    sys.exit(status)


def _calibrate(communicator: Communicator, expected: int, results: list[str]) -> int:
    place = None
    if communicator.rank == 0:
        try:
            place = _store(communicator.ranks, expected)
        except OptionError as error:
            _complain(str(error))
    place = communicator.comm.bcast(place, root=0)
    if place is None:
        return _USAGE
    found = measure(communicator, communicator.comm.allgather(MPI.Get_processor_name()))
    status: int = communicator.comm.bcast(
        _kept(found, place, results) if communicator.rank == 0 else 0, root=0
    )
    return status


def _store(ranks: int, expected: int) -> Path:
    """Where the network is to be stored; OptionError where it cannot be measured or stored."""
    if expected < 2:
        raise OptionError(f"expected 2 ranks or more, found {expected}: one alone uses no network")
    if ranks != expected:
        hint = "is the launcher that of the MPI library which mpi4py loads?"
        raise OptionError(f"expected {expected} ranks, found {ranks}: {hint}")
    place = default_path(os.environ)
    if place is None:
        raise OptionError(
            "expected a home directory, to store the network in; found none: set XDG_CACHE_HOME"
        )
    read(place)
    return place


def _kept(found: Calibration, place: Path, results: list[str]) -> int:
    """Show and store what was measured; the exit status."""
    print("\n".join(table(found)), flush=True)
    try:
        for result in results:
            Path(result).write_text(to_json(found), encoding="utf-8")
        update(place, found)
    except OSError as error:
        what = error.filename or place
        _complain(f"the network is not stored: {what} cannot be written: {error.strerror or error}")
        return _USAGE
    print(f"\nstored in {place}: runs on these hosts go by it", flush=True)
    return 0


def _complain(message: str) -> None:
    print(f"dlbc: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
