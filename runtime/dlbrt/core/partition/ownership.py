"""Who owns which values of a loop's index, so that loops of other ranges over the same rows fall in with it.

A routine runs several loops over the rows of its arrays: inner rows only, every other row, the rows below a
pivot. Shares are dealt once; from then on what a rank owns is told by the value of the index, not by the
position in one loop, and the share of any loop is what of its range a rank owns. Blocks are kept as the
values at which they are cut, the outermost without end; other shares by the progression that they were dealt
over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dlbrt.dist import runs as algebra
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units
from dlbrt.records import dataclass

__all__ = ["BlockOwnership", "DealtOwnership", "Ownership"]


@dataclass(frozen=True, slots=True)
class BlockOwnership:
    """Blocks: rank r owns the values from ``edges[r - 1]`` up to below ``edges[r]``.

    They are counted in ``direction``: -1 counts downwards, rank 0 has the greatest values.
    """

    edges: tuple[int, ...]
    direction: int

    @classmethod
    def at(cls, index: IndexMap, bounds: Sequence[int]) -> BlockOwnership:
        """Cuts before the positions ``bounds[1:-1]`` of a loop; bounds are the P + 1 ends of the blocks."""
        direction = 1 if index.step > 0 else -1
        return cls(tuple(direction * index.value(bound) for bound in bounds[1:-1]), direction)

    def bounds(self, index: IndexMap, units: Units) -> tuple[int, ...]:
        """The P + 1 ends of the blocks in the positions of a loop, in order of rank if it counts that way."""
        first, step = self.direction * index.start, self.direction * index.step
        if step > 0:
            ends = [-((first - edge) // step) for edge in self.edges]  # the least position at or above
            return (units.first, *(_within(end, units) for end in ends), units.stop)
        ends = [(first - edge) // -step + 1 for edge in self.edges]
        return (units.stop, *(_within(end, units) for end in ends), units.first)

    def shares(self, index: IndexMap, units: Units) -> tuple[Spans, ...] | None:
        """What each rank owns of a loop's positions."""
        return tuple(Spans.of(range(*sorted(ends))) for ends in pairwise(self.bounds(index, units)))


@dataclass(frozen=True, slots=True)
class DealtOwnership:
    """Any other shares, as they were dealt to the positions of one loop."""

    index: IndexMap
    units: Units
    dealt: tuple[Spans, ...]

    def shares(self, index: IndexMap, units: Units) -> tuple[Spans, ...] | None:
        """What each rank owns of a loop's positions; None where they are not among those dealt."""
        offset, apart = divmod(index.start - self.index.start, self.index.step)
        if apart or index.step != self.index.step or self.units.folded or units.folded:
            return self.dealt if (index, units) == (self.index, self.units) else None
        own = tuple(_clipped(spans.shifted(-offset), units.first, units.stop) for spans in self.dealt)
        return own if sum(map(len, own)) == len(units) else None


#: Either.
Ownership = BlockOwnership | DealtOwnership


def _within(end: int, units: Units) -> int:
    return min(max(end, units.first), units.stop)


def _clipped(spans: Spans, low: int, high: int) -> Spans:
    parts = (algebra.clip(run, low, high) for run in spans.runs)
    return Spans(tuple(algebra.normal(part) for part in parts if part))
