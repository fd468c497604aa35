"""Help for loops with `jit` that are left to Python."""

from __future__ import annotations

import ast

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.remedies.bodies import Choice
from dlbc.analysis.uses import Node

_CONTAINERS = (ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.Dict, ast.DictComp, ast.GeneratorExp)


def of_left(node: Node, _: AnalysisContext) -> Choice:
    """An exception that is caught, a container that the body makes, or text."""
    match node:
        case ast.Try():
            return "try", {}
        case ast.JoinedStr() | ast.Constant(value=str()):
            return "text", {}
        case _ if isinstance(node, _CONTAINERS):
            return "container", {}
    return None
