"""What functions under a cache of functools give: one object to several calls, which may be changed."""

from __future__ import annotations

import ast

from dlbc.analysis.uses import bound_names, own_nodes, parameters_of, unparsed
from dlbc.ir.region import ModuleNames
from dlbc.library.row import CostKind
from dlbc.library.table import gives_plain, lookup

#: Decorators that keep results.
_CACHES = ("functools.lru_cache", "functools.cache")


def is_cached(function: ast.AST, module: ModuleNames) -> bool:
    """Whether a cache of functools, which counts hits and misses, is around a function."""
    if not isinstance(function, ast.FunctionDef):
        return False
    names = (unparsed(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list)
    return any((module.imported_name(name) or module.imports.get(name)) in _CACHES for name in names)


def keeps_results(name: str, module: ModuleNames) -> bool:
    """Whether a function that a call names may give one mutable object to several calls, from a cache."""
    table = module.methods if name.startswith(".") else module.functions
    found = table.get(name.removeprefix("."), ())
    return any(is_cached(f, module) and _CachedResults(module).may_be_mutable(f) for f in found)


class _CachedResults:
    """Whether what functions give may be changed in place, where their arguments cannot be, as in a cache."""

    def __init__(self, module: ModuleNames) -> None:
        self._module = module
        self._seen = set[ast.AST | tuple[ast.AST, str]]()  # what depends on itself adds nothing

    def may_be_mutable(self, function: ast.AST) -> bool:
        """Whether a function may give an object that can be changed."""
        if function in self._seen or not isinstance(function, ast.FunctionDef):
            return function not in self._seen
        self._seen.add(function)
        results = [n.value for n in own_nodes(function.body) if isinstance(n, ast.Return)]
        return any(self._value(result, function) for result in results)

    def _value(self, node: ast.expr | None, function: ast.FunctionDef) -> bool:
        match node:
            case None | ast.Constant() | ast.JoinedStr() | ast.Compare():
                return False
            case ast.Name(id=name):
                return self._name(name, function)
            case ast.Call():
                return self._call(node, function)
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.IfExp(body=body, orelse=other):
                parts = [body, other]
            case ast.UnaryOp(operand=part) | ast.NamedExpr(value=part):
                parts = [part]
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
                pass
            case _:
                return True
        return any(self._value(part, function) for part in parts)

    def _name(self, name: str, function: ast.FunctionDef) -> bool:
        if (function, name) in self._seen:
            return False
        self._seen.add((function, name))
        bound = len(bound_names(function.body).get(name, ()))
        if not bound:
            return name not in {p.arg for p in parameters_of(function)}
        values: list[ast.expr] = []
        counters = 0
        for node in own_nodes(function.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    values.append(value)
                case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                    values.append(value)
                case ast.For(target=ast.Name(id=target), iter=ast.Call(func=ast.Name(id="range"))) if (
                    target == name
                ):
                    counters += 1
        return len(values) + counters < bound or any(self._value(value, function) for value in values)

    def _call(self, node: ast.Call, function: ast.FunctionDef) -> bool:
        text, module = unparsed(node.func), self._module
        if text in module.functions:
            return any(map(self.may_be_mutable, module.functions[text]))
        imported = module.imported_name(text) or (f"builtins.{text}" if module.builtin(text) else "")
        name = imported or f".{text.rpartition('.')[2]}"
        if gives_plain(name):
            return False
        if lookup(name).elementwise:
            return bool(node.keywords) or any(self._value(part, function) for part in node.args)
        whole = len(node.args) == (not name.startswith(".")) and not node.keywords
        return not (whole and lookup(name).cost is CostKind.REDUCTION)
