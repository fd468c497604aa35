"""Derived work in the kernel: what it says, that it can be evaluated there, and why it is left out."""

from __future__ import annotations

import numpy as np
import pytest

from dlbc.ir.plan import CostPlan, CostShape
from dlbc.pipeline import explain, transform
from dlbc.source import Source
from tests.dlbc.passes.costing import Nests
from tests.dlbc.passes.planning import plan_of

TRIANGLE = "for j in range(i, n): A[i, j] = j"


def program(body: str, head: str = "i in range(n)", before: str = "", top: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    first = "".join(f"    {line}\n" for line in before.splitlines())
    return (
        f"import numpy as np\n{top}\ndef f(A, B, ix, n: int, m: int):\n{first}"
        f"    # dlb: parallel\n    for {head}:\n{lines}"
    )


def chosen(body: str, **parts: str) -> CostPlan | None:
    return plan_of(program(body, **parts)).cost


def omitted(body: str, **parts: str) -> str:
    text = program(body, **parts)
    [report] = explain(Source("case.py", text.encode(), text)).reports
    assert report.plan is not None
    assert report.plan.cost is None
    return report.cost_omitted


WRITTEN = [
    ("for j in range(i, n): A[i, j] = j", "2*n - 2*i + 1"),
    ("for j in range(i, m): A[i, j] = j", "2*np.maximum(m - i, 0) + 1"),
    ("for j in range(ix[i]): A[i, j] = j", "2*np.maximum(ix[i], 0) + 2"),
    ("if i < m: A[i] = 2", "np.where(i < m, 2, 1)"),
    ("if i == m:\n    for j in range(i): A[i, j] = j", "np.where(i == m, 2*i + 2, 1)"),
    ("for j in range(i):\n    if i > 9: continue\n    A[i, j] = 2", None),
    ("for j in range(len(B) - i): A[i, j] = j", "2*np.maximum(len(B) - i, 0) + 3"),
    ("A[i, i:] = B[i:]", "np.maximum((A.shape[1] - i + 100)/50, 1)"),
]


@pytest.mark.parametrize(("body", "text"), WRITTEN, ids=[body for body, _ in WRITTEN])
def test_what_stands_in_the_kernel(body: str, text: str | None) -> None:
    found = chosen(body)
    assert found is not None
    assert found.shape is CostShape.VECTOR
    assert text is None or found.expression("np") == text


def test_over_enumerate_the_index_counts_as_well() -> None:
    found = chosen("A[i, i:] = B[i:] - x", head="i, x in enumerate(B)")
    assert found is not None
    assert (found.shape, found.target) == (CostShape.VECTOR, "i")


def test_a_function_that_only_computes_is_asked_item_by_item() -> None:
    top = "from math import isqrt\ndef row(k):\n    return (isqrt(8 * k + 1) - 1) // 2\n"
    found = chosen("for j in range(row(i)): A[i] = j", top=top)
    assert found is not None
    assert (found.shape, found.target) == (CostShape.EACH, "i")
    assert found.expression("np") == "2*max(value, 0) + 7"
    assert found.bound_calls == (("value", "row(i)"),)
    assert found.names == ()


LEFT_OUT = [
    ("A[i] = 2", {}, "it is the same for all iterations"),
    ("while A[i] > 1: A[i] /= 2", {}, "it is not known"),
    (
        "ix[i].fill(3)\nfor j in range(ix[i, 0]): A[i, j] = j",
        {},
        "it depends on `ix`, which the loop changes",
    ),
    (
        "if B[i]:\n    for j in range(i, p): A[i, j] = j",
        {"before": "if n:\n    p = n"},
        "`p` may have no value where the loop is met",
    ),
    (
        "for j in range(row(i)): A[i] = j",
        {"top": "def row(k):\n    print(k)\n    return k // 2\n"},
        "it calls `row`, which may do more than compute",
    ),
    (
        "for j in range(row(i)): A[i] = j",
        {"top": "def row(k):\n    g(k)\n    return (k - 1) // 2\ndef g(k):\n    print(k)\n"},
        "it calls `row`, which may do more than compute",
    ),
    (
        "for j in range(row(i)): A[i] = j",
        {"top": "from math import isqrt\ndef max(a): return a\ndef row(k):\n    return isqrt(k) // 2\n"},
        "the program has a `max` or `min` of its own",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "parts", "why"), LEFT_OUT, ids=[why for _, _, why in LEFT_OUT])
def test_why_it_is_left_out(body: str, parts: dict[str, str], why: str) -> None:
    assert omitted(body, **parts) == why


def test_a_name_that_every_iteration_reads_may_be_unbound_without_iterations() -> None:
    before = "if n:\n    p = n"
    found = chosen("B[i] = p\nfor j in range(i, p): A[i, j] = j", before=before)
    assert found is not None
    assert omitted("if B[i]: continue\nfor j in range(i, p): A[i, j] = p", before=before)


def test_elements_that_the_loop_stores_to_are_not_read_before_it() -> None:
    found = chosen("ix[i] = 3\nfor j in range(ix[i]): A[i, j] = j")
    assert found is None


def test_work_too_long_to_read_is_left_out() -> None:
    heads = ("j in range((2*n + 2) % 2, max(m, i + m + 1))", "k in range(min(-1, j + 1), n - j, 2)")
    inner = "        for l in range(min(n - k, j), max(j + n, k + m), 3):\n            B[i] = l"
    assert omitted(f"for {heads[0]}:\n    for {heads[1]}:\n{inner}") == "it is too long to be evaluated"


def test_in_random_nests_it_is_what_is_executed_and_never_less_than_one() -> None:
    nests, seen = Nests(11), 0
    for _ in range(150):
        nest = nests.one()
        found = chosen(nest.text + "\nA[i] = 2", before="s = 0")
        if found is None:
            continue
        seen += 1
        together = eval(f"lambda i, n, m: {found.expression('np')}", {"np": np})
        count = nest.counter()
        for n, m in ((1, 0), (5, 3), (4, 9), (7, -2)):
            values = np.broadcast_to(together(np.arange(float(n)), n, m), (n,)).tolist()
            counted = [count(i, n, m) + 1 for i in range(n)]
            more = values[0] - counted[0]
            assert more in (0, 1), nest.text
            assert values == [c + more for c in counted], nest.text
            assert min(values) >= 1
    assert seen > 50


NUMPY = [
    ("import numpy as np\n", "", "np", False),
    ("import numpy as np, math\n", "", "np", False),
    ("import numpy\n", "", "np", True),
    ("if 1:\n    import numpy as np\n", "", "np_2", True),
    ("import numpy as np\n", "np = 3\n", "np_2", True),
    ("import numpy as np\n", "def g(np): pass\n", "np_2", True),
    ("import numpy as np\n", "def g():\n    global np\n", "np_2", True),
    ("from lib import *\n", "", "np_2", True),
    ("", "import numpy as np\n", "np_2", True),
]


@pytest.mark.parametrize(("above", "below", "name", "imported"), NUMPY)
def test_numpy_goes_by_the_name_that_the_program_has_for_it(
    above: str, below: str, name: str, imported: bool
) -> None:
    text = (
        f"{above}def f(A, n, m):\n    # dlb: parallel\n    for i in range(n):\n"
        f"        for j in range(i, m): A[i, j] = j\n{below}"
    )
    emitted = transform(Source("case.py", text.encode(), text)).text
    if above.startswith("from lib"):  # what `range` means is not known, so nothing is derived
        assert emitted is None or b"numpy" not in emitted
        return
    assert emitted is not None
    assert f"dlb.cost(lambda i: 2*{name}.maximum(m - i, 0) + 1)" in emitted.decode()
    assert (f"import numpy as {name}\nfrom mpi4py" in emitted.decode()) == imported
