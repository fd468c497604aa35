"""New shares where moving takes time: what costs more than it gains does not move.

Zaki, Li, Parthasarathy share what is left by speed (eq. 1.3.3), however long the move takes (eq. 1.3.5). Here
the two go together. Links work in parallel, and no rank goes on before its part of the move is over, so with
at most m quanta from or to a rank all is done after

    T(m) = m D + max_i share_i / s_i,

D being the seconds that a quantum's rows take, and the shares the best within m of what ranks hold. The
second term is convex and falls with m, so T is convex; its least is found by golden section.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from operator import truediv

from dlbrt.data.layout import earliest_finish, quickest
from dlbrt.parameters import PROFITABILITY

#: A move that takes at most this part of what is left to do is not weighed against it.
NEGLIGIBLE = 0.01

#: Steps of the golden section, and of the search for a level within each.
STEPS, MAX_LEVELS = 8, 40

_GOLDEN = 0.6180339887498949


def shares_with_movement(
    remaining: Sequence[int], speeds: Sequence[float], reserved: Sequence[int] = (), move_s: float = 0.0
) -> tuple[int, ...]:
    """Integer shares of the quanta ``remaining`` after which all is soonest done, the movement included.

    No share is below ``reserved``; ``move_s`` is how long the data of a quantum takes from rank to rank. With
    no data the shares are those of `quickest`. Only correctly rounded operations are used, so that all ranks
    find the same.
    """
    shares = quickest(sum(remaining), speeds, reserved)
    most = max(abs(have - share) for have, share in zip(remaining, shares, strict=True))
    if most * move_s <= NEGLIGIBLE * max(map(truediv, shares, speeds)):
        return shares
    bounds = remaining, speeds, reserved or (0,) * len(speeds)
    low, high = 0.0, float(most)
    left, right = high - _GOLDEN * high, _GOLDEN * high
    at_left, at_right = _ends_s(bounds, left, move_s), _ends_s(bounds, right, move_s)
    for _ in range(STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _ends_s(bounds, left, move_s)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _ends_s(bounds, right, move_s)
    floors = [int(share) for share in _within(bounds, left if at_left <= at_right else right)]
    return earliest_finish(sum(remaining), speeds, floors) if sum(floors) <= sum(remaining) else shares


#: What ranks hold, how fast they are, and what they keep in any case.
_Bounds = tuple[Sequence[int], Sequence[float], Sequence[int]]


def _ends_s(bounds: _Bounds, most: float, move_s: float) -> float:
    """T(m) for m = ``most``."""
    return float(most * move_s + max(map(truediv, _within(bounds, most), bounds[1])))


def _within(bounds: _Bounds, most: float) -> list[float]:
    """The shares that are done soonest, none farther than ``most`` from what the rank holds.

    They are clamp(L s_i) for the level L at which they add up to all; Newton steps, in a bracket that is
    halved where a step leaves it.
    """
    held, speeds, kept = bounds
    least = [max(float(stays), have - most) for have, stays in zip(held, kept, strict=True)]
    greatest = [have + most for have in held]
    total, below, above = sum(held), 0.0, max(map(truediv, greatest, speeds))
    level = total / fsum(speeds)
    for _ in range(MAX_LEVELS):
        shares = [
            low if (even := level * speed) < low else high if even > high else even
            for low, high, speed in zip(least, greatest, speeds, strict=True)
        ]
        lacks = total - fsum(shares)
        if abs(lacks) <= 1e-9 * total:
            break
        below, above = (level, above) if lacks > 0 else (below, level)
        free = fsum(
            speed
            for share, low, high, speed in zip(shares, least, greatest, speeds, strict=True)
            if low < share < high
        )
        level = level + lacks / free if free else below
        if not below < level < above:
            level = (below + above) / 2
    return shares


def worth_giving(
    work: float, speed: float, other_s: float, other_speed: float, delay_s: float, move_s: float
) -> float:
    """The most work for which the taker, which has ``other_s`` to do, ends no later than the giver.

    Work that moves begins ``delay_s`` + ``move_s`` times its amount from now (Zaki, Li, Parthasarathy, eq.
    1.3.5), and not before the taker has done its own. So what costs more than it gains is not given: 0 where
    the giver does all sooner itself, or at best ends sooner by less than `PROFITABILITY`, which is less than
    loads change in the meantime. Without delay and movement it is the half, by speed.
    """
    left_s, both_s = work / speed, 1 / speed + 1 / other_speed
    share = (left_s - delay_s) / (both_s + move_s)
    if share < PROFITABILITY * work:
        return 0.0
    return min(share, (left_s - other_s) / both_s)
