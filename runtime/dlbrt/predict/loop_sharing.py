"""Whether a loop outside routines is worth sharing, and when its ranks begin, by what its runs have cost.

A loop of a millisecond loses by being shared. Rank 0 begins such a loop alone, and the others help where it
takes longer than expected. One disturbed run must not decide for good, so after a while a loop that rank 0
keeps is shared once again: the time lost by looking stays a small part of all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import fsum

#: A loop that takes nearly as long alone as sharing it would cost is shared so often before rank 0 keeps it.
_SHARED_RUNS, _NEARLY = 3, 4

#: Rank 0 keeps a loop for this many times what sharing it seemed to cost; then it is shared again, and for
#: twice as long after each time. A loop far smaller than its price is not.
_LOOK_AGAIN, _FAR_SMALLER = 8.0, 32

#: Seconds of computing up to which a loop may be done again.
_REPEATED_S = 10.0

#: Shares that differ by less, in equal ones, count as equal.
_UNEQUAL = 0.02


class LoopSharing:
    """What the runs of one loop on ``ranks`` have cost, and what follows for its next run."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._iteration_s: float | None = None  # mean computing time of an iteration at the last run
        self._overhead_s = 0.0  # of the last run on all ranks, beyond computing; of the first ones the least
        self._shared_runs = 0  # up to `_SHARED_RUNS`
        self._begun: deque[tuple[float, ...]] = deque(maxlen=_SHARED_RUNS)  # when ranks began, by run
        self._kept_s = 0.0  # taken by rank 0 alone since the last run on all ranks
        self._look_again = _LOOK_AGAIN

    def trial_s(self, iterations: int) -> float | None:
        """How long rank 0 may try to do the loop alone; None where all ranks should take part at once.

        The loop is small if, judging by its last run, sharing it costs more than the others would compute of
        it. The trial is bounded by the time at which both would be equal, so that little is lost where
        iterations have become more expensive.
        """
        equal_s = self._overhead_s / (1 - 1 / self._ranks) if self._ranks > 1 else 0.0
        alone_s = self.alone_s(iterations)
        if self._iteration_s is None or alone_s > equal_s:
            return None
        if self._kept_s > self._look_again * equal_s and _FAR_SMALLER * alone_s > equal_s:
            return None
        # The first runs on all ranks meet fresh memory: one of them is no ground to stay alone for good.
        return None if self._shared_runs < _SHARED_RUNS and _NEARLY * alone_s > equal_s else equal_s

    def alone_s(self, iterations: int) -> float:
        """The seconds that rank 0 is expected to compute alone, judging by the last run; 0 without one."""
        return iterations * (self._iteration_s or 0.0)

    def repeats_cheaply(self, iterations: int) -> bool:
        """Whether rank 0 can do again what other ranks have done, judging by the last run."""
        return self._iteration_s is not None and iterations * self._iteration_s < _REPEATED_S

    def head_starts(self, iterations: int) -> tuple[float, ...]:
        """The shares of ranks that are to end together, by when they began the last runs; empty: equal ones.

        Rank r begins b_r after the call, the least of what was seen. With work of W seconds P ranks end
        together at (W + b_1 + ... + b_P) / P. No share is less than half an equal one.
        """
        work_s = iterations * (self._iteration_s or 0.0)
        if not self._begun or not work_s:
            return ()
        begun = [min(times) for times in zip(*self._begun, strict=True)]
        ranks = len(begun)
        end_s = (work_s + fsum(begun)) / ranks
        shares = [max(0.5, round((end_s - each) * ranks / work_s, 3)) for each in begun]
        return tuple(shares) if max(shares) - min(shares) > _UNEQUAL else ()

    def learn_alone(self, iterations: int, compute_s: float, elapsed_s: float) -> None:
        """Take in a run by rank 0 alone."""
        self._kept_s += elapsed_s
        if iterations:
            self._iteration_s = compute_s / iterations

    def learn(
        self,
        iterations: int,
        compute_s: Sequence[float],
        begun_s: Sequence[float],
        overhead_s: float,
        *,
        compiled: bool,
    ) -> None:
        """Take in a run on all ranks: when each began and how long it computed, and what was beyond that.

        ``compiled``: a rank has compiled something, so that the run says little of what sharing costs.
        """
        if iterations:
            self._iteration_s = fsum(compute_s) / iterations
        if self._kept_s:
            self._kept_s, self._look_again = 0.0, 2 * self._look_again
        if not compiled:
            early = 0 < self._shared_runs < _SHARED_RUNS
            self._overhead_s = min(overhead_s, self._overhead_s) if early else overhead_s
            self._shared_runs = min(self._shared_runs + 1, _SHARED_RUNS)
            self._begun.append(tuple(begun_s))
