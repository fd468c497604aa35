"""What encloses and precedes code: statements that have run before a loop, and what may catch exceptions.

Law: contributions of iterations are combined after the iterations have run, outside their handlers. Therefore
a contribution that may fail must not stand where the program would have caught its failure.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from dlbc.analysis.uses import (
    UseKind,
    bound_in,
    bound_names,
    cached_on_node,
    every_node,
    parameters_of,
    uses_of,
)
from dlbc.ir.loop import AnnotatedLoop, AnnotatedRoutine
from dlbc.ir.region import LoopNames, ModuleNames

#: Context managers that surely let exceptions through, by the last part of their name.
_PLAIN_MANAGERS = frozenset((
    "open", "errstate", "catch_warnings", "printoptions", "localcontext", "closing", "nullcontext", "Lock",
    "RLock", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "redirect_stdout",
    "redirect_stderr",
))  # fmt: skip

#: What stands for a handler that takes any exception.
EVERYTHING = "BaseException"

Catcher = ast.expr | None
Catchers = tuple[Catcher, ...]


def statements_before(loop: AnnotatedLoop | AnnotatedRoutine) -> Iterator[ast.stmt]:
    """The statements of the blocks around the loop that precede it, the outermost block first.

    Only statements of the loop's own function (or module, or class) count; others ran at another time.
    """
    for block, end in _blocks_before(loop):
        yield from block.statements[:end]


def _blocks_before(loop: AnnotatedLoop | AnnotatedRoutine) -> Iterator[tuple[Block, int]]:
    """The blocks around the loop in its own scope, the outermost first, with where in each it stands."""
    inner = [*loop.path[1:], loop.node]
    start = next(k for k in reversed(range(len(loop.path))) if loop.path[k] is loop.scope)
    for owner, child in list(zip(loop.path, inner, strict=True))[start:]:
        for block in cached_on_node(owner, "_dlbc_blocks", _blocks):
            if child in block.positions:
                yield block, block.positions[child]


def _blocks(owner: ast.AST) -> Iterator[Block]:
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(owner, name, None)
        if isinstance(statements, list):
            yield Block(statements)


class Block:
    """The statements of a block; where each stands, and at which positions names are bound or deleted."""

    def __init__(self, statements: list[ast.stmt]) -> None:
        self.statements = statements
        self.positions: Mapping[ast.AST, int] = {s: k for k, s in enumerate(statements)}

    @cached_property
    def changing(self) -> Mapping[str, Sequence[int]]:
        """For each name the positions, in order."""
        found: dict[str, list[int]] = {}
        for position, statement in enumerate(self.statements):
            for name in {u.name for u in uses_of(statement) if u.kind is not UseKind.LOAD}:
                found.setdefault(name, []).append(position)
        return found


def bound_once(name: str, loop: AnnotatedLoop, names: LoopNames, module: ModuleNames) -> bool:
    """Whether the name has one value wherever the loop's scope reads it: bound once, or not in this scope."""
    if name in names.temporaries or name in module.declared:
        return False
    scope = loop.scope
    nodes = list(names.bindings.get(name, ())) or list(bound_in(scope).get(name, []))
    if not isinstance(scope, ast.Module | ast.ClassDef):
        nodes = [*nodes, *(p for p in parameters_of(scope) if p.arg == name and p not in nodes)]
    return len(nodes) <= 1


def maybe_unbound(name: str, loop: AnnotatedLoop | AnnotatedRoutine) -> bool:
    """Whether a name of the loop's own scope may have no value when the loop begins.

    The program may have bound on another path, or never, what no iteration reads.
    """
    if name not in bound_in(loop.scope) or name in _arguments(loop):
        return False
    return not _is_bound_before(name, loop) and name not in _of_heads(loop)


def _is_bound_before(name: str, loop: AnnotatedLoop | AnnotatedRoutine) -> bool:
    """Whether the statements before the loop surely leave the name bound.

    Looked for backwards: the nearest statement that binds or deletes the name on all paths decides.
    """
    for block, end in reversed(list(_blocks_before(loop))):
        changing = block.changing.get(name, ())
        for position in reversed(changing[: bisect_left(changing, end)]):
            after = [
                name in _after(block.statements[position], frozenset(before)) for before in ((), (name,))
            ]
            if after[0] == after[1]:
                return after[0]
    return False


def _arguments(loop: AnnotatedLoop | AnnotatedRoutine) -> frozenset[str]:
    scope = loop.scope
    parameters = () if isinstance(scope, ast.Module | ast.ClassDef) else parameters_of(scope)
    return frozenset(p.arg for p in parameters).union(cached_on_node(scope, "_dlbc_declared", _declared))


