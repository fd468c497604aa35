"""What bodies become: where subscripts are tested, what is a buffer, and what is left to Python."""

from __future__ import annotations

import ast
import re
from textwrap import indent

import pytest

from dlbc.emit.build_chunk import chunk_text
from dlbc.ir.chunk import ChunkPlan
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import explain

HEAD = "import numpy as np\n\ndef f(A, Z, P, n, m):\n    # dlb: parallel, jit\n    for i in range(n):\n"


def chunk(body: str, before: str = "", after: str = "") -> ChunkPlan:
    """The chunk functions of a loop with this body."""
    source, problems = decode_source("case.py", (before + HEAD + indent(body, 8 * " ") + after).encode())
    assert not problems
    result = explain(source)
    [found] = result.reports
    assert found.plan is not None, result.diagnostics
    assert found.plan.chunk is not None, result.diagnostics
    return found.plan.chunk


def written(body: str, before: str = "") -> str:
    """The chunk function in the order of the source."""
    return chunk(body, before).forms[-1].text


def reason(body: str, before: str = "") -> str:
    """Why a loop is left to Python."""
    source, _ = decode_source("case.py", (before + HEAD + indent(body, 8 * " ")).encode())
    [message] = [d.message for d in explain(source).diagnostics if d.code == "DLB116"]
    return message.partition("since ")[2]


def test_names_of_rows_stand_for_elements_of_their_arrays() -> None:
    text = written("row = A[i]\nfor k in range(len(row)):\n    Z[i, k] = row[k] * 2\n")
    assert "for k in range(A.shape[1]):" in text
    assert "Z[i, k] = A[i, k] * 2" in text or "Z[i, k] = A[i][k] * 2" in text
    text = written("for row in A:\n    for u, v in zip(row, A[i]):\n        Z[i, 0] += u * v\n")
    assert "row" not in text
    text = written(
        "for k in range(3):\n    Z[i, k] = dot(A[i], A[:, k])\n",
        "def dot(a, b):\n    s = 0.0\n    for k in range(len(a)):\n        s += a[k] * b[k]\n    return s\n",
    )
    assert "dot" not in text
    assert "at = k" in written("k = m\nrow = A[k]\nk = 1\nZ[i, k] = row[0]\n")


@pytest.mark.parametrize(
    "body",
    [
        "if A[i, 0] > 0:\n    row = A[i]\nelse:\n    row = A[0]\nZ[i, 0] = row[0]\n",
        "row = A[i]\nif row[0] > 0:\n    row = A[0]\nZ[i, 0] = row[1]\n",
        "row = A[i]\nfor k in range(2):\n    Z[i, k] = row[k]\n    row = A[k]\n",
        "row = A[i]\nZ[i, 0] = row[0]\nZ[i, 1] = sum(row)\n",
    ],
)
def test_names_that_may_be_of_other_rows_or_of_whole_ones_are_left_to_python(body: str) -> None:
    assert reason(body)


def test_functions_read_variables_of_the_module_that_are_surely_there() -> None:
    body, function = "Z[i] = g(i)\n", "def g(k):\n    return w * k\n"
    assert "= w * k" in written(body, f"w = float(input())\n{function}")
    for before in (f"if input():\n    w = 1.5\n{function}", f"w = float(input())\ndel w\n{function}"):
        assert "what `w` is cannot be told" in reason(body, before)


def test_an_array_of_one_size_is_a_buffer_of_the_chunk() -> None:
    body = "t = np.zeros((n, 3))\nfor j in range(n):\n    t[j, 1] += A[i, j]\nZ[i] = t[0, 1]\n"
    found = chunk(body)
    lines = [line.strip() for line in found.forms[-1].text.splitlines()]
    assert lines[1:4] == ["t = np.empty((n, 3))", "for i in range(first, last, step):", "t[:, :] = 0.0"]
    assert "_dlbrt_.native.is_shape(n, 3)" in found.fits
    assert "outside" not in found.forms[-1].text


