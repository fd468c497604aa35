"""Compiled operations have the bits of CPython and numpy, on some thousand values each.

What raises in Python must not be finite when compiled: the caller of a chunk looks at that.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import dlbrt.native
import numpy as np
import pytest
from dlbrt import exactness
from dlbrt.native import numerics

numba = pytest.importorskip("numba")

from dlbrt.native import lowering, summation  # noqa: E402, F401

SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 10.0, 0.1, math.pi, math.pi / 2, 1e22, 1e-8),
    *(
        math.inf,
        -math.inf,
        math.nan,
        5e-324,
        -5e-324,
        1e-310,
        2.2250738585072014e-308,
        1.7976931348623157e308,
    ),
    *(709.78, 710.0, -745.2, 1 - 2**-53, 1 + 2**-52),
)


def _floats(seed: int) -> np.ndarray[Any, Any]:
    rng, n = np.random.default_rng(seed), 400
    bits = rng.integers(-(2**63), 2**63 - 1, n).view(np.float64)
    parts = rng.normal(0, 1, n), rng.normal(0, 100, n), bits, np.exp(rng.normal(0, 3, n))
    return rng.permutation(np.concatenate([SPECIAL, *parts, rng.integers(-30, 30, n).astype(float)]))


X, Y = _floats(1), _floats(2)
GRID = tuple(axis.ravel() for axis in np.meshgrid(SPECIAL, SPECIAL))


def _compiled(*texts: str, dtype: str = "float64") -> Callable[..., np.ndarray[Any, Any]]:
    """A compiled function that evaluates expressions of the elements `a`, `b` of two arrays; one row each."""
    space = {"np": np, "math": math, "dlbrt": dlbrt}
    rows = "".join(f"  out[{row}, i] = {text}\n" for row, text in enumerate(texts))
    lines = f"def f(x, y):\n out = np.empty(({len(texts)}, len(x)), np.{dtype})\n for i in range(len(x)):\n"
    exec(f"{lines}  a, b = x[i], y[i]\n{rows} return out\n", space)
    return numba.njit(error_model="numpy")(space["f"])  # type: ignore[no-any-return]


def _python(function: Callable[..., Any], arguments: Sequence[np.ndarray[Any, Any]], arity: int) -> list[Any]:
    """What the function returns; None where it raises, or leaves the real numbers."""
    values: list[Any] = []
    for row in zip(*(each.tolist() for each in arguments[:arity]), strict=True):
        try:
            value = function(*row)
        except (ValueError, OverflowError, ZeroDivisionError):
            value = None
        values.append(None if isinstance(value, complex) else value)
    return values


def _differ(found: np.ndarray[Any, Any], expected: list[Any]) -> list[tuple[Any, Any]]:
    return [
        (got, want)
        for got, want in zip(found.tolist(), expected, strict=True)
        if (math.isfinite(got) if want is None else not _same(got, want))
    ]


def _same(a: Any, b: Any) -> bool:
    both_nan = a != a and b != b
    return both_nan or (a == b and math.copysign(1, a) == math.copysign(1, b))


def _check(cases: Mapping[str, tuple[Callable[..., Any], int]], dtype: str = "float64") -> None:
    """Each expression has the values of its function of so many arguments, in Python."""
    pairs = [(X, Y), GRID] if dtype == "float64" else [(X[np.abs(X) < 2**62],) * 2]
    compiled = _compiled(*cases, dtype=dtype)
    for pair in pairs:
        for (text, (function, arity)), found in zip(cases.items(), compiled(*pair), strict=True):
            assert (text, _differ(found, _python(function, pair, arity))) == (text, [])


def _check_numpy(cases: Mapping[str, tuple[Callable[..., Any], int]]) -> None:
    """Each expression has the values of its function of so many scalars of numpy."""
    compiled = _compiled(*cases)
    for pair in ((X, Y), GRID):
        for (text, (function, arity)), found in zip(cases.items(), compiled(*pair), strict=True):
            expected = [float(function(*row)) for row in zip(*pair[:arity], strict=True)]
            assert (text, _differ(found, expected)) == (text, [])


_TO_INTEGER = {"floor", "ceil", "trunc"}
_OF_TWO = {
    *("atan2", "copysign", "pow", "fmod", "add", "subtract", "multiply", "divide", "true_divide"),
    *("arctan2", "hypot", "power", "maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide"),
}


def _cases(
    module: ModuleType, calls: Mapping[str, str], names: Iterable[str]
) -> dict[str, tuple[Callable[..., Any], int]]:
    """The expressions that call functions of a module, by what is called in compiled code."""
    return {
        f"{calls[name]}(a, b)" if name in _OF_TWO else f"{calls[name]}(a)": (
            getattr(module, name),
            1 + (name in _OF_TWO),
        )
        for name in sorted(names)
    }


def _calls(prefix: str, exact: Iterable[str], helpers: Mapping[str, str]) -> dict[str, str]:
    called = {name: f"{prefix}.{name}" for name in exact}
    return called | {name: f"dlbrt.native.{helper}" for name, helper in helpers.items()}


def test_functions_of_math_keep_their_bits() -> None:
    calls = _calls("math", exactness.MATH_EXACT, exactness.MATH_HELPERS)
    del calls["hypot"]  # below
    _check(_cases(math, calls, calls.keys() - _TO_INTEGER))
    _check(_cases(math, calls, _TO_INTEGER), "int64")


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_hypotenuses_keep_their_bits(scale: float) -> None:
    z = _floats(3)
    for x, y, c in ((X, Y, 0.0), (*GRID, 0.0), (X, Y, 0.75), (Y, z, -3.0)):
        with np.errstate(all="ignore"):
            x, y = x * scale, y * scale
        found = _compiled(f"dlbrt.native.math_hypot(a, b, {c})")(x, y)[0]
        for a, b, got in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
            known = 2.0**-1022 <= max(abs(a), abs(b), abs(c)) < math.inf and a == a and b == b
            assert _same(got, math.hypot(a, b, c)) if known or a == b == c == 0 else got != got, (a, b, c)


def test_greatest_common_divisors_are_those_of_python() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-(2**k), 2**k, 400) for k in (8, 60))
    compiled = _compiled("math.gcd(int(a), int(b))", dtype="int64")
    for x, y in ((a, b), (b, a), (a, a[::-1]), (a * 0, b)):
        assert compiled(x, y)[0].tolist() == list(map(math.gcd, x.tolist(), y.tolist()))


def test_helpers_of_math_keep_their_bits() -> None:
    helpers = numerics.MATH_UNARY | numerics.MATH_BINARY
    calls = {name: f"dlbrt.native.{helper}" for helper, name in helpers.items()}
    _check(_cases(math, calls, calls))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_numpy_keep_their_bits() -> None:
    calls = _calls("np", exactness.NUMPY_EXACT, exactness.NUMPY_HELPERS)
    _check_numpy(_cases(np, calls, calls.keys() - {"sum", "mean"}))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_on_floats_keep_the_bits_of_python_and_of_numpy() -> None:
    signs = "+", "-", "*", "/", "//", "%"
    cases = {f"a {sign} b": (eval(f"lambda a, b: a {sign} b"), 2) for sign in signs}
    _check(cases)
    _check_numpy(cases)


def test_powers_keep_their_bits_by_a_helper() -> None:
    exponents = "b", "2", "2.0", "3", "0.5", "-1", "-1.0"
    _check({f"dlbrt.native.power(a, {y})": (eval(f"lambda a, b: a ** {y}"), 2) for y in exponents})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_powers_of_numpys_scalars_keep_their_bits_by_a_helper() -> None:
    exponents = "b", "2", "0.5", "-1"
    _check_numpy(
        {f"dlbrt.native.numpy_power(a, {y})": (eval(f"lambda a, b: a ** {y}"), 2) for y in exponents}
    )


def test_a_power_of_a_signalling_nan_is_one_where_pythons_is() -> None:
    nan = np.array([0x7FF0000000000001]).view(np.float64)
    one, zero = np.ones(1), np.zeros(1)
    assert one[0].item() ** nan[0].item() == nan[0].item() ** 0.0 == 1.0
    compiled = _compiled("dlbrt.native.power(a, b)", "dlbrt.native.math_pow(a, b)")
    assert compiled(one, nan).tolist() == compiled(nan, zero).tolist() == [[1.0], [1.0]]


def test_a_power_is_no_product() -> None:
    # The reason for the helper: numba makes x * x of x ** 2, which rounds otherwise.
    x = 0.4846648782067015
    assert x**2 != x * x
    assert _compiled("dlbrt.native.power(a, 2)")(np.array([x]), np.array([x]))[0, 0] == x**2


def test_builtin_functions_keep_their_bits() -> None:
    _check(
        {"abs(a)": (abs, 1), "dlbrt.native.minimum2(a, b)": (min, 2), "dlbrt.native.maximum2(a, b)": (max, 2)}
    )
    _check({"round(a)": (round, 1), "int(a)": (int, 1)}, "int64")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bits_of_integers_are_those_of_numpy_which_loses_some() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-(2**63), 2**63 - 1, 4000), rng.integers(0, 64, 4000)
    texts = "a << b", "a >> b", "a & b", "a | b", "a ^ b", "~a"
    found = _compiled(*texts, dtype="int64")(a, b)
    expected = [[eval(text, {"a": x, "b": y}) for x, y in zip(a, b, strict=True)] for text in texts]
    assert found.tolist() == expected


def test_an_integer_is_wide_after_a_shift_where_python_has_more_bits() -> None:
    compiled = numba.njit(lambda x, count: dlbrt.native.wide_after(x, count))
    for x in (0, 1, -1, 3, 2**31, -(2**31), 2**61 - 1, 2**61, -(2**61), 2**62 - 1):
        for count in (0, 1, 2, 30, 31, 61, 62, 63):
            assert compiled(x, count) == numerics.wide_after(x, count)
            assert compiled(x, count) or not numerics.wide(x << count)
    assert not compiled(1, 61)


def test_integers_are_shifted_by_as_many_bits_as_they_have() -> None:
    compiled = numba.njit(lambda count: dlbrt.native.unsafe_shift(count))
    assert [count for count in range(-3, 70) if not compiled(count)] == [*range(64)]
    assert [count for count in range(-3, 70) if not numerics.unsafe_shift(count)] == [*range(64)]


def test_complex_numbers_keep_their_bits_and_are_left_to_python_where_it_raises() -> None:
    compiled = numba.njit(
        lambda a, b: (complex(a, b), complex(a, b).conjugate(), abs(complex(a, b)), complex(a, b).imag)
    )
    far = numba.njit(lambda a, b: dlbrt.native.too_far(complex(a, b)))
    raised = 0
    for pair in (GRID, (X, Y)):
        for a, b in zip(*(axis.tolist() for axis in pair), strict=True):
            z = complex(a, b)
            try:
                size = abs(z)
            except OverflowError:
                raised += 1
                assert far(a, b)
                assert numerics.too_far(z)
                continue
            assert not far(a, b)
            assert not numerics.too_far(z)
            found = compiled(a, b)
            same = zip(found, (z, z.conjugate(), size, z.imag), strict=True)
            assert all(_same(one.real, other.real) and _same(one.imag, other.imag) for one, other in same)
    assert raised


@pytest.mark.parametrize("sign", ["//", "%"])
def test_division_of_integers_rounds_down(sign: str) -> None:
    operation = {"//": operator.floordiv, "%": operator.mod}[sign]
    a, b = (np.random.default_rng(seed).integers(-9, 9, 2000) for seed in (1, 2))
    b[b == 0] = 7
    expected = [operation(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert _compiled(f"a {sign} b", dtype="int64")(a, b).tolist() == [expected]


def test_a_quotient_of_integers_is_exact_unless_one_is_inexact() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(1, 2**54, 4000) for _ in range(2))
    inexact = _compiled("dlbrt.native.inexact(a) or dlbrt.native.inexact(b)")(a, b)[0] != 0
    quotients = np.array([x / y for x, y in zip(a.tolist(), b.tolist(), strict=True)])
    assert 0 < inexact.sum() < len(a)
    assert (_compiled("a / b")(a, b)[0] == quotients)[~inexact].all()


@pytest.mark.parametrize("stride", [1, 2, 3, -1, -2])
def test_sums_and_means_have_numpys_order(stride: int) -> None:
    total, mean = (numba.njit(eval(f"lambda a: dlbrt.native.{name}(a)")) for name in ("np_sum", "np_mean"))
    rng = np.random.default_rng(4)
    for n in (*range(300), *range(300, 5000, 97)):
        a = (rng.normal(size=n * abs(stride) + 1) * np.exp(rng.normal(0, 5, n * abs(stride) + 1)))[::stride][
            :n
        ]
        assert np.float64(total(a)).tobytes() == np.sum(a).tobytes()
        assert not n or np.float64(mean(a)).tobytes() == a.mean().tobytes()
    zeros = np.full(20, -0.0)
    assert math.copysign(1, total(zeros)) == math.copysign(1, zeros.sum())


def test_sums_of_integers_wrap_around_as_numpys_do() -> None:
    total = numba.njit(lambda a: dlbrt.native.np_sum(a))
    a = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 1000)
    assert total(a) == a.sum()
    assert total(a > 0) == (a > 0).sum()


VALUES = (0, 1, -1, 2**31, -(2**31), 2**53, 2**53 + 1, 2**62 - 1, 2**62, -(2**62), 2**63 - 1, 1.5, 0.0, True)


@pytest.mark.parametrize("name", ["wide", "inexact", "is_zero", "not_finite"])
def test_helpers_are_compiled_as_they_are_in_python(name: str) -> None:
    compiled = numba.njit(eval(f"lambda x: dlbrt.native.{name}(x)"))
    for value in (*VALUES, math.inf, -math.inf, math.nan):
        assert compiled(value) == getattr(numerics, name)(value)


def test_a_product_is_unsafe_if_it_may_leave_the_range_of_integers() -> None:
    compiled = numba.njit(lambda a, b: dlbrt.native.unsafe_product(a, b))
    for a in VALUES:
        for b in VALUES:
            assert compiled(a, b) == numerics.unsafe_product(a, b)
            whole = not isinstance(a, float) and not isinstance(b, float)
            inputs_wide = numerics.wide(a) or numerics.wide(b)
            assert compiled(a, b) or inputs_wide or not whole or not numerics.wide(a * b)
    assert not compiled(2**31 - 1, 2**31 - 1)


def test_a_subscript_is_outside_as_python_counts() -> None:
    compiled = numba.njit(lambda k, n: dlbrt.native.outside(k, n))
    assert [k for k in range(-5, 5) if not compiled(k, 3)] == [-3, -2, -1, 0, 1, 2]


def test_a_shape_has_no_negative_lengths_and_is_at_most_a_gigabyte() -> None:
    compiled = numba.njit(lambda a, b, c, d: dlbrt.native.is_shape(a, b, c, d))
    fewer = numba.njit(lambda a, b: (dlbrt.native.is_shape(a), dlbrt.native.is_shape(a, b)))
    lengths = (0, 1, 3, 2**14, 2**27, 2**27 + 1, -1, 2**61)
    for a in lengths:
        for b in lengths:
            assert fewer(a, b) == (numerics.is_shape(a), numerics.is_shape(a, b))
            for c, d in ((1, 1), (2**13, 1), (2**27, 2**27), (0, -1)):
                assert compiled(a, b, c, d) == numerics.is_shape(a, b, c, d)
    assert numerics.is_shape(2**14, 2**13)
    assert not any(numerics.is_shape(*shape) for shape in ((2**14, 2**14), (-1,), (0, -1), (2**28,)))