def _declared(scope: ast.AST) -> Iterator[str]:
    """The names that functions of a scope declare global or nonlocal."""
    for node in every_node(scope):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _of_heads(loop: AnnotatedLoop | AnnotatedRoutine) -> frozenset[str]:
    """Names that the statements around the loop bind before the loop begins."""
    bound: set[str] = set()
    for owner in loop.path:
        match owner:
            case ast.For(target=target):
                bound |= bound_names([target]).keys()
            case ast.With(items=items):
                bound |= bound_names(items).keys()
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.match_case(pattern=pattern):
                bound |= bound_names([pattern]).keys()
            case ast.If(test=test) | ast.While(test=test):
                bound |= {u.name for u in uses_of(test) if u.kind is UseKind.STORE and u.sure}
    return frozenset(bound)


def _block(statements: list[ast.stmt], bound: frozenset[str]) -> frozenset[str] | None:
    """The names bound after a block; None if the block does not reach its end."""
    for statement in statements:
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return None
        bound = _after(statement, bound)
    return bound


def _after(node: ast.stmt, bound: frozenset[str]) -> frozenset[str]:
    """The names surely bound after a statement."""
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            start = _simple(test, bound)
            return _both([_block(body, start), _block(orelse, start)], start)
        case ast.With(items=items, body=body):
            for item in items:
                bound = _simple(item, bound)
            return _both([_block(body, bound)], bound)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            ends = [_block([*body, *orelse], bound), *(_block(h.body, bound) for h in handlers)]
            return _both([_block(finalbody, _both(ends, bound))], bound)
        case ast.For() | ast.AsyncFor() | ast.While() | ast.Match() | ast.TryStar() | ast.AsyncWith():
            gone = {u.name for u in uses_of(node) if u.kind is UseKind.DELETE}
            return bound - gone
    return _simple(node, bound)


def _simple(node: ast.AST, bound: frozenset[str]) -> frozenset[str]:
    for use in uses_of(node):
        if use.kind is UseKind.STORE and use.sure:
            bound |= {use.name}
        elif use.kind is UseKind.DELETE:
            bound -= {use.name}
    return bound


def _both(ends: list[frozenset[str] | None], start: frozenset[str]) -> frozenset[str]:
    """The names bound on every path that reaches its end."""
    reached = [end for end in ends if end is not None]
    return frozenset.intersection(*reached) if reached else start


def propagates_exceptions(manager: ast.expr) -> bool:
    """Whether a context manager surely lets exceptions through."""
    return isinstance(manager, ast.Call) and ast.unparse(manager.func).split(".")[-1] in _PLAIN_MANAGERS


def catchers(body: Iterable[ast.stmt]) -> Mapping[ast.stmt, Catchers]:
    """For each statement the exception types that the code around it may catch; None is any type."""
    return dict(_around(body, ()))


def _around(body: Iterable[ast.stmt], outer: Catchers) -> Iterator[tuple[ast.stmt, Catchers]]:
    for node in body:
        yield node, outer
        match node:
            case ast.Try() | ast.TryStar():
                leaving = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for s in node.finalbody
                              for n in ast.walk(s))  # fmt: skip
                dropped: Catchers = (None,) if leaving else ()
                types = tuple(handler.type for handler in node.handlers)
                yield from _around(node.body, (*outer, *types, *dropped))
                for handler in node.handlers:
                    yield from _around(handler.body, (*outer, *dropped))
                yield from _around(node.orelse, (*outer, *dropped))
                yield from _around(node.finalbody, outer)
            case ast.With() | ast.AsyncWith():
                held = (c for item in node.items for c in _swallowed(item.context_expr))
                yield from _around(node.body, (*outer, *held))
            case ast.Match():
                for case in node.cases:
                    yield from _around(case.body, outer)
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                yield from _around([*node.body, *node.orelse], outer)


def _swallowed(manager: ast.expr) -> Catchers:
    if propagates_exceptions(manager):
        return ()
    if isinstance(manager, ast.Call) and ast.unparse(manager.func).split(".")[-1] == "suppress":
        return tuple(manager.args)
    return (None,)


def caught_exceptions(kinds: Iterable[Catcher], module: ModuleNames) -> Iterator[str]:
    """Names of the builtin exceptions among these types; `EVERYTHING` for what is not a visible class.

    Exception classes of the program and of its imports are assumed not to be raised by operators on builtin
    types.
    """
    for kind in kinds:
        if isinstance(kind, ast.Tuple):
            yield from caught_exceptions(kind.elts, module)
            continue
        text = EVERYTHING if kind is None else ast.unparse(kind)
        root = text.partition(".")[0]
        known = root in module.imports or root in module.classes
        if not known:
            yield text if hasattr(builtins, text) and module.builtin(text) else EVERYTHING