@pytest.mark.parametrize(
    "body",
    [
        "t = np.zeros(i)\nfor j in range(i):\n    t[j] = j\nZ[i] = t[-1]\n",
        "if A[i, 0] > 0:\n    t = np.zeros(n)\n    Z[i] = t[0]\n",
        "if A[i, 0] > 0:\n    t = np.zeros(n)\nelse:\n    t = np.ones(n)\nZ[i] = t[0]\n",
        "k = P[i]\nt = np.zeros(k + 1)\nZ[i] = t[0]\n",
        "t = np.full(n, A[i, 0])\nZ[i] = t[0]\n",
    ],
    ids=[
        "of another size",
        "under a condition",
        "used after its block",
        "of a size of data",
        "of a type of data",
    ],
)
def test_other_arrays_are_made_where_the_program_makes_them(body: str) -> None:
    text = written(body)
    at = [line for line in text.splitlines() if " t = np." in line]
    assert at
    assert all(line.startswith(8 * " ") for line in at)
    assert "if not _dlbrt_.native.is_shape(" in text


def test_a_literal_size_needs_no_test() -> None:
    assert "is_shape" not in written("t = np.zeros(3)\nt[i % 3] = 1.0\nZ[i] = t[1]\n")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = np.zeros(n)\nZ[i] = t.sum()\n", "the call `t.sum()`"),
        ("t = np.zeros(n)\nu = t\nZ[i] = u[0]\n", "the array `t` is used as a whole"),
        ("t = np.zeros(n)\nt += 1\nZ[i] = t[0]\n", "np.zeros(n)"),
        ("t = np.zeros(n, dtype=np.float32)\nZ[i] = t[0]\n", "np.zeros(n, dtype=np.float32)"),
        ("t = np.zeros((n, n))\nZ[i] = t[0]\n", "`t` has more subscripts in one place"),
        ("t = np.zeros(2.5)\nZ[i] = t[0]\n", "the length 2.5 is no integer"),
        ("t = np.zeros(3)\nif i:\n    t = np.zeros(3, int)\nZ[i] = t[0]\n", "an array of one type here"),
        ("t = np.zeros(3)\nZ[i] = t[0] + g(t)\n", "a function that stores is called within an expression"),
    ],
)
def test_what_is_no_element_is_left_to_python(body: str, expected: str) -> None:
    assert expected in reason(body, "def g(t):\n    t[0] = 1.0\n    return 2.0\n\n\n")


def test_an_array_that_is_read_after_the_loop_is_left_to_python() -> None:
    tail = "t = np.zeros(3)\nt[0] = i\nZ[i] = t[0]\n"
    source, _ = decode_source("case.py", (HEAD + indent(tail, 8 * " ") + "    return t\n").encode())
    [message] = [d.message for d in explain(source).diagnostics]
    assert "the array `t` is read after the loop" in message


def test_a_function_may_fill_an_array_and_make_its_own() -> None:
    functions = (
        "def fill(t, x):\n    for j in range(len(t)):\n        if x < 0:\n            return\n"
        "        t[j] = x\n\n\n"
        "def best(t, width):\n    own = np.zeros(width)\n    own[0] = t[1]\n    return own[0]\n\n\n"
    )
    found = chunk("t = np.empty(4)\nfill(t, A[i, 0])\nZ[i] = best(t, 5) + t[0]\n", functions)
    assert "outside" not in found.forms[-1].text
    assert "own_" in found.forms[-1].text


def test_what_the_body_computes_is_tested_before_the_loop_that_it_bounds() -> None:
    body = "k = P[i]\nfor p in range(m):\n    for j in range(k, m):\n        Z[i, j] += A[p, j]\n"
    text = written(body)
    before = text[: text.index("for p in")]
    assert "if 0 > k:\n            return i" in before
    assert "return" not in text[text.index("for p in") : text.rindex("return")]


def test_a_test_stands_inside_the_loop_that_binds_what_it_is_about() -> None:
    body = "for p in range(m):\n    k = P[p]\n    for j in range(k):\n        Z[i, j] = A[p, j]\n"
    text = written(body)
    assert text.index("for p in") < text.index("k - 1 >= Z.shape[1]") < text.index("for j in")


def test_a_test_before_a_loop_puts_back_what_has_been_stored() -> None:
    body = "Z[i, 0] += 1\nk = P[i]\nfor j in range(k):\n    Z[i, j] += A[i, j]\n"
    text = written(body)
    assert "if k - 1 >= Z.shape[1]:\n            Z[i] = Z_before\n            return i" in text


def test_a_number_that_only_grows_from_zero_is_not_negative() -> None:
    body = "k = 0\nwhile A[i, 0] > k and k < 9:\n    k += 1\nfor j in range(k, n):\n    Z[i, j] = 1.0\n"
    assert "0 > k" not in written(body)
    assert "0 > k" in written(body.replace("+=", "-="))


