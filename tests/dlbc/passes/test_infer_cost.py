"""The cost of an iteration: against enumeration on random nests, and as text on programs as people write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlbc.algebra.integer_form import Variable, VariableKind
from dlbc.algebra.iteration_cost import CostClass, fold_legality
from dlbc.algebra.work_text import text_of
from tests.dlbc.algebra.evaluating import POSITION, cumulative, function_of, value_of
from tests.dlbc.passes.costing import Nests, cost_of, costs_of, space_and_cost
from tests.support.tier import is_full

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
INDEX = Variable(VariableKind.INDEX, "i")
SIZES = ((7, 3), (4, -1), (2, 9))


@pytest.mark.parametrize("seed", range(20 if is_full() else 2))
def test_random_nests_cost_what_they_execute(seed: int) -> None:
    nests = Nests(seed)
    for _ in range(100):
        nest = nests.one()
        cost, count = cost_of(nest.text), nest.counter()
        assert cost.work is not None, nest.text + cost.why
        assert cost.exact
        for n, m in SIZES:
            values = {Variable(VariableKind.PARAMETER, "n"): n, Variable(VariableKind.PARAMETER, "m"): m}
            for i in range(n):
                assert value_of(cost.work, {INDEX: i, **values}) == count(i, n, m), nest.text


def test_random_nests_as_a_function_of_a_vector() -> None:
    nests = Nests(99)
    for _ in range(60):
        nest = nests.one()
        cost, count = cost_of(nest.text), nest.counter()
        for n, m in SIZES:
            function = function_of(cost.work, cost.index)
            found = np.broadcast_to(eval(function, {"np": np, "n": n, "m": m})(np.arange(n)), (n,))
            expected = [count(i, n, m) for i in range(n)]
            np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=f"{nest.text}{function}")


FORMS = {
    "nothing": ("pass", "0"),
    "matrix product": (
        "for j in range(m):\n    for k in range(r):\n        A[i, j] += B[i, k] * C[k, j]",
        "7*max(m, 0)*max(r, 0) + 2*max(m, 0) + 1",
    ),
    "lower triangle": ("for j in range(i):\n    s += 1", "2*i + 1"),
    "upper triangle": ("for j in range(i, n):\n    s += 1", "2*n - 2*i + 1"),
    "triangle times rows": (
        "for j in range(i + 1):\n    for k in range(m):\n        s += 1",
        "(2*max(m, 0) + 2)*i + 2*max(m, 0) + 4",
    ),
    "two triangles": ("for j in range(i):\n    for k in range(j):\n        s += 1", "i**2 + i + 1"),
    "counting down": ("for j in range(i, -1, -1):\n    s += 1", "2*i + 3"),
    "in reverse": ("for j in reversed(range(0, n, 2)):\n    s += 1", "2*((n + 1)//2) + 2"),
    "band": (
        "for j in range(max(0, i - m), min(n, i + m + 1)):\n    s += 1",
        "2*max(min(i + m + 1, n) - max(i - m, 0), 0) + 6",
    ),
    "sieve": ("if i > 1:\n    for j in range(2*i, n, i):\n        A[j] = 0",
              "(2*max((n - i - 1)//i, 0) + 3 if i >= 2 else 1)"),
    "every second": ("if i % 2 == 0:\n    for j in range(m):\n        s += 1",
                     "(2*max(m, 0) + 3 if i%2 == 0 else 2)"),
    "either": ("if i < m:\n    for j in range(i):\n        s += 1\nelse:\n    s += 1",
               "(2*i + 2 if i < m else 2)"),
    "passed over": ("for j in range(i):\n    if j < m:\n        continue\n    s += 1",
                    "3*i - max(min(i, m), 0) + 1"),
    "a name for a bound": ("last = 2*i + 1\nfor j in range(i, last):\n    s += 1", "2*i + 5"),
    "rows of a sparse matrix": ("for k in range(C[i], C[i + 1]):\n    s += B[k]",
                                "3*max(C[i + 1] - C[i], 0) + 4"),
    "the length of an array": ("for x in B:\n    s += x", "2*len(B)"),
    "the shorter of two": ("for x, y in zip(B, C):\n    s += x", "2*min(len(B), len(C)) + 1"),
    "as many as a list has": ("for x in (1, 2, i):\n    s += x", "7"),
    "pairs": ("for j, x in enumerate(B):\n    s += x", "2*len(B) + 1"),
    "comprehension": ("A[i] = sum([B[j] for j in range(i) if j % 2 == 0])", "3*i + (i + 1)//2 + 4"),
    "expression by condition": ("A[i] = i * 2 if i < m else 0", "(3 if i < m else 2)"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "text"), FORMS.values(), ids=FORMS)
def test_forms(body: str, text: str) -> None:
    cost = cost_of(body)
    assert cost.exact, cost.notes
    assert cost.text == text


BY_SIZE = {
    "a row": ("A[i, :] = B[i, :] * 2", CostClass.UNIFORM, "A.shape[1]"),
    "the rest of a row": ("A[i, i:] = B[i, i:] * 2", CostClass.LINEAR, "-"),
    "scalar product": ("A[i] = np.dot(B[i, :i], C[:i])", CostClass.LINEAR, "i"),
    "matrix and vector": ("A[i] = B[i, :] @ C", CostClass.UNIFORM, "B.shape[1]"),
    "square part": ("s = B[:i, :i].sum()", CostClass.POLYNOMIAL, "i**2"),
    "made here": ("t = np.zeros((i, m))\nt += 1", CostClass.LINEAR, "max(m, 0)"),
}


@pytest.mark.parametrize(("body", "kind", "part"), BY_SIZE.values(), ids=BY_SIZE)
def test_arrays_count_by_size(body: str, kind: CostClass, part: str) -> None:
    cost = cost_of(body)
    assert cost.cost_class is kind, cost.text
    assert part.replace("max(m, 0)", "m") in cost.text
    assert not cost.exact


FUNCTIONS = {
    "a loop": ("A[i] = g(i, B)", "def g(k, B):\n    for j in range(k):\n        B[j] / 2\n", "3*i + 3"),
    "by name": ("A[i] = g(B, k=i)", "def g(B, k=3):\n    for j in range(k):\n        B[j]\n", "2*i + 3"),
    "by default": ("A[i] = g(B)", "def g(B, k=3):\n    for j in range(k):\n        B[j]\n", "9"),
    "within another": (
        "A[i] = g(i)",
        "def h(k):\n    for j in range(k):\n        k / 2\ndef g(k):\n    return h(k + 1)\n",
        "2*i + 7",
    ),
    "a bound": (
        "for j in range(tri(i), tri(i + 1)):\n    s += 1",
        "def tri(k):\n    return k*(k + 1)//2\n",
        "2*i + 12",
    ),
    "a length": ("g(B)", "def g(X):\n    n = len(X)\n    for j in range(n):\n        X[j]\n", "2*len(B) + 3"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "before", "text"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions_are_entered(body: str, before: str, text: str) -> None:
    assert cost_of(body, before=before).text == text


def test_a_function_of_integers_stays_a_call() -> None:
    before = "import math\ndef row(k):\n    return (math.isqrt(8*k + 1) - 1) // 2\n"
    cost = cost_of("for j in range(row(i), n):\n    s += 1", before=before)
    assert cost.pointwise
    assert "row(i)" in cost.text
    assert not cost_of("for j in range(i):\n    s += 1").pointwise
    summed = cost_of("for j in range(i):\n    for k in range(row(j)):\n        s += 1", before=before)
    assert "row(j) is summed over j" in summed.why


UNKNOWN = {
    "while": ("while s < 3:\n    s += 1", "", "while"),
    "recursion": ("g(i)", "def g(k):\n    return g(k - 1) if k else 0\n", "recursive"),
    "generator": ("for j in g(i):\n    s += 1", "def g(k):\n    yield k\n", "generator"),
    "argument": ("n(i)", "", "`n`"),
    "method": ("B.solve(i)", "", "`solve`"),
    "data that changes": ("for k in range(C[i], C[i + 1]):\n    C[k] = 0", "", "range(C[i], C[i + 1])"),
    "a list that grows": ("for j in range(len(B)):\n    B.append(j)", "", "len(B)"),
    "bound by data": ("for j in range(i):\n    for k in range(C[j]):\n        s += 1", "", "C[j]"),
    "unknown step": ("for j in range(0, n, m):\n    s += 1", "", "range(0, n, m)"),
    "product of variables": (
        "for j in range(n):\n    for k in range(m*j, n):\n        s += 1",
        "",
        "no known bound",
    ),
}


@pytest.mark.parametrize(("body", "before", "word"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_known_is_said(body: str, before: str, word: str) -> None:
    cost = cost_of(body, before=before)
    assert cost.work is None
    assert cost.cost_class is CostClass.UNKNOWN
    assert word in cost.why
    assert cost.text == ""


ESTIMATES = {
    "branch": ("if B[i] > 0:\n    for j in range(i):\n        s += 1", "(2*i + 5)/2", "2*i + 3"),
    "two branches": ("if B[i] > 0:\n    s += 1\n    s += 1\nelse:\n    s += 1", "7/2", "4"),
    "left early": ("for j in range(i):\n    if B[j] > 0:\n        break", "(3*i + 2)/2", "3*i + 1"),
    "skipped": ("for j in range(i):\n    if B[j]:\n        continue\n    s += 1", "(5*i + 2)/2", "3*i + 1"),
    "slice": ("for x in B[i:]:\n    s += x", "2*max(len(B) - i, 0) + 1", "2*max(len(B) - i, 0) + 1"),
    "exception": ("try:\n    s += 1\nexcept ValueError:\n    s += 1", "1", "2"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "mean", "worst"), ESTIMATES.values(), ids=ESTIMATES)
def test_what_data_decides_is_estimated(body: str, mean: str, worst: str) -> None:
    cost = cost_of(body)
    assert cost.notes
    assert not cost.exact
    assert cost.worst is not None
    assert cost.text == mean
    assert text_of(cost.worst, INDEX) == worst


def test_what_a_branch_says_ends_with_it() -> None:
    inner = "    if B[j]:\n        if j < 3:\n            continue\n    for k in range(3, j):\n        s += 1"
    worst = cost_of(f"for j in range(i):\n{inner}").worst
    assert worst is not None
    for i in range(7):
        assert value_of(worst, {INDEX: i}) == 1 + sum(4 + 2 * max(j - 3, 0) for j in range(i))


def test_branches_that_cost_the_same_are_exact() -> None:
    cost = cost_of("if B[i] > 0:\n    s += 1\nelse:\n    s -= 1")
    assert cost.exact
    assert cost.text == "3"


def test_a_loop_over_objects_costs_the_same_or_is_not_known() -> None:
    text = (
        "def f(items, m: int):\n    # dlb: parallel\n    for x in items:\n        for j in range({}): s = j\n"
    )
    [(same, space)] = costs_of(text.format("m"))
    [(other, _)] = costs_of(text.format("x"))
    assert space is None
    assert function_of(same.work, same.index) == "lambda x: np.maximum(m, 0) + 1"
    assert other.work is None


def test_names_of_the_loop_mean_nothing_in_functions() -> None:
    cost = cost_of("g(i)", before="n = 3\ndef g(k):\n    for j in range(n):\n        k / 2\n")
    assert cost.work is None


PROGRAMS = sorted(Path(__file__).resolve().parents[2].glob("*/programs/**/*.py"))


def test_every_loop_of_the_other_tests_has_a_cost_or_a_reason() -> None:
    found = [cost for path in PROGRAMS for cost, _ in costs_of(path.read_text())]
    assert len(found) > 100
    for cost in found:
        assert (cost.work is None) == bool(cost.why)
        assert cost.work is None or eval(f"callable({function_of(cost.work, cost.index)})", {"np": np})


def costs_of_sample(name: str) -> list[tuple[str, str, bool]]:
    found = []
    for cost, space in costs_of((SAMPLES / name).read_text()):
        assert space is not None
        found.append((cost.class_text, cost.text or cost.why, fold_legality(cost, space).legal))
    return found


def test_adjoint_convolution() -> None:
    assert costs_of_sample("adjoint_convolution.py") == [("linear", "9*n**2 - 9*i + 2", True)]


def test_mxm() -> None:
    text = "7*r*max(m, 0) + 2*max(m, 0) + 1"
    assert costs_of_sample("mxm.py") == [("uniform", text, True)]


def test_pairwise_digits() -> None:
    [(kind, text, legal)] = costs_of_sample("pairwise_digits.py")
    assert (kind, legal) == ("linear", True)
    assert "4*i" in text


def test_trfd() -> None:
    (first, uniform, legal), (second, triangular, _) = costs_of_sample("trfd.py")
    assert (first, legal) == ("uniform", True)
    assert "4*len(V)**3" in uniform
    assert second == "piecewise"
    assert "row_of(ij)" in triangular


def test_mandelbrot() -> None:
    [(cost, _)] = costs_of((SAMPLES / "mandelbrot.py").read_text())
    assert cost.cost_class is CostClass.UNIFORM
    assert not cost.exact


def test_elimination() -> None:
    body = "L = A[i, k] / A[k, k]\nfor j in range(k + 1, n):\n    A[i, j] -= L * A[k, j]"
    cost, space = space_and_cost(body, "range(k + 1, n)", arguments="n: int, k: int")
    assert cost.cost_class is CostClass.UNIFORM
    assert cost.text == "6*n - 6*k - 1"
    assert fold_legality(cost, space).legal


@pytest.mark.parametrize(
    "head", ["range(n)", "range(1, n, 2)", "reversed(range(n))", "reversed(range(0, n, 3))"]
)
def test_cumulative_work_goes_as_the_loop_does(head: str) -> None:
    cost, space = space_and_cost("for j in range(i):\n    s += 1", head)
    total = cumulative(cost, space)
    assert total is not None
    for n in range(1, 9):
        each = [2 * i + 1 for i in eval(head, {"n": n})]
        for x in range(len(each) + 1):
            assert value_of(total, {POSITION: x, Variable(VariableKind.PARAMETER, "n"): n}) == sum(each[:x])


def test_what_nobody_would_read_is_told_apart() -> None:
    assert cost_of("for j in range(i, n):\n    s += 1").short
    heads = ("j in range((2*n + 2) % 2, max(m, i + m + 1))", "k in range(min(-1, j + 1), n - j, 2)")
    inner = "        for l in range(min(n - k, j), max(j + n, k + m), 3):\n            s += 1"
    long = cost_of(f"for {heads[0]}:\n    for {heads[1]}:\n{inner}")
    assert long.exact
    assert not long.short


def test_the_same_text_twice() -> None:
    body = "for j in range(i, n):\n    for k in range(max(j, m), n, 2):\n        s += 1"
    assert cost_of(body).text == cost_of(body).text
