"""Subscripts, bounds and conditions as integer forms.

A name that the code binds has the form that the walk knows for it at that place, if any (``forms``); names of
inner scopes hide other names (``hidden``); every other name comes from outside and is the same in every
iteration. Which names and expressions surely hold one integer is a greatest fixpoint over definitions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from dlbc.algebra.integer_form import (
    Apply,
    Comparison,
    Condition,
    IntegerForm,
    Junction,
    Operator,
    VariableKind,
    negated,
)
from dlbc.analysis.operators import combined, compared
from dlbc.analysis.uses import UseKind, every_node, own_nodes, root_name, unparsed, uses_of
from dlbc.ir.access import Subscript, SupposedGuard
from dlbc.ir.region import CodeRegion, Expansion, ModuleNames

_BITWISE = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, *_BITWISE)
_CHOICES = {"min": Operator.MINIMUM, "max": Operator.MAXIMUM}

_T = TypeVar("_T")
Forms = Mapping[str, IntegerForm]
#: Names of inner scopes, and whether they are integers.
InnerNames = Mapping[str, bool]


class SubscriptReader:
    """Reads the expressions of one region as integer forms."""

    def __init__(self, region: CodeRegion) -> None:
        self._region = region
        #: Names from outside that are integers, because some `range` around takes them.
        self._range_names = region.range_arguments
        #: Names from outside that may hold anything and are taken for integers; None: none may be.
        self._supposed: set[str] | None = None
        definitions = _definitions(region)
        self._names = {n for n in definitions if n in region.own - region.live_in}
        changed = True
        while changed:
            sure = {n for n in self._names if all(map(self._is_one, definitions[n]))}
            changed, self._names = sure != self._names, sure

    def is_integer(self, node: ast.expr, hidden: InnerNames) -> bool:
        """Whether ``node`` surely is one integer."""
        match node:
            case ast.Call() | ast.Attribute() if node in self._region.expansions:
                given = self._region.expansions[node].value
                return given is not None and self.is_integer(given, hidden)
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                if name in hidden:
                    return hidden[name]
                outside = name in self._region.integers or name in self._range_names
                return name == self._region.index or name in self._names or outside
            case ast.BinOp(left=left, right=right, op=op):
                both = self.is_integer(left, hidden) and self.is_integer(right, hidden)
                return isinstance(op, _ARITHMETIC) and both
            case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
                return self.is_integer(operand, hidden)
            case ast.Call(func=ast.Name(id="len" | "int" as name)):
                return self._builtin(name)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_] as args):
                return self._builtin(name) and all(self.is_integer(a, hidden) for a in args)
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp()):
                return True
            case ast.Attribute(attr="size" | "ndim"):
                return True
            case ast.Attribute():
                return unparsed(node) in self._range_names
        return False

    @contextmanager
    def within(self, iterable: ast.expr) -> Iterator[None]:
        """In the body of a loop over this: the arguments of its `range` are integers, or nothing runs."""
        before = self._range_names
        match iterable:
            case ast.Call(func=ast.Name(id="range"), args=args) if self._builtin("range"):
                self._range_names |= {
                    n for n in range_operands(args) if n.partition(".")[0] not in self._region.own
                }
        yield
        self._range_names = before

    def counts(self, iterable: ast.expr) -> bool:
        """Whether iterating it gives integers: a `range`, also reversed."""
        return _counts(iterable, self._region)

    def _is_one(self, definition: ast.expr | bool) -> bool:
        return definition if isinstance(definition, bool) else self.is_integer(definition, {})

    def _builtin(self, name: str) -> bool:
        return self._region.module.builtin(name)

    def read(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> tuple[tuple[Subscript, ...], bool]:
        """The axes of one bracket, and whether a further bracket continues with the next axis."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        axes: list[Subscript] = []
        for part in parts:
            axis = self._axis(part, forms, hidden)
            if axis is not None:
                axes.append(axis)
            if axis is None or not (axis.integer or isinstance(part, ast.Slice)):
                return tuple(axes), False
        return tuple(axes), not any(isinstance(part, ast.Slice) for part in parts)

    def _axis(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> Subscript | None:
        if isinstance(node, ast.Slice):
            return self._slice(node, forms, hidden)
        if isinstance(node, ast.Starred) or (isinstance(node, ast.Constant) and type(node.value) is not int):
            return None
        form = self.form(node, forms, hidden)
        return Subscript(self._text(node, form), form, integer=self.is_integer(node, hidden))

    def _slice(self, node: ast.Slice, forms: Forms, hidden: InnerNames) -> Subscript:
        full = node.lower is None and node.upper is None and node.step is None
        step = 1 if node.step is None else _literal(node.step)
        given = (node.lower, node.upper)
        start, stop = (None if end is None else self.form(end, forms, hidden) for end in given)
        known = all(end is None or form is not None for end, form in zip(given, (start, stop), strict=True))
        span = (start, stop, step) if known and step is not None and step > 0 else None
        return Subscript(unparsed(node), full=full, span=span)

    def form(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        """``node`` as an integer form, or None."""
        match node:
            case ast.Call() | ast.Attribute() if node in self._region.expansions:
                return self._returned(self._region.expansions[node], forms, hidden)
            case ast.Name(id=name) if name in self._region.outer:
                return None
            case ast.Constant(value=value):
                return IntegerForm.literal(value) if type(value) is int else None
            case ast.Name(id=name):
                if name in forms:
                    return forms[name]
                return None if name in hidden or name in self._region.own else IntegerForm.parameter(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                form = self.form(operand, forms, hidden)
                return form if form is None or isinstance(op, ast.UAdd) else -form
            case ast.BinOp(left=left, op=op, right=right):
                return combined(op, self.form(left, forms, hidden), self.form(right, forms, hidden))
            case ast.Call(func=ast.Name(id="int"), args=[argument], keywords=[]) if self._builtin("int"):
                return self._whole_part(node, argument, forms, hidden)
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args, keywords=[]) if len(args) > 1:
                parts = all_known(self.form(a, forms, hidden) for a in args)
                chosen = (
                    IntegerForm.of(Apply(_CHOICES[name], parts)) if parts and self._builtin(name) else None
                )
                return None if chosen is None or chosen.is_large else chosen
            case ast.Subscript(value=value, slice=inside) if root_name(value) and not is_shape(value):
                return self._element(value, inside, forms, hidden)
        return IntegerForm.parameter(unparsed(node)) if self._is_outside_figure(node, hidden) else None

    def _returned(self, expansion: Expansion, forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        """What an expanded call gives, if one expression does."""
        if expansion.value is None:
            return None
        known = {name: form for name, form in forms.items() if name not in expansion.own}
        for statement in expansion.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    form = self.form(value, known, hidden)
                    known = {n: f for n, f in known.items() if n != name}
                    known |= {} if form is None else {name: form}
        return self.form(expansion.value, known, hidden)

    def _whole_part(
        self, node: ast.Call, argument: ast.expr, forms: Forms, hidden: InnerNames
    ) -> IntegerForm | None:
        """``int(argument)``; an argument that is not an integer has another value than its whole part."""
        form = self.form(argument, forms, hidden)
        if form is None or self.is_integer(argument, hidden):
            return form
        if isinstance(argument, ast.Name) and self._outside(argument, hidden):
            return IntegerForm.parameter(unparsed(node))
        return form if isinstance(argument, ast.Subscript) and form.depends_on() else None

    def _element(
        self, array: ast.expr, inside: ast.expr, forms: Forms, hidden: InnerNames
    ) -> IntegerForm | None:
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        operands = all_known(self.form(part, forms, hidden) for part in parts)
        if operands is None or not self._outside(array, hidden):
            return None
        element = IntegerForm.of(Apply(Operator.ELEMENT, operands, unparsed(array)))
        return None if element.is_large else element

    def condition(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> Condition | None:
        """A test over integers, or None if some part of it is not one."""
        parts: tuple[Condition, ...] | None
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.condition(operand, forms, hidden)
                return None if inner is None else negated(inner)
            case ast.BoolOp(op=op, values=values):
                parts = all_known(self.condition(v, forms, hidden) for v in values)
                operator = "and" if isinstance(op, ast.And) else "or"
                return None if parts is None else Junction(operator, parts)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                wholes = [self._whole(side, forms, hidden) for side in (left, *rights)]
                parts = all_known(map(compared, ops, wholes, wholes[1:]))
                return None if parts is None else Junction("and", parts)
        form = self._whole(node, forms, hidden)
        return None if form is None else Comparison(form, "!=")

    def supposed(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> SupposedGuard | None:
        """A test that is one over integers if some names from outside hold integers."""
        self._supposed = set()
        condition = self.condition(node, forms, hidden)
        names, self._supposed = frozenset(self._supposed), None
        return SupposedGuard(condition, names) if condition is not None and names else None

    def _whole(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        """A side of a comparison if it surely is an integer; integer reasoning would be wrong for others."""
        form = self.form(node, forms, hidden)
        if form is None or form.elements:
            return None
        outside = {v.name for v in form.variables if v.kind is VariableKind.PARAMETER}
        unsure = {name for name in outside if not self.is_whole(name)}
        if not unsure:
            return form
        if self._supposed is None or not all(map(str.isidentifier, unsure)):
            return None  # to look at an attribute may have effects
        self._supposed |= unsure
        return form

    def is_whole(self, name: str) -> bool:
        """Whether a name from outside, or a length such as ``len(x)``, surely is an integer."""
        try:
            node = ast.parse(name, mode="eval").body
        except SyntaxError:
            return False
        return self.is_integer(node, {})

    def _is_outside_figure(self, node: ast.expr, hidden: InnerNames) -> bool:
        """Whether ``node`` is a dotted name from outside, or a length of an array from outside."""
        match node:
            case ast.Attribute(value=value):
                return root_name(node) is not None and self._outside(value, hidden)
            case ast.Subscript(value=ast.Attribute(value=value), slice=ast.Constant() | ast.UnaryOp()):
                return is_shape(node.value) and bool(root_name(value)) and self._outside(value, hidden)
            case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
                return self._builtin("len") and bool(root_name(argument)) and self._outside(argument, hidden)
        return False

    def _outside(self, node: ast.expr, hidden: InnerNames) -> bool:
        names = {u.name for u in uses_of(node)}
        return not names & (self._region.own | hidden.keys() | self._region.outer)

    def _text(self, node: ast.expr, form: IntegerForm | None) -> str:
        """The text of the user, or of the form where the user's text contains temporaries."""
        own = {u.name for u in uses_of(node)} & self._region.own
        plain = own <= {self._region.index} and self._region.expansions.keys().isdisjoint(every_node(node))
        return unparsed(node) if form is None or plain else str(form)


class NoSubscripts(SubscriptReader):
    """Reads nothing: parts of an object count as the object.

    Each bracket multiplies the parts that a name may lead to: a walk that asks for names alone does without.
    """

    def __init__(self, region: CodeRegion) -> None:
        self._region = region

    @contextmanager
    def within(self, iterable: ast.expr) -> Iterator[None]:  # noqa: ARG002
        """No integers are known."""
        yield

    def counts(self, iterable: ast.expr) -> bool:  # noqa: ARG002
        """No integers are known."""
        return False

    def read(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> tuple[tuple[Subscript, ...], bool]:  # noqa: ARG002
        """No axes, and none after them."""
        return (), False

    def form(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> None:
        """None: nothing is known."""

    def condition(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> None:
        """None: nothing is known."""

    def supposed(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> None:
        """None: nothing is known."""


def _definitions(region: CodeRegion) -> dict[str, list[ast.expr | bool]]:
    """All bindings of each own name: an expression, or whether the name surely becomes an integer."""
    definitions: dict[str, list[ast.expr | bool]] = {}
    known: dict[ast.AST, ast.expr | bool] = {}
    for node in own_nodes(region.code):
        match node:
            case ast.Assign(targets=targets, value=value):
                known |= dict.fromkeys(targets, value)
                for target in targets:
                    known |= dict(zip(elements_of(target), parts_of(value, region.module), strict=False))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                known[target] = value
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                known[target] = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            case ast.For(target=ast.Name() as target, iter=iterable):
                known[target] = _counts(iterable, region)
            case ast.For(
                target=ast.Tuple(elts=[ast.Name() as target, _]), iter=ast.Call(func=ast.Name(id="enumerate"))
            ):
                known[target] = region.module.builtin("enumerate")
    for statement in region.code:
        for use in uses_of(statement):
            if use.kind is UseKind.STORE:
                definitions.setdefault(use.name, []).append(known.get(use.node, False))
    return definitions


def range_operands(args: Iterable[ast.expr]) -> frozenset[str]:
    """The names in the arguments of a `range` that must be integers for the arguments to be integers."""
    return frozenset(name for argument in args for name in _operands(argument))


def _operands(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute() if root_name(node) is not None:
            yield unparsed(node)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            yield from _operands(left)
            yield from _operands(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _operands(operand)


def elements_of(target: ast.expr) -> list[ast.expr]:
    """The targets in a tuple or list of targets."""
    return target.elts if isinstance(target, ast.Tuple | ast.List) else []


def parts_of(value: ast.expr, module: ModuleNames) -> list[ast.expr]:
    """The expressions for the items of a tuple or list, and for the two results of `divmod`."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [] if any(isinstance(p, ast.Starred) for p in parts) else parts
        case ast.Call(func=ast.Name(id="divmod"), args=[left, right]) if module.builtin("divmod"):
            results = (ast.BinOp(left, op, right) for op in (ast.FloorDiv(), ast.Mod()))
            return [ast.copy_location(node, value) for node in results]
    return []


def _counts(node: ast.expr, region: CodeRegion) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return region.module.builtin("range")
        case ast.Call(func=ast.Name(id="reversed"), args=[argument]):
            return region.module.builtin("reversed") and _counts(argument, region)
    return False


def _literal(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if type(value) is int:
            return -value
    return None


def all_known(found: Iterable[_T | None]) -> tuple[_T, ...] | None:
    """All that was looked for, or None if one of it was not found."""
    given = tuple(found)
    known = tuple(one for one in given if one is not None)
    return known if len(known) == len(given) else None


def is_shape(node: ast.expr) -> bool:
    """Whether it is the shape of an array, by the name of the attribute."""
    return isinstance(node, ast.Attribute) and node.attr == "shape"
