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
from dlbrt.effects.contributions import Contributions
from dlbrt.mpi.call import Call
from dlbrt.mpi.contents import shared_fields
from dlbrt.mpi.elements import Elements
from dlbrt.mpi.logbook import Logbook
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.parcels import Delivery
from dlbrt.mpi.perform import Result, form_crew, stored_by
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.task import Task
from dlbrt.mpi.walk import Walk
from dlbrt.mpi.wire import ANY, RESULT

if TYPE_CHECKING:
    from dlbrt.effects.replay import Fault
    from dlbrt.observe.recorder import Recorder

__all__ = ["LostIterationError", "Sharing"]


class LostIterationError(RuntimeError):
    """An iteration was lost or executed twice, or two stored to one element: a defect of the runtime."""


class Sharing:
    """One such run, from the ``call`` on; ``crew`` are the ranks that run it, as this one sees them."""

    def __init__(
        self, task: Task, prepared: Preparation, call: Call, loop: Loop, recorder: Recorder | None
    ) -> None:
        self.parcels = call.parcels
        self._task = task
        self._wire = task.conductor.wire
        self._staying = prepared.staying
        self._objects = prepared.objects
        self._fields = shared_fields(prepared.fields, prepared.packed.slots, call.headers)
        task.conductor.command(call, prepared.sent, prepared.state)
        task.conductor.publisher.broadcast(prepared.packed.slots, call.headers)
        residents = self._staying.residents
        self.crew = form_crew(self._wire, call, self._fields, self._objects, residents, recorder)
        self._scatter(loop.walk, call.ahead)
        self._elements = Elements(self._wire, self._fields, self._objects)
        self._logbook = Logbook(self._wire, self._objects, call.shown)
        loop.contributions.share(self._logbook.journal, prepared.descriptions)
        if call.measured:
            from dlbrt.core.partition.profiling import GroupTimes

            loop.walk.times = GroupTimes(len(task.space), call.measured)
        self._logbook.open(loop.walk.ordinal)

    @property
    def bytes_fetched(self) -> int:
        """How much came to ranks of what stays on them."""
        return self._staying.bytes_of(self.parcels)

    def close(self) -> None:
        """Nothing more is written to this rank's journal."""
        self._logbook.close()

    def gather(self, own: Result) -> list[Result]:
        """The results of all ranks, rank 0's ``own`` first, with what was stored brought to its place.

        LostIterationError if an iteration was not done once, or two stored to one element.
        """
        mover = Mover(self._wire, self._travelling, self._objects)
        found = {0: own}
        while len(found) < self._wire.ranks:
            rank, message = self._wire.wait_bytes(ANY, RESULT)
            found[rank] = pickle.loads(message)
            mover.receive(found[rank].figures.done, rank, stored_by(found[rank]))
            self._elements.receive(rank)
        mover.complete()
        if clash := self._elements.put():
            raise LostIterationError(f"{self._task.notes.source}: {clash}; please report this")
        results = [found[rank] for rank in range(self._wire.ranks)]
        self._stay_so(results)
        self._check(results)
        return results

    def replay(self, known: Contributions, results: Sequence[Result]) -> Fault | None:
        """Put together what iterations contributed; what failed, if something did."""
        extents = [result.extents for result in results]
        end = min(_failed_at(results), len(self._task.space) - 1)
        return self._logbook.replay(extents, known.kinds, known.values, end)

    def doubt(self, failed_at: int) -> str:
        """As `Logbook.doubt`."""
        return self._logbook.doubt(failed_at)

    @property
    def _travelling(self) -> list[Field]:
        """The fields whose rows are scattered and gathered: those that do not stay on the ranks."""
        return [field for field in self._fields if field.data not in self._staying]

    def _scatter(self, walk: Walk, ahead: Sequence[range]) -> None:
        mover = Mover(self._wire, self._travelling, self._objects)
        self._objects.originals = {
            place: list(field.data) for place, field in enumerate(self._fields) if field.copied
        }
        for rank in range(1, self._wire.ranks):
            mover.send(self.crew.held(rank), rank, Field.scattered)
        mover.complete()
        if self.parcels:
            delivery = Delivery(self._wire, self.parcels, self._staying.arrays())
            walk.await_rows(delivery, ahead[0] if ahead else range(0))

    def _stay_so(self, results: Sequence[Result]) -> None:
        """Tell the routine, if there is one, what was stored where, and the strategy that was chosen."""
        key, stay = self._task.notes.key, self._task.stay
        if stay is not None:
            stay.ran(key, self._staying, results)
            if self.crew.choice is not None:
                stay.chose(key, self.crew.strategy)

    def _check(self, results: Sequence[Result]) -> None:
        end = min(_failed_at(results), len(self._task.space))
        error = coverage_error(end, [result.figures.done.below(end) for result in results])
        if error is not None:
            raise LostIterationError(f"{self._task.notes.source}: {error}; please report this")


def _failed_at(results: Sequence[Result]) -> int:
    """The lowest position that failed; groups that were not done have not heard of one another's."""
    return min((r.failure.position for r in results if r.failure), default=NO_FAILURE)
