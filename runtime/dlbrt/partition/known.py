"""The work of a loop's positions as known before the loop: summed, by a formula, or measured.

Each kind gives the work before a position, and the position before which a given work lies. Cutting is common
to all: boundaries at fractions of the work by the speeds (Swartz, section 2; unequal processors, section 4),
then the integers beside them for which the longest time is least (`integer.settled`).

Work given iteration by iteration is summed over all positions. Up to `MAX_GROUPS` positions every sum is
kept, and the cut is optimal (`integer.optimal`). In longer loops the sums are kept at edges of groups, and
the work inside a group is computed again if a boundary falls in it: memory stays bounded, and the sums at the
boundaries are those of all positions before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.data.layout import Floats
from dlbrt.data.work_table import WorkTable
from dlbrt.parameters import MAX_GROUPS
from dlbrt.partition.cost_calls import Densities
from dlbrt.partition.cost_spec import CostError
from dlbrt.partition.density import Density
from dlbrt.partition.integer import optimal, settled
from dlbrt.partition.newton import Cutter, fractions
from dlbrt.partition.work import WorkError, WorkFault, evaluate

#: How many positions are computed at a time (or a whole group, if larger): what the caches hold.
_BLOCK = 1 << 16

#: The quanta of all work: differences, and products with small numbers, stay far below 64 bits.
_TOTAL_QUANTA = 1 << 50


class KnownWork(ABC):
    """The work of positions 0..n-1, ``total`` > 0, in any unit."""

    n: int
    total: float

    @abstractmethod
    def before(self, positions: ArrayLike) -> Floats:
        """The work before each of some positions 0..n; CostError if it turns out not to be known."""

    @abstractmethod
    def places(self, work: Floats) -> Floats:
        """The real positions before which ``work`` lies, ascending like ``work``; CostError as `before`."""

    def cut(self, rates: Sequence[float], first: int = 0) -> tuple[int, ...]:
        """Boundaries in first..n of one part for each speed, so that the longest time is least.

        ValueError for bad speeds, as `newton.fractions`; CostError if there is no work from ``first`` on.
        """
        done = self._done(first)
        share = fractions(rates)
        cuts = np.clip(self.places(done + share * (self.total - done)), first, self.n)
        cuts[share <= 0], cuts[share >= 1] = first, self.n
        return settled(cuts, self.before, rates)

    def table(self, groups: int = 4096) -> WorkTable:
        """The work table at the edges of up to ``groups`` groups; all work is 2^50 quanta."""
        edges = self._edges(groups)
        share = np.maximum.accumulate(self.before(edges)) / self.total
        quanta = np.rint(np.clip(share, 0, 1) * _TOTAL_QUANTA).astype(np.int64)
        quanta[0], quanta[-1] = 0, _TOTAL_QUANTA
        return WorkTable(tuple(edges.tolist()), tuple(quanta.tolist()))

    def _done(self, first: int) -> float:
        done = float(self.before([first])[0])
        if not done < self.total:
            raise CostError(f"cost is zero from the iteration at position {first} on")
        return done

    def _edges(self, groups: int) -> NDArray[np.int64]:
        return _edges(self.n, -(-self.n // groups))


class SummedWork(KnownWork):
    """Work given for each position, as sums at the edges of groups of ``group`` positions."""

    def __init__(self, n: int, group: int, prefix: Floats, source: Densities) -> None:
        self.n = n
        self.total = float(prefix[-1])
        self._group = group
        self._prefix = prefix
        self._source = source
        self._inside: dict[int, Floats] = {}

    def before(self, positions: ArrayLike) -> Floats:
        """As `KnownWork.before`; positions at edges of groups cost nothing."""
        wanted = np.asarray(positions).astype(np.int64)
        group, place = np.divmod(wanted, self._group)
        found: Floats = self._prefix[np.where(wanted < self.n, group, len(self._prefix) - 1)]
        within = np.flatnonzero((place > 0) & (wanted < self.n))
        self._compute_inside(group[within])
        for k in within.tolist():
            found[k] = self._prefix[group[k]] + self._inside[int(group[k])][place[k]]
        return found

    def places(self, work: Floats) -> Floats:
        """As `KnownWork.places`."""
        group = np.clip(np.searchsorted(self._prefix, work, "right") - 1, 0, len(self._prefix) - 2)
        self._compute_inside(group)
        found = np.empty(len(work))
        for k, g in enumerate(group.tolist()):
            sums = self._inside[g]
            inside = np.interp(work[k] - self._prefix[g], sums, np.arange(len(sums)))
            found[k] = g * self._group + float(inside)
        return found

    def cut(self, rates: Sequence[float], first: int = 0) -> tuple[int, ...]:
        """As `KnownWork.cut`; optimal among all boundaries if each position has its own sum."""
        if self._group > 1:
            return super().cut(rates, first)
        sums = self._prefix[first:] - self._done(first)
        return tuple(first + place for place in optimal(sums, rates))

    def _compute_inside(self, groups: NDArray[np.int64]) -> None:
        """Compute the work inside some groups again, unless it is kept from before."""
        new = [g for g in np.unique(groups).tolist() if g not in self._inside]
        if not new:
            return
        runs = [range(g * self._group, min((g + 1) * self._group, self.n)) for g in new]
        for g, works in zip(new, self._source.of(runs), strict=True):
            sums = np.concatenate(([0.0], np.cumsum(works)))
            # The sum may differ from the first one: another order, or an expression that is not a function.
            self._inside[g] = np.minimum(sums, self._prefix[g + 1] - self._prefix[g])

    def _edges(self, groups: int) -> NDArray[np.int64]:
        return _edges(self.n, -(-self.n // (groups * self._group)) * self._group)


class CurvedWork(KnownWork):
    """Work by a cumulative function, cut by Newton's method.

    ``mirrored``: the cutter counts positions from the end, since the index counts down. ``explain`` makes the
    error for a fault found later; ``remark`` tells users how the function was used.
    """

    def __init__(
        self, cutter: Cutter, mirrored: bool, explain: Callable[[WorkError], CostError], remark: str = ""
    ) -> None:
        self.n = int(cutter.work.high)
        self.total = cutter.total
        self.remark = remark
        self._cutter = cutter
        self._mirrored = mirrored
        self._explain = explain

    def before(self, positions: ArrayLike) -> Floats:
        """As `KnownWork.before`."""
        wanted = np.asarray(positions, dtype=np.float64)
        return self.total - self._below(self.n - wanted) if self._mirrored else self._below(wanted)

    def places(self, work: Floats) -> Floats:
        """As `KnownWork.places`."""
        share = np.clip(work / self.total, 0, 1)
        try:
            if self._mirrored:
                return self.n - self._cutter.cuts_at(1 - share[::-1])[::-1]
            return self._cutter.cuts_at(share)
        except WorkError as error:
            raise self._explain(error) from error

    def _below(self, x: Floats) -> Floats:
        """The work below x in the cutter's positions; linear up to where the function increases."""
        work, start = self._cutter.work, self._cutter.start
        ends = np.array([work.left])
        values = evaluate(work.t, np.concatenate((np.maximum(x, work.left), ends))) - start
        at_left, found = values[-1], values[:-1]
        if work.left > work.low:
            found = np.where(x < work.left, at_left * (x - work.low) / (work.left - work.low), found)
        found = np.where(x <= work.low, 0.0, np.where(x >= work.high, self.total, found))
        if not np.isfinite(found).all():
            place = int(np.argmin(np.isfinite(found)))
            raise self._explain(WorkError(WorkFault.NOT_A_NUMBER, float(x[place]), f"t = {found[place]}"))
        return np.clip(found, 0.0, self.total)


