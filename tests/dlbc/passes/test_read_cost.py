"""The clause `cost`: how it is evaluated, what it may name, and when it is taken for a vector function."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dlbrt.data.footprint import IndexMap
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.costs import evaluate_cost

from dlbc.cost.clause import takes_vector
from dlbc.ir.plan import CostPlan, CostShape, FoldDecision
from dlbc.parse.read_source import parse_module
from dlbc.pipeline import transform
from dlbc.source import Source
from tests.dlbc.passes.planning import codes_of, plan_of

IMPORTS = "import math\nfrom math import log\nimport numpy as np\n"


def program(clause: str, head: str = "i in range(n)", body: str = "A[i] = 2", before: str = "pass") -> str:
    return (
        f"{IMPORTS}def f(A, w, rows, n, k):\n    {before}\n    # dlb: parallel, {clause}\n"
        f"    for {head}:\n        {body}\n    return A\n"
    )


def cost_in(clause: str, **parts: str) -> CostPlan:
    plan = plan_of(program(clause, **parts))
    assert plan.cost is not None
    return plan.cost


SHAPES = [
    ("n - i", CostShape.VECTOR),
    ("3", CostShape.VECTOR),
    ("w[i]", CostShape.VECTOR),
    ("w[i + 1] - w[i]", CostShape.VECTOR),
    ("w[0][i]", CostShape.VECTOR),
    ("max(i, k) + abs(i - k)", CostShape.VECTOR),
    ("i**2 if i < k else n", CostShape.VECTOR),
    ("math.sqrt(i) + log(i + 1)", CostShape.VECTOR),
    ("np.sqrt(i) + np.maximum(i, 3)", CostShape.VECTOR),
    ("sum(w) + i", CostShape.VECTOR),
    ("len(w) - i", CostShape.VECTOR),
    ("w[i][0]", CostShape.EACH),
    ("w[i].size", CostShape.EACH),
    ("w[i, :].sum()", CostShape.EACH),
    ("len(rows[i])", CostShape.VECTOR),
    ("np.sort(i)", CostShape.EACH),
    ("np.cumsum(w[i])", CostShape.EACH),
    ("sum(rows[i])", CostShape.EACH),
    ("round(i)", CostShape.EACH),
    ("k(i)", CostShape.EACH),
    ("i @ w", CostShape.EACH),
    ("np.sqrt(i, where=w)", CostShape.EACH),
    ("(lambda j: j)(i)", CostShape.EACH),
    ("sum(i for _ in w)", CostShape.EACH),
]


@pytest.mark.parametrize(("text", "shape"), SHAPES, ids=[text for text, _ in SHAPES])
def test_how_it_is_evaluated(text: str, shape: CostShape) -> None:
    found = cost_in(f"cost({text})")
    assert (found.shape, found.target) == (shape, "i")


@pytest.mark.parametrize(
    ("head", "text", "shape", "target"),
    [
        ("i, x in enumerate(w)", "n - i", CostShape.VECTOR, "i"),
        ("i, x in enumerate(w)", "x + i", CostShape.EACH, "i, x"),
        ("x in w", "x", CostShape.EACH, "x"),
        ("x, (y, *z) in zip(w, rows)", "x + y", CostShape.EACH, "x, (y, *z)"),
        ("i in reversed(range(n))", "i", CostShape.VECTOR, "i"),
    ],
)
def test_it_sees_all_targets(head: str, text: str, shape: CostShape, target: str) -> None:
    found = cost_in(f"cost({text})", head=head, body="print(n)")
    assert (found.shape, found.target) == (shape, target)


def test_an_index_that_the_body_binds_again_still_counts() -> None:
    found = cost_in("cost(cumulative=i**2)", body="i = n\n        print(i)")
    assert (found.shape, found.target) == (CostShape.CUMULATIVE, "i")


class Random:
    """Random expressions of an index, arrays and functions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self, depth: int = 3) -> str:
        leaves = ["i", "i", "n", "2", "0.5", "w[i]", "rows[i]", "len(w)"]
        if depth == 0:
            return self._random.choice(leaves)
        part, other = self.one(depth - 1), self.one(depth - 1)
        return self._random.choice(
            [
                f"({part} + {other})", f"({part} * {other})", f"({part} - {other})", f"({part} // 3)",
                f"({part} % 5)", f"max({part}, {other})", f"min({part}, 7)", f"abs({part})",
                f"np.sqrt({part})", f"np.sort({part})", f"np.cumsum({part})", f"math.floor({part})",
                f"np.maximum({part}, {other})", f"({part} if {other} > 3 else {other})", f"-{part}",
                f"w[int({part}) % 9]", f"M[i][{self._random.choice('i0')}]", f"len(rows[{part} % 3])",
                f"float({part})", f"(({part}) ** 2)", f"(i and {part})", f"sum([{part}, {other}])",
                f"(i < {part})", f"np.where({part} > 2, {part}, {other})",
            ]
        )  # fmt: skip


NAMES = {
    "np": np,
    "math": math,
    "n": 9,
    "w": np.arange(9) ** 2 + 1,
    "rows": [3, 1, 4, 1, 5, 9, 2, 6, 5],
    "M": np.arange(81).reshape(9, 9) + 1,
}


