"""What code costs on average and at most; the two differ where data decides what runs.

The unit is one operation that the interpreter executes:

| operation | units |
| --- | --- |
| arithmetic, comparison, logic, subscript, attribute, call, one iteration of a loop | `OPERATION` |
| names, literals, jumps, binding a name | 0 |
| an operation on whole arrays: to start it | `START` |
| the same, per element | `ELEMENT` |
| a scalar product, per pair of elements | 2 * `ELEMENT` |

Measured: an operation takes 8 ns on a list and 45 ns on an element of an array; numpy starts an operation in
400 ns and takes 0.2 ns an element in the cache, and several times as long outside the cache or for operations
other than sums and products. What counts is the shape of W(i), so a common factor does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from dlbrt.records import dataclass

from dlbc.algebra.work import ZERO_WORK, Number, WorkPolynomial

OPERATION: Final = 1
START: Final = 15
ELEMENT: Final = Fraction(1, 50)


class UncountableError(Exception):
    """The work is not known; the message says why."""


@dataclass(frozen=True)
class CostEstimate:
    """What code costs on average and at most."""

    mean: WorkPolynomial = ZERO_WORK
    worst: WorkPolynomial = ZERO_WORK

    @classmethod
    def of(cls, work: WorkPolynomial | Number) -> CostEstimate:
        """Code that always costs the same."""
        work = work if isinstance(work, WorkPolynomial) else WorkPolynomial.literal(work)
        return cls(work, work)

    def __add__(self, other: CostEstimate) -> CostEstimate:
        return total_of((self, other))

    def times(self, mean: WorkPolynomial, worst: WorkPolynomial) -> CostEstimate:
        """The cost of ``mean`` (at most ``worst``) repetitions."""
        if self.is_exact and mean is worst:
            return CostEstimate.of(self.mean * mean)
        return CostEstimate(self.mean * mean, self.worst * worst)

    @property
    def is_exact(self) -> bool:
        """Whether the cost does not depend on data."""
        return self.mean is self.worst


NO_COST = CostEstimate()
UNIT_COST = CostEstimate.of(OPERATION)


def total_of(prices: Iterable[CostEstimate]) -> CostEstimate:
    """The sum of costs."""
    prices = [price for price in prices if price.mean.terms or price.worst.terms]
    if len(prices) < 2:
        return prices[0] if prices else NO_COST
    mean = WorkPolynomial.total(price.mean for price in prices)
    same = all(price.is_exact for price in prices)
    return CostEstimate(mean, mean if same else WorkPolynomial.total(price.worst for price in prices))


def upper_bound(first: WorkPolynomial, second: WorkPolynomial) -> WorkPolynomial:
    """A bound on both: the larger of the two, or the larger of each term if neither is larger throughout."""
    difference = first - second
    if all(k >= 0 for _, k in difference.terms):
        return first
    more = WorkPolynomial(tuple((f, k) for f, k in difference.terms if k > 0))
    return second + more
