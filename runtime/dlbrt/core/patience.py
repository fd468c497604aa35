"""When one that has run out of work asks the others for a synchronization: a rank its group, a group all.

When the others are due follows from what they held when the time began, and the speeds known. If one is due
well after now, asking pays, though not before the time is long against what a synchronization costs. If
all are due about now, they finish by themselves: only when they are overdue by more than the slack is
something slower than it was, and worth an interrupt.

Under strategies that go by the clock (`Clocked`) nobody needs to be asked: see `period_s`.
"""

from __future__ import annotations

import math

from dlbrt.core.books import Books
from dlbrt.core.open_window import OpenWindow
from dlbrt.core.parameters import Parameters
from dlbrt.core.strategy import Clocked

__all__ = ["period_s", "time_to_ask", "time_to_interrupt"]


def time_to_ask(
    now: float, began_at: float, due_at: float, costs_s: float, exchange_s: float, parameters: Parameters
) -> float:
    """When to ask, having run out now; the last of the others is due at ``due_at``.

    ``exchange_s`` is what a synchronization costs by the network. Asking costs the others ``costs_s``: up to
    an iteration each, as they look for interrupts in between, or what the last synchronization has shown.
    """
    interval = parameters.interval_factor * exchange_s
    slack = max(parameters.patience * (now - began_at), interval / 2, costs_s)
    if due_at - now > slack:
        return max(now, began_at + interval)
    return max(now, due_at) + slack


def time_to_interrupt(books: Books, rank: int, window: OpenWindow, now: float) -> float:
    """When a rank that has run out interrupts its group; where no speeds are known, by its own."""
    place, standing, terms = books.place(rank), books.standing, books.terms
    due_s = standing.due_s(place)
    if due_s is None:
        done = terms.amounts.of(books.share(rank).first(window.done)[0])
        due_s = (now - window.opened_at) * standing.most_held(place) / max(1, done)
    due_at = window.opened_at + due_s
    costs_s = max(window.unit_s, books.exchange_s)
    return time_to_ask(now, window.opened_at, due_at, costs_s, terms.exchange_s, terms.parameters)


def period_s(books: Books, habit: Clocked) -> float:
    """How long a window that begins now lasts where nobody interrupts; infinity: as long as there is work."""
    if habit is Clocked.NEVER or (habit is Clocked.IDLE and books.standing.all_busy):
        return math.inf
    terms = books.terms
    return max(terms.parameters.period_s, terms.parameters.interval_factor * terms.exchange_s)
