"""Expressions: operators whose result is Python's, with a check where Python would raise or go beyond 64
bits.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dlbc.native.extents import Linear
from dlbc.native.facts import CONSTANTS, NotCompilableError, described, helper, literal_of, standing_for
from dlbc.native.lower_calls import CallLowering
from dlbc.native.scalars import (
    CHECKED,
    EXACT,
    FITTING,
    NUMPY,
    UNBOUNDED,
    Kind,
    Scalar,
    Sign,
    checked,
    integer,
    literal,
    of_operation,
)

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_SHIFTS = (ast.LShift, ast.RShift)
#: Bit operations ask for no index or parameter of fewer bits than this.
_COMMON = 40
#: Higher powers of integers are left to Python.
_HIGHEST = 16


def _numeric(value: ast.expr, kind: Scalar, other: Scalar) -> tuple[ast.expr, Scalar]:
    """A truth value as the integer that it is in arithmetic with another number."""
    is_number = other.kind in (Kind.INTEGER, Kind.INEXACT) and not other.complex
    if kind.kind is not Kind.TRUTH or kind.unclear or not is_number:
        return value, kind
    number = Scalar(Kind.INTEGER, kind.sources, kind.certain, extra=1, sign=Sign.NOT_NEGATIVE)
    return helper("truth_as_integer", value), number


def _of_bits(result: Scalar) -> Scalar:
    """The result of a bit operation, which fits where its operands do."""
    if result.degree * _COMMON + result.extra > CHECKED:
        return replace(result, degree=0, extra=CHECKED + 1)
    return result


class ExpressionLowering(CallLowering):
    """Lowers expressions."""

    def expression(self, node: ast.expr) -> tuple[ast.expr, Scalar]:
        """See `LoweringState`."""
        match node:
            case ast.Constant(value=value):
                kind = literal(value)
                if kind is None:
                    raise NotCompilableError(f"{ast.unparse(node)} is no number", node)
                return node, kind
            case ast.Name(id=name):
                return self._variable(node, name)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(left, op, right, node)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison(node, left, ops, others)
            case ast.BoolOp(op=op, values=values):
                return self._junction(op, values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(test, body, orelse)
            case ast.Subscript():
                return self._element(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
        raise NotCompilableError(f"{described(node)} cannot be compiled", node)

    def condition(self, node: ast.expr) -> tuple[ast.expr, Scalar]:
        """An expression of which it counts alone whether it is true."""
        if isinstance(node, ast.BoolOp):
            return self._junction(node.op, node.values, truth_alone=True)
        return self.expression(node)

    def _true(self, node: ast.expr) -> tuple[ast.expr, Scalar]:
        """A condition as a truth value: a number is true where it is not zero."""
        value, kind = self.condition(node)
        if kind.kind is Kind.TRUTH:
            return value, kind
        self._note_values(node)
        return ast.Compare(value, [ast.NotEq()], [ast.Constant(0)]), Scalar(Kind.TRUTH)

    def _variable(self, node: ast.Name, name: str) -> tuple[ast.expr, Scalar]:
        if name in self._facts.contributed:
            raise NotCompilableError(f"`{name}` is a value of all iterations", node)
        if name == self._facts.index:
            return node, integer(degree=1)
        if name in self._own.allocations:
            raise NotCompilableError(f"the array `{name}` is used as a whole", node)
        if name in self._locals or name in self.bound:
            return node, self._name(name)
        if name in self._facts.parameters:
            self._use(name)
            return ast.Name(self._facts.parameters[name], ast.Load()), Scalar(
                Kind.ANY, frozenset({name}), degree=1
            )
        full = self._facts.imported(name)
        if full in CONSTANTS:
            return node, Scalar(Kind.INEXACT)
        if (number := self._facts.numbers(name)) is not None:
            return self.expression(number)
        raise NotCompilableError(f"what `{name}` is cannot be told before the loop", node)

    def _operation(
        self, left: ast.expr, op: ast.operator, right: ast.expr, node: ast.AST
    ) -> tuple[ast.expr, Scalar]:
        match left, op, right:
            case ast.Constant(value=int() as base), ast.Pow(), ast.Constant(value=int() as exponent) if (
                0 <= exponent <= FITTING and base**exponent < 2**FITTING
            ):
                return self.expression(ast.Constant(base**exponent))
            case ast.Constant(value=2), ast.Pow(), _ if not isinstance(literal_of(right), int | float):
                kept = len(self._out)
                _, second = self.expression(right)
                del self._out[kept:]
                if second.kind is Kind.INTEGER and not second.sources:
                    return self._shift(ast.Constant(1), integer(extra=1), ast.LShift(), right, node)
        one, first = self.expression(left)
        if isinstance(op, _SHIFTS) and first.kind is not Kind.TRUTH:
            self._note_values(left, right)
            return self._shift(one, first, op, right, node)
        two, second = self.expression(right)
        if isinstance(op, ast.Add | ast.Sub | ast.Mult):
            (one, first), (two, second) = _numeric(one, first, second), _numeric(two, second, first)
        if Kind.TRUTH in (first.kind, second.kind) and not (
            isinstance(op, _BITWISE) and first.kind is second.kind
        ):
            raise NotCompilableError("arithmetic with truth values is left to Python", node)
        if isinstance(op, ast.Pow):
            return self._power(one, first, two, second, right, node)
        self._note_values(left, right)
        result = of_operation(op, first, second)
        if isinstance(op, ast.Mult) and ast.dump(left) == ast.dump(right):
            result = replace(result, sign=Sign.NOT_NEGATIVE)
        if isinstance(op, _BITWISE):
            if Kind.INEXACT in (first.kind, second.kind):
                raise NotCompilableError("this operator takes integers alone", node)
            one, two = self._below_63_bits(one, first), self._below_63_bits(two, second)
            if first.kind is Kind.TRUTH:
                result = Scalar(Kind.TRUTH, result.sources, result.certain, result.element)
            else:
                result = _of_bits(result)
        elif not isinstance(op, _ARITHMETIC):
            raise NotCompilableError(f"the operator of {ast.unparse(node)} is left to Python", node)
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and not literal_of(right):
            surely_numpy = isinstance(op, ast.Div) and (
                first.element or second.element or NUMPY in result.sources
            )
            if surely_numpy:
                self._asked.shaped |= (
                    result.sources & self._asked.axes.keys()
                )  # division by an element of a list may raise
            elif not self._has_sign(second, Sign.POSITIVE):
                two = self._nonzero(two)
        if isinstance(op, ast.FloorDiv) and result.element and result.kind is not Kind.INEXACT:
            two = self._named(two, "divisor")
            self._check(helper("is_minus_one", two))  # numpy's quotient may wrap
        if isinstance(op, ast.Div):
            one, two = self._exact(one, first, node), self._exact(two, second, node)
        if isinstance(op, ast.Add | ast.Sub) and self._may_be_too_wide(result):
            one, two = self._narrow(one, first), self._narrow(two, second)
            result = replace(result, degree=0, extra=CHECKED + 1)
        if isinstance(op, ast.Mult) and self._may_be_too_wide(result):
            return self._product(one, two, result)
        self._fits(result, node)
        return ast.BinOp(one, op, two), result

    def _shift(
        self, one: ast.expr, first: Scalar, op: ast.operator, right: ast.expr, node: ast.AST
    ) -> tuple[ast.expr, Scalar]:
        """A shift by no more bits than an integer has: Python raises where there are less than none.

        To the left an integer of numpy loses bits, as machines have it, and one of Python is checked to fit.
        """
        two, second = self.expression(right)
        if {Kind.INEXACT, Kind.TRUTH} & {first.kind, second.kind}:
            raise NotCompilableError("this operator takes integers alone", node)
        count, result = literal_of(two), of_operation(op, first, second)
        known = isinstance(count, int) and 0 <= count < CHECKED
        if not known and not self._is_in_range(Linear.literal(FITTING + 1), right, from_end=False):
            two = self._named(two, "count")
            self._check(helper("unsafe_shift", two))
        if isinstance(op, ast.LShift) and result.may_be_integer:
            if isinstance(count, int) and known:
                result = replace(result, degree=first.degree, extra=min(first.extra + count, UNBOUNDED))
            if result.degree * _COMMON + result.extra > CHECKED:
                one = self._named(one, "value")
                self._check(helper("wide_after", one, two))
                result = checked(result)
            self._fits(result, node)
        return ast.BinOp(one, op, two), result

    def _below_63_bits(self, value: ast.expr, kind: Scalar) -> ast.expr:
        """An operand of a bit operation, whose result then fits, and so does what has the other sign."""
        return self._narrow(value, kind) if kind.may_be_integer and kind.extra > CHECKED else value

    def _product(self, one: ast.expr, two: ast.expr, result: Scalar) -> tuple[ast.expr, Scalar]:
        """A product of integers that is checked to fit."""
        one, two = self._named(one, "factor"), self._named(two, "factor")
        self._check(helper("unsafe_product", one, two))
        return ast.BinOp(one, ast.Mult(), two), checked(result)

    def _narrow(self, value: ast.expr, kind: Scalar) -> ast.expr:
        """A summand that is checked to have no more than `CHECKED` bits, so that the sum fits."""
        if kind.degree == 0 and kind.extra <= CHECKED:
            return value
        if kind.bounded and kind.degree == 1 and kind.extra <= CHECKED // 2:
            self._bits = min(self._bits, CHECKED - kind.extra)
            return value
        value = self._named(value, "value")
        self._check(helper("wide", value))
        return value

    def _exact(self, value: ast.expr, kind: Scalar, node: ast.AST) -> ast.expr:
        """An integer that is the same as a float: Python divides larger ones, and compares them with floats,
        without rounding them.
        """
        if not kind.may_be_integer:
            return value
        if not kind.bounded or kind.extra >= EXACT:
            value = self._named(value, "value")
            self._check(helper("inexact", value))
        elif kind.degree:
            self._bits = min(self._bits, (EXACT - kind.extra) // kind.degree)
            if self._bits < 1:
                raise NotCompilableError("an integer may exceed 53 bits here", node)
        return value

    def _power(
        self, one: ast.expr, first: Scalar, two: ast.expr, second: Scalar, exponent: ast.expr, node: ast.AST
    ) -> tuple[ast.expr, Scalar]:
        number = literal_of(exponent)
        if first.kind is Kind.INTEGER:
            if number in (2, 3) and isinstance(one, ast.Name | ast.Constant):
                square = of_operation(ast.Mult(), first, first)
                if square.extra > FITTING and number == 2:
                    return self._product(one, one, square)
                product: ast.expr = ast.BinOp(one, ast.Mult(), one)
                if number == 3:
                    square, product = (
                        of_operation(ast.Mult(), square, first),
                        ast.BinOp(product, ast.Mult(), one),
                    )
                self._fits(square, node)
                return product, square
            if isinstance(number, int) and 2 <= number <= _HIGHEST:
                return self._repeated_product(one, first, number, node)
            raise NotCompilableError("a power of an integer is left to Python", node)
        sources = first.sources | second.sources
        result = Scalar(
            Kind.INEXACT,
            sources,
            first.certain and second.certain,
            first.element or second.element,
            unclear=first.unclear or second.unclear,
        )
        of_arguments = sources <= self._facts.parameters.keys() - self._asked.axes.keys()
        if first.kind is Kind.ANY:
            self._asked.floats |= {s for s in first.sources if s != NUMPY}
        if result.certain and not of_arguments and (result.element or NUMPY in sources):
            self._asked.shaped |= sources & self._asked.axes.keys()
            return standing_for(helper("numpy_power", one, two), node), result
        if not of_arguments:  # both have the same bits where they are finite; where not, Python may raise
            return self._finite(standing_for(helper("numpy_power", one, two), node)), result
        self._asked.python |= sources  # none of which may be one of numpy
        return self._finite(standing_for(helper("power", one, two), node)), result

    def _repeated_product(
        self, one: ast.expr, kind: Scalar, count: int, node: ast.AST
    ) -> tuple[ast.expr, Scalar]:
        """A power of an integer."""
        factor = self._named(one, "factor")
        product, result = factor, kind
        for _ in range(count - 1):
            wider = of_operation(ast.Mult(), result, kind)
            if self._may_be_too_wide(wider):
                product, result = self._product(product, factor, wider)
            else:
                product, result = ast.BinOp(product, ast.Mult(), factor), wider
        self._fits(result, node)
        return product, result

    def _unary(self, node: ast.UnaryOp, op: ast.unaryop, operand: ast.expr) -> tuple[ast.expr, Scalar]:
        value, kind = self.condition(operand) if isinstance(op, ast.Not) else self.expression(operand)
        if isinstance(op, ast.Not):
            return ast.UnaryOp(op, value), Scalar(Kind.TRUTH)
        if kind.kind is Kind.TRUTH:
            raise NotCompilableError(f"{ast.unparse(node)} is left to Python", node)
        if kind.mixed:
            raise NotCompilableError("this is an integer in some iterations and a float in others", node)
        self._note_values(operand)
        if isinstance(op, ast.Invert):
            if kind.kind is Kind.INEXACT:
                raise NotCompilableError("this operator takes integers alone", node)
            value = self._below_63_bits(value, kind)
            kind = _of_bits(replace(kind, extra=min(kind.extra + 1, UNBOUNDED)))
        sign = kind.sign if isinstance(op, ast.UAdd) else Sign.UNKNOWN
        return ast.UnaryOp(op, value), replace(kind, sign=sign)

    def _comparison(
        self, node: ast.Compare, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
    ) -> tuple[ast.expr, Scalar]:
        if any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in ops):
            raise NotCompilableError(f"{ast.unparse(node)} is left to Python", node)
        found = [self.expression(each) for each in (left, *others)]
        self._note_values(left, *others)
        if not all(kind.kind in (Kind.INTEGER, Kind.TRUTH) for _, kind in found):
            found = [(self._exact(value, kind, node), kind) for value, kind in found]
        sources = frozenset[str]().union(*(kind.sources for _, kind in found))
        certain = all(kind.certain for _, kind in found) and len(others) == 1
        unclear = bool(sources) and any(kind.complex or kind.unclear for _, kind in found)
        return ast.Compare(found[0][0], ops, [each for each, _ in found[1:]]), Scalar(
            Kind.TRUTH, sources, certain, unclear=unclear
        )

    def _junction(
        self, op: ast.boolop, values: list[ast.expr], *, truth_alone: bool = False
    ) -> tuple[ast.expr, Scalar]:
        operand = self._true if truth_alone else self.expression
        first, kind = operand(values[0])
        found, kinds = [first], [kind]
        for value in values[1:]:
            outer, self._out = self._out, []
            self._conditional += 1
            each, kind = operand(value)
            self._conditional -= 1
            ahead, self._out = self._out, outer
            kinds.append(kind)
            if not ahead:
                found.append(each)
                continue
            name = self._fresh("holds")
            so_far = found[0] if len(found) == 1 else ast.BoolOp(op, found)
            self._out.append(ast.Assign([ast.Name(name, ast.Store())], so_far))
            holds: ast.expr = ast.Name(name, ast.Load())
            test = holds if isinstance(op, ast.And) else ast.UnaryOp(ast.Not(), holds)
            self._out.append(ast.If(test, [*ahead, ast.Assign([ast.Name(name, ast.Store())], each)], []))
            found = [ast.Name(name, ast.Load())]
        if any(k.kind is not Kind.TRUTH for k in kinds):
            raise NotCompilableError(
                "`and` and `or` of anything but truth values are left to Python", values[0]
            )
        sources = frozenset[str]().union(*(k.sources for k in kinds))
        result = Scalar(Kind.TRUTH, sources, certain=not sources)
        return found[0] if len(found) == 1 else ast.BoolOp(op, found), result

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> tuple[ast.expr, Scalar]:
        condition, _ = self.condition(test)
        self._conditional += 1
        outer, self._out = self._out, []
        one, first = self.expression(body)
        ahead_one, self._out = self._out, []
        two, second = self.expression(orelse)
        ahead_two, self._out = self._out, outer
        self._conditional -= 1
        result = first.joined(second)
        if not (ahead_one or ahead_two):
            return ast.IfExp(condition, one, two), result
        name = self._fresh("chosen")
        target = ast.Name(name, ast.Store())
        self._out.append(
            ast.If(
                condition, [*ahead_one, ast.Assign([target], one)], [*ahead_two, ast.Assign([target], two)]
            )
        )
        return ast.Name(name, ast.Load()), result

    def _attribute(self, node: ast.Attribute) -> tuple[ast.expr, Scalar]:
        text = ast.unparse(node)
        if text in self._facts.parameters:
            self._use(text)
            return ast.Name(self._facts.parameters[text], ast.Load()), Scalar(
                Kind.ANY, frozenset({text}), degree=1
            )
        if self._facts.imported(text) in CONSTANTS:
            return node, Scalar(Kind.INEXACT)
        if node.attr == "size" and self._local(node.value):
            return node, integer(degree=1)
        if node.attr == "size" and (array := self._array(node.value)):
            self._asked.shaped.add(array)
            return ast.Attribute(self._array_node(node.value), "size", ast.Load()), integer(degree=1)
        if node.attr in ("real", "imag") and not self._is_whole(node.value):
            value, kind = self.expression(node.value)
            if kind.kind is not Kind.TRUTH:
                real = replace(kind, sign=Sign.UNKNOWN, complex=False)
                return ast.Attribute(value, node.attr, ast.Load()), real
        raise NotCompilableError(f"`{text}` cannot be looked up in compiled code", node)
