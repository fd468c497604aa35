"""How rank 0 deals the iterations of a run that all ranks share: by pairs, by what they cost, by speeds.

The rule is `dlbrt.partition.initial.first_shares`; here stands where what it goes by comes from. Speeds
are given, or those that an earlier run has measured. What the run then teaches goes to the notes of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.strategies import AUTO, STATIC, pooled
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.footprint import IndexMap
from dlbrt.data.layout import InitialPartition
from dlbrt.data.space import Space
from dlbrt.data.work_table import FoldingPolicy, Units
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult
from dlbrt.mpi.program_history import LoopHistory
from dlbrt.mpi.root import RootRuntime
from dlbrt.mpi.team import clock
from dlbrt.mpi.values.packing import named
from dlbrt.observe.statistics import PlannedShares
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.initial import FirstShares, expected, first_shares
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.mpi.routines.routine_state import RoutineState
    from dlbrt.partition.cost_spec import CostSpec
    from dlbrt.partition.known import KnownWork
    from dlbrt.partition.profiling import Profiling


#: In a trial each rank gets so many blocks of iterations, in turn: few enough to be long.
_TURNS = 16

#: An evaluation of the cost that takes longer than this is told, in seconds: all ranks wait for it.
_LONG_S = 0.2


class Partitioner:
    """Deals one run of a loop on ``ranks`` ranks, and takes in what it taught.

    ``weights`` are the ranks' relative speeds, empty: not known; in a ``trial``, which is to show them, every
    rank gets a fair sample. ``measured`` is the size of the groups of iterations whose times are wanted of
    the run dealt last, 0 for none.
    """

    def __init__(self, loop_history: LoopHistory, ranks: int, weights: Sequence[float], trial: bool) -> None:
        self.measured = 0
        self._loop_history = loop_history
        self._ranks = ranks
        self._weights = weights
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
    ) -> InitialPartition:
        """How the positions from ``first`` on are dealt; what of a cost cannot be used is said.

        ``kept``, given a deal and the boundaries of its blocks (none where it is not in blocks), says which
        shares take its place. Of a ``pool``, of units that are ``without_rows``, ranks begin with its first chunks.
        """
        if loop.costs != CostSpec():
            _evaluation()  # so that what is waited for below is the evaluation alone
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
            weights=self._weights,
            turns=_TURNS if self._trial else 0,
        )
        if pool is not None:
            deal = pool.first_deal(self._dealt.deal, self.known, without_rows=without_rows)
            if deal is not self._dealt.deal:
                self._dealt = FirstShares(deal, self._dealt.work)
        elif kept is not None:
            deal = kept(self._dealt.deal, self._dealt.bounds)
            forecast = expected(deal.shares, self._dealt.work, self._weights or None)
            self._dealt = FirstShares(deal, self._dealt.work, forecast)
        if loop.costs != CostSpec() and measured is None:
            self._waited(clock() - started)
        wanted = profiling is not None and profiling.measure_next and not first
        self.measured = profiling.group if profiling is not None and wanted else 0
        return self._dealt.deal

    @property
    def planned(self) -> PlannedShares | None:
        """What the shares of the run dealt were to take, where anything is known of that."""
        dealt = self._dealt
        if dealt is None or dealt.forecast is None or (dealt.work is None and not self._weights):
            return None
        return PlannedShares(dealt.forecast.times, dealt.forecast.loss)

    @property
    def known(self) -> LoopStatistics:
        """What is known of the loop that self-scheduling may go by."""
        return self._loop_history.known_of_chunks(self._weights)

    def learn(self, results: Sequence[RankResult]) -> None:
        """Take in the figures of all ranks after a run that was dealt and has not failed."""
        if self._dealt is None or any(result.failure for result in results):
            return
        seconds = [result.figures.compute_s for result in results]
        if self._loop_history.profiling is None or self._trial:
            done = [result.figures.done for result in results]
            self._loop_history.record_speeds(expected(done, self._dealt.work).work, seconds)
        if self._loop_history.profiling is None:
            return
        # Of shares that are dealt in turn all ranks measure a bit of everything, and a mean is kept. Else a
        # measured density is in seconds of whoever measured it: it holds the ranks' speeds already.
        moved = any(result.figures.iterations_moved for result in results)
        complaint = self._loop_history.profiling.learn(
            seconds,
            [result.samples for result in results] if self.measured else None,
            self._weights,
            self._dealt.bounds if moved else (),
        )
        if complaint:
            self._loop_history.log(complaint)

    def _profiling(self, loop: LoopContext) -> Profiling | None:
        """What is measured of the loop from pass to pass, made ready for its next one."""
        if loop.profiled is not None:
            n, wanted = len(loop.space), loop.profiled
            from dlbrt.partition.profiling import Profiling

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
        """The work as passes before have measured it; none in a trial of speeds: it holds these already."""
        if profiling is None or profiling.density is None or self._trial:
            return None
        from dlbrt.partition.known import MeasuredWork

        return MeasuredWork(profiling.density)

    def _stated(self, loop: LoopContext) -> KnownWork | None:
        """The work of the positions as the kernel says it, None if it is uniform; CostError."""
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
        """Tell that the others waited for the cost to be evaluated, if it was long."""
        if seconds > _LONG_S:
            took = f"finding out what its iterations cost took {seconds:.2g} s on rank 0 before the loop"
            self._loop_history.log(
                f"{took}; a cheaper cost(EXPR), or cost(cumulative=EXPR), shortens that", "wait"
            )


def _evaluation() -> Callable[..., KnownWork | None]:
    """`evaluate_cost`, imported for loops of which something is said."""
    from dlbrt.partition.costs import evaluate_cost

    return evaluate_cost


def _is_sound_at_its_ends(loop: LoopContext) -> bool:
    """Whether a work of which pairs are the same is one: that it is negative somewhere shows at an end."""
    index, n = loop.space.index, len(loop.space)
    if index is None or n < 2:
        return True
    ends = IndexMap(index.value(0), index.step * (n - 1))
    try:
        _evaluation()(loop.costs, 2, ends, lambda: iter(()))
    except CostError:
        return False  # it will be said why when all of it is looked at
    return True


# ------------------------------------------------------------------------------
# One run of one loop, as the program asks for it at rank 0; and by what strategy it is to be shared.

Kernel = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Task:
    """A loop to be run, and by what means.

    ``costs`` is what the user says of its work. ``routine_state`` is the routine's that it is part of, if it is:
    arrays of that stay on the ranks.
    """

    root_runtime: RootRuntime
    kernel: Kernel
    space: Space
    arguments: Sequence[Any]
    costs: CostSpec
    routine_state: RoutineState | None

    @property
    def loop_history(self) -> LoopHistory:
        """What earlier runs of the loop have left."""
        return self.root_runtime.program_history.loop_history(self.kernel)

    @property
    def named(self) -> dict[str, Any]:
        """The arguments by the names of the kernel's parameters."""
        return named(self.kernel, self.arguments)

    def fetch_to_root(self, loop: LoopContext) -> None:
        """Have at rank 0 all of the routine's that the loop touches."""
        if self.routine_state is not None:
            self.routine_state.fetch_for_root(loop, self.kernel, self.named, self.space)


@dataclass(frozen=True, slots=True)
class StrategySelection:
    """By what strategy: one that is ``forced``, else the one that a routine chose at an earlier run.

    ``weights`` are the ranks' relative speeds, empty: not known.
    """

    forced: str | None
    chosen: str | None
    weights: Sequence[float]

    @classmethod
    def of(cls, task: Task, loop: LoopContext, weights: Sequence[float]) -> StrategySelection:
        """As the loop says, else the options."""
        chosen = (
            task.routine_state.strategy(task.loop_history.key) if task.routine_state is not None else None
        )
        return cls(loop.strategy or task.root_runtime.options.strategy, chosen, weights)

    @property
    def requested(self) -> str:
        """What is asked for."""
        return self.forced or AUTO

    @property
    def initial_strategy(self) -> str:
        """What ranks that share the loop begin with: one, or ``auto``."""
        return self.forced or self.chosen or AUTO

    @property
    def pool(self) -> PeerStrategy | None:
        """It, if by that work is dealt from a pool at rank 0."""
        return pooled(self.initial_strategy)

    @property
    def fixed(self) -> bool:
        """Whether shares are never cut anew."""
        return self.forced == STATIC
