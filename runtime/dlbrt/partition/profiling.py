"""What a measured pass teaches: times by groups of iterations, and when the loop is cut by them anew.

Swartz, section 6: the first pass over the loop measures the density where it is computed, the domain is cut
by it, and every so many passes (T_max - T_min) / T_avg is compared with a threshold, above which it is
measured and cut again. Each rank records the groups that it touches (`GroupTimes`); rank 0 puts the records
together between two passes (`Profiling`).

A pass that checks is measured as well, so that the density which replaces the old one is of that pass. It
replaces it only where the ranks have drifted apart: else the noise of the clock would move boundaries,
and rows with them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from math import fsum, isfinite

import numpy as np
from numpy.typing import NDArray

from dlbrt.parameters import MAX_GROUPS
from dlbrt.partition.density import Density, DriftCheck, Sample, merge
from dlbrt.partition.work import WorkError, WorkFault
from dlbrt.records import dataclass

#: Groups that a rank did not touch are kept between two that it did, if they are fewer than this: zeros
#: cost less than another sample.
_GAP = 64

#: So many numbers of iterations that a loop has had are remembered.
_MAX_SIZES = 4


def group_size(n: int, group: int) -> int:
    """The iterations in a group of n: as asked for, doubled until there are at most MAX_GROUPS groups.

    The same on every rank. ValueError for a group below 1.
    """
    if group < 1:
        raise ValueError(f"expected groups of at least 1 iteration, found {group}")
    while -(-n // group) > MAX_GROUPS:
        group *= 2
    return group


class GroupTimes:
    """One rank's times in a measured pass over positions 0..n-1, by groups aligned in the whole domain.

    Group g is positions g k .. g k + k - 1, with k = ``group``. ValueError for a group below 1.
    """

    def __init__(self, n: int, group: int) -> None:
        self.n = n
        self.group = group_size(n, group)
        zeros = bytes(8 * -(-n // self.group))
        # Single elements of an array are reached faster than numpy's, stretches by numpy on the same memory.
        self._done, self._seconds = array("q", zeros), array("d", zeros)

    def limit(self, position: int) -> int:
        """The first position after the group that holds this one."""
        return min((position // self.group + 1) * self.group, self.n)

    def add(self, run: range, seconds: float) -> None:
        """The positions of a run, in any order and of any step, took so long together.

        A run that reaches into several groups is shared in proportion to its positions in each. ValueError
        for positions outside the domain.
        """
        if not run:
            return
        run = run if run.step > 0 else run[::-1]
        if run[0] < 0 or run[-1] >= self.n:
            raise ValueError(f"expected positions of 0..{self.n - 1}, found {run}")
        first, last = run[0] // self.group, run[-1] // self.group
        if first == last:
            self._done[first] += len(run)
            self._seconds[first] += seconds
        else:
            self._share(run, seconds, first, last + 1)

    def _share(self, run: range, seconds: float, first: int, end: int) -> None:
        edges: NDArray[np.int64] = np.arange(first, end + 1, dtype=np.int64) * self.group
        before = np.clip(-((run.start - edges) // run.step), 0, len(run))
        counts: NDArray[np.int64] = before[1:] - before[:-1]
        np.frombuffer(self._done, dtype=np.int64)[first:end] += counts
        np.frombuffer(self._seconds, dtype=np.float64)[first:end] += counts * (seconds / len(run))

    def samples(self) -> tuple[Sample, ...]:
        """What was measured so far, for rank 0: stretches of groups, few zeros among them."""
        touched = np.flatnonzero(np.frombuffer(self._done, dtype=np.int64))
        stretches = np.split(touched, np.flatnonzero(np.diff(touched) > _GAP) + 1)
        return tuple(self._sample(int(s[0]), int(s[-1]) + 1) for s in stretches if len(s))

    def _sample(self, first: int, end: int) -> Sample:
        return Sample(
            first,
            np.array(self._done[first:end], dtype=np.int64),
            np.array(self._seconds[first:end], dtype=np.float64),
        )


@dataclass(slots=True)
class _State:
    """What is known of passes over n iterations, and how many there were."""

    n: int
    group: int
    density: Density | None = None
    passes: int = 0


class Profiling:
    """What rank 0 knows of one loop between its passes; counted from 0, pass 0 and every ``every``-th check.

    ``density`` is what the next pass is cut by, None until something was measured. ``known`` is one from an
    earlier run of the program: the first pass is cut by it, and it is replaced if that pass has drifted;
    for another number of iterations it is left aside. Passes over several numbers of iterations may
    alternate: each is known, and counted, apart. ValueError as `GroupTimes` and `DriftCheck`.
    """

    def __init__(
        self,
        n: int,
        group: int = 5,
        every: int = 10,
        threshold: float = 0.10,
        known: Density | None = None,
    ) -> None:
        self._group_size = group
        self._check = DriftCheck(every, threshold)
        self._states: dict[int, _State] = {}
        self._state = _State(n, group_size(n, group))
        self.begin(n, known)

    def begin(self, n: int, known: Density | None = None) -> None:
        """A pass over n iterations follows; ``known`` counts where there was none, or none of late."""
        state = self._states.pop(n, None)
        if state is None:
            fits = known is not None and known.n == n
            state = _State(n, group_size(n, self._group_size), known if fits else None)
        self._state = self._states[n] = state
        while len(self._states) > _MAX_SIZES:
            del self._states[next(iter(self._states))]

    @property
    def n(self) -> int:
        """The iterations of the next pass."""
        return self._state.n

    @property
    def group(self) -> int:
        """The iterations in a group of the next pass."""
        return self._state.group

    @property
    def density(self) -> Density | None:
        """What the next pass is cut by; None: nothing is known."""
        return self._state.density

    @property
    def densities(self) -> tuple[Density, ...]:
        """All that is known, for different numbers of iterations, that of the last pass first."""
        found = (state.density for state in reversed(self._states.values()))
        return tuple(density for density in found if density is not None)

    @property
    def measure_next(self) -> bool:
        """Whether the next pass is to be measured, on all ranks."""
        return self.n > 0 and (self.density is None or self._state.passes % self._check.every == 0)

    def group_times(self) -> GroupTimes:
        """What a rank measures the next pass with."""
        return GroupTimes(self.n, self.group)

    def learn(
        self,
        times: Sequence[float],
        samples: Sequence[Sequence[Sample]] | None,
        speeds: Sequence[float] = (),
        bounds: Sequence[int] = (),
    ) -> str | None:
        """A pass has ended. Adopts its density if there was none, or the ranks have drifted apart.

        ``times`` are the ranks' seconds, ``samples`` what each measured (None if the pass was not
        measured), ``speeds`` the relative speeds that it was cut by (equal ones, if empty). Where work has
        moved during the pass, its times tell nothing of how it was cut: ``bounds`` are the P + 1 boundaries
        that it began with, and the times are then those that these shares take by the new density.

        Returns a sentence where the times cannot be used: the old density is kept. ValueError for
        samples that do not fit the domain.
        """
        measured = self.measure_next
        self._state.passes += 1
        if samples is None or not measured:
            return None
        rates = list(speeds) or [1.0] * len(samples)
        try:
            fresh = merge(self.n, self.group, _rated(samples, rates))
        except WorkError as error:
            return self._unusable(error)
        taken = _taken(fresh, bounds, rates) if bounds else times
        # A rank that is given nothing (speed 0) is not out of balance.
        compared = [t for t, rate in zip(taken, rates, strict=True) if rate > 0]
        if not all(isfinite(t) and t >= 0 for t in compared):
            return f"expected a time for each rank, found {list(compared)}; iterations are dealt as before"
        if self.density is None or self._check.exceeded(compared):
            self._state.density = fresh
        return None

    def _unusable(self, error: WorkError) -> str:
        if error.fault is WorkFault.NONE_AT_ALL:
            found = f"no group of {self.group} iterations took a time that the clock can see"
            return f"{found}; iterations are dealt as before (profile with a larger group)"
        return f"what was measured cannot be used ({error}); iterations are dealt as before"


def relative_speeds(work: Sequence[float], seconds: Sequence[float]) -> tuple[float, ...] | None:
    """Speeds per rank, the slowest one's being 1, from the work that each did and how long it took.

    A rank of which nothing was measured has the mean speed of the others; None where nothing was measured
    of two ranks, or any figure is not finite and 0 or more.
    """
    pairs = list(zip(work, seconds, strict=True))
    if not all(isfinite(x) and x >= 0 for pair in pairs for x in pair):
        return None
    rates = [done / taken if done > 0 and taken > 0 else 0.0 for done, taken in pairs]
    found = [rate for rate in rates if rate > 0]
    if len(found) < 2:
        return None
    mean, slowest = fsum(found) / len(found), min(found)
    return tuple((rate or mean) / slowest for rate in rates)


def _rated(samples: Sequence[Sequence[Sample]], speeds: Sequence[float]) -> list[Sample]:
    """The samples of all ranks with their ranks' speeds; of a rank without one nothing is known."""
    pairs = zip(samples, speeds, strict=True)
    return [replace(sample, speed=speed) for each, speed in pairs if speed > 0 for sample in each]


def _taken(density: Density, bounds: Sequence[int], speeds: Sequence[float]) -> list[float]:
    """How long shares between these boundaries take ranks of these speeds."""
    work = density.between(bounds).tolist()
    return [part / speed if speed > 0 else 0.0 for part, speed in zip(work, speeds, strict=True)]
