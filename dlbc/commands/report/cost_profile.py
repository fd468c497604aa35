"""What an iteration costs along a loop, and how fast the ranks are, told apart.

A chunk's time is the cost c of its iterations over the speed s of its rank. Where every rank has a block of
its own, either may explain why one rank takes longer. What tells them apart: costs change gradually from
one iteration to the next, also across the end of a block, while a speed belongs to the whole rank. So

    log(seconds per iteration) = f(position) + g(rank)

is solved by least squares, weighted by iterations, over bins of positions, with a penalty on the second
differences of f (a smoother, Whittaker 1923) and a far smaller one on g. Work that moved decides by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite

import numpy as np
from dlbrt.observe.trace import RunTrace
from dlbrt.records import dataclass
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Positions are put together in at most this many bins.
BINS = 64

#: Penalties on the second differences of f, on g, and on g where nothing tells it, for observations whose
#: weights have the mean 1.
_SMOOTH, _SAME, _FIXED = 3.0, 1e-3, 1e9

#: Part of the bins at each end that is looked at to say where iterations cost more.
_END = 0.25

_HERE_AND_THERE = "at some places"

#: Costs that differ by less count as equal.
ALIKE = 1.5

#: Costs that differ by no more, at no end and not in the middle, may be those of a busy machine.
_DISTURBED = 3.0

#: Where costs differ by this factor they change within a bin, and ranks seem to have different speeds.
_STEEP = 50.0

#: Part of the time from which on a bin is looked at to judge W(i), and chunks from which on a rank's speed is
#: told from the costs of its iterations.
_MATTERS, _CHUNKS = 0.03, 8

#: Ranks whose iterations took the same time on average, up to this factor, count as equally fast.
_SAME_RATE = 1.1


@dataclass(frozen=True, slots=True)
class CostProfile:
    """The mean cost of the iterations in each bin, in seconds at the speed of the reference rank.

    Bin k has positions ``edges[k]`` to ``edges[k + 1]`` - 1. ``stated`` is the cost W(i) with which the loop
    was dealt, scaled to the same work; None where all iterations counted as equal. ``speeds`` are relative to
    the middle rank (the faster of two), None for a rank of too few chunks. ``uneven`` and ``slow`` are of
    the rank that would take longest with the first shares: by how much its time would exceed the mean one, by
    costs alone and by speeds alone. ``growth`` is how many times as much as the cheapest the dearest
    iterations cost, by the smooth curve, which leaves out what disturbed single chunks.
    """

    edges: tuple[int, ...]
    seconds: tuple[float, ...]
    stated: tuple[float, ...] | None
    speeds: tuple[float | None, ...]
    uneven: float
    slow: float
    growth: float

    @property
    def longest_s(self) -> float:
        """The cost of an iteration in the dearest bin."""
        return max(self.seconds)

    @property
    def misfit(self) -> float:
        """By which factor W(i) is off at most, where iterations take a part of the time; 1 without one."""
        if self.stated is None:
            return 1.0
        counts = [after - before for before, after in pairwise(self.edges)]
        bins = list(zip(counts, self.seconds, self.stated, strict=True))
        total_s = sum(n * seconds for n, seconds, _ in bins)
        ratios = [m / w for n, m, w in bins if m > 0 and w > 0 and n * max(m, w) > _MATTERS * total_s]
        return max(max(ratios), 1 / min(ratios)) if ratios else 1.0

    @property
    def has_speeds(self) -> bool:
        """Whether a rank's speed does not just stand for the costs of its iterations."""
        return self.slow > self.uneven or self.growth < _STEEP

    @property
    def is_disturbed(self) -> bool:
        """Whether costs differ here and there, as they do on a busy machine."""
        return ALIKE <= self.growth < _DISTURBED and self.where == _HERE_AND_THERE

    @property
    def where(self) -> str:
        """Where iterations cost more."""
        count = max(1, round(len(self.seconds) * _END))
        first, last = (float(np.mean(s)) for s in (self.seconds[:count], self.seconds[-count:]))
        middle = float(np.mean(self.seconds[count:-count] or self.seconds))
        if middle > ALIKE * max(first, last):
            return "in the middle"
        if min(first, last) > ALIKE * middle:
            return "at both ends"
        if last > ALIKE * first:
            return "at the end"
        return "at the beginning" if first > ALIKE * last else _HERE_AND_THERE


