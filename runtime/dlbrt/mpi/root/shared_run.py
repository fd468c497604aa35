"""A loop on all ranks, as rank 0 leads it: called, scattered, gathered, replayed.

Law. Each iteration before the lowest that failed is done exactly once, and no element of what is gathered
gets two values. Both are checked after each run: a violation would be a wrong result.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dlbrt.balance.messages import NO_FAILURE
from dlbrt.data.field import Field
from dlbrt.data.spans import Spans, coverage_error, first_gap, left_out
from dlbrt.mpi.call import CalledOffError, LoopCall
from dlbrt.mpi.communicator import ANY, PACKED, RESULT, VERDICT, RanksLostError
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.output.live_output import ShownOutput
from dlbrt.mpi.output.run_journal import ElementGather, RunJournal, Segments, fetch
from dlbrt.mpi.output.standard_output import BYPASSED, HELD_BACK
from dlbrt.mpi.perform import RankResult, Remains, lost_result, make_driver, stored_by
from dlbrt.mpi.root.preparation import Preparation
from dlbrt.mpi.root.program_history import SharingFigures
from dlbrt.mpi.routines.loop_residents import PendingTransfers
from dlbrt.mpi.team import clock
from dlbrt.mpi.values.contents import Sending, shared_fields
from dlbrt.mpi.values.program_state import raise_signals
from dlbrt.mpi.walk import Walk
from dlbrt.mpi.watch import ContradictionError, Undo, Watch
from dlbrt.reductions.contributions import LoopContributions

if TYPE_CHECKING:
    from dlbrt.observe.recorder import Recorder
    from dlbrt.reductions.replay import ReplayFailure

_PAST_UNDOING = "iterations that rank 0 did out of order have been changed by it, and cannot be undone"
_ON_RANKS = "the arrays of the routine lie on other ranks, where the change cannot be undone"


class LostIterationError(RuntimeError):
    """A defect of the runtime: an iteration was lost or done twice, or an element got two values."""


class SharedRun:
    """A loop on all ranks, from the call on; ``driver`` and ``run_journal`` are rank 0's part in it.

    Rank 0 calls the other ranks, scatters, gathers, and replays the journals. ``watch`` looks at what the
    plan takes as unchanged, the one that rank 0 began with if there is one; ``contradiction`` is what some
    rank's has found. Positions before ``first`` are done. ``has_lost``: a rank has died, so only what rank 0
    has done counts. CalledOffError where a rank cannot read what it is sent, RanksLostError where one dies
    before the loop begins: then nothing has been done. ``called_off`` is the run that goes on as this one
    after a death: what rank 0 has done in it stands.
    """

    def __init__(
        self,
        prepared: Preparation,
        call: LoopCall,
        loop: LoopContext,
        recorder: Recorder | None,
        watch: Watch | None,
        first: int,
        called_off: SharedRun | None = None,
    ) -> None:
        root_runtime, payload = prepared.root_runtime, prepared.payload
        self._prepared = prepared
        self._array_transfers = call.array_transfers
        self._communicator = root_runtime.communicator
        self._loop_residents = payload.loop_residents
        self._objects = payload.objects
        self._segments: Segments = {}
        self._objects.fetch = functools.partial(fetch, root_runtime.communicator, self._segments)
        self._fields = shared_fields(payload.fields, payload.packed.slots, call.headers)
        root_runtime.send_call(call, payload.sent, payload.state)
        called = clock()
        sending = root_runtime.publisher.broadcast(payload.packed.slots, call.headers)
        if call.in_doubt:
            self._hear_whether_read()
            payload.was_read()
        residents = self._loop_residents.residents
        self.driver = make_driver(self._communicator, call, self._fields, self._objects, residents, recorder)
        self._bytes_scattered = self._bytes_gathered = 0
        self._scatter(loop.walk, call, sending)
        self._elements = ElementGather(self._communicator, self._fields, self._objects)
        self.contradiction: str | None = None
        self._loss: object = None  # of a rank; it leads to what messages under way may need
        self._contradicted_here = False
        self._live: ShownOutput | None = None
        if called_off is not None:
            self.run_journal: RunJournal = called_off.run_journal
            self._undo: Undo = called_off._undo
            figures, before = self.driver.figures, called_off.driver.figures
            figures.parts, figures.compute_s = before.parts, before.compute_s
            watch = called_off.watch
        else:
            self._undo = Undo(self._fields)
            self.run_journal = RunJournal(self._communicator, self._objects, call.output_properties)
            loop.contributions.share(self.run_journal.journal, payload.descriptions)
            loop.walk.measure(call.measured)
        self.watch: Watch | None = self._look(loop, watch) if call.watched else None
        if call.watched:
            loop.walk.before_stretch = self._keep
        if call.live:
            self._live = ShownOutput(self._communicator, call.serial, call.output_properties, first)
            self.driver.poll_output = self._live.poll
        if called_off is None:
            self.run_journal.open(loop.walk, watched=call.watched, live=self._live)
        self.driver.figures.begun_s = clock() - called

    @property
    def has_lost(self) -> bool:
        """Whether a rank has died while results were gathered, or before."""
        return self._loss is not None

    def _hear_whether_read(self) -> None:
        """Wait until all ranks have read what they were sent; CalledOffError if one could not."""
        others = range(1, self._communicator.ranks)
        errors = [bytes(self._communicator.wait_bytes(rank, VERDICT)[1]).decode() for rank in others]
        reason = next(filter(None, errors), "")
        answer = b"" if reason else b"go"
        self._communicator.complete([self._communicator.send_bytes(answer, rank, VERDICT) for rank in others])
        if reason:
            raise CalledOffError(f"what it uses cannot be read on other ranks ({reason})")

    def _look(self, loop: LoopContext, watch: Watch | None) -> Watch:
        """Rank 0's watch from now on: the one that it began with, if there is one."""
        dealt = self.driver.held(0)
        if watch is None:
            return self._prepared.watch(loop, dealt)
        watch.go_on(dealt)
        return watch

    @property
    def figures(self) -> SharingFigures:
        """How the strategy was chosen, and what the call brought to ranks."""
        rows = sum(each.row_transfer.carried for each in self._array_transfers)
        size = self._loop_residents.bytes_of(self._array_transfers)
        loading_s, sent, received = self.driver.loading_s, self._bytes_scattered, self._bytes_gathered
        return SharingFigures(self.driver.choice, rows, size, loading_s, sent, received)

    def gather(self, tried: Spans) -> list[RankResult]:
        """The results of the ranks above 0, in order; rows that they stored are brought to their places.

        If the plan is contradicted (`contradiction`), also by what rank 0 has ``tried``, nothing is brought,
        nor where a rank has died (`has_lost`): then no result of another rank counts.
        """
        mover = Mover(self._communicator, self._travelling, self._objects)
        try:
            if self.driver.has_lost:
                raise RanksLostError
            return self._gathered(mover, tried)
        except RanksLostError as error:
            self._loss = error, mover
            return self._lost_results(tried)

    def _lost_results(self, tried: Spans) -> list[RankResult]:
        """The results of the other ranks where one has died: none of them is to have any effect."""
        self._segments.clear()
        self._elements.forget_received()
        self._objects.close()
        if self.watch is not None:
            self.contradiction = self._contradicted_at_root(self.watch, tried)
        return [lost_result() for _ in range(1, self._communicator.ranks)]

    def _gathered(self, mover: Mover, tried: Spans) -> list[RankResult]:
        found: dict[int, RankResult] = {}
        while len(found) < self._communicator.ranks - 1:
            rank, message = self._communicator.until(self._poll_result)
            found[rank] = pickle.loads(message)
            if self._live is not None:
                self._live.end(rank, found[rank].forwarded)
            if self.watch is None:
                found[rank] = self._receive(found[rank], rank, mover)
        others = [found[rank] for rank in range(1, self._communicator.ranks)]
        if self.watch is not None:
            self.contradiction = self._contradicted(self.watch, tried, others)
            if self.contradiction is None:
                others = [self._receive(result, rank, mover) for rank, result in enumerate(others, 1)]
        mover.complete()
        self._bytes_gathered = mover.bytes_received
        return others

    def note_own(self, own: RankResult) -> None:
        """A rank has died: what rank 0 has done stands, of arrays that stay on the ranks too."""
        routine_state = self._prepared.routine_state
        if routine_state is not None and routine_state.checkpoints is not None:
            routine_state.checkpoints.has_stored(self._loop_residents, own)

    def note_fault(self) -> None:
        """The run has failed after all, since what it contributed could not be combined."""
        routine_state = self._prepared.routine_state
        if routine_state is not None and routine_state.checkpoints is not None:
            routine_state.checkpoints.take_after_failure()

    def redo(self) -> None:
        """Rank 0 does iterations of other ranks again."""
        if self._live is not None:
            self._live.redo()

    def left_out(self, own_failure: int | None, others: Sequence[RankResult]) -> Spans:
        """The iterations before the lowest that failed which no rank has done whose results have come."""
        own_end = NO_FAILURE if own_failure is None else own_failure
        end = min(len(self._prepared.space), own_end, _failed_at(others))
        return left_out(end, [self.driver.figures.done, *(each.figures.done for each in others)])

    def settle(self, results: Sequence[RankResult]) -> None:
        """Store the elements that ranks changed, and note what is done, once the results of all are there.

        LostIterationError if an iteration was not done once, or an element got two values.
        """
        if clash := self._elements.put():
            raise self._lost(clash)
        self._record_stores(results)
        end = min(_failed_at(results), len(self._prepared.space))
        if error := coverage_error(end, [result.figures.done.below(end) for result in results]):
            raise self._lost(error)

    def keep_prefix(
        self, own: RankResult, known: LoopContributions, reason: str
    ) -> tuple[RankResult, ReplayFailure | None]:
        """The plan is contradicted: rank 0's part without what lies after its first gap, replayed.

        ContradictionError where iterations after the gap cannot be undone.
        """
        done = own.figures.done
        end = first_gap(done)
        past_undoing = self._contradicted_here or self.contradiction == HELD_BACK
        if past_undoing and not self._undo.in_order:
            raise ContradictionError(f"{self._prepared.loop_history.source}: {reason}; {_PAST_UNDOING}")
        if len(done.below(end)) < len(done):
            if not self._undo.possible:
                raise ContradictionError(f"{self._prepared.loop_history.source}: {reason}; {_PAST_UNDOING}")
            self._undo.undo(end)
        if any(field.data in self._loop_residents for field in self._fields if field.spec.stores):
            raise ContradictionError(f"{self._prepared.loop_history.source}: {reason}; {_ON_RANKS}")
        failure = own.failure if own.failure is not None and own.failure.position == end else None
        kept = {
            name: tuple(e for e in entries if e[0] < end or failure) for name, entries in own.kept.items()
        }
        figures = replace(own.figures, parts=[range(end)] if end else [])
        own = replace(own, figures=figures, failure=failure, kept=kept)
        extents = [own.extents, *([()] * (self._communicator.ranks - 1))]
        last = end if failure is not None else end - 1
        return own, self.run_journal.replay(extents, known.kinds, known.values, last, self._objects.bring)

    def replay(self, known: LoopContributions, results: Sequence[RankResult]) -> ReplayFailure | None:
        """Combine what iterations contributed; the failure, if one failed there."""
        extents = [result.extents for result in results]
        end = min(_failed_at(results), len(self._prepared.space) - 1)
        bring, prefix = self._objects.bring, self._live.prefix if self._live is not None else None
        try:
            failure = self.run_journal.replay(extents, known.kinds, known.values, end, bring, prefix)
            self._objects.bring_missing()
            return failure
        finally:
            self.run_journal.release(extents, self._segments)
            if self._live is not None:
                self._live.close()

    def _poll_result(self) -> tuple[int, bytearray] | None:
        """The result of a rank, if one has come; what has come of output is shown meanwhile."""
        if self._live is not None:
            self._live.poll()
        return self._communicator.poll_bytes(ANY, RESULT)

    def _receive(self, result: RankResult, rank: int, mover: Mover) -> RankResult:
        """Start receiving what a rank has stored, if it could be sent; its whole result."""
        if result.withheld:
            return result
        mover.receive(result.figures.done, rank, stored_by(result))
        self._elements.receive(rank)
        remains: Remains = pickle.loads(self._communicator.wait_bytes(rank, PACKED)[1])
        self._objects.expect(rank, remains.returned)
        raise_signals(remains.signals)
        if remains.segments is not None:
            self._segments[rank] = remains.segments
        for entries in remains.kept.values():
            for _, value in entries:
                self._objects.arrived(value.data, rank)
        return replace(result, kept=remains.kept)

    def _contradicted(self, watch: Watch, tried: Spans, others: Sequence[RankResult]) -> str | None:
        """What the plan takes as unchanged and some rank has changed; all ranks hear whether it is so."""
        here = self._contradicted_at_root(watch, tried)
        found = here or next((each.contradiction for each in others if each.contradiction), None)
        verdict = b"" if found else b"kept"
        send = self._communicator.send_bytes
        ranks = range(1, self._communicator.ranks)
        self._communicator.complete([send(verdict, rank, VERDICT) for rank in ranks])
        return found

    def _contradicted_at_root(self, watch: Watch, tried: Spans) -> str | None:
        """The same of rank 0's part alone."""
        here = watch.contradiction(tried) or self.run_journal.bypassed
        self._contradicted_here = here not in (None, BYPASSED)
        return here

    def _keep(self, stretch: range) -> None:
        """Before rank 0 begins a stretch: keep what it changes, unless it continues the first iterations."""
        if first_gap(self.driver.figures.done) == stretch[0]:
            stretch = range(0) if stretch.step == 1 else stretch[1:]
        if stretch:
            self._undo.keep(stretch)

    @property
    def _travelling(self) -> list[Field]:
        """The fields whose rows are scattered and gathered: those that do not stay on the ranks."""
        return [field for field in self._fields if field.data not in self._loop_residents]

    def _scatter(self, walk: Walk, call: LoopCall, sending: Sending) -> None:
        """Send what others' iterations need; what is ``sending`` is on its way already.

        It goes on while rank 0 works: rank 0 stores to no element that another rank reads. Calls that are not
        seen might, until they are found out.
        """
        mover = Mover(self._communicator, self._travelling, self._objects)
        mover.watch(sending)
        whole = mover.bytes_sent
        for rank in range(1, self._communicator.ranks):
            mover.send(self.driver.held(rank), rank, Field.scattered)
        self._bytes_scattered = mover.bytes_sent - whole
        if call.watched:
            mover.complete()
        else:
            self.driver.scatter(mover)
        if transfers := self._array_transfers:
            delivery = PendingTransfers(self._communicator, transfers, self._loop_residents.arrays())
            # Within a kernel no death may be reported: rank 0 has its rows before, where ranks may die.
            waits = not call.ahead or self._communicator.tolerates_deaths
            walk.await_rows(delivery.receive(), range(0) if waits else call.ahead[0])

    def _record_stores(self, results: Sequence[RankResult]) -> None:
        """Tell the routine, if there is one, which rows were stored and which strategy was chosen."""
        key, routine_state = self._prepared.loop_history.key, self._prepared.routine_state
        if routine_state is not None:
            routine_state.run_finished(key, self._loop_residents, results)
            if self.driver.chosen:
                routine_state.strategies[key] = self.driver.strategy

    def _lost(self, error: str) -> LostIterationError:
        return LostIterationError(f"{self._prepared.loop_history.source}: {error}; please report this")


def _failed_at(results: Sequence[RankResult]) -> int:
    """The lowest position that failed; groups still at work may not have heard of a failure in another."""
    return min((r.failure.position for r in results if r.failure), default=NO_FAILURE)
