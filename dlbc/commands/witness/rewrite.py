"""Rewrite a program so that it reports its accesses to a monitor, and otherwise does what it did.

Law: the program's own operations stay in place, on its own objects; calls to the monitor are put around their
operands and return them. ``A[k]`` becomes ``w.of(A)[w.key(k, site, kind)]``: subscripting itself, its order
of evaluation, its exceptions and its traceback are the program's. The result is not for readers; it is
compiled with the positions of the original. Statements that bind a watched variable are followed by a call.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import cast

from dlbc.commands.witness.record import READ_STORE, STORE, SiteNumbers
from dlbc.commands.witness.rewrite_expressions import FRAME, VALUES, ExpressionRewriter
from dlbc.commands.witness.scopes import VariableScopes, bound_names, contributions
from dlbc.ir.loop import Module
from dlbc.passes.resolve_names import resolve_module

#: Decorators that compile a function: they read its code, which must stay as it is.
_COMPILERS = ("jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def rewrite(module: Module, loops: Mapping[ast.For, int], site: SiteNumbers, space: int) -> ast.Module:
    """The tree, changed in place.

    ``loops`` gives the number of each watched loop, ``site`` the number of a place; ``space`` distinguishes
    the variables of this module from others'.
    """
    rewriter = _Rewriter(module, loops, site, space)
    changed = cast(ast.Module, rewriter.visit(module.tree))
    return ast.fix_missing_locations(changed)


class _Rewriter(ExpressionRewriter):
    """Rewrites statements, and follows the scopes that they open."""

    def __init__(self, module: Module, loops: Mapping[ast.For, int], site: SiteNumbers, space: int) -> None:
        super().__init__(module, VariableScopes(module.tree, iter(loops)), site, space)
        self._loops = loops
        self._names = resolve_module(module)
        #: Whether the code is the body of an annotated loop, whose contributions are combined.
        self._combining = False

    # What is bound

    def _bound(self, node: ast.stmt, name: str, target: ast.expr | None = None) -> list[ast.stmt]:
        """The call that reports the binding of ``name``; none if it is not a watched variable."""
        owner = self._carried(name)
        if owner is None:
            return []
        at = target or node
        kind = self._kinds.get(at, STORE) if target else STORE
        value = ast.copy_location(ast.Name(name, ast.Load()), at) if kind != STORE else ast.Constant(None)
        call = self._hook("bound", at, self._token(owner), name, kind, self._site(at, name), value)
        return [ast.copy_location(ast.Expr(call), at)]

    def _contributes(self, node: ast.stmt) -> None:
        if self._combining:
            found = contributions(node, self._names)
            self._kinds |= {n: k for n, k in found.items() if self._kinds.get(n, READ_STORE) == READ_STORE}

    def _all_bound(self, node: ast.stmt, targets: ast.AST | None = None) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        named: set[str] = set()
        for target in ast.walk(targets or node):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store) and target.id not in named:
                named.add(target.id)
                found += self._bound(node, target.id, target)
        return found

    # Scopes

    def _function(self, node: _Function) -> list[ast.stmt]:
        names = {w for d in node.decorator_list for w in ast.unparse(d).replace("(", ".").split(".")}
        if names & set(_COMPILERS):
            return [node]
        node.decorator_list = [self._visit(d) for d in node.decorator_list]
        self._defaults(node.args)
        outer, self._scope, combining = self._scope, self._scopes.of[node], self._combining
        self._combining = False
        node.body = self._suite(node.body)
        self._combining = combining
        if self._scope.carried:
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            name = ast.Name(f"{FRAME}{self._scope.number}", ast.Store())
            frame = ast.Assign([name], self._hook("frame", first))
            node.body.insert(int(documented), ast.copy_location(frame, first))
        self._scope = outer
        return [node, *self._bound(node, node.name)]

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        node.decorator_list = [self._visit(d) for d in node.decorator_list]
        node.bases = [self._visit(b) for b in node.bases]
        node.keywords = [cast(ast.keyword, self.visit(k)) for k in node.keywords]
        outer, self._scope = self._scope, self._scopes.of[node]
        self._classes.append(node.name)
        node.body = self._suite(node.body)
        self._classes.pop()
        self._scope = outer
        return [node, *self._bound(node, node.name)]

    def _suite(self, body: list[ast.stmt]) -> list[ast.stmt]:
        changed: list[ast.stmt] = []
        for statement in body:
            done = self.visit(statement)
            changed += done if isinstance(done, list) else [done]
        return changed

    # Statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self._contributes(node)
        resizing = any(isinstance(n, ast.Slice) for t in node.targets for n in ast.walk(t))
        stored = any(isinstance(t, ast.Subscript | ast.Attribute) for t in node.targets)
        unpacked = any(isinstance(t, ast.Tuple | ast.List) for t in node.targets)
        value, site = node.value, self._site(node.value, node.value)
        node.value = self._used(value, "use") if unpacked else self._visit(value)
        if stored and isinstance(value, VALUES):
            node.value = self._hook("value", value, node.value, site)
        node.targets = [self._visit(t) for t in node.targets]
        after = [b for t in node.targets for b in self._all_bound(node, t)]
        if resizing:
            after.append(ast.copy_location(ast.Expr(self._hook("resized", node)), node))
        return [node, *after]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return [node]
        node.value = self._visit(node.value)
        node.target = cast("ast.Name | ast.Attribute | ast.Subscript", self._visit(node.target))
        return [node, *self._all_bound(node, node.target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self._kinds[node.target] = READ_STORE
        self._contributes(node)
        node.value = self._used(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = cast("ast.Attribute | ast.Subscript", self._visit(node.target))
            return [node]
        name: ast.expr = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        kind = self._kinds[node.target]
        call = self._hook("inplace", node.target, name, kind, self._site(node.target, name))
        before = ast.copy_location(ast.Expr(call), node.target)
        return [before, node, *self._bound(node, node.target.id, node.target)]

    def visit_If(self, node: ast.If) -> ast.stmt:
        self._contributes(node)
        return self.visit_While(node)

    def visit_While(self, node: ast.While | ast.If) -> ast.stmt:
        node.test = self._used(node.test, "truth")
        node.body, node.orelse = self._suite(node.body), self._suite(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        number = self._loops.get(node)
        targets = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        node.target = self._visit(node.target)
        bound = self._all_bound(node, node.target)
        if number is None:
            node.iter = self._used(node.iter, "items")
            node.body = [*bound, *self._suite(node.body)]
            node.orelse = self._suite(node.orelse)
            return node
        site = self._site(node.iter, node.iter)
        prepared = self._hook("prepare", node.iter, number)
        node.iter = self._hook("iterations", node.iter, prepared, self._visit(node.iter), site)
        named: list[ast.expr] = []
        for name in targets:
            named += [ast.Constant(name), ast.copy_location(ast.Name(name, ast.Load()), node.target)]
        at = ast.Expr(self._hook("at", node.target, ast.Tuple(named, ast.Load())))
        self._combining, around = True, self._combining
        node.body = [ast.copy_location(at, node.target), *bound, *self._suite(node.body)]
        self._combining = around
        node.orelse = self._suite(node.orelse)
        end = ast.Expr(self._hook("leave", node, number))
        return ast.copy_location(ast.Try([node], [], [], [end]), node)

    def visit_With(self, node: ast.With) -> ast.stmt:
        node.items = [cast(ast.withitem, self.visit(item)) for item in node.items]
        bound = [b for i in node.items if i.optional_vars for b in self._all_bound(node, i.optional_vars)]
        node.body = [*bound, *self._suite(node.body)]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.type = node.type and self._visit(node.type)
        first = node.body[0]
        node.body = [*(self._bound(first, node.name) if node.name else []), *self._suite(node.body)]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        named = sorted(bound_names(cast(ast.stmt, node.pattern)))
        bound = [call for name in named for call in self._bound(node.body[0], name)]
        if node.guard is not None:
            calls = [cast(ast.Expr, call).value for call in bound]
            guard = self._used(node.guard, "truth")
            node.guard = ast.BoolOp(ast.Or(), [*calls, guard]) if calls else guard
            bound = []
        node.body = [*bound, *self._suite(node.body)]
        return node

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        return [node, *(b for n in sorted(bound_names(node)) for b in self._bound(node, n))]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        unbound = node.module == "__future__" or any(alias.name == "*" for alias in node.names)
        return [node] if unbound else self.visit_Import(node)

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        node.targets = [self._visit(t) if isinstance(t, ast.Subscript) else t for t in node.targets]
        return [node]
