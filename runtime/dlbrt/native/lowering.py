"""How the helpers of `numerics` are compiled; importing this module registers them with numba.

Tests that depend on types alone are decided while compiling, so ``wide`` of a float costs nothing.

libm's functions are called as external symbols without a prototype that LLVM knows: it would take ``pow`` for
its own, and turn ``pow(x, 2.0)`` into ``x * x``, which differs from libm's in one of a thousand values.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload, register_jitable

from dlbrt.native import numerics
from dlbrt.native.numerics import (
    BINARY,
    BOOL,
    EXACT,
    EXACT32,
    FLOAT,
    FULL,
    INT,
    LIMIT,
    MATH_BINARY,
    MATH_UNARY,
    UNARY,
)
from dlbrt.native.ufunc_loops import find_loop

_SMALL = 2**31
_PREFIX = "dlbrt_native_"
_LEAST_NORMAL = 2.0**-1022

#: The symbols that compiled code may refer to, as registered with LLVM.
SYMBOLS: set[str] = set()


def _add_symbol(name: str, address: int | None) -> None:
    llvm.add_symbol(name, address)
    SYMBOLS.add(name)


def _same(a: Any, b: Any) -> bool:
    return bool(types.unliteral(a) == types.unliteral(b))


def _is_int(x: Any) -> bool:
    return isinstance(x, types.Integer) and not isinstance(x, types.Boolean)


@overload(numerics.wide, strict=False)
def _wide(x: Any) -> Any:
    if _is_int(x):
        return lambda x: not (-LIMIT < x and x < LIMIT)
    if isinstance(x, types.Boolean | types.Float | types.Complex):
        return lambda x: False
    return None


@overload(numerics.unsafe_product, strict=False)
def _unsafe_product(a: Any, b: Any) -> Any:
    if _is_int(a) and _is_int(b):

        def product(a, b):  # type: ignore[no-untyped-def]
            small = -_SMALL < a and a < _SMALL and -_SMALL < b and b < _SMALL
            return not small and abs(float(a) * float(b)) >= LIMIT

        return product
    return lambda a, b: False


@overload(numerics.unsafe_shift, strict=False)
def _unsafe_shift(count: Any) -> Any:
    return numerics.unsafe_shift if _is_int(count) else None


@overload(numerics.wide_after, strict=False)
def _wide_after(x: Any, count: Any) -> Any:
    return numerics.wide_after if _is_int(x) and _is_int(count) else None


@overload(numerics.integer, strict=False)
def _integer(x: Any) -> Any:
    if isinstance(x, types.Integer) and (x.signed or x.bitwidth < 64):
        return lambda x: np.int64(x)
    if isinstance(x, types.Boolean) or types.unliteral(x) == types.float64:
        return lambda x: int(x)
    return None


@overload(numerics.truth_as_integer, strict=False)
def _truth_as_integer(x: Any) -> Any:
    return (lambda x: int(x)) if isinstance(x, types.Boolean) else None


@overload(numerics.unfit, strict=False)
def _unfit(array: Any, x: Any) -> Any:
    kind = array.dtype
    if isinstance(kind, types.Integer) and _is_int(x):
        low, high = kind.minval, min(kind.maxval, types.int64.maxval)
        return lambda array, x: not (low <= x and x <= high)
    if kind == types.float32:
        return lambda array, x: not (-EXACT32 <= x and x <= EXACT32)
    return lambda array, x: False


@overload(numerics.is_zero, strict=False)
def _is_zero(x: Any) -> Any:
    return lambda x: x == 0


@overload(numerics.is_minus_one, strict=False)
def _is_minus_one(x: Any) -> Any:
    if _is_int(x):
        return lambda x: x == -1
    return lambda x: False


@overload(numerics.not_finite, strict=False)
def _not_finite(x: Any) -> Any:
    if isinstance(x, types.Float):
        return lambda x: x - x != 0.0
    return lambda x: False


@overload(numerics.too_far, strict=False)
def _too_far(x: Any) -> Any:
    if not isinstance(x, types.Complex):
        return lambda x: False

    def far(x):  # type: ignore[no-untyped-def]
        finite = x.real - x.real == 0.0 and x.imag - x.imag == 0.0
        return finite and abs(x) == math.inf

    return far


@overload(numerics.too_large, strict=False)
def _too_large(x: Any) -> Any:
    return lambda x: not (-LIMIT < x and x < LIMIT)


@overload(numerics.kept, strict=False)
def _kept(row: Any) -> Any:
    if isinstance(row, types.Array):
        return lambda row: row.copy()
    return lambda row: row


@overload(numerics.is_shape, strict=False)
def _is_shape(a: Any, b: Any = 1, c: Any = 1, d: Any = 1) -> Any:
    most = numerics.MOST_ELEMENTS

    def shape(a, b=1, c=1, d=1):  # type: ignore[no-untyped-def]
        if min(a, b, c, d) < 0 or max(a, b, c, d) > most:
            return False
        return a * b <= most and a * b * c <= most and a * b * c * d <= most

    return shape


@overload(numerics.minimum2, strict=False)
def _minimum2(a: Any, b: Any) -> Any:
    if not _same(a, b):
        raise TypingError(f"dlbrt: min of {a} and {b}: the result may have either type")
    return lambda a, b: b if b < a else a


@overload(numerics.maximum2, strict=False)
def _maximum2(a: Any, b: Any) -> Any:
    if not _same(a, b):
        raise TypingError(f"dlbrt: max of {a} and {b}: the result may have either type")
    return lambda a, b: b if b > a else a


@overload(numerics.outside, strict=False)
def _outside(k: Any, n: Any) -> Any:
    if _is_int(k) and _is_int(n):
        return lambda k, n: not (-n <= k and k < n)
    return None


def _storing(first: int) -> Any:
    """How a number is stored in the arrays of results from this one on."""
    integers, floats, kinds = range(first, first + 3)

    def overloaded(results: Any, k: Any, t: Any, value: Any) -> Any:
        if isinstance(value, types.Boolean):

            def put(results, k, t, value):  # type: ignore[no-untyped-def]
                results[integers][k, t] = value
                results[kinds][k] = BOOL

        elif isinstance(value, types.Integer):

            def put(results, k, t, value):  # type: ignore[no-untyped-def]
                results[integers][k, t] = value
                results[kinds][k] = INT

        elif value == types.float64:

            def put(results, k, t, value):  # type: ignore[no-untyped-def]
                results[floats][k, t] = value
                results[kinds][k] = FLOAT

        else:
            raise TypingError(f"dlbrt: a result of type {value}: bools, ints and floats alone can be kept")
        return put

    return overloaded


overload(numerics.put, strict=False)(_storing(0))
overload(numerics.note, strict=False)(_storing(3))


@overload(numerics.noted, strict=False)
def _noted(results: Any, k: Any, t: Any, like: Any) -> Any:
    if isinstance(like, types.Integer) and not isinstance(like, types.Boolean):
        return lambda results, k, t, like: results[3][k, t]
    if types.unliteral(like) == types.float64:
        return lambda results, k, t, like: results[4][k, t]
    return None


@overload(numerics.no_room, strict=False)
def _no_room(results: Any, t: Any) -> Any:
    def no_room(results, t):  # type: ignore[no-untyped-def]
        full = t >= results[3].shape[1]
        if full:
            results[5][FULL] = 1
        return full

    return no_room


@overload(numerics.count_note, strict=False)
def _count_note(results: Any, t: Any) -> Any:
    return numerics.count_note


@overload(numerics.inexact, strict=False)
def _inexact(x: Any) -> Any:
    if _is_int(x):
        return lambda x: x > EXACT or x < -EXACT
    return lambda x: False


def _libm(symbol: str, arguments: int) -> Any:
    """An intrinsic that calls libm's function of float64 arguments."""
    name = f"{_PREFIX}{symbol}"
    _add_symbol(name, ctypes.cast(getattr(_LIBM, symbol), ctypes.c_void_p).value)
    signature = types.float64(*[types.float64] * arguments)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * arguments)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        function.attributes.add("nounwind")
        return builder.call(function, values)

    return _of_arity(signature, generate, arguments)


