"""How near a lab is to what it promises: the share of a loaded host's process, and the rate of a link.

A process beside l busy ones on a host of c cores is promised c/(l + 1) of a processor, and 1/(l + 1) of what
the host computes. The first is measured over wall time, so what else this machine does is in it; the second
is not touched by that.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from tests.lab.lab import Lab, LabError

__all__ = ["Link", "Share", "computing_share", "link"]

#: Computes for so many seconds; prints which part it gets of a processor, and of what its group computes.
_SPIN = """
import json, pathlib, sys, time
seconds, group = float(sys.argv[1]), pathlib.Path(sys.argv[2])
pids = (group / "cgroup.procs").read_text().split()
def computed():
    return sum(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9 for pid in pids)
all, own, wall = computed(), time.process_time(), time.perf_counter()
while time.perf_counter() - wall < seconds:
    pass
all, own, wall = computed() - all, time.process_time() - own, time.perf_counter() - wall
print(json.dumps([own / wall, own / all]))
"""

#: Ranks on two hosts: round trips of a byte, then one message of so many bytes, answered by a byte.
_TALK = """
import json, sys, time
from mpi4py import MPI
world, trips, size = MPI.COMM_WORLD, 20, int(sys.argv[1])
other, answer = 1 - world.rank, bytearray(1)
def exchange(there):
    if world.rank == 0:
        world.Send(there, dest=other)
        world.Recv(answer, source=other)
    else:
        world.Recv(there, source=other)
        world.Send(answer, dest=other)
def seconds(there, times):
    exchange(there)
    begun = time.perf_counter()
    for _ in range(times):
        exchange(there)
    return (time.perf_counter() - begun) / times
trip, long = seconds(bytearray(1), trips), seconds(bytearray(size), 1)
if world.rank == 0:
    print(json.dumps([trip / 2, size * 8 / (long - trip / 2) / 1e6]))
"""


@dataclass(frozen=True, slots=True)
class Share:
    """The part that a process gets of one processor, and of what all processes on its host compute."""

    of_processor: float
    of_host: float


@dataclass(frozen=True, slots=True)
class Link:
    """Half a round trip in seconds, and what a long message gets in Mbit/s."""

    latency_s: float
    rate_mbit: float


def computing_share(lab: Lab, host: int, load: int, seconds: float = 1.0) -> Share:
    """What a process on the host gets beside ``load`` busy ones."""
    command = [sys.executable, "-I", "-S", "-c", _SPIN, str(seconds), str(lab.processors.hosts[host])]
    return Share(*json.loads(_output(lab.run_on(host, command, load=load).stdout)))


def link(lab: Lab, size: int = 250_000) -> Link:
    """The link between the hosts of a lab, by a message of ``size`` bytes; LabError if there are not two."""
    if len(lab.hosts) != 2:
        raise LabError(f"link: expected a lab of 2 hosts, found {len(lab.hosts)}")
    done = lab.run([sys.executable, "-c", _TALK, str(size)])
    latency_s, rate_mbit = json.loads(_output(done.stdout))
    return Link(latency_s, rate_mbit)


def _output(text: bytes) -> bytes:
    if not text.strip():
        raise LabError("a measurement has printed nothing")
    return text
