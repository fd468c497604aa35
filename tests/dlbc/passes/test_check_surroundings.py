"""What around a loop keeps it from being run in parallel, in many forms; and what only looks like it."""

from __future__ import annotations

import pytest

from dlbc.pipeline import check
from dlbc.source import Source

LOOP = "# dlb: parallel\nfor i in range(8):\n    A[i] = i\n"


FACTORY_OF_COMPILED = """\
import numba
def fast(**options):
    def of(f):
        return numba.njit(**options)(f)
    return of
"""


def indented(text: str, by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def function(decorator: str = "", name: str = "fill") -> str:
    return f"{decorator}\ndef {name}():\n{indented(LOOP)}\n"


def codes(text: str) -> list[str]:
    program = f"import numpy as np\nA = np.zeros(8)\n{text}"
    return [d.code for d in check(Source("program.py", program.encode(), program))]


@pytest.mark.parametrize(
    ("imports", "decorator"),
    [
        ("from numba import njit", "njit"),
        ("from numba import njit as fast", "fast(cache=True)"),
        ("from numba import *", "vectorize"),
        ("import numba as nb", "nb.guvectorize(['void(f8[:])'], '(n)')"),
        ("from numba import cuda", "cuda.jit"),
        ("import numba.cuda", "numba.cuda.jit('void()')"),
        ("from numba.core.decorators import cfunc", "cfunc('f8()')"),
        ("import numba", "numba.stencil"),
        ("import torch", "torch.jit.script"),
        ("import jax", "jax.jit"),
        ("import jax\nfrom functools import partial", "partial(jax.jit, static_argnums=0)"),
        ("import tensorflow as tf", "tf.function"),
        ("import taichi as ti", "ti.kernel"),
        ("import cython", "cython.ccall"),
        ("import ray", "ray.remote(num_cpus=2)"),
        ("from dask import delayed", "delayed"),
        ("import numba\nfast = numba.njit(parallel=True)", "fast"),
        ("import numba\ndef fast(f):\n    return numba.njit(f)", "fast"),
        (
            "import numba\ndef fast(**k):\n    def of(f):\n        return numba.njit(**k)(f)\n    return of",
            "fast()",
        ),
        ("try:\n    from numba import njit\nexcept ImportError:\n    def njit(f):\n        return f", "njit"),
        ("from numba import njit\nFAST = True", "(njit if FAST else lambda f: f)"),
    ],
)
def test_a_function_that_a_decorator_takes(imports: str, decorator: str) -> None:
    assert codes(f"{imports}\n{function('@' + decorator)}") == ["DLB502"]


def test_a_method_of_a_class_that_is_compiled() -> None:
    program = f"from numba.experimental import jitclass\n@jitclass\nclass C:\n{indented(function())}"
    assert codes(program) == ["DLB502"]


def test_a_function_inside_one_that_is_compiled() -> None:
    assert codes(f"from numba import njit\n@njit\ndef outer():\n{indented(function())}") == ["DLB502"]


@pytest.mark.parametrize(
    "call",
    ["fill = njit(fill)", "fast = njit(cache=True)(fill)", "def main():\n    return njit(fill)()"],
)
def test_a_function_that_a_call_takes(call: str) -> None:
    assert codes(f"from numba import njit\n{function()}{call}") == ["DLB502"]


def test_a_method_that_a_call_takes() -> None:
    program = f"import jax\nclass C:\n{indented(function())}    def go(self):\n        jax.jit(self.fill)()\n"
    assert codes(program) == ["DLB502"]


@pytest.mark.parametrize(
    "program",
    [
        f"from numba import njit\n@njit\ndef other(x):\n    return x\n{function()}",
        f"def njit(f):\n    return f\n{function('@njit')}",
        f"from own import njit\n{function('@njit')}",
        f"from functools import lru_cache, wraps\nimport numba\n{function('@lru_cache')}",
        f"from numba import njit\n{function()}def twice(fill):\n    return njit(fill)\n",
        f"from numba import njit\n{function()}njit(lambda: 1)()\nfill()\n",
        f"import torch\n{function()}torch.trace(A)\n",
    ],
)
def test_functions_that_nothing_takes(program: str) -> None:
    assert "DLB502" not in codes(program)


WRAPS = "def traced(f):\n    def call(*a):\n        return f(*a)\n    return call\n"
KEEPS = "ALL = []\ndef kept(f):\n    ALL.append(f)\n"
ANY = "def anything(*functions):\n    return functions[0]\n"
FACTORY = "def made(n):\n    def of({parameter}):\n        return {result}\n    return of\n"


@pytest.mark.parametrize(
    ("decorators", "decorator", "dropped"),
    [
        ("def nothing(f):\n    return print\n", "nothing", True),
        (FACTORY.format(parameter="f", result="n"), "made(3)", True),
        (FACTORY.format(parameter="f", result="f"), "made(3)", False),
        (WRAPS, "traced", False),
        (KEEPS, "kept", False),
        (ANY, "anything", False),
        ("from own import nothing\n", "nothing", False),
        ("def nothing(f):\n    return 1\nnothing = print\n", "nothing", False),
    ],
)
def test_functions_that_a_decorator_drops(decorators: str, decorator: str, dropped: bool) -> None:
    assert ("DLB505" in codes(decorators + function("@" + decorator))) == dropped


@pytest.mark.parametrize(
    ("head", "reached"),
    [
        ("if False:\n", False),
        ("if 0:\n", False),
        ("while 0:\n", False),
        ("import typing as t\nif t.TYPE_CHECKING:\n", False),
        ("if not True:\n", False),
        ("if 1:\n    pass\nelse:\n", False),
        ("from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n", True),
        ("if False:\n    pass\nelse:\n", True),
        ("if __name__ == '__main__':\n", True),
        ("DEBUG = False\nif DEBUG:\n", True),
        ("def f():\n    return 1\n", False),
        ("def f():\n    if A.any():\n        return 1\n", True),
        ("while True:\n    break\n", False),
    ],
)
def test_loops_that_are_never_run(head: str, reached: bool) -> None:
    assert codes(head + indented(LOOP)) == ([] if reached else ["DLB506"])
