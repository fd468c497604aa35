"""What can be seen of the expression of a `cost` clause.

Whether it takes a vector of index values in place of one: only where every operation on the index works
element by element, or fails for a vector (``max(i, 3)``), which the runtime meets by asking value by value.
What would give something else of the same shape (``np.sort(i)``, ``M[i][0]``) does not take one. And which
work it is, where it is a polynomial, for the question whether pairs of iterations cost the same.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isfinite

from dlbc.ir.form import IntegerForm
from dlbc.ir.region import ModuleNames
from dlbc.ir.sizes import dotted
from dlbc.ir.uses import uses_of
from dlbc.ir.work import WorkPolynomial
from dlbc.library.methods import METADATA
from dlbc.library.table import lookup

__all__ = ["contents_read", "takes_vector", "work_of"]

#: A power up to which a polynomial is written out.
_MOST_FACTORS = 8


def takes_vector(node: ast.expr, index: str, module: ModuleNames) -> bool:
    """Whether the expression for a vector of index values is the vector of its values, or fails."""
    if all(use.name != index for use in uses_of(node)):
        return True
    match node:
        case ast.Name():
            return True
        case ast.Subscript(value=array, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            plain = not any(isinstance(part, ast.Slice | ast.Starred) for part in parts)
            operands = [*parts] if plain and not _moves(array, index) else []
        case ast.Call(func=function, args=args, keywords=[]) if _elementwise(function, module):
            operands = [] if any(isinstance(a, ast.Starred) for a in args) else args
        case ast.BinOp(op=op, left=left, right=right):
            operands = [] if isinstance(op, ast.MatMult) else [left, right]
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp():
            operands = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        case _:
            operands = []
    return bool(operands) and all(takes_vector(operand, index, module) for operand in operands)


def _moves(node: ast.expr, index: str) -> bool:
    return any(use.name == index for use in uses_of(node))


def _elementwise(function: ast.expr, module: ModuleNames) -> bool:
    if not dotted(function):
        return False
    root, _, rest = ast.unparse(function).partition(".")
    if root not in module.imports:
        return not rest and lookup(f"builtins.{root}").elementwise and module.builtin(root)
    full = module.imports[root] + ("." + rest if rest else "")
    return lookup(full).elementwise or full.startswith("math.")


def work_of(node: ast.expr, form: Callable[[ast.expr], IntegerForm | None]) -> WorkPolynomial | None:
    """The expression as work, where it is a polynomial of what ``form`` reads as integers."""
    match node:
        case ast.Constant(value=value):
            known = type(value) is int or (type(value) is float and isfinite(value))
            return WorkPolynomial.literal(Fraction(value)) if known else None  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = work_of(operand, form)
            return inner if inner is None or isinstance(sign, ast.UAdd) else -inner
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow() as op, right=right
        ):
            return _combined(op, work_of(left, form), work_of(right, form))
    found = form(node)
    return None if found is None else WorkPolynomial.from_form(found)


def _combined(
    op: ast.operator, left: WorkPolynomial | None, right: WorkPolynomial | None
) -> WorkPolynomial | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left * (1 / Fraction(right.constant)) if right.constant else None
    power = right.constant
    small = isinstance(power, int) and 0 <= power <= _MOST_FACTORS
    return left ** int(power or 0) if small else None


def contents_read(node: ast.AST, module: ModuleNames) -> Iterator[str]:
    """Names and dotted names of which an expression reads more than their form (``len(A)``, ``A.shape``)."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[argument]) if dotted(argument) and module.builtin("len"):
            return
        case ast.Attribute(attr=attribute) if dotted(node):
            if attribute not in METADATA:
                yield ast.unparse(node)
            return
        case ast.Name(id=name):
            yield name
            return
    for child in ast.iter_child_nodes(node):
        yield from contents_read(child, module)