def test_packed_triangles_are_in_range_by_a_condition() -> None:
    body = "for p in range(n):\n    for q in range(p + 1):\n        Z[i, p * (p + 1) // 2 + q] = A[p, q]\n"
    found = chunk(body)
    assert "((n * n - n) // 2) + n - 1 < Z.shape[1]" in found.fits
    assert "outside" not in found.forms[-1].text


@pytest.mark.parametrize("subscript", ["j - j // 2", "j * (n - j)", "j - j % 2", "(j - 3) * (j - 3)"])
def test_a_subscript_that_is_not_greatest_at_an_end_is_checked_in_its_place(subscript: str) -> None:
    assert "outside" in written(f"for j in range(n):\n    Z[i, {subscript}] = 1.0\n")


def test_a_remainder_is_less_than_its_divisor() -> None:
    found = chunk("for j in range(n):\n    Z[i, j] = A[i, (j + 1) % m] + A[i, (j * j) % 3]\n")
    assert {"m - 1 < A.shape[1]", "0 <= m - 1", "2 < A.shape[1]"} <= set(found.fits)
    assert "outside" not in found.forms[-1].text


def test_of_two_lower_bounds_one_that_is_negative_shows_nothing() -> None:
    found = chunk("for j in range(max(-1, m), n):\n    Z[i, j] = 1.0\n")
    assert "0 <= m" in found.fits


PRODUCT = """
for j in range(m):
    s = 0.0
    for k in range(m):
        s += {} * A[k, j]
    Z[i, j] = s
"""


@pytest.mark.parametrize(
    "before",
    [
        "t = np.ones(m)",
        "c = int(P[i])\nif c > 3:\n    Z[i, 0] = 1 / c",
        "while P[i] > Z[i, 0]:\n    Z[i, 0] += 1.0",
    ],
    ids=["an array", "a check", "another loop"],
)
def test_inner_loops_are_restructured_beside_what_keeps_iterations_in_order(before: str) -> None:
    found = chunk(before + PRODUCT.format("t[k]" if "t = " in before else "A[i, k]"))
    assert [form.what for form in found.forms] == [("the loop over j is innermost, below k",), ()]


def test_a_loop_whose_variable_is_used_after_it_stays_as_it_is() -> None:
    assert (
        len(
            chunk("j = 0" + PRODUCT.format("A[i, k]") + "while j > Z[i, 1]:\n    j -= 1\nZ[i, 0] = j\n").forms
        )
        == 1
    )


def test_a_loop_that_begins_at_a_computed_number_takes_its_elements_from_slices() -> None:
    found = chunk("s = P[i]\nfor p in range(m):\n    for j in range(s, m):\n        Z[i, j] += A[p, j]\n")
    [what, _] = [form.what for form in found.forms]
    assert what == ("the loop over j is over slices",)
    assert "if s < m:\n                z_part = Z[i, s:m]" in found.forms[0].text


def test_inner_loops_with_checks_stay_as_they_are() -> None:
    found = chunk(PRODUCT.format("A[P[k], k]"))
    assert [form.what for form in found.forms] == [()]


def test_a_sum_that_statements_around_may_read_early_stays_as_it_is() -> None:
    before = "s = 1.0\nfor l in range(m):\n    while Z[i, 0] > s:\n        Z[i, 0] -= 1.0\n"
    assert len(chunk(before + indent(PRODUCT.format("A[i, k]"), 4 * " ")).forms) == 1
    assert len(chunk(before + PRODUCT.format("A[i, k]")).forms) == 2


def test_a_store_to_a_part_of_an_array_is_a_loop_over_it() -> None:
    found = chunk("Z[i, 1:-1] = A[i, 1:-1] * (n + 1)\nZ[i, 2:m] += Z[i, 0]\n")
    lines = [line.strip() for line in found.forms[-1].text.splitlines()]
    assert "for at in range(1, Z.shape[1] - 1):" in lines
    assert "Z[i, at] = A[i, at] * value_2" in lines
    assert lines.index("value_4 = Z[i, 0]") < lines.index("for at_3 in range(2, m):")
    assert {"0 <= m", "0 <= A.shape[1] - Z.shape[1]", "0 <= Z.shape[1] - A.shape[1]"} <= set(found.fits)
    assert set(found.arrays) == {"A", "Z"}