def sums(spec: CostSpec) -> list[float] | None:
    try:
        work = evaluate_cost(spec, 9, IndexMap(0, 1), lambda: iter(range(9)))
    except CostError:
        return None
    return None if work is None else [*map(float, work.before(range(10)))]


def test_where_a_vector_is_taken_its_values_are_those_of_each_item() -> None:
    module_names = plan_module()
    expressions, taken, known = Random(7), 0, 0
    for _ in range(1500):
        text = expressions.one()
        if not takes_vector(ast.parse(text, mode="eval").body, "i", module_names):
            continue
        taken += 1
        together: Callable[[Any], Any] = eval(f"lambda i: {text}", dict(NAMES))
        each: Callable[[Any], list[Any]] = eval(f"lambda items: [{text} for i in items]", dict(NAMES))
        by_item = sums(CostSpec(each=each))
        if by_item is not None:
            found = sums(CostSpec(density=together))
            assert found == pytest.approx(by_item), text
            known += 1
    assert taken > 300
    assert known > 100


def plan_module() -> Any:
    from dlbc.ir.loop import Module
    from dlbc.passes.resolve_names import resolve_module

    text = "import numpy as np\nimport math\n"
    module = parse_module(Source("case.py", text.encode(), text))
    assert isinstance(module, Module)
    return resolve_module(module)


REFUSED = [
    ("cost(A[i])", "DLB123"),
    ("cost(A.sum())", "DLB123"),
    ("cost(len(A) - i)", ""),
    ("cost(A.shape[0] - i)", ""),
    ("cost(A.size)", ""),
    ("cost(A[0].size)", "DLB123"),
    ("cost(fit=[(i, 2)])", "DLB123"),
    ("cost(fit=[(k, j) for k in w for j in w])", ""),
    ("cost(unheard)", "DLB122"),
    ("cost(__name__ == 'x' and i)", ""),
    ("cost(sum(x for x in w) + i)", ""),
    ("cost(True)", "DLB124"),
    ("cost(1e999)", "DLB124"),
    ("cost(f'{i}')", "DLB124"),
    ("cost(0.0)", "DLB124"),
    ("cost(1 - 3)", "DLB124"),
    ("cost(cumulative=k)", "DLB124"),
    ("cost((lambda: (yield))())", "DLB125"),
    ("cost(eval('i'))", "DLB125"),
    ("cost(__class__)", "DLB125"),
]


@pytest.mark.parametrize(("clause", "code"), REFUSED, ids=[clause for clause, _ in REFUSED])
def test_what_it_may_read(clause: str, code: str) -> None:
    assert codes_of(program(clause)) == ([code] if code else [])


def test_names_that_the_loop_binds_or_grows() -> None:
    body = "t = i\n        s += t\n        found.append(t)\n        hist[w[i]] += 1"
    before = "s, found, hist = 0, [], [0] * n"
    clauses = {"t": 1, "s": 1, "found[0]": 1, "len(found)": 1, "hist[0]": 1, "len(hist)": 0, "s + t": 2}
    for text, count in clauses.items():
        found = codes_of(program(f"cost({text} + i)", body=body, before=before))
        assert found == ["DLB123"] * count, text


def test_an_alias_of_what_the_loop_stores_to() -> None:
    assert codes_of(program("cost(B[i])", before="B = A")) == ["DLB123"]


def test_attributes_are_told_apart() -> None:
    text = (
        "class C:\n    def f(self):\n        # dlb: parallel, cost({})\n        for i in range(self.n):\n"
        "            self.A[i] = i\n"
    )
    assert codes_of(text.format("self.n - i")) == []
    assert codes_of(text.format("self.Amount[i]")) == []
    assert codes_of(text.format("self.work(i)")) == []
    assert codes_of(text.format("self.A[i]")) == ["DLB123"]
    assert codes_of(text.format("self.A.mean() + i")) == ["DLB123"]


def test_a_star_import_may_bind_any_name() -> None:
    text = "from math import *\nA = [0]\n# dlb: parallel, cost(log(i + 2))\nfor i in A: print(i)\n"
    assert "each=lambda items: [log(i + 2) for i in items]" in emitted(text)


def emitted(text: str) -> str:
    result = transform(Source("case.py", text.encode(), text))
    assert result.text is not None, result.diagnostics
    return result.text.decode()


def test_what_it_reads_is_read_where_the_user_wrote_it() -> None:
    text = (
        "import math\nlimit = 3\ndef weigh(i, k): return 1\n"
        "def f(A, n):\n    if n:\n        m = 2\n    size = 5\n"
        "    # dlb: parallel, cost(weigh(i, m) + limit + size * math.pi)\n"
        "    for i in range(n): A[i] = i\n"
    )
    plan = plan_of(text)
    assert (plan.parameters, plan.unsure) == (("A",), ())
    expression = "weigh(i, m) + limit + size * math.pi"
    each = f"each=lambda items: [{expression} for i in items]"
    assert f"range(n),\n        A,\n        {each},\n" in emitted(text)


