"""Evaluate expressions to what they may be: the points-to part of `walk_code`.

Each name that the code binds itself has a `Value`; names from outside are the origins. Evaluating records
accesses, changes and calls on the way. Values only grow, so that repeating the walk ends.
"""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dlbc.ir.access import (
    FRESH,
    Access,
    AccessKind,
    Call,
    Change,
    ChangeKind,
    Facts,
    Origin,
    OriginKind,
    Origins,
    Subscript,
    Value,
)
from dlbc.ir.known_calls import (
    EFFECTIVE_BUILTINS,
    FORM_CALLS,
    FRESH_CALLS,
    FRESH_METHODS,
    HOLDERS,
    METADATA,
    PURE_PACKAGES,
    RANDOM_PACKAGES,
    VIEWS,
)
from dlbc.ir.region import Region
from dlbc.ir.subscripts import Subscripts
from dlbc.ir.uses import UseKind, bound_names, free_names, parameters_of, uses_of

__all__ = ["Evaluator", "extended"]

UNKNOWN = frozenset({Origin(OriginKind.UNKNOWN)})
CLOSURE = frozenset({Origin(OriginKind.CLOSURE)})
_BUILTINS = frozenset(dir(builtins))
_DEEPEST = 4
_HOLDER_OPTIONS = frozenset({"key", "default_factory", "reverse", "maxlen"})


