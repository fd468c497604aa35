"""Definite assignment in one iteration: which reads may see an older value."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import codes_of

CARRIED = {"DLB310", "DLB311"}

TAKEN = [
    ("both branches", "if i:\n    t = 1\nelse:\n    t = 2\nprint_(t)"),
    ("continue in the other branch", "if i:\n    t = 1\nelse:\n    continue\nprint_(t)"),
    ("bound by a walrus", "if (t := i) > 2:\n    print_(t)"),
    ("an endless loop ends by break alone", "while True:\n    t = 1\n    if i:\n        break\nprint_(t)"),
    (
        "else of an inner loop",
        "for k in w:\n    t = 1\n    break\nelse:\n    t = 2\nprint_(t)",
    ),
    ("every handler", "try:\n    t = w[0]\nexcept OSError:\n    t = 0\nfinally:\n    u = 1\nprint_(t + u)"),
    ("open lets exceptions through", "with open('f') as f:\n    t = f.read()\nprint_(t)"),
    ("a complete match", "match i:\n    case 0:\n        t = 1\n    case _:\n        t = 2\nprint_(t)"),
    ("a comprehension has its own names", "print_([t for t in w])"),
    ("del after binding", "t = 1\ndel t"),
    ("an inner loop that runs", "for k in range(3):\n    t = k\nprint_(t, k)"),
    ("an inner loop over a constant", "for k in range(1, TIMES, 2):\n    t = k\nprint_(t)"),
    ("an inner loop downwards", "for k in reversed(range(9, 1, -2)):\n    t = k\nprint_(t)"),
    ("an inner loop over items", "for k, c in enumerate((1, *w)):\n    t = c\nprint_(t)"),
    ("an inner loop that may break", "for c in 'ab':\n    t = c\n    if t in w:\n        break\nprint_(t)"),
    (
        "continue after binding",
        "for k in range(3):\n    t = k\n    if k:\n        continue\n    w(t)\nprint_(t)",
    ),
]

REFUSED = [
    ("one branch", "if i:\n    t = 1\nprint_(t)"),
    ("an inner loop may not run", "for k in w:\n    t = k\nprint_(t)"),
    ("a short-circuited walrus", "if i and (t := 2):\n    pass\nprint_(t)"),
    ("a handler that binds nothing", "try:\n    t = w[0]\nexcept OSError:\n    pass\nprint_(t)"),
    ("finally after a failure", "try:\n    t = w[0]\nfinally:\n    print_(t)"),
    ("a manager that may suppress", "with guard():\n    t = 1\nprint_(t)"),
    ("an incomplete match", "match i:\n    case 0:\n        t = 1\nprint_(t)"),
    (
        "unbound by except",
        "e = 1\ntry:\n    w()\nexcept OSError as e:\n    pass\nprint_(e)",
    ),
    ("a lambda before the binding", "f = lambda: t\nt = 1\nprint_(f())"),
    ("itself", "t = 2 * t + 1"),
    ("an inner loop that never runs", "for k in range(3, 1):\n    t = k\nprint_(t)"),
    ("an inner loop over a name bound twice", "for k in range(COUNT):\n    t = k\nprint_(t)"),
    ("a number that a star may replace", "from w import *\nfor k in range(TIMES):\n    t = k\nprint_(t)"),
    ("an inner loop over a text", "for k in '':\n    t = k\nprint_(t)"),
    ("an inner loop over what may be empty", "for k in (*w,):\n    t = k\nprint_(t)"),
    ("break before binding", "for k in range(3):\n    if w[k]:\n        break\n    t = k\nprint_(t)"),
    ("continue before binding", "for k in range(3):\n    if w[k]:\n        continue\n    t = k\nprint_(t)"),
    ("del in an inner loop", "t = 1\nfor k in range(3):\n    del t\n    w(t)\nprint_(t)"),
    ("a step of zero", "for k in range(3, 1, 0):\n    t = k\nprint_(t)"),
    ("another range", "def range(n): return ()\nfor k in range(3):\n    t = k\nprint_(t)"),
]


def text_of(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"N, TIMES = 9, 4\nCOUNT = 1\nCOUNT = 2\n# dlb: parallel\nfor i in range(N):\n{lines}"


@pytest.mark.parametrize("body", [c[1] for c in TAKEN], ids=[c[0] for c in TAKEN])
def test_taken(body: str) -> None:
    assert not CARRIED & set(codes_of(text_of(body)))


@pytest.mark.parametrize("body", [c[1] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused(body: str) -> None:
    assert CARRIED & set(codes_of(text_of(body)))
