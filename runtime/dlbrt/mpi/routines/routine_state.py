"""What a routine keeps from one run of a loop to the next: its arrays on the ranks, and who owns which rows.

A run of a loop asks in this order: that what it reads before iterations are dealt is valid at rank 0
(`ResidentArrays.ensure_valid`), which of its arrays stay (`ResidentArrays.admit`), which shares it has
(`deal`), and which rows ranks lack of them (`array_transfers`). Afterwards it reports what was done
(`run_finished`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from dlbrt.balance.strategies import STATIC
from dlbrt.data.array_table import root_of
from dlbrt.data.field import Field
from dlbrt.data.footprint import IndexMap, Rows, intersection
from dlbrt.data.layout import InitialPartition
from dlbrt.data.space import Space
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult, stored_by
from dlbrt.mpi.root.program_history import LoopHistory
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, Eviction, LoopResidents, is_broadcast
from dlbrt.mpi.routines.resident_arrays import ResidentArrays
from dlbrt.mpi.values.packing import Packed
from dlbrt.observe.statistics import RoutineFigures, SpeedFunctionPoints
from dlbrt.partition.cost_spec import CostSpec
from dlbrt.predict.sharing import RoutineSharing
from dlbrt.speed.ownership import BlockOwnership, DealtOwnership, IterationOwnership, Ownership
from dlbrt.speed.pass_balancer import PassBalancer
from dlbrt.speed.points import SpeedPoints

if TYPE_CHECKING:
    from dlbrt.mpi.routines.checkpoints import Checkpoints
    from dlbrt.mpi.routines.repeated_runs import RepeatedRuns

#: Seconds below which passes are looked at together: looking takes some tenths of a millisecond.
_MIN_PASS_S = 0.02

#: At most one in this many iterations of a block, at either end, may need rows that have still to come.
_INNER = 4


class RoutineState:
    """The memory of one routine.

    ``balancer`` makes the balancer that cuts shares anew from pass to pass, from the speed points of each
    rank that are known from earlier runs, if any are; ``narrowing``: each pass begins further on than the one
    before. ``strategies`` are those chosen for loops at earlier runs, ``sharing`` decides whether loops are
    shared at all, ``repeats`` are runs that can be repeated, from the first one on. Where ranks may die,
    ``checkpoint`` is the number of passes between two checkpoints.
    """

    def __init__(
        self,
        root_runtime: RootRuntime,
        balancer: Callable[[Sequence[SpeedPoints]], PassBalancer],
        *,
        narrowing: bool = False,
        checkpoint: int | None = None,
    ) -> None:
        self.resident_arrays = ResidentArrays(root_runtime)
        self._root_runtime = root_runtime
        self.checkpoints: Checkpoints | None = None
        if root_runtime.communicator.tolerates_deaths and checkpoint is not None:
            from dlbrt.mpi.routines.checkpoints import Checkpoints  # most programs run without them

            self.checkpoints = Checkpoints(root_runtime, self.resident_arrays, checkpoint, self._forget_ranks)
        self._runs: dict[str, int] = {}
        self.strategies: dict[str, str] = {}
        self.sharing = RoutineSharing()
        self._widths: dict[tuple[str, Spans, tuple[tuple[str, Rows], ...]], int] = {}
        self._taught: dict[str, tuple[LoopHistory, str]] = {}
        self._learned: dict[str, tuple[LoopHistory, str, PassBalancer]] = {}
        self._led: dict[tuple[str, bool], IterationOwnership] = {}
        self._owned: list[IterationOwnership] = []
        self._byte_s = 1 / root_runtime.network.bandwidth
        self._balancer, self._narrowing = balancer, narrowing
        self._running: tuple[IterationOwnership, IndexMap, InitialPartition] | None = None
        self.repeats: RepeatedRuns | None = None

    @property
    def _ranks(self) -> int:
        return self._root_runtime.communicator.ranks

    def _forget_ranks(self) -> None:
        """Ranks have died: what was known of them, as they were numbered, is known no more."""
        self.strategies, self.sharing = {}, RoutineSharing()
        self._widths, self._led, self._owned, self._running = {}, {}, [], None

    def close(self) -> None:
        """Make everything valid on rank 0: the routine is over."""
        if self.repeats is not None:
            self.repeats.end()
        self._teach()
        self.resident_arrays.release_all()
        if self.checkpoints is not None:
            self.checkpoints.close()

    @property
    def figures(self) -> RoutineFigures:
        """What the routine did so far."""
        resident_arrays = self.resident_arrays
        return RoutineFigures(
            dict(self._runs),
            resident_arrays.fetches,
            resident_arrays.home_bytes,
            self.repeats.ahead.runs if self.repeats is not None else 0,
            tuple(record for owned in self._owned for record in owned.pass_records),
            tuple(
                SpeedFunctionPoints(
                    owned.leading_loop, owned.balancer.models.model.value, owned.balancer.points
                )
                for owned in self._owned
                if owned.balancer is not None
            ),
        )

    def first_strategy(self, loop: str, iterations: int) -> str | None:
        """The strategy to begin a run of a loop with, where one is known.

        What an earlier run has chosen stands. Runs too short to be looked at one by one are not balanced in
        themselves where shares are cut anew between runs.
        """
        owned, expected_s = self._led.get((loop, True)), self.sharing.together_s(loop, iterations)
        is_short = expected_s is not None and expected_s < _MIN_PASS_S
        if is_short and owned is not None and owned.balancer is not None:
            return STATIC
        return self.strategies.get(loop)

    def prepare(self, loop: LoopContext, arguments: Mapping[str, Any]) -> None:
        """Make valid on rank 0 what it reads before a loop, and the values that iterations contribute to."""
        if loop.costs != CostSpec():
            self.resident_arrays.ensure_valid(loop.costs)
        for name in loop.contributions.kinds:
            self.resident_arrays.ensure_valid(arguments[root_of(name)], writing=True)

    def fetch_for_root(
        self, loop: LoopContext, kernel: Callable[..., None], arguments: Mapping[str, Any], space: Space
    ) -> None:
        """Make valid on rank 0 everything that a loop touches which rank 0 runs alone."""
        self.resident_arrays.ensure_valid(kernel, writing=True)
        for name, value in arguments.items():
            spec = loop.table.specs.get(name)
            self.resident_arrays.ensure_valid(value, writing=spec is None or spec.stores)
        for part in space.parts:
            self.resident_arrays.ensure_valid(part.values, writing=True)

    def inspect_rows(self, fields: Sequence[Field]) -> None:
        """Make valid on rank 0 what the subscripts of inspected fields are read from."""
        for each in fields:
            if each.inspected:
                self.resident_arrays.ensure_valid((each.spec.rows, each.spec.writes))

    def admit(
        self,
        loop: LoopContext,
        kernel: Callable[..., None],
        arguments: Mapping[str, Any],
        fields: Sequence[Field],
    ) -> LoopResidents:
        """The arrays of a loop's fields that stay on the ranks; all others are made valid on rank 0."""
        if self.checkpoints is not None:
            return self.checkpoints.admit(loop, kernel, arguments, fields)
        return self.resident_arrays.admit(fields)

    def complete(self, packed: Packed, loop_residents: LoopResidents) -> bool:
        """Make valid on rank 0 all else that is sent; False if stale contents have been pickled."""
        for value in packed.slots:
            if value not in loop_residents:
                self.resident_arrays.ensure_valid(value)
        stale = [array for array in packed.arrays if self.resident_arrays.is_stale(array)]
        for array in stale:
            self.resident_arrays.ensure_valid(array)
        return not stale

    def deal(
        self,
        loop_history: LoopHistory,
        index: IndexMap,
        dealt: tuple[InitialPartition, Sequence[int]],
        loop_residents: LoopResidents,
        *,
        fixed: bool,
        weights: Sequence[float] = (),
    ) -> InitialPartition:
        """The shares of a run: those of earlier runs over the same rows, else as ``dealt``.

        ``dealt`` is a partition and the boundaries of its blocks; ``fixed``: shares are never cut anew.
        ``weights`` are the ranks' speeds where they are known. Where passes narrow, blocks lie by these.
        """
        deal, bounds = dealt
        by_rows = loop_residents.by_rows()
        blocks = bool(bounds)
        kept = [r.ownerships[axis, blocks] for r, axis in by_rows if (axis, blocks) in r.ownerships]
        if not kept and (led := self._led.get((loop_history.key, blocks))) is not None:
            kept.append(led)  # its arrays are new, or were given up in between
        order: tuple[int, ...] = ()
        if self._narrowing and weights and blocks:
            from dlbrt.partition.proportional import slowest_first

            order = slowest_first(weights)
        begun = loop_history, index, dealt, loop_residents, order
        found = kept[0] if kept else self._begin(*begun, fixed=fixed)
        move_s = self.unit_s(loop_residents)
        shares = found.shares(loop_history.key, index, deal.units, move_s)
        if shares is None:
            found = self._begin(*begun, fixed=fixed)
            shares = found.ownership.shares(index, deal.units) or deal.shares
        for resident, axis in by_rows:
            resident.ownerships[axis, blocks] = found
        self._led[loop_history.key, blocks] = found
        if all(each is not found for each in self._owned):
            self._owned.append(found)
        self._running = found, index, deal
        return InitialPartition(deal.units, shares, deal.work_table)

    def unit_s(self, loop_residents: LoopResidents) -> float:
        """About how long it takes to move the data of an iteration."""
        return loop_residents.iteration_bytes() * self._byte_s

    @property
    def running_ownership(self) -> IterationOwnership | None:
        """Who owns the iterations of the run under way, once it has been dealt; None where a pool deals."""
        return self._running[0] if self._running is not None else None

    def _begin(
        self,
        loop_history: LoopHistory,
        index: IndexMap,
        dealt: tuple[InitialPartition, Sequence[int]],
        loop_residents: LoopResidents,
        order: tuple[int, ...],
        *,
        fixed: bool,
    ) -> IterationOwnership:
        deal, bounds = dealt
        if not bounds or deal.work_table is not UNIFORM:
            # Speeds are functions of units alone: shares by the work of iterations stay as they are.
            owned: Ownership = (
                BlockOwnership.at(index, bounds) if bounds else DealtOwnership(index, deal.units, deal.shares)
            )
            return IterationOwnership(loop_history.key, owned, self._ranks)
        form = loop_residents.form()
        self._teach()
        balancer = self._balancer(loop_history.known_points(form))
        counts: Sequence[int] = [high - low for low, high in pairwise(bounds)]
        if any(points.units for points in balancer.points):
            counts = balancer.first(len(deal.units))
        counts = [counts[rank] for rank in order] if order else counts
        owned = BlockOwnership.at(index, tuple(accumulate(counts, initial=deal.units.first)), order)
        if fixed:
            return IterationOwnership(loop_history.key, owned, self._ranks)
        self._taught[loop_history.key] = loop_history, form
        return IterationOwnership(loop_history.key, owned, self._ranks, balancer, _MIN_PASS_S)

    def array_transfers(
        self, loop_residents: LoopResidents, deal: InitialPartition, reached: Set[int]
    ) -> tuple[ArrayTransfer, ...]:
        """The rows that ranks lack for their shares; arrays ``reached`` in other ways are sent whole."""
        if self.checkpoints is not None:
            self.checkpoints.begin(loop_residents, deal.units.first)
        held = [deal.units.positions(share) for share in deal.shares]
        found: list[ArrayTransfer] = []
        for key in loop_residents.residents:
            needs = [loop_residents.needs(key, positions, whole=key in reached) for positions in held]
            found += loop_residents.deliver(key, needs)
        return tuple(found)

    def ahead(
        self,
        loop: str,
        loop_residents: LoopResidents,
        deal: InitialPartition,
        array_transfers: Sequence[ArrayTransfer],
    ) -> tuple[InitialPartition, tuple[range, ...]]:
        """The partition with those iterations of each block first that need no rows still to come.

        These iterations of each rank are returned as well; an empty range where there are too few. Where no
        rows come these are all: what a rank only sends leaves it while it computes. But a broadcast may write
        to the memory of its source (MPI-4.0, section 6.12): to such rows nothing is stored before it is over.
        """
        tokens = {resident.token: key for key, resident in loop_residents.residents.items()}
        coming: list[list[tuple[int, Rows]]] = [[] for _ in deal.shares]
        for each in array_transfers:
            key, moved = tokens[each.number], each.row_transfer
            stored = any(field.spec.stores for field in loop_residents.fields[key])
            waiting = (moved.source,) if is_broadcast(each, self._ranks) and stored else ()
            for rank in (*moved.targets, *waiting):
                coming[rank].append((key, each.across[1] if each.across else moved.rows))
        found = [
            range(0) if deal.units.folded else self._inner(loop, loop_residents, share, tuple(rows))
            for share, rows in zip(deal.shares, coming, strict=True)
        ]
        shares = tuple(
            Spans((inner, *_around(share.runs[0], inner))) if inner else share
            for share, inner in zip(deal.shares, found, strict=True)
        )
        return InitialPartition(deal.units, shares, deal.work_table), tuple(found)

    def _inner(
        self, loop: str, loop_residents: LoopResidents, share: Spans, coming: tuple[tuple[int, Rows], ...]
    ) -> range:
        if len(share.runs) != 1 or share.runs[0].step != 1:
            return range(0)
        if not coming:
            return share.runs[0]
        names = tuple((loop_residents.fields[key][0].name, rows) for key, rows in coming)
        run, key = share.runs[0], (loop, share, names)
        if key not in self._widths:
            self._widths[key] = self._width(loop_residents, run, coming)
        width = self._widths[key]
        return run[width : len(run) - width] if width else range(0)

    def _width(self, loop_residents: LoopResidents, run: range, coming: tuple[tuple[int, Rows], ...]) -> int:
        """How many iterations at either end of a block need rows that have still to come; 0: too many."""
        width, touched = 1, loop_residents.touched
        while width <= len(run) // _INNER:
            inner = Spans.of(run[width : len(run) - width])
            if not any(intersection(touched(key, inner, whole=False), rows) for key, rows in coming):
                return width
            width *= 2
        return 0

    def evictions(
        self,
        loop_residents: LoopResidents,
        deal: InitialPartition,
        reached: Set[int],
        owned: IterationOwnership | None,
    ) -> tuple[Eviction, ...]:
        """The rows that ranks no longer need after shares were cut anew by ``owned``."""
        if owned is None or not owned.version:
            return ()
        found = []
        held = [deal.units.positions(share) for share in deal.shares]
        for key, resident in loop_residents.residents.items():
            is_owned = resident.ownerships.get((resident.axis, True)) is owned
            if is_owned and resident.version != owned.version:
                resident.version = owned.version
                kept = [loop_residents.touched(key, positions, whole=key in reached) for positions in held]
                found.append(Eviction(resident.token, resident.axis, tuple(resident.directory.evict(kept))))
        return tuple(found)

    def run_finished(self, loop: str, loop_residents: LoopResidents, results: Sequence[RankResult]) -> None:
        """Take in a run of a loop on all ranks that is over: the rows stored, and the speeds shown."""
        for key, resident in loop_residents.residents.items():
            resident.directory.stored(
                [loop_residents.stores(key, stored_by(result), result.figures.done) for result in results]
            )
        if self.checkpoints is not None:
            self.checkpoints.finished(loop, results)
        if self._running is not None:
            owned, index, deal = self._running
            done = [len(result.figures.done) for result in results]
            seconds = [result.figures.compute_s for result in results]
            self.count_run(loop, owned, (index, deal.units), done, seconds)
            self._running = None
        else:
            self._runs[loop] = self._runs.get(loop, 0) + 1

    def count_run(
        self,
        loop: str,
        owned: IterationOwnership,
        over: tuple[IndexMap, Units],
        done: Sequence[int],
        seconds: Sequence[float],
        runs: int = 1,
    ) -> None:
        """Count runs on all ranks: the iterations of each in one, and its computing time in all."""
        self._runs[loop] = self._runs.get(loop, 0) + runs
        owned.run_finished(loop, over, done, seconds, runs)
        if owned.balancer is not None and loop in self._taught:
            self._learned[loop] = *self._taught[loop], owned.balancer

    def _teach(self) -> None:
        """Have the loops' histories know the speeds that the ranks have shown."""
        for loop_history, form, balancer in self._learned.values():
            loop_history.points[form] = balancer.points
        self._learned = {}


def _around(run: range, inner: range) -> tuple[range, ...]:
    """The parts of a run below and above an inner part."""
    return tuple(part for part in (range(run.start, inner.start), range(inner.stop, run.stop)) if part)