class MeasuredWork(KnownWork):
    """Work measured by groups of iterations (`density`), even within a group."""

    def __init__(self, density: Density) -> None:
        self.n = density.n
        self.total = float(density.prefix[-1])
        self._density = density

    def before(self, positions: ArrayLike) -> Floats:
        """As `KnownWork.before`."""
        return self._density.cumulative(positions)

    def places(self, work: Floats) -> Floats:
        """As `KnownWork.places`."""
        return np.interp(work, self._density.prefix, self._density.edges)


def summed(source: Densities, n: int) -> SummedWork | None:
    """The sums over n > 0 positions; None if all cost the same.

    CostError for a bad work, for no work at all, or for a sum that no float holds.
    """
    group = -(-n // MAX_GROUPS)
    sums, least, most = [], np.inf, 0.0
    for works in source.of(_blocks(n, group)):
        sums.append(_by_groups(works, group))
        least, most = min(least, float(works.min())), max(most, float(works.max()))
    prefix = _prefix(np.concatenate(sums))
    if most == 0:
        raise CostError(f"cost is zero everywhere: expected some work in {n} iterations")
    if not isfinite(prefix[-1]):
        raise CostError("cost adds up to more than a float holds: give it in a larger unit")
    return None if least == most else SummedWork(n, group, prefix, source)


def _blocks(n: int, group: int) -> Iterator[range]:
    """Runs of whole groups."""
    size = group * max(1, _BLOCK // group)
    return (range(low, min(low + size, n)) for low in range(0, n, size))


def _by_groups(works: Floats, group: int) -> Floats:
    whole = len(works) // group * group
    with np.errstate(over="ignore"):
        sums: Floats = works[:whole].reshape(-1, group).sum(axis=1)
        return np.append(sums, works[whole:].sum()) if whole < len(works) else sums


def _prefix(sums: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return np.concatenate(([0.0], np.cumsum(sums, dtype=np.longdouble).astype(np.float64)))


def _edges(n: int, group: int) -> NDArray[np.int64]:
    return np.minimum(np.arange(-(-n // group) + 1, dtype=np.int64) * group, n)
