"""When one that has run out of work asks the others for a synchronization: a rank its group, a group all.

When the others are due follows from what they held when the time began, and the speeds known. If one is due
well after now, asking pays, though not before the time is long against what a synchronization costs. If
all are due about now, they finish by themselves: only when they are overdue by more than the slack is
something slower than it was, and worth an interrupt.

Under strategies that go by the clock (`Periodicity`) nobody needs to be asked: see `period_s`.
"""

from __future__ import annotations

import math

from dlbrt.core.books import GroupState
from dlbrt.core.open_window import OpenWindow
from dlbrt.core.parameters import Parameters
from dlbrt.core.strategy import Periodicity

__all__ = ["interrupt_time", "period_s", "request_time"]


def request_time(
    now: float, began_at: float, due_at: float, costs_s: float, exchange_s: float, parameters: Parameters
) -> float:
    """When to ask, having run out now; the last of the others is due at ``due_at``.

    ``exchange_s`` is what a synchronization costs by the network. Asking costs the others ``costs_s``: up to
    an iteration each, as they look for interrupts in between, or what the last synchronization has shown.
    """
    interval = parameters.interval_factor * exchange_s
    slack = max(parameters.interrupt_slack * (now - began_at), interval / 2, costs_s)
    if due_at - now > slack:
        return max(now, began_at + interval)
    return max(now, due_at) + slack


def interrupt_time(group_state: GroupState, rank: int, window: OpenWindow, now: float) -> float:
    """When a rank that has run out interrupts its group; where no speeds are known, by its own."""
    place, estimates, context = group_state.place(rank), group_state.estimates, group_state.context
    due_s = estimates.due_s(place)
    if due_s is None:
        done = context.work_table.of(group_state.share(rank).first(window.done)[0])
        due_s = (now - window.opened_at) * estimates.most_held(place) / max(1, done)
    due_at = window.opened_at + due_s
    costs_s = max(window.unit_s, group_state.exchange_s)
    return request_time(now, window.opened_at, due_at, costs_s, context.exchange_s, context.parameters)


def period_s(group_state: GroupState, habit: Periodicity) -> float:
    """How long a window that begins now lasts where nobody interrupts; infinity: as long as there is work."""
    if habit is Periodicity.NEVER or (habit is Periodicity.IDLE and group_state.estimates.all_busy):
        return math.inf
    context = group_state.context
    return max(context.parameters.period_s, context.parameters.interval_factor * context.exchange_s)
