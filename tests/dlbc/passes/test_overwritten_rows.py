"""Under which conditions iterations overwrite their rows by inner loops, and when nothing says so."""

from __future__ import annotations

import textwrap

import pytest

from tests.dlbc.passes.planning import plan_of


def conditions(body: str, before: str = "") -> dict[str, tuple[str, ...]]:
    """By array, for the loop over i with this body."""
    text = f"import numpy as np\n{before}\n# dlb: parallel\nfor i in range(n):\n"
    plan = plan_of(text + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n")
    return {array.name: array.overwritten for array in plan.arrays if array.mode.value == "rw"}


WHOLE = [
    ("an element in each step", "for j in range(m):\n    A[i, j] = i + j", "m >= A.shape[1]"),
    ("the length of the axis itself", "for j in range(0, A.shape[1]):\n    A[i, j] = 0.0",
     "A.shape[1] >= A.shape[1]"),
    ("columns", "for j in range(m + 1):\n    A[j, i] = 0.0", "m + 1 >= A.shape[0]"),
    ("two loops in one", "for j in range(m):\n    x = 1.0\n    for k in range(5):\n        A[i, j, k] = x",
     "m >= A.shape[1] and 5 >= A.shape[2]"),
    ("read after the store of an element",
     "for j in range(m):\n    A[i, j] = 0.0\n    for k in range(r):\n        A[i, j] += B[k, j]",
     "m >= A.shape[1]"),
    ("read after all of it", "for j in range(m):\n    A[i, j] = j\nA[i, 0] += A[i, 1]", "m >= A.shape[1]"),
    ("left early inside", "for j in range(m):\n    x = 0.0\n    for k in range(9):\n        if k > j:\n"
     "            break\n        x += k\n    A[i, j] = x", "m >= A.shape[1]"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [c[1:] for c in WHOLE], ids=[c[0] for c in WHOLE])
def test_what_is_overwritten_where_the_loops_reach_the_end(body: str, expected: str) -> None:
    assert " and ".join(conditions(body)["A"]) == expected


NOT_WHOLE = [
    ("nothing below the first", "for j in range(1, m):\n    A[i, j] = 0.0"),
    ("every other element", "for j in range(0, m, 2):\n    A[i, j] = 0.0"),
    ("a part of a triangle", "for j in range(i):\n    A[i, j] = 0.0"),
    ("the diagonal", "for j in range(m):\n    A[i, j, j] = 0.0"),
    ("a shifted subscript", "for j in range(m):\n    A[i, j + 1] = 0.0"),
    ("a loop that may be empty around it",
     "for k in range(r):\n    for j in range(m):\n        A[i, j] = k"),
    ("under a condition", "for j in range(m):\n    if B[j, 0] > 0:\n        A[i, j] = 0.0"),
    ("after a jump to the next step",
     "for j in range(m):\n    if B[j, 0] > 0:\n        continue\n    A[i, j] = 0.0"),
    ("until the loop is left", "for j in range(m):\n    if j > i:\n        break\n    A[i, j] = 0.0"),
    ("left in a handler",
     "for j in range(m):\n    A[i, j] = 0.0\n    try:\n        x = 1 // j\n    except ZeroDivisionError:\n"
     "        break"),
    ("after the iteration may have ended",
     "if i % 2:\n    continue\nfor j in range(m):\n    A[i, j] = 0.0"),
    ("where an exception is caught",
     "try:\n    for j in range(m):\n        A[i, j] = 1 / (j - i)\nexcept ZeroDivisionError:\n    pass"),
    ("in a block that may swallow exceptions",
     "with np.errstate(all='raise'):\n    for j in range(m):\n        A[i, j] = 1.0"),
    ("up to what the iteration finds", "m2 = i * 2\nfor j in range(m2):\n    A[i, j] = 0.0"),
    ("read before it is stored", "for j in range(m):\n    A[i, j] = A[i, j] + 1"),
    ("read at another place", "for j in range(m):\n    A[i, j] = j\n    x = A[i, m - 1 - j]"),
    ("read before the nest", "x = A[i, 0]\nfor j in range(m):\n    A[i, j] = x"),
    ("updated only", "for j in range(m):\n    A[i, j] += 1"),
    ("another name of the row", "row = A[i]\nfor j in range(m):\n    A[i, j] = row[0]"),
    ("the variable bound anew", "for j in range(m):\n    A[i, j] = 0.0\n    j = 7"),
    ("while it lasts", "j = 0\nwhile j < m:\n    A[i, j] = 0.0\n    j += 1"),
]  # fmt: skip


@pytest.mark.parametrize("body", [c[1] for c in NOT_WHOLE], ids=[c[0] for c in NOT_WHOLE])
def test_what_may_keep_old_elements_or_is_read_before(body: str) -> None:
    assert conditions(body).get("A", ()) == ()


def test_another_range_counts_for_nothing() -> None:
    before = "def range(n):\n    return [*builtins_range(n)][1:]"
    assert conditions("for j in range(m):\n    A[i, j] = 0.0", before).get("A", ()) == ()
