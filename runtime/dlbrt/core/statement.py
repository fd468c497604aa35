"""What a group tells all others at a round: who of it holds what, and how fast each is.

The remedy that Zaki, Li and Parthasarathy name for their local strategies (section 1.2.1, "Global vs.
Local"): exchange of work between groups. From the statements of all groups every rank makes the same books.
"""

from __future__ import annotations

from dlbrt.core.windows import RedistributionGain
from dlbrt.dist.spans import Spans
from dlbrt.records import dataclass

__all__ = ["GroupReport"]


@dataclass(frozen=True, slots=True)
class GroupReport:
    """The books of the group ``members``; tuples are in their order.

    ``shares`` are the units that each still has to do, of which the first ``reserved`` are with it in any
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
