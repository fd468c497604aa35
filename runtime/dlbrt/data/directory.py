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

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TypeVar

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


T = TypeVar("T")

#: A routine goes through the same few states again and again; this many are remembered, of few runs of rows.
_MAX_STATES = 32
_MAX_RUNS = 64

#: The rows that are valid on each rank.
DirectoryState = tuple[Rows, ...]

#: A state, and the rows of each rank that are delivered or stored to.
_Change = tuple[DirectoryState, DirectoryState]


class RowDirectory:
    """The directory of one array of ``length`` rows, all of them valid on rank 0 alone at first."""

    def __init__(self, length: int, ranks: int) -> None:
        self._all: Rows = (range(length),) if length else ()
        self._valid: DirectoryState = (self._all, *([()] * (ranks - 1)))
        self._delivered: dict[_Change, tuple[DirectoryState, list[RowTransfer]]] = {}
        self._stored: dict[_Change, DirectoryState] = {}

    @property
    def state(self) -> DirectoryState:
        """What `go_to` takes."""
        return self._valid

    def go_to(self, state: DirectoryState) -> None:
        """Have the rows valid that are valid in a state: nothing is transferred, or what leads there is."""
        self._valid = state

    def valid(self, rank: int) -> Rows:
        """The rows that are valid on the rank."""
        return self._valid[rank]

    def missing(self, rank: int, rows: Rows) -> Rows:
        """The part of ``rows`` that is not valid on the rank."""
        return difference(rows, self._valid[rank])

    def deliver(self, needs: Sequence[Rows]) -> list[RowTransfer]:
        """The transfers that give each rank its rows of ``needs``, which are valid there from then on.

        All transfers may be under way at once. Rows that several ranks receive from one rank are one
        transfer, so that they can be broadcast.
        """
        if (self._valid, tuple(needs)) not in self._delivered and not any(
            map(difference, needs, self._valid)
        ):
            return []
        self._valid, found = self._known(self._delivered, needs, self._after_delivery)
        return found

    def _after_delivery(self, needs: Sequence[Rows]) -> tuple[DirectoryState, list[RowTransfer]]:
        targets: dict[tuple[int, Rows], list[int]] = {}
        for rank, rows in enumerate(needs):
            for source, part in self._sources(rank, self.missing(rank, rows)):
                targets.setdefault((source, part), []).append(rank)
        valid = tuple(union(*each) for each in zip(self._valid, needs, strict=True))
        return valid, [RowTransfer(source, tuple(ranks), rows) for (source, rows), ranks in targets.items()]

    def deliver_to(self, rank: int, rows: Rows) -> list[RowTransfer]:
        """The transfers that give one rank its ``rows``, which are valid there from then on."""
        missing = self.missing(rank, rows)
        if not missing:
            return []
        found = [RowTransfer(source, (rank,), part) for source, part in self._sources(rank, missing)]
        self._valid = (*self._valid[:rank], union(self._valid[rank], missing), *self._valid[rank + 1 :])
        return found

    def spread(self, row: int) -> tuple[int, tuple[int, ...]]:
        """A rank on which a row is valid, a worker where there is one, and the ranks on which it is not."""
        has = [any(row in run for run in rows) for rows in self._valid]
        source = len(has) - 1 - has[::-1].index(True)
        return source, tuple(rank for rank, found in enumerate(has) if not found)

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
        turned._valid = tuple(
            turned._all if whole else rows for whole, rows in zip(complete, wanted, strict=True)
        )
        return turned, found

    def stored(self, stores: Sequence[Rows]) -> None:
        """Each rank has stored to its rows of ``stores``, which are disjoint."""
        self._valid = self._known(self._stored, stores, self._after_stores)

    def _after_stores(self, stores: Sequence[Rows]) -> DirectoryState:
        nothing: Rows = ()
        changed = reduce(union, stores, nothing)
        if not changed:
            return self._valid
        return tuple(
            union(difference(valid, changed), own) for valid, own in zip(self._valid, stores, strict=True)
        )

    def stored_by(self, rank: int, rows: Rows) -> None:
        """The rank alone has stored to ``rows``, which are valid there."""
        self.stored([rows if each == rank else () for each in range(len(self._valid))])

    def evict(self, kept: Sequence[Rows]) -> list[Rows]:
        """Evict from each worker the rows, other than those ``kept``, that are valid elsewhere too.

        Returns the rows evicted from each rank. Rank 0, whose memory is the program's own, evicts nothing.
        """
        evicted: list[Rows] = [()]
        kept_still = list(self._valid)
        for rank in range(1, len(kept_still)):
            surplus = difference(kept_still[rank], kept[rank])
            found: Rows = ()
            for other, valid in enumerate(kept_still):
                if other != rank and surplus:
                    part = intersection(surplus, valid)
                    surplus, found = difference(surplus, part), union(found, part)
            kept_still[rank] = difference(kept_still[rank], found)
            evicted.append(found)
        self._valid = tuple(kept_still)
        return evicted

    def everything(self) -> Rows:
        """All rows."""
        return self._all

    def _known(
        self,
        known: dict[_Change, T],
        rows: Sequence[Rows],
        find: Callable[[Sequence[Rows]], T],
    ) -> T:
        """What ``find`` makes of the rows of each rank in the present state, remembered."""
        if sum(map(len, (*self._valid, *rows))) > _MAX_RUNS:
            return find(rows)
        key = self._valid, tuple(rows)
        if key not in known:
            if len(known) == _MAX_STATES:
                known.clear()
            known[key] = find(rows)
        return known[key]

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