def test_a_target_of_one_element() -> None:
    found = emitted(program("cost(a + 1)", head="a, in rows", body="print(a)"))
    assert "each=lambda items: [a + 1 for a, in items]" in found


def test_names_of_a_class_keep_their_form_at_the_call() -> None:
    text = (
        "class C:\n    def f(self, __n):\n        # dlb: parallel, cost(self.__work + __n - __i)\n"
        "        for __i in range(__n): print(__i)\n"
    )
    assert "cost=lambda __i: self.__work + __n - __i" in emitted(text)


def test_a_long_expression_is_laid_out_as_deep_as_the_call() -> None:
    terms = " + ".join(f"w[i + {k}]" for k in range(20))
    found = emitted(program(f"cost({terms})"))
    lines = found[found.index("        cost=lambda i: ") :].split("\n")
    end = lines.index("    )")
    assert end > 2
    assert max(map(len, lines[:end])) <= 100
    assert all(line.startswith(" " * 12) for line in lines[1:end])
    found = emitted(program(f"cost({terms} + len('{'a  b' * 20}'))"))
    assert "a  b" * 20 in found


def test_what_it_reads_of_a_loop_before_is_kept_there() -> None:
    text = (
        "def f(A, n):\n    t = 1\n    # dlb: parallel\n    for i in range(n):\n        t = i\n"
        "        A[i] = t\n    # dlb: parallel, cost({} + i)\n    for i in range(n):\n        A[i] += 1\n"
    )
    assert "dlb.keep(t=t)" in emitted(text.format("t"))
    assert "dlb.keep" not in emitted(text.format("n"))


CHANGING = [
    ("print(i)", "`print` writes to standard output"),
    ("w.append(i)", "`append` changes `w`"),
    ("rows[i].pop()", "`pop` changes `rows`"),
    ("k.random()", "`random` draws from `k`"),
    ("np.random.rand()", "`numpy.random.rand` draws from a random generator"),
    ("next(k)", "`builtins.next` changes `k`"),
    ("open('x', 'w').tell()", "`open` writes to a file"),
    ("np.add(w, 1, out=w)[i]", "`numpy.add` changes `w`"),
    ("noisy(i)", "`noisy` writes to standard output"),
    ("sum(map(noisy, w))", "`noisy` writes to standard output"),
    ("asks(i)", "`asks` calls `input`, which reads standard input"),
    ("counter(i)", "`counter` changes `count`"),
    ("push(w, i)", "`push` changes `w`"),
    ("through(i)", "`counter` changes `count`"),
]
NOT_CHANGING = [
    "push([], i)",
    "local(i)",
    "complains(i)",
    "k(i)",
    "sorted(rows[i])[0]",
    "k.copy().pop()",
    "w.get(i, 3)",
]
FUNCTIONS = """
import sys
count = 0
def noisy(j):
    print(j)
    return 1
def asks(j): return int(input())
def counter(j):
    global count
    count += 1
    return count
def push(held, j):
    held.append(j)
    return len(held)
def through(j): return counter(j) + 1
def local(j):
    found = []
    def add(x): found.append(x)
    add(j)
    return len(found)
def complains(j):
    print(j, file=sys.stderr)
    return 1
"""


@pytest.mark.parametrize(("text", "side_effect"), CHANGING, ids=[text for text, _ in CHANGING])
def test_it_must_not_change_the_program(text: str, side_effect: str) -> None:
    source = FUNCTIONS + program(f"cost({text})")
    found = [
        d for d in transform(Source("case.py", source.encode(), source)).diagnostics if d.code == "DLB127"
    ]
    assert [d.message.partition(": ")[2] for d in found] == [side_effect]


@pytest.mark.parametrize("text", NOT_CHANGING)
def test_what_it_makes_itself_it_may_change(text: str) -> None:
    assert codes_of(FUNCTIONS + program(f"cost({text})")) == []


def test_the_work_that_it_gives_decides_folding() -> None:
    folded = {
        "n - i": FoldDecision.DEFAULT,
        "(3*i + 1) / 2 - 0.5": FoldDecision.DEFAULT,
        "i**2": FoldDecision.NO,
        "2": FoldDecision.NO,
        "w[i]": FoldDecision.NO,
        "i / k": FoldDecision.NO,
        "i * k": FoldDecision.DEFAULT,
    }
    assert {text: plan_of(program(f"cost({text})")).fold_decision for text in folded} == folded


@pytest.mark.parametrize(
    "text",
    ["i for i in w", "*w", "**w", "lambda: 3", "[]", "{}", "...", "None", "not i", "i := 3", "b''", "1j",
     "w[::2]", "i, n", "print(i)", "f(i)(i)", "i.j.k", "super().f", "await i", "[i async for i in w]",
     "w[i:]", "-i", "-" * 300 + "1"],
)  # fmt: skip
def test_whatever_stands_in_it_there_is_an_answer(text: str) -> None:
    for form in ("", "cumulative=", "fit="):
        source = program(f"cost({form}{text})")
        result = transform(Source("case.py", source.encode(), source))
        assert "DLB008" not in [d.code for d in result.diagnostics]
        assert result.text is not None or result.diagnostics
