"""What a diagnosis rests on: figures of the program, its loops and routines, taken from a trace.

Times are seconds of the program's time. Where ranks differ, a time is the mean of all ranks, so that the
parts of a run add up to what it took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from dlbrt.observe.trace import LoopTrace, RunTrace, Trace, TracedProgram
from dlbrt.predict.audit import AuditedFigure
from dlbrt.records import dataclass

from dlbc.commands.report.cost_profile import CostProfile, cost_profile
from dlbc.commands.report.measure import CARRYING, WAITING, MeasuredRun, measure_run

#: Part by which two sums of the same times may differ.
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run of a loop: what it took, and of that what ranks computed, carried and waited.

    ``shared`` is whether all ranks ran it; else rank 0 did, for the ``reason`` if there is one. Ranks spent
    ``loading_s`` on imports and compiling; the loop was ``interpreted`` though `jit` was asked for, because
    of what stands there. Its rows have ``row_bytes`` in all; of the carrying, ``preparing_s`` had passed
    before the call reached the ranks.
    """

    strategy: str
    iterations: int
    shared: bool
    elapsed_s: float
    compute_s: tuple[float, ...]
    waited_s: tuple[float, ...]
    carrying_s: float
    synchronizing_s: float
    loading_s: float = 0.0
    reason: str = ""
    interpreted: str = ""
    row_bytes: float = 0.0
    preparing_s: float = 0.0

    @property
    def mean_s(self) -> float:
        """The computing time, the mean of all ranks."""
        return sum(self.compute_s) / len(self.compute_s)

    @property
    def lost_s(self) -> float:
        """The time in which ranks did not compute."""
        return max(0.0, self.elapsed_s - self.mean_s)


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """One loop: its runs, and what its iterations cost.

    ``requested`` is the strategy that the last run on all ranks had to use, ``auto`` where it was chosen;
    empty where no run was shared. ``in_routine``: its arrays stay on the ranks. ``audit``: figures of all its
    runs as they were predicted and as they were measured, by the names of the statistics.
    """

    id: str
    source: str
    runs: tuple[RunFacts, ...]
    profile: CostProfile | None = None
    requested: str = ""
    in_routine: bool = False
    audit: tuple[tuple[str, AuditedFigure], ...] = ()

    @property
    def elapsed_s(self) -> float:
        """What all runs took."""
        return sum(run.elapsed_s for run in self.runs)

    @property
    def lost_s(self) -> float:
        """The time in which ranks did not compute."""
        return sum(run.lost_s for run in self.runs)


@dataclass(frozen=True, slots=True)
class PassFacts:
    """``passes`` passes of a routine that were looked at together: rows and seconds of each rank."""

    passes: int
    rows: tuple[int, ...]
    seconds: tuple[float, ...]
    reason: str = ""
    moved: int = 0
    predicted_s: float | None = None


@dataclass(frozen=True, slots=True)
class RoutineFacts:
    """The last run of a routine: its loops by id, its passes, and the speed points of each rank.

    ``functions`` have the name of the model, and for each rank the points (units, units a second).
    """

    source: str
    loops: tuple[str, ...]
    passes: tuple[PassFacts, ...]
    functions: tuple[tuple[str, tuple[tuple[tuple[int, float], ...], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """A whole program, or a simulated run, that took ``elapsed_s``; before it, ``startup_s`` to start.

    ``emulated``: load or speeds were emulated. ``unrecorded_s`` went into runs of loops that are not in the
    trace.
    """

    hosts: tuple[str, ...]
    elapsed_s: float
    loops: tuple[LoopFacts, ...]
    routines: tuple[RoutineFacts, ...] = ()
    startup_s: float = 0.0
    emulated: bool = False
    simulated: bool = False
    unrecorded_s: float = 0.0

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.hosts)

    @property
    def sequential_s(self) -> float:
        """The time outside of annotated loops, in which rank 0 worked alone."""
        return max(0.0, self.elapsed_s - self.in_loops_s)

    @property
    def in_loops_s(self) -> float:
        """The time in annotated loops."""
        return sum(loop.elapsed_s for loop in self.loops) + self.unrecorded_s


def program_facts(trace: Trace, measured: Sequence[Sequence[MeasuredRun]] | None = None) -> ProgramFacts:
    """The facts of a trace; ``measured`` are its runs by loop. ValueError for statistics that are none."""
    runs = measured or [[measure_run(trace, run) for run in loop.runs] for loop in trace.loops]
    routines = _routines(trace.program.statistics, trace.ranks) if trace.program is not None else ()
    inside = {loop for routine in routines for loop in routine.loops}
    audits = _audits(trace.program.statistics) if trace.program is not None else {}
    loops = tuple(_loop(loop, own, trace.ranks, loop.id in inside, audits.get(loop.id, ()))
                  for loop, own in zip(trace.loops, runs, strict=True))  # fmt: skip
    load = trace.machine.load
    elapsed_s = sum(loop.elapsed_s for loop in loops)
    return ProgramFacts(
        trace.host_names,
        max(elapsed_s, _elapsed_s(trace.program)) if trace.program is not None else elapsed_s,
        loops,
        routines,
        trace.program.startup_s if trace.program is not None else 0.0,
        bool(load.levels or load.speeds or load.cliffs or load.random),
        trace.kind == "simulation",
        _unrecorded_s(trace.program.statistics, elapsed_s) if trace.program is not None else 0.0,
    )


def _elapsed_s(program: TracedProgram) -> float:
    """What the program took, without the recording."""
    return program.elapsed_s - program.tracing_s


def _unrecorded_s(statistics: Mapping[str, Any], recorded_s: float) -> float:
    """What all loops took more than the runs in the trace; ValueError for no statistics of loops."""
    try:
        whole = sum(_finite(loop["elapsed_s"]) for loop in statistics.get("loops", ()))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"expected the statistics of loops, found none ({error})") from error
    return whole - recorded_s if whole > recorded_s * (1 + _ROUNDING) else 0.0


def _audits(statistics: Mapping[str, Any]) -> dict[str, tuple[tuple[str, AuditedFigure], ...]]:
    """The audits of loops by their ids; ValueError for no statistics of loops."""
    try:
        return {
            str(loop.get("id", "")): tuple(
                (str(name), AuditedFigure(_finite(figure["predicted"]), _finite(figure["measured"])))
                for name, figure in loop.get("audit", {}).items()
            )
            for loop in statistics.get("loops", ())
        }
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"expected the statistics of loops, found none ({error})") from error


