"""Names that are one integer: bound once, to an expression of literals and other such names.

A name of a function keeps its number, since nothing but the function binds it. A name of the module may be
bound anew from other modules (``settings.W = 100``), so that a function that reads it looks at it before
the loop.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from dlbc.analysis.names import Functions, bindings_of
from dlbc.analysis.uses import assigned_in
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import ModuleNames

#: Numbers, exponents and shifts are below this many bits.
_WORD = 63

_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
#: Operators whose right operand is bounded, so that no number becomes huge.
_GROWING = (ast.Pow, ast.LShift, ast.RShift)


#: Statements that give a name a value of its own.
_BINDING = ast.Assign | ast.AnnAssign


def number_of(
    name: str, loop: AnnotatedLoop, module: ModuleNames, seen: frozenset[str] = frozenset()
) -> tuple[int, bool] | None:
    """The number that the name is where the loop reads it, and whether code elsewhere could rebind it."""
    nodes, scope = bindings_of(name, loop, module)
    starred = scope is None and "*" in module.bound
    if (
        len(nodes) != 1
        or name in seen
        or name in module.declared
        or starred
        or isinstance(loop.scope, ast.ClassDef)
    ):
        return None
    assigned = assigned_in(scope if isinstance(scope, Functions) else loop.path[0]).get(nodes[0], ())
    value = next((a.value for a in assigned if a.target is nodes[0] and isinstance(a.owner, _BINDING)), None)
    if value is None:
        return None
    outer = scope is None and not isinstance(loop.scope, ast.Module)
    found = _evaluated(value, loop, module, seen | {name})
    return None if found is None else (found[0], outer or found[1])


def _evaluated(
    node: ast.expr, loop: AnnotatedLoop, module: ModuleNames, seen: frozenset[str]
) -> tuple[int, bool] | None:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return value, False
        case ast.Name(id=name):
            return number_of(name, loop, module, seen)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = _evaluated(operand, loop, module, seen)
            return None if found is None else (-found[0], found[1])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            one, other = (_evaluated(side, loop, module, seen) for side in (left, right))
            if one is None or other is None:
                return None
            number = _combined(op, one[0], other[0])
            return None if number is None else (number, one[1] or other[1])
    return None


def _combined(op: ast.operator, one: int, other: int) -> int | None:
    if isinstance(op, _GROWING) and not 0 <= other < _WORD:
        return None
    if other == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
        return None
    number = _OPERATIONS[type(op)](one, other)
    return number if number.bit_length() < _WORD else None
