"""Which units travel on a chain of ranks, so that each keeps one block: those at the ends of blocks.

The method preserves adjacency if each exchange does (Heirich and Taylor, section 6): what is next to each
other in the domain stays on one rank or on neighbours. For iterations in blocks that is so if a rank gives
its last units to the next rank and its first to the one before. Then all that changes is where blocks are
cut: a flow f over the link between ranks k and k + 1 moves their cut by -f. Positions are those of what
remains, in order; gaps of what is done do not separate.

Law. A rank gives of what it holds when a round begins. If it is asked for more on both sides, both get half
of it, or all they ask if that is less, and the other the rest. So no share is ever negative, each rank knows
by itself what it gives, and a round in which somebody can give moves something: flows that shares can bear
are done in at most as many rounds as there are links in a row that flow one way. What nobody can give stays
owed, and is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.heirich.mesh import Mesh
from papers.heirich.scales import Schedule
from papers.heirich.units import UnitDiffusion

__all__ = ["ChainExchange", "Piece", "Round", "exchange", "payable", "planned_flows"]

IntegerArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """The positions from ``start`` to ``stop`` - 1, which go from a rank to its neighbour."""

    source: int
    target: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Round:
    """What moves at once, by links, and the cuts after it."""

    pieces: tuple[Piece, ...]
    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChainExchange:
    """Rounds in order, and what is owed on each link after the last, towards the higher rank."""

    rounds: tuple[Round, ...]
    owed: tuple[int, ...]


def planned_flows(
    shares: Sequence[int], schedule: Schedule, cycles: int, *, rounds: int = 1
) -> tuple[int, ...]:
    """Units over each link towards the higher rank, by so many cycles on a chain with ends.

    They are what shares can bear, however large. ValueError as `UnitDiffusion`, and for no shares.
    """
    diffusion = UnitDiffusion(Mesh((len(shares),)), np.asarray(shares), schedule, rounds=rounds)
    return tuple(diffusion.advance(cycles)[0].tolist())


def exchange(cuts: Sequence[int], flows: Sequence[int]) -> ChainExchange:
    """How whole blocks exchange these flows: block k is from ``cuts[k]`` to ``cuts[k + 1]`` - 1.

    ``flows[k]`` goes from rank k to rank k + 1, back if it is negative. ValueError for cuts that decrease,
    fewer than two of them, or other than one flow for each cut between two ranks.
    """
    bounds = np.array(cuts, dtype=np.int64)
    owed = np.array(flows, dtype=np.int64)
    if len(bounds) < 2 or (np.diff(bounds) < 0).any():
        raise ValueError(f"expected two cuts or more that do not decrease, found {list(cuts)}")
    if len(owed) != len(bounds) - 2:
        raise ValueError(
            f"expected {len(bounds) - 2} flows between {len(bounds) - 1} ranks, found {len(owed)}"
        )
    rounds = []
    while (given := payable(np.diff(bounds), owed)).any():
        before = tuple(bounds.tolist())
        bounds[1:-1] -= given
        owed -= given
        after = tuple(bounds.tolist())
        rounds.append(Round(_pieces(before, after), after))
    return ChainExchange(tuple(rounds), tuple(owed.tolist()))


def payable(shares: IntegerArray, flows: IntegerArray) -> IntegerArray:
    """What of these flows ranks with these shares can give at once; all of them where shares suffice."""
    up, down = np.zeros_like(shares), np.zeros_like(shares)
    up[:-1], down[1:] = np.maximum(flows, 0), np.maximum(-flows, 0)
    less_down = np.minimum(down, np.maximum(shares // 2, shares - up))
    less_up = np.minimum(up, shares - less_down)
    given: IntegerArray = less_up[:-1] - less_down[1:]
    return given


def _pieces(before: Sequence[int], after: Sequence[int]) -> tuple[Piece, ...]:
    """What has changed hands between cuts, by links."""
    found = []
    for rank, (old, new) in enumerate(zip(before[1:-1], after[1:-1], strict=True)):
        if new < old:
            found.append(Piece(rank, rank + 1, new, old))
        elif new > old:
            found.append(Piece(rank + 1, rank, old, new))
    return tuple(found)
