"""When the iterations t and n - 1 - t are dealt together."""

from __future__ import annotations

import pytest

from dlbc.ir.plan import FoldDecision
from dlbc.pipeline import explain, transform
from dlbc.source import Source
from tests.dlbc.passes.planning import codes_of, plan_of

TRIANGLE = "for j in range(i, n): A[i, j] = j"
QUADRATIC = "for j in range(i):\n            for k in range(j): A[i, j] += k"
UNKNOWN = "while A[i] > 1: A[i] /= 2"
EQUAL = "A[i] = 2"
PIECEWISE = "for j in range(i, m): A[i, j] = j"
HEAD = "i in range(n)"


def program(body: str, clauses: str, head: str = HEAD) -> str:
    annotation = f"# dlb: parallel{', ' * bool(clauses)}{clauses}"
    return f"def f(A, w, n, m):\n    {annotation}\n    for {head}:\n        {body}\n"


DECIDED = [
    (TRIANGLE, "", HEAD, FoldDecision.DEFAULT),
    (TRIANGLE, "CYCLIC", HEAD, FoldDecision.DEFAULT),
    (TRIANGLE, "", "i in range(n - 1, -1, -1)", FoldDecision.DEFAULT),
    (TRIANGLE, "", "i in reversed(range(0, n, 3))", FoldDecision.DEFAULT),
    (TRIANGLE, "nofold", HEAD, FoldDecision.NO),
    (TRIANGLE, "profile", HEAD, FoldDecision.NO),
    (TRIANGLE, "cost(cumulative=i**2)", HEAD, FoldDecision.NO),
    (TRIANGLE, "cost(fit=w)", HEAD, FoldDecision.NO),
    (TRIANGLE, "cost(2)", HEAD, FoldDecision.NO),
    (TRIANGLE, "cost(2), fold", HEAD, FoldDecision.FORCED),
    (TRIANGLE, "fold", HEAD, FoldDecision.FORCED),
    (TRIANGLE, "", "i in range(0, n, m)", FoldDecision.NO),
    (TRIANGLE, "fold", "i in range(0, n, m)", FoldDecision.FORCED),
    (TRIANGLE, "", "i, x in enumerate(w)", FoldDecision.NO),
    ("print(x)", "fold", "x in w", FoldDecision.FORCED),
    ("print(x)", "", "x in w", FoldDecision.NO),
    (QUADRATIC, "", HEAD, FoldDecision.NO),
    (QUADRATIC, "cost(n - i), fold", HEAD, FoldDecision.FORCED),
    (UNKNOWN, "", HEAD, FoldDecision.NO),
    (UNKNOWN, "fold", HEAD, FoldDecision.FORCED),
    (UNKNOWN, "cost(w[i]), fold", HEAD, FoldDecision.FORCED),
    (EQUAL, "", HEAD, FoldDecision.NO),
    (EQUAL, "fold", HEAD, FoldDecision.FORCED),
    (PIECEWISE, "", HEAD, FoldDecision.NO),
    (PIECEWISE, "fold", HEAD, FoldDecision.FORCED),
]


@pytest.mark.parametrize(("body", "clauses", "head", "folded"), DECIDED)
def test_decision(body: str, clauses: str, head: str, folded: FoldDecision) -> None:
    text = program(body, clauses, head)
    assert plan_of(text).fold_decision is folded
    emitted = transform(Source("case.py", text.encode(), text)).text
    assert emitted is not None
    calls = {FoldDecision.DEFAULT: "dlb.folded()", FoldDecision.FORCED: "dlb.folded(always=True)"}
    found = [call for call in calls.values() if call in emitted.decode()]
    assert found == ([calls[folded]] if folded in calls else [])
    assert ("dlb.pairs(" in emitted.decode()) == bool(found)
    assert ("dlb.iterations(" in emitted.decode()) == (not found)


@pytest.mark.parametrize(
    ("body", "clauses"),
    [
        (QUADRATIC, "fold"),
        (EQUAL, "fold, cost(i**2)"),
        (EQUAL, "cost(n * i**3 - i), fold"),
        (QUADRATIC, "CYCLIC, fold"),
    ],
)
def test_a_fold_that_cannot_be_is_refused(body: str, clauses: str) -> None:
    text = program(body, clauses)
    assert codes_of(text) == ["DLB126"]
    assert [d.code for d in explain(Source("case.py", text.encode(), text)).diagnostics] == ["DLB126"]
