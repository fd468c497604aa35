"""Chunks that are taken together, since asking for one takes longer than doing it.

A rule's chunks may take microseconds. A rank then takes as many at once as last about `CHUNK_S`: those
that it would have got if nobody else had asked in between. Near the end, where it matters who has the last
ones, it takes one: never more than a part of what is left.
"""

from __future__ import annotations

from dlbrt.core.parameters import CHUNK_S

__all__ = ["chunks_per_request"]

#: Of what is left no more than 1 / (_PART P) is taken at once.
_PART = 2


def chunks_per_request(size: int, left: float, unit_s: float, ranks: int) -> int:
    """How many chunks of ``size`` units a rank takes at once while so many units are ``left``; 1 or more.

    ``unit_s`` is what a unit takes it, 0: not known.
    """
    if unit_s <= 0 or size <= 0:
        return 1
    return max(1, int(min(CHUNK_S / unit_s, left / (_PART * ranks)) / size))
