"""``auto`` while no strategy is chosen: ranks steal, and the first synchronization stops none of them.

The strategy is chosen at the first synchronization, by the speeds and loads seen so far (Zaki, Li,
Parthasarathy, section 1.3.3). That synchronization is a survey (`dlbrt.balance.survey`): when rank 0 first
hears that a rank is about to run out of work, it asks all for a report, and none waits. The model predicts
from the reports. Mostly ranks steal on. If another strategy is expected to take less time, all go over to it.

Law of the handover. Rank 0 asks all ranks to steal no more. From then on a rank sends no request and refuses
all. When the requests that it has sent before are answered, nothing is on its way to it, and it reports what
it holds. It goes on with that work, but sends nothing more before rank 0 answers. When rank 0 has all
reports, every unit is in one of them, or is done, or was dropped after a failure. Rank 0 sends all reports to
all ranks. Each becomes an agent of the new strategy, which learns what was done since the report
(`dlbrt.balance.agent.take_over`). What other ranks send that have become one earlier is kept for it.

Law of failures. After its report a rank drops no work, since the units that it does count from the front of
what it reported. It does nothing more once it knows of a failure. The new agent is told.

Law of the end. Rank 0 may learn, before it has all reports, that all units are retired: some rank has ended
then, and never reports. Rank 0 tells all others that the loop is over. A rank that has reported ends only by
that message, or goes over.
"""

from __future__ import annotations

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, Handlers, HandoverRules, InitialState, take_over
from dlbrt.balance.messages import (
    NO_FAILURE,
    CompletedCount,
    Handover,
    HandoverRequest,
    HeldWork,
    ReportRequest,
    StealRefused,
    StealRequest,
    StealUpdate,
    Terminated,
    WorkReport,
)
from dlbrt.balance.stealing import StealingPeer
from dlbrt.balance.survey import WorkSurvey
from dlbrt.data.spans import EMPTY, Spans


