"""One run of one loop, led by rank 0: it decides how, runs it alone or with all ranks, learns from it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance.messages import NO_FAILURE
from dlbrt.balance.strategies import AUTO, preload
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
from dlbrt.mpi.partitioner import Kernel, Partitioner, StrategySelection, Task
from dlbrt.mpi.perform import RankResult, make_driver, own_result, perform, recorder, stored_by
from dlbrt.mpi.preparation import Preparation, compose
from dlbrt.mpi.root import RootRuntime
from dlbrt.mpi.routines.array_transfers import PendingTransfers
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


# ------------------------------------------------------------------------------
# A loop that all ranks run, as rank 0 leads it: it calls them, scatters, gathers, and replays the journals.
#
# Law. Each iteration before the lowest that failed was done exactly once, and no element of what is gathered
# was given two values. Both are looked at after each run: what is wrong here would be a wrong result.


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
            from dlbrt.partition.profiling import GroupTimes

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


# ------------------------------------------------------------------------------


def run_loop(
    root_runtime: RootRuntime,
    kernel: Kernel,
    iterable: Any,
    arguments: Sequence[Any],
    costs: CostSpec,
    routine_state: RoutineState | None = None,
) -> LoopResult:
    """Run a loop to its end; the exception of its body, if any, is in what is returned.

    ``costs`` is what the user says of its work; the kernel itself may say more. ``routine_state`` is the routine's
    that the loop is part of: its arrays stay on the ranks.
    """
    space = space_of(iterable)
    if len(space):
        check_bound(arguments)
    if not root_runtime.acquire(wait=routine_state is not None):
        return _alone(kernel, space, arguments)
    try:
        return _Run(Task(root_runtime, kernel, space, arguments, costs, routine_state)).run()
    except BaseException as error:  # not the body's: those are in what is returned
        root_runtime.abort(error)
        raise
    finally:
        root_runtime.release()


def _alone(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> LoopResult:
    """A loop met while another one runs: sequential, on the rank that meets it."""

    def launch(loop: LoopContext) -> Team:
        loop.contributions.begin(named(kernel, arguments))
        return SingleRank(_all(space))

    loop = LoopContext(space, launch, lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    return LoopResult(space, [own_result(loop, 0)], loop.contributions.results())


def _all(space: Space) -> Spans:
    return Spans.of(range(len(space)))


class _Run:
    """One run of one loop, led by rank 0."""

    def __init__(self, task: Task) -> None:
        root_runtime = self._root_runtime = task.root_runtime
        options = root_runtime.options
        self._task = task
        self._loop_history = task.loop_history
        last, model = options.weights_last, options.model
        self._weights = options.weights or self._loop_history.known_speeds(last or model, expected=last)
        self._partitioner = Partitioner(
            self._loop_history, root_runtime.communicator.ranks, self._weights, options.trial
        )
        self._prepared = Preparation(task)
        self._sharing: SharedRun | None = None
        self._pooled = False
        self._strategy = self._reason = ""
        self._results: list[RankResult] = []
        self._fault: ReplayFailure | None = None
        if root_runtime.options.strategy in (None, AUTO):
            preload()  # so that the first run is not taken for a dear one
        self._started = clock()
        self._recorder = recorder(self._started) if root_runtime.tracing is not None else None

    def run(self) -> LoopResult:
        """Run the loop and note its figures."""
        task, routine_state, load = self._task, self._task.routine_state, self._root_runtime.options.load
        loop = LoopContext(
            task.space, self._launch, self._finish, Load(load, self._root_runtime.communicator.rank)
        )
        if routine_state is not None:
            loop.ensure_valid = routine_state.ensure_valid
            routine_state.ensure_valid(task.costs)
        loop.costs = task.costs
        loop.walk.poll_interval.size = self._loop_history.chunk
        try:
            perform(loop, task.kernel, task.arguments)
        finally:
            if self._sharing is not None:
                self._sharing.close()
        self._learn()
        self._record()
        self._loop_history.chunk = max(1, loop.walk.poll_interval.size // 2)
        return self._result(loop)

    def _launch(self, loop: LoopContext) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        task, n = self._task, len(self._task.space)
        if task.routine_state is not None:
            task.routine_state.prepare(loop, task.named)
        loop.contributions.begin(task.named)
        begun = loop.team if isinstance(loop.team, SingleRank) and loop.team.figures.parts else None
        balancing = StrategySelection.of(task, loop, self._weights)
        self._pooled = balancing.pool is not None
        self._strategy = balancing.requested
        if self._root_runtime.communicator.ranks == 1 or n == 0:
            self._strategy = LOCAL if balancing.requested == AUTO else balancing.requested
            return self._solo(loop)
        if begun is None and balancing.requested == AUTO and (trial_s := self._loop_history.trial_s(n)):
            loop.walk.trial_until = clock() + trial_s
            self._strategy = LOCAL
            return self._solo(loop)
        if reason := self._prepared.obstacle(loop, pooled=self._pooled):
            self._strategy, self._reason = LOCAL, reason
            self._loop_history.remark(reason)
            return begun or self._solo(loop)
        return self._share(loop, balancing, begun)

    def _solo(self, loop: LoopContext) -> Team:
        """Rank 0 alone, with all that the loop touches at home."""
        if len(self._task.space):
            self._task.fetch_to_root(loop)
        return SingleRank(_all(self._task.space), self._recorder)

    def _share(self, loop: LoopContext, balancing: StrategySelection, begun: SingleRank | None) -> Team:
        """All ranks, for what is left."""
        task, prepared = self._task, self._prepared
        first = len(task.space) - len(begun.work) if begun else 0
        call = compose(task, prepared, balancing, self._partitioner, loop, first)
        self._sharing = SharedRun(task, prepared, call, loop, self._recorder)
        driver = self._sharing.driver
        if begun:
            driver.figures.parts, driver.figures.compute_s = begun.figures.parts, begun.figures.compute_s
        return driver

    def _finish(self, loop: LoopContext) -> None:
        space, sharing = self._task.space, self._sharing
        if sharing is not None:
            sharing.close()
        self._results = [own_result(loop, 0)]
        if sharing is not None:
            self._results = sharing.gather(self._results[0])
            self._fault = sharing.replay(loop.contributions, self._results)
        for bar in space.bars:
            bar.update(len(space) - len(loop.team.figures.done))
            bar.close()

    def _learn(self) -> None:
        """Note the figures of the run, and what they teach."""
        sharing, figures = self._sharing, [result.figures for result in self._results]
        if sharing is not None:
            self._strategy = sharing.driver.strategy
        self._loop_history.learn(
            figures,
            clock() - self._started,
            len(self._task.space),
            self._strategy,
            self._reason,
            self._partitioner.planned,
            sharing.driver.choice if sharing is not None else None,
            sum(array_transfer.row_transfer.carried for array_transfer in sharing.array_transfers)
            if sharing is not None
            else 0,
            sharing.bytes_fetched if sharing is not None else 0,
            sharing.driver.loading_s if sharing is not None else 0.0,
        )
        self._partitioner.learn(self._results)
        if self._pooled and len(figures) > 1:
            self._loop_history.learn_of_chunks(figures, self._root_runtime.network.latency_s)

    def _record(self) -> None:
        """Add the run to the trace, if there is to be one."""
        if self._recorder is not None and self._root_runtime.tracing is not None:
            from dlbrt.observe.trace import RunTrace

            traces = tuple(result.trace for result in self._results if result.trace is not None)
            run = RunTrace(self._strategy, len(self._task.space), traces, self._recorder.setup)
            self._root_runtime.tracing.add(self._loop_history.key, self._loop_history.source, run)

    def _result(self, loop: LoopContext) -> LoopResult:
        """What the loop leaves behind, with a note on the exception of its body."""
        task, sharing = self._task, self._sharing
        values = loop.contributions.results()
        result = LoopResult(task.space, self._results, values, self._fault, self._prepared.objects)
        if result.failure is not None and len(self._results) > 1:
            from dlbrt.mpi.failure import note

            ranks = self._root_runtime.communicator.ranks
            result.note = note(task.kernel, task.space, result.failure, self._loop_history.source, ranks)
            if self._fault is None and sharing is not None:
                doubt = sharing.doubt(result.failure.position)
                result.note = "\n".join(filter(None, (result.note, doubt)))
        return result
