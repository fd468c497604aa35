"""What becomes of a loop when ranks die: the living begin what is left of it anew.

Law. What rank 0 has done of the loop stands. What other ranks have done has had no effect, and is not to have
any. So of a loop that a death calls off there are left the positions that rank 0 has not done, and the ranks
that live, rank 0 the first of them. Agents know nothing of deaths: those of the run that is called off take
no more events, and new ones, numbered among the living, begin the rest. So each position is done once: by
rank 0 in a run that was called off, or by any rank in the run that no death calls off. There are fewer ranks
in each run, so there is such a run.
"""

from __future__ import annotations

from dlbrt.balance.strategies import STATIC
from dlbrt.data.layout import InitialPartition, equal_counts
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import Units

#: How what is left is balanced, unless nothing may move.
_BALANCED = "GDDLB"


def strategy_of_rest(strategy: str) -> str:
    """The name of the strategy by which the rest of a loop is balanced that began under ``strategy``."""
    return STATIC if strategy == STATIC else _BALANCED


def deal_of_rest(left: Spans, n: int, ranks: int) -> InitialPartition:
    """The first shares, for ``ranks`` that live, of positions ``left``, one or more, of a loop of ``n``."""
    shares, rest = [], left
    for count in equal_counts(len(left), ranks):
        share, rest = rest.first(count)
        shares.append(share)
    return InitialPartition(Units(left.runs[0].start, n), tuple(shares))
