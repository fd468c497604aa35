"""Find what a region of code reads, stores, changes in place and calls.

Theory: a flow-insensitive points-to analysis (Andersen 1994) over the few names that the code binds itself.
Each such name has an `AbstractValue`: the shared objects that it may be or hold; a value without origins was
made here. The walk is repeated until no value that it used grows any more. A store through a name with
origins changes these shared objects; a store into a new object concerns nobody else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dlbc.algebra.integer_form import IntegerForm
from dlbc.analysis.environment import extended
from dlbc.analysis.evaluate_expressions import ExpressionEvaluator
from dlbc.analysis.subscripts import parts_of
from dlbc.analysis.uses import UseKind, bound_names, own_nodes, uses_of
from dlbc.ir.access import AbstractValue, AccessKind, MutationKind, RegionFacts
from dlbc.ir.region import CodeRegion


def walk_code(region: CodeRegion) -> RegionFacts:
    """All accesses, changes, calls and results of the region's statements."""
    return _Walker(region).walk()


class _Walker(ExpressionEvaluator):
    """Statements, on top of expressions."""

    def walk(self) -> RegionFacts:
        """Walk all statements, until a walk used no value that grew afterwards."""
        self._stale = True
        while self._stale:
            self._walk_once()
        return self._facts

    def _walk_once(self) -> None:
        self._begin()
        self._facts, self._sure = RegionFacts(expansions=self._region.expansions), True
        self._seen, self._stale = set(), False
        for statement in self._region.body:
            self._statement(statement)
            self._passed(statement)
            if any(isinstance(n, ast.Continue) for n in own_nodes([statement])):
                self._sure = False

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        with self._unsure():
            for statement in statements:
                self._statement(statement)
                self._passed(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=value):
                self._value(value)
            case ast.Assign(targets=targets, value=value):
                result = self._value(value)
                for target in targets:
                    self._assign(target, result, value)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self._assign(target, self._value(value), value)
            case ast.AugAssign():
                self._augmented(node)
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.While():
                with self._turning(node, None):
                    self._value(node.test)
                    self._block([*node.body, *node.orelse])
            case ast.If():
                self._value(node.test)
                with self._branch(node.test):
                    self._block(node.body)
                with self._branch(node.test, holds=False):
                    self._block(node.orelse)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.Try() | ast.TryStar():
                self._try(node)
            case ast.Match():
                self._match(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for part in (n for n in own_nodes([node]) if isinstance(n, ast.expr)):
                    self._value(part)
                self._bind(node.name, self._closure(node))
            case ast.Return(value=value):
                self._facts.results.append(self._value(value))
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target)
            case ast.Assert(test=test, msg=message):
                self._value(test)
                self._value(message)
            case ast.Import() | ast.ImportFrom():
                for use in uses_of(node):
                    self._define(use.name, None)
            case ast.Raise(exc=raised, cause=cause):
                self._value(raised)
                self._value(cause)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            manager = self._value(item.context_expr)
            self._runs_method(item.context_expr, manager, "__exit__")
            entered = manager | self._runs_method(item.context_expr, manager, "__enter__")
            if item.optional_vars is not None:
                self._assign(item.optional_vars, entered, None)
        before = self._forms, self._steady, self._domain
        self._block(node.body)
        self._leave(*before)  # the manager may swallow an exception

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        handled = [s for h in node.handlers for s in h.body]
        with self._unsure():
            for handler in node.handlers:
                self._value(handler.type)
        bound = frozenset(bound_names([node]))
        self._forms = {n: f for n, f in self._forms.items() if n not in bound}
        for block in (node.body, handled, node.orelse, node.finalbody):
            with self._branch(None):
                self._block(block)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        items = self._items(node.iter)
        bound = {u.name for s in node.body for u in uses_of(s) if u.kind is not UseKind.LOAD}
        inner_loop = self._binder(node, node.target, node.iter)
        if inner_loop is not None and inner_loop.variable.name in bound:
            inner_loop = None
        with self._turning(node, inner_loop):
            with self._unsure():
                self._assign(node.target, items, None)
            if inner_loop is not None:
                self._define(inner_loop.variable.name, IntegerForm.of(inner_loop.variable))
            self._block(node.body)
        self._block(node.orelse)

    def _match(self, node: ast.Match) -> None:
        subject = self._value(node.subject)
        for case in node.cases:
            for use in uses_of(case.pattern):
                if use.kind is UseKind.STORE:
                    self._bind(use.name, subject | subject.element)
            with self._unsure():
                self._value(case.guard)
            with self._branch(None):
                self._block(case.body)

    def _augmented(self, node: ast.AugAssign) -> None:
        right = self._value(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            held = self._lookup(target.id)
            if held is not None:
                if held.points_to:
                    self._change(held.points_to, MutationKind.AUGMENTED, node, target.id.partition("@")[0])
                form = self._as_form(ast.copy_location(ast.BinOp(target, node.op, node.value), node))
                reachable = held.reachable | right.points_to | right.reachable
                grown = AbstractValue(held.points_to, reachable, held.has_mutable_items)
                self._bind(target.id, grown, form)
        elif isinstance(target, ast.Subscript):
            self._store(target, right, node.value, AccessKind.UPDATE)
        else:
            self._assign(target, right, node.value)

    def _assign(self, target: ast.expr, value: AbstractValue, source: ast.expr | None) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(name, value, None if source is None else self._as_form(source))
            case ast.Starred(value=inner):
                self._assign(inner, value.contained, None)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                sources = [] if source is None else parts_of(source, self._region.module)
                plain = len(sources) == len(parts) and not any(isinstance(p, ast.Starred) for p in parts)
                crossed = {u.name for s in sources for u in uses_of(s)} & set(bound_names(parts))
                for position, part in enumerate(parts):
                    if plain:
                        origin = None if crossed else sources[position]
                        self._assign(part, self._quietly(sources[position]), origin)
                    else:
                        self._assign(part, value.element, None)
            case ast.Attribute(value=base):
                self._keep(value, target)
                self._change(self._base(base).points_to, MutationKind.ATTRIBUTE, target, target.attr)
            case ast.Subscript():
                self._store(target, value, source, AccessKind.WRITE)

    def _store(
        self, target: ast.Subscript, value: AbstractValue, source: ast.expr | None, kind: AccessKind
    ) -> None:
        self._indices(target)
        self._put_into_pool(value)
        base, last = self._base(target.value), target.slice
        name, brackets, plain = self._path(target)
        if name and plain:
            subscripts, _ = self._brackets(brackets)
            self._facts.escapes.append((value, source or target, name))
            # B[i] += e changes an array in a list in place, and replaces a number
            element = kind is AccessKind.UPDATE and not isinstance(last, ast.Tuple)
            self._access(name, subscripts, kind, target, in_place=element or len(brackets) > 1)
            return
        axes, _ = self._subscripts.read(last, self._forms, self._hidden)
        self._change(extended(base.points_to, axes), MutationKind.SUBSCRIPT, target)
        if kind is AccessKind.UPDATE and not isinstance(last, ast.Tuple):
            self._change(self._items_of(target.value, base), MutationKind.SUBSCRIPT, target)
        elif kind is AccessKind.WRITE:
            self._put_into(target.value, value)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._delete(part)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            base = self._base(target.value)
            self._change(base.points_to, MutationKind.DELETE, target)

    def _keep(self, value: AbstractValue, node: ast.expr) -> None:
        """A value is put into some object; objects made here may then contain it."""
        self._put_into_pool(value)
        self._facts.escapes.append((value, node, ""))
