"""What is made of the paper's matrix multiplication and adjoint convolution, as text."""

from __future__ import annotations

import ast

import numpy
import pytest

from dlbc.native.restructure import Nest as NestOf
from dlbc.native.restructure import Restructured, restructure
from tests.fuzz.random_nests import eager

MXM = """\
for i in range(first, last, step):
    for j in range(n):
        for k in range(n):
            Z[i, j] += X[i, k] * Y[k, j]
"""

CONVOLUTION = """\
for i in range(first, last, step):
    for k in range(i, n):
        A[i] += X * B[k] * C[k - i]
"""

MXM_INTERCHANGED = """\
for i in range(first, last, step):
    j_first = 0
    j_end = n
    k_rest = max(n, 0) // 4 * 4
    for k in range(0, k_rest, 4):
        x1 = X[i, k]
        x2 = X[i, k + 1]
        x3 = X[i, k + 2]
        x4 = X[i, k + 3]
        z_part = Z[i, j_first:j_end]
        y_part = Y[k, j_first:j_end]
        y_part2 = Y[k + 1, j_first:j_end]
        y_part3 = Y[k + 2, j_first:j_end]
        y_part4 = Y[k + 3, j_first:j_end]
        for p in range(j_end - j_first):
            z_part[p] = z_part[p] + x1 * y_part[p] + x2 * y_part2[p] + x3 * y_part3[p] + x4 * y_part4[p]
    for k in range(k_rest, n):
        x5 = X[i, k]
        z_part2 = Z[i, j_first:j_end]
        y_part5 = Y[k, j_first:j_end]
        for p2 in range(j_end - j_first):
            z_part2[p2] = z_part2[p2] + x5 * y_part5[p2]
"""

CONVOLUTION_IN_STRIPS = """\
for i_first in range(max(first, 0), last, 256):
    i_end = min(i_first + 256, last)
    k_all = i_end - 1
    k_stop = max(k_all, n)
    for k in range(i_first, min(k_all, n)):
        x1 = X * B[k]
        a_part = A[i_first:min(i_end, k + 1)]
        for p in range(min(i_end, k + 1) - i_first):
            a_part[p] = a_part[p] + x1 * C[k - i_first - p]
    if k_all < k_stop:
        C_reversed = numpy.empty(i_end + k_stop - i_first - k_all - 1, numpy.float64)
        for p2 in range(i_end + k_stop - i_first - k_all - 1):
            C_reversed[p2] = C[k_stop - i_first - p2 - 1]
        k_rest = k_all + max(k_stop - k_all, 0) // 8 * 8
        for k in range(k_all, k_rest, 8):
            x2 = X * B[k]
            x3 = X * B[k + 1]
            x4 = X * B[k + 2]
            x5 = X * B[k + 3]
            x6 = X * B[k + 4]
            x7 = X * B[k + 5]
            x8 = X * B[k + 6]
            x9 = X * B[k + 7]
            a_part2 = A[i_first:i_end]
            c_reversed_part = C_reversed[k_stop - k - 1:i_end + k_stop - i_first - k - 1]
            c_reversed_part2 = C_reversed[k_stop - k - 2:i_end + k_stop - i_first - k - 2]
            c_reversed_part3 = C_reversed[k_stop - k - 3:i_end + k_stop - i_first - k - 3]
            c_reversed_part4 = C_reversed[k_stop - k - 4:i_end + k_stop - i_first - k - 4]
            c_reversed_part5 = C_reversed[k_stop - k - 5:i_end + k_stop - i_first - k - 5]
            c_reversed_part6 = C_reversed[k_stop - k - 6:i_end + k_stop - i_first - k - 6]
            c_reversed_part7 = C_reversed[k_stop - k - 7:i_end + k_stop - i_first - k - 7]
            c_reversed_part8 = C_reversed[k_stop - k - 8:i_end + k_stop - i_first - k - 8]
            for p3 in range(i_end - i_first):
                a_part2[p3] = a_part2[p3] + x2 * c_reversed_part[p3] + x3 * c_reversed_part2[p3] + x4 * c_reversed_part3[p3] + x5 * c_reversed_part4[p3] + x6 * c_reversed_part5[p3] + x7 * c_reversed_part6[p3] + x8 * c_reversed_part7[p3] + x9 * c_reversed_part8[p3]
        for k in range(k_rest, k_stop):
            x10 = X * B[k]
            a_part3 = A[i_first:i_end]
            c_reversed_part9 = C_reversed[k_stop - k - 1:i_end + k_stop - i_first - k - 1]
            for p4 in range(i_end - i_first):
                a_part3[p4] = a_part3[p4] + x10 * c_reversed_part9[p4]
"""  # noqa: E501

