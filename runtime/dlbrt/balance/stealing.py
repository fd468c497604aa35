"""``steal``: work stealing. A rank that is about to run out asks random victims for a part of their work.

After Blumofe and Leiserson (JACM 46(5), 1999), with half of the rest as in Hendler and Shavit (PODC 2002): a
steal should bring work for a while, since it costs a message and the data. Here the part is what the thief
would have done as soon as the victim the rest, by their speeds, with the time of the rows
(`dlbrt.predict.movement.worth_giving`): half where both are alike and rows cost nothing. The victim keeps
what it is about to do and gives the far end of its share, so that blocks stay blocks; it refuses where giving
gains too little. A thief asks some others, drawn anew, one after the other; if all have refused, it waits
before it tries again, twice as long as before up to a bound, so that it costs the others little. It asks
before it has run out, by as long as the last answer took. A rank that is within a long iteration answers all
the same, after a moment, and keeps that iteration (`dlbrt.balance.events.UnderWay`); only between iterations
does it ask others itself. A thief that waits for long asks others besides, and takes what all give. When one
of them has given, it tells the others when it will be out of work now. A victim reads all messages before it
answers any of them: so it gives no unit that it would do sooner itself to a thief that has got work, and the
thief that idles comes first.

Law. Units go only to ranks that have measured themselves faster, or keep the giver at work; so none goes in
circles. A thief has at most one request with each rank. A rank that is asked answers it once, with work or
without, however often the request is updated; no rank waits for anything but an answer, its own clock, or the
message that the loop is over, which comes (`dlbrt.balance.peer`).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, Handlers, HandoverRules, InitialState, PeerStrategy
from dlbrt.balance.messages import CompletedCount, StealRefused, StealRequest, StealUpdate
from dlbrt.balance.peer import TerminationDetectingPeer
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.parameters import PROFITABILITY
from dlbrt.predict.movement import worth_giving
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from random import Random

#: How many others a thief asks in a row, and how long it waits at most before it asks again, in seconds.
_TRIES, _LONGEST_S = 16, 0.02

#: It may wait this part of the time that its own units have taken, where that is longer: with units that take
#: so long, work that can be stolen appears seldom.
_PAUSE = 0.1

#: A thief that is idle asks another rank besides when an answer takes so many times as long as a message and
#: its answer, since that rank is within a long iteration; only where rows take at most that part of the time
#: of their iterations, and at most so many at once: all of them may give, which would be too much.
_TIMEOUT, _LIGHT, _AT_ONCE = 2.0, 0.1, 4

#: A transfer takes at most this part of the time for which the giver has computed. Speeds that were seen for
#: some time may be taken to hold for about as long again, not for ever; and a thief begins the sooner.
_SEEN = 0.25

#: Where the work of iterations is not known, how fast a thief is may be due to its iterations: it is taken to
#: be at most so many times as fast as the giver, or as fast where the rest takes so many times as long as
#: another steal, which would bring the difference.
_FASTER, _STEALS = 2.0, 16

#: One unit more than its part, perhaps the last one, goes to a thief only if all ends sooner by this part:
#: speeds by a unit or two are guesses.
_LAST = 0.15

#: What is left of a unit that is under way takes at least this part of the time that a unit has taken so far.
_LEFT = 0.5


class StealingPeer(TerminationDetectingPeer):
    """A thief, and a victim."""

    serves: tuple[type, ...] = (StealRequest, StealUpdate, StealRefused, CompletedCount, Spans)

    @classmethod
    def _table(cls) -> Handlers:
        return {**super()._table(), events.UnderWay: cls._take_under_way}

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        self._random: Random | None = None  # made, and imported, for the first steal
        self._victims: list[int] = []
        self._asked: dict[int, float] = {}  # whose answers are under way, and since when
        self._requests: dict[int, StealRequest] = {}  # of thieves that wait for this rank's answer
        self._idle = False  # this rank has handled that it is out of work
        self._took_s = self.answer_s  # how long the last answer took
        self._ends_at = inf  # when this rank runs out, as far as it knows
        self._pause_s = 0.0
        self._again_at: float | None = None
        self._stolen = 0
        self._quanta = 0  # of work done here
        self._kept, self._kept_since = 0, now  # units under way, and since when

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: whether an answer is under way, or it is not yet time to ask again."""
        return self._idle and (bool(self._asked) or self._again_at is not None)

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`: when a thief asks, for the first time, another, or again."""
        if self._over:
            return None
        if self._requests:
            return -inf
        if self._kept:
            return None  # within an iteration it asks nobody
        if self._again_at is not None:
            return None if self._asked and self.work else self._again_at
        if self._asked:
            light = self._link.unit_s <= _LIGHT * self.unit_s  # otherwise the rows may be on their way
            may_ask = self._idle and self._victims and light and len(self._asked) < _AT_ONCE
            return max(self._asked.values()) + _TIMEOUT * self.answer_s if may_ask else None
        ask_at = self._ends_at - self._took_s - self.unit_s / 2 if self.work else inf
        return ask_at if ask_at < inf else None

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: steals count as synchronizations that found work left, and redistributions."""
        return BalancingCounts(self._stolen, self._stolen)

    def _take_under_way(self, event: events.UnderWay) -> actions.Answer:
        self._kept, self._kept_since = event.units, event.now - event.elapsed_s
        return ()

    def _worked(self, event: events.Worked) -> actions.Answer:
        answer = super()._worked(event)
        self._kept = 0
        self._foresee(event.now)
        return answer

    def _foresee(self, now: float) -> None:
        """Work out when this rank runs out."""
        speed = self._speed
        since = self._kept_since if self._kept else now
        self._ends_at = since + self.context.work_table.of(self.work) / speed if speed else inf

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self.work or self.waiting or self.finished:
            raise ValueError(f"rank {self.rank} has work, waits for an answer, or has ended")
        self._idle = True
        answer = self._retire()
        if self.finished:
            return answer
        if self._asked or self._again_at is not None:
            return (*answer, *self._update(event.now))
        return (*answer, *self._request_steal(event.now))

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:
        answers = self._answer_all(event.now)
        if self.finished or not self.due(event.now):
            return answers
        self._again_at = None
        return (*answers, *self._request_steal(event.now))

    def _request_steal(self, now: float) -> actions.Answer:
        """Ask the next victim; after the last one, wait."""
        if not self._victims:
            others = [
                rank for rank in range(len(self.dealt)) if rank != self.rank and rank not in self._asked
            ]
            self._victims = self._drawn(others)
            if self._pause_s or not self._victims:
                self._again_at = now + self._pause_s
            longest_s = max(_LONGEST_S, _PAUSE * self.unit_s)
            self._pause_s = min(longest_s, max(2 * self._pause_s, self.answer_s))
            if self._again_at is not None:
                return ()
        victim = self._victims.pop()
        self._asked[victim] = now
        return (actions.Send((victim,), self._request(now)),)

    def _drawn(self, others: list[int]) -> list[int]:
        """Some of the others, in random order."""
        if self._random is None:
            from random import Random

            self._random = Random(self.rank)
        return self._random.sample(others, min(_TRIES, len(others)))

    @property
    def _speed(self) -> float:
        """Quanta of work a second so far; 0 where none are known."""
        return self._quanta / self._compute_s if self._compute_s > 0 else 0.0

    def _record_progress(self, did: Spans, event: events.Worked) -> None:  # noqa: ARG002
        self._quanta += self.context.work_table.of(did)

    def _message_received(self, event: events.Received) -> actions.Answer:
        match event.message:
            case StealRequest() as request if not self.finished:
                self._requests[event.source] = request
                return ()
            case StealUpdate(request):
                if event.source in self._requests:  # otherwise it has been answered
                    self._requests[event.source] = request
                return ()
            case StealRefused() if event.source in self._asked:
                self._answered(event.source, event.now)
                waits = self._kept or self._again_at is not None or self._asked
                return () if waits else self._request_steal(event.now)
        return super()._message_received(event)

    def _answered(self, victim: int, now: float) -> None:
        """An answer has come."""
        self._took_s = max(now - self._asked.pop(victim), 0.9 * self._took_s)

    def _request(self, now: float) -> StealRequest:
        """What this rank says of itself where it asks for work."""
        return StealRequest(self._speed, max(0.0, self._ends_at - now) if self.work else 0.0)

    def _update(self, now: float) -> actions.Answer:
        """Tell the victims that have not answered yet what has changed."""
        return (actions.Send(tuple(self._asked), StealUpdate(self._request(now))),) if self._asked else ()

    def _answer_all(self, now: float) -> actions.Answer:
        """Answer the thieves that wait, those that idle first, and of them the fastest."""
        requests, self._requests = self._requests, {}
        thieves = sorted(requests, key=lambda thief: (requests[thief].left_s, -requests[thief].speed))
        return tuple(action for thief in thieves for action in self._answer(thief, requests[thief], now))

    def _refuse_all(self) -> actions.Answer:
        """Refuse what all thieves that wait have asked for."""
        thieves, self._requests = tuple(self._requests), {}
        return (actions.Send(thieves, StealRefused()),) if thieves else ()

    def _answer(self, thief: int, request: StealRequest, now: float) -> actions.Answer:
        """Give the thief its part of what is left here, or refuse."""
        given = self._stealable(thief, request, now)
        if not given:
            return (actions.Send((thief,), StealRefused()),)
        self.work = self.work.first(len(self.work) - len(given))[0]
        self._foresee(now)
        self._link.give(now, len(given), thief)
        return (actions.SendWork(thief, given),)

    def _stealable(self, thief: int, request: StealRequest, now: float) -> Spans:
        """The far part of the work held that the thief would have done as soon as this rank the rest.

        Nothing is given where that part takes this rank no longer than a message and its answer. All is given
        where even the last unit is done much sooner elsewhere.
        """
        work_table, held, own, least = self.context.work_table, self.work, self._speed, self._kept
        quanta = work_table.of(held)
        begun = work_table.of_first(held, least)
        if least and (elapsed_s := now - self._kept_since) > 0:
            own = min(own or inf, begun / elapsed_s)
        if not (own and self._done):
            kept = max(1, least, work_table.count(held, quanta // 2))
            return held.first(min(kept, len(held)))[1] if held else EMPTY
        # What is done of the units under way, as far as it can be known.
        did = min((now - self._kept_since) * own, (1 - _LEFT) * begun)
        row_s = self._link.unit_s_to(thief)
        move_s = row_s * len(held) / max(1, quanta)
        delay_s = self._link.delay_s(now) if thief or row_s else self.answer_s / 2
        other_s, other = request.left_s, request.speed or own
        if work_table.uniform:
            cheap = _STEALS * (self.answer_s + self.unit_s) <= quanta / own
            other = min(other, own if cheap else _FASTER * own)

        def ends_s(kept: int) -> float:
            """When both are done if this rank keeps its first ``kept`` units."""
            stays = work_table.of_first(held, kept)
            goes = quanta - stays
            begins_s = max(other_s, delay_s + move_s * goes)
            return max((stays - did) / own, begins_s + goes / other if goes else 0.0)

        share = worth_giving(quanta - did, own, other_s, other, delay_s, move_s)
        if move_s and share * move_s > (most_s := _SEEN * self._compute_s):
            share = max(0.0, most_s - delay_s) / move_s
            share = share if share >= PROFITABILITY * quanta else 0.0
        kept = work_table.count(held, quanta - int(share)) if share > 0 else len(held)
        if share > 0 and kept and ends_s(kept - 1) < (1 - _LAST) * ends_s(kept):
            kept -= 1
        given = held.first(max(kept, least))[1]
        return given if work_table.of(given) > own * self.answer_s else EMPTY

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        if event.source not in self._asked:
            raise ValueError(f"rank {self.rank} received units that it had not asked for")
        self._answered(event.source, event.now)
        self._victims, self._pause_s, self._again_at = [], 0.0, None
        self._stolen += 1
        units = self._accept(event)
        self.work = self.work.then(units) if units else self.work
        self._idle = self._idle and not self.work
        self._foresee(event.now)
        return (*self._update(event.now), actions.Resume()) if self.work else self._retire()


@dataclass(frozen=True, slots=True)
class _Steal(PeerStrategy):
    name: str = "steal"

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A thief, and a victim."""
        return StealingPeer(self.name, rank, start, now)

    def uncommitted(self, rank: int, start: InitialState, now: float, rules: HandoverRules) -> Agent:
        """The same, until ``rules`` choose a strategy."""
        from dlbrt.balance.handover import UncommittedPeer

        return UncommittedPeer(self.name, rank, start, now, rules)


STRATEGIES: tuple[PeerStrategy, ...] = (_Steal(),)
