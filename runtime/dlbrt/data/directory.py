"""Which rows of an array are valid where: the directory of an array that stays on the ranks.

A row may be valid on several ranks; at least one has it. The laws, from which coherence follows:

* before a loop every rank gets the rows that it needs and lacks (`RowDirectory.deliver`), from a rank on which they
  are valid, and they are valid on both from then on;
* after it a row that was stored to is valid where it was stored, and nowhere else (`RowDirectory.stored`).

Halos, the broadcast of a row that all read, the gathering of a vector on all ranks, the first distribution and
any later one are deliveries that differ in what ranks need and lack. Nothing is sent that has not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from dlbrt.data.footprint import Rows, count, difference, intersection, union
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class RowTransfer:
    """``rows`` that the rank ``source`` has go to the ranks ``targets``."""

    source: int
    targets: tuple[int, ...]
    rows: Rows

    @property
    def carried(self) -> int:
        """Rows that arrive, each counted at each target."""
        return count(self.rows) * len(self.targets)


class RowDirectory:
    """The directory of one array of ``length`` rows; in the beginning all are valid on rank 0 alone."""

    def __init__(self, length: int, ranks: int) -> None:
        self._all: Rows = (range(length),) if length else ()
        self._valid: list[Rows] = [self._all, *([()] * (ranks - 1))]

    def missing(self, rank: int, rows: Rows) -> Rows:
        """Those of ``rows`` that are not valid on the rank."""
        return difference(rows, self._valid[rank])

    def deliver(self, needs: Sequence[Rows]) -> list[RowTransfer]:
        """What has to travel so that each rank has the rows it needs, which are then valid there.

        ``needs`` has the rows of each rank. All shipments may be under way at once: none waits for another.
        Rows that several ranks get from one go together, so that they can be broadcast.
        """
        targets: dict[tuple[int, Rows], list[int]] = {}
        for rank, rows in enumerate(needs):
            for source, part in self._sources(rank, self.missing(rank, rows)):
                targets.setdefault((source, part), []).append(rank)
        for rank, rows in enumerate(needs):
            self._valid[rank] = union(self._valid[rank], rows)
        return [RowTransfer(source, tuple(ranks), rows) for (source, rows), ranks in targets.items()]

    def change_axis(
        self, length: int, needs: Sequence[Rows]
    ) -> tuple[RowDirectory, list[tuple[RowTransfer, Rows]]]:
        """The directory of the same array along another dimension, ``length`` long, and what has to travel.

        ``needs`` has the rows of each rank along that one. A shipment is of rows along the old dimension, and of
        each no more than the places given along the new one. What nobody needs goes to rank 0.
        """
        turned = RowDirectory(length, len(needs))
        nothing: Rows = ()
        unclaimed = difference(turned._all, reduce(union, needs, nothing))
        wanted = [union(needs[0], unclaimed), *needs[1:]]
        found = [
            (RowTransfer(source, (rank,), part), across)
            for rank, across in enumerate(wanted)
            if across
            for source, part in self._sources(rank, self.missing(rank, self._all))
        ]
        complete = [not self.missing(rank, self._all) for rank in range(len(needs))]
        turned._valid = [turned._all if whole else rows for whole, rows in zip(complete, wanted, strict=True)]
        return turned, found

    def stored(self, stores: Sequence[Rows]) -> None:
        """The rows ``stores`` of each rank have been stored to there, no row on two ranks."""
        nothing: Rows = ()
        changed = reduce(union, stores, nothing)
        if changed:
            self._valid = [
                union(difference(valid, changed), own) for valid, own in zip(self._valid, stores, strict=True)
            ]

    def stored_by(self, rank: int, rows: Rows) -> None:
        """One rank has stored to ``rows``, which it has."""
        self.stored([rows if each == rank else () for each in range(len(self._valid))])

    def evict(self, kept: Sequence[Rows]) -> list[Rows]:
        """Of each worker the rows, beside those ``kept``, that others have too; they are given up there.

        Rank 0, whose memory is the program's own, gives up nothing.
        """
        given: list[Rows] = [()]
        for rank in range(1, len(self._valid)):
            surplus = difference(self._valid[rank], kept[rank])
            found: Rows = ()
            for other, valid in enumerate(self._valid):
                if other != rank and surplus:
                    part = intersection(surplus, valid)
                    surplus, found = difference(surplus, part), union(found, part)
            self._valid[rank] = difference(self._valid[rank], found)
            given.append(found)
        return given

    def everything(self) -> Rows:
        """All rows."""
        return self._all

    def _sources(self, rank: int, missing: Rows) -> Iterable[tuple[int, Rows]]:
        """Who has the missing rows: workers first, the nearest ones, since rank 0 has most to do."""
        others = sorted(
            (other for other in range(len(self._valid)) if other != rank),
            key=lambda other: (other == 0, abs(other - rank)),
        )
        for other in others:
            if not missing:
                return
            if part := intersection(missing, self._valid[other]):
                missing = difference(missing, part)
                yield other, part
        if missing:
            raise AssertionError(f"rows {missing} are valid on no rank")
