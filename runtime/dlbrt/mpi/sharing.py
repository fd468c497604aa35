"""A loop that all ranks run, as rank 0 leads it: it calls them, scatters, gathers, and replays the journals.

Law. Each iteration before the lowest that failed was done exactly once, and no element of what is gathered
was given two values. Both are looked at after each run: what is wrong here would be a wrong result.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dlbrt.core.profile import NO_FAILURE
from dlbrt.dist.field import Field
from dlbrt.dist.spans import coverage_error
from dlbrt.effects.contributions import LoopContributions
from dlbrt.mpi.call import LoopCall
from dlbrt.mpi.contents import shared_fields
from dlbrt.mpi.elements import ElementGather
from dlbrt.mpi.logbook import RunJournal
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.parcels import PendingTransfers
from dlbrt.mpi.perform import RankResult, make_driver, stored_by
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.task import Task
from dlbrt.mpi.walk import Walk
from dlbrt.mpi.wire import ANY, RESULT

if TYPE_CHECKING:
    from dlbrt.effects.replay import ReplayFailure
    from dlbrt.observe.recorder import Recorder

__all__ = ["LostIterationError", "SharedRun"]


class LostIterationError(RuntimeError):
    """An iteration was lost or executed twice, or two stored to one element: a defect of the runtime."""


class SharedRun:
    """One such run, from the ``call`` on; ``driver`` are the ranks that run it, as this one sees them."""

    def __init__(
        self, task: Task, prepared: Preparation, call: LoopCall, loop: LoopContext, recorder: Recorder | None
    ) -> None:
        self.array_transfers = call.array_transfers
        self._task = task
        self._communicator = task.root_runtime.communicator
        self._loop_residents = prepared.loop_residents
        self._objects = prepared.objects
        self._fields = shared_fields(prepared.fields, prepared.packed.slots, call.headers)
        task.root_runtime.send_call(call, prepared.sent, prepared.state)
        task.root_runtime.publisher.broadcast(prepared.packed.slots, call.headers)
        residents = self._loop_residents.residents
        self.driver = make_driver(self._communicator, call, self._fields, self._objects, residents, recorder)
        self._scatter(loop.walk, call.ahead)
        self._elements = ElementGather(self._communicator, self._fields, self._objects)
        self._run_journal = RunJournal(self._communicator, self._objects, call.output_properties)
        loop.contributions.share(self._run_journal.journal, prepared.descriptions)
        if call.measured:
            from dlbrt.core.partition.profiling import GroupTimes

            loop.walk.times = GroupTimes(len(task.space), call.measured)
        self._run_journal.open(loop.walk.ordinal)

    @property
    def bytes_fetched(self) -> int:
        """How much came to ranks of what stays on them."""
        return self._loop_residents.bytes_of(self.array_transfers)

    def close(self) -> None:
        """Nothing more is written to this rank's journal."""
        self._run_journal.close()

    def gather(self, own: RankResult) -> list[RankResult]:
        """The results of all ranks, rank 0's ``own`` first, with what was stored brought to its place.

        LostIterationError if an iteration was not done once, or two stored to one element.
        """
        mover = Mover(self._communicator, self._travelling, self._objects)
        found = {0: own}
        while len(found) < self._communicator.ranks:
            rank, message = self._communicator.wait_bytes(ANY, RESULT)
            found[rank] = pickle.loads(message)
            mover.receive(found[rank].figures.done, rank, stored_by(found[rank]))
            self._elements.receive(rank)
        mover.complete()
        if clash := self._elements.put():
            raise LostIterationError(f"{self._task.loop_history.source}: {clash}; please report this")
        results = [found[rank] for rank in range(self._communicator.ranks)]
        self._record_stores(results)
        self._check(results)
        return results

    def replay(self, known: LoopContributions, results: Sequence[RankResult]) -> ReplayFailure | None:
        """Put together what iterations contributed; what failed, if something did."""
        extents = [result.extents for result in results]
        end = min(_failed_at(results), len(self._task.space) - 1)
        return self._run_journal.replay(extents, known.kinds, known.values, end)

    def doubt(self, failed_at: int) -> str:
        """As `RunJournal.doubt`."""
        return self._run_journal.doubt(failed_at)

    @property
    def _travelling(self) -> list[Field]:
        """The fields whose rows are scattered and gathered: those that do not stay on the ranks."""
        return [field for field in self._fields if field.data not in self._loop_residents]

    def _scatter(self, walk: Walk, ahead: Sequence[range]) -> None:
        mover = Mover(self._communicator, self._travelling, self._objects)
        self._objects.originals = {
            place: list(field.data) for place, field in enumerate(self._fields) if field.copied
        }
        for rank in range(1, self._communicator.ranks):
            mover.send(self.driver.held(rank), rank, Field.scattered)
        mover.complete()
        if self.array_transfers:
            delivery = PendingTransfers(
                self._communicator, self.array_transfers, self._loop_residents.arrays()
            )
            walk.await_rows(delivery, ahead[0] if ahead else range(0))

    def _record_stores(self, results: Sequence[RankResult]) -> None:
        """Tell the routine, if there is one, what was stored where, and the strategy that was chosen."""
        key, routine_state = self._task.loop_history.key, self._task.routine_state
        if routine_state is not None:
            routine_state.run_finished(key, self._loop_residents, results)
            if self.driver.choice is not None:
                routine_state.strategy_chosen(key, self.driver.strategy)

    def _check(self, results: Sequence[RankResult]) -> None:
        end = min(_failed_at(results), len(self._task.space))
        error = coverage_error(end, [result.figures.done.below(end) for result in results])
        if error is not None:
            raise LostIterationError(f"{self._task.loop_history.source}: {error}; please report this")


def _failed_at(results: Sequence[RankResult]) -> int:
    """The lowest position that failed; groups that were not done have not heard of one another's."""
    return min((r.failure.position for r in results if r.failure), default=NO_FAILURE)
