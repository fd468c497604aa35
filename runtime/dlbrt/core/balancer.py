"""The balancer of one rank: events in, actions out; no MPI, no clock, no randomness.

Law. The loop's iterations are dealt to ranks at the start, one by one or in pairs (`Units`). Time is cut
into windows, numbered by ``epoch``; an exchange of profiles among all ranks ends each. Every rank keeps the
same picture of who holds what (`shares`), because profiles say how many units each has done and work is done
in a known order; so every rank computes the same decision and the same movement, and nothing but profiles
needs to travel. The loop ends at the exchange that finds nothing left.

A rank gives its profile when it runs out of work or when it is interrupted, whichever comes first. One
that has run out interrupts the others (receiver-initiated balancing, Zaki et al., section 1.2), not at
once but when it pays: see `_interrupt_time`. A rank that a synchronization left without work never
interrupts. An interrupt of an epoch that has passed is dropped.

An interrupted rank need not idle while the profiles travel: it reserves some of its next iterations,
says so in its profile, and works on them. The decision leaves them where they are, and they stay first in
its order of execution, so that counts go on telling which iterations are done.

A failure of the body at position f cuts the work: iterations from f on are dropped everywhere, those
before f are still done, so that the failure reported is that of the lowest failing iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dlbrt.core.actions import Action, Exchange, Finish, Interrupt, Move, Resume
from dlbrt.core.decision import Decision, still_pays
from dlbrt.core.events import Event, Exchanged, Exhausted, Failed, Interrupted, Waited, Worked
from dlbrt.core.history import History
from dlbrt.core.parameters import Parameters
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.strategy import Situation, Strategy
from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import apply, plan_transfers
from dlbrt.dist.units import Units

__all__ = ["Balancer"]


class Balancer:
    """The replicated balancer, as rank ``rank`` runs it.

    ``shares[r]`` are the units that rank r holds at time ``now``, of ``units``, which are as much work as
    ``amounts`` says; ``unit_bytes`` is the data that moves with one; ``exchange_s`` what an exchange costs,
    if known. All but ``rank`` and ``now`` must be the same on every rank. Raises ValueError for an event
    that cannot happen in the state it meets.
    """

    def __init__(
        self,
        rank: int,
        shares: Sequence[Spans],
        strategy: Strategy,
        parameters: Parameters,
        now: float,
        *,
        units: Units | None = None,
        amounts: Amounts = UNIFORM,
        unit_bytes: float = 0.0,
        exchange_s: float = 0.0,
    ) -> None:
        self.rank = rank
        self.shares = tuple(shares)
        self.units = units or Units(0, NO_FAILURE)
        self.strategy = strategy
        self.parameters = parameters
        self.epoch = 0
        self.failed_at = self._own_failure = NO_FAILURE
        self.decisions: list[Decision] = []
        self.synchronizations = 0
        self.work = self.shares[rank]
        self.finished = False
        self._amounts = amounts
        self._unit_bytes = unit_bytes
        self._history = History(len(self.shares), parameters.least_sample_s)
        self._exchange_s = exchange_s or parameters.exchange_s
        self._move_byte_s = parameters.byte_s
        self._byte_s = 0.0
        self._open_window(now, 0, 0.0)

    def handle(self, event: Event) -> tuple[Action, ...]:
        """Take in one event; the actions are to be carried out in order."""
        handlers: dict[type, Callable[[Any], tuple[Action, ...]]] = {
            Worked: self._worked,
            Exhausted: self._exhausted,
            Interrupted: self._interrupted,
            Waited: self._waited,
            Exchanged: self._exchanged,
            Failed: self._failed,
        }
        return handlers[type(event)](event)

    def transferred(self, seconds: float, size: int) -> None:
        """Learn what moving ``size`` bytes took; it goes into the next profile."""
        if size > 0:
            self._byte_s = seconds / size

    @property
    def runnable(self) -> Spans:
        """What this rank may work on now: its work, or while profiles travel what it has reserved of it."""
        return self.work.first(self._reserved - self._ahead)[0] if self.waiting else self.work

    @property
    def waiting(self) -> bool:
        """Whether the profile of this window has been given and the exchange is under way."""
        return self._given_at is not None

    def _open_window(self, now: float, done: int, compute_s: float) -> None:
        self._opened_at = now
        self._done = done
        self._compute_s = compute_s
        self._reserved = self._ahead = 0
        self._ahead_s = 0.0
        self._given_at: float | None = None
        self._interrupt_at: float | None = None

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        if event.units > len(self.runnable):
            held = len(self.runnable)
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {held}")
        self.work = self.work.first(event.units)[1]
        if self.waiting:
            self._ahead += event.units
            self._ahead_s += event.compute_s
        else:
            self._done += event.units
            self._compute_s += event.compute_s
        return ()

    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        if self.work or self.waiting:
            raise ValueError(f"rank {self.rank} still holds {len(self.work)} units, or waits already")
        if self.shares[self.rank] and self.strategy.interrupts and len(self.shares) > 1:
            self._interrupt_at = self._interrupt_time(event.now)
        return (*self._give_profile(event.now), *self._waited(Waited(event.now)))

    def _interrupted(self, event: Interrupted) -> tuple[Action, ...]:
        if event.epoch != self.epoch or self.waiting or self.finished:
            return ()
        return self._give_profile(event.now, self._reserve())

    def _waited(self, event: Waited) -> tuple[Action, ...]:
        if self._interrupt_at is None or event.now < self._interrupt_at:
            return ()
        self._interrupt_at = None
        return (Interrupt(self.epoch),)

    def _failed(self, event: Failed) -> tuple[Action, ...]:
        self._own_failure = min(self._own_failure, event.position)
        if self.waiting:
            self._reserved = self._ahead  # the next profile, due at once, will tell
            return ()
        return self._give_failure(event.now)

    def _give_failure(self, now: float) -> tuple[Action, ...]:
        self.work = self.units.wanted(self.work, self._own_failure)
        return (*self._give_profile(now), Interrupt(self.epoch))

    def _give_profile(self, now: float, reserved: int = 0) -> tuple[Action, ...]:
        self._given_at, self._reserved = now, reserved
        failed_at = min(self.failed_at, self._own_failure)
        profile = Profile(self._done, self._compute_s, self._byte_s, failed_at, reserved)
        return (Exchange(self.epoch, profile),)

    def _reserve(self) -> int:
        """Units to work on while the profiles travel: what fits in, and one at least."""
        rate = self._done / self._compute_s if self._compute_s > 0 else 0.0
        return min(len(self.work), 1 + int(self.parameters.reserve_factor * self._exchange_s * rate))

    def _exchanged(self, event: Exchanged) -> tuple[Action, ...]:
        if self._given_at is None:
            raise ValueError(f"an exchange completed to which rank {self.rank} gave nothing")
        self.failed_at = min(profile.failed_at for profile in event.profiles)
        done, left = zip(
            *(held.first(p.done) for held, p in zip(self.shares, event.profiles, strict=True)), strict=True
        )
        self.shares = tuple(map(self._still_wanted, left))
        if not any(self.shares):
            self.work = self.shares[self.rank]
            self.finished = True
            return (Finish(),)
        self.synchronizations += 1
        self._learn(event.profiles, [self._amounts.of(spans) for spans in done])
        kept = [p.reserved for p in event.profiles]
        moves = self._rebalance(list(map(self._wanted_of_first, left, kept)))
        ahead = self._wanted_of_first(left[self.rank], self._ahead)
        self.work = self.shares[self.rank].first(ahead)[1]
        self.epoch += 1
        self._open_window(event.now, ahead, self._ahead_s)
        return (*moves, *self._next(event.now))

    def _next(self, now: float) -> tuple[Action, ...]:
        """What this rank does in the window just opened."""
        if self.failed_at > self._own_failure:
            return self._give_failure(now)
        return (Resume(),) if self.work else self._give_profile(now)

    def _still_wanted(self, spans: Spans) -> Spans:
        """What of some units has to be done although there may be a failure."""
        return spans if self.failed_at == NO_FAILURE else self.units.wanted(spans, self.failed_at)

    def _wanted_of_first(self, spans: Spans, count: int) -> int:
        return len(self._still_wanted(spans.first(count)[0]))

    def _learn(self, profiles: Sequence[Profile], work: Sequence[int]) -> None:
        self._history.add(profiles, work)
        self._move_byte_s = max(profile.byte_s for profile in profiles) or self._move_byte_s

    def _rebalance(self, reserved: Sequence[int]) -> tuple[Action, ...]:
        if self._history.speeds is None:
            return ()
        kept, free = zip(
            *(spans.first(count) for spans, count in zip(self.shares, reserved, strict=True)), strict=True
        )
        held = [self._amounts.of(spans) for spans in kept]
        decision = self.strategy.decide(self._situation(self._history.speeds, held, free))
        if decision is None:
            return ()
        self.decisions.append(decision)
        if not decision.moves:
            return ()
        wanted = [share - amount for share, amount in zip(decision.shares, held, strict=True)]
        transfers = plan_transfers(free, wanted, self._amounts)
        moved = apply(free, transfers)
        shares = tuple(one.then(other) for one, other in zip(kept, moved, strict=True))
        reached = [self._amounts.of(spans) for spans in shares]
        if not still_pays(decision, reached, self._history.speeds, self.parameters):
            return ()
        self.shares = shares
        return (Move(transfers),)

    def _situation(self, speeds: Sequence[float], held: Sequence[int], free: Sequence[Spans]) -> Situation:
        """What is decided by; ``held`` is the work of what stays in any case, ``free`` what may move."""
        remaining = tuple(amount + self._amounts.of(spans) for amount, spans in zip(held, free, strict=True))
        return Situation(
            remaining,
            held,
            speeds,
            self._exchange_s,
            sum(remaining) / sum(map(len, self.shares)) or 1.0,
            self._unit_bytes * self._move_byte_s,
            self.parameters,
        )

    def _interrupt_time(self, now: float) -> float:
        """When a rank that has run out interrupts the others.

        What the others held at the start of the window and their last known speeds (this rank's own,
        where none are known) say when they are due. If one is due well after now, interrupting pays,
        though not before the window is long against what a synchronization costs. If all are due about
        now, they finish by themselves: only when they are overdue by more than the slack is something
        slower than it was, and worth an interrupt.
        """
        window = now - self._opened_at
        interval = self.parameters.interval_factor * self._exchange_s
        # A rank looks for interrupts between iterations: interrupting costs the others up to one each.
        iteration = self._compute_s / max(1, self._done)
        slack = max(self.parameters.patience * window, interval / 2, iteration)
        due = self._opened_at + max(self._due_after(rank, window) for rank in self._others())
        if due - now > slack:
            return max(now, self._opened_at + interval)
        return max(now, due) + slack

    def _others(self) -> list[int]:
        return [rank for rank in range(len(self.shares)) if rank != self.rank]

    def _due_after(self, rank: int, window: float) -> float:
        speeds = self._history.speeds
        held = self._amounts.of(self.shares[rank])
        if speeds is not None:
            return held / speeds[rank]
        done = self._amounts.of(self.shares[self.rank].first(self._done)[0])
        return window * held / max(1, done)
