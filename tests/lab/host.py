"""A host of the lab, and on which processor of this machine each of them lives.

A host of at most one core lives on one processor: only there do processes share what the host has equally,
so that one of l + 1 busy ones gets 1/(l + 1) of it, the effective speed of Zaki, Li and Parthasarathy
(section 1.3.1). On several processors a queue of two and a queue of one would be given the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

__all__ = ["Host", "Placement", "place", "share_ranks"]

#: The least that the kernel grants in a period (CPU bandwidth control), in us.
_LEAST_QUOTA_US = 1000
_LEAST_CORES = 0.01
_LEAST_RATE_MBIT = 0.01
#: A Python that has loaded numpy and MPI has about 50 MiB.
_LEAST_MEMORY_MB = 8
_MOST_SWAP_MB = 1024


@dataclass(frozen=True, slots=True)
class Host:
    """A workstation: ``cores`` processors' worth of computing and a link of ``rate_mbit`` Mbit/s each way.

    None means no limit. ``period_ms`` is how often the quota of computing is granted anew; it is longer where
    less than 1 ms would be granted. ``name`` is its host name, by default ``host`` and its number. What its
    processes need above ``memory_mb`` MiB is paged, up to ``swap_mb``.
    """

    cores: float | None = None
    rate_mbit: float | None = None
    name: str = ""
    period_ms: float = 10.0
    memory_mb: float | None = None
    swap_mb: float = 256.0

    def __post_init__(self) -> None:
        if self.cores is not None and not self.cores >= _LEAST_CORES:
            raise ValueError(f"cores: expected {_LEAST_CORES} or more, found {self.cores}")
        if self.rate_mbit is not None and not self.rate_mbit >= _LEAST_RATE_MBIT:
            raise ValueError(f"rate_mbit: expected {_LEAST_RATE_MBIT} or more, found {self.rate_mbit}")
        if not 1 <= self.period_ms <= 100:
            raise ValueError(f"period_ms: expected 1 to 100, found {self.period_ms}")
        if self.memory_mb is not None and not self.memory_mb >= _LEAST_MEMORY_MB:
            raise ValueError(f"memory_mb: expected {_LEAST_MEMORY_MB} or more, found {self.memory_mb}")
        if not 1 <= self.swap_mb <= _MOST_SWAP_MB:
            raise ValueError(f"swap_mb: expected 1 to {_MOST_SWAP_MB}, found {self.swap_mb}")

    @property
    def single(self) -> bool:
        """Whether it has at most one core, so that loads slow it by a known factor."""
        return self.cores is not None and self.cores <= 1

    @property
    def throttled(self) -> bool:
        """Whether its processes wait for computing even where one alone does: a part of each period."""
        return self.cores is not None and self.cores < 1

    def quota_us(self) -> tuple[int, int]:
        """What it may compute in each period, and the period; ValueError if it has no limit."""
        if self.cores is None:
            raise ValueError("a host without limit has no quota")
        period_us = max(round(self.period_ms * 1000), ceil(_LEAST_QUOTA_US / self.cores))
        return round(period_us * self.cores), period_us


@dataclass(frozen=True, slots=True)
class Placement:
    """The processor of each host, None where it may use all; ``busiest`` is what one of them must give."""

    processors: tuple[int | None, ...]
    busiest: float


def place(hosts: Sequence[Host], processors: Sequence[int]) -> Placement:
    """Single hosts on processors, the largest first, each where least is taken; ties go to the first."""
    taken = dict.fromkeys(processors, 0.0)
    where: list[int | None] = [None] * len(hosts)
    singles = [(host.cores or 0.0, number) for number, host in enumerate(hosts) if host.single]
    for cores, number in sorted(singles, key=lambda single: (-single[0], single[1])):
        chosen = min(taken, key=lambda processor: taken[processor])
        taken[chosen] += cores
        where[number] = chosen
    return Placement(tuple(where), max(taken.values()))


def share_ranks(ranks: int, hosts: int) -> tuple[int, ...]:
    """The number of ranks of each host: neighbours together, the first hosts get one more.

    ValueError if a host gets none.
    """
    if ranks < hosts:
        raise ValueError(f"ranks: expected one for each of {hosts} hosts or more, found {ranks}")
    each, more = divmod(ranks, hosts)
    return tuple(each + (number < more) for number in range(hosts))