def _loop(
    loop: LoopTrace,
    runs: Sequence[MeasuredRun],
    ranks: int,
    in_routine: bool,
    audit: tuple[tuple[str, AuditedFigure], ...],
) -> LoopFacts:
    requested = [run.setup.requested_strategy for run in loop.runs if run.setup is not None]
    profile, last = cost_profile(loop.runs, ranks), requested[-1] if requested else ""
    return LoopFacts(loop.id, loop.source, tuple(map(_run, runs)), profile, last, in_routine, audit)


def _run(measured: MeasuredRun) -> RunFacts:
    run = measured.run
    return RunFacts(
        run.strategy,
        run.iterations,
        measured.shared,
        measured.elapsed_s,
        measured.compute_s,
        tuple(sum(map(row.seconds, WAITING)) for row in measured.rows),
        sum(map(measured.mean_s, CARRYING)),
        measured.mean_s("synchronize"),
        run.loading_s,
        run.reason,
        run.interpreted,
        _row_bytes(run),
        measured.mean_s("prepare"),
    )


def _row_bytes(run: RunTrace) -> float:
    context = run.setup.start.context if run.setup is not None else None
    return 0.0 if context is None else context.unit_bytes * len(context.units)


def _routines(statistics: Mapping[str, Any], ranks: int) -> tuple[RoutineFacts, ...]:
    """The routines of a program's statistics; ValueError for anything else."""
    try:
        return tuple(_routine(each, ranks) for each in statistics.get("routines", ()))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"expected the statistics of routines, found none ({error})") from error


def _routine(found: Mapping[str, Any], ranks: int) -> RoutineFacts:
    functions = tuple(
        (str(each["model"]), tuple(_points(own) for own in each["per_rank"]))
        for each in found["speed_functions"]
    )
    passes = tuple(_passes(each, ranks) for each in found["by_pass"])
    return RoutineFacts(str(found["source"]), tuple(map(str, found["loops"])), passes, functions)


def _points(own: Mapping[str, Any]) -> tuple[tuple[int, float], ...]:
    pairs = zip(map(int, own["units"]), map(_finite, own["units_per_s"]), strict=True)
    return tuple(sorted(pair for pair in pairs if min(pair) > 0))


def _passes(found: Mapping[str, Any], ranks: int) -> PassFacts:
    rows, seconds = tuple(map(int, found["rows"])), tuple(map(_finite, found["seconds"]))
    if not len(rows) == len(seconds) == ranks or min(rows) < 0 or min(seconds) < 0:
        raise ValueError(f"expected rows and seconds of {ranks} ranks")
    predicted_s = None if found["predicted_s"] is None else _finite(found["predicted_s"])
    return PassFacts(
        int(found["passes"]), rows, seconds, str(found["reason"]), int(found["moved"]), predicted_s
    )


def _finite(found: Any) -> float:
    if not isfinite(number := float(found)):
        raise ValueError(f"expected a finite number, found {found}")
    return number
