"""The owners of the iterations of a routine's loops, kept from pass to pass and cut anew where it pays.

A routine runs several loops over the rows of its arrays: inner rows only, every other row, the rows below a
pivot. Shares are dealt once. From then on a rank owns values of the index, not positions in one loop, and its
share of any loop is the part of the loop's range that it owns. Blocks are kept as the values at which they
are cut, the outermost without end; other shares are kept with the progression that they were dealt over.

The loop that dealt the rows first leads. From one of its runs to the next a pass goes by, and a rank's speed
is measured over the seconds of all loops in between and the leader's iterations (Clarke, Lastovetsky,
Rychkov, section 4). The balancer of passes then decides whether to go on, or how many iterations each rank
gets; blocks stay in the order of ranks that they were dealt in, so that neighbours share few borders.

Work that moved within a pass counts where it was done: unless something else changes, the next pass begins
there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite
from operator import itemgetter
from typing import TypeVar

from dlbrt.data import runs as algebra
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units
from dlbrt.parameters import REPLAN_S
from dlbrt.records import dataclass
from dlbrt.speed.pass_balancer import PassBalancer, PassReason, imbalance

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BlockOwnership:
    """Blocks: the block b has the values from ``edges[b - 1]`` up to below ``edges[b]``.

    With ``direction`` -1 they count downwards, so that block 0 has the greatest values. ``order`` has the
    rank of each block; empty: block b is rank b's.
    """

    edges: tuple[int, ...]
    direction: int
    order: tuple[int, ...] = ()

    @classmethod
    def at(cls, index: IndexMap, bounds: Sequence[int], order: tuple[int, ...] = ()) -> BlockOwnership:
        """Cuts before the positions ``bounds[1:-1]`` of a loop; bounds are the P + 1 ends of the blocks."""
        direction = 1 if index.step > 0 else -1
        return cls(tuple(direction * index.value(bound) for bound in bounds[1:-1]), direction, order)

    def by_block(self, by_rank: Sequence[T]) -> tuple[T, ...]:
        """One thing for each rank, in the order of their blocks."""
        return tuple(by_rank[rank] for rank in self.order) if self.order else tuple(by_rank)

    def by_rank(self, by_block: Sequence[T]) -> tuple[T, ...]:
        """One thing for each block, in the order of ranks."""
        if not self.order:
            return tuple(by_block)
        return tuple(each for _, each in sorted(zip(self.order, by_block, strict=True), key=itemgetter(0)))

    def bounds(self, index: IndexMap, units: Units) -> tuple[int, ...]:
        """The P + 1 ends of the blocks in a loop's positions, ascending if it counts in ``direction``."""
        first, step = self.direction * index.start, self.direction * index.step
        if step > 0:
            ends = [-((first - edge) // step) for edge in self.edges]  # the least position at or above
            return (units.first, *(_within(end, units) for end in ends), units.stop)
        ends = [(first - edge) // -step + 1 for edge in self.edges]
        return (units.stop, *(_within(end, units) for end in ends), units.first)

    def shares(self, index: IndexMap, units: Units) -> tuple[Spans, ...] | None:
        """What each rank owns of a loop's positions."""
        return self.by_rank([Spans.of(range(*sorted(ends))) for ends in pairwise(self.bounds(index, units))])


@dataclass(frozen=True, slots=True)
class DealtOwnership:
    """Any other shares, as they were dealt to the positions of one loop."""

    index: IndexMap
    units: Units
    dealt: tuple[Spans, ...]

    def shares(self, index: IndexMap, units: Units) -> tuple[Spans, ...] | None:
        """What each rank owns of a loop's positions; None if these are not among those dealt."""
        offset, apart = divmod(index.start - self.index.start, self.index.step)
        if apart or index.step != self.index.step or self.units.folded or units.folded:
            return self.dealt if (index, units) == (self.index, self.units) else None
        own = tuple(_clipped(spans.shifted(-offset), units.first, units.stop) for spans in self.dealt)
        return own if sum(map(len, own)) == len(units) else None


Ownership = BlockOwnership | DealtOwnership

#: How many looks at passes are remembered, the latest ones.
MAX_RECORDS = 4096

#: Why the last passes of a routine changed nothing.
_ENDED, _FIXED = "no pass followed", "shares stay as they were dealt"


@dataclass(frozen=True, slots=True)
class PassRecord:
    """Passes that were looked at together, led by the runs of ``loop``, and what followed.

    Rank r began each with ``rows[r]`` iterations and took ``seconds[r]`` for them, so that ``rows / seconds``
    are the points that its speed function has got. ``imbalance`` is theirs, None where a rank took no time.
    The ``reason`` led to the next ``shares``, for which ``moved`` iterations changed owners;
    ``predicted_s`` is the makespan expected of them, None where nothing was decided.
    """

    loop: str
    passes: int
    rows: tuple[int, ...]
    seconds: tuple[float, ...]
    imbalance: float | None
    reason: str
    shares: tuple[int, ...]
    moved: int = 0
    predicted_s: float | None = None


def _within(end: int, units: Units) -> int:
    return min(max(end, units.first), units.stop)


def _clipped(spans: Spans, low: int, high: int) -> Spans:
    parts = (algebra.clip(run, low, high) for run in spans.runs)
    return Spans(tuple(algebra.normal(part) for part in parts if part))


class IterationOwnership:
    """The owners in loops over the same rows, of which ``leading_loop`` ran first.

    ``version`` counts how often shares were cut anew. Without a ``balancer`` they stay as they were dealt.
    Times below ``least_s`` seconds are noise: passes are taken together until they take as long.
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
        self._records: deque[PassRecord] = deque(maxlen=MAX_RECORDS)
        self._forget()

    @property
    def pass_records(self) -> tuple[PassRecord, ...]:
        """The passes so far, also those after which nothing was decided."""
        last = (self._record(_ENDED, self._held),) if self._passes else ()
        return (*self._records, *last)

    def _record(
        self, reason: str, shares: Sequence[int], moved: int = 0, predicted_s: float | None = None
    ) -> PassRecord:
        """The record of the passes since the last look."""
        seconds = self._seconds_held()
        spread = imbalance([taken for taken, held in zip(seconds, self._held, strict=True) if held])
        measured = spread if isfinite(spread) else None
        held, passes = self._held, self._passes
        return PassRecord(
            self.leading_loop,
            passes,
            held,
            tuple(seconds),
            measured,
            reason,
            tuple(shares),
            moved,
            predicted_s,
        )

    def shares(self, loop: str, index: IndexMap, units: Units, unit_s: float) -> tuple[Spans, ...] | None:
        """The shares of a run of a loop that begins; None if the ownership does not determine them.

        ``unit_s`` is the seconds that moving the data of one iteration takes.
        """
        self.cut_anew(loop, index, units, unit_s)
        found = self.ownership.shares(index, units)
        if loop == self.leading_loop and found is not None:
            self._held = tuple(map(len, found))
        return found

    def cut_anew(self, loop: str, index: IndexMap, units: Units, unit_s: float) -> None:
        """Before a run of the loop that leads: cut shares anew if the passes since have shown that it pays.

        ``version`` tells whether they were.
        """
        blocks = self.ownership
        if loop == self.leading_loop and self._measured_enough() and isinstance(blocks, BlockOwnership):
            self._refine(blocks, index, units, unit_s)
            self._forget()

    def run_finished(
        self,
        loop: str,
        over: tuple[IndexMap, Units],
        done: Sequence[int],
        seconds: Sequence[float],
        runs: int = 1,
    ) -> None:
        """Runs are over: the iterations of each rank in one of them, its seconds of computing in all."""
        if loop == self.leading_loop:
            self._counts, self._over = tuple(done), over
            self._passes += runs
        self._seconds = [before + more for before, more in zip(self._seconds, seconds, strict=True)]

    def _measured_enough(self) -> bool:
        return self._passes > 0 and max(self._seconds) >= self._least_s

    def _forget(self) -> None:
        self._passes = 0
        self._counts, self._over = (0,) * self._ranks, None
        self._seconds = [0.0] * self._ranks

    def _refine(self, cuts: BlockOwnership, index: IndexMap, units: Units, unit_s: float) -> None:
        if self.balancer is None or not self.balancer.due:
            reason = _FIXED if self.balancer is None else PassReason.NOT_DUE.value
            self._records.append(self._record(reason, self._held))
            if self.balancer is not None:
                self.balancer.skipped()
            return
        before = cuts.bounds(index, units)
        own = cuts.by_rank([abs(high - low) for low, high in pairwise(before)])
        kept = self._counts if self._over == (index, units) else own

        def movement_s(counts: Sequence[int]) -> float:
            return REPLAN_S + _moved(before, _ends(units, cuts.by_block(counts))) * unit_s

        decision = self.balancer.after(
            self._held, self._seconds_held(), kept=kept, movement_s=movement_s, passes=self._passes
        )
        after = _ends(units, cuts.by_block(decision.counts))
        moved = _moved(before, after) if decision.counts != own else 0
        self._records.append(
            self._record(decision.reason.value, decision.counts, moved, decision.predicted_s)
        )
        if decision.counts != own:
            self.ownership = BlockOwnership.at(index, after, cuts.order)
            self.version += 1

    def _seconds_held(self) -> list[float]:
        """Seconds that a pass takes each rank with what it held at the beginning.

        Speed depends on what is held: work that others took over counts as if it had stayed.
        """
        each = [total / self._passes for total in self._seconds]
        done = zip(each, self._held, self._counts, strict=True)
        return [seconds * held / count if count else 0.0 for seconds, held, count in done]


def _ends(units: Units, counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=units.first))


def _moved(before: Sequence[int], after: Sequence[int]) -> int:
    """The number of positions that change owners."""
    unmoved = 0
    for old, new in zip(pairwise(before), pairwise(after), strict=True):
        low, high = sorted(old)
        unmoved += max(0, min(high, new[1]) - max(low, new[0]))
    return after[-1] - after[0] - unmoved
