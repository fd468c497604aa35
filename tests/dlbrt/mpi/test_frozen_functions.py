"""Functions by value within a process: what they read of the program stays as it was."""

from __future__ import annotations

import types
from typing import Any

import pytest
from dlbrt.mpi.values.frozen_functions import are_same, bindings, frozen

PRELUDE = """
import math
import numpy as np
import random as dice
from dlbrt import BLOCK, REDUCE
from math import sin

scale, parts, table, noted = 3, (1, "a", (2.5,)), {"a": 1}, []

def inner(x):
    return sin(x) * scale

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def counted(x):
    global scale
    scale += 1
    return x

def made():
    local = [0]
    def f(x):
        local[0] += 1
        return x + local[0]
    return f

closure = made()
"""


def program(body: str) -> tuple[types.FunctionType, dict[str, Any]]:
    """A function f of a program, and the program's globals."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PRELUDE + body, names)
    function = names["f"]
    assert isinstance(function, types.FunctionType)
    return function, names


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return inner(x) + scale + math.floor(x) + len(parts)",
        "def f(x):\n    return float(np.sqrt(np.asarray([x]) + np.pi)[0]) * scale",
        "def f(x):\n    return even(int(x)) + scale",
        "def f(x, more=2, *, least=(1,)):\n    return max(x, *least) + more + (lambda y: y * scale)(x)",
        "def f(x):\n    return [scale * k for k in range(3)], BLOCK.distribution, REDUCE('+')",
    ],
)
def test_a_frozen_function_does_what_the_function_did(body: str) -> None:
    function, names = program(body)
    known = bindings(function)
    assert known is not None
    copy = frozen(function, known)
    before = function(1.5)
    assert copy(1.5) == before
    names["scale"] = 7
    names["inner"] = names["even"] = lambda _: 1000
    assert copy(1.5) == before
    assert function(1.5) != before


@pytest.mark.parametrize(
    "body",
    [
        "def f(x):\n    return table['a'] + x",
        "def f(x):\n    noted.append(x)\n    return x",
        "def f(x):\n    print(x)",
        "def f(x):\n    return counted(x)",
        "def f(x):\n    return closure(x)",
        "def f(x):\n    return dice.random() + x",
        "def f(x):\n    return np.random.rand() + x",
        "def f(x):\n    import math as m\n    return m.sin(x)",
        "def f(x, held=[]):\n    return x",
        "def f(x):\n    return missing(x)",
        "f = np.vectorize(inner).pyfunc\nf.calls = 0",
    ],
)
def test_a_function_is_not_frozen_that_depends_on_more_or_does_more(body: str) -> None:
    function, _ = program(body)
    assert bindings(function) is None


def test_bindings_are_the_same_while_the_globals_are_the_same_objects() -> None:
    function, names = program("def f(x):\n    return inner(x)")
    known, again = bindings(function), bindings(function)
    assert known is not None
    assert again is not None
    assert are_same(known, again)
    names["scale"] = 4.0
    changed = bindings(function)
    assert changed is not None
    assert not are_same(known, changed)
