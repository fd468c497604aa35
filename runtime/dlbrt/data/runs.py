"""Arithmetic progressions: the algebra beneath iteration sets and row sets.

A run is a non-empty ``range`` with step >= 1, written with ``stop == last + 1`` so that equal sets look
equal. The law used throughout: between two neighbouring starts or ends of runs, the set of runs present is
constant, so their pattern repeats with the least common multiple of their steps. A question about n positions
is therefore answered by looking at one period per segment, at a cost that does not depend on n, for blocks
and round-robin alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import lcm
from operator import attrgetter

_START = attrgetter("start")

#: Counts how often a position occurs: adds one to every byte, up to 255.
_INCREMENT = bytes([*range(1, 256), 255])


def make(start: int, count: int, step: int) -> range:
    """The run of ``count`` >= 1 positions from ``start``, in normal form."""
    if count == 1:
        return range(start, start + 1)
    return range(start, start + (count - 1) * step + 1, step)


def normal(run: range) -> range:
    """The same positions in normal form; ValueError for a step below 1. The run is not empty."""
    if run.step < 1:
        raise ValueError(f"expected a run with a step of 1 or more, found {run}")
    return make(run.start, len(run), run.step)


def part(run: range, low: int, high: int) -> range:
    """Elements ``low`` >= 0 to ``high`` - 1 of a run in normal form, as far as they exist; possibly none."""
    cut = run[low:high]
    return cut if run.step == 1 or not cut else normal(cut)


def clip(run: range, low: int, high: int) -> range:
    """The positions p of the run with low <= p < high; possibly empty."""
    first = run.start
    if first < low:
        first += -(-(low - first) // run.step) * run.step
    return range(first, min(run.stop, high), run.step)


def arranged(runs: list[range]) -> tuple[range, ...]:
    """The positions of disjoint runs in normal form, sorted by start and joined where they continue."""
    if len(runs) <= 1:
        return tuple(runs)
    runs = sorted(runs, key=_START)
    whole, last = [], runs[0]
    for run in runs:
        if run.step != 1:
            return coalesce(runs)
        if run.start == last.stop:
            last = range(last.start, run.stop)
        elif run is not last:
            whole.append(last)
            last = run
    return (*whole, last)


def coalesce(runs: Iterable[range]) -> tuple[range, ...]:
    """Join runs that continue one another with the same step; a single position joins a run of any step.

    The runs are disjoint, in normal form and sorted by start; so is the result.
    """
    joined: list[range] = []
    ends: dict[tuple[int, int], int] = {}  # (next position, step) of a run -> its place in `joined`
    for run in runs:
        place = _continued(run, joined, ends)
        if place is None:
            place = len(joined)
            joined.append(run)
        else:
            head = joined[place]
            ends.pop((head[-1] + head.step, head.step), None)
            step = run.step if len(head) == 1 and len(run) > 1 else run.start - head[-1]
            joined[place] = range(head.start, run.stop, step)
        whole = joined[place]
        ends[(whole[-1] + whole.step, whole.step)] = place
    return tuple(joined)


def _continued(run: range, joined: list[range], ends: dict[tuple[int, int], int]) -> int | None:
    """The place of the run that this one continues, if any."""
    place = ends.get((run.start, run.step))
    if place is None and joined and len(run) == 1:
        return ends.get((run.start, joined[-1].step))
    if place is None and run.step > 1:
        place = ends.get((run.start - run.step + 1, 1))
        return place if place is not None and len(joined[place]) == 1 else None
    return place


def segments(
    groups: Sequence[Iterable[range]], low: int, high: int, short: int = 0
) -> Iterator[tuple[int, int, list[list[range]]]]:
    """Cut [low, high) where runs begin and end: yields (from, to, the runs of each group in it), in order.

    Neighbouring segments are merged while they are at most ``short`` long together; in any other segment each
    yielded run is present throughout.
    """
    tagged = [(run, group) for group, members in enumerate(groups) for run in members]
    waiting = sorted(tagged, key=lambda member: member[0].start, reverse=True)
    cuts = sorted(
        {low, high, *(cut for run, _ in tagged for cut in (run.start, run.stop) if low < cut < high)}
    )
    active: list[tuple[range, int]] = []
    begin = low
    for place in range(1, len(cuts)):
        end = cuts[place]
        if place + 1 < len(cuts) and cuts[place + 1] - begin <= short:
            continue
        while waiting and waiting[-1][0].start < end:
            active.append(waiting.pop())
        active = [member for member in active if member[0].stop > begin]
        yield begin, end, [[run for run, own in active if own == group] for group in range(len(groups))]
        begin = end


def period(low: int, high: int, runs: Sequence[range], short: int = 0) -> int:
    """How many positions from ``low`` on show the whole pattern of a segment."""
    return high - low if high - low <= short else min(high - low, lcm(*(run.step for run in runs)))


def pattern(low: int, width: int, runs: Sequence[range], without: Sequence[range] = ()) -> bytearray:
    """How often each position of [low, low + width) occurs (at most 255); 0 if it occurs in ``without``."""
    times = bytearray(width)
    for run in runs:
        if part := clip(run, low, low + width):
            place = slice(part.start - low, part.stop - low, part.step)
            times[place] = times[place].translate(_INCREMENT)
    for run in without:
        if part := clip(run, low, low + width):
            times[part.start - low : part.stop - low : part.step] = bytes(len(part))
    return times
