"""What is known before the loop decides: each program is independent by a fact, or not without it."""

from __future__ import annotations

import re

import pytest

from dlbc.ir.loop import ProofStatus
from tests.dlbc.passes.planning import results_of

BY_A_FACT = {
    "a loop around": "for k in range(n):\n    @for i in range(k + 1, n):\n        A[i] -= A[k]\n",
    "a loop counting down": "for k in range(n - 1, -1, -1):\n    @for i in range(k):\n        A[i] -= A[k]\n",
    "an assignment": "h = n // 2\n@for i in range(h):\n    A[i] = A[n - 1 - i]\n",
    "several at once": "h, q = n // 2, n - 1\n@for i in range(h):\n    A[i] = A[q - i]\n",
    "a condition around": "if m >= n:\n    @for i in range(n):\n        A[i + m] = A[i]\n",
    "the other branch": "if m < n:\n    pass\nelse:\n    @for i in range(n):\n        A[i + m] = A[i]\n",
    "an assertion": "assert m >= n\n@for i in range(n):\n    A[i + m] = A[i]\n",
}

WITHOUT = {
    "bound again": "for k in range(5):\n    k = g()\n    @for i in range(5, n):\n        A[i] -= A[k]\n",
    "another value later": "h = n // 2\nn = 30\n@for i in range(h):\n    A[i] = A[n - 1 - i]\n",
    "a condition on it": "if m >= n:\n    m = g()\n    @for i in range(n):\n        A[i + m] = A[i]\n",
    "after the loop": "@for i in range(h):\n    A[i] = A[n - 1 - i]\nh = n // 2\n",
    "a length": "if len(c) < 3:\n    c.extend(g)\n    @for i in range(1, len(c)):\n        A[i] = A[i - 1]\n",
    "an element": (
        "for k in range(c[0]):\n    c[0] = 0\n    @for i in range(c[0], n):\n        if i <= k:\n"
        "            A[i] = A[i - 1]\n"
    ),
    "no integer any more": (
        "for k in range(1, 4):\n    k = k / 4\n    if 0 < k < 1:\n        @for i in range(1, n):\n"
        "            A[i] = A[i - 1]\n"
    ),
    "cut to an integer": "@for i in range(int(n * c)):\n    if 2 * c == 1:\n        A[i + 1] = A[i]\n",
    "the least of two": "@for i in range(min(n, c)):\n    if 0 < c < 1:\n        A[i + 1] = A[i]\n",
    "in a branch": "if c:\n    h = n // 2\n@for i in range(h):\n    A[i] = A[n - 1 - i]\n",
    "a name that a function may bind": (
        "h = n // 2\ndef change():\n    global n\n    n = 5\nchange()\n"
        "@for i in range(h):\n    A[i] = A[n - 1 - i]\n"
    ),
}


def program(text: str, head: str = "") -> str:
    annotated = re.sub(r"^( *)@", r"\1# dlb: parallel\n\1", text, flags=re.MULTILINE)
    return f"import numpy as np\nA = np.zeros(99)\n{head}{annotated}"


def in_function(text: str) -> str:
    body = "".join(f"    {line}\n" for line in program(text).splitlines())
    return f"def f(n: int, m: int, c, g):\n{body}"


@pytest.mark.parametrize("text", BY_A_FACT.values(), ids=BY_A_FACT)
def test_a_fact_proves(text: str) -> None:
    [(plan, findings)] = results_of(in_function(text))
    assert plan is not None, findings
    assert plan.status is ProofStatus.PROVEN


@pytest.mark.parametrize("text", WITHOUT.values(), ids=WITHOUT)
def test_what_may_have_changed_proves_nothing(text: str) -> None:
    whole = program(text, "n = 20\n") if "global" in text else in_function(text)
    [(plan, _)] = results_of(whole)
    assert plan is None or plan.guards
