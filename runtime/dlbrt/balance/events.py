"""Events: what has happened to a rank, as its driver reports it. Times are seconds on the driver's clock."""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.balance.decision import Decision
from dlbrt.balance.messages import GroupReport, Message, Profile
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Worked:
    """The rank finished its next ``units`` (iterations, or pairs), in ``compute_s`` seconds.

    ``progress`` are samples (units done, seconds) from in between, in order.
    """

    now: float
    units: int
    compute_s: float
    progress: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The rank has been within the next ``units`` of its work for ``elapsed_s`` seconds, and keeps them.

    It takes messages that its agent `serves` before it has finished them.
    """

    now: float
    units: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The rank has no work left."""

    now: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Another rank asks for the synchronization that ends window ``epoch``."""

    now: float
    epoch: int


@dataclass(frozen=True, slots=True)
class TimeElapsed:
    """Time has passed without another event, for a rank that waits or polls."""

    now: float


@dataclass(frozen=True, slots=True)
class ProfilesExchanged:
    """All profiles of the window have come, in the order of the group's members."""

    now: float
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class InstructionsReceived:
    """The central balancer has answered: the profiles of all members, and the decision taken by them."""

    now: float
    profiles: tuple[Profile, ...]
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class ProfileReceived:
    """At a central balancer: the profile of ``rank`` has come."""

    now: float
    rank: int
    profile: Profile


@dataclass(frozen=True, slots=True)
class Failed:
    """The loop body raised at ``position``; the iterations before it in this rank's work are done."""

    now: float
    position: int


@dataclass(frozen=True, slots=True)
class FailureNotified:
    """The body raised at ``position`` on a rank of another group."""

    now: float
    position: int


@dataclass(frozen=True, slots=True)
class ChoiceRequested:
    """On rank 0: it must choose a strategy now."""

    now: float


@dataclass(frozen=True, slots=True)
class StrategyAnnounced:
    """Rank 0 has chosen the strategy of that name."""

    now: float
    strategy: str


@dataclass(frozen=True, slots=True)
class GroupExchangeRequested:
    """Another group has run out of work, and requests the group exchange number ``round``."""

    now: float
    round: int


@dataclass(frozen=True, slots=True)
class GroupReportsReceived:
    """The reports of all groups have come."""

    now: float
    reports: tuple[GroupReport, ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A message of rank ``source`` has come."""

    now: float
    source: int
    message: Message


@dataclass(frozen=True, slots=True)
class WorkReceived:
    """Units that rank ``source`` sent have come, with their data."""

    now: float
    source: int
    units: Spans


@dataclass(frozen=True, slots=True)
class ChunksClaimed:
    """Chunks number ``number`` to ``number + count - 1`` are this rank's."""

    now: float
    number: int
    count: int


Event = (
    Worked
    | UnderWay
    | Exhausted
    | Interrupted
    | TimeElapsed
    | ProfilesExchanged
    | InstructionsReceived
    | ProfileReceived
    | Failed
    | FailureNotified
    | ChoiceRequested
    | StrategyAnnounced
    | GroupExchangeRequested
    | GroupReportsReceived
    | Received
    | WorkReceived
    | ChunksClaimed
)
