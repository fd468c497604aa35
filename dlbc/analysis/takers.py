"""Which expressions of a file take functions away from Python, and where it gives them functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.names import imported_by
from dlbc.analysis.uses import every_node, parameters_of, unparsed
from dlbc.ir.region import FunctionNode
from dlbc.library.takers import Takes, takers_of, takes


class Takers:
    """Which expressions of a file take functions: by imports, by names assigned, by functions of the file."""

    def __init__(self, tree: ast.AST) -> None:
        self._nodes = every_node(tree)
        self._imports: dict[str, str] = {}
        self._bound: dict[str, list[ast.AST]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._imports |= dict(imported_by(node))
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and not node.level:
                    package = node.module or ""
                    self._imports |= {name: f"{package}.{name}" for name in takers_of(package)}
        self._any = any(map(takers_of, self._imports.values()))
        for node in self._nodes if self._any else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._bound.setdefault(name, []).append(value)
                case ast.FunctionDef(name=name):
                    self._bound.setdefault(name, []).append(node)

    def of(self, node: ast.AST, seen: tuple[str, ...] = ()) -> Takes | None:
        """What the value of an expression does with a function that is given to it."""
        if not self._any:
            return None
        match node:
            case ast.Call(func=func, args=[first, *_]) if self._full_name(func) == "functools.partial":
                return self.of(first, seen)
            case ast.Call(func=func):
                return self.of(func, seen)
            case ast.IfExp(body=one, orelse=other):
                return self.of(one, seen) or self.of(other, seen)
            case ast.FunctionDef():
                return self._handed_on(node, seen)
            case ast.Name() | ast.Attribute():
                found = takes(self._full_name(node))
                name = node.id if isinstance(node, ast.Name) else ""
                if found is None and name not in seen:
                    bound = (self.of(value, (*seen, name)) for value in self._bound.get(name, ()))
                    found = next((each for each in bound if each is not None), None)
                return found
        return None

    def calls(self) -> Iterator[tuple[ast.Call, Takes]]:
        """The calls that give their first argument to something that takes it."""
        for node in self._nodes if self._any else ():
            if isinstance(node, ast.Call) and node.args and (found := self.of(node.func)) is not None:
                yield node, found

    def _handed_on(self, function: ast.FunctionDef, seen: tuple[str, ...]) -> Takes | None:
        """What a decorator of the file does with the functions that it gets: its own, or an inner one's."""
        given = {p.arg for n in every_node(function) if isinstance(n, FunctionNode) for p in parameters_of(n)}
        for node in every_node(function):
            match node:
                case ast.Call(func=func, args=[ast.Name(id=name), *_]) if name in given:
                    if (found := self.of(func, seen)) is not None:
                        return found
        return None

    def _full_name(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name | ast.Attribute):
            return ""
        root, _, rest = unparsed(node).partition(".")
        full = self._imports.get(root, "")
        return f"{full}.{rest}" if full and rest else full
