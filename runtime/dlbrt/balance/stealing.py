"""``steal``: work stealing. A rank that has run out asks a random victim for half of what it has left.

After Blumofe and Leiserson (JACM 46(5), 1999), with half of the rest as in Hendler and Shavit (PODC 2002): a
steal should bring work for a while, since it costs a message and the data. The victim keeps what it is about
to do and gives the far end of its share, so that blocks stay blocks; it refuses where what it could give
takes less time than giving it. A thief asks some others, drawn anew, one after the other; if all have
refused, it waits before it tries again, twice as long as before up to a bound, so that it costs the others
little.

Law. A rank that is asked answers, with work or without; no rank waits for anything but an answer, its own
clock, or the message that the loop is over, which comes (`dlbrt.balance.peer`).
"""

from __future__ import annotations

from random import Random

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts, InitialState, PeerStrategy
from dlbrt.balance.messages import StealRefused, StealRequest
from dlbrt.balance.peer import TerminationDetectingPeer
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.records import dataclass

#: How many others a thief asks in a row, and how long it waits at most before it asks again, in seconds.
_TRIES, _LONGEST_S = 8, 0.02


class StealingPeer(TerminationDetectingPeer):
    """A thief, and a victim."""

    def __init__(self, name: str, rank: int, start: InitialState, now: float) -> None:
        super().__init__(name, rank, start, now)
        self._random = Random(rank)
        self._victims: list[int] = []
        self._requests = False  # an answer is under way
        self._pause_s = 0.0
        self._again_at: float | None = None
        self._stolen = 0

    @property
    def waiting(self) -> bool:
        """As `Agent.waiting`: whether an answer is under way, or it is not yet time to ask again."""
        return self._requests or self._again_at is not None

    @property
    def timer_at(self) -> float | None:
        """As `Agent.timer_at`: when a thief asks again."""
        return self._again_at

    def counts(self) -> BalancingCounts:
        """As `Agent.counts`: steals count as synchronizations that found work left, and redistributions."""
        return BalancingCounts(self._stolen, self._stolen)

    def _exhausted(self, event: events.Exhausted) -> actions.Answer:
        if self.work or self.waiting or self.finished:
            raise ValueError(f"rank {self.rank} has work, waits for an answer, or has ended")
        answer = self._retire()
        return answer if self.finished else (*answer, *self._request_steal(event.now))

    def _time_elapsed(self, event: events.TimeElapsed) -> actions.Answer:
        if self.finished or not self.due(event.now):
            return ()
        self._again_at = None
        return self._request_steal(event.now)

    def _request_steal(self, now: float) -> actions.Answer:
        """Ask the next victim; after the last one, wait."""
        if not self._victims:
            others = len(self.dealt) - 1
            drawn = self._random.sample(range(others), min(_TRIES, others))
            self._victims = [rank + (rank >= self.rank) for rank in drawn]
            if self._pause_s or not self._victims:
                self._again_at = now + self._pause_s
            self._pause_s = min(_LONGEST_S, max(2 * self._pause_s, self.answer_s))
            if self._again_at is not None:
                return ()
        self._requests = True
        return (actions.Send((self._victims.pop(),), StealRequest()),)

    def _message_received(self, event: events.Received) -> actions.Answer:
        match event.message:
            case StealRequest() if not self.finished:
                return self._answer(event.source)
            case StealRefused() if self._requests:
                self._requests = False
                return self._request_steal(event.now)
        return super()._message_received(event)

    def _answer(self, thief: int) -> actions.Answer:
        """Give half of what is left here, or refuse."""
        given = self._stealable()
        if not given:
            return (actions.Send((thief,), StealRefused()),)
        self.work = self.work.first(len(self.work) - len(given))[0]
        return (actions.SendWork(thief, given),)

    def _stealable(self) -> Spans:
        """The far half of the work held, where giving it takes less time than doing it."""
        work_table, held = self.context.work_table, self.work
        if len(held) < 2:
            return EMPTY
        kept = min(max(1, work_table.count(held, work_table.of(held) // 2)), len(held) - 1)
        given = held.first(kept)[1]
        bytes_s = self.context.unit_bytes * self.context.parameters.byte_s
        worth = len(given) * (self.unit_s - bytes_s) > self.answer_s or not self._done
        return given if worth else EMPTY

    def _work_received(self, event: events.WorkReceived) -> actions.Answer:
        if not self._requests:
            raise ValueError(f"rank {self.rank} received units that it had not asked for")
        self._requests, self._victims, self._pause_s = False, [], 0.0
        self._stolen += 1
        self.work = self._accept(event)
        return (actions.Resume(),)


@dataclass(frozen=True, slots=True)
class _Steal(PeerStrategy):
    name: str = "steal"

    def agent(self, rank: int, start: InitialState, now: float) -> Agent:
        """A thief, and a victim."""
        return StealingPeer(self.name, rank, start, now)


STRATEGIES: tuple[PeerStrategy, ...] = (_Steal(),)
