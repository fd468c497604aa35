"""An estimate of the time of loop nests, for the comparison of two forms of one nest.

The time of an innermost loop is that of its operations and accesses. A compiler that must not reorder
floating point operations vectorises the loop if all accesses are to consecutive elements or to one that
does not change, and nothing is carried from one iteration to the next; a carried value costs the latency of
its operations instead. The figures are rough: what counts is that forms are only preferred where they are
clearly better.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from dlbc.native.restructure.body import (
    ElementAccess,
    accesses,
    assigned,
    bounds,
    loop_targets,
    reads_early,
    stored,
    target,
)
from dlbc.native.restructure.forms import Form, form

_TRIPS = 64.0  # of a loop whose number of iterations is not known
_VECTOR = 0.25  # time of a vectorised operation, per element
_CARRIED, _THROUGH_MEMORY = 4.0, 8.0  # latency of an addition, and with a store and a load of its value
_STRIDED = 8.0  # additional time of a load from another cache line each time
_ROOTS = frozenset(("sqrt", "fabs", "abs"))
#: The runtime's min and max of two numbers, and checks of one.
_CHOICES = frozenset(("minimum2", "maximum2", "not_finite", "is_zero"))
_ENTRY = 6.0  # of a loop
_FEW = 8  # operations beside which the latency of an addition counts


def cost(block: Iterable[ast.stmt], around: str = "") -> float:
    """The time of the statements, in operations; ``around`` is the variable of the loop that has them."""
    return sum(_statement(each, around) for each in block)


def _statement(each: ast.stmt, around: str) -> float:
    match each:
        case ast.For():
            return _ENTRY + _trips(each) * (_inner(each) + 0.5)
        case ast.If():
            parts = max(cost(each.body, around), cost(each.orelse, around))
            return _operations(each.test) + 2 + parts
    return _operations(each) + sum(_STRIDED for a in _single(each) if _stride(a.forms, around) not in (0, 1))


def _trips(loop: ast.For) -> float:
    first, last, step = map(form, bounds(loop))
    count, by = (last - first).constant, step.constant
    trips = max(0.0, _TRIPS if count is None else float(count)) / (abs(by) if by else 1)
    return (
        max(1.0, trips) if by and abs(by) > _TRIPS else trips
    )  # strips: the loop in them has all iterations


def _inner(loop: ast.For) -> float:
    """The time of one iteration."""
    variable = target(loop)
    total = cost(loop.body, variable)
    if any(isinstance(n, ast.For) for each in loop.body for n in ast.walk(each)):
        return total
    carried = _carried(loop.body, variable)
    if carried:
        return max(total, carried + _operations(*loop.body) / 2)
    return total * _VECTOR if is_vector(loop.body, variable) else total


def is_vector(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether a compiler vectorises a loop in which nothing is carried."""
    calls = [n for each in body for n in ast.walk(each) if isinstance(n, ast.Call)]
    plain = not any(isinstance(each, ast.If) for each in body)
    plain = plain and all(_called(call) in _ROOTS | _CHOICES for call in calls)
    strides = [(_stride(each.forms, variable), each.is_store) for each in _single(*body)]
    return plain and all(stride == 1 or (stride == 0 and not store) for stride, store in strides)


def carries(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether one iteration of a loop needs what the one before has computed."""
    return bool(_carried(body, variable))


def _carried(body: Sequence[ast.stmt], variable: str) -> float:
    """The latency of what one iteration needs from the one before."""
    found = accesses(body)
    changing = assigned(body) | stored(body)
    for array in stored(body):
        columns = list(zip(*(each.forms for each in found if each.array == array), strict=False))
        if not any(_separates(column, variable, changing) for column in columns):
            loads = any(each.array == array and not each.is_store for each in found)
            return _THROUGH_MEMORY if loads else 0.5
    scalars = assigned(body) - loop_targets(body)
    return _CARRIED if any(reads_early(body, scalar) for scalar in scalars) else 0.0


def _separates(column: Sequence[Form], variable: str, changing: frozenset[str]) -> bool:
    same = len(set(column)) == 1 and bool(column[0].factor(variable))
    return same and not (column[0].names - {variable}) & changing


def _stride(forms: Sequence[Form], variable: str) -> int | None:
    """The distance of elements in consecutive iterations, None if it is another one than 0, 1 or -1."""
    if any(each.factor(variable) != 0 for each in forms[:-1]):
        return None
    factor = forms[-1].factor(variable)
    return factor if factor in (0, 1, -1) else None


def _operations(*trees: ast.AST) -> float:
    total = 0.0
    for each in (n for tree in trees for n in ast.walk(tree)):
        match each:
            case ast.BinOp(op=ast.Div() | ast.Pow() | ast.FloorDiv() | ast.Mod()):
                total += 4
            case ast.BinOp() | ast.AugAssign() | ast.Compare() | ast.IfExp():
                total += 1
            case ast.Subscript():
                total += 1
            case ast.Call():
                called = _called(each)
                total += 5 if called in _ROOTS else 1 if called in _CHOICES else 30
    return total


def waits_for_scalars(block: Sequence[ast.stmt]) -> bool:
    """Whether each innermost loop is long, and does little but wait for a scalar that it carries."""
    loops = [n for each in block for n in ast.walk(each) if isinstance(n, ast.For)]
    inner = [
        loop
        for loop in loops
        if not any(isinstance(n, ast.For) for each in loop.body for n in ast.walk(each))
    ]
    return bool(inner) and all(_waits(loop) for loop in inner)


def _waits(loop: ast.For) -> bool:
    first, last, _ = map(form, bounds(loop))
    plain = not any(isinstance(n, ast.If | ast.Call) for each in loop.body for n in ast.walk(each))
    latency = _carried(loop.body, target(loop))
    return (
        plain and (last - first).constant is None and latency == _CARRIED and _operations(*loop.body) <= _FEW
    )


def _single(*trees: ast.AST) -> list[ElementAccess]:
    """Accesses to elements, not to slices."""
    return [a for a in accesses(trees) if not any(isinstance(s, ast.Slice) for s in a.subscripts)]


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]
