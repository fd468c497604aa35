"""What ranks tell one another under a `dlbrt.core.agent.PeerStrategy`."""

from __future__ import annotations

from dlbrt.records import dataclass

__all__ = [
    "ChunkRequest",
    "CompletedCount",
    "LoadReport",
    "Message",
    "PoolEmpty",
    "StealRefused",
    "StealRequest",
    "Terminated",
]


@dataclass(frozen=True, slots=True)
class ChunkRequest:
    """To the pool: the next chunk, please; what was done since the last time, for rules that learn.

    ``units`` of mean cost were computed in ``compute_s``; with waiting for them it was ``total_s``.
    ``unit_s`` is what a unit has taken so far, 0 if nothing is known.
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
    """To a victim: some of your work, please."""


@dataclass(frozen=True, slots=True)
class StealRefused:
    """From a victim: it has nothing to give."""


@dataclass(frozen=True, slots=True)
class CompletedCount:
    """To rank 0: so many units in all are done here, or need not be done."""

    units: int


@dataclass(frozen=True, slots=True)
class Terminated:
    """From rank 0: every unit is retired."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """To a neighbour: in ``turn`` of ``round``, how long by this rank's reckoning what it has will take.

    ``speed`` is in work a second, ``seconds`` are the potential that diffuses.
    """

    round: int
    turn: int
    speed: float
    seconds: float


Message = ChunkRequest | PoolEmpty | StealRequest | StealRefused | CompletedCount | Terminated | LoadReport
