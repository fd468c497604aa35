"""What kind of value an expression has, as far as arrays that stay on the ranks are concerned.

SCALAR: a number, text, None, a tuple of such, an open file: nothing that can hold an array. FRESH: made by
this expression (a number or a new array), so that no array of a parallel loop is part of it as long as nobody
hands it on. OTHER: anything. The rules say SCALAR or FRESH only where operators and functions are those of
Python and numpy; where the module's classes define operators of their own, results of operators are OTHER.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

from dlbrt.records import dataclass

from dlbc.ir.region import ModuleNames
from dlbc.ir.scopes import BUILTINS
from dlbc.library.methods import METADATA
from dlbc.library.row import Effect, ResultKind
from dlbc.library.table import gives_plain, is_library, is_new, lookup, methods_where, places_for_results

__all__ = [
    "KEPT_OUT",
    "READING",
    "Bindings",
    "Element",
    "Kind",
    "Values",
    "dotted_name",
    "pairs_of",
    "part_of",
]


class Kind(IntEnum):
    """Kinds of values; of several that a name may hold the greatest counts."""

    SCALAR = 0
    FRESH = 1
    OTHER = 2


#: A kind, or one for each part of a tuple.
Element: TypeAlias = Kind | tuple["Element", ...]

#: Methods that look at what they are called on, and give something new.
READING = methods_where(lambda row: row.is_new)
#: What gives arguments back or stores into them where it is given: results are not new then.
KEPT_OUT = frozenset({"out", "copy", "overwrite_input", "subok", "start", "initial", "default", "key"})


def dotted_name(node: ast.expr, world: ModuleNames) -> str:
    """The full name of a builtin or imported function, empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    if node.id in world.imports:
        return ".".join([world.imports[node.id], *reversed(parts)])
    if not parts and node.id in BUILTINS and world.builtin(node.id):
        return f"builtins.{node.id}"
    return ""


