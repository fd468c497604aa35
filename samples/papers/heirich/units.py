"""Parabolic balancing of whole units: what a link owes and cannot give yet, it carries.

To round each flux alone stalls: with alpha = .1 a link moves nothing below 5 units of difference, and 512
processors stay 45 units from the average. So each link keeps the remainder, at most half a unit, and adds it
to what flows next (Heirich and Taylor treat work as continuous). Integers move, so units are conserved by
construction.

Law. A rank gives of what it holds when a round of exchange begins, nothing of what it is being given; so no
amount is ever negative. Where fluxes ask for more, the rest is given in further rounds, out of what came
meanwhile. After the last round what could not be given is forgotten rather than owed: the next step asks
anew, by what is there then.

A schedule of several steps is gone through in numbers; units move at the end of a cycle, by the sum of its
fluxes. They can be many more than a rank holds, so that rounds pay there; with one positive step, only
roundings exceed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from dlbrt.data.layout import Floats
from numpy.typing import ArrayLike, NDArray

from papers.heirich.lattice import Lattice, amounts
from papers.heirich.mesh import Mesh
from papers.heirich.relaxation import DiffusionStep
from papers.heirich.scales import Schedule

__all__ = ["UnitDiffusion"]

IntegerArray = NDArray[np.int64]

#: Integers up to here are doubles too.
_MOST = 2**53


class UnitDiffusion:
    """Whole units on a mesh, balanced by a schedule, cycle by cycle.

    ``part`` (booleans of the mesh's shape) is where they move, everywhere by default; ``rounds`` are the
    rounds of exchange at the end of a cycle, at most. ValueError for units of another shape, negative, not
    whole, or more than 2^53 together, for a schedule of other dimensions, and for less than 1 round.
    """

    def __init__(
        self,
        mesh: Mesh,
        units: ArrayLike,
        schedule: Schedule,
        *,
        part: ArrayLike | None = None,
        rounds: int = 1,
    ) -> None:
        if rounds < 1:
            raise ValueError(f"expected 1 round of exchange or more, found {rounds}")
        self.rounds = rounds
        self.lattice = Lattice(mesh, part)
        self.schedule = self.lattice.checked(schedule)
        self._u = self.lattice.new()
        self.lattice.grid(self._u)[...] = _whole(mesh, units)
        self._links = [_Links(self.lattice, axis) for axis in range(mesh.dimensions)]

    @property
    def units(self) -> IntegerArray:
        """What each processor holds, in the mesh's shape."""
        return self.lattice.grid(self._u).astype(np.int64)

    @property
    def remainders(self) -> tuple[Floats, ...]:
        """What links carry, by axis in the shapes of `Mesh.links_along`; at most half a unit each."""
        return tuple(links.shaped(links.carried) for links in self._links)

    def advance(self, cycles: int = 1) -> tuple[IntegerArray, ...]:
        """Go through the schedule so many times; the flows of all of these together.

        By axis in the shapes of `Mesh.links_along`: units moved towards the higher coordinate, negative the
        other way.
        """
        for links in self._links:
            links.flowed.fill(0)
        for _ in range(cycles):
            self._request()
            for _ in range(self.rounds):
                if not self._exchange():
                    break
        return tuple(links.shaped(links.flowed).astype(np.int64) for links in self._links)

    def _exchange(self) -> bool:
        """Move what ranks hold of what is asked of them; whether more was asked."""
        over = self._over()
        for links in self._links:
            links.grant(bool(len(over)))
        if len(over):
            self._cut(over)
        for links in self._links:
            links.move(self._u)
        return len(over) > 0

    def _request(self) -> None:
        """Ask each link for the whole units of what it carries and what a cycle's fluxes add."""
        steps = self.schedule.steps
        promised = self._u.copy() if len(steps) > 1 else self._u
        for place, step in enumerate(steps):
            v = self.lattice.relaxed(promised, step)
            for links in self._links:
                links.take_flux(v, step)
                if place + 1 < len(steps):
                    links.promise(promised)
        for links in self._links:
            links.round()

    def _over(self) -> NDArray[np.intp]:
        """The places that are asked for more than they hold."""
        held = self.lattice.grid(self._u)
        if held.min() >= sum(2 * links.largest for links in self._links):
            return np.empty(0, dtype=np.intp)
        requested = self.lattice.new()
        for links in self._links:
            requested += np.maximum(links.requested, 0)
            requested[links.offset :] += np.maximum(-links.requested[: -links.offset], 0)
        over = np.zeros(self.lattice.size, dtype=np.bool_)
        self.lattice.grid(over)[...] = self.lattice.grid(requested) > held
        return np.flatnonzero(over)

    def _cut(self, over: NDArray[np.intp]) -> None:
        """Let these places give what they hold and no more: first axes first, up before down."""
        left = -self._u[over]
        for links in self._links:
            left += links.given(over, 1) + links.given(over, -1)
        for links in reversed(self._links):
            left = links.cut(over, left, -1)
            left = links.cut(over, left, 1)
            links.agree()


@dataclass(init=False, slots=True, eq=False)
class _Links:
    """The links along an axis, each at the place of its lower end.

    A ring's last link, back to coordinate 0, stands at its last coordinate, and a copy at the ghost before
    the first.
    """

    lattice: Lattice
    axis: int
    offset: int
    carried: Floats
    requested: Floats
    flow: Floats
    flowed: Floats
    pending: bool
    _flux: Floats
    _open: Floats | None

    def __init__(self, lattice: Lattice, axis: int) -> None:
        self.lattice, self.axis, self.offset = lattice, axis, lattice.offsets[axis]
        self.carried, self.requested, self._flux = lattice.new(), lattice.new(), lattice.new()
        self.flow, self.flowed, self.pending = lattice.new(), lattice.new(), False
        self._open = lattice.open_links(axis)

    def take_flux(self, v: Floats, step: DiffusionStep) -> None:
        """Add alpha (v_i - v_j) to what is carried."""
        flux = self._flux[: -self.offset]
        np.subtract(v[: -self.offset], v[self.offset :], out=flux)
        flux *= step.alpha
        if self._open is not None:
            self._flux *= self._open
        self.carried += self._flux

    def promise(self, u: Floats) -> None:
        """What amounts are once the last flux has moved."""
        _moved(u, self._flux, self.offset)

    def round(self) -> None:
        """What is carried is asked for in whole units, a remainder of at most a half stays."""
        np.rint(self.carried, out=self.requested)
        self.carried -= self.requested

    @property
    def largest(self) -> float:
        """The most that is asked of a link."""
        return float(max(self.requested.max(), -self.requested.min()))

    def grant(self, cut: bool) -> None:
        """The flow is what is asked for; that goes on being asked for if some of it is to be ``cut``."""
        if cut:
            np.copyto(self.flow, self.requested)
        else:
            self.flow, self.requested = self.requested, self.flow
        self.pending = cut

    def given(self, places: NDArray[np.intp], sign: int) -> Floats:
        """What these places give upwards (1) or downwards (-1)."""
        found: Floats = np.maximum(sign * self.flow[self._at(places, sign)], 0)
        return found

    def cut(self, places: NDArray[np.intp], excess: Floats, sign: int) -> Floats:
        """Take the excess from what these places give upwards (1) or downwards (-1); what is left of it."""
        less = np.minimum(self.given(places, sign), excess)
        self.flow[self._at(places, sign)] -= sign * less
        return excess - less

    def _at(self, places: NDArray[np.intp], sign: int) -> NDArray[np.intp]:
        """Where the links upwards (1) or downwards (-1) of some places stand."""
        if sign > 0:
            return places
        side = self.lattice.mesh.sides[self.axis]
        padded = side + 2
        first = places // self.offset % padded == 1
        return places - self.offset + np.where(first & self.lattice.mesh.periodic, side * self.offset, 0)

    def agree(self) -> None:
        """Rings: the copy of the last link follows it."""
        if self.lattice.mesh.periodic:
            along = np.moveaxis(self.lattice.padded(self.flow), self.axis, 0)
            along[0] = along[-2]

    def move(self, u: Floats) -> None:
        """Let the flow happen; what was cut is asked for still."""
        _moved(u, self.flow, self.offset)
        self.flowed += self.flow
        if self.pending:
            self.requested -= self.flow

    def shaped(self, values: Floats) -> Floats:
        """Values by coordinates of the lower ends, in the shape of `Mesh.links_along`."""
        count = self.lattice.mesh.links_along(self.axis)[self.axis]
        along = np.moveaxis(self.lattice.grid(values), self.axis, 0)[:count]
        return np.moveaxis(along, 0, self.axis).copy()


def _moved(u: Floats, flow: Floats, offset: int) -> None:
    u -= flow
    u[offset:] += flow[:-offset]


def _whole(mesh: Mesh, units: ArrayLike) -> Floats:
    found = amounts(mesh, units)
    if not (found == np.floor(found)).all():
        raise ValueError(f"expected whole units, found {found[found != np.floor(found)][0]}")
    if fsum(found.ravel().tolist()) > _MOST:
        raise ValueError(f"expected at most {_MOST} units together, found more")
    return found
