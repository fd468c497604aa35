"""How rank 0 deals the iterations of a run that all ranks share: by pairs, by what they cost, by speeds.

The rule is `dlbrt.partition.initial.first_shares`; this module collects its inputs. Speeds are given, or were
measured by an earlier run. What the run then teaches goes to the history of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dlbrt.balance.agent import PeerStrategy
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.contract import Distribution
from dlbrt.data.footprint import IndexMap
from dlbrt.data.layout import InitialPartition
from dlbrt.data.work_table import FoldingPolicy, Units
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult
from dlbrt.mpi.root.program_history import LoopHistory
from dlbrt.mpi.team import clock
from dlbrt.observe.statistics import PlannedShares
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.initial import FirstShares, expected, first_shares

if TYPE_CHECKING:
    from dlbrt.partition.known import KnownWork
    from dlbrt.partition.profiling import Profiling


#: Blocks of iterations that each rank gets, in turn, in a trial of speeds: few enough to be long.
_TURNS = 16

#: Seconds from which an evaluation of the cost is reported: all ranks wait for it.
_LONG_S = 0.2


class Partitioner:
    """Deals one run of a loop on ``ranks`` ranks, and learns from its results.

    ``weights`` are the ranks' relative speeds, empty: not known; in a ``trial``, which measures them, every
    rank gets a fair sample. ``measured`` is the size of the groups of iterations that the run dealt last is
    to time, 0 for none.
    """

    def __init__(self, loop_history: LoopHistory, ranks: int, weights: Sequence[float], trial: bool) -> None:
        self.measured = 0
        self.weights = weights
        self._loop_history = loop_history
        self._ranks = ranks
        self._trial = trial
        self._dealt: FirstShares | None = None

    def deal(
        self,
        loop: LoopContext,
        first: int,
        kept: Callable[[InitialPartition, Sequence[int]], InitialPartition] | None = None,
        pool: PeerStrategy | None = None,
        *,
        without_rows: bool = False,
        fixed: bool = True,
    ) -> InitialPartition:
        """How the positions from ``first`` on are dealt; a cost that cannot be used is reported.

        ``kept``, given a partition and the boundaries of its blocks (none where it is not in blocks), returns
        the shares that take its place. With a ``pool`` ranks begin with its first chunks; its units may go
        ``without_rows``. Unless shares are ``fixed``, ranks that begin later get less.
        """
        if loop.costs != CostSpec():
            _evaluation()  # the import is not part of the evaluation that is timed below
        started = clock()
        profiling = self._profiling(loop)
        units = Units(first, len(loop.space), self._folds(loop, first))
        measured = None if units.folded else self._measured(profiling)
        self._dealt = first_shares(
            units,
            self._ranks,
            loop.table.iterations,
            measured=measured,
            stated=lambda: self._stated(loop),
            unusable=self._unusable,
            weights=self.weights or (() if fixed or pool else self._head_starts(loop, units)),
            turns=_TURNS if self._trial else 0,
        )
        if pool is not None:
            deal = pool.first_deal(self._dealt.deal, self.known, without_rows=without_rows)
            if deal is not self._dealt.deal:
                self._dealt = FirstShares(deal, self._dealt.work)
        elif kept is not None:
            deal = kept(self._dealt.deal, self._dealt.bounds)
            forecast = expected(deal.shares, self._dealt.work, self.weights or None)
            self._dealt = FirstShares(deal, self._dealt.work, forecast)
        if loop.costs != CostSpec() and measured is None:
            self._waited(clock() - started)
        wanted = profiling is not None and profiling.measure_next and not first
        self.measured = profiling.group if profiling is not None and wanted else 0
        return self._dealt.deal

    def _head_starts(self, loop: LoopContext, units: Units) -> Sequence[float]:
        """Shares with which ranks that begin at different times end together; empty where they are equal."""
        if self._trial or units.folded or loop.table.iterations is not Distribution.BLOCK:
            return ()
        return self._loop_history.sharing.head_starts(len(units))

    @property
    def planned(self) -> PlannedShares | None:
        """The forecast for the shares of the run dealt, where work or speeds are known."""
        dealt = self._dealt
        if dealt is None or dealt.forecast is None or (dealt.work is None and not self.weights):
            return None
        return PlannedShares(dealt.forecast.times, dealt.forecast.loss)

    @property
    def known(self) -> LoopStatistics:
        """What self-scheduling may use: speeds, and times of iterations."""
        return self._loop_history.known_of_chunks(self.weights)

    def learn(self, results: Sequence[RankResult]) -> None:
        """Learn from the figures of all ranks after a run that was dealt and has not failed."""
        if self._dealt is None or any(result.failure for result in results):
            return
        seconds = [result.figures.compute_s for result in results]
        if self._loop_history.profiling is None or self._trial:
            done = [result.figures.done for result in results]
            self._loop_history.record_speeds(expected(done, self._dealt.work).work, seconds)
        if self._loop_history.profiling is None:
            return
        # Of shares dealt in turn all ranks measure a bit of everything, and a mean is kept. Otherwise a
        # measured density is in seconds of the rank that measured it: it contains the ranks' speeds already.
        moved = any(result.figures.iterations_moved for result in results)
        complaint = self._loop_history.profiling.learn(
            seconds,
            [result.samples for result in results] if self.measured else None,
            self.weights,
            self._dealt.bounds,
            moved=moved,
            disturbed=any(result.disturbed for result in results),
        )
        if complaint:
            self._loop_history.log(complaint)

    def _profiling(self, loop: LoopContext) -> Profiling | None:
        """The profiling of the loop from pass to pass, made ready for the next pass."""
        if loop.profiled is not None:
            from dlbrt.partition.profiling import Profiling

            n, wanted = len(loop.space), loop.profiled
            known = self._loop_history.known_density(n)
            if self._loop_history.profiling is None:
                self._loop_history.profiling = Profiling(
                    n, wanted.group, wanted.every, wanted.threshold, known
                )
            self._loop_history.profiling.begin(n, known)
        return self._loop_history.profiling

    def _folds(self, loop: LoopContext, first: int) -> bool:
        positions, private = len(loop.space) - first, loop.contributions.in_private_copies
        if self._trial or not loop.folding.folds(positions, self._ranks, in_long_runs=private):
            return False
        return loop.folding is FoldingPolicy.ALWAYS or _is_sound_at_its_ends(loop)

    def _measured(self, profiling: Profiling | None) -> KnownWork | None:
        """The work as earlier passes measured it; None in a trial of speeds, which it contains already."""
        if profiling is None or profiling.density is None or self._trial:
            return None
        from dlbrt.partition.known import MeasuredWork

        return MeasuredWork(profiling.density)

    def _stated(self, loop: LoopContext) -> KnownWork | None:
        """The work of the positions as the kernel states it, None if it is uniform; raises CostError."""
        space, n = loop.space, len(loop.space)
        if loop.costs == CostSpec():
            return None
        work = _evaluation()(loop.costs, n, space.index, lambda: space.items(range(n))[0])
        if remark := getattr(work, "remark", ""):
            self._loop_history.log(remark)
        return work

    def _unusable(self, error: CostError) -> None:
        self._loop_history.log(f"{error}; iterations are taken to cost the same until measured")

    def _waited(self, seconds: float) -> None:
        """Report that the other ranks waited for the evaluation of the cost, if they waited long."""
        if seconds > _LONG_S:
            took = f"finding out what its iterations cost took {seconds:.2g} s on rank 0 before the loop"
            self._loop_history.log(
                f"{took}; a cheaper cost(EXPR), or cost(cumulative=EXPR), shortens that", "wait"
            )


def _evaluation() -> Callable[..., KnownWork | None]:
    """`evaluate_cost`, imported only for loops that state a cost."""
    from dlbrt.partition.costs import evaluate_cost

    return evaluate_cost


def _is_sound_at_its_ends(loop: LoopContext) -> bool:
    """Whether a cost whose pairs are all equal is valid: if it is negative anywhere, it is at an end."""
    index, n = loop.space.index, len(loop.space)
    if index is None or n < 2:
        return True
    ends = IndexMap(index.value(0), index.step * (n - 1))
    try:
        _evaluation()(loop.costs, 2, ends, lambda: iter(()))
    except CostError:
        return False  # the evaluation of the whole cost reports why
    return True
