"""Checks of iterations that are made once for a strip, before anything of it is stored."""

from __future__ import annotations

import ast

import numpy
import pytest
from dlbrt import native

from dlbc.native.restructure import Nest, Restructured, restructure

ROOTS = """\
    total = 0.0
    for j in range(n):
        value = numpy.sqrt(A[j] - B[i])
        if native.not_finite(value):
            return i
        total += value * A[j]
    Z[i] = total
"""

ROOTS_IN_STRIPS = """\
doubt_row = numpy.empty(256, numpy.float64)
total_row = numpy.empty(256, numpy.float64)
for i_first in range(max(first, 0), last, 256):
    i_end = min(i_first + 256, last)
    doubt_row_part = doubt_row[0:i_end - i_first]
    total_row_part = total_row[0:i_end - i_first]
    for p in range(i_end - i_first):
        doubt_row_part[p] = 0.0
        total_row_part[p] = 0.0
    for j in range(n):
        x1 = A[j]
        b_part = B[i_first:i_end]
        doubt_row_part2 = doubt_row[0:i_end - i_first]
        total_row_part2 = total_row[0:i_end - i_first]
        for p2 in range(i_end - i_first):
            value = numpy.sqrt(x1 - b_part[p2])
            doubt_row_part2[p2] = 1.0 if native.not_finite(value) else doubt_row_part2[p2]
            total_row_part2[p2] = total_row_part2[p2] + value * x1
    if doubt_row[0:i_end - i_first].any():
        for i in range(i_first, i_end):
            total = 0.0
            for j in range(n):
                value = numpy.sqrt(A[j] - B[i])
                if native.not_finite(value):
                    return i
                total += value * A[j]
            Z[i] = total
        continue
    z_part = Z[i_first:i_end]
    total_row_part3 = total_row[0:i_end - i_first]
    for p3 in range(i_end - i_first):
        z_part[p3] = total_row_part3[p3]
"""


def _restructured(body: str, may_defer: bool = True) -> Restructured:
    loop = ast.parse("for i in range(first, last, step):\n" + body).body[0]
    assert isinstance(loop, ast.For)
    return restructure(
        Nest(
            loop,
            *("first", "last", "step"),
            arrays=("A", "B", "P", "Z"),
            numbers=("n",),
            pure_calls=frozenset(),
            taken=frozenset(("numpy", "native")),
            in_order=True,
            may_defer=may_defer,
        )
    )


def _text(found: Restructured) -> str:
    return "".join(ast.unparse(each) + "\n" for each in found.variants[0].body)


def test_a_strip_in_doubt_is_run_as_written() -> None:
    found = _restructured(ROOTS)
    assert found.variants[0].what[-1] == "checks are made for each strip"
    assert found.variants[0].strip > 1
    assert _text(found) == ROOTS_IN_STRIPS


@pytest.mark.parametrize("doubtful", [None, 0, 255, 256, 599])
def test_the_first_iteration_in_doubt_ends_the_chunk_and_nothing_after_it_is_stored(
    doubtful: int | None,
) -> None:
    body = "".join(f"    {line}\n" for line in _text(_restructured(ROOTS)).splitlines())
    made: dict[str, object] = {"numpy": numpy, "native": native}
    exec(f"def chunk(A, B, Z, first, last, step, n):\n{body}    return last", made)
    chunk = made["chunk"]
    assert callable(chunk)
    given, stored = numpy.zeros(600), numpy.full(600, -1.0)
    if doubtful is not None:
        given[doubtful] = 9.0
    with numpy.errstate(invalid="ignore"):
        returned = chunk(numpy.ones(3), given, stored, 0, 600, 1, 3)
    end = 600 if doubtful is None else doubtful
    assert returned == end
    assert stored[:end].tolist() == [3.0] * end
    assert stored[end:].tolist() == [-1.0] * (600 - end)


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("    total = 0.0\n", "    total = 0.0\n    Z[i] = 1.0\n"),  # stores before its check
        ("not_finite(value)", "outside(value)"),  # what comes after the check would do harm
        ("            return i\n", "            return j\n"),
        ("            return i\n", "            Z[i] = 0.0\n            return i\n"),
        ("A[j] - B[i]", "A[j] // B[i]"),
        ("A[j] - B[i]", "A[P[j] % 3] - B[i]"),
    ],
)  # fmt: skip
def test_checks_that_cannot_wait_stay(written: str, other: str) -> None:
    assert written in ROOTS
    found = _restructured(ROOTS.replace(written, other))
    assert not [v for v in found.variants if "checks are made for each strip" in v.what]


def test_checks_do_not_wait_where_iterations_need_their_order_for_more() -> None:
    assert not _restructured(ROOTS, may_defer=False).variants
