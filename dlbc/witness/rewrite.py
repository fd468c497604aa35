"""Rewrite a program so that it tells a watcher what it touches, and otherwise does what it did.

Law: the program's own operations stay where they are, on its own objects; calls to the watcher are put around
their operands and give them back. ``A[k]`` becomes ``w.of(A)[w.key(k, site, kind)]``: subscripting itself,
its order of evaluation, its exceptions and its traceback are the program's. Nobody reads the outcome, which
is compiled with the places of the original. Statements that bind a watched variable are followed by a call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import cast

from dlbc.ir.loop import Module
from dlbc.passes.resolve_names import resolve_module
from dlbc.witness.recognize import contributions
from dlbc.witness.record import BOTH, READ, STORE, Site
from dlbc.witness.scopes import Scope, Scopes, bound_names

__all__ = ["WATCHER", "rewrite"]

#: What the watcher is called in rewritten programs.
WATCHER = "_dlb_watch"
_FRAME = "_dlb_frame_"
#: Compilers of functions read the code, which must stay what they know.
_COMPILERS = ("jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc")
_VALUES = (ast.Name, ast.Subscript, ast.Attribute, ast.Call, ast.NamedExpr, ast.IfExp)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def rewrite(
    module: Module, loops: Mapping[ast.For, int], site: Callable[[Site], int], space: int
) -> ast.Module:
    """The tree, changed in place. ``loops`` gives the number of each watched one, ``site`` that of a place;
    ``space`` tells the variables of this module from those of others.
    """
    rewriter = _Rewriter(module, loops, site, space)
    changed = cast(ast.Module, rewriter.visit(module.tree))
    return ast.fix_missing_locations(changed)


class _Rewriter(ast.NodeTransformer):
    def __init__(
        self, module: Module, loops: Mapping[ast.For, int], site: Callable[[Site], int], space: int
    ) -> None:
        self._source, self._loops = module.source, loops
        self._site_number, self._space = site, space
        self._names = resolve_module(module)
        self._scopes = Scopes(module.tree, iter(loops))
        self._scope = self._scopes.of[module.tree]
        self._classes: list[str] = []
        self._kinds: dict[ast.AST, str] = {}
        #: Whether the code is the body of an annotated loop, whose contributions are combined.
        self._combining = False

    # Pieces

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr | str | int | None) -> ast.Call:
        function = ast.Attribute(ast.Name(WATCHER, ast.Load()), name, ast.Load())
        given = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
        return ast.copy_location(ast.Call(function, given, []), at)

    def _site(self, node: ast.expr | ast.stmt, text: ast.expr | str) -> int:
        words = text if isinstance(text, str) else ast.unparse(text)
        return self._site_number(Site(self._source, self._source.place_of(node), words))

    def _visit(self, node: ast.expr) -> ast.expr:
        return cast(ast.expr, self.visit(node))

    def _used(self, node: ast.expr, hook: str = "use") -> ast.expr:
        """An operand whose elements, if it has any, are read by what it is an operand of."""
        visited = self._visit(node)
        if isinstance(node, _VALUES):
            return self._hook(hook, node, visited, self._site(node, node))
        return visited

    def _token(self, owner: Scope) -> ast.expr:
        """What tells one call's variable from another's."""
        if owner.is_function:
            return ast.Name(f"{_FRAME}{owner.number}", ast.Load())
        return ast.Constant(-(self._space * 1_000_000 + owner.number + 1))

    def _carried(self, name: str) -> Scope | None:
        owner = self._scopes.owner(self._scope, name)
        return owner if name in owner.carried else None

    def _bound(self, node: ast.stmt, name: str, target: ast.expr | None = None) -> list[ast.stmt]:
        """The call that tells of ``name`` having been bound; none where it is no watched variable."""
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
            self._kinds |= {n: kind for n, kind in found.items() if self._kinds.get(n, BOTH) == BOTH}

    def _all_bound(self, node: ast.stmt, targets: ast.AST | None = None) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        named: set[str] = set()
        for target in ast.walk(targets or node):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store) and target.id not in named:
                named.add(target.id)
                found += self._bound(node, target.id, target)
        return found

    # Scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> list[ast.stmt]:
        return self._function(node)

    def _function(self, node: _Function) -> list[ast.stmt]:
        words = {w for d in node.decorator_list for w in ast.unparse(d).replace("(", ".").split(".")}
        if words & set(_COMPILERS):
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
            name = ast.Name(f"{_FRAME}{self._scope.number}", ast.Store())
            frame = ast.Assign([name], self._hook("frame", first))
            node.body.insert(int(documented), ast.copy_location(frame, first))
        self._scope = outer
        return [node, *self._bound(node, node.name)]

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self._visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self._visit(d) for d in arguments.kw_defaults]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        outer, self._scope = self._scope, self._scopes.of[node]
        node.body = self._visit(node.body)
        self._scope = outer
        return node

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

    def _comprehension(self, node: ast.AST) -> ast.expr:
        outer, self._scope = self._scope, self._scopes.of[node]
        changed = self.generic_visit(node)
        self._scope = outer
        return cast(ast.expr, changed)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._comprehension(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.target = self._visit(node.target)
        if not node.is_async:
            node.iter = self._used(node.iter, "items")
        node.ifs = [self._used(test, "truth") for test in node.ifs]
        return node

    def _suite(self, body: list[ast.stmt]) -> list[ast.stmt]:
        changed: list[ast.stmt] = []
        for statement in body:
            done = self.visit(statement)
            changed += done if isinstance(done, list) else [done]
        return changed

    # Expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:
        owner = self._carried(node.id) if isinstance(node.ctx, ast.Load) else None
        if owner is None:
            return node
        kind = self._kinds.get(node, READ)
        return self._hook("name", node, node, self._token(owner), node.id, kind, self._site(node, node.id))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        owner = self._carried(node.target.id)
        node.value = self._visit(node.value)
        if owner is None:
            return node
        site = self._site(node.target, node.target.id)
        return self._hook("walrus", node, node, self._token(owner), node.target.id, site)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        default = {ast.Load: READ, ast.Store: STORE}.get(type(node.ctx), "delete")
        kind = self._kinds.get(node, default)
        site = self._site(node, node.value)
        node.value = self._hook("of", node.value, self._visit(node.value))
        node.slice = self._hook("key", node.slice, self._index(node.slice), site, kind)
        return node

    def _index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            bounds = [b and self._visit(b) for b in (node.lower, node.upper, node.step)]
            return self._hook("slice", node, *bounds)
        if isinstance(node, ast.Tuple):
            node.elts = [self._index(e) for e in node.elts]
            return node
        return self._visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        default = READ if isinstance(node.ctx, ast.Load) else STORE
        kind = self._kinds.get(node, default)
        name = node.attr
        if self._classes and name.startswith("__") and not name.endswith("__"):
            name = f"_{self._classes[-1].lstrip('_')}{name}"
        site = self._site(node, node.value)
        node.value = self._hook("attribute", node.value, self._visit(node.value), name, site, kind)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        kind = self._kinds.get(node, READ)
        text = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        site = self._site(node, text)
        given = [*node.args, *(k.value for k in node.keywords)]
        names = [None] * len(node.args) + [k.arg or "**" for k in node.keywords]
        changed = [
            self._argument(value, name, number == len(given))
            for number, (value, name) in enumerate(zip(given, names, strict=True), 1)
        ]
        node.args = changed[: len(node.args)]
        for keyword, value in zip(node.keywords, changed[len(node.args) :], strict=True):
            keyword.value = value
        node.func = self._hook("callee", node.func, self._visit(node.func), site, kind, len(given))
        return node

    def _argument(self, node: ast.expr, name: str | None, last: bool) -> ast.expr:
        if isinstance(node, ast.Starred):
            inner = self._hook("argument", node, self._visit(node.value), "*", last, None)
            return ast.copy_location(ast.Starred(inner, ast.Load()), node)
        text = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        return self._hook("argument", node, self._visit(node), name, last, text)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._used(node.left), self._used(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self._used(node.operand, "truth" if isinstance(node.op, ast.Not) else "use")
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        *tested, last = node.values
        node.values = [*(self._used(v, "truth") for v in tested), self._visit(last)]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self._used(node.test, "truth")
        node.body, node.orelse = self._visit(node.body), self._visit(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            held = node.comparators[0]
            site = self._site(node, held)
            node.left = self._hook("sought", node.left, self._visit(node.left))
            node.comparators = [self._hook("member", held, self._visit(held), site)]
            return node
        hook = "same" if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops) else "use"
        if hook == "same":
            return cast(ast.expr, self.generic_visit(node))
        node.left, node.comparators = self._used(node.left), [self._used(c) for c in node.comparators]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._used(node.value, "deep")
        if node.format_spec is not None:
            node.format_spec = self._visit(node.format_spec)
        return node

    # Statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self._contributes(node)
        resizing = any(isinstance(n, ast.Slice) for t in node.targets for n in ast.walk(t))
        stored = any(isinstance(t, ast.Subscript | ast.Attribute) for t in node.targets)
        unpacked = any(isinstance(t, ast.Tuple | ast.List) for t in node.targets)
        value, site = node.value, self._site(node.value, node.value)
        node.value = self._used(value, "use") if unpacked else self._visit(value)
        if stored and isinstance(value, _VALUES):
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
        self._kinds[node.target] = BOTH
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
        node.test = self._used(node.test, "truth")
        node.body, node.orelse = self._suite(node.body), self._suite(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
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

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [node, *(b for n in sorted(bound_names(node)) for b in self._bound(node, n))]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        if node.module == "__future__" or any(alias.name == "*" for alias in node.names):
            return [node]
        return [node, *(b for n in sorted(bound_names(node)) for b in self._bound(node, n))]

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        node.targets = [self._visit(t) if isinstance(t, ast.Subscript) else t for t in node.targets]
        return [node]
