"""A trace as one page of HTML that needs nothing else: pictures, times, predicted against measured."""

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

# ------------------------------------------------------------------------------
# What was expected of a run, beside what came: by the model, by the simulator, and of each redistribution.
#
# The agents of the recorded run are made anew and told the same (`dlbrt.sim.replay`); so the strategy that rank
# 0 chose comes with what the model predicted of each, and each group's books with what it expected to gain.
# Besides, the loop is played on the machine that it ran on, under what was asked for.


@dataclass(frozen=True, slots=True)
class RunPredictions:
    """What the agents of a run had to say: the choice, if there was one, and the windows of all groups."""

    choice: StrategyChoice | None
    windows: tuple[Window, ...]


def replay_predictions(run: RunTrace) -> RunPredictions:
    """By telling the agents again what they were told; nothing of a run that rank 0 did alone."""
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
    """What each strategy that the runs of the loop were asked for takes in a simulation of it."""
    loop = recording.trace.loops[number - 1]
    if not any(chunk.computing_s for run in loop.runs for rank in run.per_rank for chunk in rank.chunks):
        return
    requested_strategy = dict.fromkeys(
        run.setup.requested_strategy for run in loop.runs if run.setup is not None
    )
    for name in requested_strategy:
        outcome = simulate_strategy(recording.machine(), recording.loop(number), name, recording.parameters)
        yield name, outcome.makespan_s


# ------------------------------------------------------------------------------

#: Of a loop that ran more often the first runs and the last are shown.
MOST_RUNS = 8

#: Of each run the latest windows.
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
    """The page of a trace that was in the file of that name."""
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
        found = measure_run(recording.trace, run)
        parts.append(
            f"<h3>Run {place + 1}: {escape(run.strategy)}, {_count(run.iterations, 'iteration')}</h3>"
        )
        if found.rows:
            parts += [
                timeline(found),
                _ranks(found),
                *_predictions(found, replay_predictions(run), simulated),
            ]
    if len(shown) < len(loop.runs):
        parts.append(f"<p>{_count(len(loop.runs) - len(shown), 'run')} between these: not shown.</p>")
    return "\n".join(parts)


def _ranks(found: MeasuredRun) -> str:
    """Where the time of each rank went."""
    rows = [
        (f"rank {row.rank}", str(row.units), *(seconds_text(row.seconds(kind)) for kind in ACTIVITIES))
        for row in found.rows
    ]
    efficiency = found.efficiency
    moved = sum(arrow.units for arrow in found.arrows)
    words = [f"From the first computing to the last end {seconds_text(found.makespan_s)}"]
    words += [f"mean over longest computing {efficiency:.1%}"] if efficiency is not None else []
    words.append(f"{_count(moved, 'unit')} moved in {_count(len(found.arrows), 'message')}")
    return f"<p>{'; '.join(words)}.</p>\n{_table(('', 'units', *ACTIVITIES), rows)}"


def _predictions(found: MeasuredRun, said: RunPredictions, simulated: dict[str, float]) -> Iterator[str]:
    """What was expected, beside what came."""
    rows = []
    requested_strategy = found.run.setup.requested_strategy if found.run.setup is not None else ""
    if requested_strategy in simulated:
        rows.append(
            (
                f"simulated under {requested_strategy}",
                *_beside(simulated[requested_strategy], found.makespan_s),
            )
        )
    if said.choice is not None:
        for name, seconds in sorted(said.choice.predicted_s, key=lambda each: each[1]):
            chosen = name == found.run.strategy
            beside = _beside(seconds, found.makespan_s) if chosen else (seconds_text(seconds), "", "")
            rows.append((f"the model of {name}{', which was chosen' if chosen else ''}", *beside))
    if rows:
        yield "<h4>Predicted against measured</h4>"
        yield _table(("", "predicted", "measured", "difference"), rows)
    moves = [window for window in said.windows if window.moved]
    if moves:
        yield f"<h4>Redistributions: {len(moves)}</h4>"
        heads = ("window", "ranks", "moved", "gain predicted", "gain at the speeds that came")
        yield _table(heads, map(_window, moves[-_MOST_WINDOWS:]))


def _beside(predicted: float, came: float) -> tuple[str, str, str]:
    off = f"{predicted / came - 1:+.1%}" if came > 0 else ""
    return seconds_text(predicted), seconds_text(came), off


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
    return f'<p class="key">{kinds}<span>| told of a decision</span><span>&#8594; work that moves</span></p>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}\n</table>"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
