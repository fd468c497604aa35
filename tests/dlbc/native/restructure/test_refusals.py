"""What is not legal is not done, and the reason is given."""

from __future__ import annotations

import ast

import pytest

from dlbc.native.restructure import Nest, restructure

HEAD = "for i in range(first, last, step):\n"
CASES = {
    "a column is carried along j": (
        "    for j in range(1, n):\n        for k in range(n):\n            Z[i, j] += Z[i, j - 1] * Y[k, j]",
        "iterations of the loop over j may share elements of Z",
    ),
    "the place depends on data": (
        "    for j in range(n):\n        for k in range(n):\n            Z[i, P[j]] += X[i, k] * Y[k, j]",
        "iterations of the loop over j may share elements of Z",
    ),
    "a scalar is carried along j": (
        "    t = 0.0\n    for j in range(n):\n        for k in range(n):\n"
        "            t += X[i, k] * Y[k, j]\n    A[i] = t",
        "the value of t is carried from one j to the next",
    ),
    "a scalar is used after the loop": (
        "    t = 0.0\n    for j in range(n):\n        t = 0.0\n        for k in range(n):\n"
        "            t += X[i, k] * Y[k, j]\n        Z[i, j] = t\n    A[i] = t",
        "the value of t is used after the loop over j",
    ),
    "the scalar may be an int": (
        "    for j in range(n):\n        t = 0\n        for k in range(n):\n            t += n\n"
        "        Z[i, j] = t",
        "t may hold other values than floats",
    ),
    "the scalar is that of the iteration before": (
        "    if n > 3:\n        t = X[i, 0]\n    for j in range(n):\n        Z[i, j] = t",
        "t may be read before the iteration assigns to it",
    ),
    "a while loop": ("    while n > 3:\n        A[i] = 0.0", "`while n > 3:` is not understood"),
    "a break": ("    for j in range(n):\n        break", "`break` is not understood"),
    "an unknown call": ("    A[i] = f(i)", "`f(i)` is not understood"),
    "a slice": ("    A[i] = X[i, 0:2]", "`0:2` is not understood"),
    "an index of an inner loop after it": (
        "    for j in range(n):\n        Z[i, j] = 0.0\n    A[i] = j",
        "j has no known value here",
    ),
    "rows beside elements": (
        "    Z[i] = X[i, 0]\n    Z[i, 0] = 0.0",
        "an array has elements with different numbers of subscripts",
    ),
}  # fmt: skip


def _nest(body: str) -> Nest:
    loop = ast.parse(HEAD + body).body[0]
    assert isinstance(loop, ast.For)
    arrays = ("A", "P", "X", "Y", "Z")
    return Nest(loop, "first", "last", "step", arrays, ("n",), frozenset(), frozenset())


@pytest.mark.parametrize("case", CASES)
def test_what_is_not_legal_is_refused(case: str) -> None:
    body, reason = CASES[case]
    found = restructure(_nest(body))
    assert not [v for v in found.variants if "loop over j" in " ".join(v.what)]
    assert reason in found.reasons


def test_triangles_below_a_carried_sum_stay_as_written() -> None:
    body = "    for j in range(n):\n        for k in range(j, n):\n            A[i] += X[i, k]"
    assert not restructure(_nest(body)).variants


def test_loops_that_are_vectorised_as_written_stay() -> None:
    body = "    for j in range(1, n - 1):\n        Z[i, j] = X[i, j - 1] + X[i, j + 1]"
    assert restructure(_nest(body)).variants == ()


def test_arrays_of_indices_need_not_hold_floats() -> None:
    body = (
        "    for j in range(n):\n        for k in range(n):\n            Z[i, j] += X[i, P[k]] * Y[P[k], j]"
    )
    (best, *_) = restructure(_nest(body)).variants
    assert best.float_arrays == {"X", "Y", "Z"}


@pytest.mark.parametrize(
    "body",
    [
        "    A[i] = " + " + ".join(["1.0"] * 300),
        "    A[i] = " + "-" * 80 + "1.0",
        "    A[i], A[i + 1] = 1.0, 2.0",
        "    A[i] = A[j] = 1.0",
        "    A[i:] = X[i]",
        "    A[*P] = 1.0",
        "    t: float = 1.0",
        "    A[i] = [1.0][0]",
        "    A[i] = (t := 1.0)",
        "    for A[i] in range(n):\n        pass",
        "    for j in X:\n        pass",
        "    pass",
    ],
)
def test_nothing_that_is_not_understood_is_an_error(body: str) -> None:
    assert restructure(_nest(body)).variants == ()
