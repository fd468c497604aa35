"""One run of one loop, led by rank 0: it decides how, runs the loop alone or with all ranks, and learns.

Three objects lead a run: `LoopRun`, what it has prepared (`dlbrt.mpi.root.preparation`), and the partitioner
(`dlbrt.mpi.root.partitioner`). A fourth, `dlbrt.mpi.root.shared_run.SharedRun`, exists from the moment when
the other ranks are called. Where the plan rests on calls that the compiler has not seen, what it takes as
unchanged is watched (`dlbrt.mpi.watch`): if the plan is contradicted, rank 0 does the rest of the loop alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance.restart import strategy_of_rest
from dlbrt.balance.strategies import AUTO, STATIC, pooled, preload
from dlbrt.contract import LOCAL, Distribution
from dlbrt.data.space import Space, refuse_iterator, space_of
from dlbrt.data.spans import Spans, first_gap
from dlbrt.data.work_table import FoldingPolicy
from dlbrt.emulation import Load
from dlbrt.mpi.board import board
from dlbrt.mpi.call import CalledOffError
from dlbrt.mpi.communicator import RanksLostError
from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.interrupts import interrupts, stopped
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RANKS_LOST, ROWS_MISSING, RankResult, own_result, perform, recorder
from dlbrt.mpi.root.partitioner import Partitioner
from dlbrt.mpi.root.preparation import Kernel, Preparation
from dlbrt.mpi.root.run_outcome import RunOutcome
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.root.shared_run import SharedRun
from dlbrt.mpi.team import SingleRank, Team, clock
from dlbrt.mpi.values.kernels import named
from dlbrt.mpi.watch import ContradictionError, Probation, contradicted
from dlbrt.partition.cost_spec import CostSpec

if TYPE_CHECKING:
    from dlbrt.mpi.routines.repeated_runs import RunUnderWay
    from dlbrt.mpi.routines.routine_state import RoutineState


_NOT_IN_BLOCKS = (
    "calls that dlbc has not seen may use {}, which cannot go to other ranks; this is found only where "
    "iterations are dealt in blocks, in order"
)

#: Why what iterations of other ranks have used is not done again.
_PAST_ORDER = "iterations that rank 0 did before others may have used it too"

#: Runs of a loop that begin with watched iterations of rank 0 alone.
_WATCHED_RUNS = 2

#: Iterations of a rank among which one more delays the loop little.
_LARGE_SHARE = 8


def run_loop(
    root_runtime: RootRuntime,
    kernel: Kernel,
    iterable: Any,
    arguments: Sequence[Any],
    costs: CostSpec,
    routine_state: RoutineState | None = None,
    left: Spans | None = None,
    *,
    asked: bool = False,
) -> LoopResult:
    """Run a loop to its end; an exception of its body is part of the result.

    ``costs`` is what the user says of the work of iterations; the kernel itself may say more.
    ``routine_state`` belongs to the routine that the loop is part of, if any: its arrays stay on the ranks.
    ``left`` are the positions that have not been done yet, where these are not all: rank 0 does them.
    ``asked``: the program may ask for the last item afterwards.
    """
    if any(argument is iterable for argument in arguments):
        refuse_iterator(iterable)
    space = space_of(iterable)
    space.is_asked = asked
    with root_runtime.turn(wait=routine_state is not None) as leads:
        if not leads:
            return _run_nested(kernel, space, arguments)
        try:
            prepared = Preparation(root_runtime, kernel, space, arguments, routine_state)
            return LoopRun(prepared, costs, left).run()
        except BaseException as error:  # of the runtime: exceptions of the body are in the result
            root_runtime.abort(error)
            raise
        finally:
            board.end()


def _run_nested(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> LoopResult:
    """A loop met while another one runs: it runs sequentially on the rank that meets it."""

    def launch(loop: LoopContext) -> Team:
        loop.begin(named(kernel, arguments))
        return SingleRank(Spans.of(range(len(space))))

    loop = LoopContext(space, launch, lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    loop.contributions.finish()
    return LoopResult(space, [own_result(loop, 0)], loop.contributions.results())


class LoopRun:
    """One run of one loop, led by rank 0; ``costs`` is what the user says of the work of iterations.

    ``left`` are the positions that are left to do, where these are not all.
    """

    def __init__(self, prepared: Preparation, costs: CostSpec, left: Spans | None = None) -> None:
        root_runtime = self._root_runtime = prepared.root_runtime
        options, self._ranks = root_runtime.options, root_runtime.communicator.ranks
        self._prepared = prepared
        self._costs = costs
        self._loop_history = prepared.loop_history
        last, model = options.weights_last, options.model
        weights = options.weights or self._loop_history.known_speeds(last or model, expected=last)
        self._partitioner = Partitioner(self._loop_history, self._ranks, weights, options.trial)
        self._left = left
        self._under_way: RunUnderWay | None = None  # where it may turn out to be one to be repeated
        self._probation = Probation()
        self._pooled = False  # whether work is dealt from a pool at rank 0
        self._in_order = False  # whether rank 0's iterations have to be the first ones
        self._others: list[RankResult] = []  # of the ranks above 0
        if options.strategy in (None, AUTO):
            preload()  # otherwise the first run would look expensive
        started = clock()
        self._recorder = recorder(started) if root_runtime.tracing is not None else None
        self._outcome = RunOutcome(started, self._recorder)
        self._loop_history.library_threads.begin()

    def run(self) -> LoopResult:
        """Run the loop and note its figures."""
        prepared, routine_state = self._prepared, self._prepared.routine_state
        load = Load(self._root_runtime.options.load, self._root_runtime.communicator.rank)
        loop = LoopContext(prepared.space, self._launch, self._finish, load)
        if routine_state is not None:
            loop.ensure_valid = routine_state.resident_arrays.ensure_valid
            if self._costs != CostSpec():
                routine_state.resident_arrays.ensure_valid(self._costs)
        loop.costs, loop.threads = self._costs, self._root_runtime.options.threads or 1
        loop.walk.poll_interval.size = self._loop_history.chunk
        interrupts.watch(loop.walk, perform.__code__)
        if progress := self._root_runtime.progress:
            progress.begin(self._loop_history.key, self._loop_history.source, len(prepared.space))
            loop.walk.count = progress.count
        try:
            perform(loop, prepared.kernel, prepared.arguments)
        finally:
            self._probation.close()
            if self._outcome.sharing is not None:
                self._outcome.sharing.run_journal.close()
        if self._outcome.prefix is not None:
            loop = self._go_on_alone(loop, first_gap(self._outcome.prefix.figures.done))
        loop.contributions.finish()
        if progress:
            figures = [each.figures for each in self._outcome.results]
            done = sum(len(each.done) for each in figures)
            progress.end([each.compute_s for each in figures], done)
        outcome = self._outcome
        outcome.note_checks(self._prepared, loop, self._probation.seconds)
        outcome.note_interpreted(self._prepared)
        if self._under_way is not None and self._outcome.sharing is not None:
            self._under_way.note(loop, self._outcome.results)
        outcome.learn(self._prepared, self._partitioner, pooled=self._pooled)
        if self._is_solo(loop):
            self._root_runtime.note_solo(prepared, loop, self._outcome.results[0], self._outcome.strategy)
        outcome.record(self._prepared)
        self._loop_history.chunk = loop.walk.poll_interval.again
        return outcome.result(self._prepared, loop)

    def _launch(self, loop: LoopContext) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        prepared, n, routine_state = self._prepared, len(self._prepared.space), self._prepared.routine_state
        if routine_state is not None:
            routine_state.prepare(loop, prepared.named)
        loop.begin(prepared.named)
        if loop.left_to_python is not None:
            self._outcome.interpreted = loop.left_to_python
            sentence = f"`jit`: the loop runs as Python, since {loop.left_to_python}"
            self._loop_history.log(sentence, "jit")
        begun = loop.team if isinstance(loop.team, SingleRank) and loop.team.figures.parts else None
        forced = loop.strategy or self._root_runtime.options.strategy
        known = self._loop_history.key, n
        chosen = routine_state.first_strategy(*known) if routine_state is not None else None
        self._outcome.strategy, initial = forced or AUTO, forced or chosen or AUTO
        self._pooled = pooled(initial) is not None
        if self._left is not None or interrupts.pending:  # an interrupt came while iterations were compiled
            self._outcome.strategy = LOCAL
            return begun or self._solo(loop)
        if self._root_runtime.communicator.ranks == 1 or n == 0:
            self._outcome.strategy = LOCAL if self._outcome.strategy == AUTO else self._outcome.strategy
            return self._solo(loop)
        if begun is None and (contradiction := self._loop_history.contradiction):
            return self._alone(loop, begun, contradiction)
        if begun is None and self._outcome.strategy == AUTO and (trial_s := self._trial_s(n)):
            loop.walk.trial_until = clock() + trial_s
            self._outcome.strategy = LOCAL
            return self._solo(loop)
        if contradiction := self._probation.contradiction(begun):
            self._loop_history.contradiction = contradicted(contradiction, loop.unseen_calls)
            return self._alone(loop, begun, self._loop_history.contradiction)
        if begun is not None and self._probation.goes_on:  # nothing needs preparing again until it is shared
            return self._on_probation(loop, begun)
        if reason := prepared.obstacle(loop, pooled=self._pooled):
            return self._alone(loop, begun, reason)
        if self._root_runtime.communicator.ranks < self._ranks:  # they died while rows came to rank 0
            self._outcome.has_lost = True
            return self._alone(loop, begun, RANKS_LOST)
        if begun is None:
            self._probation.wanted = self._iterations_on_probation(loop)
        in_order = self._needs_order(loop)
        if in_order and loop.table.iterations is not Distribution.BLOCK:
            return self._alone(loop, begun, _NOT_IN_BLOCKS.format(in_order))
        self._in_order = in_order is not None
        if self._probation.wanted:
            return self._on_probation(loop, begun)
        # Of one iteration for each rank, rank 0's is the first, and what it finds then can be undone.
        if self._in_order or (prepared.watches(loop) and n <= self._root_runtime.communicator.ranks):
            self._outcome.strategy = initial = STATIC
            self._pooled, loop.folding = False, FoldingPolicy.NONE
        # Under `none` work stays where it is while a loop runs; between the passes of a routine it may move.
        static = forced == STATIC and prepared.routine_state is None
        return self._share(loop, initial, begun, fixed=self._in_order or static)

    def _is_solo(self, loop: LoopContext) -> bool:
        """Whether rank 0 has done a whole loop alone, for no reason but its size, or the lack of ranks."""
        whole = self._left is None and self._outcome.sharing is None and self._outcome.prefix is None
        compiled = loop.walk.chunks is not None
        return whole and compiled and not self._outcome.reason and self._prepared.routine_state is None

    def _trial_s(self, iterations: int) -> float | None:
        """How long rank 0 may try to do the loop alone; None where all ranks should take part at once."""
        routine_state = self._prepared.routine_state
        if routine_state is None:
            return self._loop_history.sharing.trial_s(iterations)
        return routine_state.sharing.trial_s(self._loop_history.key, iterations)

    def _on_probation(self, loop: LoopContext, begun: SingleRank | None) -> Team:
        """Rank 0 for one more iteration, which is watched."""
        self._probation.begin(lambda: self._prepared.watch(loop, Spans.of(range(2))))
        loop.walk.trial_iterations = 1
        return begun or self._solo(loop)

    def _iterations_on_probation(self, loop: LoopContext) -> int:
        """How many iterations rank 0 does first and alone, to see what the calls do that are not seen.

        One where they are a large part of its work, if its own iterations come first in any case; none
        where it has no other. Two elsewhere: the first alone may change nothing, by zero.
        """
        if not self._prepared.watches(loop) or self._loop_history.watched_runs >= _WATCHED_RUNS:
            return 0
        self._loop_history.watched_runs += 1
        in_blocks = loop.table.iterations is Distribution.BLOCK and loop.folding is FoldingPolicy.NONE
        share = len(self._prepared.space) // self._root_runtime.communicator.ranks
        if not in_blocks or self._pooled or share >= 2 * _LARGE_SHARE:
            return 2
        return 1 if share > 1 else 0

    def _needs_order(self, loop: LoopContext) -> str | None:
        """The object because of which rank 0's iterations have to be the first ones, in order; None if none.

        Calls that are not seen may use an object that has stayed at rank 0. Other ranks find out, and rank 0
        goes on after its own iterations. If these are the first ones, its own uses are so as well, as in the
        program.
        """
        has_unseen = self._prepared.watches(loop) or bool(loop.unseen_calls)
        return self._prepared.payload.departure.with_state if has_unseen else None

    def _alone(self, loop: LoopContext, begun: SingleRank | None, reason: str) -> Team:
        """Rank 0 runs the loop, or what is left of it, alone; the reason is logged."""
        self._outcome.strategy, self._outcome.reason = LOCAL, reason
        self._loop_history.log(f"run by rank 0 alone: {reason}")
        return begun or self._solo(loop)

    def _go_on_alone(self, shared: LoopContext, first: int) -> LoopContext:
        """Rank 0 does the iterations from position ``first`` on; those before are done, and their effects."""
        prepared = self._prepared

        def launch(loop: LoopContext) -> Team:
            loop.contributions.take_over(shared.contributions)
            loop.begin(prepared.named)
            team = SingleRank(Spans.of(range(first, len(prepared.space))), self._recorder)
            team.figures.parts = [range(first)] if first else []
            return team

        load = Load(self._root_runtime.options.load, self._root_runtime.communicator.rank)
        loop = LoopContext(prepared.space, launch, self._finish, load)
        interrupts.watch(loop.walk, perform.__code__)
        if progress := self._root_runtime.progress:
            progress.restart(first)
            loop.walk.count = progress.count
        perform(loop, prepared.kernel, prepared.arguments)
        return loop

    def _solo(self, loop: LoopContext) -> Team:
        """Rank 0 alone, with everything that the loop touches valid there."""
        if n := len(self._prepared.space):
            self._prepared.fetch_to_root(loop)
        return SingleRank(self._left or Spans.of(range(n)), self._recorder)

    def _share(self, loop: LoopContext, strategy: str, begun: SingleRank | None, *, fixed: bool) -> Team:
        """All ranks, for what is left; ``fixed``: shares are never cut anew."""
        prepared = self._prepared
        if prepared.watches(loop) and self._loop_history.watched_runs <= _WATCHED_RUNS:
            loop.folding = FoldingPolicy.NONE  # so that rank 0's iterations are the first ones
        first = len(prepared.space) - len(begun.work) if begun else 0
        routine_state = prepared.routine_state
        repeats = routine_state is not None and not self._root_runtime.communicator.tolerates_deaths
        if repeats and routine_state is not None and loop.walk.chunks is not None and not self._pooled:
            from dlbrt.mpi.routines.repeated_runs import RunUnderWay

            self._under_way = RunUnderWay(prepared, routine_state)
        call = prepared.compose(loop, first, strategy, self._partitioner, fixed=fixed)
        if self._under_way is not None:
            self._under_way.begins(call)
        watch = self._probation.take_watch()
        board.begin(self._loop_history.source)
        try:
            self._outcome.sharing = SharedRun(prepared, call, loop, self._recorder, watch, first)
        except CalledOffError as error:
            self._loop_history.withheld = str(error)
            self._root_runtime.forget_state()
            return self._alone(loop, begun, str(error))
        except RanksLostError as error:
            self._lose_ranks(error)
            return self._alone(loop, begun, RANKS_LOST)
        if self._root_runtime.progress is not None:
            self._root_runtime.progress.share(call.serial)
        self._outcome.watched = self._outcome.sharing.watch
        driver = self._outcome.sharing.driver
        if begun:
            driver.figures.parts, driver.figures.compute_s = begun.figures.parts, begun.figures.compute_s
        return driver

    def _finish(self, loop: LoopContext) -> None:
        space, sharing = self._prepared.space, self._outcome.sharing
        if sharing is None:
            self._outcome.results = [own_result(loop, 0)]
        else:
            if not self._others:
                self._others = sharing.gather(loop.tried)
                board.end()
                if sharing.has_lost:
                    sharing.note_own(own_result(loop, 0))
                    self._lose_ranks(sharing)
                if sharing.contradiction is None and self._take_back(loop, sharing):
                    return
            sharing.run_journal.close()
            loop.team.recorder = sharing.driver.recorder
            self._outcome.results = stopped([own_result(loop, 0), *self._others], len(space))
            if sharing.contradiction is None:
                sharing.settle(self._outcome.results)
                self._outcome.fault = sharing.replay(loop.contributions, self._outcome.results)
                if self._outcome.fault is not None:
                    sharing.note_fault()
            elif self._keep_prefix(sharing, loop):
                return
        for bar in space.bars:
            bar.update(len(space) - len(loop.team.figures.done))
            bar.close()

    def _take_back(self, loop: LoopContext, sharing: SharedRun) -> bool:
        """Whether rank 0 has to do iterations again, since what they left could not leave other ranks."""
        reasons = [result.withheld for result in self._others if result.withheld]
        interrupted = interrupts.pending or any(result.interrupted for result in self._others)
        if not reasons or interrupted:
            return False
        reason = next((each for each in reasons if each not in (ROWS_MISSING, RANKS_LOST)), "")
        self._loop_history.rows_missed |= ROWS_MISSING in reasons
        self._loop_history.withheld = reason
        if reason and not self._in_order and self._prepared.payload.departure.may_have_been_used():
            raise ContradictionError(f"{self._loop_history.source}: {reason}; {_PAST_ORDER}")
        if not (left := sharing.left_out(loop.ending.failed_at, self._others)):
            return False
        if sharing.has_lost and self._share_rest(loop, sharing, left):
            return True
        if reason:
            self._loop_history.log(f"{reason}; rank 0 runs them again")
        team = SingleRank(left)
        team.figures, team.ends_independently = sharing.driver.figures, True
        loop.walk.before_stretch = None
        sharing.redo()
        loop.walk.join(team)
        return True

    def _lose_ranks(self, called_off: object) -> None:
        """Go on with the ranks that live."""
        self._outcome.has_lost = True
        self._root_runtime.recover(called_off)

    def _share_rest(self, loop: LoopContext, called_off: SharedRun, left: Spans) -> bool:
        """Whether the living ranks do what rank 0 has not done of a run that a death has called off.

        Everything is sent anew, as for a first run. What rank 0 has done stands.
        """
        before = self._prepared
        while self._root_runtime.communicator.ranks > 1:
            prepared = Preparation(self._root_runtime, before.kernel, before.space, before.arguments, None)
            if prepared.obstacle(loop, pooled=False):
                return False
            strategy = strategy_of_rest(STATIC if self._in_order else self._outcome.strategy)
            weights = self._root_runtime.options.weights or ()
            ranks = self._root_runtime.communicator.ranks
            partitioner = Partitioner(self._loop_history, ranks, weights, trial=False)
            call = prepared.compose_rest(loop, left, strategy, partitioner)
            board.begin(self._loop_history.source)
            try:
                sharing = SharedRun(prepared, call, loop, self._recorder, None, 0, called_off)
            except CalledOffError:
                self._root_runtime.forget_state()
                return False
            except RanksLostError as error:
                self._lose_ranks(error)
                continue
            self._prepared, self._outcome.sharing, self._others = prepared, sharing, []
            self._outcome.watched = sharing.watch
            loop.walk.join(sharing.driver)
            if not loop.more_work:
                loop.synchronize()
            if not loop.more_work:
                self._finish(loop)
            return True
        return False

    def _keep_prefix(self, sharing: SharedRun, loop: LoopContext) -> bool:
        """The plan is contradicted: keep what rank 0 did without a gap. Whether iterations are left to do."""
        assert sharing.contradiction is not None
        reason = contradicted(sharing.contradiction, loop.unseen_calls)
        self._loop_history.contradiction = reason
        own, self._outcome.fault = sharing.keep_prefix(self._outcome.results[0], loop.contributions, reason)
        self._outcome.results, self._outcome.sharing = [own], None
        self._outcome.strategy, self._outcome.reason = LOCAL, reason
        first = first_gap(own.figures.done)
        self._loop_history.log(f"run by rank 0 alone from iteration {first} on: {reason}")
        if self._outcome.fault is not None or own.failure is not None or first == len(self._prepared.space):
            return False
        self._outcome.prefix = own
        return True
