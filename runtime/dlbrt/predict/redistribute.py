"""New shares at a synchronization, what has to move for them, and whether it pays.

Zaki, Li, Parthasarathy, sections 1.2 and 1.3.2: what is left is shared in proportion to the average effective
speeds (1.3.3); alpha(j) iterations move in beta(j) messages. Nothing moves where there is too little to move,
or where the predicted time becomes less than 10 % shorter, the cost of data movement not counted.
`ModelOptions.charged` counts it. On the paper's Ethernet one message follows another; in the runtime links
work in parallel (`ModelOptions.parallel`), a move takes as long as the rank that moves most, and shares are
those of `movement`.

Shares are integers. In a uniform loop each rank gets the floor of (1.3.3), and the iterations left over go
one by one to where they are done soonest, so that no other integers finish earlier
(`dlbrt.data.layout.quickest`; rounding to the nearest may give a slow rank one too many, which hurts when few
are left). In a non-uniform loop the cost is shared, and iterations come from the ends of ranks that have too
much.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import truediv

from dlbrt.data.layout import quickest
from dlbrt.parameters import MIN_MOVED, PROFITABILITY
from dlbrt.predict.movement import shares_with_movement
from dlbrt.predict.work import NOTHING, IterationCosts, Runs, count
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How the ranks behave; the defaults are the paper's, but for ``polls``.

    ``decision_s``: delta, the time to calculate a distribution. ``profitability``: the least predicted gain,
    ``min_moved``: the least part of what is left that is worth moving. ``charged``: the gain includes the
    costs of the next synchronization and of the movement. ``parallel``: links work in parallel, and shares
    move as far as that gains time. ``polls``: ranks poll for interrupts between iterations only, and compute
    while an interrupt travels; otherwise all stop when the first rank finishes,
    as in the paper. ``reserves``: ranks go on computing while the profiles travel.
    """

    decision_s: float = 1e-4
    profitability: float = PROFITABILITY
    min_moved: float = MIN_MOVED
    charged: bool = False
    parallel: bool = False
    polls: bool = True
    reserves: bool = False


@dataclass(frozen=True, slots=True)
class MovementCosts:
    """What moving costs, in seconds: in any case, for each message, for each iteration."""

    always_s: float
    message_s: float
    iteration_s: float


@dataclass(frozen=True, slots=True)
class Redistribution:
    """What each rank holds afterwards; ``moved`` iterations (alpha) in ``messages`` (beta).

    ``before_s`` and ``after_s`` are the predicted times to the end without and with it. ``busiest`` is the
    most that one rank gives or takes, iterations and messages.
    """

    held: tuple[Runs, ...]
    moved: int
    messages: int
    before_s: float
    after_s: float
    busiest: tuple[int, int] = (0, 0)


def redistribute(
    work: IterationCosts,
    held: Sequence[Runs],
    speeds: Sequence[float],
    rules: ModelOptions,
    charges: MovementCosts,
    units: Sequence[int] = (),
) -> Redistribution | None:
    """The iterations left, dealt by speed (above 0, base work a second); None where it does not pay.

    ``units`` is what the iterations held cost, if it is known.
    """
    units = units or [work.units(runs) for runs in held]
    before_s = _longest_s(work, units, speeds)
    always_s = charges.always_s if rules.charged else 0.0
    if always_s + work.unit_s * sum(units) / sum(speeds) > (1 - rules.profitability) * before_s:
        return None  # it would not pay even if all ended together
    held_count = sum(map(count, held))
    move_s = charges.iteration_s * held_count / (sum(units) or 1) if rules.parallel else 0.0
    found = _moved(work, held, units, _targets(work, units, speeds, move_s))
    if found is None or found.moved < max(1.0, rules.min_moved * held_count):
        return None
    costs_s = 0.0
    if rules.charged:
        most, messages = found.busiest if rules.parallel else (found.moved, found.messages)
        costs_s = charges.always_s + messages * charges.message_s + most * charges.iteration_s
    after_s = costs_s + _longest_s(work, [work.units(runs) for runs in found.held], speeds)
    if after_s > (1 - rules.profitability) * before_s:
        return None
    return Redistribution(found.held, found.moved, found.messages, before_s, after_s, found.busiest)


def _targets(
    work: IterationCosts, units: Sequence[int], speeds: Sequence[float], move_s: float
) -> list[float]:
    """The cost that each rank should have; ``move_s``: how long the data of a unit of cost takes."""
    total = sum(units)
    if move_s > 0:
        rates = [speed / work.unit_s for speed in speeds]
        return [float(share) for share in shares_with_movement(units, rates, (), move_s)]
    if work.prefix is None:
        return [float(share) for share in quickest(total, speeds)]
    everyone = sum(speeds)
    return [total * speed / everyone for speed in speeds]


def _longest_s(work: IterationCosts, units: Sequence[int], speeds: Sequence[float]) -> float:
    return work.unit_s * float(max(map(truediv, units, speeds)))


@dataclass(frozen=True, slots=True)
class _Moved:
    held: tuple[Runs, ...]
    moved: int
    messages: int
    busiest: tuple[int, int]


def _moved(
    work: IterationCosts, held: Sequence[Runs], units: Sequence[int], targets: Sequence[float]
) -> _Moved | None:
    """Givers give from their ends, the largest surplus first; takers take, the largest deficit first."""
    surplus = [have - target for have, target in zip(units, targets, strict=True)]
    most = [-abs(each) for each in surplus]
    order = sorted(range(len(held)), key=most.__getitem__)
    after = list(held)
    pool: list[Runs] = []
    for rank in order:
        if surplus[rank] > 0:
            after[rank], given = work.nearest(held[rank], targets[rank])
            if given:
                pool.append(given)
    takers = [rank for rank in order if surplus[rank] < 0]
    if not (pool and takers):
        return None
    moved, messages, busiest = sum(map(count, pool)), 0, max(map(count, pool))
    for rank, taken in zip(takers, _dealt(work, pool, [-surplus[rank] for rank in takers]), strict=True):
        messages += len(taken)
        busiest = max(busiest, sum(map(count, taken)))
        after[rank] = work.joined(after[rank], *taken)
    each = -(-messages // min(len(pool), len(takers)))
    return _Moved(tuple(after), moved, messages, (busiest, each))


def _dealt(work: IterationCosts, pool: Sequence[Runs], wanted: Sequence[float]) -> list[list[Runs]]:
    """The pool's pieces, cut at the nearest iterations in proportion to ``wanted``; a piece is a message."""
    given = sum(map(work.units, pool))
    scale, sums = given / sum(wanted), list(accumulate(wanted))
    dealt: list[list[Runs]] = [[] for _ in wanted]
    taker, passed = 0, 0
    for piece in pool:
        rest, cost = piece, work.units(piece)
        while rest:
            end = scale * sums[taker] - passed
            last = taker + 1 == len(wanted)
            first, rest = (rest, NOTHING) if last or cost <= end else work.nearest(rest, end)
            if first:
                dealt[taker].append(first)
            passed, cost = passed + work.units(first), work.units(rest)
            taker += not last and bool(rest)
    return dealt
