"""Work in closed form: sums over ranges against enumeration, its text, folding and cumulative work."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from dlbc.algebra.bounds import (
    NO_ASSUMPTIONS,
    Assumptions,
    maximum,
    minimum,
    normal_form,
    quotient,
    remainder,
)
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import (
    Apply,
    Comparison,
    IntegerForm,
    Junction,
    Operator,
    Variable,
    VariableKind,
)
from dlbc.algebra.iteration_cost import Cost, CostClass, fold_legality
from dlbc.algebra.sums import NoClosedFormError, faulhaber, sum_over, trip_count
from dlbc.algebra.work import ONE_WORK, ZERO_WORK, Indicator, WorkPolynomial, indicator_of
from dlbc.algebra.work_text import Notation, text_of
from tests.dlbc.algebra.evaluating import POSITION, cumulative, function_of, value_of

INDEX = Variable(VariableKind.INDEX, "i")
INNER = Variable(VariableKind.INNER, "j", 1)
SIZE = Variable(VariableKind.PARAMETER, "n")
OTHER = Variable(VariableKind.PARAMETER, "m")

AT, J, N, M = (IntegerForm.of(v) for v in (INDEX, INNER, SIZE, OTHER))
ZERO, FIRST = IntegerForm(), IntegerForm.literal(1)


def work(form: IntegerForm) -> WorkPolynomial:
    return WorkPolynomial.from_form(form)


def element(subscript: IntegerForm) -> IntegerForm:
    return IntegerForm.of(Apply(Operator.ELEMENT, (subscript,), "A"))


def over(
    inner: WorkPolynomial,
    start: IntegerForm,
    stop: IntegerForm,
    step: int = 1,
    given: Assumptions = NO_ASSUMPTIONS,
) -> WorkPolynomial:
    pace = IntegerForm.literal(step)
    count = trip_count(start, stop, pace, given)
    assert count is not None
    return sum_over(inner, INNER, start, pace, count, given)


@pytest.mark.parametrize("power", range(8))
def test_sums_of_powers(power: int) -> None:
    for n in range(12):
        value = sum(c * n**k for k, c in enumerate(faulhaber(power)))
        assert value == sum(t**power for t in range(n))


@pytest.mark.parametrize("divisor", [2, 3, 4, 6, -2, -5])
def test_quotients_and_remainders_are_those_of_python(divisor: int) -> None:
    draw = random.Random(divisor)
    for _ in range(200):
        a, b, c = (draw.randint(-9, 9) for _ in range(3))
        form = IntegerForm.literal(a) * AT + IntegerForm.literal(b) * N + IntegerForm.literal(c)
        values = {INDEX: draw.randint(-20, 20), SIZE: draw.randint(-20, 20)}
        exact = value_of(form, values)
        assert value_of(quotient(form, divisor), values) == exact // divisor
        assert value_of(remainder(form, divisor), values) == exact % divisor
        twice = quotient(quotient(form, divisor), 3)
        assert value_of(twice, values) == exact // divisor // 3


def test_equal_bounds_are_equal_forms() -> None:
    assert maximum([AT, N, AT]) == maximum([N, AT])
    assert maximum([AT, AT - FIRST]) == AT
    assert minimum([maximum([AT, ZERO]), ZERO]) == ZERO
    assert maximum([AT * AT, ZERO]) == AT * AT
    assert quotient(IntegerForm.literal(4) * AT + IntegerForm.literal(2), 4) == AT
    odd = IntegerForm.of(
        Apply(Operator.QUOTIENT, (IntegerForm.literal(2) * AT + FIRST, IntegerForm.literal(2)))
    )
    assert normal_form(odd) == AT


@pytest.mark.parametrize(
    ("facts", "form", "follows"),
    [
        ([AT, N - AT - FIRST], N, True),
        ([AT, N - AT - FIRST], N - FIRST, True),
        ([AT, N - AT - FIRST], N - FIRST - FIRST, False),
        ([M - AT, N - M, AT], N - AT, True),
        ([AT - FIRST, N * N - AT], N * N, True),
        ([], maximum([AT, ZERO]), True),
        ([AT], maximum([AT - FIRST, ZERO]) - AT, False),
        ([AT], AT - quotient(AT, 2), True),
        ([AT, N], minimum([AT, N]), True),
        ([AT], minimum([AT, N]), False),
        ([], IntegerForm.literal(2) - remainder(AT, 3), True),
        ([], remainder(AT, 3) - FIRST, False),
        ([], AT * AT, True),
        ([], AT * AT * N * N + FIRST, True),
        ([], AT * AT * N, False),
        ([], AT * AT - FIRST, False),
        ([N - AT * AT], N, True),
    ],
)
def test_what_follows(facts: list[IntegerForm], form: IntegerForm, follows: bool) -> None:
    assert Assumptions(facts).proves(form) is follows


def test_contradictions_are_seen() -> None:
    assert Assumptions([AT - N, N - AT - FIRST]).contradict
    assert not Assumptions([AT - N, N - AT]).contradict


def test_what_follows_is_true() -> None:
    draw = random.Random(7)
    proved = 0
    for _ in range(300):
        facts = [_random_form(draw) for _ in range(3)]
        goal = _random_form(draw)
        if not Assumptions(facts).proves(goal):
            continue
        proved += 1
        for i in range(-6, 7):
            for n in range(-6, 7):
                values = {INDEX: i, SIZE: n}
                if all(value_of(fact, values) >= 0 for fact in facts):
                    assert value_of(goal, values) >= 0
    assert proved > 20


def _random_form(draw: random.Random) -> IntegerForm:
    form = IntegerForm.literal(draw.randint(-2, 2)) * AT + IntegerForm.literal(draw.randint(-2, 2)) * N
    form = form + IntegerForm.literal(draw.randint(-3, 3))
    return quotient(form, 2) if draw.random() < 0.2 else form


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
@pytest.mark.parametrize(
    "inner", [ONE_WORK, work(J), work(J * J - AT), WorkPolynomial.literal(Fraction(1, 3)) * work(J * AT)]
)
def test_sums_over_possibly_empty_ranges(inner: WorkPolynomial, step: int) -> None:
    total = over(inner, AT - FIRST, N + AT - M, step)
    for i in range(-3, 5):
        for n in range(-3, 6):
            values = {INDEX: i, SIZE: n, OTHER: 2}
            turning = range(i - 1, n + i - 2, step)
            assert value_of(total, values) == sum(value_of(inner, values | {INNER: j}) for j in turning)


@pytest.mark.parametrize(
    "inner",
    [
        indicator_of(Comparison.below(J, AT)),
        indicator_of(Comparison.equal(J, AT)) * work(J),
        indicator_of(Comparison(J - AT, "!=")),
        indicator_of(Junction("or", (Comparison.below(J, AT), Comparison.at_least(J, M)))) * work(J),
        indicator_of(Comparison.equal(remainder(J + AT, 2), ZERO)) * work(J),
        work(quotient(J + AT, 3)) * work(J),
        work(quotient(minimum([J, AT]), 2)),
        work(maximum([J, AT, M])) * work(maximum([J, AT, M])),
        work(minimum([IntegerForm.literal(2) * J, AT + M])) * indicator_of(Comparison.below(AT, N)),
        WorkPolynomial.of(Indicator(IntegerForm.literal(2) * J - AT)) * WorkPolynomial.of(Indicator(AT - J)),
    ],
    ids=str,
)
def test_sums_of_what_is_not_polynomial(inner: WorkPolynomial) -> None:
    total = over(inner, M - FIRST, N)
    assert INNER not in total.variables
    for i in range(-4, 7):
        for n in range(-2, 7):
            values = {INDEX: i, SIZE: n, OTHER: 1}
            assert value_of(total, values) == sum(value_of(inner, values | {INNER: j}) for j in range(n))


def test_assumptions_leave_out_what_cannot_be() -> None:
    given = Assumptions([AT, N - AT - FIRST])
    assert over(ONE_WORK, AT, N, given=given) == work(N - AT)
    assert over(ONE_WORK, AT, N) == work(maximum([N - AT, ZERO]))
    assert over(work(J), ZERO, AT, given=given) == work(AT * AT - AT) * Fraction(1, 2)


@pytest.mark.parametrize(
    "inner", [work(IntegerForm.of(Apply(Operator.ELEMENT, (J,), "A"))), work(quotient(J, 10007))]
)
def test_what_has_no_closed_form_is_said(inner: WorkPolynomial) -> None:
    with pytest.raises(NoClosedFormError):
        over(inner, ZERO, N)


def test_the_number_of_turns_of_an_unknown_step() -> None:
    assert trip_count(ZERO, N, M) is None
    count = trip_count(IntegerForm.literal(2) * AT, N, AT, Assumptions([AT - FIRST]))
    assert count is not None
    for i in range(1, 6):
        for n in range(12):
            assert value_of(count, {INDEX: i, SIZE: n}) == len(range(2 * i, n, i))


TEXTS = {
    "(i + 1)*(3*m + 2)": work(AT + FIRST) * (work(M) * 3 + ONE_WORK * 2),
    "i*(i + 1)/2": work(AT * AT + AT) * Fraction(1, 2),
    "2*n - 2*i": work(N - AT) * 2,
    "max(n - i, 0)": work(maximum([N - AT, ZERO])),
    "i**2 - (2*n + 1)*i + n**2": work(AT * AT - IntegerForm.literal(2) * AT * N - AT + N * N),
    "(i + 1)//2 + 3": work(quotient(AT + FIRST, 2)) + WorkPolynomial.literal(3),
    "(3*i if i < n else n)": indicator_of(Comparison.below(AT, N)) * work(IntegerForm.literal(3) * AT - N)
    + work(N),
    "0": ZERO_WORK,
    "5/2": WorkPolynomial.literal(Fraction(5, 2)),
    "2*A[i + 1] - 2*A[i]": work(element(AT + FIRST) - element(AT)) * 2,
}


@pytest.mark.parametrize(("text", "amount"), TEXTS.items(), ids=TEXTS)
def test_text(text: str, amount: WorkPolynomial) -> None:
    assert text_of(amount, INDEX) == text


def test_the_text_of_a_vector_is_right() -> None:
    draw = random.Random(3)
    for _ in range(150):
        amount = _random_work(draw)
        plain, vector = text_of(amount, INDEX), text_of(amount, INDEX, Notation.NUMPY)
        indices = np.arange(-5, 9)
        found = np.broadcast_to(eval(vector, {"np": np}, {"i": indices, "n": 4, "m": -1}), indices.shape)
        for i, value in zip(indices.tolist(), found.tolist(), strict=True):
            exact = value_of(amount, {INDEX: i, SIZE: 4, OTHER: -1})
            assert value == pytest.approx(float(exact), abs=1e-9), vector
            assert eval(plain, {}, {"i": i, "n": 4, "m": -1}) == pytest.approx(float(exact), abs=1e-9), plain


def _random_work(draw: random.Random) -> WorkPolynomial:
    form = [_random_form(draw) for _ in range(4)]
    atoms = [
        work(maximum(form[:2])),
        work(minimum([*form[1:3], ZERO])),
        indicator_of(Comparison(form[0], draw.choice([">=", "==", "!="]))),
        indicator_of(Comparison(form[1], ">=")),
        work(quotient(form[2], 3)),
        work(remainder(form[3] + M, 2)),
        work(form[3]),
        work(AT),
    ]
    chosen = [draw.choice(atoms) * draw.choice(atoms) for _ in range(3)]
    return WorkPolynomial.total(
        part * Fraction(draw.randint(-4, 4), draw.choice([1, 1, 2, 3])) for part in chosen
    )


LINEAR = work(IntegerForm.literal(3) * AT + M)
SPACES = [
    IndexSpace("i", IntegerForm.literal(start), N, step) for start in (0, 3, -2) for step in (1, 2, 3)
] + [IndexSpace("i", N - FIRST, IntegerForm.literal(-1), -1), IndexSpace("i", N, IntegerForm.literal(1), -3)]


def values_of(space: IndexSpace, n: int) -> range:
    assert space.start is not None
    assert space.stop is not None
    assert space.step is not None
    return range(value_of(space.start, {SIZE: n}), value_of(space.stop, {SIZE: n}), space.step)


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize(
    ("amount", "legal"),
    [
        (work(M), True),
        (LINEAR, True),
        (work((N - AT) * M), True),
        (work(AT * AT), False),
        (work(AT * AT * AT - AT), False),
        (work(AT * (N - AT)), False),
    ],
    ids=str,
)
def test_folding_is_legal_where_pairs_cost_the_same(
    space: IndexSpace, amount: WorkPolynomial, legal: bool
) -> None:
    folding = fold_legality(Cost(INDEX, amount), space)
    assert folding.legal is legal, folding
    assert bool(folding.why) is not legal
    for n in range(12, 26):
        positions = values_of(space, n)
        each = [value_of(amount, {INDEX: i, SIZE: n, OTHER: 5}) for i in positions]
        pairs = {a + b for a, b in zip(each, reversed(each), strict=True)}
        assert (len(pairs) == 1) is legal


def test_an_odd_polynomial_about_the_middle_folds() -> None:
    middle = AT * IntegerForm.literal(2) - N + FIRST
    folding = fold_legality(Cost(INDEX, work(middle * middle * middle)), IndexSpace("i", ZERO, N, 1))
    assert folding.legal


@pytest.mark.parametrize(
    ("cost", "space", "word"),
    [
        (Cost(INDEX, None, why="data decides"), SPACES[0], "data decides"),
        (Cost(INDEX, work(maximum([AT - M, ZERO]))), SPACES[0], "piecewise"),
        (Cost(INDEX, LINEAR), IndexSpace("i", ZERO, None, 1), "last"),
        (Cost(INDEX, work(AT * AT)), SPACES[0], "polynomial of degree 2"),
    ],
)
def test_why_not(cost: Cost, space: IndexSpace, word: str) -> None:
    folding = fold_legality(cost, space)
    assert not folding.legal
    assert word in folding.why


@pytest.mark.parametrize(
    ("amount", "kind", "text"),
    [
        (work(M * N), CostClass.UNIFORM, "uniform"),
        (LINEAR, CostClass.LINEAR, "linear"),
        (work(AT * AT * M), CostClass.POLYNOMIAL, "polynomial of degree 2"),
        (work(quotient(AT, 2)), CostClass.PIECEWISE, "piecewise"),
        (indicator_of(Comparison.below(AT, M)), CostClass.PIECEWISE, "piecewise"),
        (work(maximum([M, ZERO])), CostClass.UNIFORM, "uniform"),
        (None, CostClass.UNKNOWN, "unknown"),
    ],
)
def test_kinds(amount: WorkPolynomial | None, kind: CostClass, text: str) -> None:
    cost = Cost(INDEX, amount)
    assert cost.cost_class is kind
    assert cost.class_text == text


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize(
    "amount", [work(M), LINEAR, work(AT * AT) * Fraction(1, 2), work(AT * AT * N - AT)], ids=str
)
def test_cumulative_work(space: IndexSpace, amount: WorkPolynomial) -> None:
    total = cumulative(Cost(INDEX, amount), space)
    assert total is not None
    each = [value_of(amount, {INDEX: i, SIZE: 17, OTHER: 5}) for i in values_of(space, 17)]
    function = eval(function_of(total, POSITION), {"np": np, "n": 17, "m": 5})
    for x in range(len(each) + 1):
        exact = value_of(total, {POSITION: x, SIZE: 17, OTHER: 5})
        assert exact == sum(each[:x])
        assert function(np.array([x])) == pytest.approx(float(exact))


def test_no_cumulative_work_of_what_is_no_polynomial() -> None:
    assert cumulative(Cost(INDEX, work(quotient(AT, 2))), SPACES[0]) is None
    assert cumulative(Cost(INDEX, None), SPACES[0]) is None
    assert cumulative(Cost(INDEX, LINEAR), IndexSpace("i", None, N, 1)) is None


def test_the_position_has_a_name_of_its_own() -> None:
    index = Variable(VariableKind.INDEX, "x")
    space, at = IndexSpace("x", ZERO, N, 1), IntegerForm.of(index)
    assert fold_legality(Cost(index, work(at)), space).legal
    assert fold_legality(Cost(index, work(at * at)), space).refuted
