"""Expand calls of the program's own functions: what they run, in terms of the names at the call.

Theory: virtual inline expansion (interprocedural side effects by substitution). A formal parameter that the
function does not bind again is replaced by its argument if that is a name, a constant or a chain of
attributes and subscripts; so is a local whose only definition is one. Any other argument is assigned to a
local first. Locals get names that no program has (``k@3``). So the walk of the loop body sees the callee's
stores, inner loops and conditions as if they stood at the call, through several levels, and ``f(a, a, i)`` is
what it is.

A function on the way to itself is not expanded, nor one whose arguments cannot be paired with its parameters;
such a call is treated as a whole.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dlbc.analysis.call_targets import CallTarget, CodePlace, Program, ProgramModule
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import BUILTINS
from dlbc.analysis.uses import every_node, is_chain, own_nodes, parameters_of, root_name, unparsed
from dlbc.diagnostics.diagnostic import RelatedPlace
from dlbc.ir.access_path import path_of
from dlbc.ir.region import Expansion

#: The most nodes that the expansions of one loop may have.
_MOST_NODES = 20_000

#: Parents under which a name is read as a number.
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Slice)
_COUNTING = frozenset({"range", "min", "max", "int", "abs"})


def expand_calls(context: AnalysisContext) -> dict[ast.AST, Expansion]:
    """The expansions of the calls and properties of a loop body, with those inside them.

    Code of functions that the body makes is left out.
    """
    if context.program is None:
        return {}
    nodes = list(own_nodes(context.body))
    inner = _bound_inside(nodes)
    place = CodePlace(context.program.file, context.loop.path, inner)
    expander = _Expander(context.program, place, context.names.temporaries | inner)
    for node in nodes:
        expander.take(node, node, place, ())
    return expander.found


def place_in_callee(node: ast.AST) -> tuple[RelatedPlace, ...]:
    """For code of an expanded call, which counts as standing at the call: the place where it stands."""
    known = node.__dict__.get("_dlbc_written")
    return () if known is None else (known,)


class _Expander:
    """Expansions at one loop; ``own``: the names that the loop body and scopes inside it bind."""

    def __init__(self, program: Program, loop: CodePlace, own: frozenset[str]) -> None:
        self._program, self._loop, self._own = program, loop, own
        self._numbers = itertools.count(1)
        self._left = _MOST_NODES
        self.found: dict[ast.AST, Expansion] = {}

    def take(self, node: ast.AST, original: ast.AST, place: CodePlace, stack: tuple[ast.AST, ...]) -> None:
        """Expand ``node`` if it is a call that can be; it stands at ``place`` as ``original``."""
        match node, original:
            case ast.Call(), ast.Call():
                target = self._program.target_of(original, place)
                given = node
                receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
                if unparsed(original.func) == "len" and target is not None:
                    receiver, given = node.args[0], ast.copy_location(ast.Call(node.func, [], []), node)
            case ast.Attribute(ctx=ast.Load()), ast.Attribute():
                target = self._program.property_of(original, place)
                given, receiver = ast.copy_location(ast.Call(node, [], []), node), node.value
            case _:
                return
        if target is None or target.function in stack or node in self.found:
            return
        guard = self._guard(target, receiver)
        arguments = None if guard is None else _paired(target, given, receiver)
        size = len(every_node(target.function))
        if guard is None or arguments is None or size > self._left:
            return
        self._left -= size
        self.found[node] = _Copier(self, target, node, arguments, stack, next(self._numbers)).expansion(guard)

    def _guard(self, target: CallTarget, receiver: ast.expr | None) -> str | None:
        """Under which condition the receiver has this method; None where that can only be seen later."""
        if not target.owner:
            return ""
        root = None if receiver is None else root_name(receiver)
        if receiver is None or root is None or root in self._own or not root.isidentifier():
            return None
        name = target.function.name
        taken = (
            f"type({unparsed(receiver)}).{name}.fget"
            if target.is_property
            else f"{unparsed(receiver)}.{name}"
        )
        return f'{taken}.__qualname__ == "{target.owner}.{name}"'

    def sets(self, module: ProgramModule, name: str) -> bool:
        """Whether the program may set a name of a module from outside (``helpers.WIDTH = 3``)."""
        return name in self._program.attributes_set(module)

    def is_own(self, module: ProgramModule) -> bool:
        return module is self._program.file

    def has(self, name: str, place: CodePlace) -> bool:
        """Whether a name means at the loop what it means at that place."""
        if (full := place.imported(name)) and not full.startswith("~"):
            return self._loop.imported(name) == full
        return self.is_own(place.module) and self._loop.bindings(name) == place.bindings(name)


def _paired(target: CallTarget, call: ast.Call, receiver: ast.expr | None) -> dict[str, ast.expr] | None:
    """The argument of each parameter; None where the text does not tell."""
    a = target.function.args
    formals = [p.arg for p in (*a.posonlyargs, *a.args)]
    given = [*([receiver] if target.bound and receiver is not None else []), *call.args]
    if len(given) > len(formals) or any(isinstance(g, ast.Starred) for g in given):
        return None
    pairs = dict(zip(formals, given, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in pairs:
            return None
        pairs[keyword.arg] = keyword.value
    defaults = dict(zip(formals[len(formals) - len(a.defaults) :], a.defaults, strict=True))
    defaults |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
    plain = {name: d for name, d in defaults.items() if _is_number(d)}
    pairs = plain | pairs
    return pairs if pairs.keys() == {p.arg for p in parameters_of(target.function)} else None


def _is_number(node: ast.expr) -> bool:
    """Whether it is a constant, perhaps with a sign."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


