"""Which operations keep their bits when numba compiles them: tables that a test holds.

CPython 3.11, numpy 2.4 and numba 0.68 were compared on x86-64 with glibc, on two million values each: random
bits, normal and exponential distributions, integers, denormals, zeros of both signs, infinities and NaN.
*Exact* is meant of values; what raises an exception in Python is infinite or NaN when compiled (see
`numerics.not_finite`).

This module imports nothing of numba.
"""

from __future__ import annotations

from typing import Final

#: Functions of `math` that may stand in compiled code as they are.
MATH_EXACT: Final = frozenset(
    {
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        *("erf", "erfc", "sqrt", "fabs", "copysign", "degrees", "radians"),
        *("floor", "ceil", "trunc", "isnan", "isinf", "isfinite"),
    }
)

#: Functions of `math`, on two integers below 2**62 in magnitude, that may stand in compiled code as they are.
MATH_OF_INTEGERS: Final = frozenset({"gcd"})

#: Functions of `math` that keep their bits through a helper, which calls libm as CPython does. That for
#: ``hypot`` takes three numbers, and computes as CPython: with products as exact sums of two floats.
MATH_HELPERS: Final = {"cbrt": "math_cbrt", "fmod": "math_fmod", "pow": "math_pow", "hypot": "math_hypot"}

#: Functions of numpy, on scalars of float64, that may stand in compiled code as they are.
NUMPY_EXACT: Final = frozenset(
    {
        *("sqrt", "abs", "absolute", "fabs", "floor", "ceil", "trunc", "rint", "square", "negative"),
        *("degrees", "radians", "deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit"),
        *("copysign", "fmod", "add", "subtract", "multiply", "divide", "true_divide"),
    }
)

#: Functions of numpy, on scalars of float64, that keep their bits through a helper: numpy's own loops.
NUMPY_HELPERS: Final = {
    name: f"np_{name}"
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "power"),
        *("maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide", "sign"),
        *("sum", "mean"),  # of vectors; also the methods
    )
}

#: Built-in functions that may stand in compiled code; `min` and `max` of two values of one type by a helper.
#: ``round``: of a float, without digits. ``int`` and ``round``: of floats below 2**62 in magnitude.
BUILTINS_EXACT: Final = frozenset(
    {"abs", "bool", "complex", "float", "int", "len", "max", "min", "range", "round"}
)

#: Operators, on floats (``//`` and ``%`` too, of Python's floats and numpy's) and on integers that stay below
#: 2**62; comparisons and ``/`` of integers: up to 2**53 where the result is, or is compared with, a float.
OPERATORS_EXACT: Final = frozenset(
    {"+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">=", ">", "&", "|", "^", "<<", ">>", "~", "not"}
)

#: Operators that keep their bits through a helper.
OPERATOR_HELPERS: Final = {"**": "power"}

#: What differs in its last bits, and why.
NOT_EXACT: Final = {
    "round(x, n)": "numba scales by a power of ten and rounds, Python rounds the decimal representation",
    "sum": "Python 3.12 and later compensate rounding errors of floats, compiled code adds them one by one",
    "math.fsum": "numba does not know it",
    "math.dist": "CPython scales and compensates",
    "math.gamma": "CPython has its own approximation, the C library another",
    "math.lgamma": "CPython has its own approximation, the C library another",
    "np.dot": "the order of additions is that of the BLAS library, and differs with alignment and length",
    "@": "the order of additions is that of the BLAS library, and differs with alignment and length",
    "np.cumsum": "not compared",
    "np.prod": "numpy multiplies several interleaved products, numba one by one",
    "np.var": "numpy adds pairwise, numba one by one",
    "np.std": "numpy adds pairwise, numba one by one",
    "np.linalg.norm": "the order of additions is that of the BLAS library",
    "random": "compiled code has generators of its own",
    "np.random": "compiled code has generators of its own",
    "float32": "by NEP 50 results keep that type; numba computes with Python's numbers in 64 bits",
}
