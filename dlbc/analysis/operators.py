"""Python's operators on integer forms: arithmetic, bits and comparisons."""

from __future__ import annotations

import ast

from dlbc.algebra.delinearize import without_quotients
from dlbc.algebra.integer_form import Apply, Comparison, Condition, IntegerForm, Operator

_APPLIED = {ast.FloorDiv: Operator.QUOTIENT, ast.Mod: Operator.REMAINDER}
#: Powers of literals that are written out are below this power of 2.
_WORD = 63

#: No more products of terms are formed: most of them would be terms of a form that is too large.
_MOST_PRODUCTS = 4096


def combined(op: ast.operator, left: IntegerForm | None, right: IntegerForm | None) -> IntegerForm | None:
    """The result of an operator on two integers; None if it is no form, or one too large to decide about."""
    if left is None or right is None or len(left.terms) * len(right.terms) > _MOST_PRODUCTS:
        return None
    form = _combined(op, left, right)
    return None if form is None or form.is_large else form


def _combined(op: ast.operator, left: IntegerForm, right: IntegerForm) -> IntegerForm | None:
    match op:
        case ast.Add():
            return without_quotients(left + right)
        case ast.Sub():
            return without_quotients(left - right)
        case ast.Mult():
            return without_quotients(left * right)
        case ast.FloorDiv() | ast.Mod():
            return _divided(_APPLIED[type(op)], left, right)
        case ast.Pow():
            return _power(left.constant, right.constant)
        case ast.LShift():
            power = _power(2, right.constant)
            return None if power is None else left * power
        case ast.RShift():
            power = _power(2, right.constant)
            return None if power is None else _divided(Operator.QUOTIENT, left, power)
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            value, mask = (left, right) if left.constant is None else (right, left)
            return None if mask.constant is None else _masked(op, value, mask.constant)
    return None


def _divided(operator: Operator, left: IntegerForm, right: IntegerForm) -> IntegerForm | None:
    return None if right.constant == 0 else IntegerForm.of(Apply(operator, (left, right)))


def _masked(op: ast.operator, value: IntegerForm, mask: int) -> IntegerForm | None:
    """``value & mask`` for a mask of the lowest bits, and ``value | mask`` or ``value ^ mask`` for one bit.

    An integer is a sum of bits, below 0 too: its lowest k bits are its remainder by 2**k.
    """
    if mask < 0 or mask >> _WORD:
        return None
    size = IntegerForm.literal(1 << mask.bit_length())
    if isinstance(op, ast.BitAnd):
        return _divided(Operator.REMAINDER, value, size) if mask & (mask + 1) == 0 else None
    if all(k % (1 << mask.bit_length()) == 0 for _, k in value.terms):
        return value + IntegerForm.literal(mask)  # the lowest bits of a multiple are 0
    if mask & (mask - 1):
        return None
    bit = IntegerForm.literal(mask)
    upper = _divided(Operator.QUOTIENT, value, bit)
    own = None if upper is None else _divided(Operator.REMAINDER, upper, IntegerForm.literal(2))
    if own is None:
        return None
    return value + bit - own * bit * IntegerForm.literal(1 if isinstance(op, ast.BitOr) else 2)


def _power(base: int | None, exponent: int | None) -> IntegerForm | None:
    """A power of literals, as people write large numbers: ``10**6``."""
    if base is None or exponent is None or not 0 <= exponent < _WORD or abs(base) >> _WORD:
        return None
    value = base**exponent
    return IntegerForm.literal(value) if value.bit_length() < _WORD else None


def compared(op: ast.cmpop, left: IntegerForm | None, right: IntegerForm | None) -> Condition | None:
    """The comparison of two integers; None if it is no condition on integers."""
    if left is None or right is None:
        return None
    match op:
        case ast.GtE():
            return Comparison.at_least(left, right)
        case ast.LtE():
            return Comparison.at_least(right, left)
        case ast.Lt():
            return Comparison.below(left, right)
        case ast.Gt():
            return Comparison.below(right, left)
        case ast.Eq():
            return Comparison.equal(left, right)
        case ast.NotEq():
            return Comparison(left - right, "!=")
    return None
