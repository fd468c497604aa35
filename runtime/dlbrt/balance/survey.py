"""A survey: a synchronization at which rank 0 learns of all ranks, and no rank waits.

While ranks steal (`dlbrt.balance.stealing`) profiles are never exchanged. When rank 0 first hears that a rank
is about to run out of work, it asks all others for a report. A rank sends its report at its next poll and
goes on. With all reports rank 0 has what it would have after a first synchronization (Zaki, Li,
Parthasarathy, section 1.3.3): who holds what, and the speed of each rank so far.

There is one survey in a loop, and none where the loop is short: rank 0 has computed for less than
`Parameters.min_choice_s` for each `FEW` ranks. Where strategies are chosen again (`Parameters.adapts`) there
is another whenever rank 0 has computed twice as long as at the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from dlbrt.balance import actions
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import ReportRequest, WorkReport
from dlbrt.balance.window import UNKNOWN, SpeedTrace
from dlbrt.data.spans import Spans

#: How many ranks a survey is for, if the loop is as short as a choice allows.
FEW = 4


class WorkSurvey:
    """One rank's part in the surveys among ``ranks``."""

    def __init__(self, rank: int, ranks: int, context: BalancingContext) -> None:
        self.trace: SpeedTrace | None = SpeedTrace()  # as long as a report may need it
        parameters = context.parameters
        self._others = tuple(range(1, ranks)) if rank == 0 else ()
        self._reports: dict[int, WorkReport] = {}  # at rank 0, while a survey is under way
        self._again = parameters.adapts
        self._due_s = parameters.min_choice_s * max(1.0, ranks / FEW) if parameters.asks_model else inf

    def due(self, compute_s: float) -> bool:
        """Whether rank 0, which is to make a survey, has computed for so long that one is due."""
        return bool(self._others) and not self._reports and compute_s >= self._due_s

    def begin(self, own: WorkReport) -> actions.Answer:
        """Ask all others for a report, with rank 0's ``own``."""
        self._reports[0] = own
        return (actions.Send(self._others, ReportRequest()),)

    def report(self, work: Spans, quanta: int, compute_s: float) -> WorkReport:
        """The report of a rank that holds ``work`` and has done ``quanta`` in ``compute_s``."""
        slices = UNKNOWN if self.trace is None else self.trace.slices()
        self.trace = SpeedTrace() if self._again else None
        return WorkReport(work, quanta, compute_s, slices)

    def take(self, rank: int, report: WorkReport) -> Sequence[WorkReport] | None:
        """Take in the report of a rank; the last one completes the survey: all reports, in order."""
        self._reports[rank] = report
        if len(self._reports) <= len(self._others):
            return None
        reports = [each for _, each in sorted(self._reports.items())]
        self._reports, self._due_s = {}, 2 * reports[0].compute_s if self._again else inf
        return reports
