"""One step of the parabolic method: its size, its dimensions and its inner iterations.

Heirich and Taylor (Caltech CS-TR-94-13). A step solves (1 + y) v - y T v = u, y = 2 d alpha, on a mesh of d
dimensions, T being the mean over the 2 d neighbours, by nu Jacobi iterations (their eq. 2). Then work moves:
alpha (v_i - v_j) over each link, *not* u := v as the paper's last line has it: the two agree only for
converged iterations, and only the flux conserves work.

A step is stable if and only if 2 y rho^k < 1, with rho = y / (1 + y) and k = nu if nu is odd, nu + 1
otherwise. For y <= 1 no amount exceeds the former largest, and none is negative. What follows for which sizes
is in `samples/papers/heirich/relaxation.py`.
"""

from __future__ import annotations

from math import isfinite

from dlbrt.records import dataclass

DIMENSIONS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class DiffusionStep:
    """A step: its size ``alpha`` on a mesh of ``dimensions``, and its inner iterations (nu).

    ValueError for an alpha that is not finite and above 0, dimensions other than 1, 2, 3, or fewer than 1
    iteration.
    """

    alpha: float
    dimensions: int
    iterations: int

    def __post_init__(self) -> None:
        check(self.alpha, self.dimensions, self.iterations)

    @property
    def y(self) -> float:
        """2 d alpha."""
        return 2 * self.dimensions * self.alpha


def check(alpha: float, dimensions: int, iterations: int = 1) -> None:
    """ValueError for what no step can have, as `DiffusionStep`."""
    if not (alpha > 0 and isfinite(alpha)):
        raise ValueError(f"expected a finite alpha above 0, found {alpha}")
    if dimensions not in DIMENSIONS:
        raise ValueError(f"expected 1, 2 or 3 dimensions, found {dimensions}")
    if iterations < 1:
        raise ValueError(f"expected 1 iteration or more, found {iterations}")
