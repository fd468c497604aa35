"""Write the iteration space for the call: `enumerate`, `zip`, `reversed` become the runtime's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.loop import Module
from dlbc.ir.region import ModuleNames

__all__ = ["write_space"]

_WRAPPERS = frozenset({"enumerate", "zip", "reversed"})


def write_space(node: ast.expr, module: Module, module_names: ModuleNames) -> str:
    """The iterable of a loop as the user wrote it, with the builtins that hide its structure replaced."""
    source = module.source
    text = source.segment(node)
    places = sorted(((part.lineno, part.col_offset) for part in _wrappers(node, module_names)), reverse=True)
    for line, column in places:
        at = _offset(text, line - node.lineno, column - (node.col_offset if line == node.lineno else 0))
        text = text[:at] + "dlbrt." + text[at:]
    return text if len(ast.parse(f"f({text})").body[0].value.args) == 1 else f"({text})"  # type: ignore[attr-defined]


def _offset(text: str, line: int, column: int) -> int:
    """The character position of a place in ``text``, columns counted in UTF-8 bytes."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[:line])) + len(lines[line].encode()[:column].decode())


def _wrappers(node: ast.expr, module_names: ModuleNames) -> Iterator[ast.Name]:
    """The names of `enumerate`, `zip` and `reversed` that give the loop its items, nested ones too."""
    if not isinstance(node, ast.Call):
        return
    name = node.func
    progress = ast.unparse(name).split(".")[-1] == "tqdm"
    if isinstance(name, ast.Name) and name.id in _WRAPPERS and module_names.builtin(name.id):
        yield name
    elif not progress:
        return
    for argument in node.args:
        yield from _wrappers(argument, module_names)
