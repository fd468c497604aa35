"""Which cause each second that ranks did not compute is given to.

Of a run's lost time, carrying comes first: calls, rows and results, less imports, compiling and the first
call. Of the waiting, as much as the longest computing exceeds the mean one is imbalance; what else was spent
in synchronizations is theirs. The rest, where ranks waited at the end though all had computed as long, goes
to the larger of the two: late rows, or late synchronizations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from dlbc.commands.report.facts import LoopFacts, ProgramFacts, RunFacts
from dlbc.commands.report.findings import Cause
from dlbc.commands.report.slow_ranks import SLOW, cliff_of

#: Runs with less computing (in seconds, of all ranks) and fewer bytes in rows are short, if more than this
#: part of their time goes into sharing.
_SHORT_S, _SHORT_BYTES, _SHORT_PART = 0.02, 1e6, 0.5

#: Costs that differ by a smaller factor, and shares by a smaller part, are not what ranks waited for.
_GROWTH, _UNEVEN = 1.5, 0.05

#: A stated cost that is off by a larger factor explains why ranks waited.
STATED_OFF = 2.0


def losses_of(loop: LoopFacts, program: ProgramFacts) -> dict[Cause, float]:
    """The seconds lost in the loop, by cause."""
    lost = defaultdict[Cause, float](float)
    shared = [run for run in loop.runs if run.shared]
    short, first_s = is_short(shared), _first_preparation(shared)
    waiting = _why_waiting(loop, program)
    for run in loop.runs:
        if not run.shared:
            lost[Cause.ALONE if run.reason else Cause.SHORT_LOOP] += run.lost_s if program.ranks > 1 else 0.0
            continue
        loading = min(max(run.loading_s, first_s), run.carrying_s)
        first_s = 0.0
        carrying = run.carrying_s - loading
        waited = max(0.0, run.lost_s - run.carrying_s)
        imbalance = min(max(run.compute_s) - run.mean_s, waited)
        rest = waited - imbalance
        synchronizing = min(rest, run.synchronizing_s)
        late = rest - synchronizing  # of ranks that waited at the end though all had computed as long
        lost[Cause.STARTUP] += loading
        lost[waiting] += imbalance
        late_carrying = carrying >= synchronizing
        carrying += late if late_carrying else 0.0
        synchronizing += 0.0 if late_carrying else late
        lost[Cause.SHORT_LOOP if short else Cause.TRANSFERS] += carrying
        lost[Cause.SHORT_LOOP if short else Cause.SYNCHRONIZATION] += synchronizing
    return lost


def _first_preparation(shared: Sequence[RunFacts]) -> float:
    """How much longer than others the first run was prepared.

    That is imports, mostly. Where no run followed, it is all of it if there were few rows to send.
    """
    if not shared:
        return 0.0
    first, later = shared[0], [run.preparing_s for run in shared[1:]]
    usual_s = median(later) if later else first.preparing_s * (first.row_bytes >= _SHORT_BYTES)
    return max(0.0, first.preparing_s - usual_s)


def is_short(shared: Sequence[RunFacts]) -> bool:
    """Whether runs compute so little that sharing them costs more."""
    elapsed, computing = sum(r.elapsed_s for r in shared), sum(sum(r.compute_s) for r in shared)
    size = sum(r.row_bytes for r in shared)
    small = computing < _SHORT_S * len(shared) and size < _SHORT_BYTES * len(shared)
    return small and elapsed - sum(max(r.compute_s) for r in shared) > _SHORT_PART * elapsed


def _why_waiting(loop: LoopFacts, program: ProgramFacts) -> Cause:
    """Why some ranks of the loop computed for longer than others."""
    profile = loop.profile
    if cliff_of(loop, program) is not None:
        return Cause.MEMORY_CLIFF
    if profile is None:
        return Cause.UNEXPLAINED_WAITING
    last = next((run for run in reversed(loop.runs) if run.shared), None)
    if last is not None and max(last.compute_s) - last.mean_s < profile.longest_s:
        return Cause.FEW_ITERATIONS
    known = [speed for speed in profile.speeds if speed is not None]
    if profile.slow > profile.uneven and min(known, default=1.0) < SLOW:
        return Cause.SLOW_RANK
    uneven = (profile.growth > _GROWTH and profile.uneven > _UNEVEN) or profile.misfit > STATED_OFF
    return Cause.UNEVEN_COST if uneven else Cause.UNEXPLAINED_WAITING
