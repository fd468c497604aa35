"""Which names may have no value where a loop is met."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import plan_of

LOOP = "# dlb: parallel\nfor i in range(n):\n    A[i] = m\n"

SURE = {
    "assigned": "m = 1\n",
    "in both branches": "if n:\n    m = 1\nelse:\n    m = 2\n",
    "a branch that leaves": "if n:\n    m = 1\nelse:\n    raise ValueError\n",
    "with": "with guard() as m:\n    k = 1\n",
    "in a with": "with open('x') as k:\n    m = 1\n",
    "tried, or left": "try:\n    m = int(n)\nexcept ValueError:\n    return\n",
    "tried, or handled": "try:\n    m = int(n)\nexcept ValueError:\n    m = 0\n",
    "finally": "try:\n    k = 1\nfinally:\n    m = 1\n",
    "a walrus": "if (m := n) > 2:\n    pass\n",
    "declared global": "global m\nif n:\n    m = 1\n",
}

UNSURE = {
    "in one branch": "if n:\n    m = 1\n",
    "in a loop": "for m in range(n):\n    pass\n",
    "tried": "try:\n    m = int(n)\nexcept ValueError:\n    pass\n",
    "deleted": "m = 1\nif n:\n    del m\n",
    "short-circuited": "if n and (m := 1):\n    pass\n",
    "after it alone": "",
}


def function(before: str) -> str:
    body = "".join(f"    {line}\n" for line in (before + LOOP + "m = 3\n").splitlines())
    return f"m = 0\ndef f(A, n):\n{body}"


@pytest.mark.parametrize("before", SURE.values(), ids=SURE)
def test_sure(before: str) -> None:
    assert "m" not in plan_of(function(before)).unsure


@pytest.mark.parametrize("before", UNSURE.values(), ids=UNSURE)
def test_unsure(before: str) -> None:
    assert plan_of(function(before)).unsure == ("m",)


def test_loop_variables_around_are_bound() -> None:
    text = "def f(A, n):\n    for m in range(n):\n        # dlb: parallel\n        for i in range(n):\n"
    assert plan_of(text + "            A[i] = m\n").unsure == ()
