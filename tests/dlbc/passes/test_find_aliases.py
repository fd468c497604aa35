"""Names of one memory: what is stored through one is seen through the other."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import codes_of

HEAD = "import numpy as np\nn = 8\nA = np.zeros(40)\nM = np.zeros((9, 9))\nxs = [0] * 40\n"

SEEN = {
    "the same object": ("B = A", "A[i] = B[i + 1]", "DLB301"),
    "a view of all": ("B = A[:]", "A[i] = B[i + 1]", "DLB301"),
    "a view that is shifted": ("B = A[1:]", "A[i] = B[i]", "DLB301"),
    "a view of a view": ("C = A[1:]\nB = C[1:]", "A[i] = B[i - 1]", "DLB301"),
    "asarray": ("B = np.asarray(A)", "B[i] = A[i + 1]", "DLB301"),
    "two views of one array": ("B = A[1:]\nC = A[2:]", "B[i] = C[i]", "DLB301"),
    "a transpose": ("B = M.T", "M[i, 0] = B[i, 1]", "DLB302"),
    "a reshape": ("B = M.reshape(-1)", "M[i, 0] = B[i]", "DLB302"),
    "a row": ("B = M[0]", "M[i, :] = M[i, :] + B[i]", "DLB302"),
    "the same list": ("B = xs", "xs[i] = B[i + 1]", "DLB301"),
}

APART = {
    "a copy": ("B = A.copy()", "A[i] = B[i + 1]"),
    "a view at the same places": ("B = A[:]", "A[i] = B[i] + 1"),
    "a shifted view at the same places": ("B = A[1:]", "A[i] = B[i - 1]"),
    "a slice of a list is a copy": ("B = xs[:]", "xs[i] = B[i + 1]"),
    "an element is a number": ("B = A[0]", "A[i] = A[i] + B"),
    "two views that are only read": ("B = M.T\nC = np.zeros(9)", "C[i] = M[i, 0] + B[i, 1]"),
    "a view alone": ("B = M.reshape(-1)", "B[i] = -B[i]"),
    "bound again: the run time compares": ("B = A\nB = np.ones(40)", "A[i] = B[i + 1]"),
}


def program(before: str, body: str) -> str:
    return f"{HEAD}{before}\n# dlb: parallel\nfor i in range(1, n):\n    {body}\n"


@pytest.mark.parametrize(("before", "body", "code"), SEEN.values(), ids=SEEN)
def test_refused(before: str, body: str, code: str) -> None:
    assert codes_of(program(before, body)) == [code]


@pytest.mark.parametrize(("before", "body"), APART.values(), ids=APART)
def test_taken(before: str, body: str) -> None:
    assert codes_of(program(before, body)) == []


LOOKS = """import heapq
best = (-1, None)
rows = ["kitten"] * n
def table(a, b):
    t = [[0] * 5 for _ in range(7)]
    for k, x in enumerate(a):
        for q, y in enumerate(b):
            t[k + 1][q + 1] = max(t[k][q + 1], t[k + 1][q])
    return t[-1][-1]
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("best = max(best, (table(rows[i], rows[1]), rows[i]))", []),
        ("t = [[]]; heapq.heappush(t, rows[0]); t[0][0] = i", ["DLB304"]),
    ],
)
def test_what_a_function_only_looks_at_is_put_nowhere(body: str, codes: list[str]) -> None:
    assert codes_of(program(LOOKS, body)) == codes


@pytest.mark.parametrize("chosen", ["A if k else np.zeros(9)", "np.zeros(9) if k else A"])
def test_either_side_of_a_choice_may_be_what_is_stored_to(chosen: str) -> None:
    assert codes_of(program("k = n // 2", f"t = {chosen}; t[0] = i")) == ["DLB306"]
