"""Measured passes: times by groups of iterations, and when the loop is cut by them anew.

Swartz, section 6: the first pass over the loop measures the density where it is computed, and the domain is
cut by it. After a fixed number of passes (T_max - T_min) / T_avg is compared with a threshold, above which
the loop is measured and cut again. Each rank records the groups that it touches (`GroupTimes`); rank 0 merges
the records between two passes (`Profiling`).

A pass that checks is also measured, so that a new density comes from that pass. It replaces the old one only
if the ranks have drifted apart: otherwise the noise of the clock would move boundaries, and rows with them.
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
from dlbrt.partition.repeats import MOST_REPEATS, QUIET_SHARE, are_confirmed, share_times, typical
from dlbrt.partition.work import WorkError, WorkFault
from dlbrt.records import dataclass

#: A sample spans up to this many untouched groups between two touched ones: zeros cost less than another
#: sample.
_GAP = 64

#: For how many different numbers of iterations of a loop the density is remembered.
_MAX_SIZES = 4


def group_size(n: int, group: int) -> int:
    """The iterations in a group: ``group``, doubled until n iterations have at most `MAX_GROUPS` groups.

    It is the same on every rank. ValueError for a group below 1.
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
        # An array is faster than numpy for single elements; numpy handles stretches on the same memory.
        self._done, self._seconds = array("q", zeros), array("d", zeros)
        self._computing_s = self._processor_s = 0.0

    @property
    def disturbed(self) -> bool:
        """Whether the processor was given to other things for a noticeable part of the time."""
        return self._processor_s < QUIET_SHARE * self._computing_s

    def watch(self, computing_s: float, processor_s: float) -> None:
        """Add the seconds of a stretch of computing, and those for which the process had a processor."""
        self._computing_s += computing_s
        self._processor_s += processor_s

    def limit(self, position: int) -> int:
        """The first position after the group that holds this one."""
        return min((position // self.group + 1) * self.group, self.n)

    def add(self, run: range, seconds: float) -> None:
        """Add the seconds that the positions of a run, of any step, took together.

        A run that reaches into several groups is divided in proportion to its positions in each. ValueError
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
        """The measurements so far, for rank 0: stretches of groups with few zeros among them."""
        touched = np.flatnonzero(np.frombuffer(self._done, dtype=np.int64))
        stretches = np.split(touched, np.flatnonzero(np.diff(touched) > _GAP) + 1)
        return tuple(self._sample(int(s[0]), int(s[-1]) + 1) for s in stretches if len(s))

    def _sample(self, first: int, end: int) -> Sample:
        done, seconds = self._done[first:end], self._seconds[first:end]
        return Sample(first, np.array(done, dtype=np.int64), np.array(seconds, dtype=np.float64))


@dataclass(slots=True)
class _State:
    """The density of passes over n iterations, and the number of these passes.

    ``repeats`` are what the last passes have measured while they were disturbed.
    """

    n: int
    group: int
    density: Density | None = None
    passes: int = 0
    repeats: tuple[Density, ...] = ()


class Profiling:
    """The density of one loop at rank 0, from pass to pass; pass 0 and every ``every``-th pass check for
    drift.

    The next pass is cut by ``density``, None until something was measured. ``known`` is a density from an
    earlier run of the program: the first pass is cut by it, and it is replaced if that pass has drifted; for
    another number of iterations it is ignored. Passes over several numbers of iterations may alternate: each
    number has its own density and count. ValueError as `GroupTimes` and `DriftCheck`.
    """

    def __init__(
        self, n: int, group: int = 5, every: int = 10, threshold: float = 0.10, known: Density | None = None
    ) -> None:
        self._group_size = group
        self._check = DriftCheck(every, threshold)
        self._states: dict[int, _State] = {}
        self._state = _State(n, group_size(n, group))
        self.begin(n, known)

    def begin(self, n: int, known: Density | None = None) -> None:
        """A pass over n iterations follows; ``known`` is used if no recent pass had as many."""
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
        """The density by which the next pass is cut; None if nothing is known."""
        return self._state.density

    @property
    def densities(self) -> tuple[Density, ...]:
        """The densities for different numbers of iterations, that of the last pass first.

        Where repeats have not been confirmed yet, what they have in common: the best for another run.
        """
        states = reversed(self._states.values())
        found = (typical(state.repeats) if state.repeats else state.density for state in states)
        return tuple(density for density in found if density is not None)

    @property
    def measure_next(self) -> bool:
        """Whether all ranks measure the next pass."""
        state = self._state
        due = state.density is None or bool(state.repeats) or self._check.due(state.passes)
        return self.n > 0 and (due or state.passes == 0)

    def learn(
        self,
        times: Sequence[float],
        samples: Sequence[Sequence[Sample]] | None,
        speeds: Sequence[float] = (),
        bounds: Sequence[int] = (),
        *,
        moved: bool = False,
        disturbed: bool = False,
    ) -> str | None:
        """A pass has ended: adopt its density if there was none, or if the ranks have drifted apart.

        ``times`` are the ranks' seconds, ``samples`` their measurements (None if the pass was not measured),
        ``speeds`` the relative speeds that the pass was cut by (empty: equal ones), ``bounds`` the P + 1
        boundaries that it began with (empty: it was not dealt in blocks). If work ``moved`` during the pass,
        its times do not show how well it was cut: the times of these shares by the new density are compared
        instead. If the pass was ``disturbed``, its density waits until the next passes confirm it.

        Returns a sentence if the times cannot be used; the old density is kept. ValueError for samples that
        do not fit the domain.
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
        taken = share_times(fresh, bounds, rates) if moved and bounds else times
        # A rank that gets no work (speed 0) is not out of balance.
        compared = [t for t, rate in zip(taken, rates, strict=True) if rate > 0]
        if not all(isfinite(t) and t >= 0 for t in compared):
            return f"expected a time for each rank, found {list(compared)}; iterations are dealt as before"
        if disturbed and bounds:
            self._repeat(fresh, bounds, rates, wanted=self._is_wanted(compared))
            return None
        self._state.repeats = ()
        if self._is_wanted(compared):
            self._state.density = fresh
        return None

    def _is_wanted(self, times: Sequence[float]) -> bool:
        return self.density is None or self._check.exceeded(times)

    def _repeat(
        self, fresh: Density, bounds: Sequence[int], speeds: Sequence[float], *, wanted: bool
    ) -> None:
        """A disturbed pass: adopt what it has in common with those before it, if they confirm one another."""
        state = self._state
        if not (wanted or state.repeats):
            return
        state.repeats = (*state.repeats, fresh)[-MOST_REPEATS:]
        if are_confirmed(state.repeats, bounds, speeds):
            state.density, state.repeats = typical(state.repeats), ()
        elif len(state.repeats) == MOST_REPEATS and state.density is not None:
            state.repeats = ()

    def _unusable(self, error: WorkError) -> str:
        if error.fault is WorkFault.NONE_AT_ALL:
            found = f"no group of {self.group} iterations took a time that the clock can see"
            return f"{found}; iterations are dealt as before (profile with a larger group)"
        return f"what was measured cannot be used ({error}); iterations are dealt as before"


def relative_speeds(work: Sequence[float], seconds: Sequence[float]) -> tuple[float, ...] | None:
    """The speed of each rank relative to the slowest, from the work that each did and its seconds.

    A rank without measurements has the mean speed of the others. None if fewer than two ranks were measured,
    or if any figure is not finite and 0 or more.
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
    """The samples of all ranks with the ranks' speeds; those of a rank of speed 0 are dropped."""
    pairs = zip(samples, speeds, strict=True)
    return [replace(sample, speed=speed) for each, speed in pairs if speed > 0 for sample in each]
