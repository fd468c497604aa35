"""What a whole program may not do if its loops are to become MPI loops: speak MPI itself.

Ranks above 0 serve loops and never execute the sequential part, where the program's own sends and
receives would stand; and its messages on the same communicator would meet the runtime's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.loop import Module

__all__ = ["check_program"]


def check_program(module: Module) -> tuple[Diagnostic, ...]:
    """DLB501 for every import of mpi4py."""
    if "mpi4py" not in module.source.text:
        return ()
    return tuple(
        report("DLB501", module.source.place_of(node))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.stmt | ast.expr) and any(_is_mpi4py(name) for name in _imported(node))
    )


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(name), level=0):
            yield name
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def _is_mpi4py(name: str) -> bool:
    return name.split(".")[0] == "mpi4py"
