"""A trace as one self-contained page of HTML: timelines, times, and predictions against measurements.

The predictions come from three places. The agents of the recorded run are made anew and handle the same
events (`dlbrt.sim.replay`): this gives the model's prediction for each strategy when rank 0 chose one, and
the gain that each group expected of each redistribution. In addition, the loop is simulated on the machine
that it ran on, under the requested strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from dlbrt.balance.messages import Window
from dlbrt.observe.trace import LoopTrace, RunTrace, Trace
from dlbrt.predict.choose import StrategyChoice
from dlbrt.records import dataclass
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.recorded import Recording
from dlbrt.sim.replay import ReplayedRank

from dlbc.commands.report.draw import ACTIVITIES, COLOURS, MeasuredRun, measure_run, seconds_text, timeline


@dataclass(frozen=True, slots=True)
class RunPredictions:
    """What the agents of a run predicted: the choice, if there was one, and the windows of all groups."""

    choice: StrategyChoice | None
    windows: tuple[Window, ...]


def replay_predictions(run: RunTrace) -> RunPredictions:
    """The predictions, by replaying the recorded events; none for a run that rank 0 did alone."""
    if run.setup is None or not run.complete:
        return RunPredictions(None, ())
    choice: StrategyChoice | None = None
    windows: list[Window] = []
    for rank, recorded in enumerate(run.per_rank):
        replayed_rank = ReplayedRank(run.setup, rank, recorded.began)
        for event in (e.event for e in recorded.entries if e.event.now >= recorded.began):
            replayed_rank.handle(event)
        windows += (window for account in replayed_rank.accounts for window in account.windows)
        choice = choice or replayed_rank.choice
    return RunPredictions(choice, tuple(sorted(windows, key=lambda window: (window.epoch, window.members))))


def simulated_s(recording: Recording, number: int) -> Iterator[tuple[str, float]]:
    """The simulated makespan of a loop under each strategy that its runs requested."""
    loop = recording.trace.loops[number - 1]
    if not any(chunk.computing_s for run in loop.runs for rank in run.per_rank for chunk in rank.chunks):
        return
    for name in dict.fromkeys(run.setup.requested_strategy for run in loop.runs if run.setup is not None):
        outcome = simulate_strategy(recording.machine(), recording.loop(number), name, recording.parameters)
        yield name, outcome.makespan_s


#: Of a loop with more runs, only the first and the last ones are shown.
MOST_RUNS = 8

#: Of each run, only the latest windows are shown.
_MOST_WINDOWS = 40

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #222; max-width: 1100px; margin: 2em auto }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2em } h3 { font-size: 1em; margin-bottom: .3em }
table { border-collapse: collapse; margin: .6em 0 } th, td { padding: .15em .8em; text-align: right }
th { border-bottom: 1px solid #888; font-weight: 600 } td:first-child, th:first-child { text-align: left }
svg { width: 100%; font-size: 11px } .grid { stroke: #ddd } .mark { stroke: #222; stroke-width: .7 }
.arrow line { stroke: #d55e00; stroke-width: .8 } .arrow circle { fill: #d55e00 } rect { stroke: none }
.key span { display: inline-block; margin-right: 1.4em }
.key i { display: inline-block; width: 1em; height: .8em; border: 1px solid #999; margin-right: .4em }
.idle { stroke: #ccc; stroke-width: .5 }
"""


def page(trace: Trace, name: str) -> str:
    """The page of a trace; ``name`` is that of its file."""
    recording = Recording(trace)
    hosts = ", ".join(f"{host} ({trace.host_names.count(host)})" for host in dict.fromkeys(trace.host_names))
    colours = "".join(f".{kind} {{ fill: {colour} }}\n" for kind, colour in COLOURS.items())
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(name)}</title>',
        f"<style>{_STYLE}{colours}</style></head><body>",
        f"<h1>{escape(name)}</h1>",
        f"<p>A {trace.kind} on {_count(trace.ranks, 'rank')}; ranks of each host: {escape(hosts)}.</p>",
        _key(),
        *(_loop(recording, number, loop) for number, loop in enumerate(trace.loops, 1)),
    ]
    if trace.left_out:
        parts.append(f"<p>{_count(trace.left_out, 'run')} more: the trace had become too long.</p>")
    return "\n".join([*parts, "</body></html>\n"])