class UncommittedPeer(StealingPeer):
    """A rank that steals until a strategy is chosen by ``rules``."""

    def __init__(self, name: str, rank: int, start: InitialState, now: float, rules: HandoverRules) -> None:
        super().__init__(name, rank, start, now)
        self.successor: Agent | None = None
        self._rules = rules
        self._survey = WorkSurvey(rank, len(start.shares), start.context)
        self._stops = False  # whether this rank steals no more
        #: At its report: units done, the seconds they took, and the failure known.
        self._reported: tuple[int, float, int] | None = None
        self._early: list[events.Event] = []  # for the agent that takes over
        self._chosen = ""
        self._held: dict[int, Spans] = {}  # at rank 0: what ranks have reported

    #: What leads to another agent waits until its rank is between two iterations.
    serves = (*StealingPeer.serves, ReportRequest, WorkReport)

    @classmethod
    def _table(cls) -> Handlers:
        early = events.Interrupted, events.ProfileReceived, events.GroupExchangeRequested
        return {**super()._table(), **dict.fromkeys(early, cls._come_early)}

    @property
    def runnable(self) -> Spans:
        """As `Agent.runnable`: nothing where a failure became known after the report."""
        return self.work if self._reported is None or self.failed_at == self._reported[2] else EMPTY

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: before a handover for rank 0's answer, too."""
        return self._stops or super().waiting

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`: before a handover a rank asks no other."""
        return None if self._stops else super().timer_at

    # The survey.

    def _record_progress(self, did: Spans, event: events.Worked) -> None:
        super()._record_progress(did, event)
        if (trace := self._survey.trace) is not None:
            progress = (*event.progress, (event.units, event.compute_s))
            trace.add_progress(did, self.context.work_table, progress)

    def _request_steal(self, now: float) -> actions.Answer:
        return (*super()._request_steal(now), *self._begin_survey())

    def _begin_survey(self) -> actions.Answer:
        """At rank 0, which has heard of a rank that is about to run out."""
        return self._survey.begin(self._work_report()) if self._survey.due(self._compute_s) else ()

    def _work_report(self) -> WorkReport:
        return self._survey.report(self.work, self._quanta, self._compute_s)

    def _surveyed(self, source: int, report: WorkReport) -> actions.Answer:
        """Take in a report; the last one decides on the strategy."""
        reports = self._survey.take(source, report)
        chosen = self._rules.choose(reports, self.context) if reports else None
        if chosen is None or chosen == self.strategy_name:
            return ()
        self._chosen = chosen
        return (actions.Send(self._others, HandoverRequest()), *self._stop())

    # The handover.

    @property
    def _others(self) -> tuple[int, ...]:
        return tuple(rank for rank in range(len(self.dealt)) if rank != self.rank)

    def _stop(self) -> actions.Answer:
        self._stops = True
        self._victims, self._again_at = [], None
        return (*self._refuse_all(), *self._report_held())

    def _report_held(self) -> actions.Answer:
        """Report what this rank holds, once nothing is on its way to it."""
        if self._asked or self._reported is not None:
            return ()
        self._reported = self._done, self._compute_s, self.failed_at
        if self.rank:
            return (actions.Send((0,), HeldWork(self.work)),)
        self._held[0] = self.work
        return ()

    def _hand_over(self, now: float) -> actions.Answer:
        """At rank 0: go over with all ranks, if all have reported."""
        if len(self._held) < len(self.dealt):
            return ()
        shares = tuple(work for _, work in sorted(self._held.items()))
        if not any(shares):
            return self._end()
        handover = Handover(self._chosen, shares)
        return (actions.Send(self._others, handover), *self._go_over(handover, now))

    def _go_over(self, handover: Handover, now: float) -> actions.Answer:
        if self._reported is None:
            raise ValueError(f"rank {self.rank} goes over to {handover.strategy} and has not reported")
        units, compute_s, _ = self._reported
        did = self._done - units, self._compute_s - compute_s
        start = InitialState(handover.shares, self.context, phase=1)
        self.successor = self._rules.successor(handover.strategy, self.rank, start, now)
        return take_over(self.successor, now, did, (NO_FAILURE, self.failed_at), self._early)

    # What happens meanwhile.

    def _message_received(self, event: events.Received) -> actions.Answer:
        if self._over:
            return ()
        match event.message:
            case ReportRequest():
                return (actions.Send((event.source,), self._work_report()),)
            case WorkReport() as report:
                return self._surveyed(event.source, report)
            case HandoverRequest():
                return self._stop()
            case HeldWork(work):
                self._held[event.source] = work
                return self._hand_over(event.now)
            case Handover() as handover:
                return self._go_over(handover, event.now)
            case StealRequest() if self.rank == 0 and not self._stops:
                return (*self._begin_survey(), *super()._message_received(event))
        return self._stopped(event) if self._stops else super()._message_received(event)

    def _stopped(self, event: events.Received) -> actions.Answer:
        """A message that comes before a handover."""
        match event.message:
            case StealRequest():
                return (actions.Send((event.source,), StealRefused()),)
            case StealUpdate():
                return ()
            case StealRefused():
                self._answered(event.source, event.now)
                return self._settled(event.now)
            case CompletedCount(_, self._phase) if self.rank:
                return ()
            case CompletedCount(_, self._phase) | Terminated():
                return super()._message_received(event)
        return self._come_early(event)

    def _settled(self, now: float) -> actions.Answer:
        """An answer has come; it may have been the last one."""
        return (*self._report_held(), *self._hand_over(now))

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        if event.source not in self._asked:
            return self._come_early(event)
        answer = super()._work_received(event)
        return (*answer, *self._settled(event.now)) if self._stops else answer

    def _come_early(self, event: events.Event) -> actions.Answer:
        """Keep what a rank sent that has gone over already."""
        self._early.append(event)
        return ()

    def _cut(self, position: int) -> None:
        if self._reported is None:
            super()._cut(position)
        else:
            self.failed_at = min(self.failed_at, position)

    def _ends(self) -> actions.Answer:
        answer = super()._ends()
        return self._end() if self._over and self._stops and self.rank == 0 else answer

    def _end(self) -> actions.Answer:
        self._over = True
        return (actions.Send(self._others, Terminated()), actions.Finish())