def _ufunc_loop(function: str, arguments: int) -> Any:
    """An intrinsic that calls numpy's inner loop on one element."""
    name = f"{_PREFIX}numpy_{function}"
    loop, data = find_loop(function)
    _add_symbol(name, loop)
    if data:
        _add_symbol(f"{name}_data", data)
    signature = types.float64(*[types.float64] * arguments)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, word = ir.IntType(8).as_pointer(), ir.IntType(64)
        kind = ir.FunctionType(
            ir.VoidType(), [pointer.as_pointer(), word.as_pointer(), word.as_pointer(), pointer]
        )
        callee = cgutils.get_or_insert_function(builder.module, kind, name)
        slots = [cgutils.alloca_once_value(builder, value) for value in values]
        slots.append(cgutils.alloca_once(builder, ir.DoubleType()))
        table = cgutils.alloca_once(builder, pointer, size=len(slots))
        steps = cgutils.alloca_once(builder, word, size=len(slots))
        for number, slot in enumerate(slots):
            builder.store(builder.bitcast(slot, pointer), builder.gep(table, [ir.IntType(32)(number)]))
            builder.store(word(0), builder.gep(steps, [ir.IntType(32)(number)]))
        length = cgutils.alloca_once_value(builder, word(1))
        extra: Any = ir.Constant(pointer, None)
        if data:
            known = builder.module.globals.get(f"{name}_data")
            extra = known or cgutils.add_global_variable(builder.module, ir.IntType(8), f"{name}_data")
        builder.call(callee, [table, length, steps, extra])
        return builder.load(slots[-1])

    return _of_arity(signature, generate, arguments)


