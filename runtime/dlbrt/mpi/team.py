"""The ranks that run a loop, as one of them sees it: alone, or in a crew driven by the balancer.

The crew is the MPI driver of `dlbrt.core.balancer`: it tells it what happens and carries out what it
asks. Everything it waits for is looked at in turn, so that no order of arrival can block it.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from dlbrt.core.actions import (
    Action,
    Alarm,
    Announce,
    Choose,
    Exchange,
    Finish,
    Instruct,
    Interrupt,
    Move,
    Report,
    Resume,
    State,
    Summon,
)
from dlbrt.core.balancer import Balancer
from dlbrt.core.chooser import Chooser
from dlbrt.core.events import (
    Alarmed,
    Asked,
    Committed,
    Event,
    Exhausted,
    Failed,
    Instructed,
    Interrupted,
    Reported,
    Summoned,
    Waited,
    Worked,
)
from dlbrt.core.model.choose import Choice
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.registry import names
from dlbrt.core.windows import Gain, Window
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import Rows
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.dist.units import Units
from dlbrt.mpi.answers import Answer, FromAll, FromCenter, FromGroup, FromHeads, answer_to
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.wire import ANY, INSTRUCTION, REPORT, STATEMENT, Note, Wire

__all__ = ["Crew", "Figures", "Solo", "Team"]

clock = time.perf_counter

Looks = Sequence[tuple[int, float]]

#: Messages under way beyond which those that have arrived are forgotten.
_SENDING = 64


@dataclass(slots=True)
class Figures:
    """What one rank counts while it runs a loop; times in seconds, each apart from the others.

    ``sync_s`` is spent on synchronizations that came while there was work, ``idle_s`` waiting without any,
    ``decision_s`` on new shares and the choice of a strategy, ``movement_s`` on moving work. What a group has
    in common (``synchronizations``, ``redistributions``, ``windows``, ``gain``) its lowest rank counts.
    """

    parts: list[range] = field(default_factory=list)
    compute_s: float = 0.0
    sync_s: float = 0.0
    idle_s: float = 0.0
    decision_s: float = 0.0
    movement_s: float = 0.0
    synchronizations: int = 0
    redistributions: int = 0
    iterations_moved: int = 0
    bytes_moved: int = 0
    windows: tuple[Window, ...] = ()
    gain: Gain = field(default_factory=Gain)

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

    @property
    def apart(self) -> bool:
        """Whether the body may have failed elsewhere without this rank's knowing."""

    def worked(self, units: int, done: Spans, compute_s: float, course: Looks = ()) -> None:
        """This rank did the next ``units`` of its work, positions ``done``, in ``compute_s`` seconds.

        ``course`` tells how many units in how many seconds at some looks in between.
        """

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
        self.apart = False
        self.figures = Figures()

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return not self.work

    def worked(self, units: int, done: Spans, compute_s: float, course: Looks = ()) -> None:  # noqa: ARG002
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

    ``serial`` numbers the parallel calls alike on every rank, so that an interrupt that comes late is known
    for what it is. ``chooser`` is what the balancer asks for a strategy, if it does. ``staying`` are the
    identities of arrays that stay on the ranks: of those rank 0 has no more than its rows.
    """

    def __init__(
        self,
        wire: Wire,
        serial: int,
        balancer: Balancer,
        fields: Sequence[Field],
        objects: Objects,
        chooser: Chooser | None = None,
        staying: Container[int] = (),
    ) -> None:
        self.figures = Figures()
        self._wire = wire
        self._serial = serial
        self._balancer = balancer
        self._fields = fields
        self._objects = objects
        self._chooser = chooser
        self._staying = staying
        self._actions: deque[Action] = deque()
        self._answer: Answer | None = None
        self._sending: list[MPI.Request] = []

    @property
    def units(self) -> Units:
        """What work is counted in."""
        return self._balancer.terms.units

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""
        return self._balancer.runnable

    @property
    def finished(self) -> bool:
        """Whether no rank has any left."""
        return self._balancer.finished

    def held(self, rank: int) -> Spans:
        """The positions that a rank was dealt."""
        return self.units.positions(self._balancer.dealt[rank])

    @property
    def strategy(self) -> str:
        """The name of the strategy that this rank balances by."""
        return self._balancer.strategy.name

    @property
    def choice(self) -> Choice | None:
        """Why it is that one, where one was chosen."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""
        return self._balancer.failed_at

    @property
    def apart(self) -> bool:
        """Whether groups end by themselves."""
        return self._balancer.strategy.local

    def worked(self, units: int, done: Spans, compute_s: float, course: Looks = ()) -> None:
        """Tell the balancer."""
        self.figures.add(done, self.work.runs[0].step)
        self._balancer.handle(Worked(clock(), units, compute_s, course))
        self.figures.compute_s += compute_s

    def failed(self, position: int) -> None:
        """Tell the balancer; the others are interrupted at the next `synchronize`."""
        self._actions += self._balancer.handle(Failed(clock(), position))

    def interrupted(self) -> bool:
        """Whether something has come that `synchronize` is to take before this rank's work is done."""
        if self._balancer.center is not None and self._wire.report_waits():
            return True
        if self._answer is not None:
            return self._answer.complete()
        return self._wire.interrupt_waits() or self._balancer.due(clock())

    def synchronize(self) -> None:
        """Carry out what the balancer asks until this rank has work again, or the loop is over."""
        self._look_for_notes()
        if self._balancer.due(now := clock()):
            self._actions += self._balancer.handle(Waited(now))
        if self._may_go_on():
            return
        start, had_work, figures = clock(), bool(self.work), self.figures
        apart_s = figures.decision_s + figures.movement_s
        if not (had_work or self._balancer.waiting):
            self._actions += self._balancer.handle(Exhausted(start))
        self._settle()
        if self.finished:
            self._wire.complete(self._sending)
            self._report_books()
        waited = clock() - start - (figures.decision_s + figures.movement_s - apart_s)
        if had_work:
            figures.sync_s += waited
        else:
            figures.idle_s += waited

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
        return self.finished or (bool(self.work) and not self._answered())

    def _look(self) -> bool:
        """Look at everything this rank waits for; whether something happened."""
        if self._answered():
            assert self._answer is not None
            event, self._answer = self._answer.event(clock()), None
            self._decide(event)
        else:
            self._look_for_notes()
            self._actions += self._balancer.handle(Waited(clock()))
        return bool(self._actions) or self.finished

    def _answered(self) -> bool:
        """Whether the answer to this rank's profile is there."""
        return self._answer is not None and self._answer.complete()

    def _look_for_notes(self) -> None:
        """Take a note, and a report to the central balancer, if one has come."""
        note = self._wire.interrupted()
        if note is not None and note.serial == self._serial:
            self._actions += self._balancer.handle(_told(note, clock()))
        if self._balancer.center is not None and (report := self._wire.poll_bytes(ANY, REPORT)):
            profile = Profile.decode(np.frombuffer(report[1], dtype=np.float64).tolist())
            self._decide(Reported(clock(), report[0], profile))

    def _decide(self, event: Event) -> None:
        """An event at which something may be decided."""
        start = clock()
        self._actions += self._balancer.handle(event)
        self.figures.decision_s += clock() - start

    def _report_books(self) -> None:
        books, rounds = self._balancer.books, self._balancer.rounds
        if rounds is not None:
            self.figures.windows = tuple(rounds.past)
        if books.members[0] == self._wire.rank:
            self.figures.synchronizations = books.synchronizations
            self.figures.redistributions = books.redistributions
            self.figures.gain = books.gain
            self.figures.windows += tuple(books.windows)

    def _carry_out(self, action: Action) -> None:
        if len(self._sending) > _SENDING:
            self._sending = [request for request in self._sending if not request.Test()]
        handlers: dict[type, Callable[[Any], None]] = {
            Exchange: self._start_exchange,
            Report: self._report,
            Instruct: self._instruct,
            Interrupt: self._interrupt,
            Alarm: self._alarm,
            Summon: self._summon,
            State: self._state,
            Choose: self._choose,
            Announce: self._announce,
            Move: self._move,
            Resume: self._resume,
            Finish: self._finish,
        }
        handlers[type(action)](action)

    def _start_exchange(self, action: Exchange) -> None:
        if len(action.members) == self._wire.ranks:
            self._answer = FromAll(self._wire, action.profile)
        else:
            self._answer = FromGroup(self._wire, action.profile, action.members)

    def _report(self, action: Report) -> None:
        if self._wire.rank == action.master:
            self._decide(Reported(clock(), action.master, action.profile))
            return
        data = np.array(action.profile.encode(), dtype=np.float64).tobytes()
        self._sending.append(self._wire.send_bytes(data, action.master, REPORT))
        self._answer = FromCenter(self._wire, action.master)

    def _instruct(self, action: Instruct) -> None:
        data = answer_to(action.profiles, action.decision)
        others = (rank for rank in action.members if rank != self._wire.rank)
        self._sending += [self._wire.send_bytes(data, rank, INSTRUCTION) for rank in others]
        if self._wire.rank in action.members:
            self._decide(Instructed(clock(), action.profiles, action.decision))

    def _interrupt(self, action: Interrupt) -> None:
        self._sending += self._wire.interrupt(Note(self._serial, action.epoch), action.members)

    def _alarm(self, action: Alarm) -> None:
        note = Note(self._serial, failed_at=action.position)
        self._sending += self._wire.interrupt(note, action.members)

    def _summon(self, action: Summon) -> None:
        self._sending += self._wire.interrupt(Note(self._serial, round=action.round), action.members)

    def _state(self, action: State) -> None:
        if action.statement is not None:
            data = pickle.dumps(action.statement, pickle.HIGHEST_PROTOCOL)
            others = (rank for rank in range(self._wire.ranks) if rank != self._wire.rank)
            self._sending += [self._wire.send_bytes(data, rank, STATEMENT) for rank in others]
        self._answer = FromHeads(self._wire, action.heads, action.statement)

    def _choose(self, action: Choose) -> None:  # noqa: ARG002
        self._decide(Asked(clock()))

    def _announce(self, action: Announce) -> None:
        note = Note(self._serial, strategy=names().index(action.strategy))
        self._sending += self._wire.interrupt(note, action.members)

    def _move(self, action: Move) -> None:
        start, mover = clock(), Mover(self._wire, self._fields, self._objects)
        for transfer in action.transfers:
            if transfer.source == self._wire.rank:
                needed = Field.needed if transfer.target else self._needed_at_0
                mover.send(self.units.positions(transfer.spans), transfer.target, needed)
        for transfer in action.transfers:
            if transfer.target == self._wire.rank:
                needed = Field.needed if transfer.target else self._needed_at_0
                mover.receive(self.units.positions(transfer.spans), transfer.source, needed)
        mover.complete()
        taken = clock() - start
        self.figures.movement_s += taken
        self._balancer.transferred(taken, mover.bytes_sent)
        self._count_moves(action.transfers, mover.bytes_sent)

    def _needed_at_0(self, field: Field, spans: Spans) -> Rows:
        # Rank 0 holds the user's own arrays: what does not stay on the ranks is there already.
        return field.needed(spans) if id(field.data) in self._staying else ()

    def _count_moves(self, transfers: Sequence[Transfer], size: int) -> None:
        given = (self.units.positions(t.spans) for t in transfers if t.source == self._wire.rank)
        self.figures.iterations_moved += sum(map(len, given))
        self.figures.bytes_moved += size

    def _resume(self, action: Resume) -> None:
        """The work is there; `_may_go_on` sees it."""

    def _finish(self, action: Finish) -> None:
        """`finished` sees it; or the central balancer, here, has other groups to serve."""


def _told(note: Note, now: float) -> Event:
    """What a note tells the balancer."""
    if note.strategy >= 0:
        return Committed(now, names()[note.strategy])
    if note.round >= 0:
        return Summoned(now, note.round)
    return Interrupted(now, note.epoch) if note.epoch >= 0 else Alarmed(now, note.failed_at)
