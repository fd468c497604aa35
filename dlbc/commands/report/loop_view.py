"""One loop as a report shows it: what its runs took, its ranks, its costs, and what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from dlbrt.balance.messages import Window
from dlbrt.balance.strategies import STATIC
from dlbrt.predict.audit import AuditedFigure, percent_more
from dlbrt.predict.choose import StrategyChoice
from dlbrt.records import dataclass
from dlbrt.sim.recorded import Recording
from markupsafe import Markup

from dlbc.commands.report.audit import audit_view
from dlbc.commands.report.charts import Chart, Line, stepped
from dlbc.commands.report.cost_profile import ALIKE
from dlbc.commands.report.facts import LoopFacts
from dlbc.commands.report.findings import TimeFinding, efficiency
from dlbc.commands.report.measure import CARRYING, MeasuredRun, unit_word
from dlbc.commands.report.predictions import RunPredictions, replay_predictions, simulated_s
from dlbc.commands.report.tables import Table
from dlbc.commands.report.words import about, count, part, seconds_text, times

#: Of the predictions, so many of the best are shown at once.
_BEST = 3

#: Ranks whose speeds differ by less count as equally fast.
_FASTER = 1.1

#: Of a run, only the latest windows are shown.
_MOST_WINDOWS = 40

#: Runs in the chart of runs; where there are more, each point is the longest of some.
_MOST_POINTS = 240

#: What a rank's time is shown as: a class of the style sheet, its name, and the activities in it.
GROUPS = (
    ("compute", "computing", ("compute",)),
    ("carry", "sending and receiving", CARRYING),
    ("synchronize", "synchronizing", ("synchronize",)),
    ("idle", "idle", ("idle",)),
)


@dataclass(frozen=True, slots=True)
class LoopView:
    """A loop in words, tables and pictures; ``number`` is its place in the trace.

    ``bars`` has for each rank the percentages of its time by `GROUPS`. ``worst`` is the run that lost most,
    from 1, of which predictions and redistributions are shown; ``predictions`` has the best ones. ``audit``
    says how well all runs were predicted, and ``audited`` has the figures.
    """

    number: int
    source: str
    facts: str
    findings: tuple[TimeFinding, ...]
    ranks: Table
    bars: tuple[tuple[float, ...], ...]
    costs: str
    worst: int
    predictions: Table | None
    all_predictions: Table | None
    redistributions: str
    windows: Table | None
    audit: str = ""
    audited: Table | None = None
    cost_chart: Markup = Markup()
    runs_chart: Markup = Markup()


def loop_view(
    recording: Recording,
    number: int,
    facts: LoopFacts,
    measured: Sequence[MeasuredRun],
    found: Sequence[TimeFinding],
) -> LoopView:
    """The view of the loop with that number, from 1, in the recording."""
    worst = max(range(len(measured)), key=lambda k: facts.runs[k].lost_s)
    predicted = replay_predictions(measured[worst].run)
    moves = [window for window in predicted.windows if window.moved]
    return LoopView(
        number,
        facts.source,
        _facts(facts, measured),
        tuple(finding for finding in found if finding.place == facts.source),
        _ranks(measured),
        tuple(_bar(measured, rank) for rank in range(len(measured[0].rows))),
        _costs(facts),
        worst + 1,
        *_predictions(measured[worst], predicted, dict(simulated_s(recording, number))),
        _redistributions(measured, moves),
        _windows(moves) if moves else None,
        *audit_view(facts),
        _cost_chart(facts),
        _runs_chart(facts),
    )


def _facts(facts: LoopFacts, measured: Sequence[MeasuredRun]) -> str:
    """The runs of the loop in a sentence or two, however many there were."""
    runs, elapsed = facts.runs, [run.elapsed_s for run in facts.runs]
    n = sorted({run.iterations for run in runs})
    iterations = count(n[0], "iteration") if len(n) == 1 else f"{n[0]} to {n[-1]} iterations"
    if len(runs) == 1:
        took = f"One run of {iterations} under {_strategy(runs[0].strategy)} took {about(elapsed[0])}"
    else:
        under = sorted({_strategy(run.strategy) for run in runs})
        spread = f"{about(median(elapsed))} each (median; {about(min(elapsed))} to {about(max(elapsed))})"
        took = (
            f"{len(runs)} runs of {iterations} under {', '.join(under)} took {about(sum(elapsed))}, {spread}"
        )
    found = efficiency(runs)
    balance = (
        f"; load balance {part(found.load_balance)}"
        if found is not None and len(measured[0].rows) > 1
        else ""
    )
    interpreted = next((run.interpreted for run in runs if run.interpreted), "")
    return f"{took}{balance}." + (f" It ran as Python under `jit`: {interpreted}." if interpreted else "")


def _strategy(name: str) -> str:
    return "rank 0 alone" if name == "local" else name


def _ranks(measured: Sequence[MeasuredRun]) -> Table:
    """How each rank spent its time, in all runs."""
    heads = ("", unit_word(measured), *(name for _, name, _ in GROUPS))
    rows = tuple(
        (
            f"rank {rank}",
            str(sum(run.rows[rank].units for run in measured)),
            *(seconds_text(_spent(measured, rank, kinds)) for _, _, kinds in GROUPS),
        )
        for rank in range(len(measured[0].rows))
    )
    return Table(heads, rows)


def _spent(measured: Sequence[MeasuredRun], rank: int, kinds: Sequence[str]) -> float:
    return sum(run.rows[rank].seconds(kind) for run in measured for kind in kinds)


def _bar(measured: Sequence[MeasuredRun], rank: int) -> tuple[float, ...]:
    spent = [_spent(measured, rank, kinds) for _, _, kinds in GROUPS]
    return tuple(100 * seconds / (sum(spent) or 1.0) for seconds in spent)


def _costs(facts: LoopFacts) -> str:
    """What iterations cost, and how fast ranks were, in words."""
    profile = facts.profile
    if profile is None:
        return ""
    words = "Iterations cost about the same"
    if profile.is_disturbed:
        words += f", but for up to {times(profile.growth)} times as much {profile.where}"
    elif profile.growth >= ALIKE:
        words = f"Iterations cost up to {times(profile.growth)} times as much {profile.where} as elsewhere"
    known = [(speed, rank) for rank, speed in enumerate(profile.speeds) if speed is not None]
    (slowest, slow), (fastest, fast) = min(known, default=(1.0, 0)), max(known, default=(1.0, 0))
    if fastest > _FASTER * slowest and profile.has_speeds and not profile.is_disturbed:
        faster = f"{times(fastest / slowest)} times as fast"
        words += f"; rank {slow} was the slowest, rank {fast} the fastest ({faster})"
    if profile.stated is not None:
        words += f". W(i), by which they were dealt, is off by a factor of up to {times(profile.misfit)}"
    return f"{words}."


def _cost_chart(facts: LoopFacts) -> Markup:
    """Cost per iteration as measured, against W(i)."""
    profile = facts.profile
    if profile is None:
        return Markup()
    edges = tuple(map(float, profile.edges))
    lines = [Line("measured", stepped(edges, profile.seconds), "l0")]
    if profile.stated is not None:
        lines.append(Line("W(i)", stepped(edges, profile.stated), "l1"))
    title = f"{facts.source}: seconds of one iteration, by its number"
    return Chart(title, "iteration", "time of one iteration", tuple(lines)).svg()


def _runs_chart(facts: LoopFacts) -> Markup:
    """What each run took, and how much of it is computing of a mean rank."""
    runs = facts.runs
    if len(runs) < 3:
        return Markup()
    size = -(-len(runs) // _MOST_POINTS)
    longest = [max(range(k, min(k + size, len(runs))), key=lambda j: runs[j].elapsed_s)
               for k in range(0, len(runs), size)]  # fmt: skip
    lines = (
        Line("elapsed", tuple((k + 1.0, runs[k].elapsed_s) for k in longest), "l1"),
        Line("computing", tuple((k + 1.0, runs[k].mean_s) for k in longest), "l0"),
    )
    return Chart(f"{facts.source}: what each run took", "run", "time of a run", lines, first=1.0).svg()


def _predictions(
    measured: MeasuredRun, predicted: RunPredictions, simulated: dict[str, float]
) -> tuple[Table | None, Table | None]:
    """What was predicted, measured and chosen in one run: the best ones, and all if there are more."""
    rows: list[tuple[str, ...]] = []
    others: list[tuple[str, ...]] = []
    requested = measured.run.setup.requested_strategy if measured.run.setup is not None else ""
    if requested in simulated:
        rows.append((f"{requested}, simulated", *_compared(simulated[requested], measured.makespan_s)))
    choice = predicted.choice
    if choice is not None:
        others = [_of_strategy(name, seconds, choice, measured)
                  for name, seconds in sorted(choice.predicted_s, key=lambda each: each[1])]  # fmt: skip
        rows += [row for k, row in enumerate(others) if k < _BEST or "chosen" in row[0] or row[0] == STATIC]
        if choice.lower_bound_s is not None:
            rows.append(("no schedule is faster than", seconds_text(choice.lower_bound_s), "", ""))
    heads = ("strategy", "predicted", "measured", "difference")
    return Table(heads, tuple(rows)) if rows else None, Table(heads, tuple(others)) if others else None


def _of_strategy(name: str, seconds: float, choice: StrategyChoice, measured: MeasuredRun) -> tuple[str, ...]:
    """The row of one strategy's prediction."""
    chosen = name == measured.run.strategy
    notes = [note for note, holds in (("chosen", chosen), ("as good", name in choice.free),
                                      ("estimated", name in choice.estimated)) if holds]  # fmt: skip
    cells = _compared(seconds, measured.makespan_s) if chosen else (seconds_text(seconds), "", "")
    return (", ".join([name, *notes]), *cells)


