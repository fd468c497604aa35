"""What is known of the numbers in a body: integers or not, Python's or numpy's, and how large.

Python's integers grow and its divisions by zero raise, while numpy's wrap and give infinity; which of both
a number is depends on what it was computed from. An operation with one operand of numpy gives a number of
numpy. So a `Scalar` lists the names (``sources``) of arrays and parameters any of which makes it one of
numpy.

The size of an integer is ``degree * L + extra`` bits, where the index and all parameters have at most L
bits: L is chosen so that nothing exceeds 64 bits, and checked before the loop.
"""

from __future__ import annotations

import ast
from dataclasses import field, replace
from enum import Enum, IntEnum

from dlbrt.records import dataclass

#: Bits of an integer that fits, and of one that is checked when it is bound (`dlbrt.native.wide`).
FITTING, CHECKED = 63, 62
#: Integers of so many bits are floats without rounding.
EXACT = 53
#: A size that no bound is known for.
UNBOUNDED = 1 << 20
#: The source of what numpy's own functions give.
NUMPY = "numpy"


class Kind(Enum):
    """What a number is, as far as the text shows it; INEXACT: a float or complex number."""

    INTEGER = "integer"
    INEXACT = "inexact"
    TRUTH = "truth value"
    ANY = "any"


class Sign(IntEnum):
    """What is known of a number's sign, if it is a float of arrays of floats; it may be NaN in any case."""

    UNKNOWN = 0
    NOT_NEGATIVE = 1
    POSITIVE = 2


@dataclass(frozen=True)
class Scalar:
    """What is known of a number.

    ``certain``: it is one of numpy exactly if one of ``sources`` is. ``element``: it is computed from an
    element of an array. ``mixed``: it may be an integer at one time and a float at another. ``complex``: it
    is, or is computed from, what may be a complex number of Python, parameters apart. ``unclear``: it may be
    one of Python although one of ``sources`` is of numpy: a complex number of Python takes floats of numpy.
    """

    kind: Kind
    sources: frozenset[str] = field(default_factory=frozenset)
    certain: bool = True
    element: bool = False
    degree: int = 0
    extra: int = 0
    mixed: bool = False
    sign: Sign = Sign.UNKNOWN
    complex: bool = False
    unclear: bool = False

    def joined(self, other: Scalar) -> Scalar:
        """What is known of a number that is one or the other."""
        kinds = {self.kind, other.kind}
        wraps = self.element != other.element and kinds != {Kind.INEXACT}
        return Scalar(
            self.kind if len(kinds) == 1 else Kind.ANY,
            self.sources | other.sources,
            self.certain and other.certain and self.sources == other.sources,
            self.element and other.element,
            max(self.degree, other.degree),
            UNBOUNDED if wraps else max(self.extra, other.extra),
            self.mixed or other.mixed or kinds == {Kind.INTEGER, Kind.INEXACT},
            min(self.sign, other.sign),
            self.complex or other.complex,
            self.unclear or other.unclear,
        )

    @property
    def may_be_integer(self) -> bool:
        """Whether it may be an integer that is not of an array, and so must not wrap."""
        return self.kind in (Kind.INTEGER, Kind.ANY) and not self.element

    @property
    def bounded(self) -> bool:
        """Whether a bound of its size is known."""
        return self.degree < UNBOUNDED and self.extra < UNBOUNDED


def integer(degree: int = 0, extra: int = 0) -> Scalar:
    """An integer of Python."""
    return Scalar(Kind.INTEGER, degree=degree, extra=extra)


def literal(value: object) -> Scalar | None:
    """A literal number; None for anything else."""
    if isinstance(value, bool):
        return Scalar(Kind.TRUTH, extra=1)
    if isinstance(value, int):
        return replace(integer(extra=value.bit_length()), sign=_sign_of(value))
    if isinstance(value, float):
        return Scalar(Kind.INEXACT, sign=_sign_of(value))
    return Scalar(Kind.INEXACT, complex=True) if isinstance(value, complex) else None


def _sign_of(value: float) -> Sign:
    """The sign of a literal, which is not negative."""
    return Sign.POSITIVE if value > 0 else Sign.NOT_NEGATIVE


def _sign_after(op: ast.operator, one: Sign, two: Sign) -> Sign:
    """The sign of what an operation gives; products may underflow to zero."""
    if not (one and two):
        return Sign.UNKNOWN
    if isinstance(op, ast.Add):
        return max(one, two)
    return Sign.NOT_NEGATIVE if isinstance(op, ast.Mult | ast.Div) else Sign.UNKNOWN


def _is_mask(scalar: Scalar) -> bool:
    """Whether `&` with this integer gives no larger one than it is."""
    known = scalar.kind is Kind.INTEGER and not scalar.element and scalar.sign >= Sign.NOT_NEGATIVE
    return known and not scalar.degree


def of_operation(op: ast.operator, left: Scalar, right: Scalar) -> Scalar:
    """What an operation gives."""
    kind = Kind.ANY
    if Kind.INEXACT in (left.kind, right.kind) or isinstance(op, ast.Div):
        kind = Kind.INEXACT
    elif left.kind in (Kind.INTEGER, Kind.TRUTH) and right.kind in (Kind.INTEGER, Kind.TRUTH):
        kind = Kind.INTEGER
    degree, extra = max(left.degree, right.degree), max(left.extra, right.extra) + 1
    match op:
        case ast.Mult():
            degree, extra = left.degree + right.degree, left.extra + right.extra
        case ast.Mod():
            degree, extra = right.degree, right.extra
        case ast.FloorDiv() | ast.RShift():
            degree, extra = left.degree, left.extra
        case ast.LShift():
            extra = UNBOUNDED
        case ast.BitAnd() if masks := [each for each in (left, right) if _is_mask(each)]:
            degree, extra = 0, min(each.extra for each in masks)
        case ast.BitAnd() | ast.BitOr() | ast.BitXor() if left.sign and right.sign:
            extra -= 1
    return Scalar(
        kind,
        left.sources | right.sources,
        left.certain and right.certain,
        left.element or right.element,
        min(degree, UNBOUNDED),
        min(extra, UNBOUNDED),
        (left.mixed or right.mixed) and kind is not Kind.INEXACT,
        _sign_after(op, left.sign, right.sign),
        (left.complex or right.complex) and kind is not Kind.INTEGER,
        left.unclear or right.unclear or (left.complex and bool(right.sources)),
    )


def widened(scalar: Scalar) -> Scalar:
    """The same without a bound of its size."""
    return replace(scalar, degree=0, extra=UNBOUNDED)


def checked(scalar: Scalar) -> Scalar:
    """The same, checked to have no more than `CHECKED` bits."""
    return replace(scalar, degree=0, extra=CHECKED)
