"""What ranks send one another, and the record of each window.

Profiles (Zaki et al., section 1.2). The metric is the number of iterations done per second since the last
synchronization. A profile has a fixed size, so that an exchange is one collective over a few numbers,
whatever the program.

Windows. Whether moving work paid shows only afterwards. The decision predicts, by the speeds of the window
that ended, when all would be done without moving and with it; the window that follows shows the speeds that
came. Both times are computed again at those speeds: the realised gain. The cost of moving itself is taken as
predicted.

Messages from rank to rank, under a `dlbrt.balance.agent.PeerStrategy`.

Group reports: what a group sends all others at a group exchange, the remedy that Zaki, Li and Parthasarathy
name for their local strategies (section 1.2.1, "Global vs. Local"). From the reports of all groups every rank
makes the same state of all ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from dlbrt.balance.decision import Decision, longest_s
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass

#: The position that stands for "no iteration failed": beyond every iteration space, exact as a double.
NO_FAILURE = 2**53

#: A rank's computing time so far is divided into this many equal parts, to report how its speed has changed.
SLICES = 8


@dataclass(frozen=True, slots=True)
class Profile:
    """One rank's report on its window, the time since the last synchronization.

    ``done`` counts units (iterations, or pairs of them); ``compute_s`` is the time they took, emulated load
    included; ``byte_s`` is how many seconds a byte of moved data took (0: not measured yet); ``failed_at`` is
    the lowest position whose body raised, or `NO_FAILURE`; ``reserved`` counts units that the rank keeps in
    any case, to work on while the profiles travel. ``requests_exchange``: another group requests a group
    exchange. ``waited_s`` is how long the rank waited for the last synchronization, once it was called (0:
    not known). ``slices`` are the speeds, in work a second, of parts of the time so far (0: not known), if a
    strategy is to be chosen by them.
    """

    done: int
    compute_s: float
    byte_s: float = 0.0
    failed_at: int = NO_FAILURE
    reserved: int = 0
    requests_exchange: bool = False
    waited_s: float = 0.0
    slices: tuple[float, ...] = (0.0,) * SLICES

    def encode(self) -> tuple[float, ...]:
        """As doubles, for the exchange; counts below 2**53 stay exact."""
        counts = self.failed_at, self.reserved, self.requests_exchange
        numbers = self.done, self.compute_s, self.byte_s, *counts, self.waited_s
        return (*map(float, numbers), *self.slices)

    @classmethod
    def decode(cls, numbers: Sequence[float]) -> Profile:
        """The inverse of `encode`."""
        done, compute_s, byte_s, failed_at, reserved, requests_exchange, waited_s, *slices = numbers
        counts = int(failed_at), int(reserved), bool(requests_exchange)
        return cls(int(done), compute_s, byte_s, *counts, waited_s, tuple(slices))

    @classmethod
    def width(cls) -> int:
        """How many doubles a profile takes."""
        return len(fields(cls)) - 1 + SLICES


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a group, from one synchronization to the next, for statistics and traces.

    Each of the ``members`` did ``units`` (iterations, or pairs) in ``compute_s`` seconds. ``verdict`` is what
    was then decided, empty where nothing was. ``moved`` units changed hands, which gained ``predicted_s`` and
    ``realised_s`` seconds, None where nothing moved, or the group was divided then.
    """

    epoch: int
    members: tuple[int, ...]
    units: tuple[int, ...]
    compute_s: tuple[float, ...]
    verdict: str = ""
    moved: int = 0
    predicted_s: float | None = None
    realised_s: float | None = None

    @classmethod
    def closed(cls, epoch: int, members: tuple[int, ...], profiles: Sequence[Profile]) -> Window:
        """The window that these profiles ended."""
        return cls(epoch, members, tuple(p.done for p in profiles), tuple(p.compute_s for p in profiles))


@dataclass(frozen=True, slots=True)
class RedistributionGain:
    """Seconds that redistributions gained, predicted and realised, where the realised gain is known."""

    redistributions: int = 0
    predicted_s: float = 0.0
    realised_s: float = 0.0

    def __add__(self, other: RedistributionGain) -> RedistributionGain:
        return RedistributionGain(
            self.redistributions + other.redistributions,
            self.predicted_s + other.predicted_s,
            self.realised_s + other.realised_s,
        )


