"""Programs that are taken, with their plans; programs that are not, with their codes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.dlbc.passes.planning import codes_of, plan_of, results_of, table

REFUSE = Path(__file__).parents[2] / "cases" / "refuse"


def loop(
    body: str, head: str = "i in range(n)", clauses: str = "parallel", before: str = "", after: str = ""
) -> str:
    parts = [
        "import numpy as np",
        "import math",
        textwrap.dedent(before),
        f"# dlb: {clauses}",
        f"for {head}:",
    ]
    return (
        "\n".join(
            [*parts, textwrap.indent(textwrap.dedent(body).strip("\n"), "    "), textwrap.dedent(after)]
        )
        + "\n"
    )


ARRAYS = [
    ("a row is updated, a list of arrays in place", "Z[i] += X[i]", ["Z BLOCK 0 rw in_place", "X BLOCK 0 r"]),
    ("a row is overwritten", "Z[i] = X[i]", ["Z BLOCK 0 w", "X BLOCK 0 r"]),
    ("a row by a slice", "Z[i, :] = 0", ["Z BLOCK 0 w"]),
    ("a column", "Z[:, i] = 0", ["Z BLOCK 1 w"]),
    ("an element of a row", "Z[i, 0] = 1", ["Z BLOCK 0 rw"]),
    ("an element of a row that may be no integer", "Z[i + q, 0] = 1", ["Z BLOCK 0 rw rows=i + q"]),
    ("an element behind a new axis", "Z[i, None, 0] = 1", ["Z BLOCK 0 rw"]),
    ("a slice that may be empty", "Z[2*i - 2:2*i] = 1", ["Z BLOCK 0 rw rows=2*i - 2,2*i - 1"]),
    ("a slice of one row", "Z[i:i + 1] = 1", ["Z BLOCK 0 rw"]),
    ("elements that say which rows", "Z[i] = X[i + Y[0]] + Y[i]",
     ["Z BLOCK 0 w", "X BLOCK 0 r rows=i + Y[0]", "Y WHOLE r"]),
    ("a list of lists", "Z[i][0] = 1", ["Z BLOCK 0 rw in_place"]),
    ("what is put into a list is stored to there", "Z[i] = X[i]\nZ[i][0] = 1",
     ["Z BLOCK 0 rw in_place", "X BLOCK 0 rw in_place"]),
    ("a list of as many numbers as something says", "v = [0] * m\nv[0] += 1\nZ[i] = v[0]", ["Z BLOCK 0 w"]),
    ("inner loops on the other axis", "for j in range(m):\n    Z[j, i] = 1", ["Z BLOCK 1 rw"]),
    ("only some iterations store", "if i % 2:\n    Z[i] = 1", ["Z BLOCK 0 rw"]),
    ("a continue before the store", "if i % 2:\n    continue\nZ[i] = 1", ["Z BLOCK 0 rw"]),
    ("counted down", "Z[n - 1 - i] = 1", ["Z BLOCK 0 w rows=n - 1 - i"]),
    ("through a temporary", "j = n - 1 - i\nZ[j] = 1", ["Z BLOCK 0 w rows=n - i - 1"]),
    ("every second", "Z[2 * i + 1] = Z[2 * i]", ["Z BLOCK 0 rw rows=2 * i + 1,2 * i writes=2 * i + 1"]),
    ("both of two", "Z[2 * i] = 0\nZ[2 * i + 1] = 1", ["Z BLOCK 0 rw rows=2 * i,2 * i + 1"]),
    ("a stencil reads more", "Z[i] = X[i - 1] + X[i + 1]", ["Z BLOCK 0 w", "X BLOCK 0 r rows=i - 1,i + 1"]),
    ("one row that all read", "Z[i] = X[i] + X[0]", ["Z BLOCK 0 w", "X BLOCK 0 r rows=i,0"]),
    ("read by an inner loop", "Z[i] = sum(Y[k] for k in range(n))", ["Z BLOCK 0 w", "Y WHOLE r"]),
    ("a comprehension hides the index", "Z[i] = [Y[i] for i in range(n)]", ["Z BLOCK 0 w", "Y WHOLE r"]),
    ("used as a whole", "Z[i] = X[i] @ Y.T @ X", ["Z BLOCK 0 w", "X WHOLE r"]),
    ("forms are no data", "Z[len(Z) - 1 - i] = Z.shape[0]", ["Z BLOCK 0 w rows=len(Z) - 1 - i"]),
    ("a dotted array", "self.A[i] = self.B[i]", ["self.A BLOCK 0 w", "self.B BLOCK 0 r"]),
    ("a view is stored through", "row = Z[i]\nfor j in range(m):\n    row[j] = 1", ["Z BLOCK 0 rw in_place"]),
    ("a row is sorted", "Z[i].sort()", ["Z BLOCK 0 rw in_place"]),
    ("an out argument", "np.add(X[i], 1, out=Z[i])", ["Z BLOCK 0 rw in_place", "X BLOCK 0 r"]),
    ("an out argument by its place", "np.add(X[i], 1, Z[i])", ["Z BLOCK 0 rw in_place", "X BLOCK 0 r"]),
    ("a new array is filled", "t = np.zeros(m)\nt[0] = X[i]\nZ[i] = t", ["X BLOCK 0 r", "Z BLOCK 0 w"]),
    ("a fresh list is filled", "t = []\nfor j in range(m):\n    t.append(X[i, j])\nZ[i] = t",
     ["X BLOCK 0 r", "Z BLOCK 0 w"]),
    ("a sum of the iteration's own", "s = 0.0\nfor j in range(m):\n    s += X[i, j]\nZ[i] = s",
     ["X BLOCK 0 r", "Z BLOCK 0 w"]),
    ("exceptions inside", "try:\n    t = 1 / X[i]\nexcept ZeroDivisionError:\n    t = 0\nZ[i] = t",
     ["X BLOCK 0 r", "Z BLOCK 0 w"]),
    ("a break inside", "for k in range(9):\n    if X[i]:\n        break\nelse:\n    k = 9\nZ[i] = k",
     ["X BLOCK 0 r", "Z BLOCK 0 w"]),
]  # fmt: skip


def test_slices_that_may_change_the_length_of_a_list_are_guarded() -> None:
    assert plan_of(loop("Z[2*i:2*i + 2] = X[i]")).guards == ("Z.ndim > 0",)
    assert plan_of(loop("Z[i, 2:4] = X[i]")).guards == ()
    assert plan_of(loop("Z[i][2:4] = X[i]")).guards == ()


@pytest.mark.parametrize(("body", "expected"), [c[1:] for c in ARRAYS],
                         ids=[c[0] for c in ARRAYS])  # fmt: skip
def test_array_table(body: str, expected: list[str]) -> None:
    assert table(plan_of(loop(body))) == expected


HEADS = [
    ("i in range(n - 1, -1, -1)", "i", "range(n - 1, -1, -1)"),
    ("i in reversed(range(n))", "i", "dlbrt.reversed(range(n))"),
    ("i, x in enumerate(xs, 3)", "i", "dlbrt.enumerate(xs, 3)"),
    ("i, (a, b) in enumerate(zip(xs, ys))", "i", "dlbrt.enumerate(dlbrt.zip(xs, ys))"),
    ("i, x in tqdm(enumerate(xs), total=3)", "i", "tqdm(dlbrt.enumerate(xs), total=3)"),
    ("i in trange(n)", "i", "trange(n)"),
    ("a, b in zip(xs, ys)", None, "dlbrt.zip(xs, ys)"),
    ("x in 1, 2", None, "(1, 2)"),
    ("x in xs", None, "xs"),
]


@pytest.mark.parametrize(("head", "index", "text"), HEADS, ids=[h[0] for h in HEADS])
def test_space(head: str, index: str | None, text: str) -> None:
    plan = plan_of(loop("pass", head, before="from tqdm import tqdm, trange"))
    assert (plan.space.index, plan.space.text) == (index, text)


def test_shadowed_builtins_are_left_alone() -> None:
    plan = plan_of(loop("pass", "i, x in enumerate(xs)", before="def enumerate(x):\n    return x"))
    assert (plan.space.index, plan.space.text) == (None, "enumerate(xs)")


CLAUSES = [
    ("parallel, CYCLIC", "CYCLIC", ["Z CYCLIC 0 w", "X CYCLIC 0 r"]),
    ("parallel, CYCLIC(Z)", "CYCLIC", ["Z CYCLIC 0 w", "X CYCLIC 0 r"]),
    ("parallel, BLOCK, CYCLIC(X)", "BLOCK", ["Z BLOCK 0 w", "X CYCLIC 0 r"]),
    ("parallel, WHOLE(X)", "BLOCK", ["Z BLOCK 0 w", "X WHOLE r"]),
    ("parallel, WHOLE", "BLOCK", ["Z WHOLE 0 w", "X WHOLE r"]),
    ("parallel, BLOCK(Z, X, axis=0)", "BLOCK", ["Z BLOCK 0 w", "X BLOCK 0 r"]),
]


@pytest.mark.parametrize(("clauses", "dealt", "expected"), CLAUSES, ids=[c[0] for c in CLAUSES])
def test_clauses(clauses: str, dealt: str, expected: list[str]) -> None:
    plan = plan_of(loop("Z[i] = X[i]", clauses=clauses))
    assert (plan.iterations.value, table(plan)) == (dealt, expected)


LIVE = [
    ("nothing is read", "t = i", "", ((), (), False)),
    ("read afterwards", "t = i", "print(t)", (("t",), (), False)),
    ("bound anew first", "t = i", "t = 0\nprint(t)", ((), (), False)),
    ("bound anew on one path", "t = i", "if n:\n    t = 0\nprint(t)", (("t",), (), False)),
    ("set by some iterations", "if i:\n    t = i", "print(t)", ((), ("t",), False)),
    ("set after a continue", "if i:\n    continue\nt = i", "print(t)", ((), ("t",), False)),
    ("the loop variable", "pass", "print(i)", ((), (), True)),
    ("a rebound loop variable", "i = i + 1", "print(i)", (("i",), (), False)),
    ("a function reads it", "t = i", "def f():\n    return t", (("t",), (), False)),
    ("names by text", "t = i", "print(globals())", (("t",), (), True)),
    ("read in the else", "t = i", "else:\n    print(t)", (("t",), (), False)),
    ("private", "t = i", "t = 5\nprint(t)", ((), (), False)),
    ("deleted", "t = i", "del t", (("t",), (), False)),
]


@pytest.mark.parametrize(("name", "body", "after", "expected"), LIVE, ids=[c[0] for c in LIVE])
def test_live_after(name: str, body: str, after: str, expected: tuple[object, ...]) -> None:
    clauses = "parallel, private(t)" if name == "private" else "parallel"
    plan = plan_of(loop(body, after=after, clauses=clauses))
    assert (plan.definite, plan.conditional, plan.targets_live) == expected


def test_a_function_from_before_the_loop_reads_it_when_it_is_called_after() -> None:
    plan = plan_of(loop("t = i", before="def f():\n    return t", after="print(f())"))
    assert plan.definite == ("t",)


def test_the_loop_around_reads_it_first() -> None:
    text = """
