"""Which expressions are surely float64, if arrays that no subscript uses hold float64.

Values are then the same in a float64 element, a scratch row and a local, so that a value may be kept in any
of them. Numbers may be ints or floats: ``x * 2`` is a float64 if ``x`` is, and a sum with one float64 among
its two operands converts the other one first, whether that came as an int or as the float of the same
value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from dlbc.native.restructure.body import bounds, element, elements, names
from dlbc.native.restructure.forms import form

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_LARGEST = 2**53


def _integers(block: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """The subscripts, and the bounds of loops."""
    for each in block:
        for access, _ in elements(each):
            parts = element(access)
            assert parts is not None
            yield from parts[1]
        for loop in (n for n in ast.walk(each) if isinstance(n, ast.For)):
            yield from bounds(loop)


def index_names(block: Sequence[ast.stmt]) -> frozenset[str]:
    """All names that occur in subscripts and in the bounds of loops."""
    return frozenset(names(*_integers(block)))


def integer_names(block: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that are subscripts or bounds of loops, or terms of them, and so surely integers."""
    return frozenset(text for each in _integers(block) for text, _ in form(each).terms)


def is_float(tree: ast.expr, scalars: Iterable[str], indices: frozenset[str]) -> bool:
    """Whether it is a float64, if ``scalars`` are and the elements of arrays that are no indices."""
    match tree:
        case ast.Constant(value=float()):
            return True
        case ast.Name(id=used):
            return used in scalars
        case ast.Subscript():
            parts = element(tree)
            return parts is not None and parts[0] not in indices
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_float(operand, scalars, indices)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
            return is_float(left, scalars, indices) or is_float(right, scalars, indices)
        case ast.IfExp(body=one, orelse=other):
            return is_float(one, scalars, indices) and is_float(other, scalars, indices)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=what)):
            return what in {
                "sqrt",
                "exp",
                "log",
                "sin",
                "cos",
                "tan",
                "fabs",
                "tanh",
                "atan",
                "atan2",
                "hypot",
            }
    return False


def float_scalars(
    block: Sequence[ast.stmt], scalars: frozenset[str], indices: frozenset[str]
) -> frozenset[str]:
    """Those scalars that hold float64 only, or a small int where a float64 of its value does the same."""
    whole = [n for each in block for n in ast.walk(each)]
    assignments = [n for n in whole if isinstance(n, ast.Assign) and _is_small_int(n.value)]
    ints = frozenset(n.targets[0].id for n in assignments if isinstance(n.targets[0], ast.Name))
    found = scalars - indices
    while True:
        surely = found - ints
        kept = frozenset(
            s
            for s in found
            if _stays_float(whole, s, found, indices)
            and (s not in ints or _only_meets_floats(whole, s, surely, indices))
        )
        if kept == found:
            return kept
        found = kept


def _stays_float(
    whole: Sequence[ast.AST], scalar: str, scalars: frozenset[str], indices: frozenset[str]
) -> bool:
    for each in whole:
        match each:
            case ast.Assign(targets=[ast.Name(id=used)], value=value) if used == scalar:
                if not _is_small_int(value) and not is_float(value, scalars, indices):
                    return False
            case ast.AugAssign(target=ast.Name(id=used), op=op) if used == scalar:
                if not isinstance(op, _ARITHMETIC):
                    return False
    return True


def _only_meets_floats(
    whole: Sequence[ast.AST], scalar: str, surely: frozenset[str], indices: frozenset[str]
) -> bool:
    """Whether all loads of the scalar are operands with a float64, or stored to an array of float64."""
    harmless = 0
    for each in whole:
        match each:
            case ast.AugAssign(target=ast.Name(id=used), value=other) if used == scalar:
                if not is_float(other, surely, indices):
                    return False
            case ast.BinOp(left=ast.Name(id=used), op=op, right=other) if used == scalar:
                harmless += isinstance(op, _ARITHMETIC) and is_float(other, surely, indices)
            case ast.BinOp(left=other, op=op, right=ast.Name(id=used)) if used == scalar:
                harmless += isinstance(op, _ARITHMETIC) and is_float(other, surely, indices)
            case ast.Assign(targets=[ast.Subscript() as place], value=ast.Name(id=used)) if used == scalar:
                harmless += is_float(place, (), indices)
    loads = sum(isinstance(n, ast.Name) and n.id == scalar and isinstance(n.ctx, ast.Load) for n in whole)
    return harmless == loads


def _is_small_int(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Constant) and type(tree.value) is int and abs(tree.value) < _LARGEST
