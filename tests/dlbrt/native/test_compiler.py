"""What is compiled does what Python does, and what is not says why."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import dlbrt.native
import numpy as np
import pytest
from dlbrt.native import compiler, numerics

pytest.importorskip("numba")

from dlbrt.native.compiler import NotCompiled, compile_chunk

FACTOR = 2.5
TABLE = [1.0, 2.0]


def _scaled(x: float) -> float:
    return x * FACTOR if x > 0 else _rooted(-x)


def _rooted(x: float) -> float:
    return math.sqrt(x)


def _chunk(first, last, step, results, Z, X, n):
    for i in range(first, last, step):
        s = 0
        c = 0
        for j in range(n):
            s += X[i, j] * _scaled(X[i, j])
            c += j
            if dlbrt.native.wide(c):
                return i
        Z[i] = s
        dlbrt.native.put(results, 0, (i - first) // step, c)
    return last


def _arguments(n: int = 5) -> tuple[Any, ...]:
    X = np.random.default_rng(0).normal(size=(20, n))
    return 0, 20, 1, numerics.new_results(1, 20), np.zeros(20), X, n


def test_a_chunk_with_functions_and_constants_of_the_program_has_pythons_bits() -> None:
    arguments, expected = _arguments(), _arguments()
    assert compile_chunk(_chunk, arguments)(*arguments) == _chunk(*expected) == 20
    assert arguments[4].tobytes() == expected[4].tobytes()
    assert (
        numerics.read_results(arguments[3], 0, 20) == numerics.read_results(expected[3], 0, 20) == [10] * 20
    )


def test_other_types_are_an_error_and_never_converted() -> None:
    arguments = _arguments()
    compiled = compile_chunk(_chunk, arguments)
    with pytest.raises(TypeError, match="found int, int, int, tuple, ndarray, ndarray, float"):
        compiled(*arguments[:-1], 5.0)


def test_an_integer_that_leaves_its_range_ends_the_chunk() -> None:
    def chunk(first, last, step, start):
        total = start
        for i in range(first, last, step):
            total = total + total
            if dlbrt.native.wide(total):
                return i
        return last

    assert compile_chunk(chunk, (0, 100, 1, 1))(0, 100, 1, 1) == 61
    assert compile_chunk(chunk, (0, 100, 1, 1.0))(0, 100, 1, 1.0) == 100


def test_division_by_zero_is_infinite_or_pythons_error() -> None:
    def chunk(first, last, step, Z, x):
        for i in range(first, last, step):
            Z[i] = 1.0 / x
        return last

    arguments = 0, 1, 1, np.zeros(1), 0.0
    assert compile_chunk(chunk, arguments)(*arguments) == 1
    assert arguments[3][0] == math.inf
    with pytest.raises(ZeroDivisionError):
        compile_chunk(chunk, arguments, python_division=True)(*arguments)


def _strings(first, last, step, Z, n):
    for i in range(first, last, step):
        d = {"a": 1}
        Z[i] = d["a"]
    return last


def _text(first, last, step, Z, n):
    for i in range(first, last, step):
        Z[i] = int("3")
    return last


def _attribute(first, last, step, Z, n):
    for i in range(first, last, step):
        Z[i] = np.nothing(i)
    return last


def _converted(first, last, step, Z, n):
    for i in range(first, last, step):
        s = 0
        for _ in range(n):
            s = s + 0.5
        Z[i] = -s
    return last


def _unbound(first, last, step, Z, n):
    for i in range(first, last, step):
        for j in range(n):
            t = j
        Z[i] = t
    return last


def _generator(first, last, step, Z, n) -> Iterator[int]:
    yield first


def _list_of_the_module(first, last, step, Z, n):
    for i in range(first, last, step):
        Z[i] = TABLE[0]
    return last


def _two_types(first, last, step, Z, n):
    for i in range(first, last, step):
        Z[i] = dlbrt.native.minimum2(Z[i], n)
    return last


def _bools(first, last, step, Z, n):
    for i in range(first, last, step):
        Z[i] = (Z[i] > 0) + (Z[i] > 1)
    return last


@pytest.mark.parametrize(
    ("chunk", "reason", "text"),
    [
        (_strings, "a value is a string", 'd = {"a": 1}'),
        (_text, "numba has no `int` for these types", 'Z[i] = int("3")'),
        (_attribute, "module 'numpy' has no attribute 'nothing'", ""),
        (_converted, "`s` may be an integer, or a float: begin with 0.0 instead of 0", "Z[i] = -s"),
        (_unbound, "`t` may have no value", "Z[i] = t"),
        (_generator, "it is a generator or a coroutine", ""),
        (_list_of_the_module, "the global name `TABLE` is a list, which may change", ""),
        (_two_types, "min of float64 and int64: the result may have either type", ""),
        (_bools, "arithmetic of two bools", "Z[i] = (Z[i] > 0) + (Z[i] > 1)"),
    ],
)
def test_what_is_not_compiled_says_why_and_where(chunk: FunctionType, reason: str, text: str) -> None:
    """What dlbc has put there itself is not shown."""
    with pytest.raises(NotCompiled) as caught:
        compile_chunk(chunk, (0, 1, 1, np.zeros(3), 3))
    assert reason in caught.value.reason
    assert "\n" not in caught.value.reason
    assert caught.value.reason.partition(", in ")[2] == (text and f"`{text}`")


def test_what_is_not_compiled_is_tried_once_for_each_kind_of_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[object] = []
    compile_anew = compiler._compile
    monkeypatch.setattr(
        compiler, "_compile", lambda *given: (tried.append(given[1]), compile_anew(*given))[1]
    )
    space: dict[str, Any] = {"twice": lambda x: x * 2 if x > 1 else "1"}
    exec("def chunk(first, last, step, Z):\n    Z[0] = twice(Z[0])\n    return last\n", space)

    def refused(Z: object) -> tuple[str, int | None]:
        with pytest.raises(NotCompiled) as caught:
            compile_chunk(space["chunk"], (0, 1, 1, Z))
        return caught.value.reason, caught.value.line

    assert refused(np.ones(1)) == refused(np.ones(1))
    assert len(tried) == 1
    refused(np.ones(1, np.int64))
    assert len(tried) == 2
    space["twice"] = lambda x: x * 2
    assert compile_chunk(space["chunk"], (0, 1, 1, np.ones(1)))(0, 1, 1, np.ones(1)) == 1


def test_functions_of_other_modules_of_the_program_are_compiled_too() -> None:
    other = ModuleType("other")
    exec("def twice(x):\n    return x + x\n", vars(other))
    space: dict[str, Any] = {"other": other}
    exec("def chunk(first, last, step, Z):\n    Z[0] = other.twice(Z[0])\n    return last\n", space)
    Z = np.ones(1)
    chunk: Callable[..., int] = space["chunk"]
    assert compile_chunk(chunk, (0, 1, 1, Z))(0, 1, 1, Z) == 1  # type: ignore[arg-type]
    assert Z[0] == 2


def test_nothing_imports_numba_before_a_loop_is_compiled() -> None:
    text = "import sys, dlbrt.native.compiler, dlbrt.exactness; print('numba' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"


def test_without_numba_the_reason_says_how_to_install_it() -> None:
    text = (
        "import sys; sys.modules['numba'] = None\n"
        "from dlbrt.native.compiler import NotCompiled, compile_chunk\n"
        "try:\n    compile_chunk(lambda first, last, step: last, (0, 1, 1))\n"
        "except NotCompiled as reason:\n    print(reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "numba is not installed: pip install 'dlbc[jit]'\n"
