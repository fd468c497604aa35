"""The strategies of the model along their two axes, and what a synchronization costs each.

Zaki, Li, Parthasarathy, sections 1.2.1 and 1.3.2: xi = one-to-all + all-to-one where the balancer is central,
one-to-all + all-to-all where it is replicated, among the P ranks of a global strategy or the K of a group.
psi(j) = beta(j) L for instructions where the balancer is central, otherwise 0; beta counts the messages,
which are at least as many as the senders that need instructions. kappa(j) = beta(j) L + alpha(j) D / B
(1.3.5).
"""

from __future__ import annotations

from dlbrt.predict.network import Network
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Scheme:
    """A strategy by its name in the contract."""

    name: str
    local: bool = False
    central: bool = False

    def interrupt_s(self, network: Network, ranks: int) -> float:
        """How long an interrupt takes to reach all ranks."""
        return network.one_to_all.seconds(ranks)

    def profiles_s(self, network: Network, ranks: int) -> float:
        """How long profiles take to reach the balancer, or all ranks."""
        return (network.all_to_one if self.central else network.all_to_all).seconds(ranks)

    def synchronization_s(self, network: Network, ranks: int) -> float:
        """xi."""
        return self.interrupt_s(network, ranks) + self.profiles_s(network, ranks)

    def instructions_s(self, network: Network, messages: int) -> float:
        """psi, for beta messages."""
        return messages * network.latency_s if self.central else 0.0

    def movement_s(self, network: Network, messages: int, size: float) -> float:
        """kappa, for beta messages that carry ``size`` bytes together."""
        return messages * network.latency_s + size / network.bandwidth


#: No balancing: the static partition.
NONE = Scheme("none")

#: The four strategies of the paper; of strategies that cost the same the earlier is taken.
SCHEMES = (
    Scheme("GDDLB"),
    Scheme("GCDLB", central=True),
    Scheme("LDDLB", local=True),
    Scheme("LCDLB", local=True, central=True),
)


def scheme(name: str) -> Scheme:
    """The scheme of that name; KeyError for an unknown one."""
    return {found.name: found for found in (NONE, *SCHEMES)}[name]