def _of_arity(signature: Any, generate: Any, arguments: int) -> Any:
    if arguments == 1:

        @intrinsic
        def call(typing: Any, x: Any) -> Any:
            return signature, generate

    else:

        @intrinsic
        def call(typing: Any, x: Any, y: Any) -> Any:
            return signature, generate

    return call


def _register(function: Any, native: Any, arguments: int, *, bools: bool) -> None:
    """Compile a helper as ``native`` on float64; integers become floats, as in Python.

    ``bools`` do, too, in Python; numpy's functions make them float16.
    """

    def takes(x: Any) -> bool:
        return _is_real(x) and (bools or not isinstance(x, types.Boolean))

    if arguments == 1:

        @overload(function, strict=False)
        def one(x: Any) -> Any:
            return (lambda x: native(float(x))) if takes(x) else None

    else:

        @overload(function, strict=False)
        def two(x: Any, y: Any) -> Any:
            return (lambda x, y: native(float(x), float(y))) if takes(x) and takes(y) else None


def _is_real(x: Any) -> bool:
    return isinstance(x, types.Integer | types.Boolean) or types.unliteral(x) == types.float64


def _load_libm() -> ctypes.CDLL:
    """The library whose functions CPython's `math` calls."""
    loaded = ctypes.CDLL(None)  # Python itself
    return loaded if hasattr(loaded, "pow") else ctypes.CDLL(ctypes.util.find_library("m"))


_LIBM = _load_libm()
_POW = _libm("pow", 2)


def _python_power(x, y):  # type: ignore[no-untyped-def]
    """CPython's result of signalling NaNs, and libm's of everything else."""
    return 1.0 if x == 1.0 or y == 0.0 else _POW(float(x), float(y))


overload(numerics.math_pow, strict=False)(lambda x, y: _python_power if _is_real(x) and _is_real(y) else None)


@overload(numerics.math_hypot, strict=False)
def _math_hypot(x: Any, y: Any, z: Any) -> Any:
    if not all(map(_is_real, (x, y, z))):
        return None
    return lambda x, y, z: _hypotenuse(abs(float(x)), abs(float(y)), abs(float(z)))


@register_jitable
def _hypotenuse(x, y, z):  # type: ignore[no-untyped-def]
    """As CPython: numbers scaled by a power of two, sums with their rounding errors, a correction at the end.

    NaN for what is infinite, not a number, or so small that versions of CPython compute it in other ways.
    """
    greatest = max(x, y, z)
    if not _LEAST_NORMAL <= greatest < np.inf:
        return 0.0 if x == 0.0 == y and z == 0.0 else np.nan
    scale = math.ldexp(1.0, -math.frexp(greatest)[1])
    total, products, sums = 1.0, 0.0, 0.0
    for number in (x * scale, y * scale, z * scale):
        square, error = _square(number)
        products += error
        sums += (total - (total + square)) + square
        total += square
    root = math.sqrt(total - 1.0 + (products + sums))
    square, error = _square(root)
    products -= error
    sums += (total - (total - square)) - square
    total -= square
    return (root + (total - 1.0 + (products + sums)) / (2.0 * root)) / scale


@register_jitable
def _square(x):  # type: ignore[no-untyped-def]
    """The square, and its rounding error: of halves of x, whose products are exact (Dekker, 1971)."""
    shifted = x * 134217729.0  # 2**27 + 1
    high = shifted - (shifted - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


@overload(numerics.power, strict=False)
def _power(x: Any, y: Any) -> Any:
    if types.float64 in (types.unliteral(x), types.unliteral(y)) and _is_real(x) and _is_real(y):
        return _python_power
    return None


@overload(numerics.numpy_power, strict=False)
def _numpy_power(x: Any, y: Any) -> Any:
    if isinstance(x, types.Boolean) or isinstance(y, types.Boolean):
        return None
    if types.float64 in (types.unliteral(x), types.unliteral(y)) and _is_real(x) and _is_real(y):
        return lambda x, y: _POW(float(x), float(y))
    return None


def _register_all() -> None:
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for helper, name in table.items():
            try:
                native = _ufunc_loop(name, arity)
            except (LookupError, ValueError):
                continue
            _register(getattr(numerics, helper), native, arity, bools=False)
    for table, arity in ((MATH_UNARY, 1), (MATH_BINARY, 2)):
        for helper, name in table.items():
            if hasattr(_LIBM, name):
                _register(getattr(numerics, helper), _libm(name, arity), arity, bools=True)


_register_all()
