"""Integers of arrays wrap at 64 bits, as numpy's do; those of Python are checked never to reach them.

numba marks all additions, subtractions and products of integers as never overflowing, so LLVM takes
``A[i] + 1 > A[i]`` for true. The mark helps where integers are subscripts. So it is taken away only from
operations on elements of arrays and what was computed from them, found by following assignments until
nothing is added: what this finds too much costs speed, and no bit.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from numba.core import ir, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin


def _wrapped(value: int) -> int:
    """An integer modulo 2**64, as one of 64 bits with a sign."""
    return (value + 2**63) % 2**64 - 2**63


def _add(a: int, b: int) -> int:
    """The sum, wrapped."""
    return _wrapped(a + b)


def _subtract(a: int, b: int) -> int:
    """The difference, wrapped."""
    return _wrapped(a - b)


def _multiply(a: int, b: int) -> int:
    """The product, wrapped."""
    return _wrapped(a * b)


_WRAPPING = {
    operator.add: _add,
    operator.iadd: _add,
    operator.sub: _subtract,
    operator.isub: _subtract,
    operator.mul: _multiply,
    operator.imul: _multiply,
}


def wrap_elements(assignments: Sequence[Any], typemap: dict[str, Any]) -> None:
    """Let operations on integers that come from arrays wrap."""
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for each in assignments:
            if _is_integer(typemap[each.target.name]) and _comes_from(each.value, found, typemap):
                found.add(each.target.name)
    for each in assignments:
        value = each.value
        if (
            each.target.name in found
            and isinstance(value, ir.Expr)
            and value.op in ("binop", "inplace_binop")
        ):
            value.fn = _WRAPPING.get(value.fn, value.fn)
            if value.op == "inplace_binop":
                value.immutable_fn = _WRAPPING.get(value.immutable_fn, value.immutable_fn)


def _comes_from(value: Any, found: set[str], typemap: dict[str, Any]) -> bool:
    if isinstance(value, ir.Var):
        return value.name in found
    if not isinstance(value, ir.Expr):
        return False
    if value.op in ("getitem", "static_getitem") and isinstance(typemap[value.value.name], types.Array):
        return True
    return any(each.name in found for each in _operands(value))


def _operands(value: Any) -> Iterator[Any]:
    return (each for each in value.list_vars() if isinstance(each, ir.Var))


def _is_integer(kind: Any) -> bool:
    return bool(types.unliteral(kind) == types.int64)


def _register(function: Any, operation: str) -> None:
    class _Template(ConcreteTemplate):  # type: ignore[misc]
        cases = (signature(types.int64, types.int64, types.int64),)

    infer_global(function)(_Template)

    @lower_builtin(function, types.int64, types.int64)
    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return getattr(builder, operation)(*values)


_register(_add, "add")
_register(_subtract, "sub")
_register(_multiply, "mul")
