"""Names that a piece of Python reads, binds and deletes, in order of evaluation.

Comprehensions, lambdas, nested functions and classes have scopes of their own: what they bind stays inside,
and what they read from outside counts as read where they stand. A binding is not sure if short-circuiting or
a comprehension may skip it. What a search finds for a node is kept on the node: many passes ask for the same,
and no pass changes the tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeGuard, TypeVar

from dlbrt.records import dataclass

from dlbc.ir.region import FunctionNode

#: A node with a place in the text.
Node = ast.expr | ast.stmt | ast.excepthandler
_Item = TypeVar("_Item")
_Part = TypeVar("_Part", bound=ast.AST | None)


#: Functions, and comprehensions, which are functions before Python 3.12.
_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


class UseKind(Enum):
    """What happens to a name."""

    LOAD = "load"
    STORE = "store"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a name at ``node``; ``sure`` is false if evaluation may skip it."""

    name: str
    kind: UseKind
    node: Node
    sure: bool = True


@dataclass(frozen=True)
class ScalarFacts:
    """What flow analysis finds of the names that a loop body binds.

    ``definite``: names bound on every path of every iteration. ``carried``: reads that may see an older
    value.
    """

    definite: frozenset[str]
    carried: tuple[Use, ...]


def parameters_of(function: FunctionNode) -> tuple[ast.arg, ...]:
    """All parameters of a function, in order, including star parameters."""
    a = function.args
    stars = [x for x in (a.vararg, a.kwarg) if x is not None]
    return (*a.posonlyargs, *a.args, *a.kwonlyargs, *stars)


def names_in(text: str) -> set[str]:
    """The names in the text of an expression, except those of called functions."""
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    functions = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in functions}


