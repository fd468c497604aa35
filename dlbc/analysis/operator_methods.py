"""Which operators may give an operand back, since a class of the program says so (``__or__``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.uses import cached_on_node, own_nodes, parameters_of
from dlbc.ir.region import FunctionNode, ModuleNames

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
}  # fmt: skip
_UNARY: dict[type[ast.AST], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_COMPARING: dict[type[ast.AST], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


def may_give_operand(node: ast.BinOp | ast.UnaryOp | ast.Compare, module: ModuleNames) -> bool:
    """Whether a method of the program that the operator may run returns an operand, or part of one."""
    return any(_gives_part(f) for name in _methods(node) for f in module.methods.get(name, ()))


def _methods(node: ast.BinOp | ast.UnaryOp | ast.Compare) -> Iterator[str]:
    match node:
        case ast.BinOp(op=op):
            name = _BINARY[type(op)]
            yield from (f"__{name}__", f"__r{name}__")
        case ast.UnaryOp(op=op) if type(op) in _UNARY:
            yield f"__{_UNARY[type(op)]}__"
        case ast.Compare(ops=ops):
            yield from (f"__{_COMPARING[type(op)]}__" for op in ops if type(op) in _COMPARING)


def _gives_part(function: FunctionNode) -> bool:
    return bool(cached_on_node(function, "_dlbc_gives_part", _look))


def _look(function: FunctionNode) -> list[ast.AST]:
    """The statements of a function that return an argument, or what can be reached from one."""
    if isinstance(function, ast.Lambda):
        return [function]
    names = {parameter.arg for parameter in parameters_of(function)}
    nodes = list(own_nodes(function.body))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _leads_from(value, names):
                names.add(name)
    returns = (n for n in nodes if isinstance(n, ast.Return) and n.value is not None)
    return [n for n in returns if n.value is not None and _leads_from(n.value, names)]


def _leads_from(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            return _leads_from(value, names)
        case ast.IfExp(body=body, orelse=other):
            return _leads_from(body, names) or _leads_from(other, names)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_leads_from(part, names) for part in parts)
        case ast.NamedExpr(value=value):
            return _leads_from(value, names)
    return False