DISTANCES = """\
for i in range(first, last, step):
    for j in range(n):
        total = 0.0
        for k in range(3, m):
            total += (X[i, k] - X[j, k]) * (X[i, k] - X[j, 0])
        Z[i, j] = total
"""

FORCES = """\
for i in range(first, last, step):
    force = 0.0
    for j in range(n):
        d = X[j, 0] - X[i, 0]
        e = X[j, 1] - X[i, 1]
        force += A[j] * d / (d * d + e * e + 1.0)
    Z[i, 0] = force
"""

FORCES_IN_STRIPS = """\
force_row = numpy.empty(256, numpy.float64)
X_packed = numpy.empty(256, numpy.float64)
X_packed2 = numpy.empty(256, numpy.float64)
for i_first in range(max(first, 0), last, 256):
    i_end = min(i_first + 256, last)
    if 0 < n:
        for p in range(i_end - i_first):
            X_packed[p] = X[i_first + p, 0]
            X_packed2[p] = X[i_first + p, 1]
    force_row_part = force_row[0:i_end - i_first]
    for p2 in range(i_end - i_first):
        force_row_part[p2] = 0.0
    for j in range(n):
        x1 = X[j, 0]
        x2 = X[j, 1]
        x3 = A[j]
        x_packed_part = X_packed[0:i_end - i_first]
        x_packed2_part = X_packed2[0:i_end - i_first]
        force_row_part2 = force_row[0:i_end - i_first]
        for p3 in range(i_end - i_first):
            d = x1 - x_packed_part[p3]
            e = x2 - x_packed2_part[p3]
            force_row_part2[p3] = force_row_part2[p3] + x3 * d / (d * d + e * e + 1.0)
    force_row_part3 = force_row[0:i_end - i_first]
    for p4 in range(i_end - i_first):
        Z[i_first + p4, 0] = force_row_part3[p4]
"""


def _restructured(loop_text: str, arrays: str, numbers: str, taken: str = "") -> Restructured:
    loop = ast.parse(loop_text).body[0]
    assert isinstance(loop, ast.For)
    words = tuple(arrays.split()), tuple(numbers.split())
    return restructure(NestOf(loop, "first", "last", "step", *words, frozenset(), frozenset(taken.split())))


def _text(statements: tuple[ast.stmt, ...]) -> str:
    return "\n".join(map(ast.unparse, statements)) + "\n"


def test_the_columns_of_matrix_multiplication_are_innermost() -> None:
    two, one = _restructured(MXM, "X Y Z", "n").variants
    assert one.what == ("the loop over j is innermost, below k",)
    assert two.what == (*one.what, "two iterations of i are run side by side")
    assert one.float_arrays == two.float_arrays == {"X", "Y", "Z"}
    assert one.strip == 1
    assert _text(one.body) == MXM_INTERCHANGED


def test_strips_of_the_convolution_are_innermost() -> None:
    (strips,) = _restructured(CONVOLUTION, "A B C", "n X").variants
    assert strips.what == ("strips of 256 iterations of i are innermost, below k",)
    assert strips.strip > 1
    assert strips.float_arrays == {"A", "B", "C"}
    assert _text(strips.body) == CONVOLUTION_IN_STRIPS


def test_columns_that_a_strip_reads_again_are_copied() -> None:
    (strips, *_) = _restructured(FORCES, "A X Z", "n").variants
    assert strips.what == (
        "strips of 256 iterations of i are innermost, below j",
        "columns of X are copied for each strip",
    )
    assert strips.float_arrays == {"A", "X", "Z"}
    assert _text(strips.body) == FORCES_IN_STRIPS


def test_copies_of_tables_have_narrow_strips() -> None:
    (strips, *_) = _restructured(DISTANCES, "X Z", "n m").variants
    made = _text(strips.body)
    assert "for i_first in range(max(first, 0), last, 64):" in made
    assert "X_packed = numpy.empty((max(m - 3, 0), i_end - i_first), numpy.float64)" in made
    assert "if 0 < n:" in made
    assert "X_packed[k - 3, p] = X[i_first + p, k]" in made
    assert made.count("X_packed = ") == 1  # X[j, k] and X[j, 0] are read where they are


@pytest.mark.parametrize(
    "body",
    [
        "for j in range(n):\n        Z[i, j] = X[i, j] * A[j]",  # each element is read once
        "for j in range(n):\n        if j < 3:\n            A[i] += X[i + 1, 0] * X[j, 0]",  # or none
        "for j in range(n):\n        Z[i, 0] += Z[i, 1] * X[j, 0]",  # stored to
        "for j in range(i, n):\n        A[i] += X[i, 0] * X[j, 0]",  # not read by all iterations of a strip
    ],
)
def test_no_column_is_copied_that_is_not_read_again(body: str) -> None:
    with eager(3, 2):
        found = _restructured(f"for i in range(first, last, step):\n    {body}\n", "A X Z", "n").variants
    assert found
    assert "packed" not in "".join(_text(variant.body) for variant in found)


