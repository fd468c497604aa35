"""What a rank works on while profiles travel, so that it need not idle: what it reserves, and holds back.

Others are in the midst of an iteration when they are interrupted, of many the slowest for almost all of it;
with one other rank alone, the answer is there at once. More is not reserved, since a unit begun delays what
the rank has to give by as long as it takes, and those who wait for it idle. But of the last ones one is, in
any case: they are not worth the wait for a message to another, whose speed over so few is a guess.

For the same reason a rank that is about to run out, and sees that the others are not, interrupts them a
little before. The tail of its work, which it does meanwhile, is as long as an iteration of the slowest, who
looks for interrupts only after it, and two exchanges, or what the last one took.
"""

from __future__ import annotations

from dlbrt.core.books import GroupState
from dlbrt.core.open_window import OpenWindow

__all__ = ["reserve", "tail"]

#: A rank interrupted with so many units left, or fewer, begins one.
_LAST = 2


def reserve(group_state: GroupState, rank: int, window: OpenWindow) -> int:
    """How many units fit into the time until the answer to a profile that is given now."""
    context, ranks = group_state.context, len(group_state.members)
    rate = window.done / window.compute_s if window.compute_s > 0 else 0.0
    wait_s = group_state.synchronization_s(context.parameters.reserve_factor)
    if ranks > 2 and group_state.history.speeds is not None:
        wait_s += (1 - 2 / ranks) * group_state.slowest_unit_s(besides=rank)
    least = ranks > 2 and len(window.work) <= _LAST
    return min(len(window.work), max(int(least), int(wait_s * rate)))


def tail(group_state: GroupState, rank: int, held: int) -> int:
    """How many of the units held this rank does while the others hear, stop and tell.

    None before anything is known of the others.
    """
    speeds = group_state.history.speeds
    if speeds is None or min(len(group_state.members), held) < 2:
        return 0
    own, wait_s = (
        speeds[group_state.place(rank)],
        group_state.slowest_unit_s() + group_state.synchronization_s(2),
    )
    return min(held - 1, max(1, round(wait_s * own / group_state.mean_unit_work)))