def own_nodes(roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes below ``roots``, in document order, that belong to the same function scope.

    Nested functions, lambdas and classes are given with their decorators, defaults and bases, but without
    their bodies; comprehensions are entered.
    """
    waiting = [*roots][::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield from cached_on_node(node, "_dlbc_own", _own)
        else:
            yield node
            waiting += reversed(_own_parts(node))


def _own(root: ast.AST) -> Iterator[ast.AST]:
    for node, parts in _with_elifs(root, _own_parts):
        yield node
        yield from own_nodes(parts)


def _with_elifs(
    root: ast.AST, parts_of: Callable[[ast.AST], Sequence[_Part]]
) -> Iterator[tuple[ast.AST, Sequence[_Part]]]:
    """A node and its parts, then each `elif` of it; a chain of these is not kept on each of them."""
    node: ast.AST = root
    while isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield node, parts_of(node)[:-1]
        node = node.orelse[0]
    yield node, parts_of(node)


def _own_parts(node: ast.AST) -> Sequence[ast.AST]:
    return _outer_parts(node) if isinstance(node, FunctionNode | ast.ClassDef) else children_of(node)


def every_node(root: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree, as `ast.walk` gives them."""
    return cached_on_node(root, "_dlbc_nodes", _every)


def _every(root: ast.AST) -> list[ast.AST]:
    nodes = [root]
    for node in nodes:  # the list grows
        nodes += children_of(node)
    return nodes


def children_of(node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes directly below, as `ast.iter_child_nodes` gives them."""
    return cached_on_node(node, "_dlbc_children", ast.iter_child_nodes)


def receiver_of(function: ast.AST) -> str:
    """The name of the first parameter of a function, on which `super()` in it works; empty without one."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return first[0].arg if first else ""


def outside_classes(nodes: Iterable[ast.AST], inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes but those in the bodies of classes, which have a class of their own.

    With each comes whether it is ``inside`` a function or a comprehension among the nodes.
    """
    waiting = [(node, inside) for node in nodes][::-1]
    while waiting:
        node, within = waiting.pop()
        yield node, within
        if not isinstance(node, ast.ClassDef):
            below = within or isinstance(node, _SCOPES)
            waiting += [(child, below) for child in reversed(children_of(node))]


def is_super(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether it is a call of `super` without arguments."""
    match node:
        case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]):
            return True
    return False


def calls_super(loop: ast.For) -> bool:
    """Whether the body of a loop calls `super` without arguments."""
    return any(is_super(node) for node, _ in outside_classes(loop.body))


def object_of_super(node: ast.Call, receiver: str = "") -> ast.Name:
    """The name of the object that `super()` is a view of, at the place of the call."""
    name: ast.Name | None = node.__dict__.get("_dlbc_object")
    if name is None:
        name = node.__dict__["_dlbc_object"] = ast.copy_location(ast.Name(receiver, ast.Load()), node)
    return name


def unparsed(node: ast.AST) -> str:
    """The text of a node, as `ast.unparse` writes it."""
    text: str | None = node.__dict__.get("_dlbc_text")
    if text is None:
        text = node.__dict__["_dlbc_text"] = _dotted(node) or ast.unparse(node)
    return text


def _dotted(node: ast.AST) -> str:
    """A dotted name, the most frequent case, in a thousandth of the time; empty for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def root_name(node: ast.AST) -> str | None:
    """The name that a dotted name begins with; None for any other expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def is_chain(node: ast.expr) -> bool:
    """Whether it is a name or constant with attributes and subscripts, none of which runs a call."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and any(
            isinstance(n, ast.Call | ast.NamedExpr) for n in every_node(node.slice)
        ):
            return False
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def cached_on_node(node: ast.AST, key: str, find: Callable[[Any], Iterable[_Item]]) -> tuple[_Item, ...]:
    """What ``find`` gives for a node, kept on the node under ``key``."""
    known: tuple[_Item, ...] | None = node.__dict__.get(key)
    if known is None:
        known = node.__dict__[key] = tuple(find(node))
    return known


def _outer_parts(node: ast.AST) -> list[ast.AST]:
    parts: list[ast.AST] = []
    if isinstance(node, FunctionNode):
        parts += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        hints = [*(p.annotation for p in parameters_of(node)), node.returns]
        parts += [h for h in hints if h is not None]
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *(k.value for k in node.keywords)]
    if not isinstance(node, ast.Lambda):
        parts = [*getattr(node, "decorator_list", ()), *parts]
    return parts


def bound_names(roots: Iterable[ast.AST]) -> dict[str, list[Node]]:
    """Every name that statements bind or delete in their own scope, with the nodes that do."""
    bound: dict[str, list[Node]] = {}
    for node in roots:
        for use in uses_of(node):
            if use.kind is not UseKind.LOAD:
                bound.setdefault(use.name, []).append(use.node)
    return bound


def free_names(scope: FunctionNode | ast.ClassDef) -> dict[str, Node]:
    """Names that a nested function or class takes from outside its own scope, each with a place of use."""
    return dict(cached_on_node(scope, "_dlbc_free", lambda node: _free(node).items()))


def _free(scope: FunctionNode | ast.ClassDef) -> dict[str, Node]:
    body: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)
    bound = set(bound_names(body))
    declared = (node.names for node in own_nodes(body) if isinstance(node, ast.Global | ast.Nonlocal))
    outside = {name for names in declared for name in names}
    if isinstance(scope, ast.ClassDef):
        bound = set()  # a class body may read a name from outside before it binds its own
    else:
        bound |= {p.arg for p in parameters_of(scope)}
    free: dict[str, Node] = {}
    for node in body:
        for use in uses_of(node):
            if (use.kind is UseKind.LOAD or use.name in outside) and use.name not in bound - outside:
                free.setdefault(use.name, use.node)
    return free


#: Nodes whose uses are kept: statements, and expressions with scopes, which ask twice for what is below them.
_KEPT = (ast.stmt, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def uses_of(node: ast.AST | None) -> Iterable[Use]:
    """Uses of names in ``node``, in order of evaluation; blocks of compound statements as in the text."""
    if node is None:
        return ()
    return cached_on_node(node, "_dlbc_uses", _uses) if isinstance(node, _KEPT) else _uses(node)


def _uses(node: ast.AST) -> Iterator[Use]:
    special = _SPECIAL.get(type(node))
    if special is not None:
        yield from special(node)
    else:
        for _, parts in _with_elifs(node, _in_order):
            yield from _all(parts)


def _in_order(node: ast.AST) -> Sequence[ast.AST | None]:
    if type(node) not in _ORDER:
        return children_of(node)
    parts = [getattr(node, name) for name in _ORDER[type(node)]]
    return [n for part in parts for n in (part if isinstance(part, list) else [part])]


def _all(nodes: Iterable[ast.AST | None]) -> Iterator[Use]:
    """The uses in these nodes; chains of operators, calls and attributes take no more the longer they are."""
    waiting = [*nodes][::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _KEPT) or type(node) in _SPECIAL:
            yield from uses_of(node)
        elif node is not None:
            waiting += reversed(_in_order(node))


def _unsure(uses: Iterable[Use]) -> Iterator[Use]:
    return (Use(u.name, u.kind, u.node, False) for u in uses)


def _name(node: ast.Name) -> Iterator[Use]:
    kinds = {ast.Load: UseKind.LOAD, ast.Store: UseKind.STORE, ast.Del: UseKind.DELETE}
    yield Use(node.id, kinds[type(node.ctx)], node)


def _augmented(node: ast.AugAssign) -> Iterator[Use]:
    if isinstance(node.target, ast.Name):
        yield Use(node.target.id, UseKind.LOAD, node.target)
    yield from _all((node.value, node.target))


def _annotated(node: ast.AnnAssign) -> Iterator[Use]:
    if node.value is not None or not isinstance(node.target, ast.Name):
        yield from _all((node.value, node.target))


def _handler(node: ast.ExceptHandler) -> Iterator[Use]:
    yield from uses_of(node.type)
    if node.name:
        yield Use(node.name, UseKind.STORE, node)
    yield from _all(node.body)
    if node.name:
        yield Use(node.name, UseKind.DELETE, node)


def _import(node: ast.Import | ast.ImportFrom) -> Iterator[Use]:
    for alias in node.names:
        yield Use((alias.asname or alias.name).split(".")[0], UseKind.STORE, node)


def _captured(node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> Iterator[Use]:
    yield from _all(ast.iter_child_nodes(node))
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        yield Use(name, UseKind.STORE, node)  # type: ignore[arg-type]  # patterns have places, as expressions do


def _bool(node: ast.BoolOp) -> Iterator[Use]:
    yield from uses_of(node.values[0])
    yield from _unsure(_all(node.values[1:]))


def _choice(node: ast.IfExp) -> Iterator[Use]:
    yield from uses_of(node.test)
    yield from _unsure(_all((node.body, node.orelse)))


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[Use]:
    first, *rest = node.generators
    yield from uses_of(first.iter)
    own = {u.name for g in node.generators for u in uses_of(g.target) if u.kind is UseKind.STORE}
    parts: list[ast.AST] = [first.target, *first.ifs, *rest]
    parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    yield from (u for u in _unsure(_all(parts)) if u.name not in own)


def _scope(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> Iterator[Use]:
    yield from _all(_outer_parts(node))
    for name, place in free_names(node).items():
        yield Use(name, UseKind.LOAD, place)
    if not isinstance(node, ast.Lambda):
        yield Use(node.name, UseKind.STORE, node)


#: Fields in order of evaluation, where that is not the order in which `ast` lists them.
_ORDER: dict[type, tuple[str, ...]] = {
    ast.Assign: ("value", "targets"), ast.NamedExpr: ("value", "target"),
    ast.comprehension: ("iter", "target", "ifs"),
    ast.For: ("iter", "target", "body", "orelse"), ast.AsyncFor: ("iter", "target", "body", "orelse"),
}  # fmt: skip

_SPECIAL: dict[type, Callable[[Any], Iterator[Use]]] = {
    ast.Name: _name, ast.AugAssign: _augmented, ast.AnnAssign: _annotated, ast.ExceptHandler: _handler,
    ast.Import: _import, ast.ImportFrom: _import, ast.BoolOp: _bool, ast.IfExp: _choice,
    ast.MatchAs: _captured, ast.MatchStar: _captured, ast.MatchMapping: _captured,
    ast.ListComp: _comprehension, ast.SetComp: _comprehension, ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension, ast.FunctionDef: _scope, ast.AsyncFunctionDef: _scope,
    ast.Lambda: _scope, ast.ClassDef: _scope,
}  # fmt: skip


def pairs_assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds, each with its value, as far as the text pairs them."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
                match target, value:
                    case ast.Tuple(elts=names), ast.Tuple(elts=values):
                        if not any(isinstance(e, ast.Starred) for e in (*names, *values)):
                            yield from zip(names, values, strict=False)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value


def bound_in(scope: ast.AST) -> Mapping[str, Sequence[Node]]:
    """`bound_names` of the body of a module, function or class, kept on its node."""
    (bound,) = cached_on_node(scope, "_dlbc_bound", lambda node: [bound_names(body_of(node))])
    return bound


def body_of(scope: ast.AST) -> list[ast.AST]:
    """The statements of a module, function or class; the expression of a lambda."""
    return [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Assigned:
    """A target, alone or with others in a tuple, and the value that ``owner`` gives it or the tuple."""

    owner: ast.stmt
    target: ast.expr
    value: ast.expr


def assigned_in(scope: ast.AST) -> Mapping[ast.AST, Sequence[Assigned]]:
    """For every target in a scope what assigns to it, in the order of the text; a `for` assigns its iterable.

    Loops ask for the bindings of single names, and each would have to search the scope.
    """
    (found,) = cached_on_node(scope, "_dlbc_assigned", lambda node: [_assigned(body_of(node))])
    return found


def _assigned(body: list[ast.AST]) -> dict[ast.AST, list[Assigned]]:
    found: dict[ast.AST, list[Assigned]] = {}
    for owner in own_nodes(body):
        match owner:
            case ast.Assign() | ast.AnnAssign():
                pairs = list(pairs_assigned(owner))
            case ast.AugAssign(target=target, value=value):
                pairs = [(target, value)]
            case ast.For(target=target, iter=iterable):
                pairs = [(target, iterable)]
            case _:
                continue
        for target, value in pairs:
            targets = [target, *target.elts] if isinstance(target, ast.Tuple) else [target]
            for each in targets:
                found.setdefault(each, []).append(Assigned(owner, target, value))
    return found
