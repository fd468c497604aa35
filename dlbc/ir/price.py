"""What code costs: on average, and at most, where data decides what runs.

The unit is one operation that the interpreter executes:

| operation | units |
| --- | --- |
| arithmetic, comparison, logic, subscript, attribute, call, one turn of a loop | `OPERATION` |
| names, literals, jumps, binding a name | 0 |
| an operation on whole arrays: to start it | `START` |
| the same, per element | `ELEMENT` |
| a scalar product, per pair of elements | 2 * `ELEMENT` |

Measured: an operation takes 8 ns on a list and 45 ns on an element of an array; numpy starts an operation in
400 ns and takes 0.2 ns an element in the cache, several times that outside it or for other than sums and
products. What counts is the shape of W(i), so these need be right to a factor alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from dlbrt.records import dataclass

from dlbc.ir.work import NONE, Number, Work

__all__ = ["ELEMENT", "FREE", "OPERATION", "START", "UNIT", "NotCounted", "Price", "at_most", "total_of"]

OPERATION: Final = 1
START: Final = 15
ELEMENT: Final = Fraction(1, 50)


class NotCounted(Exception):  # noqa: N818
    """The work is not known; the message says why."""


@dataclass(frozen=True)
class Price:
    """What something costs: on average, and at most."""

    mean: Work = NONE
    worst: Work = NONE

    @classmethod
    def of(cls, work: Work | Number) -> Price:
        """What costs the same always."""
        work = work if isinstance(work, Work) else Work.literal(work)
        return cls(work, work)

    def __add__(self, other: Price) -> Price:
        return total_of((self, other))

    def times(self, mean: Work, worst: Work) -> Price:
        """What is done so many times."""
        if self.same and mean is worst:
            return Price.of(self.mean * mean)
        return Price(self.mean * mean, self.worst * worst)

    @property
    def same(self) -> bool:
        """Whether data decides nothing."""
        return self.mean is self.worst


FREE = Price()
UNIT = Price.of(OPERATION)


def total_of(prices: Iterable[Price]) -> Price:
    """The sum."""
    prices = [price for price in prices if price.mean.terms or price.worst.terms]
    if len(prices) < 2:
        return prices[0] if prices else FREE
    mean = Work.total(price.mean for price in prices)
    same = all(price.same for price in prices)
    return Price(mean, mean if same else Work.total(price.worst for price in prices))


def at_most(first: Work, second: Work) -> Work:
    """A bound on both: term by term the larger one, where one does not exceed the other wholly."""
    difference = first - second
    if all(k >= 0 for _, k in difference.terms):
        return first
    more = Work(tuple((f, k) for f, k in difference.terms if k > 0))
    return second + more
