"""When one that has run out of work asks the others for a synchronization: a rank its group, a group all.

When the others are due follows from what they held when the time began, and the speeds known. If one is due
well after now, asking pays, though not before the time is long against what a synchronization costs. If
all are due about now, they finish by themselves: only when they are overdue by more than the slack is
something slower than it was, and worth an interrupt.
"""

from __future__ import annotations

from dlbrt.core.parameters import Parameters

__all__ = ["time_to_ask"]


def time_to_ask(
    now: float, began_at: float, due_at: float, iteration_s: float, exchange_s: float, parameters: Parameters
) -> float:
    """When to ask, having run out now; the last of the others is due at ``due_at``.

    A rank looks for interrupts between iterations: asking costs the others up to one each, ``iteration_s``.
    """
    interval = parameters.interval_factor * exchange_s
    slack = max(parameters.patience * (now - began_at), interval / 2, iteration_s)
    if due_at - now > slack:
        return max(now, began_at + interval)
    return max(now, due_at) + slack
