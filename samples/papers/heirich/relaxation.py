"""One step of the parabolic method: its inner iterations, its gain, and the step sizes that are stable.

Heirich and Taylor (Caltech CS-TR-94-13). A step solves (1 + y) v - y T v = u, y = 2 d alpha, on a mesh of d
dimensions, T being the mean over the 2 d neighbours, by nu Jacobi iterations (their eq. 2), of which each
leaves at most rho = y / (1 + y) of the error (eq. 3). They are as many as reduce it to alpha (eq. 1, 5): the
least k >= 1 with rho^k <= alpha. That is decided in exact arithmetic, since logarithms are wrong at ties
(alpha = 1/4 in two dimensions) and give 0 or less from alpha = 1 on. So nu is at most 3 in three dimensions,
2 in fewer.

Then work moves: alpha (v_i - v_j) over each link, *not* u := v as the paper's last line has it: the two
agree only for converged iterations, and only the flux conserves work. A mode with T x = t x is multiplied by

    G(t) = (1 - y^2 (1 - t)^2 (rho t)^nu) / (1 + y (1 - t)).

The paper's "unconditionally stable" holds for converged iterations, where the second term vanishes. Here |G|
< 1 for -1 <= t < 1 if and only if 2 y rho^k < 1, k being nu if that is odd and nu + 1 otherwise: the mode t
= -1, where neighbours alternate, is the first to grow. With nu from eq. 1 alpha must be below .3065 in three
dimensions and .4598 in two. More iterations make any alpha safe (`safe_iterations`).

For y <= 1 the step is u := M u with M nonnegative, and rows and columns with the sum 1: a polynomial in T
with coefficients of at least 0. So no amount exceeds what was the largest, and none is negative.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, log1p
from typing import Any

from dlbrt.diffusion import relaxation
from dlbrt.diffusion.relaxation import check
from dlbrt.records import dataclass

__all__ = ["DiffusionStep", "alpha_limit", "gain", "inner_iterations", "safe_iterations"]


def inner_iterations(alpha: float, dimensions: int) -> int:
    """Nu of eq. 1: how many Jacobi iterations reduce the error to ``alpha`` of it, at least 1.

    ValueError unless ``alpha`` is finite and above 0, and there are 1, 2 or 3 dimensions.
    """
    check(alpha, dimensions)
    y = 2 * dimensions * Fraction(alpha)
    rho, count = y / (1 + y), 1
    while rho**count > Fraction(alpha):
        count += 1
    return count


def safe_iterations(alpha: float, dimensions: int) -> int:
    """The least number of iterations, nu of eq. 1 at least, with which a step of this size is stable."""
    count = inner_iterations(alpha, dimensions)
    while not _stable(alpha, dimensions, count):
        count += 1
    return count


def alpha_limit(dimensions: int, iterations: int) -> float:
    """The step size below which steps with so many iterations are stable: y / (2 d), 2 y^(k+1) = (1 + y)^k.

    ValueError unless there are 1, 2 or 3 dimensions, and 1 iteration or more.
    """
    check(1.0, dimensions, iterations)
    low, high = 0.0, 1.0
    while _stable(high, dimensions, iterations):
        low, high = high, 2 * high
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if _stable(middle, dimensions, iterations) else (low, middle)
    return high


def gain(alpha: float, dimensions: int, iterations: int, t: Any) -> Any:
    """G(t): what a step multiplies modes with T x = t x by; of a float or an array in -1..1."""
    y = 2 * dimensions * alpha
    unsolved = (y / (1 + y) * t) ** iterations
    return (1 - (y * (1 - t)) ** 2 * unsolved) / (1 + y * (1 - t))


@dataclass(frozen=True, slots=True)
class DiffusionStep(relaxation.DiffusionStep):
    """A step of the runtime's, and what the paper says of it.

    Made stable by `stable`, `iterated` or `within`; ValueError as `dlbrt.diffusion.relaxation.DiffusionStep`.
    """

    @classmethod
    def stable(cls, alpha: float, dimensions: int) -> DiffusionStep:
        """With nu of eq. 1; ValueError where that is not stable."""
        step = cls(alpha, dimensions, inner_iterations(alpha, dimensions))
        if not step.is_stable:
            limit, enough = alpha_limit(dimensions, step.iterations), safe_iterations(alpha, dimensions)
            raise ValueError(
                f"expected alpha below {limit:.4f}, the bound of {step.iterations} inner iterations in "
                f"{dimensions} dimension(s), found {alpha}: take a smaller one, or {enough} iterations"
            )
        return step

    @classmethod
    def iterated(cls, alpha: float, dimensions: int) -> DiffusionStep:
        """With as many iterations as make it stable."""
        return cls(alpha, dimensions, safe_iterations(alpha, dimensions))

    @classmethod
    def within(cls, alpha: float, dimensions: int, tolerance: float) -> DiffusionStep:
        """With as many as make it stable and leave at most ``tolerance`` of the largest error (eq. 3, 4).

        That is of the distance of v from what it converges to, over all processors; where nu of eq. 1 says
        that ``alpha`` is little enough, this says how little. ValueError unless 0 < ``tolerance`` < 1.
        """
        check(alpha, dimensions)
        if not 0 < tolerance < 1:
            raise ValueError(f"expected a tolerance above 0 and below 1, found {tolerance}")
        count = max(1, ceil(log(tolerance) / -log1p(1 / (2 * dimensions * alpha))))
        while not _stable(alpha, dimensions, count):
            count += 1
        return cls(alpha, dimensions, count)

    @property
    def is_stable(self) -> bool:
        """Whether every mode but the mean falls."""
        return _stable(self.alpha, self.dimensions, self.iterations)

    @property
    def is_positive(self) -> bool:
        """Whether no amount can become negative, or exceed the largest there was."""
        return self.y <= 1

    def gain(self, t: Any) -> Any:
        """G(t), as `gain`."""
        return gain(self.alpha, self.dimensions, self.iterations, t)


def _stable(alpha: float, dimensions: int, iterations: int) -> bool:
    y = 2 * dimensions * alpha
    return 2 * y * (y / (1 + y)) ** (iterations | 1) < 1
