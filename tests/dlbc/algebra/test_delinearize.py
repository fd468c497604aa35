"""Delinearisation against enumeration: what it says of a form holds wherever the form is 0, or below 0."""

from __future__ import annotations

import ast
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from dlbc.algebra.delinearize import Division, divided, is_negative, signs, vanishes
from dlbc.algebra.integer_form import Condition, IntegerForm, Junction, Variable, VariableKind
from tests.dlbc.algebra.evaluating import value_of
from tests.dlbc.algebra.test_form import READER, M, N

ROW, COLUMN, Q, R, U, V = (Variable(VariableKind.INNER, name, 1) for name in "ijqruv")
FORMS = {"i": IntegerForm.of(ROW), "j": IntegerForm.of(COLUMN)}
POINTS = [
    dict(zip((ROW, COLUMN, N, M), point, strict=True)) for point in itertools.product(range(-3, 5), repeat=4)
]

coefficients = st.integers(-3, 3)
linear = st.tuples(coefficients, coefficients, coefficients, coefficients, st.integers(-4, 4)).map(
    lambda t: f"({t[0]} * i + {t[1]} * j + {t[2]} * n + {t[3]} * m + {t[4]})"
)
moving = st.tuples(coefficients, coefficients, coefficients).map(
    lambda t: f"({t[0]} * i + {t[1]} * j + {t[2]})"
)
strides = st.sampled_from(["n", "m", "(n + 2)", "(2 * m - 1)", "3 * n", "n * m"])
flat = st.one_of(
    st.tuples(moving, strides, linear).map(lambda t: f"{t[0]} * {t[1]} + {t[2]}"),
    st.tuples(moving, strides, moving, strides, linear).map(
        lambda t: f"({t[0]} * {t[1]} + {t[2]}) * {t[3]} + {t[4]}"
    ),
)
Point = dict[Variable, int]


def form_of(text: str) -> IntegerForm:
    form = READER.form(ast.parse(text, mode="eval").body, FORMS, {})
    assert form is not None
    return form


def holds(condition: Condition, point: Point) -> bool:
    if isinstance(condition, Junction):
        parts = (holds(p, point) for p in condition.parts)
        return all(parts) if condition.operator == "and" else any(parts)
    value = value_of(condition.form, point)
    return {">=": value >= 0, "==": value == 0, "!=": value != 0}[condition.relation]


@settings(max_examples=150, deadline=None)
@given(flat)
def test_what_is_said_of_a_form_holds_where_it_is_0_or_negative(text: str) -> None:
    form = form_of(text)
    zero, negative = vanishes(form), is_negative(form)
    for point in POINTS:
        value = value_of(form, point)
        assert value != 0 or holds(zero, point), point
        assert value >= 0 or holds(negative, point), point


@settings(max_examples=100, deadline=None)
@given(flat, strides)
def test_forms_are_divided_by_strides(text: str, stride: str) -> None:
    times, rest = divided(form_of(text), form_of(stride))
    assert times * form_of(stride) + rest == form_of(text)


@settings(max_examples=60, deadline=None)
@given(linear, linear, strides, strides)
def test_what_is_said_of_quotients_holds(one: str, other: str, stride: str, bound: str) -> None:
    first = Division(form_of(one), form_of(stride), Q, R)
    second = Division(form_of(other), form_of(stride), U, V)
    conditions = [*first.conditions([form_of(bound)]), *first.compared(second)]
    for point in POINTS[::7]:
        divisor = int(value_of(first.stride, point))
        if divisor:
            (q, r), (u, v) = (divmod(int(value_of(d.dividend, point)), divisor) for d in (first, second))
            here = point | {Q: q, R: r, U: u, V: v}
            assert all(holds(c, here) for c in conditions), here


def test_what_is_said_of_signs_holds() -> None:
    conditions = list(signs([form_of("n * m + i"), form_of("n * n * m")]))
    assert len(conditions) == 4
    assert all(holds(c, point) for c in conditions for point in POINTS)


def test_cases_that_decide() -> None:
    # Two places of a flat picture are one if row and column are; with a column more they need not be.
    rows = vanishes(form_of("i * n + j"))
    within = [p for p in POINTS if p[N] > 0 and abs(p[COLUMN]) < p[N]]
    assert all(holds(rows, p) == (p[ROW] == p[COLUMN] == 0) for p in within)
    assert any(holds(rows, p) and p[ROW] for p in POINTS if p[N] > 0 and abs(p[COLUMN]) == p[N])


@settings(deadline=None)
@given(st.sampled_from(["&", "|", "^", "<<", ">>"]), st.sampled_from([0, 1, 2, 3, 4, 7]), st.booleans())
def test_bits_are_those_of_integers(operator: str, mask: int, even: bool) -> None:
    value = "(8 * i + 8)" if even else "(i - j)"
    form = READER.form(ast.parse(f"{value} {operator} {mask}", mode="eval").body, FORMS, {})
    if form is not None:
        for point in POINTS:
            names = {"i": point[ROW], "j": point[COLUMN]}
            assert value_of(form, point) == eval(f"{value} {operator} {mask}", names)


@settings(max_examples=60, deadline=None)
@given(linear, strides, linear)
def test_a_quotient_times_its_divisor_is_the_multiple_below(one: str, stride: str, other: str) -> None:
    assert form_of(f"{one} // ({stride}) * ({stride}) + {one} % ({stride})") == form_of(one)
    text = f"{other} - {one} // ({stride}) * ({stride})"
    form = form_of(text)
    for point in POINTS[::11]:
        names = {"i": point[ROW], "j": point[COLUMN], "n": point[N], "m": point[M]}
        if eval(stride, names):
            assert value_of(form, point) == eval(text, names)
