"""Who owns which values of a loop's index, so that loops of other ranges over the same rows fall in with it.

A routine runs several loops over the rows of its arrays: inner rows only, every other row, the rows below a
pivot. Shares are dealt once; from then on what a rank owns is told by the value of the index, not by the
position in one loop, and the share of any loop is what of its range a rank owns. Blocks are kept as the
values at which they are cut, the outermost without end; other shares by the progression that they were dealt
over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from dlbrt.data import runs as algebra
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.records import dataclass
from dlbrt.speed.pass_balancer import PassBalancer


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


# ------------------------------------------------------------------------------
# Shares that loops of a routine keep from pass to pass, and that are cut anew where it pays.
#
# Loops over the same rows have one owner for each row. The loop that dealt them first leads: from one of its
# runs to the next a pass goes by, and all loops' seconds in between, over the leader's iterations, are what a
# rank's speed is told by (Clarke, Lastovetsky, Rychkov, section 4). The balancer of passes then says whether
# to go on, or how many iterations each rank is to have; blocks stay in order of rank, so that neighbours share
# few borders.
#
# What was moved within a pass is where it was done: if nothing else is to change, the next pass begins there.


class IterationOwnership:
    """Who owns what in loops that go over the same rows, ``leading_loop`` the first of them.

    ``version`` counts how often shares were cut anew. Without a ``balancer`` they stay as they were dealt.
    Times below ``least_s`` seconds tell nothing: passes are taken together until they take as long.
    """

    def __init__(
        self,
        leading_loop: str,
        ownership: Ownership,
        ranks: int,
        balancer: PassBalancer | None = None,
        least_s: float = 0.0,
    ) -> None:
        self.leading_loop = leading_loop
        self.ownership = ownership
        self.balancer = balancer
        self.version = 0
        self._ranks = ranks
        self._least_s = least_s
        self._held: tuple[int, ...] = (0,) * ranks
        self._passes = 0
        self._over: tuple[IndexMap, Units] | None = None
        self._counts: tuple[int, ...] = ()
        self._seconds: list[float] = []
        self._forget()

    def shares(self, loop: str, index: IndexMap, units: Units, unit_s: float) -> tuple[Spans, ...] | None:
        """The shares of the run of a loop that begins; None where this says nothing of them.

        ``unit_s`` is what moving the data of one iteration takes, in seconds.
        """
        if (
            loop == self.leading_loop
            and self._measured_enough()
            and isinstance(self.ownership, BlockOwnership)
        ):
            self._refine(self.ownership, index, units, unit_s)
            self._forget()
        found = self.ownership.shares(index, units)
        if loop == self.leading_loop and found is not None:
            self._held = tuple(map(len, found))
        return found

    def run_finished(
        self, loop: str, over: tuple[IndexMap, Units], done: Sequence[int], seconds: Sequence[float]
    ) -> None:
        """A run is over: the iterations of each rank, and the seconds that it computed."""
        if loop == self.leading_loop:
            self._counts, self._over = tuple(done), over
            self._passes += 1
        self._seconds = [before + more for before, more in zip(self._seconds, seconds, strict=True)]

    def _measured_enough(self) -> bool:
        return self._passes > 0 and max(self._seconds) >= self._least_s

    def _forget(self) -> None:
        self._passes = 0
        self._counts, self._over = (0,) * self._ranks, None
        self._seconds = [0.0] * self._ranks

    def _refine(self, cuts: BlockOwnership, index: IndexMap, units: Units, unit_s: float) -> None:
        if self.balancer is None:
            return
        if not self.balancer.due:
            self.balancer.skipped()
            return
        before = cuts.bounds(index, units)
        own = tuple(abs(high - low) for low, high in pairwise(before))
        kept = self._counts if self._over == (index, units) else own

        def movement_s(counts: Sequence[int]) -> float:
            return _moved(before, _ends(units, counts)) * unit_s

        verdict = self.balancer.after(
            self._held, self._of_held(), kept=kept, movement_s=movement_s, passes=self._passes
        )
        if verdict.counts != own:
            self.ownership = BlockOwnership.at(index, _ends(units, verdict.counts))
            self.version += 1

    def _of_held(self) -> list[float]:
        """Seconds that a pass takes each rank with what it held at its beginning.

        Speed goes with what is held: work that others took over is counted as if it had stayed.
        """
        each = [total / self._passes for total in self._seconds]
        done = zip(each, self._held, self._counts, strict=True)
        return [seconds * held / count if count else 0.0 for seconds, held, count in done]


def _ends(units: Units, counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=units.first))


def _moved(before: Sequence[int], after: Sequence[int]) -> int:
    """How many positions change hands."""
    unmoved = 0
    for old, new in zip(pairwise(before), pairwise(after), strict=True):
        low, high = sorted(old)
        unmoved += max(0, min(high, new[1]) - max(low, new[0]))
    return after[-1] - after[0] - unmoved
