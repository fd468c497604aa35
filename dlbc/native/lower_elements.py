"""Elements of arrays: subscripts that are proved in range before a chunk, or checked where they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.native.extents import Linear
from dlbc.native.facts import (
    NotCompilableError,
    array_of,
    helper,
    literal_of,
    subscripts_of,
    table_of,
)
from dlbc.native.lowering_records import Level
from dlbc.native.lowering_state import LoweringState
from dlbc.native.scalars import Kind, Scalar, Sign, integer


class ElementLowering(LoweringState):
    """Lowers subscripts."""

    def _element(self, node: ast.Subscript) -> tuple[ast.expr, Scalar]:
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=int())
            ) if (array := self._shape_of(owner)) is not None:
                return ast.Subscript(
                    ast.Attribute(array, "shape", ast.Load()), node.slice, ast.Load()
                ), integer(degree=1)
        if (found := self._of_constant(node)) is not None:
            return found
        place = self._place(node, ast.Load())
        if local := self._local(array_of(node)):
            return place, self._element_of(local)
        return place, self._given_element(self._array(array_of(node)))

    def _of_constant(self, node: ast.Subscript) -> tuple[ast.expr, Scalar] | None:
        """A number out of a tuple, or tuple of tuples, that the text has; None for anything else."""
        base, subscripts = array_of(node), subscripts_of(node)
        table = None
        if isinstance(base, ast.Name) and base.id not in self._locals:
            table = self._facts.constants(base.id)
        columns = None if table is None else table_of(table)
        if table is None or columns is None:
            return None
        nested = isinstance(table, ast.Tuple) and isinstance(table.elts[0], ast.Tuple)
        lengths = [len(columns[0]), len(columns)][: 1 + nested]
        if len(subscripts) != len(lengths) or any(isinstance(n, ast.Tuple) for n in _keys(node)):
            return None
        found = table
        for subscript, length in zip(subscripts, lengths, strict=True):
            value, kind = self.expression(subscript)
            if kind.kind not in (Kind.INTEGER, Kind.ANY):
                raise NotCompilableError(f"the subscript {ast.unparse(subscript)} is no integer", subscript)
            if not self._is_in_range(Linear.literal(length), subscript):
                value = self._named(value, "at")
                self._check(helper("outside", value, ast.Constant(length)))
            found = ast.Subscript(found, value, ast.Load())
        return found, self._kind_of([each for column in columns for each in column], node)

    def _kind_of(self, values: Sequence[ast.expr], node: ast.AST) -> Scalar:
        """What is known of a number that is one of several in the text."""
        found = [literal_of(each) for each in values]
        if all(type(each) is float for each in found):
            return Scalar(Kind.INEXACT)
        whole = [each for each in found if type(each) is int]
        if len(whole) < len(found):
            raise NotCompilableError("these are no numbers of one type", node)
        kind = integer(extra=max(each.bit_length() for each in whole))
        return replace(kind, sign=Sign.NOT_NEGATIVE) if min(whole) >= 0 else kind

    def _shape_of(self, owner: ast.expr) -> ast.expr | None:
        """The array whose shape is looked up, as compiled code knows it; None if it is none."""
        if array := self._array(owner):
            self._asked.shaped.add(array)
            self._use(array)
            return self._array_node(owner)
        known = isinstance(owner, ast.Name) and owner.id in self._facts.parameters.values()
        return owner if known or self._local(owner) else None

    def _place(self, node: ast.Subscript, context: ast.expr_context) -> ast.expr:
        """An element with subscripts that are in range, by a condition or a check."""
        base, subscripts = array_of(node), subscripts_of(node)
        if local := self._local(base):
            return self._place_in(base, subscripts, self._made_before(local, node), context)
        array = self._array(base)
        if not array:
            raise NotCompilableError(f"`{ast.unparse(base)}` is no array that the loop is given", node)
        self._use(array)
        if any(isinstance(key, ast.Tuple) for key in _keys(node)):
            self._asked.shaped.add(array)  # lists take no subscript but one
        if self._asked.axes.setdefault(array, len(subscripts)) != len(subscripts):
            raise NotCompilableError(f"`{array}` has more subscripts in one place than in another", node)
        lengths = self._lengths_of_given(array, len(subscripts))
        return self._place_in(self._array_node(base), subscripts, lengths, context)

    def _lengths_of_given(self, array: str, axes: int) -> tuple[Linear, ...]:
        """The lengths of the axes of an array that the loop is given."""
        name = self._facts.parameters[array]
        return tuple(Linear.atom(f"{name}.shape[{axis}]") for axis in range(axes))

    def _made_before(self, local: str, node: ast.Subscript) -> tuple[Linear, ...]:
        """The lengths of an array of the iteration, which has been made by now."""
        if local not in self._own.elements:
            raise NotCompilableError(f"`{local}` is used before it is made", node)
        several = any(isinstance(key, ast.Tuple) for key in _keys(node))
        if len(subscripts_of(node)) != self._own.allocations[local].axes or (
            several and self._own.allocations[local].is_list
        ):
            raise NotCompilableError(f"`{local}` has more subscripts in one place than in another", node)
        return self._own.lengths[local]

    def _place_in(
        self,
        base: ast.expr,
        subscripts: list[ast.expr],
        lengths: Sequence[Linear],
        context: ast.expr_context,
        *,
        looks: bool = False,
    ) -> ast.expr:
        """An element with its subscripts; ``looks``: whole axes may stand among them, which are left out."""
        found: list[ast.expr] = []
        assert isinstance(base, ast.Name)
        for axis, subscript in enumerate(subscripts):
            if isinstance(subscript, ast.Slice) and ast.unparse(subscript) == ":" and looks:
                continue
            if (
                isinstance(subscript, ast.Slice | ast.Tuple | ast.Starred)
                or literal_of(subscript) is Ellipsis
            ):
                raise NotCompilableError(
                    "parts of arrays are left to Python, which has numpy for them", subscript
                )
            value, kind = self.expression(subscript)
            if kind.kind not in (Kind.INTEGER, Kind.ANY):
                raise NotCompilableError(f"the subscript {ast.unparse(subscript)} is no integer", subscript)
            if isinstance(subscript, ast.Subscript):
                self._asked.subscripts.add(self._array(array_of(subscript)))
            if not self._is_in_range(lengths[axis], subscript):
                value = self._named(value, "at")
                length = ast.parse(f"{base.id}.shape[{axis}]", mode="eval").body
                self._check(helper("outside", value, length))
            found.append(value)
        key = found[0] if len(found) == 1 else ast.Tuple([*found], ast.Load())
        return ast.Subscript(base, key, context)

    def _is_in_range(self, length: Linear, subscript: ast.expr, *, from_end: bool = True) -> bool:
        """Whether a subscript is in range by tests before the chunk, or before a loop around.

        ``from_end``: subscripts below 0 count from the end.
        """
        form = self._scope.linear(subscript)
        if form is None:
            return False
        # `if i > 0: A[i - 1]` would fail where nothing is wrong
        plain = isinstance(subscript, ast.Name | ast.Constant)
        levels = (self._chunk, *self._levels)
        possible = [each for each in levels if plain or each.conditional == self._conditional]
        for level in possible:
            tests = self._tests(length, form, level, from_end)
            if tests is not None:
                for test in tests:
                    self._require(test, next(each for each in possible if self._is_known(test, each)))
                return True
        return False

    def _is_known(self, test: str, level: Level) -> bool:
        """Whether the names in a test have their values at a level."""
        names = {n.id for n in ast.walk(ast.parse(test)) if isinstance(n, ast.Name)}
        return names.isdisjoint(level.changing if level.depth else self._locals)

    def _tests(self, length: Linear, form: Linear, level: Level, from_end: bool) -> list[str] | None:
        """What shows, before a loop or the chunk, that a form is a subscript; None if nothing does."""
        needed: list[Linear] = []
        least = self._scope.ends(form, needed, least=True, depth=level.depth)
        if least is None:
            return None
        wraps = from_end and all(f.number is not None and f.number < 0 for each in least for f in each)
        if wraps:
            low = [[f"{(-length).text} <= {f.text}" for f in each] for each in least]
        else:
            low = self._not_negative(least)
        high = self._below(length, form, needed, level)
        if not low or not high:
            return None
        tests = self._assured((low, high), needed, level)
        self._wraps = self._wraps or (wraps and tests is not None)
        return tests

    def _assured(
        self, choices: Sequence[Sequence[Sequence[str]]], needed: Sequence[Linear], level: Level
    ) -> list[str] | None:
        """What shows one alternative of each choice; None where names have no values at the level."""
        if any(f.atoms & self._scope.variables for f in needed):
            return None
        tests = [_either([" and ".join(each) for each in found]) for found in choices if all(found)]
        tests += [f"0 <= {f.text}" for f in needed if not self._scope.is_not_negative(f)]
        return list(dict.fromkeys(tests)) if all(self._is_known(test, level) for test in tests) else None

    def _demand_not_negative(self, node: ast.expr) -> None:
        """Leave iterations to Python where an integer is negative."""
        form = self._scope.linear(node)
        possible = [each for each in (self._chunk, *self._levels) if each.conditional == self._conditional]
        for level in possible if form is not None else ():
            assert form is not None
            needed: list[Linear] = []
            least = self._scope.ends(form, needed, least=True, depth=level.depth)
            found = self._not_negative(least) if least is not None else []
            tests = self._assured((found,), needed, level) if found else None
            if tests is not None:
                for test in tests:
                    self._require(test, next(each for each in possible if self._is_known(test, each)))
                return
        value, _ = self.expression(node)
        self._check(ast.Compare(value, [ast.Lt()], [ast.Constant(0)]))

    def _below(self, length: Linear, form: Linear, needed: list[Linear], level: Level) -> list[list[str]]:
        """The alternatives that show that a form is less than a length."""
        if len(length.terms) == 1 and ".shape[" in length.text:
            most = self._scope.ends(form, needed, least=False, depth=level.depth)
            return [] if most is None else [[f"{f.text} < {length.text}" for f in each] for each in most]
        last = length - Linear.literal(1)
        room = self._scope.ends(last - form, needed, least=True, depth=level.depth)
        return [] if room is None else self._not_negative(room)

    def _not_negative(self, alternatives: Sequence[Sequence[Linear]]) -> list[list[str]]:
        """The tests of each alternative that all its forms are not negative; those that fail are left out."""
        possible = [
            each for each in alternatives if not any(f.number is not None and f.number < 0 for f in each)
        ]
        return [[f"0 <= {f.text}" for f in each if not self._scope.is_not_negative(f)] for each in possible]

    def _has_no_minus(self, name: str) -> bool:
        """Whether a length, or an integer of the body, is known not to be negative."""
        if name in self._own.sizes or ".shape[" in name:
            return True
        if not self._is_local_number(name):
            return False
        known = self._name(name)
        return known.kind is Kind.INTEGER and not known.element and known.sign >= Sign.NOT_NEGATIVE

    def _require(self, test: str, level: Level) -> None:
        """Have a test made, before the chunk or before a loop."""
        if level is self._chunk:
            self._conditions.setdefault(test)
        elif test not in level.tests:
            level.tests.add(test)
            self._test_before(level, ast.parse(test, mode="eval").body)

    def _test_before(self, level: Level, test: ast.expr) -> None:
        kept = self._out, self._conditional, self._stored_before
        self._out, self._conditional, self._stored_before = level.statements, 0, level.stored_before
        shaped = set(self._asked.shaped)
        condition, _ = self.condition(test)
        self._asked.shaped &= shaped  # lists have lengths, too
        self._check(_negated(condition))
        self._out, self._conditional, self._stored_before = kept

    def _invariant(self, node: ast.expr) -> bool:
        """Whether an integer expression is the same at all times, and can be evaluated before the loop."""
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name):
                    if name in self._locals or (
                        name not in self._facts.parameters and not self._facts.builtin(name)
                    ):
                        return False
                case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
                    pass
                case ast.Call(func=ast.Name(id="len" | "min" | "max" | "int" as called), keywords=[]) if (
                    self._facts.builtin(called)
                ):
                    pass
                case ast.Attribute(attr="shape" | "size"):
                    pass
                case (
                    ast.Constant(value=int())
                    | ast.BinOp()
                    | ast.UnaryOp()
                    | ast.operator()
                    | ast.unaryop()
                    | ast.expr_context()
                ):
                    pass
                case _:
                    return False
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self._facts.parameters:
                self._use(each.id)
        return all(
            self._facts.parameters.get(n.id, n.id) == n.id for n in ast.walk(node) if isinstance(n, ast.Name)
        )


def _keys(node: ast.expr) -> Iterator[ast.expr]:
    """What stands in the brackets of a subscript, and of those in it."""
    while isinstance(node, ast.Subscript):
        yield node.slice
        node = node.value


def _negated(condition: ast.expr) -> ast.expr:
    """The contrary of a test."""
    opposite = {ast.LtE: ast.Gt, ast.Lt: ast.GtE}
    match condition:
        case ast.Compare(ops=[op]) if type(op) in opposite:
            return ast.Compare(condition.left, [opposite[type(op)]()], condition.comparators)
    return ast.UnaryOp(ast.Not(), condition)


def _either(alternatives: Sequence[str]) -> str:
    if len(alternatives) == 1:
        return alternatives[0]
    return "(" + " or ".join(f"({each})" if " and " in each else each for each in alternatives) + ")"
