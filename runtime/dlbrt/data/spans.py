"""Sets of iteration positions: what a rank has still to execute, and in which order.

Positions count the iterations of a loop from 0, whatever its index values are. A share is a few runs (blocks,
round-robin, moved pieces), never a list of positions, so its size does not depend on the number of
iterations. The law for every run of a loop: the parts executed by the ranks cover 0..n-1, each position
exactly once (`coverage_error`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from sys import maxsize

from dlbrt.data import runs as algebra
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint, non-empty runs of positions with step >= 1, in execution order."""

    runs: tuple[range, ...] = ()

    @classmethod
    def of(cls, *ranges: range) -> Spans:
        """The positions of disjoint ranges, sorted and joined; ValueError for a step below 1."""
        return cls(algebra.arranged([algebra.normal(run) for run in ranges if run]))

    @classmethod
    def decode(cls, numbers: Sequence[int]) -> Spans:
        """The spans that `encode` wrote; ValueError if the numbers are not triples."""
        if len(numbers) % 3:
            raise ValueError(f"expected triples (start, stop, step), found {len(numbers)} numbers")
        triples = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        return cls(tuple(range(start, stop, step) for start, stop, step in triples))

    def encode(self) -> tuple[int, ...]:
        """Flat triples start, stop, step, in execution order."""
        return tuple(number for run in self.runs for number in (run.start, run.stop, run.step))

    def __len__(self) -> int:
        return len(self.runs[0]) if len(self.runs) == 1 else sum(map(len, self.runs))

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __contains__(self, position: object) -> bool:
        return any(position in run for run in self.runs)

    def first(self, count: int) -> tuple[Spans, Spans]:
        """The first ``count`` positions in execution order (all if there are fewer), and the rest."""
        if count <= 0:
            return EMPTY, self
        for place, run in enumerate(self.runs):
            if count < len(run):
                head, tail = algebra.part(run, 0, count), algebra.part(run, count, len(run))
                return Spans((*self.runs[:place], head)), Spans((tail, *self.runs[place + 1 :]))
            count -= len(run)
            if not count:
                return Spans(self.runs[: place + 1]), Spans(self.runs[place + 1 :])
        return self, EMPTY

    def part(self, low: int, high: int = maxsize) -> Spans:
        """Positions number ``low`` to ``high`` - 1 in execution order, as far as they exist; both >= 0."""
        if len(self.runs) == 1:  # most shares; every synchronization does this for every rank
            run = self.runs[0][low:high]
            return Spans((run if run.step == 1 else algebra.normal(run),)) if run else EMPTY
        rest = self._from(low) if low else self
        return rest if high == maxsize else rest._upto(high - low)

    def _from(self, low: int) -> Spans:
        for place, run in enumerate(self.runs):
            if low < len(run):
                return Spans((algebra.part(run, low, maxsize), *self.runs[place + 1 :]))
            low -= len(run)
        return EMPTY

    def _upto(self, high: int) -> Spans:
        for place, run in enumerate(self.runs):
            if high <= 0:
                return Spans(self.runs[:place])
            if high < len(run):
                return Spans((*self.runs[:place], algebra.part(run, 0, high)))
            high -= len(run)
        return self

    def below(self, position: int) -> Spans:
        """The positions before ``position``."""
        clipped = (range(run.start, min(run.stop, position), run.step) for run in self.runs)
        return Spans(tuple(algebra.normal(run) for run in clipped if run))

    def union(self, other: Spans) -> Spans:
        """The positions of both, which are disjoint, by start."""
        return self.joined(other.runs) if other else self

    def joined(self, runs: Sequence[range], kept: int = 0) -> Spans:
        """These and disjoint runs, by start, except that the first ``kept`` positions of these stay first."""
        own = self.runs
        if not kept or not own:
            return Spans(algebra.arranged([*own, *runs]))
        others = (*own[1:], *runs)  # own runs may lie lower too, after earlier windows
        if kept <= len(own[0]) and min(map(_START, others)) > own[0].start:
            return Spans(algebra.arranged([*own, *runs]))
        if kept < len(own[0]):
            first, rest = algebra.part(own[0], 0, kept), algebra.part(own[0], kept, maxsize)
            return Spans((first, *algebra.arranged([rest, *own[1:], *runs])))
        head, tail = self.first(kept)
        return head.then(tail.joined(runs))

    def then(self, other: Spans) -> Spans:
        """These, then disjoint others in execution order; runs that meet at the seam become one."""
        if self.runs and other.runs:
            last, first = self.runs[-1], other.runs[0]
            if last.step == first.step and last[-1] + last.step == first.start:
                seam = range(last.start, first.stop, last.step)
                return Spans((*self.runs[:-1], seam, *other.runs[1:]))
        return Spans(self.runs + other.runs)

    def shifted(self, by: int) -> Spans:
        """The positions moved up by ``by``."""
        if not by:
            return self
        return Spans(tuple(range(run.start + by, run.stop + by, run.step) for run in self.runs))


EMPTY = Spans()

_START = attrgetter("start")

#: Segments shorter than this are checked together, position by position.
_SHORT = 4096


def first_gap(done: Spans) -> int:
    """The first position that is not among those ``done``."""
    end = 0
    for run in sorted(done.runs, key=lambda run: run.start):
        if run.start != end:
            break
        end = run.stop if run.step == 1 else end + 1
    return end


def coverage_error(n: int, parts: Sequence[Spans]) -> str | None:
    """None if the parts hold each of 0..n-1 exactly once, else a sentence about the first fault."""
    runs = sorted((run for part in parts for run in part.runs), key=lambda run: run.start)
    if _tile(n, runs):
        return None
    for run in runs:
        if run.start < 0 or run[-1] >= n:
            outside = run.start if run.start < 0 else run[-1]
            return f"iteration {outside} was executed, but the loop has {n} (0 to {n - 1})"
    return _fault(n, runs)


def _tile(n: int, runs: list[range]) -> bool:
    """Whether runs sorted by start are blocks without gap or overlap, which is the common case."""
    reached = 0
    for run in runs:
        if run.start != reached or run.step != 1:
            return False
        reached = run.stop
    return reached == n


def _fault(n: int, runs: list[range]) -> str | None:
    """Count lost and repeated positions, segment by segment (by the law of `dlbrt.data.runs`)."""
    lost = repeated = 0
    first: tuple[int, int] | None = None
    for low, high, (active,) in algebra.segments([runs], 0, n, _SHORT):
        width = algebra.period(low, high, active, _SHORT)
        times = algebra.pattern(low, width, active)
        if times.count(1) == width:
            continue
        whole, rest = divmod(high - low, width)
        lost += whole * times.count(0) + times[:rest].count(0)
        repeated += whole * _repeats(times) + _repeats(times[:rest])
        if first is None and (found := re.search(rb"[^\x01]", times)):
            first = low + found.start(), times[found.start()]
    if first is None:
        return None
    how = f"{first[1]} times" if first[1] else "by no rank"
    return f"iteration {first[0]} was executed {how}; of {n}, {lost} were lost and {repeated} repeated"


def _repeats(times: bytearray) -> int:
    return len(times) - times.count(0) - times.count(1)
