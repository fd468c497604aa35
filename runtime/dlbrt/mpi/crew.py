"""The MPI driver of a rank's agent (`dlbrt.core.agent`): it tells it what happens, and does what it asks.

Everything a rank waits for is looked at in turn, so that no order of arrival can block it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from dlbrt.core.actions import (
    Action,
    Choose,
    Claim,
    Exchange,
    Finish,
    Give,
    Instruct,
    Move,
    Report,
    Resume,
    State,
    Tell,
    methods_of,
)
from dlbrt.core.agent import Account, Agent
from dlbrt.core.chunks.measured import Report as ChunkReport
from dlbrt.core.events import (
    Asked,
    Event,
    Exhausted,
    Failed,
    Given,
    Instructed,
    Reported,
    Told,
    Waited,
    Worked,
)
from dlbrt.core.peers.words import Word
from dlbrt.dist.field import Field
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units
from dlbrt.mpi.answers import Answer, FromAll, FromCenter, FromCounter, FromGroup, FromHeads
from dlbrt.mpi.movement import Movements
from dlbrt.mpi.objects import Objects
from dlbrt.mpi.post import Noted, Post
from dlbrt.mpi.team import Figures, Looks, clock
from dlbrt.mpi.wire import Wire

if TYPE_CHECKING:
    from dlbrt.core.chooser import Chooser
    from dlbrt.core.model.choose import Choice
    from dlbrt.observe.recorder import Recorder

__all__ = ["Crew"]


class Crew:
    """This rank in a loop that all ranks run.

    ``serial`` numbers the parallel calls alike on every rank. ``chooser`` is what the balancer asks for a
    strategy, if it does. ``staying`` are the identities of arrays that stay on the ranks. ``recorder`` takes
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
        self._agent = agent
        self._chooser = chooser
        self._post = Post(wire, serial)
        self._movements = Movements(wire, agent.units, fields, objects, staying, self.figures)
        self._actions: deque[Action] = deque()
        self._answer: Answer | None = None
        self._past = Account()  # of the agents before
        self.loading_s = 0.0  # importing the model, once in a program
        if agent.claims:
            wire.counter  # noqa: B018 -- made by all ranks together

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
                action = self._actions.popleft()
                _METHODS[type(action)](self, action)
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
        if (answer := self._answer) is not None and answer.complete():
            self._answer = None
            self._decide(answer.event(clock()))
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
        """Take a note, the words, and a report to the central balancer, if one has come."""
        if (said := self._post.noted()) is not None:
            self._hear(said)
        if self._agent.serves and (report := self._post.reported()):
            self._decide(report)
        if self._agent.listens:
            for source, word in self._post.words():
                self._take(source, word)

    def _take(self, source: int, said: Word | Spans) -> None:
        """A word has come, or units of work, whose rows follow."""
        if isinstance(said, Spans):
            self._movements.take(said, source)
            self._decide(Given(clock(), source, said))
        else:
            self._decide(Told(clock(), source, said))

    def _decide(self, event: Event) -> None:
        """An event at which something may be decided."""
        start = clock()
        self._hear(event)
        self.figures.decision_s += clock() - start

    def _end(self) -> None:
        """Nothing is left to do here: what is under way arrives, and what was counted is told."""
        self._post.complete()
        self._movements.complete()
        account, figures = self._past + self._agent.account(), self.figures
        figures.windows, figures.gain = account.windows, account.gain
        figures.synchronizations = account.synchronizations
        figures.redistributions = account.redistributions

    def _do_exchange(self, action: Exchange) -> None:
        if len(action.members) == self._wire.ranks:
            self._answer = FromAll(self._wire, action.profile)
        else:
            self._answer = FromGroup(self._wire, action.profile, action.members)

    def _do_report(self, action: Report) -> None:
        if self._wire.rank == action.master:
            self._decide(Reported(clock(), action.master, action.profile))
            return
        self._post.report(action.profile, action.master)
        self._answer = FromCenter(self._wire, action.master)

    def _do_instruct(self, action: Instruct) -> None:
        self._post.instruct(action)
        if self._wire.rank in action.members:
            self._decide(Instructed(clock(), action.profiles, action.decision))

    def _do_interrupt(self, action: Noted) -> None:
        self._post.notify(action)

    _do_alarm = _do_summon = _do_announce = _do_interrupt

    def _do_state(self, action: State) -> None:
        if action.statement is not None:
            self._post.state(action.statement)
        self._answer = FromHeads(self._wire, action.heads, action.statement)

    def _do_choose(self, action: Choose) -> None:  # noqa: ARG002
        if self._chooser is not None:
            start = clock()
            self._chooser.load()
            self.loading_s += clock() - start
        self._decide(Asked(clock()))

    def _do_move(self, action: Move) -> None:
        taken, size = self._movements.move(action.transfers)
        if self.recorder is None:
            self._agent.transferred(taken, size)
        else:
            self.recorder.transferred(self._agent, clock(), taken, size)

    def _do_tell(self, action: Tell) -> None:
        self._post.tell(action.word, action.targets)

    def _do_give(self, action: Give) -> None:
        self._post.tell(action.units, (action.target,))
        self._movements.give(action.units, action.target)

    def _do_claim(self, action: Claim) -> None:
        self._answer = FromCounter(self._wire.counter, action.count)

    def _do_resume(self, action: Resume) -> None:
        """The work is there; `_may_go_on` sees it."""

    def _do_finish(self, action: Finish) -> None:
        """`finished` sees it; or the central balancer, here, has other groups to serve."""


#: Methods of the class: with bound ones a crew would refer to itself, and keep the program's arrays alive.
_METHODS = methods_of(Crew)
