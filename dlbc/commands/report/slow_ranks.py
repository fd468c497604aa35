"""Ranks that are slower than others: always, or beyond a size, as where a host's memory is full.

A slow rank is found by the speeds that `dlbc.commands.report.cost_profile` tells apart from the costs of
iterations. A memory cliff (Clarke, Lastovetsky, Rychkov, figures 5, 9 and 12) is found in the passes of a
routine, where one rank holds different numbers of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dlbc.commands.report.cost_profile import CostProfile
from dlbc.commands.report.facts import LoopFacts, ProgramFacts, RoutineFacts
from dlbc.commands.report.findings import Cause, TimeFinding
from dlbc.commands.report.remedies import remedy
from dlbc.commands.report.words import count, part, times

#: A rank this much slower than the middle one is slow; smaller differences are those of any machine.
SLOW = 0.6

#: If more than this part of what a slow rank costs is waiting for it, balancing has not made up for it.
_WAITED = 0.25

#: Speed that falls by this factor beyond a size is a cliff; points on both sides differ by the second factor.
_CLIFF, _APART = 2.0, 1.3


def of_speeds(loop: LoopFacts, program: ProgramFacts) -> Iterator[TimeFinding]:
    """A rank that is slow, whether or not balancing has made up for it, or slow beyond a size."""
    if (found := cliff_of(loop, program)) is not None:
        rank, size, ratio, routine = found
        slower = f"becomes {times(ratio)} times slower with more than {count(size, 'row')}"
        what = f"{_named(rank, program)} {slower}, as a host does whose memory is full"
        advice = remedy(Cause.MEMORY_CLIFF.name, loop)
        yield TimeFinding(Cause.MEMORY_CLIFF, loop.source, _cliff_gain(routine), what, advice)
    elif loop.profile is not None and loop.profile.has_speeds and program.ranks > 1:
        known = {rank: speed for rank, speed in enumerate(loop.profile.speeds) if speed is not None}
        rank = min(known, key=known.__getitem__, default=0)
        if len(known) > 1 and known[rank] < SLOW:
            yield _of_slow_rank(loop, loop.profile, rank, known, program)


def _of_slow_rank(
    loop: LoopFacts, profile: CostProfile, rank: int, known: dict[int, float], program: ProgramFacts
) -> TimeFinding:
    """What it costs that a rank is slower than the middle one, with the waiting for it if that is why."""
    shared = [run for run in loop.runs if run.shared]
    why = profile.slow > profile.uneven
    took = sum(max(run.compute_s) if why else run.mean_s for run in shared)
    work = sum(run.compute_s[r] * speed for run in shared for r, speed in known.items())
    gain = max(0.0, took - work / sum(max(speed, 1.0) for speed in known.values()))
    waited = why and sum(max(run.compute_s) - run.mean_s for run in shared) > _WAITED * gain
    what = f"{_named(rank, program)} computed {times(1 / known[rank])} times slower than the others"
    done = sum(run.compute_s[rank] for run in shared) * known[rank]
    balanced = f"; it did {part(done / work)} of the work" if work > 0 else ""
    what += ", and they waited for it" if waited else balanced
    return TimeFinding(
        Cause.SLOW_RANK, loop.source, gain, what, remedy(Cause.SLOW_RANK.name, loop, waited, program.emulated)
    )


def _named(rank: int, program: ProgramFacts) -> str:
    """A rank, with its host where there are several."""
    return f"rank {rank} on {program.hosts[rank]}" if len(set(program.hosts)) > 1 else f"rank {rank}"


def cliff_of(loop: LoopFacts, program: ProgramFacts) -> tuple[int, int, float, RoutineFacts] | None:
    """The rank of the loop's routine that becomes slow beyond a size, the size, and how many times."""
    for routine in program.routines:
        if loop.id in routine.loops and loop.id == _longest(routine, program):
            cliffs = [(*found, rank) for rank in range(program.ranks) if (found := cliff(routine, rank))]
            if cliffs:
                ratio, size, rank = max(cliffs)
                return rank, size, ratio, routine
    return None


def _longest(routine: RoutineFacts, program: ProgramFacts) -> str:
    """The loop of a routine that took longest."""
    inside = [loop for loop in program.loops if loop.id in routine.loops]
    return max(inside, key=lambda loop: loop.elapsed_s).id


def cliff(routine: RoutineFacts, rank: int) -> tuple[float, int] | None:
    """By which factor a rank is slower beyond its cliff, and the rows up to it.

    None if there is no cliff: speeds with more rows are not all lower than those with fewer, or only one pass
    had more, which anything may have delayed.
    """
    points = sorted(
        (p.rows[rank], p.rows[rank] / p.seconds[rank], p.passes)
        for p in routine.passes
        if p.rows[rank] > 0 and p.seconds[rank] > 0
    )
    best: tuple[float, int] | None = None
    for place, ((below, _, _), (above, _, _)) in enumerate(pairwise(points), 1):
        if below == above:
            continue
        fast, slow = [s for _, s, _ in points[:place]], [s for _, s, _ in points[place:]]
        ratio, passes = (sum(fast) / len(fast)) / (sum(slow) / len(slow)), sum(n for *_, n in points[place:])
        if min(fast) > _APART * max(slow) and ratio > _CLIFF and passes > 1:
            best = max(best or (0.0, 0), (ratio, below))
    return best


def _cliff_gain(routine: RoutineFacts) -> float:
    """What all passes would take less if every rank had the best speed that it has shown."""
    ranks = range(len(routine.passes[0].rows))
    best = [
        max((p.rows[r] / p.seconds[r] for p in routine.passes if p.rows[r] and p.seconds[r]), default=0.0)
        for r in ranks
    ]
    return sum(max(0.0, max(p.seconds) - sum(p.rows) / sum(best)) * p.passes for p in routine.passes)
