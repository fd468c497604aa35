"""Chunks that are taken together, since asking for one takes longer than doing it.

A rule's chunks may take microseconds. A rank then takes as many at once as last about a millisecond: those
that it would have got if nobody else had asked in between. Near the end, where it matters who has the last
ones, it takes one: never more than a part of what is left.
"""

from __future__ import annotations

__all__ = ["at_once"]

#: Chunks are taken together until they last so long, in seconds; of what is left no more than 1 / (_PART P).
_TARGET_S, _PART = 1e-3, 2


def at_once(size: int, left: float, unit_s: float, ranks: int) -> int:
    """How many chunks of ``size`` units a rank takes at once while so many units are ``left``; 1 or more.

    ``unit_s`` is what a unit takes it, 0: not known.
    """
    if unit_s <= 0 or size <= 0:
        return 1
    return max(1, int(min(_TARGET_S / unit_s, left / (_PART * ranks)) / size))
