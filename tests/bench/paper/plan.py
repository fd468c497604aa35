"""What is run: the paper's cases, with times scaled so that a loop takes seconds.

Sizes, bytes and distributions are the paper's (samples/papers/zaki/cases.py). Only time is scaled: that of
an iteration, the duration of persistence t_l, and the network's rate where one is emulated, all by one factor
for a program, so that the ratios that decide between strategies stay. TRFD's two loops are one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlbrt.emulation import Load, LoadSpec, RandomLoad
from papers.zaki.cases import CASES, MOST_LOAD, Case

from tests.dlbrt.predict.player import computed_s

__all__ = ["STRATEGIES", "Launch", "clairvoyant_s", "launches", "load"]

#: Every launch runs a loop under each.
STRATEGIES = ("none", "GCDLB", "GDDLB", "LCDLB", "LDDLB", "auto")

#: The paper's Ethernet (section 1.5.1): 0.96 Mbytes/s.
PAPER_MBIT = 0.96 * 8

_SOURCES = {"MXM": "mxm.py", "TRFD": "trfd.py", "AC": "adjoint.py"}


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that runs one case, or TRFD's two, in the order of its loops.

    ``paper_s`` are seconds of the paper's machines in one of ours.
    """

    cases: tuple[Case, ...]
    paper_s: float

    @property
    def name(self) -> str:
        return " ".join(word for word in self.cases[0].name.split() if word not in ("L1", "L2"))

    @property
    def ranks(self) -> int:
        return self.cases[0].ranks

    @property
    def source(self) -> str:
        return _SOURCES[self.name.split()[0]]

    @property
    def rate_mbit(self) -> float:
        """The paper's network, as much faster as time is scaled."""
        return PAPER_MBIT * self.paper_s

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(int(word.partition("=")[2]) for word in self.name.split()[1:])

    def times(self) -> tuple[float, ...]:
        """Seconds of a row, of a column and of a unit of work, or of a term, as the program takes them."""
        units = [case.work.unit_s / self.paper_s for case in self.cases]
        if self.source == "adjoint.py":
            return (units[0] / (self.sizes[0] ** 2 + 1),)  # a pair has n^2 + 1 terms
        return tuple(units)

    def work_s(self) -> tuple[float, ...]:
        """Seconds of each loop's work on one processor without load."""
        return tuple(_whole_s(case) / self.paper_s for case in self.cases)

    def arguments(self) -> tuple[str, str]:
        return ",".join(map(str, self.sizes)), ",".join(f"{seconds:.12g}" for seconds in self.times())


def launches(seconds: float) -> tuple[Launch, ...]:
    """All cases; a loop takes about so many seconds on its ranks where nothing is loaded."""
    grouped: dict[tuple[str, int], list[Case]] = {}
    for case in CASES:
        key = (case.name.removesuffix(" L1").removesuffix(" L2"), case.ranks)
        grouped.setdefault(key, []).append(case)
    return tuple(
        Launch(tuple(cases), sum(_whole_s(case) / case.ranks for case in cases) / len(cases) / seconds)
        for cases in grouped.values()
    )


def load(launch: Launch, duration_s: float, seed: int) -> RandomLoad:
    """The discrete random load, t_l in the paper's seconds; different seeds share no rank's draws."""
    return RandomLoad(MOST_LOAD, duration_s / launch.paper_s, seed * 1000)


def clairvoyant_s(work_s: float, random: RandomLoad, ranks: int) -> float:
    """When all ranks together have done the work, none ever waiting: work over the whole effective speed."""
    loads = [Load(LoadSpec(random=random), rank) for rank in range(ranks)]
    low, high = 0.0, work_s * (random.maximum + 1)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if _done_s(loads, random, middle) >= work_s else (middle, high)
    return high


def _done_s(loads: Sequence[Load], random: RandomLoad, until_s: float) -> float:
    return sum(computed_s(load, random.duration_s, 0.0, until_s) for load in loads)


def _whole_s(case: Case) -> float:
    return case.work.units(((0, case.size),)) * case.work.unit_s
