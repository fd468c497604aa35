"""The functions that `evaluate` knows: of Python, `math` and `numpy`, those that do nothing but compute.

Each takes the budget first, is charged for what it goes through, and checks its operands, so that it ends
(`limits`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from typing import Any

from dlbc.cost.limits import (
    BINARY,
    MAX_BITS,
    SEQUENCES,
    Budget,
    EvaluationError,
    binary,
    bounded,
    check_bits,
    check_numbers,
    checked,
    is_vector,
    items,
    kind_of,
    power,
    sequence,
)

#: Digits that `round` keeps or drops: more than a float has.
_MAX_DIGITS = 400

#: A bound of the bits of the products within `math.comb` and `math.perm`.
_MAX_PRODUCT_BITS = 1 << 16

Function = Callable[..., Any]


def _of_numbers(function: Callable[..., Any]) -> Function:
    """A function of numbers, in a number of steps that does not depend on them."""

    def call(budget: Budget, *arguments: Any) -> Any:
        check_numbers(budget, *arguments)
        return checked(function(*arguments))

    return call


def _of_items(function: Callable[..., Any]) -> Function:
    """A function of one sequence of numbers, or of several numbers."""

    def call(budget: Budget, *arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, SEQUENCES):
                items(argument, budget)
            else:
                check_numbers(budget, argument)
        return checked(function(*arguments))

    return call


def _folded(operation: str, start: int) -> Function:
    """A sum or product, step by step, so that no step is large."""

    def call(budget: Budget, numbers: Any, first: Any = start) -> Any:
        given = items(numbers, budget)
        return reduce(lambda a, b: binary(BINARY[operation], a, b, budget), given, bounded(first))

    return call


def _made(kind: Callable[[Any], Any]) -> Function:
    """A sequence of another kind."""

    def call(budget: Budget, *given: Any) -> Any:
        return sequence(kind, items(given[0], budget) if len(given) == 1 else given, budget)

    return call


def _range(budget: Budget, *arguments: Any) -> range:
    check_numbers(budget, *arguments)
    return range(*arguments)


def _round(budget: Budget, number: Any, digits: Any = None) -> Any:
    check_numbers(budget, number)
    if digits is not None and not (type(digits) is int and abs(digits) <= _MAX_DIGITS):
        raise EvaluationError(f"expected at most {_MAX_DIGITS} digits in `round`, found {kind_of(digits)}")
    return round(number, digits)


def _divided(budget: Budget, left: Any, right: Any) -> tuple[Any, Any]:
    check_numbers(budget, left, right)
    quotient, rest = divmod(left, right)
    return quotient, rest


def _raised(budget: Budget, base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return binary(power, base, exponent, budget)
    check_numbers(budget, base, exponent, modulus)
    budget.charge(MAX_BITS)
    return pow(base, exponent, modulus)


def _factorial(budget: Budget, number: Any) -> Any:
    check_numbers(budget, number)
    if type(number) is int and number > MAX_BITS:
        check_bits(number)
    return checked(math.factorial(number))


def _chosen(function: Callable[..., int]) -> Function:
    """`math.comb` or `math.perm`."""

    def call(budget: Budget, number: Any, count: Any) -> Any:
        check_numbers(budget, number, count)
        budget.charge(MAX_BITS)
        if type(number) is int and type(count) is int:
            fewest = min(count, number - count) if function is math.comb else count
            if number.bit_length() * fewest > _MAX_PRODUCT_BITS:
                check_bits(_MAX_PRODUCT_BITS)
        return checked(function(number, count))

    return call


def _least_multiple(budget: Budget, *numbers: Any) -> Any:
    check_numbers(budget, *numbers)
    if all(type(each) is int for each in numbers):
        check_bits(sum(each.bit_length() for each in numbers) // 2)
    return checked(math.lcm(*numbers))


def _listed(function: Callable[..., Iterable[Any]]) -> Function:
    """`zip`, `enumerate` and `reversed`, as lists."""

    def call(budget: Budget, *arguments: Any) -> Any:
        given = [items(each, budget) if isinstance(each, SEQUENCES) else bounded(each) for each in arguments]
        return sequence(list, function(*given), budget)

    return call


def _sized(budget: Budget, value: Any) -> int:
    del budget
    if not isinstance(value, SEQUENCES) and not is_vector(value):
        raise EvaluationError(f"expected the length of a sequence, found that of {kind_of(value)}")
    return len(value)


_MATH_OF_NUMBERS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees erf erfc exp exp2 expm1 fabs
    floor fmod gamma gcd hypot isfinite isinf isnan isqrt ldexp lgamma log log10 log1p log2 nextafter
    radians remainder sin sinh sqrt tan tanh trunc ulp
"""

BUILTINS: Mapping[str, Function] = {
    "abs": _of_numbers(abs),
    "all": _of_items(all),
    "any": _of_items(any),
    "bool": _of_numbers(bool),
    "complex": _of_numbers(complex),
    "dict": _made(dict),
    "divmod": _divided,
    "enumerate": _listed(enumerate),
    "float": _of_numbers(float),
    "frozenset": _made(frozenset),
    "int": _of_numbers(int),
    "len": _sized,
    "list": _made(list),
    "max": _of_items(max),
    "min": _of_items(min),
    "pow": _raised,
    "range": _range,
    "reversed": _listed(reversed),
    "round": _round,
    "set": _made(frozenset),
    "sorted": _made(sorted),
    "sum": _folded("Add", 0),
    "tuple": _made(tuple),
    "zip": _listed(zip),
}

_MATH: Mapping[str, Function] = {
    **{name: _of_numbers(getattr(math, name)) for name in _MATH_OF_NUMBERS.split() if hasattr(math, name)},
    "comb": _chosen(math.comb),
    "dist": _of_items(math.dist),
    "factorial": _factorial,
    "fsum": _of_items(math.fsum),
    "lcm": _least_multiple,
    "perm": _chosen(math.perm),
    "pow": _of_numbers(math.pow),
    "prod": _folded("Mult", 1),
}

_NUMPY_OF_NUMBERS = """
    abs absolute arccos arcsin arctan arctan2 ceil clip cos cosh divide exp exp2 expm1 fabs floor floor_divide
    fmax fmin fmod hypot log log10 log1p log2 logical_and logical_not logical_or maximum minimum mod multiply
    negative power remainder rint sign sin sinh sqrt square subtract tan tanh trunc where add float64 int64
"""

_NUMPY_OF_ITEMS = "max mean min sum"

_CONSTANTS = ("e", "inf", "nan", "pi", "tau")


@cache
def known_function(module: str, name: str) -> Function | None:
    """The function of that name in ``math`` or ``numpy``; None if it is none of those that only compute."""
    if module == "math":
        return _MATH.get(name)
    if module != "numpy" or name not in f"{_NUMPY_OF_NUMBERS} {_NUMPY_OF_ITEMS}".split():
        return None
    import numpy as np

    function = getattr(np, name)
    return _of_numbers(function) if name in _NUMPY_OF_NUMBERS.split() else _of_items(function)


def known_number(module: str, name: str) -> float | None:
    """The constant of that name in ``math`` or ``numpy``."""
    if module not in ("math", "numpy") or name not in _CONSTANTS or (module == "numpy" and name == "tau"):
        return None
    return float(getattr(math, name))