def _compared(predicted: float, measured: float) -> tuple[str, str, str]:
    figure = AuditedFigure(predicted, measured)
    return seconds_text(predicted), seconds_text(measured), percent_more(figure.difference)


def _redistributions(measured: Sequence[MeasuredRun], moves: Sequence[Window]) -> str:
    """What moved in all runs, and what redistributions of the shown run gained."""
    arrows = [arrow for run in measured for arrow in run.arrows]
    if not arrows:
        return "No work moved."
    units = count(sum(arrow.units for arrow in arrows), "unit")
    words = f"{units} of work moved in {count(len(arrows), 'message')}"
    gains = [window.realised_s for window in moves if window.realised_s is not None]
    if gains:
        gained = f"{sum(gain > 0 for gain in gains)} gained time at the speeds that followed"
        words += f"; of {count(len(gains), 'redistribution')} in the run shown, {gained}"
    return f"{words}."


def _windows(moves: Sequence[Window]) -> Table:
    rows = []
    for window in moves[-_MOST_WINDOWS:]:
        gains = ("" if g is None else seconds_text(g) for g in (window.predicted_s, window.realised_s))
        rows.append((f"{window.epoch}", _members(window.members), str(window.moved), *gains))
    heads = ("window", "ranks", "moved", "predicted gain", "gain at the measured speeds")
    return Table(heads, tuple(rows))


def _members(ranks: Sequence[int]) -> str:
    """Ranks as runs: 0 to 3, 6."""
    runs = []
    for _, group in groupby(enumerate(ranks), key=lambda each: each[1] - each[0]):
        own = [rank for _, rank in group]
        runs.append(f"{own[0]} to {own[-1]}" if len(own) > 1 else f"{own[0]}")
    return ", ".join(runs)
