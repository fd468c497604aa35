"""The window under way on one rank: its work, what it has done, when it gives its profile and interrupts.

A window begins with a synchronization. It ends for a rank when the rank gives its profile, and the next
window begins when the answer is there.

Reserved work. In between the rank need not idle: the units that it has reserved stay first in its order of
execution, whatever is decided. So counts still say which units are done, and units done ahead of the answer
count in the next window. Other ranks are in the middle of an iteration when they are interrupted; of many
ranks the slowest has almost all of its iteration left, while a single other rank answers at once. No more
units are reserved than fit into that time, since a unit begun delays the work that the rank has to give by as
long as the unit takes, and ranks that wait for that work idle. With at most two units left the rank still
starts one: moving them costs more than it gains, and the receiver's speed on so few units is only a guess.

The tail. For the same reason a rank that is about to run out, and sees that the others are not, interrupts
them a little before. Meanwhile it does the tail of its work, which is as long as an iteration of the slowest
rank, which polls for interrupts only after it, and two exchanges, or as long as the last exchange took.

When to interrupt. When the others are due follows from what they held when the window began, and the speeds
known. If another rank is due well after now, an interrupt pays, though not before the time since the last
synchronization is long against the cost of one. If all are due about now, they finish by themselves: only
when they are overdue by more than the slack is something slower than it was, and worth an interrupt. The same
rule says when a group that has run out requests a group exchange. Under strategies that go by the clock
(`Periodicity`) no rank interrupts.

Progress. How a rank's speed has changed since the loop was shared goes into the model as the load seen so far
(Zaki, Li, Parthasarathy, section 1.3.3). Ranks compute in chunks of about a millisecond, so the record is
thinned as it grows: it stays within twice `_MAX_POINTS` points.
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
    """``work`` is still to be done, in this order; the window's ``done`` units took ``compute_s`` seconds.

    By the clock the profile is due at ``due_at`` (infinity: never); the others are to be interrupted at
    ``interrupt_at`` (None: not at all). The rank holds back the last ``tail`` units, to do them while the
    interrupt travels. Once ``profile_sent``, ``reserved`` units stay here, and ``ahead`` of them were done in
    ``ahead_s``. At ``called_at`` the rank was called to the synchronization, or called the others (infinity:
    it has run out and called no one).
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
        """How long a unit has taken."""
        return self.compute_s / max(1, self.done)

    @property
    def timer_at(self) -> float | None:
        """When the clock brings about an interrupt or a profile; None: never."""
        if self.profile_sent or not self.work:
            return self.interrupt_at
        return self.due_at if self.due_at < math.inf else None

    def due(self, now: float) -> bool:
        """Whether the rank, which still has work, has to give its profile by the clock."""
        return now >= self.due_at and bool(self.work) and not self.profile_sent

    def worked(self, units: int, seconds: float) -> None:
        """Take in that the next ``units`` were done."""
        self.work = self.work.part(units)
        if self.profile_sent:
            self.ahead += units
            self.ahead_s += seconds
        else:
            self.done += units
            self.compute_s += seconds

    def send_profile(self, called_at: float, reserved: int) -> None:
        """Note that the profile is given, which says that ``reserved`` units stay here."""
        self.profile_sent, self.called_at, self.reserved = True, called_at, reserved

    def waited_s(self, now: float) -> float:
        """How long the rank has only waited for a synchronization that was called."""
        return max(0.0, now - self.called_at - self.ahead_s)

    def stop(self) -> None:
        """Do no more of the reserved units."""
        self.reserved = self.ahead


#: A rank interrupted with at most this many units left begins one of them.
_LAST = 2


def reserve(group_state: GroupState, rank: int, window: OpenWindow) -> int:
    """How many units fit into the time from a profile given now until its answer."""
    context, ranks = group_state.context, len(group_state.members)
    rate = window.done / window.compute_s if window.compute_s > 0 else 0.0
    wait_s = group_state.synchronization_s(context.parameters.reserve_factor)
    if ranks > 2 and group_state.history.speeds is not None:
        wait_s += (1 - 2 / ranks) * group_state.slowest_unit_s(besides=rank)
    least = ranks > 2 and len(window.work) <= _LAST
    return min(len(window.work), max(int(least), int(wait_s * rate)))


