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
from dlbrt.mpi.conductor import Conductor
from dlbrt.mpi.dealing import Dealer
from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.kernels import named
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.perform import Result, own_result, perform, recorder
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.sharing import Sharing
from dlbrt.mpi.task import Balancing, Kernel, Task
from dlbrt.mpi.team import Solo, Team, clock
from dlbrt.mpi.unbound import check_bound

if TYPE_CHECKING:
    from dlbrt.core.partition.cost_spec import CostSpec
    from dlbrt.effects.replay import Fault
    from dlbrt.mpi.stay import Stay

__all__ = ["run_loop"]


def run_loop(
    conductor: Conductor,
    kernel: Kernel,
    iterable: Any,
    arguments: Sequence[Any],
    costs: CostSpec,
    stay: Stay | None = None,
) -> LoopResult:
    """Run a loop to its end; the exception of its body, if any, is in what is returned.

    ``costs`` is what the user says of its work; the kernel itself may say more. ``stay`` is the routine's
    that the loop is part of: its arrays stay on the ranks.
    """
    space = space_of(iterable)
    if len(space):
        check_bound(arguments)
    if not conductor.claim(wait=stay is not None):
        return _alone(kernel, space, arguments)
    try:
        return _Run(Task(conductor, kernel, space, arguments, costs, stay)).run()
    except BaseException as error:  # not the body's: those are in what is returned
        conductor.give_up(error)
        raise
    finally:
        conductor.release()


def _alone(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> LoopResult:
    """A loop met while another one runs: sequential, on the rank that meets it."""

    def launch(loop: Loop) -> Team:
        loop.contributions.begin(named(kernel, arguments))
        return Solo(_all(space))

    loop = Loop(space, launch, lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    return LoopResult(space, [own_result(loop, 0)], loop.contributions.results())


def _all(space: Space) -> Spans:
    return Spans.of(range(len(space)))


class _Run:
    """One run of one loop, led by rank 0."""

    def __init__(self, task: Task) -> None:
        conductor = self._conductor = task.conductor
        options = conductor.options
        self._task = task
        self._notes = task.notes
        last, model = options.weights_last, options.model
        self._weights = options.weights or self._notes.known_speeds(last or model, expected=last)
        self._dealer = Dealer(self._notes, conductor.wire.ranks, self._weights, options.trial)
        self._prepared = Preparation(task)
        self._sharing: Sharing | None = None
        self._pooled = False
        self._strategy = self._reason = ""
        self._results: list[Result] = []
        self._fault: Fault | None = None
        if conductor.options.strategy in (None, AUTO):
            preload()  # so that the first run is not taken for a dear one
        self._started = clock()
        self._recorder = recorder(self._started) if conductor.tracing is not None else None

    def run(self) -> LoopResult:
        """Run the loop and note its figures."""
        task, stay, load = self._task, self._task.stay, self._conductor.options.load
        loop = Loop(task.space, self._launch, self._finish, Load(load, self._conductor.wire.rank))
        if stay is not None:
            loop.look = stay.see
            stay.see(task.costs)
        loop.costs = task.costs
        loop.walk.pacer.size = self._notes.chunk
        try:
            perform(loop, task.kernel, task.arguments)
        finally:
            if self._sharing is not None:
                self._sharing.close()
        self._learn()
        self._record()
        self._notes.chunk = max(1, loop.walk.pacer.size // 2)
        return self._result(loop)

    def _launch(self, loop: Loop) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        task, n = self._task, len(self._task.space)
        if task.stay is not None:
            task.stay.prepare(loop, task.named)
        loop.contributions.begin(task.named)
        begun = loop.team if isinstance(loop.team, Solo) and loop.team.figures.parts else None
        balancing = Balancing.of(task, loop, self._weights)
        self._pooled = balancing.pool is not None
        self._strategy = balancing.asked
        if self._conductor.wire.ranks == 1 or n == 0:
            self._strategy = LOCAL if balancing.asked == AUTO else balancing.asked
            return self._solo(loop)
        if begun is None and balancing.asked == AUTO and (trial_s := self._notes.trial_s(n)):
            loop.walk.trial_until = clock() + trial_s
            self._strategy = LOCAL
            return self._solo(loop)
        if reason := self._prepared.obstacle(loop, pooled=self._pooled):
            self._strategy, self._reason = LOCAL, reason
            self._notes.remark(reason)
            return begun or self._solo(loop)
        return self._share(loop, balancing, begun)

    def _solo(self, loop: Loop) -> Team:
        """Rank 0 alone, with all that the loop touches at home."""
        if len(self._task.space):
            self._task.bring_home(loop)
        return Solo(_all(self._task.space), self._recorder)

    def _share(self, loop: Loop, balancing: Balancing, begun: Solo | None) -> Team:
        """All ranks, for what is left."""
        task, prepared = self._task, self._prepared
        first = len(task.space) - len(begun.work) if begun else 0
        call = compose(task, prepared, balancing, self._dealer, loop, first)
        self._sharing = Sharing(task, prepared, call, loop, self._recorder)
        crew = self._sharing.crew
        if begun:
            crew.figures.parts, crew.figures.compute_s = begun.figures.parts, begun.figures.compute_s
        return crew

    def _finish(self, loop: Loop) -> None:
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
            self._strategy = sharing.crew.strategy
        self._notes.learn(
            figures,
            clock() - self._started,
            len(self._task.space),
            self._strategy,
            self._reason,
            self._dealer.planned,
            sharing.crew.choice if sharing is not None else None,
            sum(parcel.shipment.carried for parcel in sharing.parcels) if sharing is not None else 0,
            sharing.bytes_fetched if sharing is not None else 0,
            sharing.crew.loading_s if sharing is not None else 0.0,
        )
        self._dealer.learn(self._results)
        if self._pooled and len(figures) > 1:
            self._notes.learn_of_chunks(figures, self._conductor.network.latency_s)

    def _record(self) -> None:
        """Add the run to the trace, if there is to be one."""
        if self._recorder is not None and self._conductor.tracing is not None:
            from dlbrt.observe.trace import RunTrace

            traces = tuple(result.trace for result in self._results if result.trace is not None)
            run = RunTrace(self._strategy, len(self._task.space), traces, self._recorder.setup)
            self._conductor.tracing.add(self._notes.key, self._notes.source, run)

    def _result(self, loop: Loop) -> LoopResult:
        """What the loop leaves behind, with a note on the exception of its body."""
        task, sharing = self._task, self._sharing
        values = loop.contributions.results()
        result = LoopResult(task.space, self._results, values, self._fault, self._prepared.objects)
        if result.failure is not None and len(self._results) > 1:
            from dlbrt.mpi.note import note

            ranks = self._conductor.wire.ranks
            result.note = note(task.kernel, task.space, result.failure, self._notes.source, ranks)
            if self._fault is None and sharing is not None:
                doubt = sharing.doubt(result.failure.position)
                result.note = "\n".join(filter(None, (result.note, doubt)))
        return result
