"""Loops that are cut where a condition on their index changes, or where they come to what they also read."""

from __future__ import annotations

import ast

import pytest

from dlbc.native.restructure import Nest, Variant, restructure
from tests.fuzz.random_nests import eager

JACOBI = """\
    others = 0.0
    for j in range(n):
        if j != i:
            others += A[i, j] * x[j]
    b[i] = others
"""

JACOBI_SIDE_BY_SIDE = """\
i_even = first + len(range(first, last, step)) // 4 * 4 * step
for i in range(first, i_even, 4 * step):
    others = 0.0
    others_2 = 0.0
    others_3 = 0.0
    others_4 = 0.0
    j_low = max(0, min(i, i + 3 * step, n))
    j_high = max(j_low, min(max(i, i + 3 * step) + 1, n))
    if 0 < j_low:
        a_part = A[i, 0:j_low]
        x_part = x[0:j_low]
        a_part2 = A[i + step, 0:j_low]
        a_part3 = A[i + 2 * step, 0:j_low]
        a_part4 = A[i + 3 * step, 0:j_low]
        for p in range(j_low):
            others += a_part[p] * x_part[p]
            others_2 += a_part2[p] * x_part[p]
            others_3 += a_part3[p] * x_part[p]
            others_4 += a_part4[p] * x_part[p]
    for j in range(j_low, j_high):
        if j != i:
            others += A[i, j] * x[j]
        if j != i + step:
            others_2 += A[i + step, j] * x[j]
        if j != i + 2 * step:
            others_3 += A[i + 2 * step, j] * x[j]
        if j != i + 3 * step:
            others_4 += A[i + 3 * step, j] * x[j]
"""

PATHS = """\
    for j in range(n):
        A[i, j] = min2(A[i, j], A[i, k] + x[j])
"""

PATHS_CUT = """\
for i in range(first, last, step):
    j_low = max(0, min(k, n))
    j_high = max(j_low, min(k + 1, n))
    if 0 < j_low:
        a_held = A[i, k]
        a_part = A[i, 0:j_low]
        x_part = x[0:j_low]
        for p in range(j_low):
            a_part[p] = min2(a_part[p], a_held + x_part[p])
    for j in range(j_low, j_high):
        A[i, j] = min2(A[i, j], A[i, k] + x[j])
    if j_high < n:
        a_held2 = A[i, k]
        a_part2 = A[i, j_high:n]
        x_part2 = x[j_high:n]
        for p2 in range(n - j_high):
            a_part2[p2] = min2(a_part2[p2], a_held2 + x_part2[p2])
"""


def _variants(body: str) -> tuple[Variant, ...]:
    loop = ast.parse("for i in range(first, last, step):\n" + body.replace("min2", "minimum2")).body[0]
    assert isinstance(loop, ast.For)
    arrays, numbers = ("A", "B", "P", "b", "x"), ("f", "k", "n")
    calls = frozenset(("minimum2",))
    return restructure(Nest(loop, "first", "last", "step", arrays, numbers, calls, frozenset())).variants


def _text(variant: Variant) -> str:
    return "".join(ast.unparse(each) + "\n" for each in variant.body).replace("minimum2", "min2")


def test_iterations_side_by_side_have_their_conditions_apart() -> None:
    best = _variants(JACOBI)[0]
    assert best.what == ("4 iterations of i are run side by side", "the loop over j is cut in parts")
    assert _text(best).startswith(JACOBI_SIDE_BY_SIDE)


def test_an_element_that_a_loop_reads_and_comes_to_is_held_before_and_after() -> None:
    (best,) = _variants(PATHS)
    assert best.what == ("the loop over j is cut in parts",)
    assert _text(best) == PATHS_CUT


@pytest.mark.parametrize(
    ("test", "before", "between", "after"),
    [
        ("j < k", "B", "A", "A"),
        ("j <= k", "B", "B", "A"),
        ("j == k", "A", "B", "A"),
        ("k != j", "B", "A", "B"),
        ("k < j", "A", "A", "B"),
        ("not k >= j", "A", "A", "B"),
        ("j + 1 > k + 1", "A", "A", "B"),
    ],
)
def test_each_part_has_the_values_that_its_conditions_choose(
    test: str, before: str, between: str, after: str
) -> None:
    body = f"    for j in range(n):\n        A[i, j] += (B[i, j] if {test} else A[i, j]) * A[i, k]\n"
    (best,) = _variants(body)
    _, _, low, middle, high = best.body[0].body  # type: ignore[attr-defined]
    for part, array in ((low, before), (high, after)):
        assert isinstance(part, ast.If)
        assert ("b_part" in ast.unparse(part)) is (array == "B")
    assert ("B" in ast.unparse(middle)) is (between == "B")


@pytest.mark.parametrize(
    "body",
    [
        "    for j in range(n):\n        if j != f:\n            A[i, j] = x[j]",  # f may be no integer
        "    for j in range(n):\n        if j < 2.0:\n            A[i, j] = x[j]",
        "    for j in range(n):\n        if j < P[i]:\n            A[i, j] = x[j]",
        "    for j in range(n):\n        if 2 * j < k:\n            A[i, j] = x[k]",
        "    for j in range(0, n, 2):\n        if j < k:\n            A[i, j] = x[k]",
        "    for j in range(P[k]):\n        if j < k:\n            P[i] = j",  # the bound changes
        "    for j in range(n):\n        A[i, j] = A[i, k] + A[i, j + 1]\n        A[i, k] = x[j]",
        "    for j in range(n):\n        A[i, j] += A[i, k]\n        A[i, j + 1] = x[j]",  # two places
        "    for j in range(n):\n        t = P[j]\n        A[t, j] += A[t, k]",  # another row each time
    ],
)
def test_loops_that_cannot_be_cut_are_not(body: str) -> None:
    with eager(256, 4):
        assert not [v for v in _variants(body) if "cut" in " ".join(v.what)]


def test_loops_that_gain_little_are_cut_where_all_forms_are_wanted() -> None:
    body = "    for j in range(n):\n        if j < k:\n            A[i, P[j]] = x[k]"
    assert not _variants(body)
    with eager(256, 4):
        assert [v for v in _variants(body) if "cut" in " ".join(v.what)]
