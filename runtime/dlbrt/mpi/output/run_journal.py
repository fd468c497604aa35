"""The journals of all ranks: kept where they are written, brought to rank 0 in order, and applied there.

While ranks share a loop, everything that iterations do besides storing to rows is logged in a journal on each
rank, standard output and records of the module logging too. What is written past ``sys.stdout`` contradicts
the plan where it is watched: rank 0 logs it, so that it keeps its own in order, and does the rest alone. At
the end rank 0 knows from the results which positions each segment spans. Short journals come with the
results. Of long ones rank 0 fetches the segments one after the other in iteration order, so that a rank holds
only the log that it wrote itself, and rank 0 a few segments more; then it releases the other ranks.

Arrays and lists that are gathered element by element have one message from each rank to rank 0 for each
field: the places and values that the rank has changed. Rank 0 stores them once all have come, after checking
that no element got two values.
"""

from __future__ import annotations

import contextlib
import io
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from dlbrt.data.field import Field
from dlbrt.data.twin import Diff, DiffMerge, Twin
from dlbrt.mpi.communicator import JOURNAL, PACKED, Communicator
from dlbrt.mpi.output.standard_output import HELD_BACK, DivertedOutput
from dlbrt.mpi.values.objects import SharedObjects, without_identity
from dlbrt.reductions.journal import (
    Extent,
    Journal,
    LiveOutput,
    NumericEntries,
    Segment,
    SegmentStore,
)
from dlbrt.reductions.kinds import ContributionKind
from dlbrt.reductions.log_records import divert_records
from dlbrt.reductions.output import OutputProperties
from dlbrt.reductions.replay import Replay, SegmentId, merged

if TYPE_CHECKING:
    from dlbrt.mpi.walk import Walk
    from dlbrt.reductions.output_prefix import OutputPrefix
    from dlbrt.reductions.replay import ReplayFailure


#: Bytes of its journal that a rank keeps in memory.
_IN_MEMORY = 64 << 20

#: Bytes of a journal that is sent unasked.
_SHORT = 1 << 16

#: The segments of journals that have come unasked, by rank.
Segments = dict[int, tuple[bytes, ...]]


class RunJournal:
    """One rank's journal in one shared run of a loop; from `open` to `close` it takes standard output.

    ``bypassed`` is, after `close`, how output has been written past ``sys.stdout``, if that was watched.
    """

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
        self.bypassed: str | None = None
        self._output: DivertedOutput | None = None
        self._restoring = contextlib.ExitStack()
        self._replay: Replay | None = None
        self._segments: list[Segment | None] = []
        self._segment_store = SegmentStore(_IN_MEMORY)
        self._unsent: BaseException | None = None
        self._is_sent = False

    def open(self, walk: Walk, *, watched: bool = False, live: LiveOutput | None = None) -> None:
        """Log standard output from here on; ``watched``: what is written past ``sys.stdout`` too.

        ``walk`` says which iteration is under way; ``live`` takes what is shown while the loop runs.
        """
        self.journal.live = live
        journal, ordinal = self.journal, walk.ordinal

        def log(entry: tuple[Any, ...]) -> None:
            place = ordinal()
            if place is not None:
                journal.note(place)
            journal.log.append(entry)

        if watched:
            walk.after_stretch = self._stretch_done
        self._output = DivertedOutput(log, self._about, watched=watched)
        divert_records(log, self._restoring)

    def close(self) -> None:
        """Restore standard output and complete the journal; may be called again."""
        output, self._output = self._output, None
        if output is not None:
            self._restoring.close()
            output.close()
            self.bypassed = self.bypassed or output.bypassed
            self.journal.end_run(range(0))
            self.journal.finish()

    def call_off(self) -> None:
        """Restore standard output, whatever the journal holds."""
        output, self._output = self._output, None
        if output is not None:
            self._restoring.close()
            output.close()

    def _stretch_done(self, stretch: range) -> None:
        """Log what iterations at these positions have written past ``sys.stdout`` after their last entry."""
        if stretch and self._output is not None:
            self.journal.note(len(stretch) - 1)
            if self._output.take() and stretch.step > 1 and len(stretch) > 1:
                self.bypassed = HELD_BACK

    def check(self) -> None:
        """Raise what kept a segment from being packed, if one was."""
        if self._unsent is not None:
            raise self._unsent

    def short(self) -> tuple[bytes, ...] | None:
        """All segments, which rank 0 need not ask for then; None if they are too long.

        A rank that may die keeps nothing for later.
        """
        if self._segment_store.size > _SHORT and not self._communicator.tolerates_deaths:
            return None
        self._is_sent = True
        return self._segment_store.take_all()

    def serve(self) -> None:
        """Send rank 0 the segments that it asks for, until it asks for no more."""
        if self._is_sent or not self.journal.extents:
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
        bring: Callable[[int, int], Any],
        prefix: OutputPrefix | None = None,
    ) -> ReplayFailure | None:
        """At rank 0: apply the journals of all ranks up to position ``end``; the failure, if there is one.

        ``bring`` returns the contents of a segment by its rank and number there. What is left of the output
        in ``prefix`` comes before what journals hold of the same iteration.
        """
        held, read = prefix.rest() if prefix is not None else ([], None)

        def found(place: SegmentId) -> Segment:
            rank = place.rank - 1
            if rank < 0:
                assert read is not None, "only a prefix has segments before those of rank 0"
                return read(place.number)
            return Segment(*bring(rank, place.number)) if rank else self._own(place.number)

        failure = prefix.failure if prefix is not None else None
        if failure is not None and failure.position <= end:
            end = failure.position - 1
            if kinds:
                names = ", ".join(kinds)
                failure.error.add_note(f"what its iteration contributed before it wrote is left out: {names}")
        replay = self._replay = Replay(kinds, values, sys.stdout or io.StringIO())
        faults = (replay.apply(segment) for segment in merged([held, *extents], found, end))
        return next(filter(None, faults), failure)

    def release(self, extents: Sequence[Sequence[Extent]], come: Segments) -> None:
        """At rank 0: no segment will be asked for any more, of ranks whose journals have not ``come``."""
        others = (rank for rank, known in enumerate(extents) if known and rank and rank not in come)
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
                self._segment_store.add(self._packed(segment))
            except BaseException as error:  # objects' own pickling hooks may raise anything
                self._unsent = error

    def _packed(self, segment: Segment) -> bytes:
        entries = segment.entries
        plain = isinstance(entries, NumericEntries) or _without_identity(entries)
        return self._objects.pack((segment.positions, segment.starts, entries), 0, plain=plain)

    def _own(self, number: int) -> Segment:
        segment, self._segments[number] = self._segments[number], None
        assert segment is not None
        return segment


