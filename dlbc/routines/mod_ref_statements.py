"""Walk the statements of a routine's sequential code, in the order of the text.

Parallel loops are passed by: of these the iterable alone is evaluated on rank 0. What is bound is not
touched; what is stored into, iterated over, entered or called is. Code of other scopes (functions,
lambdas) is not entered: whoever calls it is taken to run it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from dlbc.ir.region import FunctionNode
from dlbc.ir.routine import ModRef
from dlbc.library.methods import METADATA
from dlbc.library.table import is_library
from dlbc.routines.mod_ref_expressions import ExpressionModRef, UseContext
from dlbc.routines.value_kinds import dotted_name, pairs_of

_Handler = Callable[["StatementModRef", ast.stmt], None]


class StatementModRef:
    """Walks statements with the rules of ``touches``.

    ``parallel`` are the parallel loops; ``items`` collects the sequential loops around any of them whose
    iterable is taken item by item, ``managers`` the context managers around them that cannot be seen through.
    """

    def __init__(self, expressions: ExpressionModRef, parallel: frozenset[ast.AST]) -> None:
        self._expressions, self._parallel = expressions, parallel
        self.items: list[ast.For] = []
        self.managers: list[ast.expr] = []

    def routine(self, loop: ast.For | ast.While) -> None:
        """The routine's own loop; what a `for` begins with is evaluated while nothing is away."""
        self._statement(loop)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements one after the other."""
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        walk = self._expressions
        match node:
            case ast.Expr(value=value) | ast.Return(value=value):
                walk.visit(value, ModRef.NONE, UseContext.FREE)
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign([target], value)
            case ast.AugAssign(target=target, value=value):
                walk.visit(value, ModRef.REF, UseContext.VALUE)
                walk.update(target)
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
                walk.test(test)
                self.block([*body, *orelse])
            case ast.For():
                self._for(node)
            case ast.With(items=items, body=body):
                self._with(items, body)
            case (
                ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final)
                | ast.TryStar(body=body, handlers=handlers, orelse=orelse, finalbody=final)
            ):
                caught = [s for handler in handlers for s in handler.body]
                self.block([*body, *caught, *orelse, *final])
            case ast.Match(subject=subject, cases=cases):
                self._match(subject, cases)
            case ast.Assert(test=test, msg=message):
                walk.test(test)
                walk.visit(message, ModRef.REF, UseContext.VALUE)
            case ast.Raise(exc=exception, cause=cause):
                walk.visit(exception, ModRef.NONE)
                walk.visit(cause, ModRef.NONE)
            case ast.Delete(targets=gone):
                for one in gone:
                    walk.store(one)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._definition(node)
            # what is left binds names alone: imports, `pass`, declarations

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        walk = self._expressions
        for target in targets:
            self._give(target, value)
        for target in targets:
            walk.store(target)

    def _give(self, target: ast.expr, value: ast.expr) -> None:
        """Evaluate ``value`` for a target; part by part where both have the same parts."""
        walk = self._expressions
        parts = pairs_of(target, value)
        for one, other in parts:
            self._give(one, other)
        if parts:
            return
        match target:
            case ast.Tuple() | ast.List() | ast.Starred():
                listed = walk.container(value)
                walk.visit(value, ModRef.NONE if listed else ModRef.REF, UseContext.DECOMPOSED)
            case ast.Name():
                walk.visit(
                    value, ModRef.NONE, UseContext.FREE if isinstance(value, ast.Name) else UseContext.ESCAPES
                )
            case ast.Attribute(attr=attr) if attr in walk.owned:
                walk.visit(value, ModRef.NONE)
            case ast.Subscript(value=kept) if walk.container(kept):
                walk.visit(value, ModRef.NONE)
            case ast.Attribute(attr=attr) if attr in METADATA:
                walk.visit(value, ModRef.REF)
            case ast.Attribute():
                walk.visit(value, ModRef.MOD)
            case _:
                walk.visit(value, ModRef.REF)

    def _for(self, node: ast.For) -> None:
        walk = self._expressions
        if node in self._parallel:
            walk.visit(node.iter, ModRef.REF, UseContext.DECOMPOSED)
            self.block(node.orelse)
            return
        steady = walk.values.is_steady(node.iter) or walk.container(node.iter)
        if not steady and self._holds_parallel(node):
            self.items.append(node)
            walk.visit(node.iter, ModRef.NONE, UseContext.DECOMPOSED)
        else:
            walk.visit(node.iter, ModRef.NONE if steady else ModRef.REF, UseContext.DECOMPOSED)
        walk.store(node.target)
        self.block([*node.body, *node.orelse])

    def _holds_parallel(self, node: ast.AST) -> bool:
        return any(n in self._parallel for n in ast.walk(node))

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
        walk = self._expressions
        around = any(map(self._holds_parallel, body))
        for item in items:
            given = item.context_expr
            name = dotted_name(given.func, walk.module_names) if isinstance(given, ast.Call) else ""
            if not (name and is_library(name)):
                walk.visit(given, ModRef.MOD, UseContext.DECOMPOSED)
                if around:
                    self.managers.append(given)
            else:
                walk.visit(given, ModRef.REF, UseContext.DECOMPOSED)
            if item.optional_vars is not None:
                walk.store(item.optional_vars)
        self.block(body)

    def _match(self, subject: ast.expr, cases: Sequence[ast.match_case]) -> None:
        self._expressions.visit(subject, ModRef.REF, UseContext.DECOMPOSED)
        for case in cases:
            if case.guard is not None:
                self._expressions.test(case.guard)
            self.block(case.body)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """What runs where a function or class is defined: decorators, defaults, bases, the class's body."""
        walk = self._expressions
        for mark in node.decorator_list:
            walk.visit(mark, ModRef.MOD, UseContext.DECOMPOSED)
        walk.capture(node)
        if isinstance(node, FunctionNode):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                walk.visit(default, ModRef.NONE)
            return
        for base in (*node.bases, *(k.value for k in node.keywords)):
            walk.visit(base, ModRef.MOD, UseContext.DECOMPOSED)
        with walk.opaque():
            self.block(node.body)


def suspends(statements: Sequence[ast.AST]) -> ast.AST | None:
    """Where the statements' own scope gives control away before it ends; None where it never does."""
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith):
            return node
        if isinstance(node, ast.comprehension) and node.is_async:
            return node.target
        if not isinstance(node, FunctionNode):
            waiting += ast.iter_child_nodes(node)
    return None
