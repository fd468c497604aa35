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

from dlbc.analysis.names import BUILTINS
from dlbc.ir.region import ModuleNames
from dlbc.library.methods import METADATA
from dlbc.library.row import EffectKind, ResultKind
from dlbc.library.table import gives_plain, is_library, is_new, lookup, methods_where, places_for_results


class ValueKind(IntEnum):
    """Kinds of values; of several that a name may hold the greatest counts."""

    SCALAR = 0
    FRESH = 1
    OTHER = 2


#: A kind, or one for each part of a tuple.
Element: TypeAlias = ValueKind | tuple["Element", ...]

#: Methods that look at what they are called on, and give something new.
READING = methods_where(lambda row: row.is_new)
#: What gives arguments back or stores into them where it is given: results are not new then.
KEPT_OUT = frozenset({"out", "copy", "overwrite_input", "subok", "start", "initial", "default", "key"})


def dotted_name(node: ast.expr, module_names: ModuleNames) -> str:
    """The full name of a builtin or imported function, empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    if node.id in module_names.imports:
        return ".".join([module_names.imports[node.id], *reversed(parts)])
    if not parts and node.id in BUILTINS and module_names.builtin(node.id):
        return f"builtins.{node.id}"
    return ""


@dataclass(frozen=True)
class KindInference:
    """Kinds of expressions, given those of names."""

    module_names: ModuleNames
    lookup: Callable[[str], ValueKind]

    def kind(self, node: ast.expr | None) -> ValueKind:
        """The kind of an expression's value."""
        match node:
            case None | ast.Constant() | ast.JoinedStr():
                return ValueKind.SCALAR
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp():
                return self._operator(node)
            case ast.UnaryOp(op=ast.Not()):
                return ValueKind.SCALAR
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
                return (
                    ValueKind.SCALAR
                    if all(self.kind(p) is ValueKind.SCALAR for p in parts)
                    else ValueKind.OTHER
                )
            case ast.Subscript(value=value):
                return ValueKind.SCALAR if self.kind(value) is ValueKind.SCALAR else ValueKind.OTHER
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        return ValueKind.OTHER

    def element(self, node: ast.expr) -> Element:
        """The kind of what iterating gives."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return max(map(self.kind, parts), default=ValueKind.SCALAR)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return ValueKind.OTHER
            case ast.Call():
                return self._item_of_call(node)
        return ValueKind.SCALAR if self.kind(node) is ValueKind.SCALAR else ValueKind.OTHER

    def is_steady(self, node: ast.expr) -> bool:
        """Whether taking items from it looks into nothing that stays on the ranks."""
        match node:
            case ast.List() | ast.Tuple():
                return True
            case ast.Call(args=args, keywords=keywords):
                name = dotted_name(node.func, self.module_names)
                given = [*args, *(k.value for k in keywords)]
                seen = bool(name) and is_library(name) and all(map(self.is_steady, given))
                return seen or self.kind(node) is ValueKind.SCALAR
        return self.kind(node) is ValueKind.SCALAR

    def _item_of_call(self, node: ast.Call) -> Element:
        name = dotted_name(node.func, self.module_names)
        if name in ("itertools.count", "numpy.ndindex"):
            return ValueKind.SCALAR
        if not node.args or any(isinstance(a, ast.Starred) for a in node.args):
            return ValueKind.OTHER
        if name == "builtins.enumerate":
            return ValueKind.SCALAR, self.element(node.args[0])
        if name == "builtins.zip":
            return tuple(map(self.element, node.args))
        if name in ("numpy.arange", "numpy.linspace") or name.endswith(".trange"):
            return ValueKind.SCALAR
        if lookup(name).same_items or name.startswith("tqdm."):
            return self.element(node.args[0])
        return ValueKind.SCALAR if name == "builtins.range" else ValueKind.OTHER

    def _name(self, name: str) -> ValueKind:
        if name in self.module_names.imports:
            return ValueKind.SCALAR if is_library(self.module_names.imports[name]) else ValueKind.OTHER
        return self.lookup(name)

    def _computed(self, operands: ValueKind) -> ValueKind:
        """The result of an operator that gives something new."""
        if operands is ValueKind.SCALAR:
            return ValueKind.SCALAR
        return ValueKind.OTHER if self.module_names.implicit_calls.special_methods else ValueKind.FRESH

    def _operator(self, node: ast.BinOp) -> ValueKind:
        """Sums and repetitions of lists, unions of sets and dictionaries hold what their parts hold."""
        left, right = self.kind(node.left), self.kind(node.right)
        numeric = [k is not ValueKind.OTHER for k in (left, right)]
        match node.op:
            case ast.Add():
                new = any(numeric)
            case ast.Mult():
                new = all(numeric) or any(map(self._is_array, (node.left, node.right)))
            case ast.BitOr() | ast.BitAnd() | ast.BitXor():
                new = all(numeric)
            case _:
                new = True
        return self._computed(max(left, right)) if new else ValueKind.OTHER

    def _is_array(self, node: ast.expr) -> bool:
        """Whether an operand is no list: lists are not multiplied with floats and with what was computed."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float | complex)
            case ast.Subscript(slice=ast.Tuple()):
                return True
        return self.kind(node) is ValueKind.FRESH

    def _attribute(self, node: ast.Attribute) -> ValueKind:
        hidden = self.module_names.implicit_calls
        if node.attr in METADATA and node.attr not in hidden.properties | hidden.callable_attributes:
            return ValueKind.SCALAR
        full = dotted_name(node, self.module_names)
        if full:
            return ValueKind.SCALAR if is_library(full) else ValueKind.OTHER
        return ValueKind.SCALAR if self.kind(node.value) is ValueKind.SCALAR else ValueKind.OTHER

    def _call(self, node: ast.Call) -> ValueKind:
        name = dotted_name(node.func, self.module_names)
        row = lookup(name)
        keys = {k.arg for k in node.keywords}
        if None in keys or keys & KEPT_OUT or any(isinstance(a, ast.Starred) for a in node.args):
            return ValueKind.SCALAR if row.result is ResultKind.PLAIN else ValueKind.OTHER
        if not name:
            return self._method(node)
        if gives_plain(name):
            return ValueKind.SCALAR
        if name.startswith("random."):
            draw = lookup(name.removeprefix("random"))
            if draw.effect is EffectKind.DRAW and not draw.picks:
                return ValueKind.SCALAR
        kinds = [self.kind(a) for a in node.args]
        if row.result is ResultKind.COMPUTED:
            return self._computed(max(kinds, default=ValueKind.SCALAR))
        if name in ("builtins.min", "builtins.max"):
            return max(kinds) if len(kinds) > 1 else self._least(node.args)
        if name == "builtins.sum":
            return ValueKind.FRESH if len(kinds) == 1 else ValueKind.OTHER
        if all(kind is ValueKind.SCALAR for kind in kinds) and (row.rule or name == "builtins.slice"):
            return ValueKind.FRESH
        if is_new(name, node) or name.startswith("numpy.random."):
            stored = any(self.kind(a) is not ValueKind.SCALAR for a in places_for_results(name, node))
            return ValueKind.OTHER if stored else ValueKind.FRESH
        return ValueKind.OTHER

    def _least(self, args: list[ast.expr]) -> ValueKind:
        """What `min` and `max` give of one iterable: an item of it."""
        found = self.element(args[0]) if args else ValueKind.OTHER
        return found if isinstance(found, ValueKind) else ValueKind.OTHER

    def _method(self, node: ast.Call) -> ValueKind:
        if not isinstance(node.func, ast.Attribute) or node.func.attr in self.module_names.methods:
            return ValueKind.OTHER
        if self.kind(node.func.value) is ValueKind.SCALAR:
            row = lookup(f".{node.func.attr}")
            drawn = ValueKind.OTHER if row.picks else ValueKind.FRESH
            return drawn if row.effect is EffectKind.DRAW else ValueKind.SCALAR
        return ValueKind.FRESH if node.func.attr in READING else ValueKind.OTHER


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The parts of a target with those of its value, where both are written out and equally long."""
    match target, value:
        case (ast.Tuple(elts=ours) | ast.List(elts=ours), ast.Tuple(elts=theirs) | ast.List(elts=theirs)) if (
            len(ours) == len(theirs) and not any(isinstance(p, ast.Starred) for p in (*ours, *theirs))
        ):
            return list(zip(ours, theirs, strict=True))
    return []


class Bindings:
    """What a stretch of code binds its names to, as expressions whose kinds are not yet known."""

    def __init__(self) -> None:
        self._found: dict[str, list[Callable[[KindInference], ValueKind]]] = {}
        #: From a name to those that it is passed on to as it is.
        self.flows: dict[str, set[str]] = {}

    def names(self) -> frozenset[str]:
        """All names that are bound."""
        return frozenset(self._found)

    def kind(self, name: str, values: KindInference) -> ValueKind:
        """The greatest kind of what the name is bound to."""
        return max((find(values) for find in self._found.get(name, ())), default=ValueKind.SCALAR)

    def add(self, name: str, find: Callable[[KindInference], ValueKind]) -> None:
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

    def spread(self, target: ast.expr, find: Callable[[KindInference], Element]) -> None:
        """Bind the parts of a target to the items of what ``find`` tells of."""
        match target:
            case ast.Name(id=name):
                self.add(name, lambda values: _whole(find(values)))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for number, part in enumerate(parts):
                    self.spread(part, lambda values, number=number: part_of(find(values), number))  # type: ignore[misc]
            case ast.Starred(value=value):
                self.spread(value, lambda _: ValueKind.OTHER)


def _whole(element: Element) -> ValueKind:
    if isinstance(element, ValueKind):
        return element
    return ValueKind.SCALAR if all(_whole(part) is ValueKind.SCALAR for part in element) else ValueKind.OTHER


def part_of(element: Element, number: int) -> Element:
    """The kind of one part of an item."""
    if isinstance(element, ValueKind):
        return element
    return element[number] if number < len(element) else ValueKind.OTHER
