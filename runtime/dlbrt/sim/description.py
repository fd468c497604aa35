"""A machine as it is written down: processors on hosts, the network between them, the load they are under.

A description is for any number of ranks up to that of its processors, and becomes a `Machine` of so many.

A network of which only latency L and bandwidth B are known gets patterns as libraries of today have them
(trees of messages and recursive doubling; Thakur, Rabenseifner, Gropp, 2005): one-to-all among P ranks takes
ceil(log2 P) L; all-to-one and all-to-all that, and what the profiles of the others take at B. Polynomials are
fitted to these for 2, 4, .. P ranks, as to measured times (Zaki, Li, Parthasarathy, section 1.5.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from dlbrt.core.grouping import GroupSpec
from dlbrt.core.model.network import PATTERNS, Network, Pattern, fit
from dlbrt.core.paging import Cliff
from dlbrt.core.profile import Profile
from dlbrt.records import dataclass
from dlbrt.sim.loads import load_for
from dlbrt.sim.machine import Machine

__all__ = ["DescriptionError", "MachineDescription", "NetworkDescription", "ProcessorDescription"]

#: Bytes of a profile.
_PROFILE_BYTES = 8 * Profile.width()

_DEFAULT = Network.default()


class DescriptionError(ValueError):
    """A machine that there is not; a line for each thing that is wrong."""


@dataclass(frozen=True, slots=True)
class ProcessorDescription:
    """One of relative ``speed`` above 0, on a ``host``; beyond its ``cliff`` it is slower."""

    speed: float = 1.0
    host: str = "host"
    cliff: Cliff | None = None


@dataclass(frozen=True, slots=True)
class NetworkDescription:
    """A network before the number of ranks is known: ``patterns``, by name, are those that are given."""

    latency_s: float = _DEFAULT.latency_s
    bandwidth: float = _DEFAULT.bandwidth
    switch_s: float = 0.0
    patterns: Mapping[str, Pattern] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Network) -> NetworkDescription:
        """One that is known."""
        patterns = {name: getattr(network, name) for name in PATTERNS}
        return cls(network.latency_s, network.bandwidth, network.switch_s, patterns)

    def among(self, ranks: int) -> Network:
        """The network among so many ranks."""
        one, gather, exchange = (self.patterns.get(name) or self._derived(name, ranks) for name in PATTERNS)
        return Network(self.latency_s, self.bandwidth, one, gather, exchange, self.switch_s)

    def _derived(self, name: str, ranks: int) -> Pattern:
        each_s = 0.0 if name == "one_to_all" else _PROFILE_BYTES / self.bandwidth
        counts = [2 << k for k in range(max(1, (ranks - 1).bit_length()))]
        return fit((p, (p - 1).bit_length() * self.latency_s + (p - 1) * each_s) for p in counts)


@dataclass(frozen=True, slots=True)
class MachineDescription:
    """A machine of these ``processors``, rank r on the r-th; without any it has as many as are asked for.

    ``load`` is written as `parse_load` takes it, for all processors.
    """

    processors: tuple[ProcessorDescription, ...] = ()
    network: NetworkDescription = field(default_factory=NetworkDescription)
    load: str = "none"

    def machine(self, ranks: int, group: GroupSpec | None = None, size: int | None = None) -> Machine:
        """Its first ``ranks`` processors; ``group`` and ``size`` say who balances with whom.

        Groups are formed as by `GroupSpec.formed`. DescriptionError where there are fewer processors;
        OptionError for a load that is not one for so many.
        """
        if self.processors and ranks > len(self.processors):
            there = f"as many as the machine has processors; found {ranks}"
            raise DescriptionError(f"expected at most {len(self.processors)} ranks, {there}")
        used = self.processors[:ranks] or (ProcessorDescription(),) * ranks
        cliffs = tuple(each.cliff for each in used)
        load = load_for(self.load, len(self.processors) or ranks)
        group = group or GroupSpec()
        return Machine(
            speeds=tuple(each.speed for each in used),
            network=self.network.among(ranks),
            load=replace(load, levels=load.levels[:ranks], cliffs=cliffs if any(cliffs) else ()),
            groups=group.formed([each.host for each in used], (), size),
            rules=group.rules,
        )