def test_an_array_of_the_iteration_may_be_stored_as_a_row() -> None:
    text = written("t = np.zeros(n)\nt[:] = t + A[i, :] * 0.5\nZ[i] = t\n")
    assert "Z[i, at_3] = t[at_3]" in text or "Z[i, at_2] = t[at_2]" in text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Z[i, 1:] = Z[i, :-1]\n", "another part of the array that is stored to is read"),
        ("Z[i, ::2] = 1.0\n", "a slice with a step"),
        ("Z[i, :] //= 2.0\n", "this operator on parts of arrays"),
        ("Z[i, :] = A[i, :] ** 2\n", "parts of arrays are left to Python"),
        ("Z[i, :] = np.exp(A[i, :])\n", "parts of arrays are left to Python"),
        ("Z[i, :] = A[:, :]\n", "different numbers of axes"),
        ("Z[i, 1:][0:2] = 2.0\n", "a part of a part of an array"),
    ],
)
def test_other_stores_to_parts_of_arrays_are_left_to_python(body: str, expected: str) -> None:
    assert expected in reason(body)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.sin(A[i, j])", "np.sin(A[i, j])"),
        ("exponential(A[i, j])", "exponential(A[i, j])"),
        ("math.pow(A[i, j], 2.0)", "math.pow(A[i, j], 2.0)"),
        ("A[i, j] ** 1.5", "A[i, j] ** 1.5"),
        ("math.atan2(min(A[i, j], 2.0), m.A[i, j])", "math.atan2(min(A[i, j], 2.0), m.A[i, j])"),
        ("wave(A[i, j])", "np.cos(x)"),
    ],
)
def test_reasons_against_restructuring_quote_what_the_user_wrote(expression: str, expected: str) -> None:
    before = "import math\nfrom numpy import exp as exponential\n\ndef wave(x):\n    return np.cos(x)\n\n"
    found = chunk(f"for j in range(n):\n    Z[i, j] = {expression}\n", before)
    assert f"`{expected}` is not understood" in found.reasons


@pytest.mark.parametrize("arguments", ["", "1, 9, 2, 3"])
def test_a_range_that_is_none_is_left_to_python(arguments: str) -> None:
    assert "anything but a range" in reason(f"for k in range({arguments}):\n    Z[i, 0] += k\n")


def test_numbers_that_may_change_are_not_taken_from_the_text() -> None:
    body = "for a, b in T:\n    Z[i, 0] += A[i, a] * b\n"
    text = written(body, "T = ((0, 0.5), (1, -0.25))\n")
    assert "a = (0, 1)[at]" in text
    assert "b = (0.5, -0.25)[at]" in text
    assert "anything but a range" in reason(body, "T = [(0, 0.5)]\n")
    for changing in ("T = ([0, 0.5], [1, 0.25])\n", "T = ((0, 0.5),)\nT = ((1, 0.5),)\n"):
        assert "for at in range(len(T)):" in written(body, changing)  # if it is an array


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("for j in range(m):\n    print(A[i, j])\n", "for operand in notes:\n    print(operand)"),
        (
            "for j in range(m):\n    if A[i, j] > 0:\n        print(j)\n"
            "    else:\n        print(i, A[i, j])\n",
            "for which, j, operand in notes:\n    if which == 0:\n        print(j)\n    else:\n"
            "        print(i, operand)",
        ),
    ],
)
def test_inner_loops_leave_notes_of_what_they_contribute(body: str, left: str) -> None:
    [effect] = chunk(body).effects
    assert re.sub(r"_\d+", "", effect) == left


def test_integers_are_checked_to_fit_where_the_order_of_loops_is_kept() -> None:
    found = chunk(
        "for j in range(m):\n    for k in range(m):\n        Z[i, j] += A[i, k] * A[k, j]\n    Z[i, 0] = j\n"
    )
    assert "unfit(Z, j)" in found.forms[-1].text
    assert not any("unfit" in form.text for form in found.forms[:-1])


def test_what_stands_under_the_else_of_a_loop_runs_unless_a_break_has_ended_it() -> None:
    inner = "    if A[i, j] > 0:\n        break\n"
    lines = written(f"for j in range(m):\n{inner}else:\n    Z[i] = 2.0\n").splitlines()
    at = next(k for k, line in enumerate(lines) if line.strip() == "break")
    assert lines[at + 1 : at + 3] == [8 * " " + "else:", 12 * " " + "Z[i] = 2.0"]