class _Copier:
    """Copies the statements of one function for one call."""

    def __init__(
        self,
        expander: _Expander,
        target: CallTarget,
        call: ast.AST,
        arguments: Mapping[str, ast.expr],
        stack: tuple[ast.AST, ...],
        number: int,
    ) -> None:
        function = target.function
        self._expander, self._target, self._call, self._number = expander, target, call, number
        self._stack = (*stack, function)
        nodes = [n for s in function.body for n in every_node(s)]
        self._place = CodePlace(target.module, target.module.path_to(function), _bound_inside(nodes))
        self._bound = Counter(_names_bound(nodes))
        self._scalars = _scalars(function)
        self._replaced = {n: a for n, a in arguments.items() if n not in self._bound and is_chain(a)}
        self._assigned = {n: a for n, a in arguments.items() if n not in self._replaced}
        self._locals = {n: f"{n}@{number}" for n in (*self._bound, *self._assigned)}
        self._outer: dict[str, str] = {}
        self._kept: set[str] = set()

    def expansion(self, guard: str) -> Expansion:
        """The function's statements, after those that assign arguments to locals."""
        body: list[ast.stmt] = []
        for name, value in self._assigned.items():
            target = self._made(ast.Name(self._locals[name], ast.Store()))
            body.append(self._made(ast.Assign([target], value)))
        statements = self._target.function.body
        body += [self._copy(s) for s in statements if not (_is_text(s) or self._defines(s))]
        return Expansion(
            function=self._target.function,
            body=tuple(body),
            value=_value_of(body),
            fields=self._target.module.names.implicit_calls.callable_attributes,
            own=frozenset(self._locals.values()),
            outer=self._outer,
            kept=frozenset(self._kept),
            guard=guard,
            by_name=self._target.by_name,
            of_file=self._expander.is_own(self._target.module),
        )

    def _defines(self, statement: ast.stmt) -> bool:
        """Whether a statement gives a local its only value, a chain that stays what it is: it is replaced."""
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = list(zip(targets, values, strict=False)) if len(targets) == len(values) else []
            case _:
                return False
        if not pairs or not all(self._is_definition(*pair) for pair in pairs):
            return False
        self._replaced |= {t.id: self._copy(v) for t, v in pairs if isinstance(t, ast.Name)}
        return True

    def _is_definition(self, target: ast.expr, value: ast.expr) -> bool:
        used = {n.id for n in every_node(value) if isinstance(n, ast.Name)}
        steady = all(u in self._replaced or u not in self._locals for u in used)
        once = isinstance(target, ast.Name) and self._bound[target.id] == 1 and self._is_first(target)
        return once and steady and is_chain(value)

    def _is_first(self, name: ast.Name) -> bool:
        """Whether no code before a name, which may run later, mentions the same."""
        nodes = (n for s in self._target.function.body for n in every_node(s))
        mentions = (n for n in nodes if isinstance(n, ast.Name) and n.id == name.id)
        return name is min(mentions, key=lambda n: (n.lineno, n.col_offset))

    def _made(self, node: Any) -> Any:
        """A node that counts as standing at the call."""
        return ast.copy_location(node, self._call)

    def _copy(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._copy(n) for n in node]
        if isinstance(node, ast.Name):
            return self._name(node)
        if not isinstance(node, ast.AST) or isinstance(node, ast.expr_context | ast.operator):
            return node
        new = type(node)(**{name: self._copy(value) for name, value in ast.iter_fields(node)})
        if isinstance(new, ast.arg):
            new.arg = self._locals.get(new.arg, new.arg)
        elif isinstance(new, ast.ExceptHandler) and new.name:
            new.name = self._locals[new.name]
        if hasattr(node, "lineno"):
            self._made(new)
            new.__dict__["_dlbc_written"] = self._written(node)
        self._expander.take(new, node, self._place, self._stack)
        return new

    def _written(self, node: Any) -> RelatedPlace:
        module = self._target.module
        source = None if self._expander.is_own(module) else module.module.source
        place = module.module.source.place_of(node)
        return RelatedPlace(place, f"in `{self._target.function.name}`", source)

    def _name(self, node: ast.Name) -> ast.expr:
        if node.id in self._replaced:
            return _again(self._replaced[node.id], self._expander.found)
        local = self._locals.get(node.id)
        new = self._free(node) if local is None else ast.Name(local, node.ctx)
        return ast.copy_location(new, self._call)

    def _free(self, node: ast.Name) -> ast.expr:
        """A name from around the function, as the caller has it."""
        name, place = node.id, self._place
        nodes, scope = place.bindings(name)
        if (not nodes and name in BUILTINS) or self._is_code(name, scope):
            return ast.Name(name, node.ctx)
        changed = self._expander.sets(place.module, name)
        known = None if changed else _literal(name, nodes, scope, place)
        if known is not None:
            return known
        if name in self._scalars and self._expander.has(name, place):
            self._kept.add(name)
            return ast.Name(name, node.ctx)
        shown = f"{name} of {place.module.name}" if place.module.name else f"global {name}"
        self._outer[shown] = place.imported(name)
        return ast.Name(shown, node.ctx)

    def _is_code(self, name: str, scope: ast.AST | None) -> bool:
        """Whether it is a function, class or import of the file that the loop has under the same name."""
        names = self._place.module.names
        code = scope is None and (name in names.constant or name in names.imports)
        return code and self._expander.has(name, self._place)


