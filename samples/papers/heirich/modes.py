"""How fast disturbances vanish by implicit steps: eigenvalues, rates, the number of exchange steps tau.

Heirich and Taylor, section 4: on a periodic mesh of sides m_a a step with converged inner iterations divides
a mode by 1 + alpha lambda, lambda = 2 sum_a (1 - cos(2 pi i_a / m_a)) (eq. 8, 9). A point disturbance is, at
its place, the sum of all modes, so that it has fallen to alpha after the least tau with

    1/n sum (1 + alpha lambda)^-tau <= alpha        over all i_a = 0 .. m_a - 1 but i = 0.

Eq. (20) of the paper has the weight 8/n and i, j, k = 0 .. m/2 - 1 only. That gives modes with an index 0
too much, since their norm is another (Lemma 1 fails for i = 0), and leaves out the plane m/2. By it tau
falls with n (`tau_as_printed`), the paper's superlinear speedup; in truth it grows with n to a limit
(`tau`). The paper's table 1 agrees with neither. A single mode takes `tau_slowest` (eq. 10), which has no
limit as n grows.

Without flux through the ends the angles are pi i / m, so that the slowest mode has a quarter of the
eigenvalue: convergence seen on a periodic mesh says little of a real one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, cos, log, log1p, pi, prod

import numpy as np
from dlbrt.data.layout import Floats

from papers.heirich.mesh import Mesh

__all__ = ["slowest_eigenvalue", "slowest_rate", "tau", "tau_as_printed", "tau_slowest"]


def tau(alpha: float, sides: tuple[int, ...]) -> int:
    """Exchange steps until a point disturbance on a periodic mesh has fallen to ``alpha`` of it.

    ValueError unless 0 < alpha < 1, or for sides that `Mesh` refuses.
    """
    weights, eigenvalues = np.ones(1), np.zeros(1)
    for side in Mesh(sides).sides:
        half = np.arange(side // 2 + 1)
        both = np.where((half == 0) | (2 * half == side), 1.0, 2.0)  # i and m - i have the same cosine
        weights = np.multiply.outer(weights, both).ravel()
        eigenvalues = np.add.outer(eigenvalues, 2 - 2 * np.cos(2 * pi * half / side)).ravel()
    return _solved(alpha, weights[1:] / prod(sides), eigenvalues[1:])


def tau_as_printed(alpha: float, side: int) -> int:
    """The same by eq. (20) as printed, for a cube of an even side; for comparison alone.

    ValueError unless 0 < alpha < 1, and the side is even and above 0.
    """
    if side < 2 or side % 2:
        raise ValueError(f"expected an even side above 0, found {side}")
    one = 2 - 2 * np.cos(2 * pi * np.arange(side // 2) / side)
    eigenvalues = np.add.outer(np.add.outer(one, one), one).ravel()[1:]
    return _solved(alpha, np.full(len(eigenvalues), 8 / side**3), eigenvalues)


def slowest_eigenvalue(mesh: Mesh) -> float:
    """The least lambda above 0; 0 where a single processor has none."""
    longest = max(mesh.sides)
    return 0.0 if longest == 1 else 2 - 2 * cos((2 if mesh.periodic else 1) * pi / longest)


def slowest_rate(alpha: float, mesh: Mesh) -> float:
    """The rate at which the slowest mode falls: it is multiplied by e^-rate a step."""
    return log1p(alpha * slowest_eigenvalue(mesh))


def tau_slowest(alpha: float, mesh: Mesh) -> int:
    """Exchange steps until the slowest mode has fallen to ``alpha`` of it (eq. 10).

    ValueError unless 0 < alpha < 1; 0 on a single processor.
    """
    _check(alpha)
    rate = slowest_rate(alpha, mesh)
    return ceil(-log(alpha) / rate) if rate else 0


def _solved(alpha: float, weights: Floats, eigenvalues: Floats) -> int:
    """The least tau at which the weighted sum is at most alpha."""
    _check(alpha)
    rates = np.log1p(alpha * eigenvalues)

    def left(steps: int) -> float:
        return float(weights @ np.exp(-steps * rates))

    return _least(lambda steps: left(steps) <= alpha)


def _least(holds: Callable[[int], bool]) -> int:
    """The least number for which something holds that, once it does, goes on to."""
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(
            f"expected alpha above 0 and below 1, the part to which a disturbance falls, found {alpha}"
        )