def test_the_else_of_a_while_runs_where_its_condition_is_first_false() -> None:
    loop = "k = 0\nwhile A[i, k] / A[k, 0] > 0:\n    k += 1\nelse:\n    {}\n"
    lines = [line.strip() for line in written(loop.format("Z[i] = k")).splitlines()]
    at = next(k for k, line in enumerate(lines) if line.startswith("if not A[i, k]"))
    assert lines[at + 1 : at + 5] == [
        "if _dlbrt_.native.unfit(Z, k):",
        "return i",
        "Z[i] = k",
        "break",
    ]
    inside = "for j in range(m):\n" + indent(loop.format("continue"), 4 * " ") + "    Z[i] += j\n"
    assert reason(inside).startswith("a jump from the `else` of this loop")


def test_an_else_that_ends_the_iteration_before_it_contributes_is_left_to_python() -> None:
    loop = "for j in range(m):\n    if A[i, j] > 0:\n        break\nelse:\n    continue\n"
    assert reason(f"{loop}print(i)\n").startswith("the `else` of an inner loop ends")
    assert "continue" in written(f"{loop}Z[i] = 1.0\n")


def test_a_statement_is_quoted_by_its_first_line() -> None:
    body = "import math\nclass C:\n    x = 1\nZ[i] = C.x\n"
    assert reason(body).startswith("`import math` cannot be compiled")
    assert reason(body.partition("\n")[2]).startswith("`class C:..` cannot be compiled")


@pytest.mark.parametrize(
    ("body", "checked"),
    [
        ("for b in range(20):\n    Z[i, b] += (P[i] >> b) & 1\n", ""),
        ("for b in range(n):\n    Z[i, b] += (P[i] >> b) & 1\n", ""),
        ("Z[i] = P[i] << 5\n", ""),
        ("Z[i] = (i << 5) ^ ~i\n", ""),
        ("Z[i] = 7 >> P[i]\n", "unsafe_shift(count)"),
        ("Z[i] = 1 << i\n", "wide_after(1, i)"),
        ("x = i\nfor _ in range(9):\n    x = (x ^ (x << 13)) & 0xFFFF\nZ[i] = x\n", "wide_after(x, 13)"),
        ("for b in range(-3, 5):\n    Z[i, b] = 8 >> b\n", "unsafe_shift(b)"),
    ],
)
def test_shifts_are_checked_where_nothing_shows_that_they_fit(body: str, checked: str) -> None:
    text = written(body)
    assert checked in text
    assert ("unsafe_shift" in text) == checked.startswith("unsafe_shift")
    assert ("wide_after" in text) == checked.startswith("wide_after")


@pytest.mark.parametrize("body", ["Z[i] = 1.5 << i\n", "Z[i] = (i > 2) << 1\n", "Z[i] = ~(i / 2)\n"])
def test_bits_of_what_is_no_integer_are_left_to_python(body: str) -> None:
    assert reason(body)


@pytest.mark.parametrize(
    ("body", "checked"),
    [
        ("Z[i] = abs(A[i, 0]) + A[i, 0].real * A[i, 1].imag\n", False),
        ("Z[i] = abs(complex(A[i, 0], m)) + (A[i, 1] + m).conjugate().real\n", True),
        ("Z[i] = abs(m)\n", False),
        ("z = 0j\nfor k in range(n):\n    z = z * z + 0.5j\nZ[i] = abs(z)\n", True),
        ("x = 0.5 * i\nZ[i] = abs(x)\n", False),
    ],
)
def test_absolute_values_are_checked_where_a_complex_number_may_be_too_far(body: str, checked: bool) -> None:
    assert ("too_far" in written(body)) == checked


def test_numbers_that_the_loop_is_given_are_asked_not_to_be_complex() -> None:
    assert chunk("Z[i] = abs(m - 0.5) + abs(A[i, 0] + m)\n").real == ("m",)
    assert chunk("Z[i] = abs(i) + abs(m - 0.5j)\n").real == ()


def test_an_uncertain_power_is_checked_to_be_finite() -> None:
    text = written("s = 0.0\nfor j in range(n):\n    s += A[i, j]\nZ[i] = s**2\n")
    assert "numpy_power(s, 2)" in text
    assert "not_finite" in text


