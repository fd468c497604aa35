"""All that a report says, before it is a page or text: words, tables and pictures, from a trace."""

from __future__ import annotations

from typing import Any

from dlbrt.observe.trace import Trace
from dlbrt.records import dataclass
from dlbrt.sim.recorded import Recording

from dlbc.commands.report.diagnosis import Diagnosis, diagnose
from dlbc.commands.report.facts import ProgramFacts, program_facts
from dlbc.commands.report.findings import Efficiency, TimeFinding, efficiency
from dlbc.commands.report.loop_view import LoopView, loop_view
from dlbc.commands.report.measure import measure_run
from dlbc.commands.report.routine_view import RoutineView, routine_view
from dlbc.commands.report.tables import Table
from dlbc.commands.report.timeline import MOST_SLICES, timeline_data
from dlbc.commands.report.words import about, count, part

#: Findings that the head lists besides the first.
_MOST_OTHERS = 4


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of the program's time: what it went into, its seconds and percentage, and its class of style."""

    label: str
    seconds: float
    percent: float
    kind: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report: its head, where the time went, efficiencies, loops by lost time, routines, and notes."""

    name: str
    command: str
    date: str
    about: str
    headline: str
    advice: TimeFinding | None
    worth: str
    others: tuple[TimeFinding, ...]
    portions: tuple[Portion, ...]
    efficiencies: Table | None
    timeline: dict[str, Any]
    loops: tuple[LoopView, ...]
    routines: tuple[RoutineView, ...]
    notes: tuple[str, ...]


def report_of(trace: Trace, name: str) -> Report:
    """The report of a trace; ``name`` is that of its file. ValueError for events that no run records."""
    measured = [[measure_run(trace, run) for run in loop.runs] for loop in trace.loops]
    facts = program_facts(trace, measured)
    found, recording = diagnose(facts), Recording(trace)
    order = sorted(range(len(facts.loops)), key=lambda k: -facts.loops[k].lost_s)
    timeline = timeline_data(trace, measured)
    return Report(
        name,
        trace.program.command if trace.program is not None else "",
        trace.program.date if trace.program is not None else "",
        _about(trace, facts),
        found.headline,
        found.advice,
        _worth(found, facts),
        found.findings[1 : 1 + _MOST_OTHERS],
        _portions(facts, found),
        _efficiencies(facts, found),
        timeline,
        tuple(loop_view(recording, k + 1, facts.loops[k], measured[k], found.findings) for k in order),
        tuple(map(routine_view, facts.routines)),
        tuple(_notes(trace, facts, timeline)),
    )


def _about(trace: Trace, facts: ProgramFacts) -> str:
    hosts = dict.fromkeys(trace.host_names)
    where = ", ".join(f"{host} ({trace.host_names.count(host)})" for host in hosts)
    emulated = "; load or speeds were emulated" if facts.emulated and not facts.simulated else ""
    kind = "A simulation on" if facts.simulated else "A run on"
    return f"{kind} {count(trace.ranks, 'rank')}; ranks of each host: {where}{emulated}."


def _worth(found: Diagnosis, facts: ProgramFacts) -> str:
    if found.advice is None:
        return "Nothing that was measured is worth changing."
    return f"Worth up to {about(found.advice.gain_s)} of {about(facts.elapsed_s)}."


def _portions(facts: ProgramFacts, found: Diagnosis) -> tuple[Portion, ...]:
    """Where the time of the program went, on the average of its ranks."""
    computing = sum(run.mean_s for loop in facts.loops for run in loop.runs)
    parts = [("computing", computing, "compute")]
    parts += [(cause.value, seconds, _KINDS.get(cause.name, "idle")) for cause, seconds in found.losses]
    parts.append(("runs that were not recorded", facts.unrecorded_s, "idle"))
    parts.append(("the sequential part, on rank 0", facts.sequential_s, "sequential"))
    whole = facts.elapsed_s or 1.0
    return tuple(Portion(label, s, 100 * s / whole, kind) for label, s, kind in parts if s > 0)


#: How a cause is coloured; the others are waiting.
_KINDS = {
    "TRANSFERS": "carry",
    "STARTUP": "carry",
    "SHORT_LOOP": "carry",
    "SYNCHRONIZATION": "synchronize",
    "ALONE": "idle",
}


def _efficiencies(facts: ProgramFacts, found: Diagnosis) -> Table | None:
    if found.efficiency is None or facts.ranks == 1:
        return None
    rows = [("all loops", *_cells(found.efficiency))]
    if len(facts.loops) > 1:
        by_loop = ((loop.source, efficiency(loop.runs)) for loop in facts.loops)
        rows += [(source, *_cells(own)) for source, own in by_loop if own is not None]
    return Table(("", "parallel efficiency", "load balance", "communication efficiency"), tuple(rows))


def _cells(own: Efficiency) -> tuple[str, str, str]:
    return part(own.parallel), part(own.load_balance), part(own.communication)


def _notes(trace: Trace, facts: ProgramFacts, timeline: dict[str, Any]) -> list[str]:
    notes = []
    program = trace.program
    if facts.startup_s:
        notes.append(f"Starting Python and MPI took {about(facts.startup_s)} before the program's own time.")
    if program is not None and program.tracing_s:
        notes.append(f"Recording took {about(program.tracing_s)}, which is left out of the figures.")
    if trace.left_out:
        notes.append(f"{count(trace.left_out, 'more run')} took place after the trace had become too long.")
    if facts.unrecorded_s:
        notes.append(
            f"Runs of loops that took {about(facts.unrecorded_s)} are not in the trace; the timeline has "
            "them as sequential part. Repeated runs of compiled loops in routines are never there."
        )
    incomplete = sum(not run.complete for loop in trace.loops for run in loop.runs)
    if incomplete:
        notes.append(f"{count(incomplete, 'run')} had too many events to keep all: the ends are missing.")
    if sum(map(len, timeline["slices"])) // 4 >= MOST_SLICES // 2:
        notes.append("The timeline joins neighbouring short slices.")
    return notes
