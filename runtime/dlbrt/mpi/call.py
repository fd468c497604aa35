"""What rank 0 tells the others to run a loop: one message, small, arrays apart."""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum

from dlbrt.core.chunks.loop import LoopStatistics
from dlbrt.core.model.groups import GroupRules, Groups
from dlbrt.core.model.network import Network
from dlbrt.core.parameters import Parameters
from dlbrt.dist.deal import InitialPartition
from dlbrt.dist.memory import Layout
from dlbrt.effects.output import OutputProperties
from dlbrt.mpi.parcels import ArrayTransfer, Eviction
from dlbrt.mpi.state import ProcessEnvironment
from dlbrt.records import dataclass

__all__ = ["Content", "LoopCall", "SlotHeader", "TableSlots"]


class Content(Enum):
    """How the contents of a slot reach the workers."""

    KEPT = "sent before and unchanged"
    INLINE = "in the message"
    WHOLE = "broadcast"
    ROWS = "by rows, as the array table says"
    LIST = "by rows, of a list"
    RESIDENT = "on the ranks from one call to the next, what they lack in parcels"


@dataclass(frozen=True, slots=True)
class SlotHeader:
    """One slot: its layout (None for a list of ``length``), and where its contents come from.

    ``token`` names contents that the workers keep between calls; 0: not kept.
    """

    content: Content
    layout: Layout | None = None
    length: int = 0
    token: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class TableSlots:
    """The slots that hold what the iterations touch of the array ``name``, and what they store to."""

    name: str
    touched: tuple[int, ...]
    stored: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoopCall:
    """One parallel run of a loop, as rank 0 describes it.

    ``body`` is the pickle of kernel, arguments and space; ``kernel`` is the kernel's where it goes apart.
    Either is None where the ranks have it from an earlier call of the loop ``key``; positions that ``deal``
    does not deal are done already. ``groups`` are those of a local strategy, which go together by the
    ``rules``; ``network`` is what messages cost among all ranks, ``within`` in each group where it differs.
    ``measured`` is the size of the groups of iterations whose times are wanted, 0 for none; ``known`` is what
    self-scheduling is told of the loop, ``without_rows`` whether its units go without data. ``array_transfers`` are
    the rows that ranks lack of arrays that stay on them, ``evictions`` those that they give up; the iterations
    ``ahead`` of each rank can be done before its rows arrive.
    """

    serial: int
    key: str
    kernel: bytes | None
    body: bytes | None
    headers: tuple[SlotHeader, ...]
    deal: InitialPartition
    strategy: str
    groups: Groups
    rules: GroupRules
    network: Network
    within: tuple[Network, ...]
    measured: int
    parameters: Parameters
    exchange_s: float
    environment: ProcessEnvironment | None
    settings: bytes | None
    dropped: tuple[int, ...]
    output_properties: OutputProperties
    known: LoopStatistics = field(default_factory=LoopStatistics)
    without_rows: bool = False
    tables: tuple[TableSlots, ...] = ()
    array_transfers: tuple[ArrayTransfer, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    ahead: tuple[range, ...] = ()

    def without_body(self) -> LoopCall:
        """The same call to ranks that have its body."""
        return replace(self, body=None)
