"""What a run of a loop has led to: the results of its ranks, and what statistics, traces and later runs keep.

`dlbrt.mpi.root.run.LoopRun` fills it in as it runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult
from dlbrt.mpi.root.left_open import left_open
from dlbrt.mpi.root.partitioner import Partitioner
from dlbrt.mpi.root.preparation import Preparation
from dlbrt.mpi.root.program_history import SharingFigures
from dlbrt.mpi.root.shared_run import SharedRun
from dlbrt.mpi.team import clock
from dlbrt.mpi.watch import Watch

if TYPE_CHECKING:
    from dlbrt.observe.recorder import Recorder
    from dlbrt.reductions.replay import ReplayFailure


class RunOutcome:
    """What a run that began at ``started`` leads to.

    ``sharing``: the part that all ranks did, if any did. ``prefix``: what rank 0 did before it went on alone.
    ``watched`` is the watch of the shared part. ``has_lost``: whether a rank has died. ``reason`` is why
    rank 0 ran the loop alone, ``interpreted`` why `jit` did not compile it. ``fault`` came up while effects
    were replayed.
    """

    def __init__(self, started: float, recorder: Recorder | None) -> None:
        self.sharing: SharedRun | None = None
        self.prefix: RankResult | None = None
        self.watched: Watch | None = None
        self.has_lost = False
        self.strategy = self.reason = self.interpreted = ""
        self.results: list[RankResult] = []
        self.fault: ReplayFailure | None = None
        self.started, self.recorder = started, recorder
        self._elapsed_s = self._loading_s = 0.0

    def note_checks(self, prepared: Preparation, loop: LoopContext, probation_s: float) -> None:
        """Note in the statistics what was looked at, if anything was."""
        if prepared.watches(loop):
            history = prepared.loop_history
            checks = history.record.checks
            checks.calls = dict(loop.unseen_calls)
            checks.found = history.contradiction or ""
            checks.seconds += probation_s
            if self.watched is not None:
                checks.runs += 1
                checks.seconds += self.watched.seconds

    def note_interpreted(self, prepared: Preparation) -> None:
        """Say why other ranks did not compile what rank 0 did, where that is so."""
        found = {rank: each.interpreted for rank, each in enumerate(self.results) if each.interpreted}
        if found and not self.interpreted:
            rank, reason = next(iter(found.items()))
            ranks = f"rank {rank}" if len(found) == 1 else f"rank {rank} and {len(found) - 1} more"
            prepared.loop_history.log(f"`jit`: on {ranks} the loop runs as Python, since {reason}", "jit")

    def learn(self, prepared: Preparation, partitioner: Partitioner, *, pooled: bool) -> None:
        """Note the figures of the run, and what they teach; ``pooled``: work was dealt from a pool."""
        history, figures = prepared.loop_history, [result.figures for result in self.results]
        n, self._elapsed_s = len(prepared.space), clock() - self.started
        sharing = SharingFigures()
        if self.sharing is not None:
            self.strategy, sharing = self.sharing.driver.strategy, self.sharing.figures
            self._tell_of_threads(prepared)
        # What is compiled once will not be compiled again.
        compile_s = figures[0].compile_s + max((each.compile_s for each in figures[1:]), default=0.0)
        sharing = replace(sharing, loading_s=sharing.loading_s + compile_s)
        run = self._elapsed_s, n, self.strategy, self.reason, partitioner.planned, sharing
        history.learn(figures, *run, teaches=not self.has_lost)
        if self.has_lost:
            return
        self._loading_s = sharing.loading_s
        if prepared.routine_state is not None:
            compute_s = [each.compute_s for each in figures]
            taken_s = self._elapsed_s - sharing.loading_s
            prepared.routine_state.sharing.learn(history.key, n, compute_s, taken_s)
        partitioner.learn(self.results)
        if pooled and len(figures) > 1:
            history.learn_of_chunks(figures, prepared.root_runtime.network.latency_s)

    def _tell_of_threads(self, prepared: Preparation) -> None:
        """Say once if threads of libraries crowd the cores; those of `--threads` are the user's wish."""
        history, runtime = prepared.loop_history, prepared.root_runtime
        here, cores = runtime.communicator.ranks_here, runtime.communicator.cores
        said = history.library_threads.end(self._elapsed_s, here, cores)
        if said and (runtime.options.threads or 1) == 1:
            history.log(said, "threads")

    def record(self, prepared: Preparation) -> None:
        """Add the run to the trace, if one is written."""
        tracing, history, begun = prepared.root_runtime.tracing, prepared.loop_history, clock()
        if self.recorder is not None and tracing is not None and not self.has_lost:
            from dlbrt.observe.trace import RunTrace

            traces = tuple(result.trace for result in self.results if result.trace is not None)
            run = RunTrace(
                self.strategy,
                len(prepared.space),
                traces,
                self.recorder.setup,
                self.started,
                self._elapsed_s,
                self._loading_s,
                self.reason,
                self.interpreted,
            )
            tracing.add(history.key, history.source, run)
            tracing.tracing_s += clock() - begun

    def result(self, prepared: Preparation, loop: LoopContext) -> LoopResult:
        """What the loop leaves behind, with a note on the exception of its body."""
        values = loop.contributions.results()
        results = [*self.results, self.prefix] if self.prefix is not None else self.results
        result = LoopResult(prepared.space, results, values, self.fault, prepared.payload.objects)
        result.interrupted = interrupts.taken()
        result.restore(loop.generators)
        if result.failure is not None and len(self.results) > 1:
            from dlbrt.mpi.failure import note

            left_open.note(prepared.payload.fields, result.failure.position, len(prepared.space))
            source, ranks = prepared.loop_history.source, prepared.root_runtime.communicator.ranks
            result.note = note(prepared.kernel, prepared.space, result.failure, source, ranks)
            if self.fault is None and self.sharing is not None:
                doubt = self.sharing.run_journal.doubt(result.failure.position)
                result.note = "\n".join(filter(None, (result.note, doubt)))
        return result
