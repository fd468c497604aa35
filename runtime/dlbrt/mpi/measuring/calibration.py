"""``python -m dlbrt.mpi.measuring.calibration RANKS [RESULT] [--force]``, under mpiexec: measure the network.

The network is shown and stored. The table goes to standard output. RESULT is a file for the measured network,
as one JSON object. All ranks end with the same status: 0 done; 1 where repetitions differ so much that the
network is not stored, unless forced; 2 where it cannot be stored, or the number of ranks is not RANKS.
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
from dlbrt.mpi.communicator import ANY, REPORT, Communicator, Notification
from dlbrt.mpi.measuring.collective_timer import CollectiveTimer, Read, Timestamps
from dlbrt.mpi.measuring.network import MessageSizes, bandwidth, one_way_s
from dlbrt.mpi.messenger import exchange_among_all, exchange_in_group
from dlbrt.observe import networks
from dlbrt.observe.files import write_text
from dlbrt.observe.terminal import write_line
from dlbrt.predict.network import Network, Networks, fit

#: What a rank does in a pattern.
Act = Callable[[Communicator], None]

#: Exit status where the network cannot be measured or stored, and where it changed meanwhile.
_USAGE, _UNSURE = 2, 1

#: The network is measured so often. If a figure differs by more than the factor, something else was running.
_REPETITIONS, _MOST_SPREAD = 3, 3.0

FORCE = "--force"

_PROFILE = Profile(0, 0.0)
_REPORT = np.array(_PROFILE.encode(), dtype=np.float64).tobytes()

#: Patterns are measured for every number of ranks up to this one, and for some above it.
_EACH = 8

#: Ranks of other hosts (or of this one, if there are none) to which rank 0 measures the latency; round trips.
_PARTNERS, _TRIPS = 8, 20

_GROWTH = MessageSizes(first=2**16, factor=2, last=2**23, long_s=2e-2, trips=5)


def measure(communicator: Communicator, hosts: Sequence[str]) -> networks.Calibration:
    """Measure the network among the 2 ranks or more of ``communicator``; takes some seconds.

    ``hosts[r]`` is where rank r runs. All ranks get the same result.
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
    site = networks.NetworkSite.of(hosts, MPI.Get_library_version())
    return networks.Calibration(site, Networks(network, tuple(sorted(within.items()))), samples)


def sizes(ranks: int) -> list[int]:
    """The numbers of ranks for which patterns are measured: all up to 8, then some, ``ranks`` among them."""
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
    """A communicator of these ranks alone, in this order; None on others. Collective over all ranks."""
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
    """Sleep until all ranks are here: blocking calls would take processors from the ranks that measure."""
    communicator.complete([communicator.comm.Ibarrier()])


def _within(near: Communicator, network: Network, whole: bool) -> Network | None:
    """The network among the ranks of one host, if there are several.

    Where these are the ``whole``, only the exchange has to be measured: within a group it uses other
    messages.
    """
    if near.ranks < 2:
        return None
    if not whole:
        return _measured(near, range(1, near.ranks), _exchange_group)[0]
    [samples] = _patterns(near, [(_exchange_group, _all_to_all)])
    return replace(network, all_to_all=fit(samples))


def _measured(
    communicator: Communicator, partners: Sequence[int], exchange: Act
) -> tuple[Network, networks.PatternSamples]:
    """All figures, the same on each rank; rank 0 exchanges messages with ``partners``."""
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
    samples = networks.PatternSamples(one, gather, among)
    return samples.network(latency_s, bytes_s, switch_s), samples


def _of_root(communicator: Communicator, numbers: Sequence[float]) -> list[float]:
    """Rank 0's numbers, on each rank."""
    found: list[float] = communicator.allgather(numbers)[0].tolist()
    return found


def _latency_s(communicator: Communicator, partners: Sequence[int]) -> float:
    """The latency between rank 0 and its partners: the median of all, on rank 0."""
    found: list[float] = []
    for partner in partners:
        if communicator.rank in (0, partner):
            found += one_way_s(communicator, 1, 0 if communicator.rank else partner, _TRIPS)
    return median(found) if found else 0.0


def _request_s(communicator: Communicator, partner: int) -> float:
    """Seconds of computing that rank 0 loses to receive a profile that has come."""
    found = [0.0]
    for _ in range(_TRIPS):
        if communicator.rank == partner:
            communicator.complete([communicator.send_bytes(_REPORT, 0, REPORT)])
        elif communicator.rank == 0:
            communicator.until(lambda: communicator.waiting(REPORT) or None)
            start = time.perf_counter()
            if communicator.waiting(REPORT) and (report := communicator.poll_bytes(ANY, REPORT)):
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
    reply = exchange_among_all(communicator, _PROFILE)
    communicator.until(lambda: reply.complete() or None)


def _exchange_group(communicator: Communicator) -> None:
    reply = exchange_in_group(communicator, _PROFILE, range(communicator.ranks))
    communicator.until(lambda: reply.complete() or None)


def _one_to_all(starts: Timestamps, ends: Timestamps) -> float:
    """The longest time of a rank; one that came late is timed from when it came."""
    return float((ends - np.maximum(starts, starts[0])).max())


def _all_to_one(starts: Timestamps, ends: Timestamps) -> float:
    return float(ends[0] - starts.max())


def _all_to_all(starts: Timestamps, ends: Timestamps) -> float:
    return float(ends.max() - starts.max())


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
    hosts = communicator.comm.allgather(MPI.Get_processor_name())
    repeated = [measure(communicator, hosts) for _ in range(_REPETITIONS)]
    found = networks.settled(repeated, time.strftime("%Y-%m-%d"))
    status: int = communicator.comm.bcast(
        _kept(found, place, results) if communicator.rank == 0 else 0, root=0
    )
    return status


def _store(ranks: int, expected: int) -> Path:
    """The file to store the network in; OptionError where it cannot be measured or stored."""
    if expected < 2:
        raise OptionError(f"expected 2 ranks or more, found {expected}: one alone uses no network")
    if ranks != expected:
        hint = "is the launcher that of the MPI library which mpi4py loads?"
        raise OptionError(f"expected {expected} ranks, found {ranks}: {hint}")
    place = networks.default_path(os.environ)
    if place is None:
        raise OptionError(
            "expected a home directory, to store the network in; found none: set XDG_CACHE_HOME"
        )
    networks.read(place)
    return place


def _kept(found: networks.Calibration, place: Path, results: list[str]) -> int:
    """Show and store the measured network; returns the exit status."""
    print("\n".join(networks.table(found)), flush=True)
    unsure = found.spread is not None and found.spread > _MOST_SPREAD and FORCE not in results
    try:
        for result in results:
            if result != FORCE:
                write_text(result, networks.to_json(found))
        if unsure:
            differ = f"repetitions differ by a factor of {found.spread:.3g}"
            why = "other programs were running, or there are fewer cores than ranks"
            advice = f"repeat it when the hosts are idle, or add {FORCE}"
            _complain(f"the network is not stored: {differ}, so {why}; {advice}")
            return _UNSURE
        networks.update(place, found)
    except OSError as error:
        what = error.filename or place
        _complain(f"the network is not stored: {what} cannot be written: {error.strerror or error}")
        return _USAGE
    print(f"\nstored in {place}: runs on these hosts go by it", flush=True)
    return 0


def _complain(message: str) -> None:
    write_line(f"dlbc: {message}")


if __name__ == "__main__":
    main()
