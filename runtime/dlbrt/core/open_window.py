"""The window under way on one rank: the work that it has, what it has done of it, and when it has to speak.

A window begins with a synchronization. It ends for a rank when it gives its profile, and the next one begins
when the answer is there. In between the rank need not idle: what it has reserved stays first in its order of
execution whatever is decided, so counts go on telling which units are done, and what it does of it ahead of
the answer counts in the next window.
"""

from __future__ import annotations

import math

from dlbrt.dist.spans import Spans
from dlbrt.records import dataclass

__all__ = ["OpenWindow"]


@dataclass(slots=True)
class OpenWindow:
    """``work`` is still to be done, in this order; of the window's units ``done`` took ``compute_s`` seconds.

    By the clock the profile is due at ``due_at`` (infinity: never); the others are to be interrupted at
    ``interrupt_at`` (None: not at all). Of its work the rank holds back a ``tail``, to be done while others
    hear of it. Once the profile is ``profile_sent``, ``reserved`` units stay here; ``ahead`` of them were done, in
    ``ahead_s``. At ``called_at`` the rank was called to the synchronization, or called the others (infinity:
    it has run out and called nobody).
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
