"""One run of one loop, led by rank 0: it decides how, runs it alone or with all ranks, learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.contract import LOCAL
from dlbrt.core.load import Load
from dlbrt.core.registry import AUTO, preload
from dlbrt.dist.space import Space, space_of
from dlbrt.dist.spans import Spans
from dlbrt.mpi.calling import compose
from dlbrt.mpi.conductor import RootRuntime
from dlbrt.mpi.dealing import Partitioner
from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.kernels import named
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult, own_result, perform, recorder
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.sharing import SharedRun
from dlbrt.mpi.task import Kernel, StrategySelection, Task
from dlbrt.mpi.team import SingleRank, Team, clock
from dlbrt.mpi.unbound import check_bound

if TYPE_CHECKING:
    from dlbrt.core.partition.cost_spec import CostSpec
    from dlbrt.effects.replay import ReplayFailure
    from dlbrt.mpi.stay import RoutineState

__all__ = ["run_loop"]


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
            from dlbrt.mpi.note import note

            ranks = self._root_runtime.communicator.ranks
            result.note = note(task.kernel, task.space, result.failure, self._loop_history.source, ranks)
            if self._fault is None and sharing is not None:
                doubt = sharing.doubt(result.failure.position)
                result.note = "\n".join(filter(None, (result.note, doubt)))
        return result
