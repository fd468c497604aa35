"""The ranks that run a loop, as one of them sees it: alone, or in a crew driven by the balancer.

The crew is the MPI driver of `dlbrt.core.balancer`: it tells it what happens and carries out what it
asks. Everything it waits for is looked at in turn, so that no order of arrival can block it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from dlbrt.core.actions import Action, Exchange, Finish, Interrupt, Move, Resume
from dlbrt.core.balancer import Balancer
from dlbrt.core.events import Exchanged, Exhausted, Failed, Interrupted, Waited, Worked
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.dist.field import Field
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.dist.units import Units
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.wire import Wire

__all__ = ["Crew", "Figures", "Solo", "Team"]

clock = time.perf_counter


@dataclass(slots=True)
class Figures:
    """What one rank counts while it runs a loop; times in seconds."""

    parts: list[range] = field(default_factory=list)
    compute_s: float = 0.0
    sync_s: float = 0.0
    idle_s: float = 0.0
    synchronizations: int = 0
    redistributions: int = 0
    iterations_moved: int = 0
    bytes_moved: int = 0

    @property
    def done(self) -> Spans:
        """The positions done."""
        return Spans.of(*self.parts)

    def add(self, done: Spans, step: int) -> None:
        """Count more positions, dealt ``step`` apart; one of the last two parts may go on."""
        for run in done.runs:
            for place in range(len(self.parts) - 1, max(-1, len(self.parts) - 3), -1):
                if (joined := _joined(self.parts[place], run, step)) is not None:
                    self.parts[place] = joined
                    break
            else:
                self.parts.append(run)


def _joined(part: range, run: range, step: int) -> range | None:
    """Both as one range of that step, if they make one, the run above or below."""
    low, high = (part, run) if part.start < run.start else (run, part)
    stepped = all(len(r) == 1 or r.step == step for r in (low, high))
    return range(low.start, high[-1] + step, step) if stepped and low[-1] + step == high.start else None


class Team(Protocol):
    """Who runs the loop."""

    figures: Figures

    @property
    def units(self) -> Units:
        """What work is counted in: iterations, or pairs of them."""

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed: from it on nothing is done."""

    @property
    def finished(self) -> bool:
        """Whether no rank has any left."""

    def worked(self, units: int, done: Spans, compute_s: float) -> None:
        """This rank did the next ``units`` of its work, positions ``done``, in ``compute_s`` seconds."""

    def failed(self, position: int) -> None:
        """The body raised at ``position``; what comes before it in this rank's work is done."""

    def interrupted(self) -> bool:
        """Whether a synchronization is asked for before this rank's work is done."""

    def synchronize(self) -> None:
        """Take part in synchronizations until there is work, or none anywhere."""


class Solo:
    """One rank that does everything itself."""

    def __init__(self, work: Spans) -> None:
        self.work = work
        self.units = Units(0, NO_FAILURE)
        self.failed_at = NO_FAILURE
        self.figures = Figures()

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return not self.work

    def worked(self, units: int, done: Spans, compute_s: float) -> None:
        """Count ``done`` as done."""
        self.figures.add(done, self.work.runs[0].step)
        self.work = self.work.first(units)[1]
        self.figures.compute_s += compute_s

    def failed(self, position: int) -> None:  # noqa: ARG002
        """Drop the rest, as an exception ends a sequential loop."""
        self.work = Spans(())

    def interrupted(self) -> bool:
        """Never."""
        return False

    def synchronize(self) -> None:
        """Nothing to synchronize with."""


