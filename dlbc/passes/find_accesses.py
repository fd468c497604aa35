"""Find what the loop body reads, stores, changes in place and calls: its statements as a region."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.access import RegionFacts
from dlbc.ir.effects import FunctionSummaries
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames
from dlbc.ir.walk_code import walk_code

__all__ = ["find_accesses"]


def find_accesses(
    loop: AnnotatedLoop, names: LoopNames, module_names: ModuleNames, summaries: FunctionSummaries
) -> RegionFacts:
    """The facts of one iteration; the summaries say which functions give new results."""
    return walk_code(
        CodeRegion(
            body=tuple(loop.node.body),
            own=names.temporaries,
            module=module_names,
            index=names.index,
            live_in=frozenset() if _counts(loop, module_names) else frozenset(names.targets) - {names.index},
            integers=names.integers,
            fresh=summaries.fresh,
            returns_argument_parts=summaries.returns_argument_parts,
            range_arguments=_counted(loop.node.iter) if _counts(loop, module_names) else frozenset(),
        )
    )


def _counts(loop: AnnotatedLoop, module_names: ModuleNames) -> bool:
    """Whether the items are integers, none of them shared, whatever the body binds the variable to."""
    node = loop.node.iter
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and module_names.builtin("range")


def _counted(iterable: ast.expr) -> frozenset[str]:
    """The names in the arguments of a `range` that cannot be other than integers: it takes no others."""
    arguments = iterable.args if isinstance(iterable, ast.Call) else []
    return frozenset(name for argument in arguments for name in _operands(argument))


def _operands(node: ast.expr) -> Iterator[str]:
    """The names in arithmetic that gives an integer of integers alone."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            yield from _operands(left)
            yield from _operands(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _operands(operand)
