"""One run of one loop, led by rank 0: it decides how, runs the loop alone or with all ranks, and learns.

Three objects lead a run: `LoopRun`, what it has prepared (`dlbrt.mpi.preparation`), and the partitioner
(`dlbrt.mpi.partitioner`). A fourth, `SharedRun`, exists from the moment when the other ranks are called.

Law. Each iteration before the lowest that failed is done exactly once, and no element of what is gathered
gets two values. Both are checked after each run on all ranks: a violation would be a wrong result.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance.messages import NO_FAILURE
from dlbrt.balance.strategies import AUTO, STATIC, pooled, preload
from dlbrt.contract import LOCAL
from dlbrt.data.field import Field
from dlbrt.data.space import Space, space_of
from dlbrt.data.spans import Spans, coverage_error
from dlbrt.emulation import Load
from dlbrt.mpi.call import LoopCall
from dlbrt.mpi.communicator import ANY, RESULT
from dlbrt.mpi.ending import LoopResult, check_bound
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.partitioner import Partitioner
from dlbrt.mpi.perform import RankResult, make_driver, own_result, perform, recorder, stored_by
from dlbrt.mpi.preparation import Kernel, Preparation
from dlbrt.mpi.program_history import SharingFigures
from dlbrt.mpi.root import RootRuntime
from dlbrt.mpi.routines.loop_residents import PendingTransfers
from dlbrt.mpi.run_journal import ElementGather, RunJournal
from dlbrt.mpi.team import SingleRank, Team, clock
from dlbrt.mpi.values.contents import shared_fields
from dlbrt.mpi.values.packing import named
from dlbrt.mpi.walk import Walk
from dlbrt.reductions.contributions import LoopContributions

if TYPE_CHECKING:
    from dlbrt.mpi.routines.routine_state import RoutineState
    from dlbrt.observe.recorder import Recorder
    from dlbrt.partition.cost_spec import CostSpec
    from dlbrt.reductions.replay import ReplayFailure


def run_loop(
    root_runtime: RootRuntime,
    kernel: Kernel,
    iterable: Any,
    arguments: Sequence[Any],
    costs: CostSpec,
    routine_state: RoutineState | None = None,
) -> LoopResult:
    """Run a loop to its end; an exception of its body is part of the result.

    ``costs`` is what the user says of the work of iterations; the kernel itself may say more.
    ``routine_state`` belongs to the routine that the loop is part of, if any: its arrays stay on the ranks.
    """
    space = space_of(iterable)
    if len(space):
        check_bound(arguments)
    if not root_runtime.acquire(wait=routine_state is not None):
        return _run_nested(kernel, space, arguments)
    try:
        return LoopRun(Preparation(root_runtime, kernel, space, arguments, routine_state), costs).run()
    except BaseException as error:  # of the runtime: exceptions of the body are in the result
        root_runtime.abort(error)
        raise
    finally:
        root_runtime.release()


def _run_nested(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> LoopResult:
    """A loop met while another one runs: it runs sequentially on the rank that meets it."""

    def launch(loop: LoopContext) -> Team:
        loop.contributions.begin(named(kernel, arguments))
        return SingleRank(Spans.of(range(len(space))))

    loop = LoopContext(space, launch, lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    return LoopResult(space, [own_result(loop, 0)], loop.contributions.results())


class LoopRun:
    """One run of one loop, led by rank 0; ``costs`` is what the user says of the work of iterations."""

    def __init__(self, prepared: Preparation, costs: CostSpec) -> None:
        root_runtime = self._root_runtime = prepared.root_runtime
        options = root_runtime.options
        self._prepared = prepared
        self._costs = costs
        self._loop_history = prepared.loop_history
        last, model = options.weights_last, options.model
        weights = options.weights or self._loop_history.known_speeds(last or model, expected=last)
        self._partitioner = Partitioner(
            self._loop_history, root_runtime.communicator.ranks, weights, options.trial
        )
        self._sharing: SharedRun | None = None
        self._pooled = False  # whether work is dealt from a pool at rank 0
        self._strategy = self._reason = ""
        self._results: list[RankResult] = []
        self._fault: ReplayFailure | None = None
        if options.strategy in (None, AUTO):
            preload()  # otherwise the first run would look expensive
        self._started = clock()
        self._recorder = recorder(self._started) if root_runtime.tracing is not None else None

    def run(self) -> LoopResult:
        """Run the loop and note its figures."""
        prepared, routine_state = self._prepared, self._prepared.routine_state
        load = Load(self._root_runtime.options.load, self._root_runtime.communicator.rank)
        loop = LoopContext(prepared.space, self._launch, self._finish, load)
        if routine_state is not None:
            loop.ensure_valid = routine_state.resident_arrays.ensure_valid
            routine_state.resident_arrays.ensure_valid(self._costs)
        loop.costs = self._costs
        loop.walk.poll_interval.size = self._loop_history.chunk
        try:
            perform(loop, prepared.kernel, prepared.arguments)
        finally:
            if self._sharing is not None:
                self._sharing.run_journal.close()
        self._learn()
        self._record()
        self._loop_history.chunk = max(1, loop.walk.poll_interval.size // 2)
        return self._result(loop)

    def _launch(self, loop: LoopContext) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        prepared, n, routine_state = self._prepared, len(self._prepared.space), self._prepared.routine_state
        if routine_state is not None:
            routine_state.prepare(loop, prepared.named)
        loop.contributions.begin(prepared.named)
        begun = loop.team if isinstance(loop.team, SingleRank) and loop.team.figures.parts else None
        forced = loop.strategy or self._root_runtime.options.strategy
        # What a routine chose at an earlier run of the loop stands.
        chosen = routine_state.strategies.get(self._loop_history.key) if routine_state is not None else None
        self._strategy, initial = forced or AUTO, forced or chosen or AUTO
        self._pooled = pooled(initial) is not None
        if self._root_runtime.communicator.ranks == 1 or n == 0:
            self._strategy = LOCAL if self._strategy == AUTO else self._strategy
            return self._solo(loop)
        if begun is None and self._strategy == AUTO and (trial_s := self._loop_history.trial_s(n)):
            loop.walk.trial_until = clock() + trial_s
            self._strategy = LOCAL
            return self._solo(loop)
        if reason := prepared.obstacle(loop, pooled=self._pooled):
            self._strategy, self._reason = LOCAL, reason
            self._loop_history.log(f"run by rank 0 alone: {reason}")
            return begun or self._solo(loop)
        return self._share(loop, initial, begun, fixed=forced == STATIC)

    def _solo(self, loop: LoopContext) -> Team:
        """Rank 0 alone, with everything that the loop touches valid there."""
        if n := len(self._prepared.space):
            self._prepared.fetch_to_root(loop)
        return SingleRank(Spans.of(range(n)), self._recorder)

    def _share(self, loop: LoopContext, strategy: str, begun: SingleRank | None, *, fixed: bool) -> Team:
        """All ranks, for what is left; ``fixed``: shares are never cut anew."""
        prepared = self._prepared
        first = len(prepared.space) - len(begun.work) if begun else 0
        call = prepared.compose(loop, first, strategy, self._partitioner, fixed=fixed)
        self._sharing = SharedRun(prepared, call, loop, self._recorder)
        driver = self._sharing.driver
        if begun:
            driver.figures.parts, driver.figures.compute_s = begun.figures.parts, begun.figures.compute_s
        return driver

    def _finish(self, loop: LoopContext) -> None:
        space, sharing = self._prepared.space, self._sharing
        if sharing is None:
            self._results = [own_result(loop, 0)]
        else:
            sharing.run_journal.close()
            self._results = sharing.gather(own_result(loop, 0))
            self._fault = sharing.replay(loop.contributions, self._results)
        for bar in space.bars:
            bar.update(len(space) - len(loop.team.figures.done))
            bar.close()

    def _learn(self) -> None:
        """Note the figures of the run, and what they teach."""
        history, figures = self._loop_history, [result.figures for result in self._results]
        elapsed_s, n, planned = clock() - self._started, len(self._prepared.space), self._partitioner.planned
        sharing = SharingFigures()
        if self._sharing is not None:
            self._strategy, sharing = self._sharing.driver.strategy, self._sharing.figures
        history.learn(figures, elapsed_s, n, self._strategy, self._reason, planned, sharing)
        self._partitioner.learn(self._results)
        if self._pooled and len(figures) > 1:
            history.learn_of_chunks(figures, self._root_runtime.network.latency_s)

    def _record(self) -> None:
        """Add the run to the trace, if one is written."""
        if self._recorder is not None and self._root_runtime.tracing is not None:
            from dlbrt.observe.trace import RunTrace

            traces = tuple(result.trace for result in self._results if result.trace is not None)
            run = RunTrace(self._strategy, len(self._prepared.space), traces, self._recorder.setup)
            self._root_runtime.tracing.add(self._loop_history.key, self._loop_history.source, run)

    def _result(self, loop: LoopContext) -> LoopResult:
        """What the loop leaves behind, with a note on the exception of its body."""
        prepared, sharing = self._prepared, self._sharing
        values = loop.contributions.results()
        result = LoopResult(prepared.space, self._results, values, self._fault, prepared.objects)
        if result.failure is not None and len(self._results) > 1:
            from dlbrt.mpi.failure import note

            ranks = self._root_runtime.communicator.ranks
            result.note = note(
                prepared.kernel, prepared.space, result.failure, self._loop_history.source, ranks
            )
            if self._fault is None and sharing is not None:
                doubt = sharing.run_journal.doubt(result.failure.position)
                result.note = "\n".join(filter(None, (result.note, doubt)))
        return result


class LostIterationError(RuntimeError):
    """A defect of the runtime: an iteration was lost or done twice, or an element got two values."""


class SharedRun:
    """A loop on all ranks, from the call on; ``driver`` and ``run_journal`` are rank 0's part in it.

    Rank 0 calls the other ranks, scatters, gathers, and replays the journals.
    """

    def __init__(
        self, prepared: Preparation, call: LoopCall, loop: LoopContext, recorder: Recorder | None
    ) -> None:
        root_runtime = prepared.root_runtime
        self._prepared = prepared
        self._array_transfers = call.array_transfers
        self._communicator = root_runtime.communicator
        self._loop_residents = prepared.loop_residents
        self._objects = prepared.objects
        self._fields = shared_fields(prepared.fields, prepared.packed.slots, call.headers)
        root_runtime.send_call(call, prepared.sent, prepared.state)
        root_runtime.publisher.broadcast(prepared.packed.slots, call.headers)
        residents = self._loop_residents.residents
        self.driver = make_driver(self._communicator, call, self._fields, self._objects, residents, recorder)
        self._scatter(loop.walk, call.ahead)
        self._elements = ElementGather(self._communicator, self._fields, self._objects)
        self.run_journal = RunJournal(self._communicator, self._objects, call.output_properties)
        loop.contributions.share(self.run_journal.journal, prepared.descriptions)
        loop.walk.measure(call.measured)
        self.run_journal.open(loop.walk.ordinal)

    @property
    def figures(self) -> SharingFigures:
        """How the strategy was chosen, and what the call brought to ranks."""
        rows = sum(each.row_transfer.carried for each in self._array_transfers)
        size = self._loop_residents.bytes_of(self._array_transfers)
        return SharingFigures(self.driver.choice, rows, size, self.driver.loading_s)

    def gather(self, own: RankResult) -> list[RankResult]:
        """The results of all ranks, rank 0's ``own`` first; what ranks stored is brought to its place.

        LostIterationError if an iteration was not done once, or an element got two values.
        """
        mover = Mover(self._communicator, self._travelling, self._objects)
        found = {0: own}
        while len(found) < self._communicator.ranks:
            rank, message = self._communicator.wait_bytes(ANY, RESULT)
            found[rank] = pickle.loads(message)
            mover.receive(found[rank].figures.done, rank, stored_by(found[rank]))
            self._elements.receive(rank)
        mover.complete()
        results = [found[rank] for rank in range(self._communicator.ranks)]
        if clash := self._elements.put():
            raise self._lost(clash)
        self._record_stores(results)
        end = min(_failed_at(results), len(self._prepared.space))
        if error := coverage_error(end, [result.figures.done.below(end) for result in results]):
            raise self._lost(error)
        return results

    def replay(self, known: LoopContributions, results: Sequence[RankResult]) -> ReplayFailure | None:
        """Combine what iterations contributed; the failure, if one failed there."""
        extents = [result.extents for result in results]
        end = min(_failed_at(results), len(self._prepared.space) - 1)
        return self.run_journal.replay(extents, known.kinds, known.values, end)

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
        if transfers := self._array_transfers:
            delivery = PendingTransfers(self._communicator, transfers, self._loop_residents.arrays())
            walk.await_rows(delivery, ahead[0] if ahead else range(0))

    def _record_stores(self, results: Sequence[RankResult]) -> None:
        """Tell the routine, if there is one, which rows were stored and which strategy was chosen."""
        key, routine_state = self._prepared.loop_history.key, self._prepared.routine_state
        if routine_state is not None:
            routine_state.run_finished(key, self._loop_residents, results)
            if self.driver.choice is not None:
                routine_state.strategies[key] = self.driver.strategy

    def _lost(self, error: str) -> LostIterationError:
        return LostIterationError(f"{self._prepared.loop_history.source}: {error}; please report this")


def _failed_at(results: Sequence[RankResult]) -> int:
    """The lowest position that failed; groups still at work may not have heard of a failure in another."""
    return min((r.failure.position for r in results if r.failure), default=NO_FAILURE)
