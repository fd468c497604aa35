"""The window under way on one rank: the work that it has, what it has done of it, and when it has to speak.

A window begins with a synchronization. It ends for a rank when it gives its profile, and the next one begins
when the answer is there. In between the rank need not idle: what it has reserved stays first in its order of
execution whatever is decided, so counts go on telling which units are done, and what it does of it ahead of
the answer counts in the next window.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from dlbrt.balance.group_state import GroupState
from dlbrt.balance.messages import SLICES
from dlbrt.balance.strategy import Periodicity
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import WorkTable
from dlbrt.parameters import Parameters
from dlbrt.records import dataclass


@dataclass(slots=True)
class OpenWindow:
    """``work`` is still to be done, in this order; of the window's units ``done`` took ``compute_s`` seconds.

    By the clock the profile is due at ``due_at`` (infinity: never); the others are to be interrupted at
    ``interrupt_at`` (None: not at all). Of its work the rank holds back a ``tail``, to be done while others
    hear of it. Once the profile is ``profile_sent``, ``reserved`` units stay here; ``ahead`` of them were
    done, in ``ahead_s``. At ``called_at`` the rank was called to the synchronization, or called the others
    (infinity: it has run out and called nobody).
    """

    opened_at: float
    due_at: float
    work: Spans
    done: int = 0
    compute_s: float = 0.0
    tail: int = 0
    interrupt_at: float | None = None
    profile_sent: bool = False
    called_at: float = math.inf
    reserved: int = 0
    ahead: int = 0
    ahead_s: float = 0.0

    @property
    def runnable(self) -> Spans:
        """What the rank may work on now."""
        if self.profile_sent:
            return self.work.part(0, self.reserved - self.ahead)
        return self.work.part(0, len(self.work) - self.tail) if self.tail else self.work

    @property
    def unit_s(self) -> float:
        """What a unit has taken."""
        return self.compute_s / max(1, self.done)

    @property
    def timer_at(self) -> float | None:
        """When something is to be said that nothing but the clock brings about; None: never."""
        if self.profile_sent or not self.work:
            return self.interrupt_at
        return self.due_at if self.due_at < math.inf else None

    def due(self, now: float) -> bool:
        """Whether the rank, though it has work, is to give its profile by the clock."""
        return now >= self.due_at and bool(self.work) and not self.profile_sent

    def worked(self, units: int, seconds: float) -> None:
        """The next units were done, in so many seconds."""
        self.work = self.work.part(units)
        if self.profile_sent:
            self.ahead += units
            self.ahead_s += seconds
        else:
            self.done += units
            self.compute_s += seconds

    def send_profile(self, called_at: float, reserved: int) -> None:
        """The profile is given, which says that so many units stay here."""
        self.profile_sent, self.called_at, self.reserved = True, called_at, reserved

    def waited_s(self, now: float) -> float:
        """For how long there has been nothing to do but wait for a synchronization that was called."""
        return max(0.0, now - self.called_at - self.ahead_s)

    def stop(self) -> None:
        """Do no more of what is reserved."""
        self.reserved = self.ahead


# ------------------------------------------------------------------------------
# What a rank works on while profiles travel, so that it need not idle: what it reserves, and holds back.
#
# Others are in the midst of an iteration when they are interrupted, of many the slowest for almost all of it;
# with one other rank alone, the answer is there at once. More is not reserved, since a unit begun delays what
# the rank has to give by as long as it takes, and those who wait for it idle. But of the last ones one is, in
# any case: they are not worth the wait for a message to another, whose speed over so few is a guess.
#
# For the same reason a rank that is about to run out, and sees that the others are not, interrupts them a
# little before. The tail of its work, which it does meanwhile, is as long as an iteration of the slowest, who
# looks for interrupts only after it, and two exchanges, or what the last one took.

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


# ------------------------------------------------------------------------------
# When one that has run out of work asks the others for a synchronization: a rank its group, a group all.
#
# When the others are due follows from what they held when the time began, and the speeds known. If one is due
# well after now, asking pays, though not before the time is long against what a synchronization costs. If
# all are due about now, they finish by themselves: only when they are overdue by more than the slack is
# something slower than it was, and worth an interrupt.
#
# Under strategies that go by the clock (`Periodicity`) nobody needs to be asked: see `period_s`.


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


# ------------------------------------------------------------------------------
# How a rank's speed has changed since the loop was shared: work done over computing time, by slices.
#
# Zaki, Li, Parthasarathy, section 1.3.3: the load seen so far goes into the model. Ranks compute in chunks of
# about a millisecond, so the record is thinned as it grows: it stays within twice `_MAX_POINTS` points.

#: What is said where nothing was measured.
UNKNOWN = (0.0,) * SLICES

_MAX_POINTS = 256

#: Looks that are remembered of what is reported at once.
_MAX_SAMPLES = 64


class ProgressSamples:
    """How a stretch of units went that is reported at once: ``samples`` are (units done, seconds) up to each.

    It is thinned as it grows: it stays within `_MAX_SAMPLES` looks.
    """

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []
        self._every = self._left = 1

    def add(self, units: int, seconds: float) -> None:
        """So many were done by now."""
        self._left -= 1
        if self._left:
            return
        self.samples.append((units, seconds))
        if len(self.samples) > _MAX_SAMPLES:
            del self.samples[::2]
            self._every *= 2
        self._left = self._every


class SpeedTrace:
    """Cumulative work over cumulative computing time."""

    def __init__(self) -> None:
        self._times, self._work = [0.0], [0.0]

    def add(self, work: float, seconds: float) -> None:
        """So much was done in so many seconds of computing."""
        self._times.append(self._times[-1] + seconds)
        self._work.append(self._work[-1] + work)
        if len(self._times) > 2 * _MAX_POINTS:
            self._times[1:-1], self._work[1:-1] = self._times[2:-1:2], self._work[2:-1:2]

    def add_progress(self, did: Spans, work_table: WorkTable, progress: Iterable[tuple[int, float]]) -> None:
        """Of the units ``did`` so many were done in so many seconds, by the looks of the course."""
        before, before_s = 0, 0.0
        for units, seconds in progress:
            work = work_table.of(did.first(units)[0])
            if seconds > before_s:
                self.add(work - before, seconds - before_s)
                before, before_s = work, seconds

    def slices(self) -> tuple[float, ...]:
        """The speed in each of `SLICES` parts of the time; zeros where there was none."""
        total_s = self._times[-1]
        if total_s <= 0:
            return UNKNOWN
        edges = np.linspace(0.0, total_s, SLICES + 1)
        work = np.interp(edges, self._times, self._work).tolist()
        return tuple((after - before) * SLICES / total_s for before, after in pairwise(work))
