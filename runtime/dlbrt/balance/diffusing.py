"""``diffusion``: parabolic diffusion among ranks (Heirich, Taylor; uneven speeds: `dlbrt.diffusion.uneven`).

Ranks exchange with their neighbours only, in rounds; there is no moment at which all synchronize. In a round
a rank sends its neighbours its speed and how long it will be busy, then the result of each inner iteration of
the implicit step. From the last result both ends of a link compute what flows over it, and the giving end
sends it. A round that one rank begins spreads like a wave, while ranks go on working.

Where units have data of their own, ranks form a chain, and a rank gives from the ends of its block, so that
each rank keeps one block (section 6: adjacency is preserved); elsewhere they form a box
(`dlbrt.diffusion.neighbourhood`, which also has the step).

Law. A rank waits only for its neighbours' load reports of a round, and each neighbour sends them when it
learns that the round is on, whatever it does. A rank with work begins rounds by the clock as long as the loop
is not over, so that a rank without work is reached by work, if there is any. Rounds follow each other
quickest where one of two neighbours has work and the other none; a rank without work whose neighbours have
none either begins no round. Termination is detected as in `dlbrt.balance.peer`.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, InitialState, PeerStrategy
from dlbrt.balance.messages import LoadReport
from dlbrt.balance.peer import TerminationDetectingPeer
from dlbrt.data.spans import Spans
from dlbrt.diffusion.neighbourhood import Neighbourhood
from dlbrt.diffusion.uneven import LinkRemainder, LocalDiffusion, granted
from dlbrt.parameters import DIFFUSION_EXCHANGES, DIFFUSION_NEEDED_EXCHANGES, DIFFUSION_PERIOD_S
from dlbrt.predict.movement import worth_giving
from dlbrt.records import dataclass


class DiffusionPeer(TerminationDetectingPeer):
    """A rank that exchanges with its neighbours."""

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        place = Neighbourhood.among(len(start.shares), without_rows=start.context.without_rows)
        self._step, self._neighbours = place.step, place.of(rank)
        self._carried = [LinkRemainder() for _ in self._neighbours]
        #: By round and turn, and then by neighbour.
        self._reports: defaultdict[tuple[int, int], dict[int, LoadReport]] = defaultdict(dict)
        self._round = 0
        self._turn: int | None = None  # the turn that this rank has reported last, None between rounds
        self._latest_round = 0  # the latest round that a rank has begun
        self._work = self._time = 0.0
        self._local: LocalDiffusion | None = None
        self._rested_at = now
        self._period_s = max(DIFFUSION_PERIOD_S, DIFFUSION_EXCHANGES * self.answer_s)
        self._needed_period_s = DIFFUSION_NEEDED_EXCHANGES * self.answer_s
        self._idle = False
        self._around = inf, inf  # the least and the most work of a neighbour, in seconds
        self._times: list[float] = []  # how long each neighbour was busy when the round began
        self._arrives = [now for _ in self._neighbours]  # when what was sent last over each link arrives
        self._speed = 0.0
        self._window_work, self._window_s = 0, 0.0
        self._rounds = self._assignments = 0

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: whether this rank has handled that it is out of work."""
        return self._idle

    @property
    def timer_at(self) -> float | None:
        """When this rank begins the next round."""
        if self._over or self._turn is not None or not (self._speed and self._neighbours):
            return None
        least, most = self._around
        if self.work:
            return self._rested_at + (self._period_s if least else self._needed_period_s)
        return self._rested_at + self._needed_period_s if most else None

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: rounds count as synchronizations, assignments as redistributions."""
        return BalancingCounts(self._rounds if self.rank == 0 else 0, self._assignments)

    def _record_progress(self, did: Spans, event: events.Worked) -> None:
        """Measure the speed over windows that are long enough to mean anything; at first over any."""
        self._window_work += self.context.work_table.of(did)
        self._window_s += event.compute_s
        if self._window_s > 0 and (self._window_s >= self.context.parameters.min_sample_s or not self._speed):
            self._speed = max(self._window_work, 1) / self._window_s
            self._window_work, self._window_s = 0, 0.0

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self.work or self._idle or self._over:
            raise ValueError(f"rank {self.rank} has work, is idle already, or has ended")
        self._idle = True
        answer = self._retire()
        return answer if self._over else (*answer, *self._advance_rounds(event.now))

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:
        if not self.due(event.now):
            return ()
        self._latest_round = self._round + 1
        return self._advance_rounds(event.now)

    def _message_received(self, event: events.Received) -> actions.Answer:
        if not isinstance(event.message, LoadReport):
            return super()._message_received(event)
        message = event.message
        self._reports[message.round, message.turn][event.source] = message
        self._latest_round = max(self._latest_round, message.round)
        return self._advance_rounds(event.now)

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        units = self._accept(event)
        self.work = self.work.union(units) if units else self.work
        self._idle = self._idle and not self.work
        return (actions.Resume(),) if self.work else self._retire()

    def _advance_rounds(self, now: float) -> actions.Answer:
        """Go as far in rounds as the reports received allow."""
        answer: list[actions.Action] = []
        while not self._over:
            if self._turn is None:
                if self._latest_round <= self._round or not self._begin():
                    break
                answer.append(self._load_report())
            if (reports := self._neighbour_reports()) is None:
                break
            answer += self._advance(reports, now)
        return tuple(answer)

    def _begin(self) -> bool:
        """Join the next round; not before a speed is known, here or to a neighbour that has joined."""
        reports = self._reports[self._round + 1, 0].values()
        speed = self._speed or max((report.speed for report in reports), default=0.0)
        if not speed:
            return False
        self._round, self._turn, self._speed = self._round + 1, 0, speed
        self._work = float(self.context.work_table.of(self.work))
        self._time = self._work / speed
        return True

    def _load_report(self) -> actions.Send:
        assert self._turn is not None
        return actions.Send(self._neighbours, LoadReport(self._round, self._turn, self._speed, self._time))

    def _neighbour_reports(self) -> list[LoadReport] | None:
        """The neighbours' reports of this turn of the round, once all have come."""
        assert self._turn is not None
        reports = self._reports[self._round, self._turn]
        if len(reports) < len(self._neighbours):
            return None
        del self._reports[self._round, self._turn]
        return [reports[rank] for rank in self._neighbours]

    def _advance(self, reports: list[LoadReport], now: float) -> list[actions.Action]:
        """Do an inner iteration; after the last, send the work that flows."""
        assert self._turn is not None
        times = [report.seconds for report in reports]
        if self._turn == 0:
            self._learn_speeds(tuple(report.speed for report in reports))
            self._around, self._times = (min(times), max(times)), times
        assert self._local is not None
        if self._turn < self._step.iterations:
            self._time = self._local.jacobi(self._work, self._time, times)
            self._turn += 1
            return [self._load_report()]
        self._turn, self._rested_at = None, now
        self._rounds += 1
        return self._assignments_for(self._local.fluxes(self._time, times), now)

    def _learn_speeds(self, speeds: tuple[float, ...]) -> None:
        """Take in the neighbours' speeds; they and this rank's own seldom change from round to round."""
        known = self._local
        if known is None or known.speed != self._speed or known.neighbours != speeds:
            self._local = LocalDiffusion(self._step, self._speed, speeds)

    def _assignments_for(self, fluxes: tuple[float, ...], now: float) -> list[actions.Action]:
        """What flows to each neighbour, in whole quanta of the work held, as far as that gains time."""
        requested = []
        for link, flux in enumerate(fluxes):
            whole, self._carried[link] = self._carried[link].add(flux)
            requested.append(whole)
        if max(requested) <= 0:
            return []
        answer: list[actions.Action] = []
        for link, amount in enumerate(granted(self.context.work_table.of(self.work), requested)):
            if (amount := self._paying(link, amount, now)) > 0:
                action = self._assignment(self._neighbours[link], amount)
                if action.units:
                    self._arrives[link] = self._link.give(now, len(action.units), action.target)
                    answer.append(action)
        self._assignments += len(answer)
        return answer

    def _paying(self, link: int, amount: int, now: float) -> int:
        """How much of a flux is sent: nothing before what was sent last is there, which no report counts.

        And no more than the neighbour will have done by the time when this rank has done the rest.
        """
        row_s = self._link.unit_s_to(self._neighbours[link])
        if amount <= 0 or not row_s:
            return amount
        if now < self._arrives[link]:
            return 0
        assert self._local is not None
        work = self.context.work_table.of(self.work)
        move_s = row_s * len(self.work) / max(1, work)
        other = self._times[link], self._local.neighbours[link]
        return min(amount, int(worth_giving(work, self._speed, *other, self._link.delay_s(now), move_s)))

    def _assignment(self, neighbour: int, amount: int) -> actions.SendWork:
        """Give units from that end of the block which, on a chain, is next to the neighbour's."""
        held, work_table = Spans.of(*self.work.runs), self.context.work_table
        if neighbour < self.rank:
            given, self.work = work_table.first(held, amount)
        else:
            self.work, given = work_table.last(held, amount)
        return actions.SendWork(neighbour, given)


@dataclass(frozen=True, slots=True)
class _Diffusion(PeerStrategy):
    name: str = "diffusion"

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A rank among its neighbours."""
        return DiffusionPeer(self.name, rank, start, now)


STRATEGIES: tuple[PeerStrategy, ...] = (_Diffusion(),)
