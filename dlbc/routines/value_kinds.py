"""The kind of value that an expression has, as far as arrays that stay on the ranks are concerned.

SCALAR: a number, text, None, a tuple of such, an open file: nothing that can hold an array. FRESH: made by
this expression (a number or a new array), so that no array of a parallel loop is part of it as long as it
does not escape. OTHER: anything. The rules say SCALAR or FRESH only for operators and functions of Python and
numpy; if classes of the module define operators, results of operators are OTHER.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

from dlbrt.records import dataclass

from dlbc.analysis.names import full_name
from dlbc.ir.region import ModuleNames
from dlbc.library.methods import METADATA
from dlbc.library.row import EffectKind, ResultKind
from dlbc.library.table import gives_plain, is_library, is_new, lookup, methods_where, places_for_results


class ValueKind(IntEnum):
    """Kinds of values; a name that may hold several kinds has the greatest."""

    SCALAR = 0
    FRESH = 1
    OTHER = 2


#: A kind, or one for each part of a tuple.
Element: TypeAlias = ValueKind | tuple["Element", ...]

#: Methods that only read their receiver, and give something new.
READING = methods_where(lambda row: row.is_new)
#: Keywords with which a function may return an argument or store into it, so that its result is not new.
KEPT_OUT = frozenset(
    {
        *("out", "output", "copy", "subok", "start", "initial", "default", "key"),
        *(f"overwrite_{name}" for name in ("input", "data", "a", "b", "x")),
    }
)


def _scalar_if(condition: bool) -> ValueKind:
    return ValueKind.SCALAR if condition else ValueKind.OTHER


@dataclass(frozen=True)
class KindInference:
    """Infers the kinds of expressions from the kinds of names, which ``lookup`` gives."""

    module: ModuleNames
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
                return _scalar_if(all(map(self.is_scalar, parts)))
            case ast.Subscript(value=value):
                return _scalar_if(self.is_scalar(value))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        return ValueKind.OTHER

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether an expression's value can hold no array."""
        return self.kind(node) is ValueKind.SCALAR

    def element(self, node: ast.expr) -> Element:
        """The kind of the items that iterating gives."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return max(map(self.kind, parts), default=ValueKind.SCALAR)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return ValueKind.OTHER
            case ast.Call():
                return self._item_of_call(node)
        return _scalar_if(self.is_scalar(node))

    def is_steady(self, node: ast.expr) -> bool:
        """Whether taking items from it reads nothing that stays on the ranks."""
        match node:
            case ast.List() | ast.Tuple():
                return True
            case ast.Call(args=args, keywords=keywords):
                name = full_name(node.func, self.module)
                given = [*args, *(k.value for k in keywords)]
                if name and is_library(name) and all(map(self.is_steady, given)):
                    return True
        return self.is_scalar(node)

    def _item_of_call(self, node: ast.Call) -> Element:
        name = full_name(node.func, self.module)
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
        return _scalar_if(name == "builtins.range")

    def _name(self, name: str) -> ValueKind:
        if name in self.module.imports:
            return _scalar_if(is_library(self.module.imports[name]))
        return self.lookup(name)

    def _computed(self, operands: ValueKind) -> ValueKind:
        """The result of an operator that gives something new."""
        if operands is ValueKind.SCALAR:
            return ValueKind.SCALAR
        return ValueKind.OTHER if self.module.implicit_calls.special_methods else ValueKind.FRESH

    def _operator(self, node: ast.BinOp) -> ValueKind:
        """Sums and repetitions of lists, and unions of sets and dictionaries, hold what their parts hold."""
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
        """Whether an operand is not a list: lists are not multiplied by floats or by computed values."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float | complex)
            case ast.Subscript(slice=ast.Tuple()):
                return True
        return self.kind(node) is ValueKind.FRESH

    def _attribute(self, node: ast.Attribute) -> ValueKind:
        hidden = self.module.implicit_calls
        if node.attr in METADATA and node.attr not in hidden.properties | hidden.callable_attributes:
            return ValueKind.SCALAR
        full = full_name(node, self.module)
        return _scalar_if(is_library(full) if full else self.is_scalar(node.value))

    def _call(self, node: ast.Call) -> ValueKind:
        name = full_name(node.func, self.module)
        row = lookup(name)
        keys = {k.arg for k in node.keywords}
        if None in keys or keys & KEPT_OUT or any(isinstance(a, ast.Starred) for a in node.args):
            return _scalar_if(row.result is ResultKind.PLAIN)
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
            stores = not all(map(self.is_scalar, places_for_results(name, node)))
            return ValueKind.OTHER if stores else ValueKind.FRESH
        return ValueKind.OTHER

    def _least(self, args: list[ast.expr]) -> ValueKind:
        """The kind of `min` and `max` of one iterable: that of its items."""
        item = self.element(args[0]) if args else ValueKind.OTHER
        return item if isinstance(item, ValueKind) else ValueKind.OTHER

    def _method(self, node: ast.Call) -> ValueKind:
        if not isinstance(node.func, ast.Attribute) or node.func.attr in self.module.methods:
            return ValueKind.OTHER
        if self.is_scalar(node.func.value):
            row = lookup(f".{node.func.attr}")
            drawn = ValueKind.OTHER if row.picks else ValueKind.FRESH
            return drawn if row.effect is EffectKind.DRAW else ValueKind.SCALAR
        return ValueKind.FRESH if node.func.attr in READING else ValueKind.OTHER


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The parts of a target with those of its value, if both are written out and equally long."""
    match target, value:
        case (ast.Tuple(elts=ours) | ast.List(elts=ours), ast.Tuple(elts=theirs) | ast.List(elts=theirs)) if (
            len(ours) == len(theirs) and not any(isinstance(p, ast.Starred) for p in (*ours, *theirs))
        ):
            return list(zip(ours, theirs, strict=True))
    return []


class Bindings:
    """What code binds its names to, as expressions whose kinds are not yet known."""

    def __init__(self) -> None:
        self._bindings: dict[str, list[Callable[[KindInference], ValueKind]]] = {}
        #: From a name to the names that its value is assigned to.
        self.flows: dict[str, set[str]] = {}

    def names(self) -> frozenset[str]:
        """All names that are bound."""
        return frozenset(self._bindings)

    def kind(self, name: str, values: KindInference) -> ValueKind:
        """The greatest kind of the values that the name is bound to."""
        return max((find(values) for find in self._bindings.get(name, ())), default=ValueKind.SCALAR)

    def add(self, name: str, find: Callable[[KindInference], ValueKind]) -> None:
        """One binding of a name."""
        self._bindings.setdefault(name, []).append(find)

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
        """Bind the parts of a target to the parts of the items whose kind ``find`` gives."""
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
    return _scalar_if(all(_whole(part) is ValueKind.SCALAR for part in element))


def part_of(element: Element, number: int) -> Element:
    """The kind of one part of an item."""
    if isinstance(element, ValueKind):
        return element
    return element[number] if number < len(element) else ValueKind.OTHER