def cost_profile(runs: Iterable[RunTrace], ranks: int) -> CostProfile | None:
    """The profile of a loop by its runs with as many iterations as the last one; None if nothing is known."""
    computed = [run for run in runs if any(rank.chunks for rank in run.per_rank)]
    if not computed or not (n := computed[-1].iterations):
        return None
    alike = [run for run in computed if run.iterations == n]
    edges = np.unique(np.linspace(0, n, min(n, BINS) + 1).astype(np.int64))
    done, seconds = _observed(alike, ranks, edges)
    seen = (done > 0) & (seconds > 0)
    if not seen.any():
        return None
    chunks = np.zeros(ranks, np.int64)
    for run in alike:  # of some, rank 0 alone is recorded
        chunks[: len(run.per_rank)] += [len(rank.chunks) for rank in run.per_rank]
    judged = chunks >= _CHUNKS
    judged &= judged.sum() > 1  # a speed is that of one rank beside another
    rates = [sum(took) / sum(n) for took, n in zip(seconds, done, strict=True) if n.any()]
    # If these are alike, costs and speeds hardly differ both, and just make up for each other.
    differ = judged & (max(rates) > _SAME_RATE * min(rates))
    logs = np.log(seconds / np.maximum(done, 1e-300), where=seen, out=np.zeros_like(done))
    levels, offsets = _fitted(logs, np.where(seen, done, 0.0), differ)
    speeds = np.exp(-offsets)
    known: NDArray[np.bool_] = np.asarray(seen.any(axis=1))
    ordered = np.sort(speeds[known])
    speeds /= ordered[len(ordered) // 2]
    costs = _costs(done, seconds, speeds, np.exp(levels))
    shares = _first_shares(alike[-1], edges, ranks)
    slowness = 1 / np.where(known, speeds, 1.0)
    work, counts = shares @ np.exp(levels), shares.sum(axis=1) * slowness
    last = int(np.argmax(work * slowness))
    return CostProfile(
        tuple(edges.tolist()),
        tuple(costs.tolist()),
        _stated(alike[-1], edges, costs),
        tuple(float(s) if k else None for s, k in zip(speeds, known & judged, strict=True)),
        _excess(work, last),
        _excess(counts, last),
        float(np.exp(levels.max() - levels.min())),
    )


def _observed(runs: Sequence[RunTrace], ranks: int, edges: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Iterations done, and seconds, by rank and bin."""
    done, seconds = np.zeros((ranks, len(edges) - 1)), np.zeros((ranks, len(edges) - 1))
    for run in runs:
        for rank, recorded in enumerate(run.per_rank[:ranks]):
            for chunk in recorded.chunks:
                counts = _counted(chunk.positions, edges)
                done[rank] += counts
                seconds[rank] += counts * (chunk.seconds / len(chunk.positions))
    return done, seconds


def _counted(run: range, edges: NDArray[np.int64]) -> Floats:
    """How many of these positions are in each bin."""
    below = np.clip(-((run.start - edges) // run.step), 0, len(run))
    return np.diff(below).astype(np.float64)


def _fitted(logs: Floats, weights: Floats, judged: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """f and g of the module's equation, for observations by rank and bin; g is 0 for ranks not ``judged``."""
    ranks, bins = logs.shape
    weights = weights * (np.count_nonzero(weights) / weights.sum())
    normal, right = np.zeros((bins + ranks,) * 2), np.zeros(bins + ranks)
    normal[:bins, :bins] = np.diag(weights.sum(axis=0))
    normal[bins:, bins:] = np.diag(weights.sum(axis=1) + np.where(judged, _SAME, _FIXED))
    normal[bins:, :bins], normal[:bins, bins:] = weights, weights.T
    right[:bins], right[bins:] = (weights * logs).sum(axis=0), (weights * logs).sum(axis=1)
    if bins > 2:
        second = np.diff(np.eye(bins), n=2, axis=0)
        normal[:bins, :bins] += _SMOOTH * second.T @ second
    solved = np.linalg.lstsq(normal, right, rcond=None)[0]
    return solved[:bins], solved[bins:]


def _costs(done: Floats, seconds: Floats, speeds: Floats, fitted: Floats) -> Floats:
    """The mean cost of an iteration in each bin, as measured where it was."""
    work, counts = (seconds * speeds[:, None]).sum(axis=0), done.sum(axis=0)
    return np.where(counts > 0, work / np.maximum(counts, 1e-300), fitted)


def _first_shares(run: RunTrace, edges: NDArray[np.int64], ranks: int) -> Floats:
    """Iterations of the first shares by rank and bin; in blocks where a pool deals, or rank 0 was alone."""
    if run.setup is not None:
        units, dealt = run.setup.start.context.units, run.setup.start.shares
        if sum(map(len, dealt)) == len(units) and len(dealt) == ranks:
            parts = [units.positions(share).runs for share in dealt]
            return np.array([sum((_counted(part, edges) for part in own), np.zeros(len(edges) - 1))
                             for own in parts])  # fmt: skip
    cuts = np.linspace(0, run.iterations, ranks + 1).astype(np.int64).tolist()
    return np.array([_counted(range(a, b), edges) for a, b in pairwise(cuts)])


def _stated(run: RunTrace, edges: NDArray[np.int64], costs: Floats) -> tuple[float, ...] | None:
    """The cost with which the loop was dealt, in seconds of the same total; None if it was uniform."""
    if run.setup is None:
        return None
    context = run.setup.start.context
    if context.work_table.uniform or context.units.folded:
        return None
    work = np.diff([float(context.work_table.before(int(edge))) for edge in edges])
    counts = np.diff(edges)
    if not work.sum() > 0:
        return None
    return tuple((work / counts * ((costs * counts).sum() / work.sum())).tolist())


def _excess(per_rank: Floats, rank: int) -> float:
    """By how much the time of a rank exceeds the mean."""
    mean = float(per_rank.mean())
    found = float(per_rank[rank]) / mean - 1.0 if mean > 0 else 0.0
    return found if isfinite(found) else 0.0
