"""Partition as a root of nonlinear equations, for smooth speed functions of any shape (Clarke et al., 6.1).

F_1 = n - sum x_i, F_i = t_i(x_i) - t_1(x_1), t_i = x_i / s_i (equation 2); Newton's step is -J^-1 F (equation
3, where the inverse is missing in print), from equal shares (4), with the Jacobian of (5). As in Powell's
hybrid method, which the paper takes from MINPACK, the step goes from the steepest descent of |F| towards
Newton's step as far as a radius allows, and the radius follows how well F agrees with its linear model.
Unlike in MINPACK, J is exact at every step and an arrowhead, so that a step is O(p).

F is scaled: x by n / p, times by their mean at the start. The paper's propositions 2 and 3 say that there is
no stationary point and the method always converges. They do not hold (J is singular where two t_i' vanish),
so a point counts as a root only if its residual is small enough; else the answer is None.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from dlbrt.data.layout import Floats
from dlbrt.records import dataclass
from dlbrt.speed.functions import Akima

# Arrowhead matrices have entries only in the first row, the first column and on the diagonal: solved in O(p).
#
# The Jacobian of the partition problem is an arrowhead (equation 5): the first row is -1, the first column
# -g_1, the diagonal g_i, where g_i = (s_i - x_i s_i') / s_i^2 is dt_i / dx_i. As a full matrix, the Jacobian
# of 10 000 ranks would take 800 MB.

#: The rounding of a number, relative to it.
_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Arrowhead:
    """The Jacobian of ``a (n - sum x)`` and ``b (t_i - t_1)``, i = 2 .. p.

    ``rates`` are g_1 .. g_p times b, ``corner`` is a.
    """

    rates: Floats
    corner: float

    def solve(self, right: Floats) -> Floats | None:
        """The y with J y = right; None where J is singular to the precision of doubles.

        The rows below the first give y_i = (right_i + g_1 y_1) / g_i, which is put into the first row. J is
        singular if two rates are 0. If a single rate below the first is 0, it would be a divisor, and the
        answer is None too.
        """
        first, rest = self.rates[0], self.rates[1:]
        if not rest.all():
            return None
        per, known = 1 / rest, right[1:] / rest
        divisor = 1 + first * per.sum()
        if not abs(divisor) > _ROUNDING * (1 + np.abs(first * per).sum()):
            return None
        head = (-right[0] / self.corner - known.sum()) / divisor
        found = np.concatenate(([head], known + first * head * per))
        return found if np.isfinite(found).all() else None

    def times(self, y: Floats) -> Floats:
        """J y."""
        below = self.rates[1:] * y[1:] - self.rates[0] * y[0]
        return np.concatenate(([-self.corner * y.sum()], below))

    def transposed_times(self, y: Floats) -> Floats:
        """J^T y."""
        column = self.rates * y
        column[0] = -self.rates[0] * y[1:].sum()
        return np.asarray(column - self.corner * y[0], dtype=np.float64)


_MAX_STEPS = 60

#: Tolerance of a root: of the units, relative to n, and of the times, relative to the longest.
_NEAR = 1e-8

#: A step is taken if it brings this part of the progress that the linear model promises.
_MIN_PROGRESS = 1e-4

#: The radius at the start, relative to |x|, and the least one.
_FIRST_RADIUS, _MIN_RADIUS = 1.0, 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class PartitionRoot:
    """Real sizes that take the same time on all ranks and add up to n, and the number of evaluations of F."""

    x: Floats
    evaluations: int


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Scaled sizes x, F(x), its norm, whether x is a root, and J(x)."""

    x: Floats
    f: Floats
    size: float
    found: bool
    j: Arrowhead


def _norm(x: Floats) -> float:
    return sqrt(float(x @ x))


class _Problem:
    """The scaled equations, and how often they were evaluated."""

    def __init__(self, functions: Akima, n: float) -> None:
        self.functions = functions
        self.evaluations = 0
        self.unit = n / functions.ranks
        equal = np.full(functions.ranks, self.unit)
        self.second = float((equal / functions.speeds(equal)).mean())

    def at(self, x: Floats) -> _Point:
        """F and J at scaled sizes."""
        self.evaluations += 1
        real = x * self.unit
        speeds, slopes = self.functions.both(real)
        times = real / speeds
        f = (times - times[0]) / self.second
        f[0] = len(x) - x.sum()
        rates = (1 - times * slopes) / speeds * (self.unit / self.second)
        apart, missing = float(np.abs(f[1:]).max(initial=0.0)), abs(float(f[0]))
        found = missing <= _NEAR * len(x) and apart * self.second <= _NEAR * float(times.max())
        return _Point(x, f, _norm(f), found, Arrowhead(rates, 1.0))


def balanced(functions: Akima, n: float, start: Floats | None = None) -> PartitionRoot | None:
    """A root for ``n`` > 0 with all sizes above 0; None if none was found.

    The search begins at ``start``, sizes above 0, by default equal shares.
    """
    problem = _Problem(functions, n)
    here = problem.at(np.ones(functions.ranks) if start is None else start / problem.unit)
    radius = _FIRST_RADIUS * _norm(here.x)
    while problem.evaluations < _MAX_STEPS and radius > _MIN_RADIUS:
        if here.found:
            return PartitionRoot(here.x * problem.unit, problem.evaluations)
        step = _step(here, radius)
        x = np.maximum(here.x + step, here.x / 8)  # sizes stay above 0
        there = problem.at(x)
        promised = here.size - _norm(here.f + here.j.times(x - here.x))
        progress = (here.size - there.size) / promised if promised > 0 else -1.0
        length = _norm(x - here.x)
        if progress < 0.25:
            radius = min(radius, length) / 2
        elif progress > 0.75:
            radius = max(radius, 2 * length)
        if progress >= _MIN_PROGRESS:
            here = there
    return None


def _step(here: _Point, radius: float) -> Floats:
    """Powell's step: Newton's if it lies within the radius; else along the descent, then towards Newton's."""
    newton = here.j.solve(-here.f)
    if newton is not None and _norm(newton) <= radius:
        return newton
    gradient = here.j.transposed_times(here.f)
    steep, along = _norm(gradient), _norm(here.j.times(gradient))
    if steep == 0 or along == 0:
        return newton * (radius / _norm(newton)) if newton is not None else np.zeros_like(here.x)
    descent = gradient * -((steep / along) ** 2)
    reach = _norm(descent)
    if reach >= radius or newton is None:
        return np.asarray(descent * min(1.0, radius / reach), dtype=np.float64)
    towards = newton - descent
    a, b, c = float(towards @ towards), float(descent @ towards), reach * reach - radius * radius
    return np.asarray(descent + towards * ((-b + (b * b - a * c) ** 0.5) / a), dtype=np.float64)
