"""Which ranks are neighbours under diffusion, and the step that they take.

Where units have data of their own, ranks form a chain, so that adjacent units stay adjacent (Heirich and
Taylor, section 6). Where units have none, no units are adjacent, and ranks form a box of up to three
dimensions: an imbalance along a side of L ranks takes about (L / pi)^2 / alpha steps to even out, and the
number of dimensions d is that in which this is least, alpha being proportional to 1 / d.

The step. A rank sends messages between its iterations only, so messages are expensive, nu + 1 of them a step,
and a step evens out long waves by y = 2 d alpha. It has one inner iteration, where eq. 1 has two or three,
and y = 0.9: stable and positive below 1 (`relaxation`), whatever the dimensions. Simulated on 64 ranks
without data, half of them four times slower, it takes 1.28 of the least possible time, and 1.40 with nu of
eq. 1 and y = 1. Without any inner iteration it takes 1.20, but 1.7 times as many units move under changing
load.

A box need not be full: ranks are numbered with the last coordinate running fastest, and the highest numbers
are missing. So every rank but the first has a neighbour of a lower number, and all are connected, whatever
the number of ranks: a prime number of ranks need not be a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from math import prod

from dlbrt.diffusion.relaxation import DIMENSIONS, DiffusionStep
from dlbrt.records import dataclass

#: 2 d alpha, and the inner iterations of every step.
_Y, _ITERATIONS = 0.9, 1

_STEPS = {
    dimensions: DiffusionStep(_Y / (2 * dimensions), dimensions, _ITERATIONS) for dimensions in DIMENSIONS
}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """``ranks`` in a box with a side for each dimension; the box has at least as many places as ranks."""

    ranks: int
    sides: tuple[int, ...]

    @classmethod
    def among(cls, ranks: int, *, without_rows: bool) -> Neighbourhood:
        """A box where units are ``without_rows`` of data, otherwise a chain."""
        return cls.box(ranks) if without_rows else cls.chain(ranks)

    @classmethod
    def chain(cls, ranks: int) -> Neighbourhood:
        """Ranks one after the other."""
        return cls(ranks, (ranks,))

    @classmethod
    def box(cls, ranks: int) -> Neighbourhood:
        """The box in which uneven work evens out soonest; of equals the one of fewest dimensions."""
        return _box(ranks)

    @property
    def step(self) -> DiffusionStep:
        """The step of every round."""
        return _STEPS[len(self.sides)]

    def of(self, rank: int) -> tuple[int, ...]:
        """The neighbours of a rank, in ascending order."""
        lower, upper, stride = [], [], prod(self.sides)
        for side in self.sides:
            stride //= side
            place = rank // stride % side
            lower += [rank - stride] if place else []
            upper += [rank + stride] if place + 1 < side and rank + stride < self.ranks else []
        return (*lower, *reversed(upper))

    def lines(self) -> Iterator[tuple[range, ...]]:
        """Ranks in line, axis by axis, the first coordinate's first."""
        outer = prod(self.sides)
        for side in self.sides:
            stride = outer // side
            begins = (b + k for b in range(0, self.ranks, outer) for k in range(stride))
            found = (range(begin, min(begin + outer, self.ranks), stride) for begin in begins)
            yield tuple(line for line in found if line)
            outer = stride


@lru_cache(maxsize=16)
def _box(ranks: int) -> Neighbourhood:
    """The box, made once for all ranks of a process."""
    boxes = (Neighbourhood(ranks, _sides(ranks, dimensions)) for dimensions in DIMENSIONS)
    return min(boxes, key=lambda each: len(each.sides) * max(each.sides) ** 2)


def _sides(ranks: int, dimensions: int) -> tuple[int, ...]:
    """The sides in descending order, the longest as short as possible; none is 1, except for one rank."""
    sides: list[int] = []
    for left in range(dimensions, 0, -1):
        sides.append(ranks if left == 1 else next(side for side in count(1) if side**left >= ranks))
        ranks = -(-ranks // sides[-1])
    return tuple(side for side in sides if side > 1) or (1,)
