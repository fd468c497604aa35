"""Integer sets and the solver against enumeration."""

from __future__ import annotations

import ast
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlbc.algebra.integer_form import Condition, IntegerForm, Variable, VariableKind
from dlbc.algebra.integer_sets import IntegerSets
from dlbc.algebra.smt_solver import SmtSolver
from tests.dlbc.algebra.test_form import READER, holds
from tests.dlbc.passes.planning import results_of

FORMS = {"i": IntegerForm.of(Variable(VariableKind.INDEX, "i"))}
BOUND = 4
IN_BOX = " and ".join(f"-{BOUND} <= {name} <= {BOUND}" for name in "inm")

coefficients = st.integers(-3, 3)
affine = st.tuples(coefficients, coefficients, coefficients, st.integers(-5, 5)).map(
    lambda t: f"({t[0]} * i + {t[1]} * n + {t[2]} * m + {t[3]})"
)
terms = st.one_of(
    affine,
    st.tuples(affine, st.sampled_from(["//", "%"]), st.integers(1, 4)).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})"
    ),
    st.tuples(st.sampled_from(["min", "max"]), affine, affine).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
)
tests = st.tuples(terms, st.sampled_from(["<", "<=", "==", "!=", ">"]), terms).map(" ".join)
questions = st.lists(
    st.one_of(tests, st.tuples(tests, tests).map(lambda t: f"({t[0]} or {t[1]})")), min_size=1, max_size=4
).map(lambda parts: [*parts, IN_BOX])

SETS, SOLVER = IntegerSets(), SmtSolver()


def conditions_of(texts: list[str]) -> list[Condition]:
    found = [READER.condition(ast.parse(text, mode="eval").body, FORMS, {}) for text in texts]
    return [c for c in found if c is not None]


def solutions(conditions: list[Condition]) -> list[tuple[int, int, int]]:
    box = range(-BOUND, BOUND + 1)
    return [p for p in itertools.product(box, box, box) if all(holds(c, *p) for c in conditions)]  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(questions)
def test_sets_decide_what_is_affine(texts: list[str]) -> None:
    conditions = conditions_of(texts)
    assert len(conditions) == len(texts)
    found = solutions(conditions)
    assert SETS.is_empty(conditions) == (not found)
    assert SETS.affine
    witness = SETS.witness(conditions)
    if witness is not None:
        point = {v.name: value for v, value in witness.items()}
        assert tuple(point.get(name, found[0][k]) for k, name in enumerate("inm")) in found


@settings(max_examples=60, deadline=None)
@given(questions)
def test_the_solver_agrees(texts: list[str]) -> None:
    conditions = conditions_of(texts)
    if solutions(conditions):
        assert not SOLVER.is_empty(conditions)
    else:
        assert SOLVER.is_empty(conditions)


def test_products_are_left_to_the_solver() -> None:
    conditions = conditions_of(["i * n == 1", "i > 1", "n > 1"])
    assert not SETS.is_empty(conditions)
    assert not SETS.affine
    assert SOLVER.is_empty(conditions)


def test_a_product_of_names_from_outside_is_one_number() -> None:
    assert SETS.is_empty(conditions_of(["i == n * m", "i == m * n + 1"]))


def test_names_are_kept_out_of_the_text_of_sets() -> None:
    for name in ("mod", "min", "exists", "floor", "µ", "true"):
        form = IntegerForm.of(Variable(VariableKind.PARAMETER, name))
        assert not SETS.is_empty([*conditions_of(["i > 0"]), _equal(form)])


def _equal(form: IntegerForm) -> Condition:
    from dlbc.algebra.integer_form import Comparison

    return Comparison.equal(form, IntegerForm.literal(3))


@pytest.mark.parametrize(
    ("meeting", "expected"),
    [
        (["0 <= i < n", "i + m < n", "m > 0"], "m >= n or m <= 0"),
        (["0 <= i < n"], None),
    ],
)
def test_guards(meeting: list[str], expected: str | None) -> None:
    several = conditions_of(["n >= 2"])
    found = SETS.guard([conditions_of(meeting)], [several], [conditions_of(["n >= 64"])])
    if expected is None:
        assert found is None
    else:
        assert found is not None
        for n, m in itertools.product(range(2, 9), range(-9, 10)):
            assert eval(found, {"n": n, "m": m}) == eval(expected, {"n": n, "m": m}), (found, n, m)


def test_without_the_packages_equal_subscripts_are_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlbc.algebra.integer_sets.available", lambda: False)
    monkeypatch.setattr("dlbc.algebra.smt_solver.available", lambda: False)
    head = "import numpy as np\nn = 9\nA = np.zeros((n, n))\n# dlb: parallel\n"
    [(plan, _)] = results_of(f"{head}for i in range(n):\n    A[i, 0] = A[i, 1]\n")
    assert plan is not None
    [(plan, [finding])] = results_of(f"{head}for i in range(n // 2):\n    A[i, 0] = A[n - 1 - i, 1]\n")
    assert plan is None
    assert "islpy" in finding.help


def test_what_isl_does_not_answer_within_its_bound_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    question = conditions_of(["2 * i + 4 * n == 6 * m + 1", IN_BOX])
    assert SETS.is_empty(question)
    with monkeypatch.context() as patch:
        patch.setattr("dlbc.algebra.integer_sets._OPERATIONS", 1)
        assert not IntegerSets().is_empty(question)
    assert IntegerSets().is_empty(question)  # the bound is of the context that all share


def test_what_z3_does_not_answer_within_its_bound_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    question = conditions_of(["i * i + n * n == 3 * m * m + 3", "i > 3", "n > 3", "m > 3"])
    monkeypatch.setattr("dlbc.algebra.smt_solver._WORK", 1000)
    assert not SmtSolver().is_empty(question)
