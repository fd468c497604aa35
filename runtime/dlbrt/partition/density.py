"""Measured work: a time density (the rho array) by groups of iterations, cut by its prefix sums.

Swartz, section 6: the first pass measures the time of each part of the domain where it is computed, and the
domain is cut again by the measured density. The array is compressed: a group of iterations shares one
element, which trades balance for memory and time; within a group, work counts as uniform. At every tenth
pass, for instance, (T_max - T_min) / T_avg is compared with a threshold, and above it the domain is cut anew.

Groups are aligned in the whole domain (group g is positions g k .. g k + k - 1), so that the ranks'
measurements add up element by element, however the iterations of a group were divided among ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.data.layout import Floats
from dlbrt.partition.imbalance import drift
from dlbrt.partition.integer import Numbers, prefix_sums, settled
from dlbrt.partition.newton import fractions
from dlbrt.partition.work import WorkError, WorkFault, checked_density, evaluate
from dlbrt.records import dataclass


@dataclass(frozen=True, eq=False)
class Density:
    """The work of n iterations by groups of ``group``, of which the last may be shorter.

    ``work`` has ceil(n / group) elements, in seconds or any unit. ValueError for another length; WorkError
    for an element that is NaN, infinite or negative, or if all are zero; its place is the group.
    """

    n: int
    group: int
    work: Numbers

    def __post_init__(self) -> None:
        if self.n < 1 or self.group < 1 or np.shape(self.work) != (-(-self.n // self.group),):
            raise ValueError(
                f"expected the work of {self.n} iterations by groups of {self.group}, "
                f"found {np.size(self.work)} numbers"
            )
        object.__setattr__(self, "work", checked_density(self.work))

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """The positions where groups begin, and n."""
        return np.minimum(np.arange(len(self.work) + 1) * self.group, self.n)

    @cached_property
    def prefix(self) -> Numbers:
        """The work before each edge."""
        return prefix_sums(self.work)

    def cumulative(self, position: ArrayLike) -> Floats:
        """t(x): the work of the iterations before a position, linear within a group."""
        return np.asarray(np.interp(np.asarray(position), self.edges, self.prefix), dtype=np.float64)

    def cut(self, speeds: int | Sequence[float]) -> tuple[int, ...]:
        """P + 1 boundaries in positions for P equal parts, or parts by speed.

        Among the integers beside the equal-work cuts, the largest time is least. ValueError for bad speeds,
        as `integer.optimal`.
        """
        rates = [1.0] * speeds if isinstance(speeds, int) else list(speeds)
        share = fractions(rates)
        cuts = np.interp(share * float(self.prefix[-1]), self.prefix, self.edges)
        cuts[share <= 0], cuts[share >= 1] = 0, self.n
        return settled(cuts, self.cumulative, rates)

    def between(self, bounds: Sequence[int]) -> Floats:
        """The work of each part."""
        return np.diff(evaluate(self.cumulative, np.asarray(bounds, dtype=np.float64)))

    def coarser(self, groups: int) -> Density:
        """The same work with ``groups`` groups merged into one; ValueError below 1."""
        if groups < 1:
            raise ValueError(f"expected at least 1 group in one, found {groups}")
        sums = np.add.reduceat(self.work, np.arange(0, len(self.work), groups))
        return Density(self.n, self.group * groups, sums)


@dataclass(frozen=True, eq=False)
class Sample:
    """One rank's measurements: for each group from ``first`` on the iterations ``done`` and their seconds.

    ``speed`` is the rank's relative speed, so that speed times seconds is work.
    """

    first: int
    done: NDArray[np.int64]
    seconds: Floats
    speed: float = 1.0

    def __post_init__(self) -> None:
        shaped = np.ndim(self.done) == 1 and np.shape(self.done) == np.shape(self.seconds)
        if self.first < 0 or not shaped or not 0 < self.speed < np.inf:
            raise ValueError(f"expected counts and seconds of the same groups and a speed, found {self}")


def merge(n: int, group: int, samples: Sequence[Sample]) -> Density:
    """The density of n iterations from the ranks' measurements.

    A group measured in part counts in proportion; a group not measured has the mean density of the others.
    WorkError for a time that is NaN, infinite or negative, or no work at all; ValueError for samples beyond
    the domain or more iterations than a group has.
    """
    count = -(-n // group)
    sizes = np.minimum(group, n - np.arange(count) * group)
    done, work = np.zeros(count, dtype=np.int64), np.zeros(count)
    for sample in samples:
        place = slice(sample.first, sample.first + len(sample.done))
        if place.stop > count:
            raise ValueError(f"expected samples of {count} groups, found one that ends at {place.stop}")
        done[place] += sample.done
        work[place] += sample.speed * sample.seconds
    if (done < 0).any() or (done > sizes).any():
        raise ValueError(f"expected at most {group} iterations in a group, found {done.max()}")
    measured = checked_density(np.where(done > 0, work, 0.0))
    mean = float(measured.sum()) / int(done.sum()) if done.any() else 0.0
    if not mean > 0:
        raise WorkError(WorkFault.NONE_AT_ALL, 0, "no iteration was measured")
    each = np.where(done > 0, measured / np.maximum(done, 1), mean)
    return Density(n, group, each * sizes)


@dataclass(frozen=True, slots=True)
class DriftCheck:
    """When to cut again: after ``every`` passes, if (T_max - T_min) / T_avg exceeds the threshold.

    The defaults are the paper's values. With a threshold of 0 every check that finds a difference cuts anew.
    ValueError for ``every`` below 1 or a threshold that is not 0 or more.
    """

    every: int = 10
    threshold: float = 0.10

    def __post_init__(self) -> None:
        if self.every < 1 or not self.threshold >= 0:
            raise ValueError(f"expected 1 pass or more and a threshold of 0 or more, found {self}")

    def due(self, passes: int) -> bool:
        """Whether to check after ``passes`` passes: a check takes an exchange among all ranks."""
        return passes > 0 and passes % self.every == 0

    def exceeded(self, times: ArrayLike) -> bool:
        """Whether the ranks' times of a pass have drifted apart; ValueError as `imbalance.drift`."""
        return drift(times) > self.threshold
