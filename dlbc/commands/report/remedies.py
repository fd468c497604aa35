"""What to do about each cause, in one sentence; `dlbc.commands.report.diagnosis` finds the cause."""

from __future__ import annotations

from dlbrt.balance.strategies import AUTO, STATIC

from dlbc.commands.report.facts import LoopFacts

_LET_MOVE = "let work move between the ranks: leave the strategy `none` out (`--strategy`, `schedule`)"

_STATE_COST = "add `cost(...)` with what an iteration costs"

#: What a loop measures is of use to its later runs.
_MEASURE = "`profile`, which measures it"

_REMEDIES = {
    "MEMORY_CLIFF": "give that host more memory, or more hosts fewer rows each; with `--learned FILE` the "
    "next run begins with the speeds found here",
    "FEW_ITERATIONS": "annotate a loop with more and shorter iterations, or use fewer ranks",
    "SHORT_LOOP": "annotate the loop around it, so that each run has more work",
    "STARTUP": "give the program more to do: this is done once, however much follows",
    "SEQUENTIAL": "annotate the loops that take longest there, if it has any; imports are part of it, and "
    "more ranks do not shorten them",
    "INTERPRETED": "change what is named there, or leave `jit` out; `dlbc explain` says more",
    "ALONE": "change what is named there; `dlbc explain` says more",
    "UNEXPLAINED_WAITING": "look at the timeline: whether one rank is always last, or another each time",
}


def remedy(cause: str, loop: LoopFacts | None = None, waited: bool = False, emulated: bool = False) -> str:
    """The remedy for a cause, by the name of it; for a slow rank, whether others ``waited`` for it."""
    strategy = loop.requested if loop is not None else ""
    if cause == "UNEVEN_COST":
        return _uneven(loop) if loop is not None else f"{_STATE_COST}, or {_MEASURE}"
    if cause == "SLOW_RANK":
        return _slow(strategy, waited, emulated)
    if cause == "TRANSFERS":
        return _transfers(loop)
    if cause == "SHORT_LOOP" and loop is not None and loop.in_routine:
        return "use fewer ranks, or give each pass more work: the loop around it is the routine's"
    if cause == "SYNCHRONIZATION":
        other = "leave the strategy to `auto`" if strategy != AUTO else "use fewer ranks"
        return f"{other}, or form groups of near ranks (`--group`); `dlbc calibrate` measures the network"
    return _REMEDIES[cause]


def _uneven(loop: LoopFacts) -> str:
    measure = f", or {_MEASURE}" if len(loop.runs) > 1 else ""
    if loop.requested == STATIC:
        return f"{_LET_MOVE}, or {_STATE_COST}{measure}"
    if loop.profile is not None and loop.profile.stated is not None:
        return f"state what an iteration costs by `cost(...)`{measure}"
    return f"{_STATE_COST}{measure}"


def _slow(strategy: str, waited: bool, emulated: bool) -> str:
    if waited and strategy == STATIC:
        return f"{_LET_MOVE}, or begin with shares by speed (`--weights`)"
    free = (
        "run without `--load` and `--speeds`, which emulate this"
        if emulated
        else "free its host of other load"
    )
    return f"{free}; with `--weights last` the next run begins with shares by these speeds"


def _transfers(loop: LoopFacts | None) -> str:
    if loop is not None and loop.in_routine:
        return "use fewer ranks: each then has a larger block, and fewer rows are exchanged for the same work"
    if loop is not None and len(loop.runs) == 1:
        more = "do more work with each row in this loop"
        if loop.elapsed_s > sum(sum(run.compute_s) for run in loop.runs):
            return f"{more}: these rows cost more to move than ranks save by them"
        return f"{more}, or have iterations pass on less (one sum instead of many items)"
    return (
        "do more work with each row: put the loops over these rows into an `iterate` loop, where arrays stay "
        "on the ranks (objects do not: keep their numbers in arrays)"
    )