@dataclass(frozen=True, slots=True)
class MovedWork:
    """A redistribution: the work of each member before and after it, and what moving costs."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    costs_s: float

    @classmethod
    def by(
        cls, decision: Decision, after: Sequence[int], before: Sequence[int], speeds: Sequence[float]
    ) -> MovedWork:
        """A decision by these speeds, as it came out in whole units."""
        return cls(tuple(before), tuple(after), decision.after_s - longest_s(decision.shares, speeds))

    def gain_s(self, speeds: Sequence[float]) -> float:
        """The seconds it gains at these speeds, its costs deducted; below 0 where it was a loss."""
        return longest_s(self.before, speeds) - longest_s(self.after, speeds) - self.costs_s


@dataclass(frozen=True, slots=True)
class ChunkRequest:
    """To the pool: a request for the next chunk, with a report since the last one, for rules that learn.

    ``units`` of mean cost took ``compute_s`` of computing, and ``total_s`` with waiting for them. ``unit_s``
    is what a unit has taken so far, 0 if nothing is known.
    """

    units: float
    compute_s: float
    total_s: float
    unit_s: float


@dataclass(frozen=True, slots=True)
class PoolEmpty:
    """From the pool: nothing is left in it."""


@dataclass(frozen=True, slots=True)
class StealRequest:
    """To a victim: a request for some of its work.

    ``speed`` is the thief's, in work a second (0: unknown); it will be out of work in ``left_s`` seconds.
    """

    speed: float = 0.0
    left_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StealUpdate:
    """From a thief: what its request would say now, for a victim that has not answered it yet."""

    request: StealRequest


@dataclass(frozen=True, slots=True)
class StealRefused:
    """From a victim: it has nothing to give."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """From rank 0: a request for a report, in a survey of all ranks."""


@dataclass(frozen=True, slots=True)
class WorkReport:
    """To rank 0, in a survey: the sender holds ``work``, and has done ``quanta`` of it in ``compute_s``.

    ``slices`` are its speeds so far, as in `Profile`.
    """

    work: Spans
    quanta: int
    compute_s: float
    slices: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class HandoverRequest:
    """From rank 0: steal no more, and report what is held; another strategy was chosen."""


@dataclass(frozen=True, slots=True)
class HeldWork:
    """To rank 0, before a handover: the sender holds ``work``, and no more is on its way to it."""

    work: Spans


@dataclass(frozen=True, slots=True)
class Handover:
    """From rank 0: go on under ``strategy``, from these ``shares`` of all ranks."""

    strategy: str
    shares: tuple[Spans, ...]


@dataclass(frozen=True, slots=True)
class CompletedCount:
    """To rank 0: how many units in all are done on the sender, or need not be done.

    ``phase`` is that of the agent that has counted: on the receiver another may have followed.
    """

    units: int
    phase: int


@dataclass(frozen=True, slots=True)
class Terminated:
    """From rank 0: every unit is retired."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """To a neighbour: in ``turn`` of ``round``, how long the sender estimates that its work will take.

    ``speed`` is in work a second, ``seconds`` is the potential that diffuses.
    """

    round: int
    turn: int
    speed: float
    seconds: float


Message = (
    ChunkRequest
    | PoolEmpty
    | StealRequest
    | StealUpdate
    | StealRefused
    | ReportRequest
    | WorkReport
    | HandoverRequest
    | HeldWork
    | Handover
    | CompletedCount
    | Terminated
    | LoadReport
)


@dataclass(frozen=True, slots=True)
class GroupReport:
    """The state of the group ``members``; tuples are in their order.

    ``shares`` are the units that each member still has to do, of which it keeps the first ``reserved`` in any
    case. ``work`` was done in ``compute_s`` seconds since the loop began; ``speeds`` are work a second, None
    where nothing was done yet. ``byte_s`` is what moving a byte takes, ``failed_at`` the lowest position
    known to have failed, ``epoch`` the number of the last window.
    """

    members: tuple[int, ...]
    shares: tuple[Spans, ...]
    reserved: tuple[int, ...]
    work: tuple[int, ...]
    compute_s: tuple[float, ...]
    speeds: tuple[float, ...] | None
    byte_s: float
    failed_at: int
    epoch: int
    synchronizations: int
    redistributions: int
    gain: RedistributionGain
