"""What a routine keeps from one run of a loop to the next: its arrays on the ranks, and who owns which rows.

One run of a loop asks, in this order: what it looks at before it is dealt (`see`), which of its arrays stay
(`take`), which shares it has (`deal`), what ranks lack of them (`parcels`); and tells what was done (`ran`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import accumulate
from typing import Any

from dlbrt.core.partition.ownership import Cuts, Dealt, Ownership
from dlbrt.core.speed import PassBalancer, Points
from dlbrt.core.tenure import Tenure
from dlbrt.dist.amounts import UNIFORM
from dlbrt.dist.deal import Deal
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import IndexMap, Rows, intersection
from dlbrt.dist.space import Space
from dlbrt.dist.spans import Spans
from dlbrt.mpi.conductor import Conductor
from dlbrt.mpi.ledger import Notes
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.packing import Packed
from dlbrt.mpi.parcels import Parcel, Spare
from dlbrt.mpi.perform import Result, stored_by
from dlbrt.mpi.residence import Residence
from dlbrt.mpi.residents import Staying
from dlbrt.observe.statistics import RoutineFigures

__all__ = ["Stay"]

#: Passes that take less are looked at together, in seconds: looking takes some tenths of a millisecond.
_LEAST_S = 0.02

#: The part of a block that may need rows which have still to come, at either end: one in so many.
_INNER = 4


class Stay:
    """The memory of one routine; ``balancer`` makes what cuts shares anew from pass to pass.

    It is given the points of each rank that are known from before, if any are.
    """

    def __init__(self, conductor: Conductor, balancer: Callable[[Sequence[Points]], PassBalancer]) -> None:
        self.residence = Residence(conductor)
        self._runs: dict[str, int] = {}
        self._chosen: dict[str, str] = {}
        self._widths: dict[tuple[str, Spans, tuple[tuple[str, Rows], ...]], int] = {}
        self._taught: dict[str, tuple[Notes, str]] = {}
        self._led: dict[tuple[str, bool], Tenure] = {}
        self._ranks = conductor.wire.ranks
        self._byte_s = 1 / conductor.network.bandwidth
        self._balancer = balancer
        self._running: tuple[Tenure, IndexMap, Deal] | None = None

    @property
    def figures(self) -> RoutineFigures:
        """What the routine did so far."""
        residence = self.residence
        return RoutineFigures(dict(self._runs), residence.fetches, residence.home_bytes)

    def strategy(self, loop: str) -> str | None:
        """What was chosen for a loop at an earlier run, which need not be asked again."""
        return self._chosen.get(loop)

    def chose(self, loop: str, strategy: str) -> None:
        """A strategy was chosen for a loop."""
        self._chosen[loop] = strategy

    def see(self, value: object) -> None:
        """Make valid on rank 0 what a value reaches, functions by the names in their code."""
        self.residence.see(value)

    def prepare(self, loop: Loop, arguments: Mapping[str, Any]) -> None:
        """Bring home what rank 0 looks at before a loop, and what iterations contribute to."""
        self.see(loop.costs)
        for name in loop.contributions.kinds:
            self.residence.see(arguments[name], writing=True)

    def bring(
        self, loop: Loop, kernel: Callable[..., None], arguments: Mapping[str, Any], space: Space
    ) -> None:
        """Bring home all that a loop touches, which rank 0 runs alone."""
        self.residence.see(kernel, writing=True)
        for name, value in arguments.items():
            spec = loop.table.specs.get(name)
            self.residence.see(value, writing=spec is None or spec.stores)
        for part in space.parts:
            self.residence.see(part.values, writing=True)

    def take(self, fields: Sequence[Field]) -> Staying:
        """The arrays of a loop that stay where they are; the others among its fields come home."""
        return self.residence.take(fields)

    def look(self, fields: Sequence[Field]) -> None:
        """Bring home what the subscripts of some fields are read from."""
        for each in fields:
            if each.inspected:
                self.see((each.spec.rows, each.spec.writes))

    def complete(self, packed: Packed, staying: Staying) -> bool:
        """Bring home what else goes to the ranks; False if some of it was pickled as it was before."""
        for value in packed.slots:
            if value not in staying:
                self.see(value)
        stale = [array for array in packed.arrays if self.residence.is_stale(array)]
        for array in stale:
            self.see(array)
        return not stale

    def deal(
        self,
        notes: Notes,
        index: IndexMap,
        dealt: tuple[Deal, Sequence[int]],
        staying: Staying,
        *,
        fixed: bool,
    ) -> Deal:
        """The shares of a run: those of earlier runs over the same rows, else as it is ``dealt``.

        ``dealt`` has the boundaries of blocks as well; ``fixed``: shares are never cut anew.
        """
        deal, bounds = dealt
        by_rows = staying.by_rows()
        blocks = bool(bounds)
        kept = [r.tenures[axis, blocks] for r, axis in by_rows if (axis, blocks) in r.tenures]
        if not kept and (led := self._led.get((notes.key, blocks))) is not None:
            kept.append(led)  # its arrays are new, or were given up in between
        found = kept[0] if kept else self._begin(notes, index, dealt, staying, fixed=fixed)
        shares = found.shares(notes.key, index, deal.units, staying.iteration_bytes() * self._byte_s)
        if shares is None:
            found, shares = self._begin(notes, index, dealt, staying, fixed=fixed), deal.shares
        for resident, axis in by_rows:
            resident.tenures[axis, blocks] = found
        self._led[notes.key, blocks] = found
        self._running = found, index, deal
        return Deal(deal.units, shares, deal.amounts)

    def _begin(
        self,
        notes: Notes,
        index: IndexMap,
        dealt: tuple[Deal, Sequence[int]],
        staying: Staying,
        *,
        fixed: bool,
    ) -> Tenure:
        deal, bounds = dealt
        if not bounds or deal.amounts is not UNIFORM:
            # Speeds are told by units alone: of others, shares stay as their work says.
            owned: Ownership = Cuts.at(index, bounds) if bounds else Dealt(index, deal.units, deal.shares)
            return Tenure(notes.key, owned, self._ranks)
        form = staying.form()
        balancer = self._balancer(notes.known_points(form))
        if any(points.units for points in balancer.points):
            counts = balancer.first(len(deal.units))
            bounds = tuple(accumulate(counts, initial=deal.units.first))
        if fixed:
            return Tenure(notes.key, Cuts.at(index, bounds), self._ranks)
        self._taught[notes.key] = notes, form
        return Tenure(notes.key, Cuts.at(index, bounds), self._ranks, balancer, _LEAST_S)

    def parcels(self, staying: Staying, deal: Deal, reached: Set[int]) -> tuple[Parcel, ...]:
        """The rows that ranks lack for what they are dealt; arrays ``reached`` otherwise go whole."""
        held = [deal.units.positions(share) for share in deal.shares]
        return tuple(
            parcel
            for key in staying.residents
            for parcel in staying.deliver(
                key, [staying.needs(key, positions, whole=key in reached) for positions in held]
            )
        )

    def ahead(
        self, loop: str, staying: Staying, deal: Deal, parcels: Sequence[Parcel]
    ) -> tuple[Deal, tuple[range, ...]]:
        """The deal with that first, in each rank's block, which needs no rows that have still to come.

        Those iterations are told as well, nothing where there are too few.
        """
        tokens = {resident.token: key for key, resident in staying.residents.items()}
        coming: list[list[tuple[int, Rows]]] = [[] for _ in deal.shares]
        for parcel in parcels:
            for target in parcel.shipment.targets:
                rows = parcel.across[1] if parcel.across else parcel.shipment.rows
                coming[target].append((tokens[parcel.number], rows))
        found = [
            self._inner(loop, staying, share, tuple(rows)) if rows and not deal.units.folded else range(0)
            for share, rows in zip(deal.shares, coming, strict=True)
        ]
        shares = tuple(
            Spans((inner, *_around(share.runs[0], inner))) if inner else share
            for share, inner in zip(deal.shares, found, strict=True)
        )
        return Deal(deal.units, shares, deal.amounts), tuple(found)

    def _inner(
        self, loop: str, staying: Staying, share: Spans, coming: tuple[tuple[int, Rows], ...]
    ) -> range:
        if len(share.runs) != 1 or share.runs[0].step != 1:
            return range(0)
        names = tuple((staying.fields[key][0].name, rows) for key, rows in coming)
        run, key = share.runs[0], (loop, share, names)
        if key not in self._widths:
            self._widths[key] = self._width(staying, run, coming)
        width = self._widths[key]
        return run[width : len(run) - width] if width else range(0)

    def _width(self, staying: Staying, run: range, coming: tuple[tuple[int, Rows], ...]) -> int:
        """How many iterations at either end of a block need rows that have still to come; 0: too many."""
        width = 1
        while width <= len(run) // _INNER:
            inner = Spans.of(run[width : len(run) - width])
            if not any(intersection(staying.touched(key, inner, whole=False), rows) for key, rows in coming):
                return width
            width *= 2
        return 0

    def spared(self, staying: Staying, deal: Deal, reached: Set[int]) -> tuple[Spare, ...]:
        """The rows that ranks need no longer, after shares were cut anew."""
        if self._running is None or not self._running[0].version:
            return ()
        tenure, found = self._running[0], []
        held = [deal.units.positions(share) for share in deal.shares]
        for key, resident in staying.residents.items():
            if resident.version != tenure.version and resident.tenures.get((resident.axis, True)) is tenure:
                resident.version = tenure.version
                kept = [staying.touched(key, positions, whole=key in reached) for positions in held]
                found.append(Spare(resident.token, resident.axis, tuple(resident.holdings.spare(kept))))
        return tuple(found)

    def ran(self, loop: str, staying: Staying, results: Sequence[Result]) -> None:
        """A run of a loop on all ranks is over."""
        self._runs[loop] = self._runs.get(loop, 0) + 1
        for key, resident in staying.residents.items():
            resident.holdings.stored(
                [staying.stores(key, stored_by(result), result.figures.done) for result in results]
            )
        if self._running is not None:
            tenure, index, deal = self._running
            done = [len(result.figures.done) for result in results]
            seconds = [result.figures.compute_s for result in results]
            tenure.ran(loop, (index, deal.units), done, seconds)
            if tenure.balancer is not None and loop in self._taught:
                notes, form = self._taught[loop]
                notes.points[form] = tenure.balancer.points
            self._running = None


def _around(run: range, inner: range) -> tuple[range, ...]:
    """What of a run lies below and above an inner part."""
    return tuple(part for part in (range(run.start, inner.start), range(inner.stop, run.stop)) if part)