def tail(group_state: GroupState, rank: int, held: int) -> int:
    """How many of the units held this rank does while the others are interrupted; 0 with no speeds known."""
    speeds = group_state.history.speeds
    if speeds is None or min(len(group_state.members), held) < 2:
        return 0
    own = speeds[group_state.place(rank)]
    wait_s = group_state.slowest_unit_s() + group_state.synchronization_s(2)
    return min(held - 1, max(1, round(wait_s * own / group_state.mean_unit_work)))


def request_time(
    now: float, began_at: float, due_at: float, costs_s: float, exchange_s: float, parameters: Parameters
) -> float:
    """When a rank or group that runs out now interrupts; the last of the others is due at ``due_at``.

    ``exchange_s`` is what a synchronization costs by the network. The interrupt costs the others ``costs_s``:
    up to an iteration each, as they poll between iterations, or what the last synchronization took.
    """
    interval = parameters.interval_factor * exchange_s
    slack = max(parameters.interrupt_slack * (now - began_at), interval / 2, costs_s)
    if due_at - now > slack:
        return max(now, began_at + interval)
    return max(now, due_at) + slack


def interrupt_time(group_state: GroupState, rank: int, window: OpenWindow, now: float) -> float:
    """When a rank that has run out interrupts its group; by its own speed where no speeds are known."""
    place, estimates, context = group_state.place(rank), group_state.estimates, group_state.context
    due_s = estimates.due_s(place)
    if due_s is None:
        done = context.work_table.of(group_state.share(rank).first(window.done)[0])
        due_s = (now - window.opened_at) * estimates.most_held(place) / max(1, done)
    due_at = window.opened_at + due_s
    costs_s = max(window.unit_s, group_state.exchange_s)
    return request_time(now, window.opened_at, due_at, costs_s, context.exchange_s, context.parameters)


def period_s(group_state: GroupState, habit: Periodicity) -> float:
    """How long a window that begins now lasts if no rank interrupts; infinity: as long as there is work."""
    if habit is Periodicity.NEVER or (habit is Periodicity.IDLE and group_state.estimates.all_busy):
        return math.inf
    context = group_state.context
    return max(context.parameters.period_s, context.parameters.interval_factor * context.exchange_s)


#: The slices of a profile where nothing was measured.
UNKNOWN = (0.0,) * SLICES

_MAX_POINTS = 256

#: How many samples are kept of units that are reported at once.
_MAX_SAMPLES = 64


class ProgressSamples:
    """The course of units that are reported at once: ``samples`` are (units done, seconds so far).

    They are thinned as they grow, to at most `_MAX_SAMPLES`.
    """

    def __init__(self) -> None:
        self.samples: list[tuple[int, float]] = []
        self._every = self._left = 1

    def add(self, units: int, seconds: float) -> None:
        """Take a sample: ``units`` were done after ``seconds``."""
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
        """Add ``work`` that took ``seconds`` of computing."""
        self._times.append(self._times[-1] + seconds)
        self._work.append(self._work[-1] + work)
        if len(self._times) > 2 * _MAX_POINTS:
            self._times[1:-1], self._work[1:-1] = self._times[2:-1:2], self._work[2:-1:2]

    def add_progress(self, did: Spans, work_table: WorkTable, progress: Iterable[tuple[int, float]]) -> None:
        """Add the units ``did`` by the samples of their ``progress``."""
        before, before_s = 0, 0.0
        for units, seconds in progress:
            work = work_table.of(did.first(units)[0])
            if seconds > before_s:
                self.add(work - before, seconds - before_s)
                before, before_s = work, seconds

    def slices(self) -> tuple[float, ...]:
        """The speed in each of `SLICES` equal parts of the time; zeros where no time has passed."""
        total_s = self._times[-1]
        if total_s <= 0:
            return UNKNOWN
        edges = np.linspace(0.0, total_s, SLICES + 1)
        work = np.interp(edges, self._times, self._work).tolist()
        return tuple((after - before) * SLICES / total_s for before, after in pairwise(work))