def fetch(communicator: Communicator, come: Segments, rank: int, number: int) -> bytes | bytearray:
    """At rank 0: a segment of another rank's journal, whose first messages are its segments."""
    if rank in come:
        return come[rank][number]
    communicator.complete([communicator.send_bytes(number.to_bytes(8, "little"), rank, JOURNAL)])
    return communicator.wait_bytes(rank, JOURNAL)[1]


def _without_identity(entries: Sequence[tuple[Any, ...]]) -> bool:
    return without_identity(entries[:1]) and without_identity(entries)


class ElementGather:
    """The fields among ``fields`` that are gathered element by element, as they are before the loop."""

    def __init__(self, communicator: Communicator, fields: Sequence[Field], objects: SharedObjects) -> None:
        self._communicator = communicator
        self._objects = objects
        self._twins = [(field, Twin(field.data)) for field in fields if field.by_elements]
        self._received: list[tuple[int, list[bytearray]]] = []
        self._requests: list[MPI.Request] = []
        self._held: list[bytes] = []

    def pack(self) -> None:
        """Pack what this rank has changed; raises what the pickling hooks of elements raise."""
        for field, twin in self._twins:
            diff = twin.diff()
            if isinstance(field.data, list):
                self._held.append(self._objects.pack((diff.places, diff.values), 0))
            else:
                self._held.append(diff.encode())

    def send(self) -> None:
        """Start sending what was packed to rank 0."""
        self._requests += [self._communicator.send_bytes(packed, 0, PACKED) for packed in self._held]

    def sent(self) -> None:
        """Wait until everything has been sent."""
        self._communicator.complete(self._requests)

    def receive(self, rank: int) -> None:
        """Receive the changes of a rank, without storing them yet."""
        messages = [self._communicator.wait_bytes(rank, PACKED)[1] for _ in self._twins]
        for (field, _), message in zip(self._twins, messages, strict=True):
            if isinstance(field.data, list):
                self._objects.arrived(message, rank)
        self._received.append((rank, messages))

    def forget_received(self) -> None:
        """Ranks have died: what others have sent is not to be stored."""
        self._received = []

    def put(self) -> str | None:
        """Store all changes; a sentence instead, if two ranks gave one element different values."""
        changes = [
            (field, [(rank, self._diff(field, messages[number], rank)) for rank, messages in self._received])
            for number, (field, _) in enumerate(self._twins)
        ]
        for (field, diffs), (_, twin) in zip(changes, self._twins, strict=True):
            claims = DiffMerge(field.data)
            for rank, diff in (*diffs, (0, twin.diff())):
                claims.add(rank, diff)
            if found := claims.conflict():
                place, ranks = found
                first, second = sorted(ranks)
                return f"ranks {first} and {second} gave different values to element {place} of {field.name}"
        for field, diffs in changes:
            for _, diff in diffs:
                diff.put(field.data)
        return None

    def _diff(self, field: Field, message: bytearray, rank: int) -> Diff:
        if isinstance(field.data, list):
            return Diff(*self._objects.unpack(message, rank))
        return Diff.decode(message, field.data)