@dataclass(frozen=True)
class Values:
    """Kinds of expressions, given those of names."""

    world: ModuleNames
    lookup: Callable[[str], Kind]

    def kind(self, node: ast.expr | None) -> Kind:
        """The kind of an expression's value."""
        match node:
            case None | ast.Constant() | ast.JoinedStr():
                return Kind.SCALAR
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp():
                return self._operator(node)
            case ast.UnaryOp(op=ast.Not()):
                return Kind.SCALAR
            case ast.UnaryOp(operand=operand):
                return self._computed(self.kind(operand))
            case ast.BoolOp(values=values):
                return max(map(self.kind, values))
            case ast.IfExp(body=body, orelse=orelse):
                return max(self.kind(body), self.kind(orelse))
            case ast.Compare(left=left, comparators=others):
                return self._computed(max(map(self.kind, (left, *others))))
            case ast.NamedExpr(value=value):
                return self.kind(value)
            case ast.Tuple(elts=parts):
                return Kind.SCALAR if all(self.kind(p) is Kind.SCALAR for p in parts) else Kind.OTHER
            case ast.Subscript(value=value):
                return Kind.SCALAR if self.kind(value) is Kind.SCALAR else Kind.OTHER
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        return Kind.OTHER

    def element(self, node: ast.expr) -> Element:
        """The kind of what iterating gives."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return max(map(self.kind, parts), default=Kind.SCALAR)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return Kind.OTHER
            case ast.Call():
                return self._item_of_call(node)
        return Kind.SCALAR if self.kind(node) is Kind.SCALAR else Kind.OTHER

    def is_steady(self, node: ast.expr) -> bool:
        """Whether taking items from it looks into nothing that stays on the ranks."""
        match node:
            case ast.List() | ast.Tuple():
                return True
            case ast.Call(args=args, keywords=keywords):
                name = dotted_name(node.func, self.world)
                given = [*args, *(k.value for k in keywords)]
                seen = bool(name) and is_library(name) and all(map(self.is_steady, given))
                return seen or self.kind(node) is Kind.SCALAR
        return self.kind(node) is Kind.SCALAR

    def _item_of_call(self, node: ast.Call) -> Element:
        name = dotted_name(node.func, self.world)
        if name in ("itertools.count", "numpy.ndindex"):
            return Kind.SCALAR
        if not node.args or any(isinstance(a, ast.Starred) for a in node.args):
            return Kind.OTHER
        if name == "builtins.enumerate":
            return Kind.SCALAR, self.element(node.args[0])
        if name == "builtins.zip":
            return tuple(map(self.element, node.args))
        if name in ("numpy.arange", "numpy.linspace") or name.endswith(".trange"):
            return Kind.SCALAR
        if lookup(name).same_items or name.startswith("tqdm."):
            return self.element(node.args[0])
        return Kind.SCALAR if name == "builtins.range" else Kind.OTHER

    def _name(self, name: str) -> Kind:
        if name in self.world.imports:
            return Kind.SCALAR if is_library(self.world.imports[name]) else Kind.OTHER
        return self.lookup(name)

    def _computed(self, operands: Kind) -> Kind:
        """The result of an operator that gives something new."""
        if operands is Kind.SCALAR:
            return Kind.SCALAR
        return Kind.OTHER if self.world.hidden.implicit else Kind.FRESH

    def _operator(self, node: ast.BinOp) -> Kind:
        """Sums and repetitions of lists, unions of sets and dictionaries hold what their parts hold."""
        left, right = self.kind(node.left), self.kind(node.right)
        numeric = [k is not Kind.OTHER for k in (left, right)]
        match node.op:
            case ast.Add():
                new = any(numeric)
            case ast.Mult():
                new = all(numeric) or any(map(self._is_array, (node.left, node.right)))
            case ast.BitOr() | ast.BitAnd() | ast.BitXor():
                new = all(numeric)
            case _:
                new = True
        return self._computed(max(left, right)) if new else Kind.OTHER

    def _is_array(self, node: ast.expr) -> bool:
        """Whether an operand is no list: lists are not multiplied with floats and with what was computed."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float | complex)
            case ast.Subscript(slice=ast.Tuple()):
                return True
        return self.kind(node) is Kind.FRESH

    def _attribute(self, node: ast.Attribute) -> Kind:
        hidden = self.world.hidden
        if node.attr in METADATA and node.attr not in hidden.properties | hidden.values:
            return Kind.SCALAR
        full = dotted_name(node, self.world)
        if full:
            return Kind.SCALAR if is_library(full) else Kind.OTHER
        return Kind.SCALAR if self.kind(node.value) is Kind.SCALAR else Kind.OTHER

    def _call(self, node: ast.Call) -> Kind:
        name = dotted_name(node.func, self.world)
        row = lookup(name)
        keys = {k.arg for k in node.keywords}
        if None in keys or keys & KEPT_OUT or any(isinstance(a, ast.Starred) for a in node.args):
            return Kind.SCALAR if row.result is ResultKind.PLAIN else Kind.OTHER
        if not name:
            return self._method(node)
        if gives_plain(name):
            return Kind.SCALAR
        if name.startswith("random."):
            draw = lookup(name.removeprefix("random"))
            if draw.effect is Effect.DRAW and not draw.picks:
                return Kind.SCALAR
        kinds = [self.kind(a) for a in node.args]
        if row.result is ResultKind.COMPUTED:
            return self._computed(max(kinds, default=Kind.SCALAR))
        if name in ("builtins.min", "builtins.max"):
            return max(kinds) if len(kinds) > 1 else self._least(node.args)
        if name == "builtins.sum":
            return Kind.FRESH if len(kinds) == 1 else Kind.OTHER
        if all(kind is Kind.SCALAR for kind in kinds) and (row.rule or name == "builtins.slice"):
            return Kind.FRESH
        if is_new(name, node) or name.startswith("numpy.random."):
            stored = any(self.kind(a) is not Kind.SCALAR for a in places_for_results(name, node))
            return Kind.OTHER if stored else Kind.FRESH
        return Kind.OTHER

    def _least(self, args: list[ast.expr]) -> Kind:
        """What `min` and `max` give of one iterable: an item of it."""
        found = self.element(args[0]) if args else Kind.OTHER
        return found if isinstance(found, Kind) else Kind.OTHER

    def _method(self, node: ast.Call) -> Kind:
        if not isinstance(node.func, ast.Attribute) or node.func.attr in self.world.methods:
            return Kind.OTHER
        if self.kind(node.func.value) is Kind.SCALAR:
            row = lookup(f".{node.func.attr}")
            drawn = Kind.OTHER if row.picks else Kind.FRESH
            return drawn if row.effect is Effect.DRAW else Kind.SCALAR
        return Kind.FRESH if node.func.attr in READING else Kind.OTHER


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The parts of a target with those of its value, where both are written out and equally long."""
    match target, value:
        case (
            ast.Tuple(elts=ours) | ast.List(elts=ours),
            ast.Tuple(elts=theirs) | ast.List(elts=theirs),
        ) if len(ours) == len(theirs) and not any(isinstance(p, ast.Starred) for p in (*ours, *theirs)):
            return list(zip(ours, theirs, strict=True))
    return []


class Bindings:
    """What a stretch of code binds its names to, as expressions whose kinds are not yet known."""

    def __init__(self) -> None:
        self._found: dict[str, list[Callable[[Values], Kind]]] = {}
        #: From a name to those that it is passed on to as it is.
        self.flows: dict[str, set[str]] = {}

    def names(self) -> frozenset[str]:
        """All names that are bound."""
        return frozenset(self._found)

    def kind(self, name: str, values: Values) -> Kind:
        """The greatest kind of what the name is bound to."""
        return max((find(values) for find in self._found.get(name, ())), default=Kind.SCALAR)

    def add(self, name: str, find: Callable[[Values], Kind]) -> None:
        """One binding of a name."""
        self._found.setdefault(name, []).append(find)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """``target = value``, part by part where both have the same parts."""
        match target, value:
            case ast.Name(id=name), _:
                if isinstance(value, ast.Name):
                    self.flows.setdefault(value.id, set()).add(name)
                self.add(name, lambda values: values.kind(value))
            case _ if parts := pairs_of(target, value):
                for one, other in parts:
                    self.assign(one, other)
            case _:
                self.spread(target, lambda values: values.element(value))

    def spread(self, target: ast.expr, find: Callable[[Values], Element]) -> None:
        """Bind the parts of a target to the items of what ``find`` tells of."""
        match target:
            case ast.Name(id=name):
                self.add(name, lambda values: _whole(find(values)))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for number, part in enumerate(parts):
                    self.spread(part, lambda values, number=number: part_of(find(values), number))  # type: ignore[misc]
            case ast.Starred(value=value):
                self.spread(value, lambda _: Kind.OTHER)


def _whole(element: Element) -> Kind:
    if isinstance(element, Kind):
        return element
    return Kind.SCALAR if all(_whole(part) is Kind.SCALAR for part in element) else Kind.OTHER


def part_of(element: Element, number: int) -> Element:
    """The kind of one part of an item."""
    if isinstance(element, Kind):
        return element
    return element[number] if number < len(element) else Kind.OTHER
