"""How rank 0 deals the iterations of a run that all ranks share: by pairs, by what they cost, by speeds.

What iterations cost is, in this order, what passes before have measured (`profile`), what the kernel says
(`dlb.cost`), or not known. Pairs all cost the same, so nothing is evaluated for them. Speeds are given, or
those that an earlier run has measured. What the run then teaches goes to the notes of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlbrt.contract import Distribution
from dlbrt.core.partition.costs import CostError, evaluate_cost
from dlbrt.core.partition.initial import Forecast, deal, expected
from dlbrt.core.partition.known import KnownWork, MeasuredWork
from dlbrt.core.partition.profiling import Profiling
from dlbrt.dist.amounts import UNIFORM
from dlbrt.dist.deal import Deal
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.units import Units
from dlbrt.mpi.ledger import Notes
from dlbrt.mpi.loop import Folding, Loop
from dlbrt.mpi.perform import Result
from dlbrt.observe.statistics import Planned

__all__ = ["Dealer"]

#: Pairs for each rank below which folding is left: single iterations can be dealt more evenly.
_LEAST_PAIRS = 4

#: Edges of the table of work that is sent to all ranks, with which they share what remains.
_EDGES = 1024


@dataclass(frozen=True, slots=True)
class _Dealt:
    """A deal, what is known of the work in it (None: units are the same), and what it is to take."""

    deal: Deal
    work: KnownWork | None
    forecast: Forecast

    @property
    def bounds(self) -> tuple[int, ...]:
        """The P + 1 boundaries between the ranks' positions; none where they are not blocks in order."""
        runs = [spans.runs for spans in self.deal.shares]
        if self.deal.units.folded or any(len(r) > 1 or (r and r[0].step > 1) for r in runs):
            return ()
        ends = [self.deal.units.first]
        for r in runs:
            ends.append(r[0].stop if r else ends[-1])
        return tuple(ends)


class Dealer:
    """Deals one run of a loop on ``ranks`` ranks, and takes in what it taught.

    ``weights`` are the ranks' relative speeds, empty: not known; in a ``trial``, which is to show them, every
    rank gets a fair sample. ``measured`` is the size of the groups of iterations whose times are wanted of
    the run dealt last, 0 for none.
    """

    def __init__(self, notes: Notes, ranks: int, weights: Sequence[float], trial: bool) -> None:
        self.measured = 0
        self._notes = notes
        self._ranks = ranks
        self._weights = weights
        self._trial = trial
        self._dealt: _Dealt | None = None

    def deal(self, loop: Loop, first: int) -> Deal:
        """How the positions from ``first`` on are dealt; what of a cost cannot be used is said."""
        n = len(loop.space)
        profiling = self._profiling(loop)
        dealt = Distribution.CYCLIC if self._trial else loop.table.iterations
        units = Units(first, n, self._folds(loop, first))
        work = None if units.folded else _work(loop, profiling, self._notes.say)
        try:
            self._dealt = self._dealt_by(units, dealt, work)
        except CostError as error:
            _unusable(error, self._notes.say)
            self._dealt = self._dealt_by(units, dealt, None)
        wanted = profiling is not None and profiling.measure_next and not first
        self.measured = profiling.group if profiling is not None and wanted else 0
        return self._dealt.deal

    @property
    def planned(self) -> Planned | None:
        """What the shares of the run dealt were to take, where anything is known of that."""
        if self._dealt is None or (self._dealt.work is None and not self._weights):
            return None
        return Planned(self._dealt.forecast.times, self._dealt.forecast.loss)

    def learn(self, results: Sequence[Result]) -> None:
        """Take in the figures of all ranks after a run that was dealt and has not failed."""
        if self._dealt is None or any(result.failure for result in results):
            return
        seconds = [result.figures.compute_s for result in results]
        if self._notes.profiling is None:
            done = [result.figures.done for result in results]
            self._notes.taught(expected(done, self._dealt.work).work, seconds)
            return
        # A measured density is in seconds of whoever measured it: it holds the ranks' speeds already.
        moved = any(result.figures.iterations_moved for result in results)
        complaint = self._notes.profiling.learn(
            seconds,
            [result.samples for result in results] if self.measured else None,
            self._weights,
            self._dealt.bounds if moved else (),
        )
        if complaint:
            self._notes.say(complaint)

    def _profiling(self, loop: Loop) -> Profiling | None:
        """What is measured of the loop from pass to pass, made ready for its next one."""
        if loop.profiled is not None:
            n, wanted = len(loop.space), loop.profiled
            if self._notes.profiling is None:
                self._notes.profiling = Profiling(
                    n, wanted.group, wanted.every, wanted.threshold, self._notes.known_density(n)
                )
            self._notes.profiling.begin(n)
        return self._notes.profiling

    def _dealt_by(self, units: Units, dealt: Distribution, work: KnownWork | None) -> _Dealt:
        first, weights = 0 if units.folded else units.first, self._weights or None
        shares = deal(first + len(units), self._ranks, dealt, first=first, weights=weights, work=work)
        amounts = UNIFORM if work is None else work.table(_EDGES)
        return _Dealt(Deal(units, shares, amounts), work, expected(shares, work, weights))

    def _folds(self, loop: Loop, first: int) -> bool:
        if loop.folding is Folding.WHERE_IT_PAYS:
            pairs = len(Units(first, len(loop.space), folded=True))
            return pairs >= _LEAST_PAIRS * self._ranks and _is_sound_at_its_ends(loop)
        return loop.folding is Folding.ALWAYS


def _work(loop: Loop, profiling: Profiling | None, say: Callable[[str], None]) -> KnownWork | None:
    """The work of the positions, if it is known and not uniform."""
    if profiling is not None and profiling.density is not None:
        return MeasuredWork(profiling.density)
    space, n = loop.space, len(loop.space)
    if n < 2:
        return None
    try:
        work = evaluate_cost(loop.costs, n, space.index, lambda: space.items(range(n))[0])
    except CostError as error:
        _unusable(error, say)
        return None
    if remark := getattr(work, "remark", ""):
        say(remark)
    return work


def _is_sound_at_its_ends(loop: Loop) -> bool:
    """Whether a work of which pairs are the same is one: that it is negative somewhere shows at an end."""
    index, n = loop.space.index, len(loop.space)
    if index is None or n < 2:
        return True
    ends = IndexMap(index.value(0), index.step * (n - 1))
    try:
        evaluate_cost(loop.costs, 2, ends, lambda: iter(()))
    except CostError:
        return False  # it will be said why when all of it is looked at
    return True


def _unusable(error: CostError, say: Callable[[str], None]) -> None:
    say(f"{error}; iterations are taken to cost the same until measured")
