"""Resolve the meaning of names, in the module as a whole and in one loop.

Theory: Python's scope rules. A name bound in the loop body is a temporary. A name bound in an enclosing
function, or more than once in the module, travels to the ranks as a kernel parameter. Functions, classes and
imports that the module binds exactly once stay global names of the emitted program.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.names import BUILTINS, Functions, bindings_of, imported_by, stays
from dlbc.analysis.numbers import number_of
from dlbc.analysis.subscripts import is_shape
from dlbc.analysis.uses import (
    Assigned,
    UseKind,
    assigned_in,
    bound_names,
    every_node,
    is_super,
    outside_classes,
    receiver_of,
    uses_of,
)
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.ir.region import FunctionNode, IndexRange, LoopNames, ModuleNames
from dlbc.library.star_imports import builtins_hidden_by, exported_by

#: Nodes that bind names, or declare where they are bound.
_BINDING = frozenset((
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.Import,
    ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Global, ast.Nonlocal,
))  # fmt: skip


def resolve_module(module: Module) -> ModuleNames:
    """The names of the whole module."""
    bound = bound_names(module.tree.body)
    functions: dict[str, tuple[FunctionNode, ...]] = {}
    methods: dict[str, tuple[FunctionNode, ...]] = {}
    classes: dict[str, ast.ClassDef] = {}
    anywhere: set[str] = set()
    declared: set[str] = set()
    aliases: dict[str, ast.expr] = {}
    imports: dict[str, str] = {}
    not_imported: set[str] = set()
    integers: dict[str, int] = {}
    numbers: Counter[str] = Counter()
    stars = any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in every_node(module.tree))
    owners = {m for c in every_node(module.tree) if isinstance(c, ast.ClassDef) for m in c.body}
    stores: Counter[str] = Counter()
    for node in every_node(module.tree):
        if type(node) not in _BINDING:
            continue
        names = _names_bound_by(node)
        stores.update(names)
        if node not in owners:  # what a class body binds hides nothing in functions
            anywhere |= names
        if isinstance(node, ast.Assign):
            found = list(_numbers_bound_by(node))
            integers |= {name: value for name, value in found if type(value) is int and value >= 0}
            numbers.update(name for name, _ in found)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            aliases |= {t.id: node.value for t in node.targets if isinstance(t, ast.Name)}
        if not isinstance(node, ast.Import | ast.ImportFrom):
            not_imported |= names
        if isinstance(node, ast.Global | ast.Nonlocal):
            declared |= set(node.names)
        elif isinstance(node, Functions):
            table = methods if node in owners else functions
            table[node.name] = (*table.get(node.name, ()), node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    functions[target.id] = (*functions.get(target.id, ()), node.value)
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports |= dict(imported_by(node))
    starred = _starred(module.tree)
    for name in starred.keys() - bound.keys():
        bound[name], imports[name] = [starred[name][0]], starred[name][1]
    definitions = Functions | ast.ClassDef | ast.Import | ast.ImportFrom
    once = {name for name, nodes in bound.items() if len(nodes) == 1 and isinstance(nodes[0], definitions)}
    return ModuleNames(
        bound=bound,
        bound_anywhere=frozenset(anywhere),
        constant=frozenset(once - declared),
        imports={name: full for name, full in imports.items() if name not in not_imported},
        functions=functions,
        methods=methods,
        aliases={name: value for name, value in aliases.items() if stores[name] == 1},
        classes=classes,
        declared=frozenset(declared),
        integers={
            name: value
            for name, value in integers.items()
            if stores[name] == 1 and name not in declared and not stars
        },
        numbers=frozenset(name for name, count in numbers.items() if stores[name] == count and not stars),
    )


def _numbers_bound_by(node: ast.Assign) -> Iterator[tuple[str, float]]:
    """Names that an assignment binds to numbers that it writes out."""
    pairs: list[tuple[ast.expr, ast.expr]] = [(target, node.value) for target in node.targets]
    for target, value in pairs:  # which grows
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                pairs += zip(targets, values, strict=True)
            case ast.Name(id=name), ast.Constant(value=int() | float() as found) if type(found) is not bool:
                yield name, found
            case ast.Name(id=name), ast.UnaryOp(ast.USub(), ast.Constant(value=int() | float() as found)):
                yield name, -found


def _names_bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
        return set(builtins_hidden_by("" if node.level else node.module or ""))
    shallow = (ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
    if isinstance(node, Functions | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    return {u.name for u in uses_of(node) if u.kind is UseKind.STORE} if isinstance(node, shallow) else set()


def _starred(tree: ast.Module) -> dict[str, tuple[ast.stmt, str]]:
    """The names that the module reads and that star imports bind: by which import, and their full names.

    Empty where a module is imported whose names are not known, as it may bind any of them.
    """
    nodes = [n for n in every_node(tree) if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"]
    exports = [(node, exported_by(node.module or "")) for node in nodes if not node.level]
    if not nodes or len(exports) < len(nodes) or not all(names for _, names in exports):
        return {}
    found: dict[str, tuple[ast.stmt, str]] = {}
    for name in {n.id for n in every_node(tree) if isinstance(n, ast.Name)}:
        for node, names in exports:
            if name in names:
                found[name] = (node, f"{node.module}.{name}")
            elif name in builtins_hidden_by(node.module or ""):
                found.pop(name, None)
    return found


def resolve_names(loop: AnnotatedLoop, module: ModuleNames) -> LoopNames:
    """The names of one loop."""
    node = loop.node
    targets = tuple(dict.fromkeys(bound_names([node.target])))
    body = bound_names(node.body)
    counter, values = _index_of(node.target, node.iter, module)
    index, space = (None, None) if counter in body else (counter, values)
    temporaries = frozenset(targets) | frozenset(body)
    shared: dict[str, ast.AST] = {}
    for use in uses_of(ast.Module(list(node.body), [])):
        if use.name not in temporaries and not stays(use.name, loop, module):
            shared.setdefault(use.name, use.node)
    for call in (n for n, _ in outside_classes(node.body) if is_super(n)):
        shared.setdefault("__class__", call)
        shared.setdefault(receiver_of(loop.scope), call)
    for use in uses_of(node.target):  # subscripts of a target, which `check_form` refuses
        if use.kind is UseKind.LOAD:
            shared.setdefault(use.name, use.node)
    around = {*shared, *_names_around(loop)}
    numbers = {n: found for n in sorted(around) if (found := number_of(n, loop, module)) is not None}
    return LoopNames(
        temporaries=temporaries,
        targets=targets,
        items=_items_of(node.target),
        rebound=frozenset(targets) & frozenset(body),
        index=index,
        space=space,
        parameters=tuple(shared),
        integers=frozenset(n for n in around if n in numbers or _is_integer(n, loop, module, ())),
        shared=shared,
        bindings={n: bindings_of(n, loop, module)[0] for n in shared},
        counter=counter,
        counter_in_range=values is not None and values.stop is not None,
        numbers={name: number for name, (number, _) in numbers.items()},
        numbers_of_module=frozenset(name for name, (_, outer) in numbers.items() if outer),
    )


def _items_of(target: ast.expr) -> tuple[str, ...]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return names if len(names) == len(parts) == len(set(names)) else ()


def _names_around(loop: AnnotatedLoop) -> Iterator[str]:
    """Names in the heads of the statements around the loop, and in assertions before it."""
    heads: list[ast.expr] = [loop.node.iter]
    heads += [n.iter for n in loop.path if isinstance(n, ast.For)]
    heads += [n.test for n in loop.path if isinstance(n, ast.If)]
    heads += [s.test for s in statements_before(loop) if isinstance(s, ast.Assert)]
    yield from (n.id for head in heads for n in ast.walk(head) if isinstance(n, ast.Name))


def _is_integer(name: str, loop: AnnotatedLoop, module: ModuleNames, seen: tuple[str, ...]) -> bool:
    """Whether the text shows that every binding of a shared name gives it an integer."""
    nodes, scope = bindings_of(name, loop, module)
    assigned = assigned_in(scope if isinstance(scope, Functions) else loop.path[0])
    return bool(nodes) and all(
        _binds_integer(n, assigned.get(n, ()), loop, module, (*seen, name)) for n in nodes
    )


def _binds_integer(
    node: ast.AST,
    assigned: Sequence[Assigned],
    loop: AnnotatedLoop,
    module: ModuleNames,
    seen: tuple[str, ...],
) -> bool:
    if isinstance(node, ast.arg):
        return isinstance(node.annotation, ast.Name) and node.annotation.id == "int"
    for given in assigned:
        if isinstance(given.owner, ast.For):
            call = given.value
            alone = given.target is node and isinstance(call, ast.Call)
            return alone and _function_name(call.func, module) == "range"  # type: ignore[attr-defined]
        if given.target is not node:  # n, m = Z.shape
            if is_shape(given.value):
                return True
        elif _is_integer_value(given.value, loop, module, seen):
            exact = ast.Add | ast.Sub | ast.Mult
            return not isinstance(given.owner, ast.AugAssign) or isinstance(given.owner.op, exact)
    return False


def _is_integer_value(
    node: ast.expr, loop: AnnotatedLoop, module: ModuleNames, seen: tuple[str, ...]
) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(
            left=left, right=right, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod()
        ):
            return all(_is_integer_value(n, loop, module, seen) for n in (left, right))
        case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
            return _is_integer_value(operand, loop, module, seen)
        case ast.Call(func=ast.Name(id="len" | "int" as name)):
            return module.builtin(name)
        case ast.Subscript(value=value, slice=ast.Constant() | ast.UnaryOp()):
            return is_shape(value)
        case ast.Attribute(attr="size" | "ndim"):
            return True
        case ast.Name(id=name):
            return name not in seen and _is_integer(name, loop, module, seen)
    return False


def _index_of(
    target: ast.expr, iterable: ast.expr, module: ModuleNames
) -> tuple[str | None, IndexRange | None]:
    """The variable that counts, and its values, if the loop has such a variable."""
    if not isinstance(iterable, ast.Call) or any(isinstance(a, ast.Starred) for a in iterable.args):
        return None, None
    name, args = _function_name(iterable.func, module), iterable.args
    if name.startswith("tqdm."):
        if name.endswith(".trange"):
            return _counted(target, _range_of(args))
        return _index_of(target, args[0], module) if args else (None, None)
    if name == "range" and not iterable.keywords:
        return _counted(target, _range_of(args))
    if name == "reversed" and len(args) == 1:
        inner = args[0]
        index, space = _index_of(target, inner, module)
        if space is None or not isinstance(inner, ast.Call) or _function_name(inner.func, module) != "range":
            return None, None
        return index, replace(space, plain=False)
    if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and args:
        starts = (*args[1:2], *(k.value for k in iterable.keywords if k.arg == "start"), None)
        return _counted(target.elts[0], IndexRange(starts[0], None, None))
    return None, None


def _function_name(func: ast.expr, module: ModuleNames) -> str:
    """``range`` and the like for builtins, ``tqdm.tqdm`` and the like for imports, else empty."""
    text = ast.unparse(func)
    return module.imported_name(text) or (text if module.builtin(text) and text in BUILTINS else "")


def _range_of(args: list[ast.expr]) -> IndexRange:
    start, stop, step, *_ = (None, *args, None, None) if len(args) == 1 else (*args, None, None, None)
    return IndexRange(start, stop, step)


def _counted(target: ast.expr, space: IndexRange) -> tuple[str | None, IndexRange | None]:
    return (target.id, space) if isinstance(target, ast.Name) else (None, None)
