"""Mod/ref analysis of statements: walk a routine's sequential code, in the order of the text.

Parallel loops are skipped; only their iterables are evaluated on rank 0. A value that is bound is not
touched; a value that is stored into, iterated over, entered or called is. Code of other scopes (functions,
lambdas) is not entered; it counts where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.analysis.names import full_name
from dlbc.ir.region import FunctionNode
from dlbc.ir.routine import ModRef
from dlbc.library.methods import METADATA
from dlbc.library.table import is_library
from dlbc.routines.mod_ref_expressions import ExpressionModRef, UseContext
from dlbc.routines.value_kinds import pairs_of


class StatementModRef:
    """Walks statements with the rules for expressions.

    ``parallel`` are the parallel loops. ``items`` collects the sequential loops around them that take their
    iterable item by item; ``managers`` collects the unknown context managers around them.
    """

    def __init__(self, expressions: ExpressionModRef, parallel: frozenset[ast.AST]) -> None:
        self._expressions, self._parallel = expressions, parallel
        self.items: list[ast.For] = []
        self.managers: list[ast.expr] = []

    def routine(self, loop: ast.For | ast.While) -> None:
        """The routine's own loop; the iterable of a `for` is evaluated while nothing is away from rank 0."""
        self._statement(loop)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in sequence."""
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
            # the remaining statements only bind names: imports, `pass`, declarations

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        walk = self._expressions
        for target in targets:
            self._evaluate(target, value)
        for target in targets:
            walk.store(target)

    def _evaluate(self, target: ast.expr, value: ast.expr) -> None:
        """Evaluate ``value`` for a target, part by part if both have the same parts."""
        walk = self._expressions
        parts = pairs_of(target, value)
        for one, other in parts:
            self._evaluate(one, other)
        if parts:
            return
        match target:
            case ast.Tuple() | ast.List() | ast.Starred():
                listed = walk.container(value)
                walk.visit(value, ModRef.NONE if listed else ModRef.REF, UseContext.DECOMPOSED)
            case ast.Name():
                free = isinstance(value, ast.Name)
                walk.visit(value, ModRef.NONE, UseContext.FREE if free else UseContext.ESCAPES)
            case ast.Attribute(attr=attr) if attr in walk.owned:
                walk.visit(value, ModRef.NONE)
            case ast.Subscript(value=kept) if walk.container(kept):
                walk.visit(value, ModRef.NONE)
            case ast.Attribute(attr=attr):
                walk.visit(value, ModRef.REF if attr in METADATA else ModRef.MOD)
            case _:
                walk.visit(value, ModRef.REF)

    def _for(self, node: ast.For) -> None:
        walk = self._expressions
        if node in self._parallel:
            walk.visit(node.iter, ModRef.REF, UseContext.DECOMPOSED)
            self.block(node.orelse)
            return
        steady = walk.values.is_steady(node.iter) or walk.container(node.iter)
        by_item = not steady and self._holds_parallel(node)
        if by_item:
            self.items.append(node)
        walk.visit(node.iter, ModRef.NONE if steady or by_item else ModRef.REF, UseContext.DECOMPOSED)
        walk.store(node.target)
        self.block([*node.body, *node.orelse])

    def _holds_parallel(self, node: ast.AST) -> bool:
        return any(n in self._parallel for n in ast.walk(node))

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
        walk = self._expressions
        around = any(map(self._holds_parallel, body))
        for item in items:
            given = item.context_expr
            name = full_name(given.func, walk.module) if isinstance(given, ast.Call) else ""
            known = bool(name) and is_library(name)
            walk.visit(given, ModRef.REF if known else ModRef.MOD, UseContext.DECOMPOSED)
            if around and not known:
                self.managers.append(given)
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
        """The code that defining a function or class runs: decorators, defaults, bases, the class's body."""
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
    """The node at which the statements' own scope may be suspended; None if it never is."""
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
