"""Arithmetic for `evaluate`: Python's own, bounded in the size of values and in steps.

Law. Every operation takes time in proportion to the steps that it is charged for: integers have at most
`MAX_BITS` bits, sequences hold numbers, or sequences of numbers, and whatever goes through a sequence or a
vector is charged by its length. So an expression ends after `MAX_STEPS` steps, whatever it is.

Values are those of Python: the operators, and the functions of `functions`, are called with the operands that
the program would call them with, and raise for other operands what they raise there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: The most bits of an integer; a float holds 1024.
MAX_BITS = 2048

#: The most steps of an expression, in all its evaluations: some seconds.
MAX_STEPS = 30_000_000

#: The longest sequence.
MAX_LENGTH = 1_000_000

#: Elements of a vector in one step.
_VECTOR_STEP = 16

_PLAIN = frozenset({int, float, bool})
SEQUENCES = (list, tuple, range, frozenset, dict)


class EvaluationError(ValueError):
    """An expression that is not evaluated: what was expected, and what was found."""


class TooLargeError(EvaluationError):
    """An expression whose evaluation is beyond the limits of size or of steps."""


class Budget:
    """The steps that are left."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = self._all = steps

    def charge(self, steps: int) -> None:
        """Take steps away; EvaluationError if too few are left."""
        self.left -= steps
        if self.left < 0:
            self.left = 0
            raise TooLargeError(f"expected an expression of at most {self._all} steps, found more")


def is_vector(value: object) -> bool:
    """Whether a value is an array or a number of numpy's."""
    return type(value).__module__ == "numpy"


def checked(value: Any) -> Any:
    """The value; EvaluationError for an integer that is too large, or an array of objects."""
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise TooLargeError(f"expected integers of at most {MAX_BITS} bits, found a larger one")
    elif is_vector(value) and value.dtype.kind not in "biufc":
        raise EvaluationError(f"expected arrays of numbers, found one of type {value.dtype}")
    return value


def bounded(value: Any) -> Any:
    """A constant of a program, or a part of a value: a number; EvaluationError for anything else."""
    if type(value) in _PLAIN or type(value) is complex or is_vector(value):
        return checked(value)
    raise EvaluationError(f"expected numbers, found {kind_of(value)}")


def kind_of(value: object) -> str:
    """What a value is, for people."""
    return "text" if isinstance(value, str | bytes) else f"a value of type {type(value).__name__}"


def part(value: Any) -> Any:
    """An element of a sequence: a number, or a sequence of numbers."""
    if type(value) in (list, tuple):
        for element in value:
            bounded(element)
        return value
    return bounded(value)


def items(value: Any, budget: Budget) -> Any:
    """Something to iterate over, charged by its length; EvaluationError for anything else."""
    if isinstance(value, SEQUENCES) or (is_vector(value) and value.ndim == 1):
        budget.charge(_length(value))
        return value
    raise EvaluationError(f"expected a sequence of numbers, found {kind_of(value)}")


def _length(value: Any) -> int:
    if isinstance(value, range):  # `len` fails for long ones
        return max(0, -((value.start - value.stop) // value.step))
    length = len(value)
    deepest = max((len(e) for e in value if type(e) in (list, tuple)), default=1) if length else 1
    return length * deepest


def sequence(kind: Callable[[Any], Any], elements: Iterable[Any], budget: Budget) -> Any:
    """A sequence of numbers, or of sequences of numbers; EvaluationError for a long one."""
    found: list[Any] = []
    for element in elements:
        if len(found) == MAX_LENGTH:
            raise TooLargeError(f"expected sequences of at most {MAX_LENGTH} numbers, found a longer one")
        budget.charge(len(element) if type(element) in (list, tuple) else 1)
        found.append(part(element))
    return kind(found)


# Operators


def check_numbers(budget: Budget, *operands: Any) -> None:
    """Check the operands of an operator, and charge for vectors; an integer beside a vector has 63 bits."""
    if all(type(each) in _PLAIN for each in operands):
        return
    vectors = [each for each in operands if is_vector(bounded(each))]
    if vectors:
        budget.charge(1 + max(each.size for each in vectors) // _VECTOR_STEP)
        if any(type(each) is int and each.bit_length() > 63 for each in operands):
            raise EvaluationError("expected numbers of 64 bits beside an array, found a larger one")


def power(base: Any, exponent: Any) -> Any:
    """``base ** exponent``."""
    if type(base) in (int, bool) and type(exponent) in (int, bool) and exponent > 0:
        check_bits((base.bit_length() - 1) * exponent)  # the least that it has
    return base**exponent


def _shifted(value: Any, count: Any) -> Any:
    if type(value) in (int, bool) and type(count) in (int, bool):
        check_bits(count)
    return value << count


def check_bits(bits: int) -> None:
    """TooLargeError for an integer that will have more than `MAX_BITS` bits."""
    if bits > MAX_BITS:  # a lower bound, or nearly so: the result itself is held to the limit too
        raise TooLargeError(f"expected integers of at most {MAX_BITS} bits, found a larger one")


#: The name of an operator's class in `ast` -> the operator.
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": power,
    "LShift": _shifted,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
}

UNARY: Mapping[str, Callable[[Any], Any]] = {
    "UAdd": operator.pos,
    "USub": operator.neg,
    "Invert": operator.invert,
    "Not": operator.not_,
}

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda value, where: value in where,
    "NotIn": lambda value, where: value not in where,
}


def binary(operation: Callable[[Any, Any], Any], left: Any, right: Any, budget: Budget) -> Any:
    """The value of ``left`` and ``right`` under an operator of `BINARY`."""
    if type(left) not in _PLAIN or type(right) not in _PLAIN:
        check_numbers(budget, left, right)
    found = operation(left, right)
    return found if type(found) is float else checked(found)


def unary(name: str, operand: Any, budget: Budget) -> Any:
    """The value of an operand under an operator."""
    if name != "Not":
        check_numbers(budget, operand)
    return UNARY[name](operand)


def compared(name: str, left: Any, right: Any, budget: Budget) -> Any:
    """The outcome of a comparison."""
    if name not in COMPARISONS:
        raise EvaluationError(f"expected numbers to be compared by their values, found `{_IDENTITY[name]}`")
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return COMPARISONS[name](left, right)
    if name in ("In", "NotIn"):
        bounded(left)
        items(right, budget)
    elif isinstance(left, SEQUENCES) and isinstance(right, SEQUENCES):
        budget.charge(min(_length(left), _length(right)))
    else:
        check_numbers(budget, left, right)
    return COMPARISONS[name](left, right)


_IDENTITY = {"Is": "is", "IsNot": "is not"}
