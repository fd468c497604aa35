"""Integer forms: the normal form against evaluation, and how they are written."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from dlbc.algebra.integer_form import Comparison, IntegerForm, Junction, Variable, VariableKind, negated
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.ir.region import CodeRegion, ModuleNames
from tests.dlbc.algebra.evaluating import value_of

WORLD = ModuleNames({}, frozenset(), frozenset(), {}, {}, {}, {}, {})
INDEX = Variable(VariableKind.INDEX, "i")
N, M = Variable(VariableKind.PARAMETER, "n"), Variable(VariableKind.PARAMETER, "m")
READER = SubscriptReader(CodeRegion((), frozenset(), WORLD, index="i", integers=frozenset({"n", "m"})))
FORMS = {"i": IntegerForm.of(INDEX)}

numbers = st.integers(-6, 6)
leaves = st.one_of(st.sampled_from(["i", "n", "m"]), numbers.map(lambda k: f"({k})"))
divisors = st.integers(1, 5)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["//", "%"]), divisors).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda t: f"-{t}"),
    ),
    max_leaves=8,
)


def form_of(text: str) -> IntegerForm:
    form = READER.form(ast.parse(text, mode="eval").body, FORMS, {})
    assert form is not None
    return form


@given(expressions, numbers, numbers, numbers)
def test_a_form_has_the_value_of_its_expression(text: str, i: int, n: int, m: int) -> None:
    expected = eval(text, {"i": i, "n": n, "m": m})
    assert value_of(form_of(text), {INDEX: i, N: n, M: m}) == expected


@given(expressions, numbers, numbers, numbers)
def test_what_is_written_means_the_same(text: str, i: int, n: int, m: int) -> None:
    written = str(form_of(text))
    assert eval(written, {"i": i, "n": n, "m": m}) == eval(text, {"i": i, "n": n, "m": m})


def test_equal_polynomials_are_equal() -> None:
    assert form_of("(i + n) * (i - n)") == form_of("i * i - n * n")
    assert form_of("n - 1 - i") == form_of("-(i + 1) + n")
    assert form_of("i - i").constant == 0


def test_powers_of_literals_are_numbers() -> None:
    assert form_of("10**6 + (-2)**3 + 3**0").constant == 999_993
    for text in ("2**64", "2**-1", "i**2", "2**n", "(10**30)**2", "9**9**9"):
        assert READER.form(ast.parse(text, mode="eval").body, FORMS, {}) is None, text


@given(expressions, numbers, numbers, numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_a_condition_or_its_negation_holds(text: str, i: int, n: int, m: int, op: str) -> None:
    condition = READER.condition(ast.parse(f"{text} {op} n and not i > m", mode="eval").body, FORMS, {})
    assert condition is not None
    expected = eval(f"{text} {op} n and not i > m", {"i": i, "n": n, "m": m})
    assert holds(condition, i, n, m) == expected
    assert holds(negated(condition), i, n, m) != expected


def holds(condition: Comparison | Junction, i: int, n: int, m: int) -> bool:
    if isinstance(condition, Junction):
        parts = [holds(p, i, n, m) for p in condition.parts]
        return all(parts) if condition.operator == "and" else any(parts)
    value = value_of(condition.form, {INDEX: i, N: n, M: m})
    return {">=": value >= 0, "==": value == 0, "!=": value != 0}[condition.relation]


def test_a_comparison_of_what_may_be_no_integer_is_not_looked_into() -> None:
    assert READER.condition(ast.parse("i > x", mode="eval").body, FORMS, {}) is None
    assert READER.condition(ast.parse("i > ix[i]", mode="eval").body, FORMS, {}) is None


def test_coefficients() -> None:
    assert form_of("3 * i + n").coefficient(INDEX) == 3
    assert form_of("n").coefficient(INDEX) == 0
    assert form_of("n * i").coefficient(INDEX) is None
    assert form_of("i // 2").coefficient(INDEX) is None
