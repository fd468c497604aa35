"""What elementary operations weigh: the unit is one operation that the interpreter executes.

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

from fractions import Fraction
from typing import Final

__all__ = [
    "CONSTRUCTORS",
    "ELEMENT",
    "LIKE",
    "OPERATION",
    "PRODUCTS",
    "READERS",
    "REDUCTIONS",
    "SIZED_METHODS",
    "START",
]

OPERATION: Final = 1
START: Final = 15
ELEMENT: Final = Fraction(1, 50)


def _words(text: str, prefix: str = "numpy.") -> frozenset[str]:
    return frozenset(prefix + word for word in text.split())


#: Scalar and matrix products.
PRODUCTS: Final = _words("dot vdot inner matmul")

#: Functions that read all elements of their first argument and give one number, or one per row.
REDUCTIONS: Final = _words(
    "sum prod mean std var median average max min amax amin argmax argmin any all nansum nanmean "
    "count_nonzero ptp trace linalg.norm trapezoid percentile quantile"
)

#: Builtins that go through all of their only argument.
READERS: Final = _words("sum min max sorted list any all tuple set", "builtins.")

#: Functions that make an array of the shape that the first argument says.
CONSTRUCTORS: Final = _words("zeros ones empty full arange")

#: Functions that make an array of the shape of their first argument, reading it or not.
LIKE: Final = _words(
    "zeros_like ones_like empty_like full_like copy array asarray sort argsort cumsum cumprod"
)

#: Methods that go through all elements of what they are called on, by whether they give one number.
SIZED_METHODS: Final = {
    **dict.fromkeys(
        ["sum", "prod", "mean", "std", "var", "max", "min", "argmax", "argmin", "any", "all", "dot", "trace"],
        True,
    ),
    **dict.fromkeys(
        [
            "copy",
            "astype",
            "conj",
            "conjugate",
            "round",
            "clip",
            "cumsum",
            "cumprod",
            "argsort",
            "sort",
            "fill",
            "tolist",
        ],
        False,
    ),
}