t = 0
for k in range(3):
    print(t)
    # dlb: parallel
    for i in range(4):
        t = i
"""
    assert plan_of(text).definite == ("t",)


def test_parameters_are_arrays_first_then_names_in_order() -> None:
    text = loop(
        "for j in range(m):\n    Z[i, j] = f(X[i], w) + len(v) + math.pi", before="def f(a, b):\n    return a"
    )
    assert plan_of(text).parameters == ("Z", "X", "m", "w", "v")


def test_locals_and_closure_variables_are_parameters() -> None:
    text = """
def f(Z, w):
    def g():
        # dlb: parallel
        for i in range(3):
            Z[i] = w * h
    h = 1
    return g
"""
    assert plan_of(text).parameters == ("Z", "w", "h")


def test_private_names_are_mangled() -> None:
    text = """
class _C:
    def f(self):
        # dlb: parallel
        for i in range(3):
            self.__z[i] = 1
"""
    plan = plan_of(text)
    assert plan.mangled == (("__z", "_C__z"),)
    assert table(plan) == ["self._C__z BLOCK 0 w"]


def test_a_proved_dependence_names_iterations_and_element() -> None:
    [(plan, [finding])] = results_of(loop("Z[i] = Z[i - 1]", "i in range(1, 9)"))
    assert plan is None
    assert "iterations i=1 and i=2 both access Z[1]" in finding.message
    assert "(proved)" in finding.message


def test_what_is_merely_not_excluded_says_so() -> None:
    [(plan, [finding])] = results_of(loop("Z[i] = Z[int(q[i] / 2)]"))
    assert plan is None
    assert (finding.code, "neither this nor the contrary was proved" in finding.message) == ("DLB302", True)


def test_assume_independent_takes_the_unproved_and_no_more() -> None:
    assumed = loop("Z[i] = Z[int(q[i] / 2)]", clauses="parallel, assume_independent")
    assert table(plan_of(assumed)) == ["Z WHOLE 0 rw", "q BLOCK 0 r"]
    assert codes_of(loop("Z[i] = Z[i - 1]", clauses="parallel, assume_independent")) == ["DLB301"]


REFUSED = [
    ("Z[i] = Z.T[0]", "DLB306"),
    ("import random\nZ[i] = random.random()", "DLB404"),
    ("t = X\nt[0] = 1", "DLB306"),
    ("t = [X[0]]\nt[0][0] = 1", "DLB304"),
    ("for r in Z[0]:\n    r[i] = 1", "DLB304"),
    ("t = min(X[0], X[i])\nt += 1", "DLB315"),
    ("try:\n    t = X[i]\nexcept ValueError:\n    pass\nZ[i] = t", "DLB310"),
    ("for k in range(m):\n    t = k\nZ[i] = t", "DLB310"),
    ("while X[i] > t:\n    t = 2", "DLB310"),
    ("del t\nt = 1", "DLB310"),
    ("def g():\n    return t\nt = 1\nZ[i] = g()", "DLB310"),
    ("Z[..., i] = Z[i, ...] / 2", "DLB304"),
    ("Z[0, :][i] = 1", "DLB304"),
    ("Z[0, ..., i] = Z[0, ..., i] / 2", "DLB304"),
    ("self.total += X[i] * self.total", "DLB324"),
    ("self.A[i] = self.B.f(self)", "DLB306"),
    ("np.random.shuffle(X)", "DLB404"),
    ("np.add.at(Z[0], i, 1)", "DLB410"),
    ("i = i + 1\nZ[i] = Z[i] / 2", "DLB323"),
    ("put = X.append\nput(i)", "DLB406"),
    ("say = open('log', 'w').write\nsay(i)", "DLB402"),
    ("draw = np.random.rand\nZ[i] = draw()", "DLB404"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED, ids=[c[0] for c in REFUSED])
def test_refused(body: str, code: str) -> None:
    [(plan, findings)] = results_of(loop(body))
    assert plan is None
    assert code in [f.code for f in findings]


CASES = sorted(REFUSE.glob("*.py"))


@pytest.mark.parametrize("path", CASES, ids=[p.stem for p in CASES])
def test_refuse_cases_of_loops(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    if not first.startswith(("# expect: DLB2", "# expect: DLB3", "# expect: DLB4")):
        assert first.startswith(("# expect: DLB", "# expect --strict: DLB"))
        return
    found = [
        f"{d.code} {d.place.line}:{d.place.column}" for _, findings in results_of(text) for d in findings
    ]
    assert found == first.removeprefix("# expect: ").split(", ")
