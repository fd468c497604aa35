"""The class of every variable: one for each name of a planned loop, none for what would be wrong."""

from __future__ import annotations

import ast

import pytest

from dlbc.analysis.context import AnalysisContext
from dlbc.ir.loop import ClassifiedVariable, Module, VariableClass
from dlbc.ir.plan import IterationContributions
from dlbc.ir.region import ModuleNames
from dlbc.parse.find_loops import find_loops
from dlbc.passes.classify_variables import classify_scalars, classify_variables
from dlbc.passes.find_accesses import find_accesses
from dlbc.passes.resolve_names import resolve_module, resolve_names
from dlbc.passes.summarize_functions import summarize_functions
from dlbc.source import Source
from tests.dlbc.passes.planning import plan_of


def variables(body: str, clauses: str = "", space: str = "i in range(n)") -> list[ClassifiedVariable]:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    text = (
        "import numpy as np\n\ndef f(A, B, C, n, k, xs, s, items):\n"
        f"    # dlb: parallel{clauses}\n    for {space}:\n{lines}    return s, last\n"
    )
    return list(plan_of(text).variables)


C = VariableClass
TABLES = [
    ("A[i] = B[i]", [("i", C.LOOP), ("A", C.DISTRIBUTED), ("B", C.DISTRIBUTED)]),
    ("t = n\nA[i] = t", [("n", C.BROADCAST), ("t", C.PRIVATE), ("A", C.DISTRIBUTED)]),
    ("last = k\nA[i] = last", [("last", C.LASTPRIVATE), ("k", C.BROADCAST), ("A", C.DISTRIBUTED)]),
    ("for j in range(k):\n    A[i, j] = j", [("j", C.PRIVATE), ("k", C.BROADCAST)]),
    ("s += A[i]", [("s", C.REDUCTION), ("A", C.DISTRIBUTED)]),
    ("items.append(A[i])", [("items", C.ORDERED)]),
    ("xs[B[i]] += 1", [("xs", C.REDUCTION), ("B", C.DISTRIBUTED)]),
    ("v = A[i]\nif v < s:\n    s, last = v, i", [("s", C.REDUCTION), ("last", C.REDUCTION)]),
    ("A[i] = sum(B)", [("B", C.BROADCAST)]),
    ("import math\nA[i] = math.sqrt(i)", [("math", C.PRIVATE)]),
    ("def g(x):\n    return x\nA[i] = g(i)", [("g", C.PRIVATE)]),
    ("A[i] = (y := B[i]) + y", [("y", C.PRIVATE)]),
    ("match B[i]:\n    case {**rest}:\n        A[i] = rest", [("rest", C.PRIVATE)]),
    ("try:\n    A[i] = 1\nexcept OSError as e:\n    A[i] = e", [("e", C.PRIVATE)]),
    ("A[i] = [q for q in B[i]]", [("B", C.DISTRIBUTED)]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), TABLES, ids=[body for body, _ in TABLES])
def test_classes(body: str, expected: list[tuple[str, VariableClass]]) -> None:
    found = {v.name: v.variable_class for v in variables(body)}
    assert {name: found.get(name) for name, _ in expected} == dict(expected)


def test_functions_and_modules_are_no_variables() -> None:
    assert [v.name for v in variables("A[i] = np.sqrt(abs(i))")] == ["i", "A"]


def test_targets_that_the_body_binds_again_are_temporaries() -> None:
    found = variables("x = x + 1\nA[i] = x", space="i, x in enumerate(xs)")
    assert {v.name: v.variable_class for v in found} == {
        "i": VariableClass.LOOP,
        "x": VariableClass.PRIVATE,
        "A": VariableClass.DISTRIBUTED,
    }


HALOS = [
    ("B[i] = A[i - 1] + A[i + 1]", 1, 1, ()),
    ("B[i] = A[i - 2] + A[i]", 2, 0, ()),
    ("B[i] = A[i] + A[i + 3]", 0, 3, ()),
    ("B[i] = A[i + 1] + A[i + 2]", 0, 1, ()),
    ("B[i] = A[n - i] + A[n - 1 - i]", 0, 0, ()),
    ("B[i] = A[k] + A[i]", 0, 0, ("k",)),
    ("B[i] = A[2 * i] + A[2 * i + 1]", 0, 0, ()),
    ("B[i] = A[i - 1 : i + 2].sum()", 1, 1, ()),
]


@pytest.mark.parametrize(("body", "below", "above", "fixed"), HALOS, ids=[h[0] for h in HALOS])
def test_halos(body: str, below: int, above: int, fixed: tuple[str, ...]) -> None:
    [array] = [v for v in variables(body) if v.name == "A"]
    assert (array.variable_class, array.axis, array.halo_below, array.halo_above) == (
        VariableClass.DISTRIBUTED,
        0,
        below,
        above,
    )
    assert array.rows_of_all == fixed


@pytest.mark.parametrize("space", ["i in range(n - 1, 0, -1)", "i in reversed(range(n))"])
def test_a_halo_of_a_loop_that_counts_down(space: str) -> None:
    [array] = [v for v in variables("B[i] = A[i - 1] + A[i + 1]", space=space) if v.name == "A"]
    assert (array.halo_below, array.halo_above) == (1, 1)


def test_an_array_that_every_rank_has_is_broadcast() -> None:
    [array] = [v for v in variables("B[i] = A[i - 1]", ", WHOLE(A)") if v.name == "A"]
    assert (array.variable_class, array.whole_array) == (VariableClass.BROADCAST, True)


def unfit_of(body: str) -> list[str]:
    """The names without a class, where nothing else has looked at the loop, as the pass sees them."""
    text = f"def f(A, s):\n  # dlb: parallel\n  for i in range(3):\n    {body}\n"
    source = Source("case.py", text.encode(), text)
    module = Module(source, ast.parse(text))
    [loop], _, _ = find_loops(module)
    module_names: ModuleNames = resolve_module(module)
    names = resolve_names(loop, module_names)
    context = AnalysisContext(loop, names, module_names, summarize_functions(module_names), source)
    facts = find_accesses(context)
    scalars = classify_scalars(context.body, names)
    given = IterationContributions()
    _, unfit = classify_variables(context, scalars, None, facts.accesses, (), given, frozenset())
    assert {d.code for d in unfit} <= {"DLB327"}
    return [d.message.rpartition("`")[0].rpartition("`")[2] for d in unfit]


def test_a_name_that_fits_no_class_is_refused() -> None:
    assert unfit_of("s = s + 1") == ["s"]
    assert unfit_of("A[i] = 1") == ["A"]
    assert unfit_of("t = A[i]") == []
