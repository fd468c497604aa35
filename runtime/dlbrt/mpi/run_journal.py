"""The journals of all ranks: kept where they are written, brought to rank 0 in order, and applied there.

While ranks share a loop, everything that iterations do besides storing to rows is logged in a journal on each
rank, standard output too. At the end rank 0 knows from the results which positions each segment spans. It
fetches the segments one after the other in iteration order, so that a rank holds only the log that it wrote
itself, and rank 0 a few segments more; then it releases the other ranks.

Arrays and lists that are gathered element by element have one message from each rank to rank 0 for each
field: the places and values that the rank has changed. Rank 0 stores them once all have come, after checking
that no element got two values.
"""

from __future__ import annotations

import io
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from dlbrt.data.field import Field
from dlbrt.data.twin import Diff, DiffMerge, Twin
from dlbrt.mpi.communicator import DATA, JOURNAL, Communicator
from dlbrt.mpi.values.objects import SharedObjects
from dlbrt.reductions.journal import Extent, Journal, Segment, SegmentStore
from dlbrt.reductions.kinds import ContributionKind
from dlbrt.reductions.output import Output, OutputProperties
from dlbrt.reductions.replay import Replay, SegmentId, merged

if TYPE_CHECKING:
    from dlbrt.reductions.replay import ReplayFailure


#: Bytes of its journal that a rank keeps in memory.
_IN_MEMORY = 64 << 20


class RunJournal:
    """One rank's journal in one shared run of a loop; from `open` to `close` it takes standard output."""

    def __init__(self, communicator: Communicator, objects: SharedObjects, about: OutputProperties) -> None:
        owner = weakref.ref(self)  # a reference cycle would keep the program's arrays alive

        def keep(segment: Segment) -> None:
            run_journal = owner()
            assert run_journal is not None, "the journal lives no longer than its owner"
            run_journal._keep(segment)

        self.journal = Journal(keep)
        self._communicator = communicator
        self._objects = objects
        self._about = about
        self._real: Any = None
        self._is_open = False
        self._replay: Replay | None = None
        self._segments: list[Segment | None] = []
        self._segment_store = SegmentStore(_IN_MEMORY)
        self._unsent: Exception | None = None

    def open(self, ordinal: Callable[[], int | None]) -> None:
        """Log standard output from here on.

        ``ordinal`` returns which iteration of the run under way it comes from, None between iterations.
        """
        journal = self.journal

        def log(entry: tuple[Any, ...]) -> None:
            place = ordinal()
            if place is not None:
                journal.note(place)
            journal.log.append(entry)

        self._real, self._is_open = sys.stdout, True
        sys.stdout = Output(log, self._real, self._about)

    def close(self) -> None:
        """Restore standard output and complete the journal; may be called again."""
        if self._is_open:
            self._is_open = False
            sys.stdout = self._real
            self.journal.end_run(range(0))
            self.journal.finish()

    def check(self) -> None:
        """Raise what kept a segment from being packed, if one was."""
        if self._unsent is not None:
            raise self._unsent

    def serve(self) -> None:
        """Send rank 0 the segments that it asks for, until it asks for no more."""
        if not self.journal.extents:
            return
        while request := self._communicator.wait_bytes(0, JOURNAL)[1]:
            data = self._segment_store.take(int.from_bytes(request, "little"))
            self._communicator.complete([self._communicator.send_bytes(data, 0, JOURNAL)])
        self._segment_store.close()

    def replay(
        self,
        extents: Sequence[Sequence[Extent]],
        kinds: dict[str, ContributionKind],
        values: dict[str, Any],
        end: int,
    ) -> ReplayFailure | None:
        """At rank 0: apply the journals of all ranks up to position ``end``; the failure, if there is one."""
        replay = self._replay = Replay(kinds, values, sys.stdout or io.StringIO())
        try:
            faults = (replay.apply(segment) for segment in merged(extents, self._fetch, end))
            return next(filter(None, faults), None)
        finally:
            others = (rank for rank, known in enumerate(extents) if known and rank)
            send = self._communicator.send_bytes
            self._communicator.complete([send(b"", rank, JOURNAL) for rank in others])

    def doubt(self, failed_at: int) -> str:
        """After `replay`: why the sequential program may not have failed there, or an empty string."""
        doubts = self._replay.doubts(failed_at) if self._replay is not None else []
        if not doubts:
            return ""
        names = ", ".join(doubts)
        return f"the sequential program may have passed this over, by what earlier iterations left in {names}"

    def _keep(self, segment: Segment) -> None:
        """Keep a segment: rank 0 the objects themselves, the other ranks the bytes that they will send."""
        if self._communicator.rank == 0:
            self._segments.append(segment)
        else:
            try:
                parts = (segment.positions, segment.starts, segment.entries)
                self._segment_store.add(self._objects.dumps(parts, back=True))
            except Exception as error:  # objects' own pickling hooks may raise anything
                self._unsent = error

    def _fetch(self, place: SegmentId) -> Segment:
        if place.rank == 0:
            segment, self._segments[place.number] = self._segments[place.number], None
            assert segment is not None
            return segment
        request = place.number.to_bytes(8, "little")
        self._communicator.complete([self._communicator.send_bytes(request, place.rank, JOURNAL)])
        return Segment(*self._objects.loads(self._communicator.wait_bytes(place.rank, JOURNAL)[1]))


class ElementGather:
    """The fields among ``fields`` that are gathered element by element, as they are before the loop."""

    def __init__(self, communicator: Communicator, fields: Sequence[Field], objects: SharedObjects) -> None:
        self._communicator = communicator
        self._objects = objects
        self._twins = [(field, Twin(field.data)) for field in fields if field.by_elements]
        self._claims = [DiffMerge(field.data) for field, _ in self._twins]
        self._received: list[tuple[Field, Diff]] = []
        self._requests: list[MPI.Request] = []
        self._held: list[bytes] = []

    def pack(self) -> None:
        """Pack what this rank has changed; raises what the pickling hooks of elements raise."""
        for field, twin in self._twins:
            diff = twin.diff()
            if isinstance(field.data, list):
                self._held.append(self._objects.dumps((diff.places, diff.values), back=True))
            else:
                self._held.append(diff.encode())

    def send(self) -> None:
        """Start sending what was packed to rank 0."""
        self._requests += [self._communicator.send_bytes(packed, 0, DATA) for packed in self._held]

    def sent(self) -> None:
        """Wait until everything has been sent."""
        self._communicator.complete(self._requests)

    def receive(self, rank: int) -> None:
        """Receive the changes of a rank, without storing them yet."""
        for (field, _), claims in zip(self._twins, self._claims, strict=True):
            message = self._communicator.wait_bytes(rank, DATA)[1]
            if isinstance(field.data, list):
                diff = Diff(*self._objects.loads(message))
            else:
                diff = Diff.decode(message, field.data)
            claims.add(rank, diff)
            self._received.append((field, diff))

    def put(self) -> str | None:
        """Store all changes; a sentence instead, if two ranks gave one element different values."""
        for (field, twin), claims in zip(self._twins, self._claims, strict=True):
            claims.add(0, twin.diff())
            if found := claims.conflict():
                place, ranks = found
                first, second = sorted(ranks)
                return f"ranks {first} and {second} gave different values to element {place} of {field.name}"
        for field, diff in self._received:
            diff.put(field.data)
        return None
