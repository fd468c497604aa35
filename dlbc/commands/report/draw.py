"""A run as a timeline (SVG 1.1): a bar for each rank, coloured by activity, and arrows for work that moved.

All times are on rank 0's clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from math import floor, log10

from dlbrt.balance.events import (
    FailureNotified,
    GroupReportsReceived,
    InstructionsReceived,
    ProfilesExchanged,
)
from dlbrt.observe.trace import RankTrace, RunTrace, Trace
from dlbrt.observe.trace_events import Arrow, Slice, arrows, slices
from dlbrt.records import dataclass

#: By activity, distinguishable in print and for colour-blind readers (Okabe and Ito's palette).
COLOURS = {"scatter": "#cccccc", "compute": "#0072b2", "move": "#d55e00", "synchronize": "#f0e442"}
COLOURS |= {"idle": "#ffffff"}

#: The activities that a rank's time consists of.
ACTIVITIES = tuple(COLOURS)

#: Events at which a rank learns of a decision: of its own group, of another one, or of a failure.
_MARKS = (ProfilesExchanged, InstructionsReceived, GroupReportsReceived, FailureNotified)


@dataclass(frozen=True, slots=True)
class RankTimeline:
    """One rank: its slices in order, and the times at which it learned of a decision."""

    rank: int
    host: str
    slices: tuple[Slice, ...]
    marks: tuple[float, ...]

    def seconds(self, kind: str) -> float:
        """The time spent in one activity."""
        return sum(part.end - part.begin for part in self.slices if part.what == kind)

    @property
    def units(self) -> int:
        """The number of iterations, or pairs, that it computed."""
        return sum(part.amount for part in self.slices if part.what == "compute")


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run: its ranks, the work that moved, and its first and last time."""

    run: RunTrace
    rows: tuple[RankTimeline, ...]
    arrows: tuple[Arrow, ...]
    begin: float
    end: float

    @property
    def makespan_s(self) -> float:
        """From the first computing of any rank until the last rank knew that nothing is left."""
        began = [part.begin for row in self.rows for part in row.slices if part.what != "scatter"]
        return self.end - min(began, default=self.end)

    @property
    def efficiency(self) -> float | None:
        """Mean over maximum of the ranks' computing times; None if no rank computed."""
        times = [row.seconds("compute") for row in self.rows]
        return sum(times) / len(times) / max(times) if any(times) else None


def measure_run(trace: Trace, run: RunTrace) -> MeasuredRun:
    """The timelines of a run, without ranks that had no part in it."""
    rows = tuple(
        _rank_timeline(number, trace.host_names[number], rank, trace.offsets_s[number])
        for number, rank in enumerate(run.per_rank)
        if rank.entries
    )
    ends = [part.end for row in rows for part in row.slices] + [m for row in rows for m in row.marks]
    begins = [part.begin for row in rows for part in row.slices]
    moved = tuple(arrows(run, trace.offsets_s))
    return MeasuredRun(run, rows, moved, min(begins, default=0.0), max(ends, default=0.0))


def _rank_timeline(number: int, host: str, rank: RankTrace, ahead_s: float) -> RankTimeline:
    """The timeline of a rank whose clock is ``ahead_s`` ahead of rank 0's."""
    parts = (replace(part, begin=part.begin - ahead_s, end=part.end - ahead_s) for part in slices(rank))
    marks = (entry.event.now - ahead_s for entry in rank.entries if isinstance(entry.event, _MARKS))
    return RankTimeline(number, host, tuple(parts), tuple(marks))


#: Sizes in pixels: left margin, width of the bars, distance of rows, height of a bar, height of the axis.
_LEFT, _WIDTH, _ROW, _BAR, _FOOT = 110, 960, 22, 16, 26

#: Slices of one activity that are nearer than this, in pixels, are drawn as one.
_NEAR = 0.25

#: More arrows than this are not drawn; the page gives only their number.
_MOST_ARROWS = 400


def timeline(run: MeasuredRun) -> str:
    """The picture of one run, as SVG."""
    height = _ROW * len(run.rows) + _FOOT
    scale = _WIDTH / ((run.end - run.begin) or 1.0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" role="img" '
        f'aria-label="time of {len(run.rows)} ranks">',
        *_axis(run, scale, height),
    ]
    places = {row.rank: place * _ROW for place, row in enumerate(run.rows)}
    for row in run.rows:
        parts += _row(row, places[row.rank], run.begin, scale)
    if len(run.arrows) <= _MOST_ARROWS:
        for arrow in run.arrows:
            begin, end = (_LEFT + (when - run.begin) * scale for when in (arrow.left, arrow.came))
            source, target = (places[rank] + _BAR / 2 for rank in (arrow.source, arrow.target))
            title = f"{arrow.units} units from rank {arrow.source} to rank {arrow.target}"
            parts.append(
                f'<g class="arrow"><title>{title}</title>'
                f'<line x1="{begin:.2f}" y1="{source:g}" x2="{end:.2f}" y2="{target:g}"/>'
                f'<circle cx="{end:.2f}" cy="{target:g}" r="2"/></g>'
            )
    return "\n".join([*parts, "</svg>"])


def seconds_text(seconds: float) -> str:
    """A time with its unit: s, ms or us."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _row(row: RankTimeline, top: int, begin: float, scale: float) -> Iterator[str]:
    label = f"rank {row.rank}"
    host = f"<title>{escape(row.host)}</title>"
    yield f'<text x="{_LEFT - 8}" y="{top + 12}" text-anchor="end">{label}{host}</text>'
    for part in _merged(row.slices, _NEAR / scale):
        x, width = _LEFT + (part.begin - begin) * scale, max((part.end - part.begin) * scale, _NEAR)
        amount = f", {part.amount} {'bytes' if part.what == 'move' else 'units'}" if part.amount else ""
        yield (
            f'<rect x="{x:.2f}" y="{top}" width="{width:.2f}" height="{_BAR}" class="{part.what}">'
            f"<title>{label}: {part.what}, {seconds_text(part.end - part.begin)}{amount}</title></rect>"
        )
    for mark in row.marks:
        x = _LEFT + (mark - begin) * scale
        yield f'<line class="mark" x1="{x:.2f}" y1="{top - 2}" x2="{x:.2f}" y2="{top + _BAR + 2}"/>'


def _merged(slices: Sequence[Slice], near_s: float) -> list[Slice]:
    """The visible slices: merged across invisible gaps, without invisible ones that did no work."""
    merged: list[Slice] = []
    for part in slices:
        last = merged[-1] if merged else None
        if last is not None and part.what == last.what and part.begin - last.end < near_s:
            merged[-1] = Slice(last.what, last.begin, part.end, last.amount + part.amount)
        elif last is None or part.end - part.begin >= near_s or part.amount:
            merged.append(part)
    return merged


def _axis(run: MeasuredRun, scale: float, height: int) -> Iterator[str]:
    """Grid lines at round times, counted from the beginning of the run."""
    span = (run.end - run.begin) or 1.0
    step = 10.0 ** floor(log10(span / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 8)
    for number in range(int(span / step) + 1):
        x = _LEFT + number * step * scale
        yield f'<line class="grid" x1="{x:.2f}" y1="0" x2="{x:.2f}" y2="{height - _FOOT + 4}"/>'
        yield f'<text x="{x:.2f}" y="{height - 8}" text-anchor="middle">{seconds_text(number * step)}</text>'
