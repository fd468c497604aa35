"""What stands before a loop on the path to it: statements that have run, in order, when it is met."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.ir.uses import bound_names, parameters_of

__all__ = ["bound_once", "statements_before"]


def statements_before(loop: AnnotatedLoop) -> Iterator[ast.stmt]:
    """The statements of the blocks around the loop that precede it, the outermost block first.

    Those of the loop's own function (or module, or class) only: others ran at another time.
    """
    inner = [*loop.path[1:], loop.node]
    start = next(k for k in reversed(range(len(loop.path))) if loop.path[k] is loop.scope)
    for owner, child in list(zip(loop.path, inner, strict=True))[start:]:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list) and child in block:
                yield from block[: block.index(child)]


def bound_once(name: str, loop: AnnotatedLoop, names: LoopNames, world: ModuleNames) -> bool:
    """Whether the name has one value wherever the loop's scope reads it: bound once, or not there at all."""
    if name in names.temporaries or name in world.declared:
        return False
    scope = loop.scope
    body = [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)
    nodes = list(names.bindings.get(name, ())) or bound_names(body).get(name, [])
    if not isinstance(scope, ast.Module | ast.ClassDef):
        nodes = [*nodes, *(p for p in parameters_of(scope) if p.arg == name and p not in nodes)]
    return len(nodes) <= 1
