"""The data of the timeline: the whole program by ranks, as the page's script draws it.

    {"ranks": ["rank 0", ...], "kinds": [name, ...], "end": us,
     "slices": [[kind, begin, length, amount, kind, begin, ...], ...],     one list a rank
     "runs": [[loop, number, begin, length, strategy], ...], "loops": [source, ...],
     "units": [what ranks compute in a loop, ...],
     "arrows": [source, target, left, came, units, ...], "marks": [[time, ...], ...]}

Times are whole microseconds since the program began. Rank 0 is sequential between the runs of loops; the
others are idle then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dlbrt.observe.trace import Trace
from dlbrt.observe.trace_events import Slice

from dlbc.commands.report.measure import ACTIVITIES, MeasuredRun, unit_word

#: What a rank does: in a run, and rank 0 between two.
KINDS = (*ACTIVITIES, "sequential")

#: Beyond this many slices neighbouring ones are joined, so that a page stays quick.
MOST_SLICES = 150_000

#: More arrows than this are left out.
_MOST_ARROWS = 20_000

#: Slices joined first where there are too many: those nearer than this part of the program's time.
_NEAR = 1e-6


def timeline_data(trace: Trace, measured: Sequence[Sequence[MeasuredRun]]) -> dict[str, Any]:
    """The document of the module's header."""
    runs = sorted(
        ((run, loop, number) for loop, own in enumerate(measured) for number, run in enumerate(own, 1)),
        key=lambda each: each[0].begin,
    )
    begin, end = _span(trace, [run for run, _, _ in runs])
    whole = [list(_whole(rank, [run for run, _, _ in runs], begin, end)) for rank in range(trace.ranks)]
    slices = _bounded(whole, end - begin)

    def us(seconds: float) -> int:
        return round((seconds - begin) * 1e6)

    arrows = [arrow for run, _, _ in runs for arrow in run.arrows][:_MOST_ARROWS]
    return {
        "ranks": [f"rank {rank}" for rank in range(trace.ranks)],
        "hosts": list(trace.host_names),
        "kinds": list(KINDS),
        "end": us(end),
        "slices": [[number for each in own for number in _flat(each, us)] for own in slices],
        "runs": [[loop, number, us(run.begin), us(run.end) - us(run.begin), run.run.strategy]
                 for run, loop, number in runs],
        "loops": [loop.source for loop in trace.loops],
        "units": [unit_word(own) for own in measured],
        "arrows": [n for a in arrows for n in (a.source, a.target, us(a.left), us(a.came), a.units)],
        "marks": [sorted(us(mark) for run, _, _ in runs for mark in run.rows[rank].marks)
                  for rank in range(trace.ranks)],
    }  # fmt: skip


def _span(trace: Trace, runs: Sequence[MeasuredRun]) -> tuple[float, float]:
    """When the program began and ended, on rank 0's clock."""
    if trace.program is not None:
        return trace.program.began, trace.program.began + trace.program.elapsed_s
    return min((run.begin for run in runs), default=0.0), max((run.end for run in runs), default=0.0)


def _whole(rank: int, runs: Iterable[MeasuredRun], begin: float, end: float) -> Iterator[Slice]:
    """All that a rank did from the beginning of the program to its end."""
    between, reached = "idle" if rank else "sequential", begin
    for run in runs:
        if run.begin > reached:
            yield Slice(between, reached, run.begin)
        yield from run.rows[rank].slices
        reached = max(reached, run.end)
    if end > reached:
        yield Slice(between, reached, end)


def _bounded(whole: list[list[Slice]], span_s: float) -> list[list[Slice]]:
    """As many slices as a page can hold, neighbours of one kind joined where there are more."""
    near_s = _NEAR * span_s
    while sum(map(len, whole)) > MOST_SLICES and 0 < near_s < 4 * span_s:
        whole = [joined(own, near_s) for own in whole]
        near_s *= 4
    return whole


def joined(slices: Iterable[Slice], near_s: float) -> list[Slice]:
    """Slices of which shorter ones are joined to the one before, which keeps its kind."""
    found: list[Slice] = []
    for each in slices:
        last = found[-1] if found else None
        if last is not None and (each.end - each.begin < near_s or last.end - last.begin < near_s):
            longer = max(last, each, key=lambda s: s.end - s.begin)
            amount = last.amount + each.amount if last.what == each.what else longer.amount
            found[-1] = Slice(longer.what, last.begin, each.end, amount)
        else:
            found.append(each)
    return found


def _flat(each: Slice, us: Any) -> tuple[int, int, int, int]:
    begin = us(each.begin)
    return KINDS.index(each.what), begin, us(each.end) - begin, each.amount
