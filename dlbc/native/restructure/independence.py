"""Whether the iterations of an inner loop are independent of each other.

Theorem. Let there be, for each array that the loop stores to, a dimension in which all subscripts of the
array's accesses in the loop are one form ``c * v + r``, with a constant ``c`` other than 0 and an ``r``
that has the same value throughout the loop. Then two accesses to one element have ``c * v + r == c * v' +
r``, so that they are in one iteration (the strong SIV test with distance 0: Goff, Kennedy and Tseng,
*Practical dependence testing*, 1991). If moreover all scalars that the loop assigns to are private to its
iterations, and dead after it, then no iteration uses what another one computes, and all orders of execution
that keep the order within each iteration give the same bits.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.native.restructure.body import (
    accesses,
    assigned,
    bounds,
    loop_targets,
    names,
    reads_early,
    stored,
    target,
)
from dlbc.native.restructure.forms import Form
from dlbc.native.restructure.nest import CannotRestructureError

Path = Sequence[tuple[Sequence[ast.stmt], int]]


def check_independent(loop: ast.For, path: Path) -> None:
    """Raise if iterations of an inner loop may depend on each other.

    ``path`` are the blocks from the body of the parallel loop to the one with the inner loop, each with the
    index of the statement that holds the loop or is the loop.
    """
    variable = target(loop)
    first, last, step = bounds(loop)
    if not (isinstance(step, ast.Constant) and step.value == 1):
        raise CannotRestructureError(f"the step of the loop over {variable} is not 1")
    if names(first, last) & stored(loop.body) or names(first, last) & assigned(loop.body):
        raise CannotRestructureError(f"the bounds of the loop over {variable} change in it")
    _check_arrays(loop, variable)
    for scalar in sorted(assigned(loop.body) - loop_targets(loop.body)):
        if reads_early(loop.body, scalar):
            raise CannotRestructureError(f"the value of {scalar} is carried from one {variable} to the next")
        if _is_live_after(path, scalar):
            raise CannotRestructureError(f"the value of {scalar} is used after the loop over {variable}")


def _check_arrays(loop: ast.For, variable: str) -> None:
    found = accesses(loop.body)
    changing = assigned(loop.body) | stored(loop.body)
    for array in sorted(stored(loop.body)):
        columns = zip(*(each.forms for each in found if each.array == array), strict=False)
        if not any(_separates(column, variable, changing) for column in columns):
            raise CannotRestructureError(
                f"iterations of the loop over {variable} may share elements of {array}"
            )


def _separates(column: Sequence[Form], variable: str, changing: frozenset[str]) -> bool:
    if len(set(column)) != 1 or not column[0].factor(variable):
        return False
    return not (column[0].names - {variable}) & changing


def _is_live_after(path: Path, scalar: str) -> bool:
    """Whether a statement after the loop may read the scalar before it assigns to it.

    After the last statement of a block there are those of the block around it, and its first ones again.
    """
    for level, (block, index) in enumerate(path):
        if reads_early(block[index + 1 :], scalar):
            return True
        if level and reads_early(block[:index], scalar):
            return True
    return False
