"""Bodies whose iterations keep their order: inner loops are restructured between what is not understood."""

from __future__ import annotations

import ast

import pytest

from dlbc.native.restructure import Nest, Restructured, restructure
from tests.fuzz.random_nests import eager

TRANSFORM = """\
    first_column = 0
    while first_column < P[i]:
        if wide(first_column):
            return i
        first_column += 1
    half[:, :] = 0.0
    for p in range(n):
        for k in range(first_column, n):
            half[p, k] += A[i, p] * X[p, k]
    for j in range(n):
        total = 0.0
        for q in range(n):
            total += half[q, 0] * X[q, j]
        A[i, j] = total
    put(results, 0, total)
"""

TRANSFORMED = """\
for i in range(first, last, step):
    first_column = 0
    while first_column < P[i]:
        if wide(first_column):
            return i
        first_column += 1
    half[:, :] = 0.0
    for p in range(n):
        if first_column < n:
            x1 = A[i, p]
            half_part = half[p, first_column:n]
            x_part = X[p, first_column:n]
            for p2 in range(n - first_column):
                half_part[p2] += x1 * x_part[p2]
    for j in range(n):
        total = 0.0
        for q in range(n):
            total += half[q, 0] * X[q, j]
        A[i, j] = total
    put(results, 0, total)
"""


def _restructured(body: str, in_order: bool = True) -> Restructured:
    loop = ast.parse("for i in range(first, last, step):\n" + body).body[0]
    assert isinstance(loop, ast.For)
    arrays = ("A", "P", "X", "Z", "half")
    return restructure(
        Nest(loop, "first", "last", "step", arrays, ("n",), frozenset(), frozenset(), in_order)
    )


def _text(found: Restructured, number: int = 0) -> str:
    return "".join(ast.unparse(each) + "\n" for each in found.variants[number].body)


def test_what_is_not_understood_stays_where_it_is() -> None:
    found = _restructured(TRANSFORM)
    assert _text(found) == TRANSFORMED  # total is used at the end, so the loop over j stays as it is


def test_a_value_that_is_not_used_later_may_be_kept_in_rows() -> None:
    (best,) = _restructured(TRANSFORM.replace("put(results, 0, total)", "put(results, 0, n)")).variants
    assert best.what == ("the loop over k is over slices", "the loop over j is innermost, below q")
    assert best.float_arrays == {"A", "X", "half"}
    assert best.strip == 1


def test_loops_over_slices_are_those_that_may_begin_at_a_negative_index() -> None:
    loops = {
        "range(n)": False,
        "range(2, n)": False,
        "range(p + 1, n)": False,
        "range(i, n)": True,
        "range(n, 9)": True,
    }
    for bounds, expected in loops.items():
        body = f"    for p in range(n):\n        for k in {bounds}:\n            A[i, k] += X[p, k]\n"
        found = "".join(what for v in _restructured(body).variants for what in v.what)
        assert ("slices" in found) is expected, bounds


@pytest.mark.parametrize(
    "body",
    [
        "    for k in range(i, n):\n        A[i, k] = A[i, k - 1]\n",  # carried
        "    for k in range(i, n):\n        A[i, k] = X[k, i]\n",  # other rows
        "    for k in range(i, n):\n        A[i, k] = t\n        t = X[i, k]\n",
        "    for k in range(i, n, 2):\n        A[i, k] = X[i, k]\n",
    ],
)
def test_loops_that_are_no_vector_loops_stay(body: str) -> None:
    assert not _restructured(body).variants


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


NOT_IN_ORDER = {
    "a statement is not understood": """
for k in range(n):
    for l in range(n):
        A[i, k] += X[l, k]
        f()
""",
    "a condition ends the chunk": """
for k in range(n):
    if A[i, k] > 0.0:
        return i
    for l in range(n):
        A[i, k] += X[l, k]
""",
    "t may be that of the iteration before": """
f()
for k in range(n):
    A[i, k] = t
    for l in range(n):
        t = X[l, k]
""",
    "a while loop is one statement": """
while f():
    for k in range(n):
        for l in range(n):
            A[i, k] += X[l, k]
""",
}


@pytest.mark.parametrize("case", NOT_IN_ORDER)
def test_loops_with_what_is_not_understood_stay_as_they_are(case: str) -> None:
    with eager(4, 4):
        assert not _restructured(_indented(NOT_IN_ORDER[case].strip())).variants
