"""Amounts on a mesh as flat padded arrays, and what a step reads there: neighbours, Jacobi iterations.

Every amount stands in one flat array of a mesh with a layer of ghosts around, so that the neighbours along
an axis of all processors are the same array, shifted. Sums over neighbours go by blocks that fit into the
cache; what they give for ghosts means nothing, and is replaced by `fill`.

A part of the mesh can be rebalanced while the rest works on (Heirich and Taylor, section 6): a link that
leaves the part is closed. A closed neighbour counts with one's own value, as at an end of the mesh, so
nothing flows there.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypeVar

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import ArrayLike, NDArray

from papers.heirich.mesh import Mesh
from papers.heirich.relaxation import DiffusionStep
from papers.heirich.scales import Schedule

__all__ = ["BLOCK", "Floats", "Lattice", "amounts"]

_Number = TypeVar("_Number", bound=np.generic)

#: Numbers worked on at a time: some arrays of these fit into the second cache of any processor.
BLOCK = 1 << 13


class Lattice:
    """The layout of a mesh, and scratch arrays for steps on it; not for two threads at once."""

    def __init__(self, mesh: Mesh, part: ArrayLike | None = None) -> None:
        """``part``: booleans of the mesh's shape, where amounts may move; None for everywhere.

        ValueError for another shape.
        """
        self.mesh = mesh
        self._shape = tuple(side + 2 for side in mesh.sides)
        self._inside = tuple(slice(1, -1) for _ in mesh.sides)
        self.size = prod(self._shape)
        #: How far apart neighbours along each axis stand.
        self.offsets = tuple(prod(self._shape[axis + 1 :]) for axis in range(mesh.dimensions))
        self._front, self._back, self._base = self.new(), self.new(), self.new()
        self._sum = np.empty(BLOCK)
        self.part: Floats | None = None
        self._closed: Floats | None = None
        if part is not None:
            self.part = self._flags(part)
            self._closed = self._closed_links(self.part)

    def new(self) -> Floats:
        """A flat array of zeros."""
        return np.zeros(self.size)

    def grid(self, flat: NDArray[_Number]) -> NDArray[_Number]:
        """What stands at the processors themselves: a view of the mesh's shape."""
        return flat.reshape(self._shape)[self._inside]

    def padded(self, flat: Floats) -> Floats:
        """All amounts by coordinates, ghosts included: processor 0 along an axis stands at 1."""
        return flat.reshape(self._shape)

    def checked(self, schedule: Schedule) -> Schedule:
        """A schedule that is for such a mesh; ValueError for one of other dimensions."""
        if schedule.dimensions != self.mesh.dimensions:
            expected, found = self.mesh.dimensions, schedule.dimensions
            raise ValueError(f"expected a schedule for {expected} dimension(s), found one for {found}")
        return schedule

    def fill(self, flat: Floats) -> Floats:
        """Give the ghosts their values: own at an end, that of the other end if periodic; the same array."""
        view = self.padded(flat)
        low, high = (-2, 1) if self.mesh.periodic else (1, -2)
        for axis in range(self.mesh.dimensions):
            along = np.moveaxis(view, axis, 0)
            along[0] = along[low]
            along[-1] = along[high]
        return flat

    def around(self, flat: Floats) -> Iterator[tuple[slice, Floats]]:
        """The sums over the 2 d neighbours, block by block; a block's array is overwritten by the next."""
        for start in range(self.offsets[0], self.size - self.offsets[0], BLOCK):
            stop = min(start + BLOCK, self.size - self.offsets[0])
            found = self._sum[: stop - start]
            first = self.offsets[0]
            np.add(flat[start - first : stop - first], flat[start + first : stop + first], out=found)
            for offset in self.offsets[1:]:
                found += flat[start - offset : stop - offset]
                found += flat[start + offset : stop + offset]
            if self._closed is not None:
                found += self._closed[start:stop] * flat[start:stop]
            yield slice(start, stop), found

    def relaxed(self, u: Floats, step: DiffusionStep) -> Floats:
        """The v of a step by Jacobi iterations from ``u`` (eq. 2), ghosts filled, until the next call.

        It is 0 outside the part.
        """
        base, source, target, other = self._base, u, self._front, self._back
        np.multiply(u, 1 / (1 + step.y), out=base)
        if self.part is not None:
            base *= self.part
            source = np.multiply(u, self.part, out=other)
        for _ in range(step.iterations):
            self.fill(source)
            for block, found in self.around(source):
                found *= step.alpha / (1 + step.y)
                np.add(found, base[block], out=target[block])
            if self.part is not None:
                target *= self.part
            source, target, other = target, other, target
        return self.fill(source)

    def open_links(self, axis: int) -> Floats | None:
        """1 where both ends of the link from a place to the next along an axis take part; None: all."""
        if self.part is None:
            return None
        found, offset = self.new(), self.offsets[axis]
        found[:-offset] = self.part[:-offset] * self.part[offset:]
        return found

    def _flags(self, part: ArrayLike) -> Floats:
        given = np.asarray(part)
        if given.shape != self.mesh.sides or given.dtype != np.bool_:
            found = f"{given.dtype} of the shape {given.shape}"
            raise ValueError(f"expected booleans of the shape {self.mesh.sides}, found {found}")
        flags = self.new()
        self.grid(flags)[...] = given
        return self.fill(flags)

    def _closed_links(self, part: Floats) -> Floats:
        """How many neighbours of each place do not take part."""
        closed = np.full(self.size, 2.0 * self.mesh.dimensions)
        for block, found in self.around(part):
            closed[block] -= found
        return closed


def amounts(mesh: Mesh, given: ArrayLike) -> Floats:
    """Amounts of a mesh's shape as floats; ValueError for another shape, or any not finite and 0 or more."""
    found = np.asarray(given, dtype=np.float64)
    if found.shape != mesh.sides:
        raise ValueError(f"expected amounts of the shape {mesh.sides}, found the shape {found.shape}")
    good = np.isfinite(found) & (found >= 0)
    if not good.all():
        raise ValueError(f"expected finite amounts of 0 or more, found {found[~good][0]}")
    return found
