"""The MPI driver of a rank's agent (`dlbrt.core.agent`): it tells it what happens, and does what it asks.

Everything a rank waits for is looked at in turn, so that no order of arrival can block it.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from dlbrt.core.actions import (
    Action,
    Alarm,
    Announce,
    Choose,
    Claim,
    Exchange,
    Finish,
    Give,
    Instruct,
    Interrupt,
    Move,
    Report,
    Resume,
    State,
    Summon,
    Tell,
)
from dlbrt.core.agent import Account, Agent
from dlbrt.core.chooser import Chooser
from dlbrt.core.chunks.measured import Report as ChunkReport
from dlbrt.core.events import (
    Alarmed,
    Asked,
    Committed,
    Event,
    Exhausted,
    Failed,
    Given,
    Instructed,
    Interrupted,
    Reported,
    Summoned,
    Told,
    Waited,
    Worked,
)
from dlbrt.core.model.choose import Choice
from dlbrt.core.peers.words import Word
from dlbrt.core.profile import Profile
from dlbrt.core.registry import names
from dlbrt.dist.field import Field
from dlbrt.dist.footprint import Rows
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.dist.units import Units
from dlbrt.mpi.answers import Answer, FromAll, FromCenter, FromCounter, FromGroup, FromHeads, answer_to
from dlbrt.mpi.mover import Mover, Which
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.team import Figures, Looks, clock
from dlbrt.mpi.wire import ANY, INSTRUCTION, REPORT, STATEMENT, WORD, Note, Wire
from dlbrt.observe.recorder import Recorder

__all__ = ["Crew"]

#: Messages under way beyond which those that have arrived are forgotten.
_SENDING = 64


class Crew:
    """This rank in a loop that all ranks run.

    ``serial`` numbers the parallel calls alike on every rank, so that a message that comes late is known
    for what it is. ``chooser`` is what the balancer asks for a strategy, if it does. ``staying`` are the
    identities of arrays that stay on the ranks: of those rank 0 has no more than its rows. ``recorder`` takes
    down what the agent is told and asks for, if that is wanted.
    """

    def __init__(
        self,
        wire: Wire,
        serial: int,
        agent: Agent,
        fields: Sequence[Field],
        objects: Objects,
        chooser: Chooser | None = None,
        staying: Container[int] = (),
        recorder: Recorder | None = None,
    ) -> None:
        self.figures = Figures()
        self.recorder = recorder
        self._wire = wire
        self._serial = serial
        self._agent = agent
        self._fields = fields
        self._objects = objects
        self._chooser = chooser
        self._staying = staying
        self._actions: deque[Action] = deque()
        self._answer: Answer | None = None
        self._sending: list[MPI.Request] = []
        self._giving: list[Mover] = []
        self._past = Account()  # of the agents before
        if agent.claims:
            wire.counter  # noqa: B018 -- made by all ranks together
        #: Functions, not methods: by these the crew would hold itself, and with it the program's arrays.
        self._handlers: dict[type, Callable[[Crew, Any], None]] = {
            Exchange: Crew._start_exchange,
            Report: Crew._report,
            Instruct: Crew._instruct,
            Interrupt: Crew._interrupt,
            Alarm: Crew._alarm,
            Summon: Crew._summon,
            State: Crew._state,
            Choose: Crew._choose,
            Announce: Crew._announce,
            Move: Crew._move,
            Tell: Crew._tell,
            Give: Crew._give,
            Claim: Crew._claim,
            Resume: Crew._resume,
            Finish: Crew._finish,
        }

    @property
    def units(self) -> Units:
        """What work is counted in."""
        return self._agent.units

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""
        return self._agent.runnable

    @property
    def finished(self) -> bool:
        """Whether no rank has any left, or none will come here."""
        return self._agent.finished

    def held(self, rank: int) -> Spans:
        """The positions that a rank was dealt."""
        return self.units.positions(self._agent.dealt[rank])

    @property
    def strategy(self) -> str:
        """The name of the strategy that this rank balances by."""
        return self._agent.strategy_name

    @property
    def choice(self) -> Choice | None:
        """Why it is that one, where one was chosen."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""
        return self._agent.failed_at

    @property
    def apart(self) -> bool:
        """Whether ranks end by themselves."""
        return self._agent.apart

    def worked(self, units: int, done: Spans, compute_s: float, course: Looks = ()) -> None:
        """Tell the agent."""
        self.figures.add(done, self.work.runs[0].step)
        self._hear(Worked(clock(), units, compute_s, course))
        self.figures.compute_s += compute_s
        if self._agent.listens:
            report = ChunkReport(self._wire.rank, units, compute_s, compute_s)
            self.figures.chunks = self.figures.chunks.then(report)

    def failed(self, position: int) -> None:
        """Tell the agent; the others hear of it at the next `synchronize`."""
        self._hear(Failed(clock(), position))

    def interrupted(self) -> bool:
        """Whether something has come that `synchronize` is to take before this rank's work is done."""
        if self._agent.serves and self._wire.report_waits():
            return True
        if self._answer is not None:
            return self._answer.complete()
        if self._agent.listens and self._wire.word_waits():
            return True
        return self._wire.interrupt_waits() or self._agent.due(clock())

    def synchronize(self) -> None:
        """Carry out what the agent asks until this rank has work again, or the loop is over."""
        self._look_for_messages()
        if self._agent.due(now := clock()):
            self._hear(Waited(now))
        if self._may_go_on():
            return
        start, had_work, figures = clock(), bool(self.work), self.figures
        apart_s = figures.decision_s + figures.movement_s
        if not (had_work or self._agent.waiting or self._actions):
            self._hear(Exhausted(start))
        self._settle()
        if self.finished:
            self._end()
        waited = clock() - start - (figures.decision_s + figures.movement_s - apart_s)
        if had_work:
            figures.sync_s += waited
        else:
            figures.idle_s += waited

    def _hear(self, event: Event) -> None:
        """Tell the agent; what it asks for is carried out in turn."""
        if self.recorder is None:
            self._actions += self._agent.handle(event)
        else:
            self._actions += self.recorder.handle(self._agent, event)
        if (successor := self._agent.successor) is not None:
            self._past, self._agent = self._agent.account(), successor

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
            self._look_for_messages()
            self._hear(Waited(clock()))
            if not (self.work or self._actions or self._agent.waiting or self.finished):
                self._hear(Exhausted(clock()))  # what has come was no work
        return bool(self._actions) or self.finished

    def _answered(self) -> bool:
        """Whether the answer to this rank's profile is there."""
        return self._answer is not None and self._answer.complete()

    def _look_for_messages(self) -> None:
        """Take a note, a word, and a report to the central balancer, if one has come."""
        note = self._wire.interrupted()
        if note is not None and note.serial == self._serial:
            self._hear(_told(note, clock()))
        if self._agent.serves and (report := self._wire.poll_bytes(ANY, REPORT)):
            profile = Profile.decode(np.frombuffer(report[1], dtype=np.float64).tolist())
            self._decide(Reported(clock(), report[0], profile))
        if self._agent.listens:
            while found := self._wire.poll_bytes(ANY, WORD):
                self._take(found[0], *pickle.loads(found[1]))

    def _take(self, source: int, serial: int, said: Word | Spans) -> None:
        """A word has come, or units of work, whose data follows."""
        if serial != self._serial:
            return  # said when its teller did not know yet that a loop was over
        if isinstance(said, Spans):
            self._receive(source, said)
        else:
            self._decide(Told(clock(), source, said))

    def _decide(self, event: Event) -> None:
        """An event at which something may be decided."""
        start = clock()
        self._hear(event)
        self.figures.decision_s += clock() - start

    def _end(self) -> None:
        """Nothing is left to do here: what is under way arrives, and what was counted is told."""
        self._wire.complete(self._sending)
        for mover in self._giving:
            mover.complete()
        self._giving = []
        account, figures = self._past + self._agent.account(), self.figures
        figures.windows, figures.gain = account.windows, account.gain
        figures.synchronizations = account.synchronizations
        figures.redistributions = account.redistributions

    def _carry_out(self, action: Action) -> None:
        if len(self._sending) > _SENDING:
            self._sending = [request for request in self._sending if not request.Test()]
        self._handlers[type(action)](self, action)

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
                needed = self._needed_by(transfer.target)
                mover.send(self.units.positions(transfer.spans), transfer.target, needed)
        for transfer in action.transfers:
            if transfer.target == self._wire.rank:
                needed = self._needed_by(transfer.target)
                mover.receive(self.units.positions(transfer.spans), transfer.source, needed)
        mover.complete()
        taken = clock() - start
        self.figures.movement_s += taken
        if self.recorder is None:
            self._agent.transferred(taken, mover.bytes_sent)
        else:
            self.recorder.transferred(self._agent, clock(), taken, mover.bytes_sent)
        self._count_moves(action.transfers, mover.bytes_sent)

    def _tell(self, action: Tell) -> None:
        data = pickle.dumps((self._serial, action.word), pickle.HIGHEST_PROTOCOL)
        self._sending += [self._wire.send_bytes(data, rank, WORD) for rank in action.targets]

    def _give(self, action: Give) -> None:
        """Send units and their rows, which nobody here touches any more: they may go while work goes on."""
        start, mover = clock(), Mover(self._wire, self._fields, self._objects)
        data = pickle.dumps((self._serial, action.units), pickle.HIGHEST_PROTOCOL)
        self._sending.append(self._wire.send_bytes(data, action.target, WORD))
        given, needed = self.units.positions(action.units), self._needed_by(action.target)
        mover.send(given, action.target, needed)
        self._giving = [each for each in self._giving if not each.arrived()]
        self._giving.append(mover)
        self.figures.movement_s += clock() - start
        self.figures.iterations_moved += len(given)
        self.figures.bytes_moved += mover.bytes_sent

    def _receive(self, source: int, units: Spans) -> None:
        start, mover = clock(), Mover(self._wire, self._fields, self._objects)
        mover.receive(self.units.positions(units), source, self._needed_by(self._wire.rank))
        mover.complete()
        self.figures.movement_s += clock() - start
        self._decide(Given(clock(), source, units))

    def _claim(self, action: Claim) -> None:
        self._answer = FromCounter(self._wire.counter, action.count)

    def _needed_by(self, rank: int) -> Which:
        return Field.needed if rank else self._needed_at_0

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