class Evaluator(ABC):
    """Values of names and expressions in one region."""

    @abstractmethod
    def _statement(self, node: ast.stmt) -> None:
        """Walk one statement."""

    @abstractmethod
    def _assign(self, target: ast.expr, value: Value, source: ast.expr | None) -> None:
        """Bind or store ``value``, which ``source`` gave if it is known."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._subscripts = Subscripts(region)
        self._env = dict.fromkeys(region.own, FRESH)
        for name in region.given:
            origin = frozenset({Origin(OriginKind.ELEMENT, name)})
            self._env[name] = Value(origin, origin)
        for name in region.parameters:
            origin = frozenset({Origin(OriginKind.SHARED, name)})
            self._env[name] = Value(origin, origin)
        self._pool: Origins = frozenset()
        self._inner: list[ast.AST] = []
        self._tables: dict[ast.AST, dict[str, Value]] = {}
        self._hidden: dict[str, bool] = {}
        self._sure = True
        self._facts = Facts()

    def state(self) -> object:
        """What must stop growing."""
        return (dict(self._env), {k: dict(v) for k, v in self._tables.items()}, self._pool)

    def _bind(self, name: str, value: Value) -> None:
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                self._tables[scope][name] |= value
                return
        if name in self._env:
            self._env[name] |= value

    def _lookup(self, name: str) -> Value | None:
        """The value of an own name; None for a shared one."""
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                return self._tables[scope][name]
        return self._env.get(name)

    @contextmanager
    def _scope(self, node: ast.AST, names: dict[str, Value], integers: frozenset[str]) -> Iterator[None]:
        table = self._tables.setdefault(node, {})
        for name, value in names.items():
            table[name] = table.get(name, FRESH) | value
        hidden, self._hidden = self._hidden, self._hidden | {n: n in integers for n in names}
        self._inner.append(node)
        with self._unsure():
            yield
        self._inner.pop()
        self._hidden = hidden

    @contextmanager
    def _unsure(self) -> Iterator[None]:
        sure, self._sure = self._sure, False
        yield
        self._sure = sure

    def _closure(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> Value:
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        names = dict.fromkeys(bound_names(body), FRESH)
        if not isinstance(node, ast.ClassDef):
            names |= {p.arg: Value(UNKNOWN, UNKNOWN) for p in parameters_of(node)}
        with self._scope(node, names, frozenset()):
            results, self._facts.results = self._facts.results, []
            for part in body:
                self._value(part) if isinstance(part, ast.expr) else self._statement(part)  # type: ignore[arg-type]
            self._facts.results = results
        captures = any(self._lookup(name) is not None for name in free_names(node))
        return Value(CLOSURE, frozenset()) if captures else FRESH

    def _quietly(self, node: ast.expr) -> Value:
        facts, self._facts = self._facts, Facts()
        value = self._value(node)
        self._facts = facts
        return value

    def _union(self, nodes: Iterable[ast.expr | None]) -> Value:
        value = FRESH
        for node in nodes:
            value |= self._value(node)
        return value

    def _value(self, node: ast.AST | None) -> Value:
        match node:
            case None | ast.Constant() | ast.Slice(lower=None, upper=None, step=None):
                return FRESH
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._chain(node)
            case ast.Call():
                return self._call(node)
            case ast.BoolOp(values=[first, *rest]):
                value = self._value(first)
                with self._unsure():
                    return value | self._union(rest)
            case ast.IfExp(test=test, body=body, orelse=other):
                self._value(test)
                with self._unsure():
                    return self._union([body, other])
            case ast.BinOp(left=left, right=right):
                both = self._union([left, right])
                return Value(frozenset(), both.inner)
            case ast.UnaryOp() | ast.Compare() | ast.JoinedStr() | ast.FormattedValue() | ast.Slice():
                self._union(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
                return FRESH
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._union(parts).contained
            case ast.Dict(keys=keys, values=values):
                return self._union([*keys, *values]).contained
            case ast.Starred(value=inner):
                return self._value(inner).element
            case ast.NamedExpr(target=target, value=inner):
                value = self._value(inner)
                self._assign(target, value, inner)
                return value
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Lambda():
                self._union([*node.args.defaults, *node.args.kw_defaults])
                return self._closure(node)
            case ast.expr():
                self._union(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
                return Value(UNKNOWN, UNKNOWN)
        return FRESH

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Value:
        items = self._value(node.generators[0].iter).element
        own = {u.name: FRESH for g in node.generators for u in uses_of(g.target) if u.kind is UseKind.STORE}
        integers = frozenset(
            g.target.id
            for g in node.generators
            if isinstance(g.target, ast.Name) and self._subscripts.counts(g.iter)
        )
        with self._scope(node, own, integers):
            for position, generator in enumerate(node.generators):
                if position:
                    items = self._value(generator.iter).element
                self._assign(generator.target, items, None)
                self._union(generator.ifs)
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            value = self._union(parts).contained
        if isinstance(node, ast.GeneratorExp) and any(
            u.kind is UseKind.LOAD and self._lookup(u.name) is not None for u in uses_of(node)
        ):
            return Value(CLOSURE, value.inner)
        return value

    def _path(self, node: ast.expr) -> tuple[str, list[ast.expr], bool]:
        """The dotted name of the shared object that ``node`` subscripts, its brackets, and whether nothing
        else stands between; an empty name if the object is no shared one."""
        brackets: list[ast.expr] = []
        attributes: list[str] = []
        plain = True
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Subscript):
                brackets, node = [node.slice, *brackets], node.value
                if attributes:
                    plain = False
            elif isinstance(node, ast.Attribute):
                attributes, node = [node.attr, *attributes], node.value
            else:
                return "", [], False
        if self._lookup(node.id) is not None:
            return "", [], False
        return ".".join([node.id, *attributes]), brackets, plain and not set(attributes) & (VIEWS | METADATA)

    def _brackets(self, brackets: Iterable[ast.expr]) -> tuple[tuple[Subscript, ...], bool]:
        found: tuple[Subscript, ...] = ()
        open_ = True
        for bracket in brackets:
            if open_:
                axes, open_ = self._subscripts.read(bracket, self._hidden)
                found += axes
        return found, open_

    def _indices(self, node: ast.expr) -> None:
        """Evaluate what stands in the brackets of a chain."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Subscript):
                self._value(node.slice)
            node = node.value

    def _base(self, node: ast.expr) -> Value:
        """The value of what is stored into, without counting it as read."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._chain(node, read=False)
        return self._value(node)

    def _chain(self, node: ast.expr, read: bool = True) -> Value:
        if read:
            self._indices(node)
        name, _, _ = self._path(node)
        if name:
            root = name.partition(".")[0]
            if root in self._region.module.constant or self._builtin(root):
                return self._static(name)
            return self._shared(node, read)
        if isinstance(node, ast.Name):
            return self._lookup(node.id) or FRESH
        if isinstance(node, ast.Attribute):
            base = self._base(node.value)
            return FRESH if node.attr in METADATA else base.element
        if isinstance(node, ast.Subscript):
            base = self._base(node.value)
            axes, open_ = self._subscripts.read(node.slice, self._hidden)
            reach = base.outer | base.inner | (self._pool if not base.outer else frozenset())
            reach = frozenset(o for o in reach if o.kind is not OriginKind.CLOSURE) | (base.inner & CLOSURE)
            found = extended(reach, axes, open_)
            return Value(found, found)
        return self._value(node)

    def _builtin(self, name: str) -> bool:
        return self._region.module.builtin(name) and name in _BUILTINS

    def _static(self, name: str) -> Value:
        """A name of a module, function or class that stays global."""
        if (self._dotted(name) + ".").startswith(PURE_PACKAGES):
            return FRESH
        origin = frozenset({Origin(OriginKind.SHARED, name, open=False)})
        return Value(origin, origin)

    def _shared(self, node: ast.expr, read: bool) -> Value:
        """A chain that begins at a shared name; records the access."""
        parts: list[ast.Attribute | ast.Subscript] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            parts, node = [node, *parts], node.value
        assert isinstance(node, ast.Name)
        name, position = node.id, 0
        place: ast.expr = node
        while position < len(parts) and isinstance(part := parts[position], ast.Attribute):
            if part.attr in METADATA:
                return FRESH
            if part.attr in VIEWS:
                return self._found(name, (), part, read, closed=True)
            name, place, position = f"{name}.{part.attr}", part, position + 1
        brackets: list[ast.expr] = []
        while position < len(parts) and isinstance(bracket := parts[position], ast.Subscript):
            brackets, place, position = [*brackets, bracket.slice], bracket, position + 1
        subscripts, open_ = self._brackets(brackets)
        rest = parts[position:]
        if rest and isinstance(rest[0], ast.Attribute) and rest[0].attr in METADATA:
            self._found(name, subscripts, place, read, closed=True)
            return FRESH
        value = self._found(name, subscripts, place, read, not open_ or bool(rest))
        return Value(value.outer | UNKNOWN, value.inner | UNKNOWN) if rest else value

    def _found(
        self, name: str, subscripts: tuple[Subscript, ...], node: ast.expr, read: bool, closed: bool
    ) -> Value:
        if read:
            self._access(name, subscripts, AccessKind.READ, node)
        origin = frozenset({Origin(OriginKind.SHARED, name, subscripts, open=not closed)})
        return Value(origin, origin)

    def _dotted(self, name: str) -> str:
        root, _, rest = name.partition(".")
        if root in self._region.module.imports:
            return self._region.module.imports[root] + ("." + rest if rest else "")
        return f"builtins.{name}" if not rest and self._builtin(root) else name

    def _function(self, node: ast.expr, depth: int = 0) -> tuple[str, Value | None]:
        """What is called: its dotted name and, for a method, its receiver."""
        root = _root(node)
        module = self._region.module
        if root is not None and root in module.imports and root not in self._hidden:
            return self._dotted(ast.unparse(node)), None
        if isinstance(node, ast.Attribute):
            return "." + node.attr, self._value(node.value)
        if not isinstance(node, ast.Name):
            return "", self._value(node)
        if node.id in module.aliases and depth < _DEEPEST:
            return self._function(module.aliases[node.id], depth + 1)
        if self._lookup(node.id) is not None:
            return "", None
        if node.id in EFFECTIVE_BUILTINS and node.id not in module.functions:
            return f"builtins.{node.id}", None  # also where some other scope hides it
        if node.id in module.constant or self._builtin(node.id):
            return self._dotted(node.id), None
        return node.id, self._value(node)

    def _call(self, node: ast.Call) -> Value:
        function, receiver = self._function(node.func)
        arguments: list[tuple[str | int, Value, ast.expr]] = []
        look = self._form if function in FORM_CALLS else self._value
        arguments += ((position, look(argument), argument) for position, argument in enumerate(node.args))
        for keyword in node.keywords:
            arguments.append((keyword.arg or "**", self._value(keyword.value), keyword.value))
        self._facts.calls.append(Call(function, node, receiver, tuple(arguments)))
        return self._result(function, receiver, arguments, node)

    def _form(self, node: ast.expr) -> Value:
        """An argument of which the form is asked, not the data: a bare shared name is not read."""
        name, brackets, _ = self._path(node)
        return self._chain(node, read=False) if name and not brackets else self._value(node)

    def _result(
        self,
        function: str,
        receiver: Value | None,
        arguments: list[tuple[str | int, Value, ast.expr]],
        node: ast.Call,
    ) -> Value:
        given = FRESH
        for key, value, _ in arguments:
            if key not in _HOLDER_OPTIONS:
                given |= value
        if function in HOLDERS:
            return given.contained
        out = [v for k, v, _ in arguments if k == "out"]
        if out:
            return out[0]
        if function in FRESH_CALLS or function in self._region.fresh:
            return FRESH
        if function.startswith("."):
            if function[1:] in FRESH_METHODS:
                return Value(
                    frozenset(),
                    receiver.inner if receiver is not None and function == ".copy" else frozenset(),
                )
            if function == ".astype" and not node.keywords:
                return FRESH
        self._pool |= given.outer | given.inner
        reach = given | (receiver or FRESH)
        reach = reach | reach.element
        reach = Value(reach.outer - CLOSURE, reach.inner - CLOSURE)
        if function in self._region.module.classes:
            return reach.contained
        known = function.startswith(PURE_PACKAGES) and not function.startswith(RANDOM_PACKAGES)
        return reach if known else Value(reach.outer | UNKNOWN, reach.inner | UNKNOWN)

    def _access(
        self,
        name: str,
        subscripts: tuple[Subscript, ...],
        kind: AccessKind,
        node: ast.expr,
        in_place: bool = False,
    ) -> None:
        self._facts.accesses.append(Access(name, subscripts, kind, node, self._sure, in_place))

    def _change(
        self, origins: Origins, kind: ChangeKind, node: ast.expr | ast.stmt, detail: str = ""
    ) -> None:
        origins = frozenset(o for o in origins if o.kind is not OriginKind.CLOSURE)
        if origins:
            self._facts.changes.append(Change(origins, kind, node, detail))


def _root(node: ast.expr) -> str | None:
    """The name that a dotted name begins with; None for any other expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def extended(origins: Origins, axes: tuple[Subscript, ...], open_: bool = False) -> Origins:
    """The origins after one more bracket."""
    found = set()
    for origin in origins:
        longer = origin.open and len(origin.subscripts) < _DEEPEST and origin.kind is OriginKind.SHARED
        subscripts = (*origin.subscripts, *axes) if longer else origin.subscripts
        found.add(Origin(origin.kind, origin.name, subscripts, open_ and longer))
    return frozenset(found)