def _again(node: ast.expr, expansions: Mapping[ast.AST, Expansion]) -> ast.expr:
    """A copy of an access path, so that each mention is a node of its own; other expressions as they are."""
    if path_of(node) is None or any(part in expansions for part in ast.walk(node)):
        return node
    new = type(node)(**dict(ast.iter_fields(node)))  # not `copy`: nodes keep what was found in them
    if isinstance(new, ast.Attribute | ast.Subscript):
        new.value = _again(new.value, expansions)
    new.__dict__.update((key, node.__dict__[key]) for key in ("_dlbc_written",) if key in node.__dict__)
    return ast.copy_location(new, node)


def _literal(name: str, nodes: Any, scope: ast.AST | None, place: CodePlace) -> ast.expr | None:
    """The number that a name of a module is bound to, once and for all."""
    if scope is not None or len(nodes) != 1 or name in place.module.names.declared:
        return None
    for statement in place.module.module.tree.body:
        match statement:
            case ast.Assign(targets=[target], value=ast.Constant(value=value)) if target is nodes[0]:
                return ast.Constant(value) if isinstance(value, int | float) else None
    return None


def _bound_inside(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that comprehensions and lambdas bind for themselves."""
    targets = [n.target for n in nodes if isinstance(n, ast.comprehension)]
    names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return frozenset(names | {n.arg for n in nodes if isinstance(n, ast.arg)})


def _names_bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """All names that code binds, in scopes inside it too."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _scalars(function: ast.FunctionDef) -> frozenset[str]:
    """The names that a function uses in arithmetic and bounds alone."""
    every: set[ast.AST] = set()
    plain: set[ast.AST] = set()
    for node in every_node(function):
        if isinstance(node, ast.Name):
            every.add(node)
        children: list[ast.AST] = []
        if isinstance(node, _ARITHMETIC):
            children = list(ast.iter_child_nodes(node))
        elif isinstance(node, ast.Subscript):
            children = [node.slice, *(node.slice.elts if isinstance(node.slice, ast.Tuple) else [])]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COUNTING:
            children = list(node.args)
        plain.update(children)
    others = {n.id for n in every - plain if isinstance(n, ast.Name)}
    return frozenset(n.id for n in every if isinstance(n, ast.Name)) - others


def _is_text(node: ast.stmt) -> bool:
    """Whether it is a docstring, or another expression that does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _value_of(body: list[ast.stmt]) -> ast.expr | None:
    """What the statements return, if they are assignments to names and one `return` at the end."""
    *before, last = body
    plain = all(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in before)
    return last.value if plain and isinstance(last, ast.Return) else None