def test_columns_that_no_iteration_reads_are_not_copied() -> None:
    (strips, *_) = _restructured(FORCES, "A X Z", "n").variants
    total = numpy.ones((5, 1))
    arrays = {"A": numpy.zeros(0), "X": numpy.zeros((0, 0)), "Z": total}
    exec(_text(strips.body), {"numpy": numpy, "first": 0, "last": 5, "step": 1, "n": 0, **arrays})
    assert not total.any()


def test_lengths_of_arrays_are_numbers_before_the_loop() -> None:
    text = MXM.replace("j in range(n)", "j in range(Z.shape[1])").replace(
        "k in range(n)", "k in range(len(Y))"
    )
    one = _restructured(text, "X Y Z", "").variants[-1]
    before = "Z_shape_1 = Z.shape[1]\nY_shape_0 = Y.shape[0]\n"
    expected = MXM_INTERCHANGED.replace("j_end = n", "j_end = Z_shape_1")
    expected = expected.replace("max(n, 0)", "max(Y_shape_0, 0)").replace(
        "(k_rest, n)", "(k_rest, Y_shape_0)"
    )
    assert _text(one.body) == before + expected


def test_the_length_of_an_array_that_changes_is_not() -> None:
    text = MXM.replace("j in range(n)", "j in range(len(W))").replace("    for j", "    W = f(i)\n    for j")
    loop = ast.parse(text).body[0]
    assert isinstance(loop, ast.For)
    arrays = ("W", "X", "Y", "Z")
    found = restructure(NestOf(loop, "first", "last", "step", arrays, ("n",), frozenset(), frozenset(), True))
    assert not [v for v in found.variants if "W_shape_0" in _text(v.body)]


def test_a_condition_on_the_iteration_parts_the_strip() -> None:
    text = FORCES.replace("        d = ", "        if i != j:\n            d = ").replace(
        "        e =", "            e ="
    )
    text = text.replace("        force +=", "            force +=")
    (strips, *_) = _restructured(text, "A X Z", "n").variants
    made = _text(strips.body)
    assert "i_low = max(i_first, min(j, i_end))\n" in made
    assert "i_high = max(i_low, min(j + 1, i_end))\n" in made
    assert made.count("d = x1 - x_packed_part[p3]") == 1
    assert made.count("d = x4 - x_packed_part2[p4]") == 1
    assert "if i != j" not in made  # where they are equal, nothing is left to do


def test_a_column_is_copied_where_one_of_two_loops_reads_it() -> None:
    text = """\
for i in range(first, last, step):
    force = 0.0
    for j in range(n):
        force += X[i, 0] * A[j]
    for j in range(m):
        force -= X[i, 0] * A[j]
    Z[i, 0] = force
"""
    with eager(3, 2):
        (strips,) = [v for v in _restructured(text, "A X Z", "n m").variants if v.strip > 1]
    assert "if 0 < n or 0 < m:" in _text(strips.body)
    expected, found = (numpy.zeros((7, 1)) for _ in range(2))
    written = ast.parse(text).body
    for n, m in ((0, 3), (3, 0), (2, 2), (0, 0)):
        arrays = {"A": numpy.arange(1.0, 4.0), "X": numpy.arange(7.0).reshape(7, 1)}
        bounds = {"numpy": numpy, "first": 0, "last": 7, "step": 1, "n": n, "m": m}
        exec("\n".join(map(ast.unparse, written)), {**bounds, **arrays, "Z": expected})
        exec(_text(strips.body), {**bounds, **arrays, "Z": found})
        assert expected.tobytes() == found.tobytes()


def test_names_that_are_taken_are_not_used() -> None:
    one = _restructured(MXM, "X Y Z", "n", "j_first x1 p").variants[-1]
    names = {n.id for each in one.body for n in ast.walk(each) if isinstance(n, ast.Name)}
    assert not names & {"j_first", "x1", "p"}


def test_the_tree_that_is_given_does_not_change() -> None:
    loop = ast.parse(CONVOLUTION).body[0]
    assert isinstance(loop, ast.For)
    restructure(NestOf(loop, "first", "last", "step", ("A", "B", "C"), ("n", "X"), frozenset(), frozenset()))
    assert ast.unparse(loop) + "\n" == CONVOLUTION


@pytest.mark.parametrize(("text", "arrays", "numbers"), [(MXM, "X Y Z", "n"), (CONVOLUTION, "A B C", "n X")])
def test_the_same_nest_gives_the_same_text(text: str, arrays: str, numbers: str) -> None:
    one, other = (_restructured(text, arrays, numbers).variants for _ in range(2))
    assert [_text(v.body) for v in one] == [_text(v.body) for v in other]
