"""What a call may run that cannot be seen: functions of other packages that no table holds, and values.

The proof takes them to change nothing that iterations share, and says so: the status of the loop names them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.access import CallSite, OriginKind
from dlbc.ir.callees import callback_arguments, callees, is_module_callable, is_opaque
from dlbc.ir.effects import direct_side_effects
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.ir.uses import unparsed
from dlbc.library.row import ResultKind
from dlbc.library.table import is_pure, lookup

__all__ = ["unseen_callee"]

#: Decorators that leave what a function does as it is, beside those of packages in the tables.
_PLAIN_DECORATORS = ("numba.", "abc.", "typing.", "dataclasses.", "contextlib.")


def unseen_callee(call: CallSite, module_names: ModuleNames) -> str | None:
    """The text of what the call may run and cannot be seen; None where all of it can."""
    name, node = call.function, call.node
    row = lookup(name)
    if row.calls is not None:
        given = (g for g in callback_arguments(call) if not _seen(g, module_names))
        return next(map(_text, given), None)
    shown = _text(node.func)
    if is_opaque(call, module_names):
        return shown
    found = callees(call, module_names)
    if not name or (row.is_new and not name.startswith(".")) or found or name in module_names.classes:
        return next((d for f, _ in found for d in _decorators(f, module_names)), None)
    if any(direct_side_effects(call)):
        return None
    if name.startswith("."):
        outer = () if call.receiver is None else call.receiver.points_to
        outside = any(o.kind is not OriginKind.CLOSURE for o in outer)
        looks = row.is_new or row.is_reader or row.result in (ResultKind.SAME, ResultKind.HOLDER)
        return shown if outside and not looks else None
    return None if is_pure(name) else shown


def _text(node: ast.expr) -> str:
    """The expression on one line."""
    return " ".join(unparsed(node).split())


def _seen(node: ast.expr, module_names: ModuleNames, besides: tuple[str, ...] = ()) -> bool:
    """Whether an expression is a function of the module, or one that the tables know."""
    if isinstance(node, ast.Lambda | ast.Constant):
        return True
    root, _, rest = unparsed(node).partition(".")
    if root in module_names.imports:
        full = f"{module_names.imports[root]}{'.' if rest else ''}{rest}"
        return is_pure(full) or full.startswith(besides)
    return isinstance(node, ast.Name) and (
        is_module_callable(root, module_names) or module_names.builtin(root)
    )


def _decorators(function: FunctionNode, module_names: ModuleNames) -> Iterator[str]:
    """What may run around the function."""
    for mark in [] if isinstance(function, ast.Lambda) else function.decorator_list:
        node = mark.func if isinstance(mark, ast.Call) else mark
        accessor = isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter")
        if not accessor and not _seen(node, module_names, _PLAIN_DECORATORS):
            yield _text(node)
