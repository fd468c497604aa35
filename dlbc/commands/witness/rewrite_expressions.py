"""The expressions of a rewritten program: calls to the monitor around their operands."""

from __future__ import annotations

import ast
from typing import cast

from dlbc.commands.witness.record import READ, STORE, AccessSite, SiteNumbers
from dlbc.commands.witness.scopes import VariableScope, VariableScopes
from dlbc.ir.loop import Module

#: The name of the monitor in rewritten programs, and the prefix of names of frames.
WATCHER = "_dlb_watch"
FRAME = "_dlb_frame_"
#: Expressions whose value may be an object that is reachable in other ways too.
VALUES = (ast.Name, ast.Subscript, ast.Attribute, ast.Call, ast.NamedExpr, ast.IfExp)


class HookInserter(ast.NodeTransformer):
    """The position of the walk, and the calls that can be inserted there.

    ``site`` gives the number of a place; ``space`` distinguishes the variables of this module from others'.
    """

    def __init__(self, module: Module, scopes: VariableScopes, site: SiteNumbers, space: int) -> None:
        self._source, self._scopes = module.source, scopes
        self._site_number, self._space = site, space
        self._scope = scopes.of[module.tree]
        self._classes: list[str] = []
        self._kinds: dict[ast.AST, str] = {}

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr | str | int | None) -> ast.Call:
        function = ast.Attribute(ast.Name(WATCHER, ast.Load()), name, ast.Load())
        given = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
        return ast.copy_location(ast.Call(function, given, []), at)

    def _site(self, node: ast.expr | ast.stmt, text: ast.expr | str) -> int:
        shown = text if isinstance(text, str) else ast.unparse(text)
        return self._site_number(AccessSite(self._source, self._source.place_of(node), shown))

    def _visit(self, node: ast.expr) -> ast.expr:
        return cast(ast.expr, self.visit(node))

    def _used(self, node: ast.expr, hook: str = "use") -> ast.expr:
        """An operand whose elements, if it has any, are read by its operation."""
        visited = self._visit(node)
        if isinstance(node, VALUES):
            return self._hook(hook, node, visited, self._site(node, node))
        return visited

    def _token(self, owner: VariableScope) -> ast.expr:
        """An expression that distinguishes the variables of one call from those of another."""
        if owner.is_function:
            return ast.Name(f"{FRAME}{owner.number}", ast.Load())
        return ast.Constant(-(self._space * 1_000_000 + owner.number + 1))

    def _carried(self, name: str) -> VariableScope | None:
        owner = self._scopes.owner(self._scope, name)
        return owner if name in owner.carried else None


class ExpressionRewriter(HookInserter):
    """Rewrites expressions. The methods are those of `ast.NodeTransformer`, one for each kind of node."""

    # ruff: noqa: D102

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
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return cast(ast.expr, self.generic_visit(node))
        node.left, node.comparators = self._used(node.left), [self._used(c) for c in node.comparators]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._used(node.value, "deep")
        if node.format_spec is not None:
            node.format_spec = self._visit(node.format_spec)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        outer, self._scope = self._scope, self._scopes.of[node]
        node.body = self._visit(node.body)
        self._scope = outer
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self._visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self._visit(d) for d in arguments.kw_defaults]

    def _comprehension(self, node: ast.AST) -> ast.expr:
        outer, self._scope = self._scope, self._scopes.of[node]
        changed = self.generic_visit(node)
        self._scope = outer
        return cast(ast.expr, changed)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.target = self._visit(node.target)
        if not node.is_async:
            node.iter = self._used(node.iter, "items")
        node.ifs = [self._used(test, "truth") for test in node.ifs]
        return node
