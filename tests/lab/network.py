"""Hosts on one switch: a network namespace each, joined by a bridge, links limited in both directions.

A link is a pair of veth devices; the host's end limits what it sends, the switch's end what it receives, by a
token bucket (tbf) each. The switch is a namespace as well; mpiexec runs there, as the front end, on a link
without limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.lab.host import Host
from tests.lab.namespaces import Namespace

__all__ = ["Network", "address", "host_name"]

_FRONT_END = "10.78.255.254"
_MOST_HOSTS = 255 * 250

#: A bucket holds what the link carries in 4 ms, the tick of a kernel of 250 Hz, and two full frames or more.
_BUCKET_S = 0.004
_LEAST_BUCKET = 4096
_LONGEST_QUEUE = "400ms"


@dataclass(frozen=True, slots=True)
class Network:
    """A network that is up: the switch, and the namespace of each host."""

    switch: Namespace
    hosts: tuple[Namespace, ...]
    front_end: str = _FRONT_END

    @classmethod
    @contextmanager
    def of(cls, hosts: Sequence[Host]) -> Iterator[Network]:
        """A network of these hosts while the context lasts; OSError where the system does not allow it."""
        if len(hosts) > _MOST_HOSTS:
            raise ValueError(f"hosts: expected {_MOST_HOSTS} at most, found {len(hosts)}")
        with ExitStack() as stack:
            made = []
            for name in ("switch", *(host_name(host, number) for number, host in enumerate(hosts))):
                made.append(Namespace.make(name))
                stack.callback(made[-1].close)
            network = cls(made[0], tuple(made[1:]))
            network._connect(hosts)
            yield network

    def _connect(self, hosts: Sequence[Host]) -> None:
        self.switch.run(["ip", "-batch", "-"], _lines(_bridge(self.hosts)))
        self.switch.run(
            ["tc", "-batch", "-"], _lines(_limits([f"port{n}" for n in range(len(hosts))], hosts))
        )
        for number, (namespace, host) in enumerate(zip(self.hosts, hosts, strict=True)):
            namespace.run(["ip", "-batch", "-"], _lines(_device("eth0", f"{address(number)}/16")))
            namespace.run(["tc", "-batch", "-"], _lines(_limits(["eth0"], [host])))

    def limit(self, number: int, rate_mbit: float) -> None:
        """Limit a host's link, in both directions, to another rate from now on; OSError where that fails."""
        host = Host(rate_mbit=rate_mbit)
        for namespace, device in ((self.switch, f"port{number}"), (self.hosts[number], "eth0")):
            limits = _lines(_limits([device], [host])).replace("qdisc add", "qdisc replace")
            namespace.run(["tc", "-batch", "-"], limits)

    def connect(self, number: int, *, up: bool) -> None:
        """Plug a host in, or cut its link: nothing comes through, and nobody is told."""
        joined = ["master", "bridge"] if up else ["nomaster"]
        self.switch.run(["ip", "link", "set", f"port{number}", *joined])


def address(number: int) -> str:
    """The address of a host."""
    return f"10.78.{number // 250}.{number % 250 + 1}"


def host_name(host: Host, number: int) -> str:
    """The name of a host that stands at this place."""
    return host.name or f"host{number}"


def _bridge(hosts: Sequence[Namespace]) -> Iterator[str]:
    yield "link add bridge type bridge"
    for number, namespace in enumerate(hosts):
        yield f"link add port{number} type veth peer name eth0 netns {namespace.network_path}"
        yield f"link set port{number} master bridge up"
    yield from _device("bridge", f"{_FRONT_END}/16")


def _device(name: str, network: str) -> Iterator[str]:
    yield f"link set {name} addrgenmode none"  # no IPv6, which MPI might prefer
    yield f"addr add {network} dev {name}"
    yield f"link set {name} up"
    yield "link set lo up"


def _limits(devices: Sequence[str], hosts: Sequence[Host]) -> Iterator[str]:
    for device, host in zip(devices, hosts, strict=True):
        if host.rate_mbit is not None:
            rate = round(host.rate_mbit * 1e6)
            bucket = max(_LEAST_BUCKET, round(rate / 8 * _BUCKET_S))
            yield f"qdisc add dev {device} root tbf rate {rate}bit burst {bucket} latency {_LONGEST_QUEUE}"


def _lines(commands: Iterator[str]) -> str:
    return "".join(f"{command}\n" for command in commands)
