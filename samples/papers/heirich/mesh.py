"""Meshes of processors: lines, rectangles and boxes, with ends or closed to rings.

Law. Work moves over real links alone. Beyond an end of a mesh stands a ghost with the value of the processor
at the end itself, so that nothing flows there (no flux). The paper (Heirich and Taylor, section 6) prints
the mirror u_0 = u_2, under which work is not conserved: a million points at the centre of 8^3 become 1 492
711, at a corner 186 589. In a periodic mesh the neighbours beyond an end are those at the other: a side of 2
has two links between the same two processors, and a side of 1 none, its neighbour being itself.
"""

from __future__ import annotations

from enum import Enum
from math import isqrt, prod

from dlbrt.diffusion.relaxation import DIMENSIONS
from dlbrt.records import dataclass

__all__ = ["Boundary", "Mesh", "factored"]


class Boundary(Enum):
    """What is beyond the ends of a mesh."""

    NO_FLUX = "nothing"
    PERIODIC = "the other end"


@dataclass(frozen=True, slots=True)
class Mesh:
    """Processors on a mesh of 1, 2 or 3 dimensions, numbered with the last coordinate running fastest.

    ValueError for other dimensions, or a side below 1.
    """

    sides: tuple[int, ...]
    boundary: Boundary = Boundary.NO_FLUX

    def __post_init__(self) -> None:
        if len(self.sides) not in DIMENSIONS or min(self.sides) < 1:
            raise ValueError(f"expected 1, 2 or 3 sides of 1 or more, found {self.sides}")

    @property
    def processors(self) -> int:
        """How many there are."""
        return prod(self.sides)

    @property
    def dimensions(self) -> int:
        """How many sides there are, those of 1 included."""
        return len(self.sides)

    @property
    def periodic(self) -> bool:
        """Whether the ends are closed to rings."""
        return self.boundary is Boundary.PERIODIC

    def links_along(self, axis: int) -> tuple[int, ...]:
        """The shape of the links along an axis: from coordinate k to k + 1, the last to 0 if periodic."""
        side = self.sides[axis]
        count = side if self.periodic and side > 1 else side - 1
        return (*self.sides[:axis], count, *self.sides[axis + 1 :])

    @property
    def links(self) -> int:
        """How many links there are, double ones counted twice."""
        return sum(prod(self.links_along(axis)) for axis in range(self.dimensions))


def factored(processors: int, dimensions: int = 3, boundary: Boundary = Boundary.NO_FLUX) -> Mesh:
    """A mesh of so many processors in at most so many dimensions, its longest side as short as can be.

    The longest side has the slowest mode. Sides are in descending order, and none is 1 (but of one
    processor): a prime number is a line. ValueError for less than 1 processor, or other than 1, 2 or 3
    dimensions.
    """
    if processors < 1 or dimensions not in DIMENSIONS:
        raise ValueError(
            f"expected 1 processor or more in 1, 2 or 3 dimensions, found {processors}, {dimensions}"
        )
    sides = tuple(side for side in _sides(processors, dimensions) if side > 1)
    return Mesh(sides or (1,), boundary)


def _sides(processors: int, dimensions: int) -> tuple[int, ...]:
    """Descending sides with this product, the first as small as can be, then the second."""
    if dimensions == 1:
        return (processors,)
    choices = (
        (side, *_sides(processors // side, dimensions - 1))
        for side in _divisors(processors)
        if side**dimensions >= processors
    )
    return min(tuple(sorted(sides, reverse=True)) for sides in choices)


def _divisors(number: int) -> list[int]:
    low = [divisor for divisor in range(1, isqrt(number) + 1) if number % divisor == 0]
    return sorted({*low, *(number // divisor for divisor in low)})