def _loop(recording: Recording, number: int, loop: LoopTrace) -> str:
    shown = set(range(len(loop.runs)))
    if len(shown) > MOST_RUNS:
        shown -= set(range(MOST_RUNS // 2, len(loop.runs) - MOST_RUNS // 2))
    simulated = dict(simulated_s(recording, number))
    parts = [f"<h2>{escape(loop.source)}: {_count(len(loop.runs), 'run')}</h2>"]
    for place, run in enumerate(loop.runs):
        if place not in shown:
            continue
        measured = measure_run(recording.trace, run)
        heading = f"Run {place + 1}: {escape(run.strategy)}, {_count(run.iterations, 'iteration')}"
        parts.append(f"<h3>{heading}</h3>")
        if measured.rows:
            parts += [timeline(measured), _ranks(measured)]
            parts += _predictions(measured, replay_predictions(run), simulated)
    if len(shown) < len(loop.runs):
        parts.append(f"<p>{_count(len(loop.runs) - len(shown), 'run')} between these: not shown.</p>")
    return "\n".join(parts)


def _ranks(measured: MeasuredRun) -> str:
    """How each rank spent its time."""
    rows = [
        (f"rank {row.rank}", str(row.units), *(seconds_text(row.seconds(kind)) for kind in ACTIVITIES))
        for row in measured.rows
    ]
    efficiency = measured.efficiency
    moved = sum(arrow.units for arrow in measured.arrows)
    facts = [f"From the first computing to the last end {seconds_text(measured.makespan_s)}"]
    facts += [f"mean over longest computing {efficiency:.1%}"] if efficiency is not None else []
    facts.append(f"{_count(moved, 'unit')} moved in {_count(len(measured.arrows), 'message')}")
    return f"<p>{'; '.join(facts)}.</p>\n{_table(('', 'units', *ACTIVITIES), rows)}"


def _predictions(
    measured: MeasuredRun, predictions: RunPredictions, simulated: dict[str, float]
) -> Iterator[str]:
    """Tables of predictions against measurements."""
    rows = []
    requested = measured.run.setup.requested_strategy if measured.run.setup is not None else ""
    if requested in simulated:
        rows.append((f"simulated under {requested}", *_compared(simulated[requested], measured.makespan_s)))
    if predictions.choice is not None:
        for name, seconds in sorted(predictions.choice.predicted_s, key=lambda each: each[1]):
            chosen = name == measured.run.strategy
            cells = _compared(seconds, measured.makespan_s) if chosen else (seconds_text(seconds), "", "")
            rows.append((f"the model of {name}{', which was chosen' if chosen else ''}", *cells))
    if rows:
        yield "<h4>Predicted against measured</h4>"
        yield _table(("", "predicted", "measured", "difference"), rows)
    moves = [window for window in predictions.windows if window.moved]
    if moves:
        yield f"<h4>Redistributions: {len(moves)}</h4>"
        heads = ("window", "ranks", "moved", "predicted gain", "gain at the measured speeds")
        yield _table(heads, map(_window, moves[-_MOST_WINDOWS:]))


def _compared(predicted: float, measured: float) -> tuple[str, str, str]:
    difference = f"{predicted / measured - 1:+.1%}" if measured > 0 else ""
    return seconds_text(predicted), seconds_text(measured), difference


def _window(window: Window) -> tuple[str, ...]:
    members = window.members
    block = members == tuple(range(members[0], members[-1] + 1))
    ranks = f"{members[0]} to {members[-1]}" if block else ", ".join(map(str, members))
    gains = (window.predicted_s, window.realised_s)
    return str(window.epoch), ranks, str(window.moved), *("" if g is None else seconds_text(g) for g in gains)


def _key() -> str:
    kinds = "".join(
        f'<span><i style="background:{colour}"></i>{kind}</span>' for kind, colour in COLOURS.items()
    )
    return f'<p class="key">{kinds}<span>| decision received</span><span>&#8594; work moved</span></p>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}\n</table>"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
