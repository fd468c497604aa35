"""Shares that loops of a routine keep from pass to pass, and that are cut anew where it pays.

Loops over the same rows have one owner for each row. The loop that dealt them first leads: from one of its
runs to the next a pass goes by, and all loops' seconds in between, over the leader's iterations, are what a
rank's speed is told by (Clarke, Lastovetsky, Rychkov, section 4). The balancer of passes then says whether
to go on, or how many iterations each rank is to have; blocks stay in order of rank, so that neighbours share
few borders.

What was moved within a pass is where it was done: if nothing else is to change, the next pass begins there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from dlbrt.core.partition.ownership import BlockOwnership, Ownership
from dlbrt.core.speed import PassBalancer
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units

__all__ = ["IterationOwnership"]


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
