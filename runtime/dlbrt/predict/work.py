"""The iterations that a rank holds, their work in whole units, and the lower bound of all strategies.

Zaki, Li, Parthasarathy, section 1.3.2: in a uniform loop every iteration takes T on the base processor; in a
non-uniform loop iteration k takes T_k, and what can be done in a time follows from sums over the iterations
assigned, in order. The sums are prefix sums of an integer cost, so that what is left is exact: the recurrence
ends when no iteration is left, which with real numbers it never would (Gamma shrinks geometrically).

The lower bound is the time in which all work is done if it could be cut anywhere and moved at no cost. No
strategy is faster, so predictions build on it, and the first part of a loop with very many chunks comes close
to it. The capacities C_i(t) of the processors under load (`effective_speed`) add up; the bound is the time t
with sum_i C_i(t) = W.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from math import ceil, floor

from dlbrt.predict.effective_speed import Processor
from dlbrt.records import dataclass

#: Iterations held: half-open runs of positions, in order of execution.
Runs = tuple[tuple[int, int], ...]

NOTHING: Runs = ()

#: Work is compared with this relative tolerance, since it comes from products of times and speeds.
ROUNDING = 1e-9

#: How near the work done by the lower bound is to all work, relatively.
NEAR = 1e-6

MAX_STEPS = 60


def count(runs: Runs) -> int:
    """How many iterations the runs have."""
    total = 0
    for begin, end in runs:
        total += end - begin
    return total


@dataclass(frozen=True, slots=True, eq=False)
class IterationCosts:
    """What iterations cost: ``unit_s`` seconds a unit on the base processor.

    ``prefix[i]`` is the cost in units of the first i iterations, integers that do not decrease; None: every
    iteration is one unit, and it does not matter which ones a rank holds.
    """

    unit_s: float
    prefix: Sequence[int] | None = None

    def units(self, runs: Runs) -> int:
        """The cost of these iterations."""
        if self.prefix is None:
            return runs[0][1] - runs[0][0] if len(runs) == 1 else count(runs)
        total = 0
        for begin, end in runs:
            total += self.prefix[end] - self.prefix[begin]
        return total

    def joined(self, *pieces: Runs) -> Runs:
        """All of these, one after the other; in a uniform loop as one run from 0."""
        if self.prefix is None:
            size = sum(map(count, pieces))
            return ((0, size),) if size else ()
        return tuple(run for piece in pieces for run in piece if run[0] < run[1])

    def left_after(self, runs: Runs, units: float) -> Runs:
        """What is left when a rank has had time for ``units``.

        An iteration begun is finished: the aleph of eq. (1.3.2), the fewest whose cost is at least ``units``.
        """
        units *= 1 - ROUNDING
        if self.prefix is None and len(runs) == 1:
            begin = runs[0][0] + ceil(units)
            return ((begin, runs[0][1]),) if begin < runs[0][1] else NOTHING
        return self._split(runs, units, self._at_least)[1]

    def remaining_after(self, runs: Runs, cost: int, units: float) -> tuple[Runs, int]:
        """What is left of iterations of ``cost`` when a rank has had time for ``units``; and its cost."""
        if self.prefix is None and len(runs) == 1:
            cost -= ceil(units * (1 - ROUNDING))
            return (((runs[0][1] - cost, runs[0][1]),), cost) if cost > 0 else (NOTHING, 0)
        left = self.left_after(runs, units)
        return left, self.units(left)

    def nearest(self, runs: Runs, units: float) -> tuple[Runs, Runs]:
        """The first iterations, with a cost as near to ``units`` as possible, and the others."""
        if self.prefix is None and len(runs) == 1:
            begin, end = runs[0]
            cut = begin + floor(units + 0.5)
            if begin < cut < end:
                return ((begin, cut),), ((cut, end),)
            return (runs, NOTHING) if cut >= end else (NOTHING, runs)
        return self._split(runs, units, self._near)

    def _split(self, runs: Runs, units: float, place: Callable[[int, int, float], int]) -> tuple[Runs, Runs]:
        """Cut where ``place`` says in the run that the boundary falls in."""
        for index, (begin, end) in enumerate(runs):
            cost = self._upto(end) - self._upto(begin)
            if units <= cost:
                cut = place(begin, end, units)
                cut = begin if cut < begin else end if cut > end else cut
                first = (*runs[:index], (begin, cut)) if cut > begin else runs[:index]
                rest = ((cut, end), *runs[index + 1 :]) if cut < end else runs[index + 1 :]
                return first, rest
            units -= cost
        return runs, ()

    def _upto(self, position: int) -> int:
        return position if self.prefix is None else self.prefix[position]

    def _at_least(self, begin: int, end: int, units: float) -> int:
        """The first position with a cost of at least ``units`` before it, past iterations of no cost."""
        if self.prefix is None:
            return begin + ceil(units)
        wanted = self._upto(begin) + ceil(units)
        found = bisect_left(self.prefix, wanted, begin, end)
        return bisect_right(self.prefix, self._upto(found), found, end + 1) - 1

    def _near(self, begin: int, end: int, units: float) -> int:
        """The position before which the cost is nearest to ``units``."""
        if self.prefix is None:
            return begin + floor(units + 0.5)
        wanted = self._upto(begin) + units
        above = bisect_left(self.prefix, wanted, begin, end)
        closer = above > begin and wanted - self._upto(above - 1) <= self._upto(above) - wanted
        return above - 1 if closer else above


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """``count`` iterations, which take ``work_s`` seconds together on the base processor."""

    count: int
    work_s: float

    @property
    def mean_s(self) -> float:
        """Base seconds of an iteration; 0 where none is left."""
        return self.work_s / self.count if self.count else 0.0


def lower_bound_s(processors: Sequence[Processor], work_s: float) -> float:
    """When all processors together have done ``work_s`` base seconds of work, from time 0 on.

    Fixed-point steps t := t W / C(t) converge fast for loads in blocks; they are kept within a bracket that
    is halved where they do not.
    """
    if work_s <= 0:
        return 0.0
    now = work_s / sum(each.speed for each in processors)
    below, above = 0.0, float("inf")
    for _ in range(MAX_STEPS):
        done_s = sum(each.capacity(now) for each in processors)
        if abs(done_s - work_s) <= NEAR * work_s:
            break
        below, above = (now, above) if done_s < work_s else (below, now)
        now *= work_s / done_s
        if not below < now < above:
            now = (below + above) / 2 if above < float("inf") else 2 * below
    return now