@pytest.mark.parametrize(
    "last",
    [
        "(A[i, 2] + A[i, 3])",
        "(A[i, 2] - A[i, 3])",
        "(A[i, 2] if m else A[i, 3])",
        "(P[i] << 3)",
        "A[i, 2] * m",
    ],
)
@pytest.mark.parametrize("first", ["(P[i] & P[m])", "A[i, 2]", "(m - A[i, 2])"])
def test_a_long_line_is_broken_into_what_it_was(first: str, last: str) -> None:
    value = f"{first} + abs(A[i, 0] * A[i, 1] + A[i, 2] * A[i, 3] + A[i, 4] * A[i, 5] - A[i, 6]) + {last}"
    [*_, form] = chunk(f"Z[i] = {value}\n").forms
    assert any(len(line) > 110 for line in form.text.splitlines())
    text = chunk_text(form)
    assert not any(len(line) > 110 for line in text.splitlines())
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(form.text))


def test_what_inner_loops_have_counted_follows_from_their_bounds() -> None:
    """No column has it: of the loops around only those count that the bounds of others need."""
    body = (
        "for j in range(n):\n    for k in range(j):\n        Z[i, j] += A[i, k]\n"
        "    for m in range(P[i], 3):\n        Z[i, m] = 1.0\n"
    )
    after = "    return i, j, k, m\n"
    found = chunk(body + "\n", after=after)
    assert not found.columns
    assert found.effects == (
        "for j in range(n)[-1:]:\n    pass",
        "for j in range(n):\n    for k in range(j)[-1:]:\n        pass",
        "for j in range(n)[-1:]:\n    for m in range(P[i], 3)[-1:]:\n        pass",
    )


@pytest.mark.parametrize(
    "body",
    [
        "if A[i, 0] > 0:\n    for j in range(n):\n        Z[i, j] = 1.0\n",
        "for j in range(n):\n    if A[i, j] > 0:\n        break\n    Z[i, j] = 1.0\n",
        "k = i % m\nfor j in range(k):\n    Z[i, j] = 1.0\n",
        "for j in range(n):\n    Z[i, j] = 1.0\nj = 3\n",
    ],
)
def test_the_bounds_say_nothing_of_a_counter_that_the_body_binds_otherwise(body: str) -> None:
    source, _ = decode_source("case.py", (HEAD + indent(body, 8 * " ") + "    return j\n").encode())
    [found] = explain(source).reports
    assert found.plan is not None
    effects = () if found.plan.chunk is None else found.plan.chunk.effects
    assert not any("[-1:]" in text for text in effects)


def test_a_name_that_a_comprehension_binds_is_its_own() -> None:
    found = reason("x = A[i, 0] * 2.0\nZ[i, 0] = x\nP.append(sum(x * i for x in (1.0, 2.0)))\n")
    assert found == "`x`, which the iteration computes, is read in a comprehension that binds it, too"


CALLED = """import numpy as np

def filled(xs, out, n):
    # dlb: parallel, jit
    for i in range(n):
        out[i] = xs[i] / 2

{calls}
"""


@pytest.mark.parametrize(
    ("calls", "is_effect"),
    [
        ("filled([1.0, 2.0], [0] * 2, 2)", True),
        ("a = [None] * 2\nfilled(xs=[1.0], out=a, n=1)", True),
        ("def outer(b):\n    filled(b, b, 1)\nouter([0.0])", True),
        ("def outer(b):\n    c = [0.0] * len(b)\n    filled(b, c, 1)\n    return c", True),
        ("filled([1.0], np.zeros(1), 1)", False),
        ("filled([1.0], [0.0], 1)\nfilled([1.0], np.zeros(1), 1)", False),
        ("filled([1.0], [0.0], 1)\nagain = filled", False),
        ("filled(*[[1.0], [0.0], 1])", False),
        ("a = [0.0]\na = np.zeros(1)\nfilled([1.0], a, 1)", False),
        ("", False),
    ],
)
def test_python_stores_to_what_all_calls_say_is_a_list(calls: str, is_effect: bool) -> None:
    source, problems = decode_source("case.py", CALLED.format(calls=calls).encode())
    assert not problems
    [found] = explain(source).reports
    assert found.plan is not None
    assert found.plan.chunk is not None
    assert any("out[i] = " in text for text in found.plan.chunk.effects) == is_effect