class Crew:
    """This rank in a loop that all ranks run.

    ``serial`` numbers the parallel calls alike on every rank, so that an interrupt that comes late is
    known for what it is.
    """

    def __init__(
        self, wire: Wire, serial: int, balancer: Balancer, fields: Sequence[Field], objects: Objects
    ) -> None:
        self.figures = Figures()
        self._wire = wire
        self._serial = serial
        self._balancer = balancer
        self._fields = fields
        self._objects = objects
        self._actions: deque[Action] = deque()
        self._exchange: MPI.Request | None = None
        self._table: np.ndarray[Any, Any] | None = None
        self._interrupts: list[MPI.Request] = []
        self._complete = False

    @property
    def units(self) -> Units:
        """What work is counted in."""
        return self._balancer.units

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""
        return self._balancer.runnable

    @property
    def finished(self) -> bool:
        """Whether no rank has any left."""
        return self._balancer.finished

    def held(self, rank: int) -> Spans:
        """The positions that a rank held at the start of the current window."""
        return self.units.positions(self._balancer.shares[rank])

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""
        return self._balancer.failed_at

    def worked(self, units: int, done: Spans, compute_s: float) -> None:
        """Tell the balancer."""
        self.figures.add(done, self.work.runs[0].step)
        self._balancer.handle(Worked(clock(), units, compute_s))
        self.figures.compute_s += compute_s

    def failed(self, position: int) -> None:
        """Tell the balancer; the others are interrupted at the next `synchronize`."""
        self._actions += self._balancer.handle(Failed(clock(), position))

    def interrupted(self) -> bool:
        """Whether an interrupt or the exchange has come; `synchronize` takes it."""
        return self._wire.interrupt_waits() if self._exchange is None else self._exchanged()

    def synchronize(self) -> None:
        """Carry out what the balancer asks until this rank has work again, or the loop is over."""
        self._look_for_interrupts()
        if self._may_go_on():
            return
        start, had_work = clock(), bool(self.work)
        if not (had_work or self._actions or self._balancer.waiting):
            self._actions += self._balancer.handle(Exhausted(start))
        self._settle()
        waited = clock() - start
        if had_work:
            self.figures.sync_s += waited
        else:
            self.figures.idle_s += waited

    def _settle(self) -> None:
        pause = self._wire.pause()
        while not self._may_go_on():
            if self._actions:
                self._carry_out(self._actions.popleft())
                pause = self._wire.pause()
            elif not self._look():
                pause()

    def _may_go_on(self) -> bool:
        """Whether nothing is left to do here before this rank's next iterations, or for good."""
        if self._actions:
            return False
        return self.finished or (bool(self.work) and not self._exchanged())

    def _look(self) -> bool:
        """Look at everything this rank waits for; whether something happened."""
        if self._exchanged():
            self._complete_exchange()
        else:
            self._look_for_interrupts()
            self._actions += self._balancer.handle(Waited(clock()))
        return bool(self._actions) or self.finished

    def _exchanged(self) -> bool:
        """Whether the exchange under way is complete."""
        self._complete = self._complete or (self._exchange is not None and self._exchange.Test())
        return self._complete

    def _look_for_interrupts(self) -> None:
        note = self._wire.interrupted()
        if note is not None and note[0] == self._serial:
            self._actions += self._balancer.handle(Interrupted(clock(), note[1]))

    def _complete_exchange(self) -> None:
        assert self._table is not None
        profiles = tuple(Profile.decode(row) for row in self._table.tolist())
        self._exchange = self._table = None
        self._complete = False
        self._actions += self._balancer.handle(Exchanged(clock(), profiles))
        self.figures.synchronizations = self._balancer.synchronizations

    def _carry_out(self, action: Action) -> None:
        handlers: dict[type, Callable[[Any], None]] = {
            Exchange: self._start_exchange,
            Interrupt: self._interrupt,
            Move: self._move,
            Resume: self._resume,
            Finish: self._finish,
        }
        handlers[type(action)](action)

    def _start_exchange(self, action: Exchange) -> None:
        self._exchange, self._table = self._wire.exchange(action.profile.encode())

    def _interrupt(self, action: Interrupt) -> None:
        others = (rank for rank in range(self._wire.ranks) if rank != self._wire.rank)
        self._interrupts += self._wire.interrupt((self._serial, action.epoch), others)

    def _move(self, action: Move) -> None:
        start, mover = clock(), Mover(self._wire, self._fields, self._objects)
        # Rank 0 holds the user's own arrays: the rows of what it takes are there already.
        needed = [transfer for transfer in action.transfers if transfer.target != 0]
        for transfer in needed:
            if transfer.source == self._wire.rank:
                mover.send(self.units.positions(transfer.spans), transfer.target, Field.needed)
        for transfer in needed:
            if transfer.target == self._wire.rank:
                mover.receive(self.units.positions(transfer.spans), transfer.source, Field.needed)
        mover.complete()
        self._balancer.transferred(clock() - start, mover.bytes_sent)
        self._count_moves(action.transfers, mover.bytes_sent)

    def _count_moves(self, transfers: Sequence[Transfer], size: int) -> None:
        self.figures.redistributions += 1
        given = (self.units.positions(t.spans) for t in transfers if t.source == self._wire.rank)
        self.figures.iterations_moved += sum(map(len, given))
        self.figures.bytes_moved += size

    def _resume(self, action: Resume) -> None:
        """The work is there; `_may_go_on` sees it."""

    def _finish(self, action: Finish) -> None:  # noqa: ARG002
        self._wire.complete(self._interrupts)
        self._interrupts = []
