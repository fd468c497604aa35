"""The MPI driver of a rank's agent (`dlbrt.balance.agent`): it passes events in and carries actions out.

Everything that a rank waits for is polled in turn, so that no order of arrival can block it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts
from dlbrt.balance.member import GroupMember
from dlbrt.balance.messages import Message
from dlbrt.chunks.statistics import ChunkReport
from dlbrt.data.field import Field
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import Units
from dlbrt.mpi import messenger
from dlbrt.mpi.board import board
from dlbrt.mpi.communicator import INTERRUPT, MESSAGE, REPORT, Communicator, RanksLostError
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.mover import Mover, WorkTransfers
from dlbrt.mpi.serving import ServingThread
from dlbrt.mpi.team import Progress, RunCounters, clock
from dlbrt.mpi.values.objects import SharedObjects
from dlbrt.parameters import SERVE_S

if TYPE_CHECKING:
    from dlbrt.balance.chooser import StrategyChooser
    from dlbrt.observe.recorder import Recorder
    from dlbrt.predict.choose import StrategyChoice


#: With so few units of its own, a rank may be within long iterations from the first one on.
_FEW = 16


class AgentDriver:
    """This rank in a loop that all ranks run.

    ``serial`` numbers the parallel calls alike on every rank. The balancer asks ``chooser`` for a strategy,
    if there is one. ``loop_residents`` are the identities of arrays that stay on the ranks. ``recorder``
    records the agent's events and actions, where a trace is written. ``poll_output`` handles output that is
    shown while the loop runs, if there is any. ``has_lost``: a rank has died, so this rank, rank 0, does
    nothing more with the others in this run (on the other ranks the run ends by `RanksLostError`). Others are
    served within long iterations too, where the rows that move are arrays (`dlbrt.mpi.serving`).
    """

    def __init__(
        self,
        communicator: Communicator,
        serial: int,
        agent: Agent,
        fields: Sequence[Field],
        objects: SharedObjects,
        chooser: StrategyChooser | None = None,
        loop_residents: Container[int] = (),
        recorder: Recorder | None = None,
    ) -> None:
        self.figures = RunCounters()
        self.recorder = recorder
        self._communicator = communicator
        self._agent = agent
        self._chooser = chooser
        self._messenger = messenger.Messenger(communicator, serial)
        self._movements = WorkTransfers(
            communicator, agent.units, fields, objects, loop_residents, self.figures
        )
        self._actions: deque[actions.Action] = deque()
        self._pending: messenger.PendingReply | None = None
        self._past_counts = BalancingCounts()  # of this agent's predecessors
        self.poll_output: Callable[[], None] | None = None
        self._drops = False  # whether all work is dropped
        self._loss: RanksLostError | None = None  # its traceback leads to what messages under way may need
        self._called_off = False  # because of that; from then on there is no work here
        self.loading_s = 0.0  # spent on importing the model, once in a program
        plain = all(type(field.data) is np.ndarray for field in fields if field.moves)
        self._serves = plain and ServingThread.possible() and not communicator.tolerates_deaths
        self._serving: ServingThread | None = None
        self._begun = inf  # when the units under way began
        self._has_long = False  # whether an iteration has lasted longer than others are to wait
        self._to_report = False  # whether one has since this rank has last reported, or others were served
        self._put_aside: list[tuple[int, Message | Spans]] = []  # what came meanwhile for the next poll
        if agent.claims_chunks:
            communicator.counter  # noqa: B018 -- made by all ranks together

    @property
    def has_lost(self) -> bool:
        """Whether a rank has died."""
        return self._loss is not None

    @property
    def units(self) -> Units:
        """The units of work."""
        return self._agent.units

    @property
    def work(self) -> Spans:
        """The units that this rank still has to do."""
        return EMPTY if self._called_off else self._agent.runnable

    @property
    def finished(self) -> bool:
        """Whether no rank has work left, or none will come to this one."""
        return self._called_off or self._agent.finished

    def held(self, rank: int) -> Spans:
        """The positions that a rank was dealt."""
        return self.units.positions(self._agent.dealt[rank])

    @property
    def received(self) -> list[Spans]:
        """The positions that have come to this rank since, with their rows."""
        return self._movements.received

    @property
    def strategy(self) -> str:
        """The name of the strategy that this rank balances by."""
        return self._agent.strategy_name

    @property
    def choice(self) -> StrategyChoice | None:
        """The choice of the strategy, where one was made, or predictions; the model may be asked for them."""
        return self._chooser.choice if self._chooser is not None else None

    @property
    def chosen(self) -> bool:
        """Whether the strategy was chosen while ranks worked."""
        return self._chooser is not None and self._chooser.chosen

    @property
    def failed_at(self) -> int:
        """The lowest position known to have failed."""
        return self._agent.failed_at

    @property
    def ends_independently(self) -> bool:
        """Whether ranks end by themselves."""
        return self._agent.ends_independently

    def begin(self, units: int) -> None:
        """As `Team.begin`: where iterations may be long, others are served meanwhile."""
        self._begun = clock()
        if self._serving is None:
            few = len(self.work) <= _FEW
            if not (self._serves and (few or self._has_long) and self._agent.serves) or self.units.folded:
                return
            self._serving = ServingThread(self._serve)
        self._serving.open(units, self._begun)

    def end(self) -> None:
        """As `Team.end`: after a long iteration this rank reports."""
        if self._serving is not None:
            self._serving.close()
            if self._serving.error is not None:
                raise self._serving.error
        if self._serves and clock() - self._begun > 2 * SERVE_S:
            self._has_long = True
            self._to_report = bool(self._agent.serves)
        self._begun = inf

    def _serve(self, units: int, elapsed_s: float) -> None:
        """Take messages within an iteration, up to the first that the agent takes only between two."""
        agent = self._agent
        # Looking brings forward what is being sent, too.
        if not self._communicator.waiting(MESSAGE) or self._put_aside or not agent.serves:
            return
        self._to_report = True
        self._handle(events.UnderWay(clock(), units, elapsed_s))
        for source, message in self._messenger.poll_messages():
            if self._put_aside or type(message) not in agent.serves:
                self._put_aside.append((source, message))
            else:
                self._take(source, message)
        if agent.due(now := clock()):
            self._handle(events.TimeElapsed(now))
        while self._actions:
            self._carry_out(self._actions.popleft())

    def worked(self, units: int, done: Spans, compute_s: float, progress: Progress = ()) -> None:
        """Report to the agent, and count."""
        self.figures.add(done, self.work.runs[0].step)
        self._handle(events.Worked(clock(), units, compute_s, progress))
        self.figures.compute_s += compute_s
        if self._agent.receives_messages:
            chunk_report = ChunkReport(self._communicator.rank, units, compute_s, compute_s)
            self.figures.chunks = self.figures.chunks.then(chunk_report)

    def scatter(self, mover: Mover) -> None:
        """Let what this rank has started to send arrive while it works."""
        self._movements.scatter(mover)

    def failed(self, position: int) -> None:
        """Report to the agent; the other ranks learn of it at the next `synchronize`."""
        self._drops = self._drops or position == 0
        self._handle(events.Failed(clock(), position))

    def interrupted(self) -> bool:
        """Whether something has come that `synchronize` must handle before this rank's work is done."""
        board.answer()
        if self.has_lost:
            return not self._called_off
        try:
            return self._has_news()
        except RanksLostError as error:
            self._lose_ranks(error)
            return True

    def _has_news(self) -> bool:
        if self._communicator.tolerates_deaths:
            self._communicator.check()
        self._movements.advance()
        if self.poll_output is not None:
            self.poll_output()
        if self._to_report:
            return True
        if self._agent.is_central and self._communicator.waiting(REPORT):
            return True
        if self._pending is not None:
            return self._pending.complete()
        if self._agent.receives_messages and self._communicator.waiting(MESSAGE):
            return True
        return self._communicator.waiting(INTERRUPT) or self._agent.due(clock())

    def synchronize(self) -> None:
        """Carry out the agent's actions until this rank has work again, or the loop is over."""
        try:
            if not self.has_lost:
                self._synchronize()
        except RanksLostError as error:
            self._lose_ranks(error)
        self._called_off = self.has_lost

    def _lose_ranks(self, error: RanksLostError) -> None:
        """What rank 0 has done stands; another rank gives up what it has done."""
        if self._communicator.rank:
            raise error
        self._loss = error

    def _synchronize(self) -> None:
        self._to_report = False
        self._poll_messages()
        if self._agent.due(now := clock()):
            self._handle(events.TimeElapsed(now))
        if self._may_go_on():
            return
        start, had_work, figures = clock(), bool(self.work), self.figures
        apart_s = figures.decision_s + figures.movement_s
        if not (had_work or self._agent.waiting or self._actions):
            self._handle(events.Exhausted(start))
        self._settle()
        if self.finished:
            self._end()
        waited = clock() - start - (figures.decision_s + figures.movement_s - apart_s)
        if had_work:
            figures.sync_s += waited
        else:
            figures.idle_s += waited

    def _handle(self, event: events.Event) -> None:
        """Pass an event to the agent; its actions are carried out in turn."""
        if self.recorder is None:
            self._actions += self._agent.handle(event)
        else:
            self._actions += self.recorder.handle(self._agent, event)
        if (successor := self._agent.successor) is not None:
            self._past_counts, self._agent = self._past_counts + self._agent.counts(), successor

    def _settle(self) -> None:
        pause = self._communicator.pause()
        while not self._may_go_on():
            if self._actions:
                self._carry_out(self._actions.popleft())
                pause = self._communicator.pause()
            elif not self._poll():
                pause()

    def _carry_out(self, action: actions.Action) -> None:
        _METHODS[type(action)](self, action)

    def _may_go_on(self) -> bool:
        """Whether nothing is left to do here before this rank's next iterations, or for good."""
        if self._actions:
            return False
        answered = self._pending is not None and self._pending.complete()
        return self.finished or (bool(self.work) and not answered)

    def _poll(self) -> bool:
        """Poll everything that this rank waits for; whether something happened."""
        self._movements.advance()
        if self.poll_output is not None:
            self.poll_output()
        if interrupts.pending and not self._drops:
            self.failed(0)
        if (answer := self._pending) is not None and answer.complete():
            self._pending = None
            self._decide(answer.event(clock()))
        else:
            self._poll_messages()
            self._handle(events.TimeElapsed(clock()))
            if not (self.work or self._actions or self._agent.waiting or self.finished):
                self._handle(events.Exhausted(clock()))  # a message came, but no work
        return bool(self._actions) or self.finished

    def _poll_messages(self) -> None:
        """Take a notification, a profile for the central balancer, and messages, where they have come."""
        if (received := self._messenger.poll_notification()) is not None:
            self._handle(received)
        if self._agent.is_central and (event := self._messenger.poll_profile()):
            self._decide(event)
        if self._agent.receives_messages:
            put_aside, self._put_aside = self._put_aside, []
            for source, message in chain(put_aside, self._messenger.poll_messages()):
                self._take(source, message)

    def _take(self, source: int, received: Message | Spans) -> None:
        """Handle a message, or units of work, whose rows follow."""
        if isinstance(received, Spans):
            self._movements.take(received, source)
            self._decide(events.WorkReceived(clock(), source, received))
        else:
            self._decide(events.Received(clock(), source, received))

    def _decide(self, event: events.Event) -> None:
        """Pass on an event at which the agent may decide; the time counts as decision."""
        start = clock()
        self._handle(event)
        self.figures.decision_s += clock() - start

    def _end(self) -> None:
        """Nothing is left to do here: wait for what is under way, and note the agent's counts."""
        if self._serving is not None:
            self._serving.end()
            self._serving = None
        self._messenger.complete()
        self._movements.complete()
        counts, figures = self._past_counts + self._agent.counts(), self.figures
        figures.windows, figures.gain = counts.windows, counts.gain
        figures.synchronizations = counts.synchronizations
        figures.redistributions = counts.redistributions

    def _do_exchange_profiles(self, action: actions.ExchangeProfiles) -> None:
        all_ranks = len(action.members) == self._communicator.ranks
        if all_ranks and not self._communicator.tolerates_deaths:
            self._pending = messenger.exchange_among_all(self._communicator, action.profile)
        else:
            self._pending = messenger.exchange_in_group(self._communicator, action.profile, action.members)

    def _do_send_profile(self, action: actions.SendProfile) -> None:
        if self._communicator.rank == action.master:
            self._decide(events.ProfileReceived(clock(), action.master, action.profile))
            return
        self._messenger.send_profile(action.profile, action.master)
        self._pending = messenger.pending_instructions(self._communicator, action.master)

    def _do_send_instructions(self, action: actions.SendInstructions) -> None:
        self._messenger.send_instructions(action)
        if self._communicator.rank in action.members:
            self._decide(events.InstructionsReceived(clock(), action.profiles, action.decision))

    def _do_interrupt(self, action: messenger.NotificationAction) -> None:
        self._messenger.notify(action)

    _do_notify_failure = _do_request_group_exchange = _do_announce_strategy = _do_interrupt

    def _do_send_group_report(self, action: actions.SendGroupReport) -> None:
        if action.report is not None:
            self._messenger.send_group_report(action.report)
        self._pending = messenger.pending_group_reports(self._communicator, action.leaders, action.report)

    def _do_request_choice(self, action: actions.RequestChoice) -> None:  # noqa: ARG002
        agent = self._agent
        if self._chooser is not None and isinstance(agent, GroupMember):
            start = clock()
            if self._chooser.asks_model(agent.group_state):
                self._chooser.load()
            self.loading_s += clock() - start
        self._decide(events.ChoiceRequested(clock()))

    def _do_move(self, action: actions.Move) -> None:
        taken, size = self._movements.move(action.transfers)
        if self.recorder is None:
            self._agent.transferred(taken, size)
        else:
            self.recorder.transferred(self._agent, clock(), taken, size)

    def _do_send(self, action: actions.Send) -> None:
        self._messenger.send(action.message, action.targets)

    def _do_send_work(self, action: actions.SendWork) -> None:
        self._messenger.send(action.units, (action.target,))
        self._movements.give(action.units, action.target)

    def _do_claim_chunks(self, action: actions.ClaimChunks) -> None:
        self._pending = messenger.pending_claim(self._communicator.counter, action.count)

    def _do_resume(self, action: actions.Resume) -> None:
        """Nothing to do: `_may_go_on` sees the work."""

    def _do_finish(self, action: actions.Finish) -> None:
        """Nothing to do: `finished` sees it, unless the central balancer here has other groups to serve."""


#: Methods of the class: with bound ones a driver would refer to itself, and keep the program's arrays alive.
_METHODS = actions.methods_of(AgentDriver)
