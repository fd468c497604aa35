"""Diffusion among processors of different speeds: time becomes equal, not work. One rank's part of a step.

Heirich and Taylor have equal processors. Here u_i units remain on a rank that does s_i units a second, and
what spreads is the time t_i = u_i / s_i. The implicit step with conductances c_ij over links,

    s_i v_i + sum_j c_ij (v_i - v_j) = u_i,        c_ij = alpha min(s_i, s_j),

is solved by nu Jacobi iterations from v = t, and c_ij (v_i - v_j) units move over each link: what one end
gives the other gets, so work is conserved, and nothing flows only where times are equal.

Why the smaller speed. A step has 2 d links a rank on a mesh of d dimensions (`DiffusionStep`), y = 2 d alpha.
As no conductance is above alpha s_i, each rank can be given a link to itself, over which nothing flows, so
that its conductances add up to y s_i. Then Jacobi's iteration is

    v_i := (t_i + y sum_j w_ij v_j) / (1 + y),        w_ij = c_ij / (y s_i), w_ii = 1 - sum_j w_ij,

with W nonnegative, of rows that add up to 1, and symmetric in the inner product weighted by speeds: its
eigenvalues lie in -1..1. So this is the iteration of equal processors with W in the place of the mean T, and
all that `relaxation` says holds as it stands, whatever the speeds: inner iterations, gains, stable sizes,
and, for y <= 1, that no time exceeds the former longest. Of conductances that follow from the speeds of the
two ends alone, these are the largest for which this holds: with harmonic means, up to twice the smaller
speed, alpha would have to be half as large, and links between equals half as wide. For equal speeds this is
the paper's step; its ghosts at the ends of a mesh are links to oneself.

Both ends of a link compute its flux from the same four numbers, and get the same result but for the sign, bit
for bit; so both know what is to travel and what the link carries over, without a message about it. For a step
a rank sends its neighbours its speed and time, then its v after each of the nu iterations: nu + 1 messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from dlbrt.diffusion.relaxation import DiffusionStep
from dlbrt.records import dataclass


def flux(time: float, speed: float, other_time: float, other_speed: float, alpha: float) -> float:
    """Units that flow to the other end of a link in a step of size ``alpha``, negative if they come from it.

    Speeds are in units a second, times in seconds. The other end computes the same with the opposite sign,
    bit for bit.
    """
    return alpha * min(speed, other_speed) * (time - other_time)


@dataclass(frozen=True, slots=True)
class LocalDiffusion:
    """A rank that knows its own speed and its neighbours' speeds, by links (units a second).

    ValueError for a speed that is not finite and above 0, and for more links than the step allows.
    """

    step: DiffusionStep
    speed: float
    neighbours: tuple[float, ...]

    def __post_init__(self) -> None:
        if wrong := [each for each in (self.speed, *self.neighbours) if not (each > 0 and isfinite(each))]:
            raise ValueError(f"expected finite speeds above 0, found {wrong[0]}")
        if len(self.neighbours) > 2 * self.step.dimensions:
            raise ValueError(
                f"expected at most {2 * self.step.dimensions} neighbours in {self.step.dimensions} "
                f"dimension(s), found {len(self.neighbours)}"
            )

    def jacobi(self, work: float, time: float, times: Sequence[float]) -> float:
        """An inner iteration: this rank's next v, from its own and its neighbours' v, in seconds.

        ``work`` is what the rank held when the step began, in units. The first v are ``work`` / speed.
        """
        weights = [min(1.0, other / self.speed) for other in self.neighbours]
        around = sum(weight * other for weight, other in zip(weights, times, strict=True))
        around += (2 * self.step.dimensions - sum(weights)) * time
        return (work / self.speed + self.step.alpha * around) / (1 + self.step.y)

    def fluxes(self, time: float, times: Sequence[float]) -> tuple[float, ...]:
        """Units that flow to each neighbour (negative: from it), by the v after the last inner iteration."""
        ends = zip(times, self.neighbours, strict=True)
        return tuple(flux(time, self.speed, *end, self.step.alpha) for end in ends)


@dataclass(frozen=True, slots=True)
class LinkRemainder:
    """What a link carries over to the next step, at most half a unit, as one of its ends sees it.

    The other end has the same with the opposite sign, from the first step on: sums and rounding are odd.
    """

    remainder: float = 0.0

    def add(self, units: float) -> tuple[int, LinkRemainder]:
        """The whole units that go (negative: come) when ``units`` more flow, and the new remainder."""
        owed = self.remainder + units
        whole = round(owed)
        return whole, LinkRemainder(owed - whole)


def granted(held: int, requested: Sequence[int]) -> tuple[int, ...]:
    """What a rank that holds ``held`` units gives of the units requested by its links: all if it can.

    Otherwise each link gets all it requests or an equal part, whichever is less; a unit that does not divide
    goes to the last links. Links that bring units (negative) request nothing. On a chain, links downwards
    first, this is what blocks can bear whose ends move (`payable` in `samples/papers/heirich/chain.py`).
    """
    given = [0] * len(requested)
    left, waiting = held, [link for link, units in enumerate(requested) if units > 0]
    while content := [link for link in waiting if requested[link] <= left // len(waiting)]:
        for link in content:
            given[link] = requested[link]
            left -= requested[link]
        waiting = [link for link in waiting if link not in content]
    for place, link in enumerate(waiting):
        given[link] = left // (len(waiting) - place)
        left -= given[link]
    return tuple(given)
