"""Logs of all ranks in the order of the iterations, whoever did them and whenever.

Segments are opened as their first positions come up; what lies before the first position of those not
yet opened is complete, and leaves in order. Blocks thus pass one by one, and dealt iterations as many at
a time as there are ranks: memory is bounded by the segments that overlap, not by the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dlbrt.effects.segments import Extent, Segment
from dlbrt.records import dataclass

__all__ = ["SegmentId", "merged"]


@dataclass(frozen=True, slots=True)
class SegmentId:
    """Where a segment is: its number among those of a rank."""

    rank: int
    number: int


def merged(
    extents: Sequence[Sequence[Extent]], fetch: Callable[[SegmentId], Segment], end: int
) -> Iterator[Segment]:
    """Segments in ascending order of positions up to ``end``, from ``extents[rank]``.

    A position is in the segments of one rank only; in two of them it keeps their order. ``fetch`` is
    called once for each segment that is needed, by first position.
    """
    waiting = sorted(
        (extent.first, rank, number)
        for rank, known in enumerate(extents)
        for number, extent in enumerate(known)
        if extent.first <= end
    )
    opened: list[Segment] = []
    for turn, (first, rank, number) in enumerate(waiting):
        opened.append(fetch(SegmentId(rank, number)).up_to(end))
        horizon = waiting[turn + 1][0] if turn + 1 < len(waiting) else end + 1
        if horizon > first:
            ready = [segment.up_to(horizon - 1) for segment in opened]
            opened = [segment.part(len(done.positions), len(segment.positions))
                      for segment, done in zip(opened, ready, strict=True)]  # fmt: skip
            opened = [segment for segment in opened if len(segment.positions)]
            yield _woven([segment for segment in ready if len(segment.positions)])


def _woven(segments: Sequence[Segment]) -> Segment:
    """One segment of several whose positions may interleave; one at least."""
    if len(segments) == 1:
        return segments[0]
    positions = np.concatenate([segment.positions for segment in segments])
    order = np.argsort(positions, kind="stable")
    lengths = np.concatenate([_lengths(segment) for segment in segments])
    offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    listed = [entry for segment in segments for entry in segment.listed()]
    entries = [
        entry
        for start, length in zip(offsets[order].tolist(), lengths[order].tolist(), strict=True)
        for entry in listed[start : start + length]
    ]
    starts = np.concatenate([[0], np.cumsum(lengths[order])[:-1]])
    return Segment(positions[order], starts, entries)


def _lengths(segment: Segment) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.diff(segment.starts, append=len(segment.entries))
