"""The sequences that a loop runs over, in the order of the runtime's space, and the targets that hold items.

An iteration takes one item of each sequence, so an item belongs to its iteration. That no two items share an
object, and that nothing else reaches one, the runtime sees in the data before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from dlbc.analysis.uses import bound_names, unparsed
from dlbc.ir.region import ModuleNames


def sequences_of(node: ast.For, targets: Set[str], module: ModuleNames) -> tuple[tuple[str, int], ...]:
    """The text and the number of each sequence whose items the ``targets`` hold."""
    found = enumerate(_sequences(node.target, node.iter, module))
    return tuple({text: number for number, (text, names) in found if names & targets}.items())


def _sequences(
    target: ast.expr, iterable: ast.expr, module: ModuleNames
) -> Iterator[tuple[str, frozenset[str]]]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    match iterable:
        case ast.Call(func=ast.Name(id="range")) if module.builtin("range"):
            return
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if module.builtin("enumerate"):
            yield from _sequences(parts[1] if len(parts) == 2 else target, inner, module)
        case ast.Call(func=ast.Name(id="zip"), args=args) if module.builtin("zip"):
            for number, inner in enumerate(args):
                yield from _sequences(parts[number] if len(parts) == len(args) else target, inner, module)
        case ast.Call(func=function, args=[inner, *_]) if unparsed(function).split(".")[-1] == "tqdm":
            yield from _sequences(target, inner, module)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]) if module.builtin("reversed"):
            if not list(_sequences(target, inner, module)):
                return
            yield unparsed(inner), frozenset(bound_names([target]))
        case _:
            yield unparsed(iterable), frozenset(bound_names([target]))
