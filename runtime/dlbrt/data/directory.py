"""The directory of a resident array: which of its rows are valid on which rank.

This is directory-based coherence, as in distributed shared memory. A row may be valid on several ranks, and
is valid on at least one. Coherence follows from two laws:

* Before a loop every rank receives the rows that it needs and lacks from a rank on which they are valid; from
  then on they are valid on both (`RowDirectory.deliver`).
* After the loop a row that was stored to is valid there and nowhere else (`RowDirectory.stored`).

Halo exchange, broadcasting a row that all ranks read, gathering a vector on all ranks, and every distribution
are deliveries; they differ only in what ranks need and lack. Rows that have not changed are not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from dlbrt.data.footprint import Rows, count, difference, intersection, union
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class RowTransfer:
    """``rows`` that go from the rank ``source`` to the ranks ``targets``."""

    source: int
    targets: tuple[int, ...]
    rows: Rows

    @property
    def carried(self) -> int:
        """The number of rows that arrive, over all targets."""
        return count(self.rows) * len(self.targets)


class RowDirectory:
    """The directory of one array of ``length`` rows, all of them valid on rank 0 alone at first."""

    def __init__(self, length: int, ranks: int) -> None:
        self._all: Rows = (range(length),) if length else ()
        self._valid: list[Rows] = [self._all, *([()] * (ranks - 1))]

    def missing(self, rank: int, rows: Rows) -> Rows:
        """The part of ``rows`` that is not valid on the rank."""
        return difference(rows, self._valid[rank])

    def deliver(self, needs: Sequence[Rows]) -> list[RowTransfer]:
        """The transfers that give each rank its rows of ``needs``, which are valid there from then on.

        All transfers may be under way at once. Rows that several ranks receive from one rank are one
        transfer, so that they can be broadcast.
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
        """The directory of the same array along another dimension of that length, and the transfers.

        ``needs`` are each rank's rows along the new dimension; rows that no rank needs go to rank 0. A
        transfer is of rows along the old dimension, restricted to the given rows along the new one.
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
        """Each rank has stored to its rows of ``stores``, which are disjoint."""
        nothing: Rows = ()
        changed = reduce(union, stores, nothing)
        if changed:
            self._valid = [
                union(difference(valid, changed), own) for valid, own in zip(self._valid, stores, strict=True)
            ]

    def stored_by(self, rank: int, rows: Rows) -> None:
        """The rank alone has stored to ``rows``, which are valid there."""
        self.stored([rows if each == rank else () for each in range(len(self._valid))])

    def evict(self, kept: Sequence[Rows]) -> list[Rows]:
        """Evict from each worker the rows, other than those ``kept``, that are valid elsewhere too.

        Returns the rows evicted from each rank. Rank 0, whose memory is the program's own, evicts nothing.
        """
        evicted: list[Rows] = [()]
        for rank in range(1, len(self._valid)):
            surplus = difference(self._valid[rank], kept[rank])
            found: Rows = ()
            for other, valid in enumerate(self._valid):
                if other != rank and surplus:
                    part = intersection(surplus, valid)
                    surplus, found = difference(surplus, part), union(found, part)
            self._valid[rank] = difference(self._valid[rank], found)
            evicted.append(found)
        return evicted

    def everything(self) -> Rows:
        """All rows."""
        return self._all

    def _sources(self, rank: int, missing: Rows) -> Iterable[tuple[int, Rows]]:
        """The ranks that have the missing rows: the nearest workers first, since rank 0 has most to do."""
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
