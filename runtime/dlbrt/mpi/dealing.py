"""How rank 0 deals the iterations of a run that all ranks share: by pairs, by what they cost, by speeds.

What iterations cost is, in this order, what passes before have measured (`profile`), what the kernel says
(`dlb.cost`), or not known. Pairs all cost the same, so nothing is evaluated for them. Speeds are given, or
those that an earlier run has measured. What the run then teaches goes to the notes of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dlbrt.contract import Distribution
from dlbrt.core.agent import PeerStrategy
from dlbrt.core.chunks.loop import Known
from dlbrt.core.partition.cost_spec import CostError, CostSpec
from dlbrt.core.partition.initial import deal, enough_pairs, expected
from dlbrt.dist import layout
from dlbrt.dist.amounts import UNIFORM
from dlbrt.dist.deal import Deal
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.units import Units
from dlbrt.mpi.ledger import Notes
from dlbrt.mpi.loop import Folding, Loop
from dlbrt.mpi.perform import Result
from dlbrt.mpi.team import clock
from dlbrt.observe.statistics import Planned
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.partition.density import Density
    from dlbrt.core.partition.initial import Forecast
    from dlbrt.core.partition.known import KnownWork
    from dlbrt.core.partition.profiling import Profiling

__all__ = ["Dealer"]

#: Edges of the table of work that is sent to all ranks, with which they share what remains.
_EDGES = 1024

#: With fewer iterations for each rank there is nothing to divide by what they cost.
_LEAST_EACH = 2

#: In a trial each rank gets so many blocks of iterations, in turn: few enough to be long.
_TURNS = 16

#: An evaluation of the cost that takes longer than this is told, in seconds: all ranks wait for it.
_LONG_S = 0.2


@dataclass(frozen=True, slots=True)
class _Dealt:
    """A deal, what is known of the work in it (None: units are the same), and what it may take, if known."""

    deal: Deal
    work: KnownWork | None
    forecast: Forecast | None

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

    def deal(
        self,
        loop: Loop,
        first: int,
        kept: Callable[[Deal, Sequence[int]], Deal] | None = None,
        pool: PeerStrategy | None = None,
        *,
        bare: bool = False,
    ) -> Deal:
        """How the positions from ``first`` on are dealt; what of a cost cannot be used is said.

        ``kept``, given a deal and the boundaries of its blocks (none where it is not in blocks), says which
        shares take its place. Of a ``pool``, of units that are ``bare``, ranks begin with its first chunks.
        """
        n = len(loop.space)
        if loop.costs != CostSpec():
            _evaluation()  # so that what is waited for below is the evaluation alone
        started = clock()
        profiling = self._profiling(loop)
        dealt = loop.table.iterations
        units = Units(first, n, self._folds(loop, first))
        work = None if units.folded else self._work(loop, profiling)
        try:
            self._dealt = self._dealt_by(units, dealt, work)
        except CostError as error:
            self._unusable(error)
            self._dealt = self._dealt_by(units, dealt, None)
        if pool is not None:
            self._dealt = self._pooled(self._dealt, pool, bare=bare)
        elif kept is not None:
            deal = kept(self._dealt.deal, self._dealt.bounds)
            forecast = expected(deal.shares, self._dealt.work, self._weights or None)
            self._dealt = _Dealt(deal, self._dealt.work, forecast)
        measured = not units.folded and self._density(profiling) is not None
        if loop.costs != CostSpec() and not measured:
            self._waited(clock() - started)
        wanted = profiling is not None and profiling.measure_next and not first
        self.measured = profiling.group if profiling is not None and wanted else 0
        return self._dealt.deal

    @property
    def planned(self) -> Planned | None:
        """What the shares of the run dealt were to take, where anything is known of that."""
        dealt = self._dealt
        if dealt is None or dealt.forecast is None or (dealt.work is None and not self._weights):
            return None
        return Planned(dealt.forecast.times, dealt.forecast.loss)

    @property
    def known(self) -> Known:
        """What is known of the loop that self-scheduling may go by."""
        return self._notes.known_of_chunks(self._weights)

    def learn(self, results: Sequence[Result]) -> None:
        """Take in the figures of all ranks after a run that was dealt and has not failed."""
        if self._dealt is None or any(result.failure for result in results):
            return
        seconds = [result.figures.compute_s for result in results]
        if self._notes.profiling is None or self._trial:
            done = [result.figures.done for result in results]
            self._notes.taught(expected(done, self._dealt.work).work, seconds)
        if self._notes.profiling is None:
            return
        # Of shares that are dealt in turn all ranks measure a bit of everything, and a mean is kept. Else a
        # measured density is in seconds of whoever measured it: it holds the ranks' speeds already.
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
            from dlbrt.core.partition.profiling import Profiling

            known = self._notes.known_density(n)
            if self._notes.profiling is None:
                self._notes.profiling = Profiling(n, wanted.group, wanted.every, wanted.threshold, known)
            self._notes.profiling.begin(n, known)
        return self._notes.profiling

    def _dealt_by(self, units: Units, dealt: Distribution, work: KnownWork | None) -> _Dealt:
        first, weights = 0 if units.folded else units.first, self._weights or None
        if self._trial and dealt is not Distribution.CYCLIC:
            shares = layout.in_turns(len(units), self._ranks, _TURNS)
            shares = tuple(spans.shifted(first) for spans in shares)
        else:
            shares = deal(first + len(units), self._ranks, dealt, first=first, weights=weights, work=work)
        amounts = UNIFORM if work is None else work.table(_EDGES)
        return _Dealt(Deal(units, shares, amounts), work, expected(shares, work, weights))

    def _pooled(self, dealt: _Dealt, pool: PeerStrategy, *, bare: bool) -> _Dealt:
        """Likewise, but ranks begin with the first chunks of a pool."""
        deal = dealt.deal
        shares = pool.first_shares(deal.units, self._ranks, deal.amounts, self.known, bare=bare)
        return dealt if shares is None else _Dealt(Deal(deal.units, shares, deal.amounts), dealt.work, None)

    def _folds(self, loop: Loop, first: int) -> bool:
        if self._trial:
            return False
        if loop.folding is Folding.WHERE_IT_PAYS and loop.contributions.in_private_copies:
            return False  # pairs come in short stretches
        if loop.folding is Folding.WHERE_IT_PAYS:
            return enough_pairs(len(loop.space) - first, self._ranks) and _is_sound_at_its_ends(loop)
        return loop.folding is Folding.ALWAYS

    def _density(self, profiling: Profiling | None) -> Density | None:
        """What passes before have measured; in a trial it is not dealt by, as ranks measured it."""
        return None if profiling is None or self._trial else profiling.density

    def _work(self, loop: Loop, profiling: Profiling | None) -> KnownWork | None:
        """The work of the positions, if it is known and not uniform."""
        if (density := self._density(profiling)) is not None:
            from dlbrt.core.partition.known import MeasuredWork

            return MeasuredWork(density)
        space, n = loop.space, len(loop.space)
        if n < _LEAST_EACH * self._ranks or loop.costs == CostSpec():
            return None
        try:
            work = _evaluation()(loop.costs, n, space.index, lambda: space.items(range(n))[0])
        except CostError as error:
            self._unusable(error)
            return None
        if remark := getattr(work, "remark", ""):
            self._notes.say(remark)
        return work

    def _unusable(self, error: CostError) -> None:
        self._notes.say(f"{error}; iterations are taken to cost the same until measured")

    def _waited(self, seconds: float) -> None:
        """Tell that the others waited for the cost to be evaluated, if it was long."""
        if seconds > _LONG_S:
            took = f"finding out what its iterations cost took {seconds:.2g} s on rank 0 before the loop"
            self._notes.say(f"{took}; a cheaper cost(EXPR), or cost(cumulative=EXPR), shortens that", "wait")


def _evaluation() -> Callable[..., KnownWork | None]:
    """`evaluate_cost`, imported for loops of which something is said."""
    from dlbrt.core.partition.costs import evaluate_cost

    return evaluate_cost


def _is_sound_at_its_ends(loop: Loop) -> bool:
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
