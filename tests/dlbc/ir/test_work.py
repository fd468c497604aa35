"""Work in closed form: sums over ranges against enumeration, its text, folding and cumulative work."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from dlbc.ir.bounds import NOTHING, Assumptions, largest, least, normal, quotient, remainder
from dlbc.ir.cost import Class, Cost, cumulative, foldable
from dlbc.ir.form import Apply, Comparison, Form, Junction, Kind, Operator, Variable
from dlbc.ir.space import IndexSpace
from dlbc.ir.sums import NotClosed, added_up, faulhaber, turns
from dlbc.ir.work import NONE, ONE, Holds, Work, truth
from dlbc.ir.work_text import Style, text_of

INDEX = Variable(Kind.INDEX, "i")
INNER = Variable(Kind.INNER, "j", 1)
SIZE = Variable(Kind.PARAMETER, "n")
OTHER = Variable(Kind.PARAMETER, "m")

AT, J, N, M = (Form.of(v) for v in (INDEX, INNER, SIZE, OTHER))
ZERO, FIRST = Form(), Form.literal(1)


def work(form: Form) -> Work:
    return Work.counted(form)


def element(subscript: Form) -> Form:
    return Form.of(Apply(Operator.ELEMENT, (subscript,), "A"))


def over(inner: Work, start: Form, stop: Form, step: int = 1, given: Assumptions = NOTHING) -> Work:
    pace = Form.literal(step)
    count = turns(start, stop, pace, given)
    assert count is not None
    return added_up(inner, INNER, start, pace, count, given)


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
        form = Form.literal(a) * AT + Form.literal(b) * N + Form.literal(c)
        values = {INDEX: draw.randint(-20, 20), SIZE: draw.randint(-20, 20)}
        exact = form.value(values)
        assert quotient(form, divisor).value(values) == exact // divisor
        assert remainder(form, divisor).value(values) == exact % divisor
        twice = quotient(quotient(form, divisor), 3)
        assert twice.value(values) == exact // divisor // 3


def test_equal_bounds_are_equal_forms() -> None:
    assert largest([AT, N, AT]) == largest([N, AT])
    assert largest([AT, AT - FIRST]) == AT
    assert least([largest([AT, ZERO]), ZERO]) == ZERO
    assert largest([AT * AT, ZERO]) == AT * AT
    assert quotient(Form.literal(4) * AT + Form.literal(2), 4) == AT
    odd = Form.of(Apply(Operator.QUOTIENT, (Form.literal(2) * AT + FIRST, Form.literal(2))))
    assert normal(odd) == AT


@pytest.mark.parametrize(
    ("facts", "form", "follows"),
    [
        ([AT, N - AT - FIRST], N, True),
        ([AT, N - AT - FIRST], N - FIRST, True),
        ([AT, N - AT - FIRST], N - FIRST - FIRST, False),
        ([M - AT, N - M, AT], N - AT, True),
        ([AT - FIRST, N * N - AT], N * N, True),
        ([], largest([AT, ZERO]), True),
        ([AT], largest([AT - FIRST, ZERO]) - AT, False),
        ([AT], AT - quotient(AT, 2), True),
        ([AT, N], least([AT, N]), True),
        ([AT], least([AT, N]), False),
        ([], Form.literal(2) - remainder(AT, 3), True),
        ([], remainder(AT, 3) - FIRST, False),
        ([], AT * AT, True),
        ([], AT * AT * N * N + FIRST, True),
        ([], AT * AT * N, False),
        ([], AT * AT - FIRST, False),
        ([N - AT * AT], N, True),
    ],
)
def test_what_follows(facts: list[Form], form: Form, follows: bool) -> None:
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
                if all(fact.value(values) >= 0 for fact in facts):
                    assert goal.value(values) >= 0
    assert proved > 20


def _random_form(draw: random.Random) -> Form:
    form = Form.literal(draw.randint(-2, 2)) * AT + Form.literal(draw.randint(-2, 2)) * N
    form = form + Form.literal(draw.randint(-3, 3))
    return quotient(form, 2) if draw.random() < 0.2 else form


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
@pytest.mark.parametrize(
    "inner", [ONE, work(J), work(J * J - AT), Work.literal(Fraction(1, 3)) * work(J * AT)]
)
def test_sums_over_possibly_empty_ranges(inner: Work, step: int) -> None:
    total = over(inner, AT - FIRST, N + AT - M, step)
    for i in range(-3, 5):
        for n in range(-3, 6):
            values = {INDEX: i, SIZE: n, OTHER: 2}
            turning = range(i - 1, n + i - 2, step)
            assert total.value(values) == sum(inner.value(values | {INNER: j}) for j in turning)


@pytest.mark.parametrize(
    "inner",
    [
        truth(Comparison.below(J, AT)),
        truth(Comparison.equal(J, AT)) * work(J),
        truth(Comparison(J - AT, "!=")),
        truth(Junction("or", (Comparison.below(J, AT), Comparison.at_least(J, M)))) * work(J),
        truth(Comparison.equal(remainder(J + AT, 2), ZERO)) * work(J),
        work(quotient(J + AT, 3)) * work(J),
        work(quotient(least([J, AT]), 2)),
        work(largest([J, AT, M])) * work(largest([J, AT, M])),
        work(least([Form.literal(2) * J, AT + M])) * truth(Comparison.below(AT, N)),
        Work.of(Holds(Form.literal(2) * J - AT)) * Work.of(Holds(AT - J)),
    ],
    ids=str,
)
def test_sums_of_what_is_not_polynomial(inner: Work) -> None:
    total = over(inner, M - FIRST, N)
    assert INNER not in total.variables
    for i in range(-4, 7):
        for n in range(-2, 7):
            values = {INDEX: i, SIZE: n, OTHER: 1}
            assert total.value(values) == sum(inner.value(values | {INNER: j}) for j in range(n))


def test_assumptions_leave_out_what_cannot_be() -> None:
    given = Assumptions([AT, N - AT - FIRST])
    assert over(ONE, AT, N, given=given) == work(N - AT)
    assert over(ONE, AT, N) == work(largest([N - AT, ZERO]))
    assert over(work(J), ZERO, AT, given=given) == work(AT * AT - AT) * Fraction(1, 2)


@pytest.mark.parametrize(
    "inner", [work(Form.of(Apply(Operator.ELEMENT, (J,), "A"))), work(quotient(J, 10007))]
)
def test_what_has_no_closed_form_is_said(inner: Work) -> None:
    with pytest.raises(NotClosed):
        over(inner, ZERO, N)


def test_the_number_of_turns_of_an_unknown_step() -> None:
    assert turns(ZERO, N, M) is None
    count = turns(Form.literal(2) * AT, N, AT, Assumptions([AT - FIRST]))
    assert count is not None
    for i in range(1, 6):
        for n in range(12):
            assert count.value({INDEX: i, SIZE: n}) == len(range(2 * i, n, i))


TEXTS = {
    "(i + 1)*(3*m + 2)": work(AT + FIRST) * (work(M) * 3 + ONE * 2),
    "i*(i + 1)/2": work(AT * AT + AT) * Fraction(1, 2),
    "2*n - 2*i": work(N - AT) * 2,
    "max(n - i, 0)": work(largest([N - AT, ZERO])),
    "i**2 - (2*n + 1)*i + n**2": work(AT * AT - Form.literal(2) * AT * N - AT + N * N),
    "(i + 1)//2 + 3": work(quotient(AT + FIRST, 2)) + Work.literal(3),
    "(3*i if i < n else n)": truth(Comparison.below(AT, N)) * work(Form.literal(3) * AT - N) + work(N),
    "0": NONE,
    "5/2": Work.literal(Fraction(5, 2)),
    "2*A[i + 1] - 2*A[i]": work(element(AT + FIRST) - element(AT)) * 2,
}


@pytest.mark.parametrize(("text", "amount"), TEXTS.items(), ids=TEXTS)
def test_text(text: str, amount: Work) -> None:
    assert text_of(amount, INDEX) == text


def test_the_text_of_a_vector_is_right() -> None:
    draw = random.Random(3)
    for _ in range(150):
        amount = _random_work(draw)
        plain, vector = text_of(amount, INDEX), text_of(amount, INDEX, Style.NUMPY)
        indices = np.arange(-5, 9)
        found = np.broadcast_to(eval(vector, {"np": np}, {"i": indices, "n": 4, "m": -1}), indices.shape)
        for i, value in zip(indices.tolist(), found.tolist(), strict=True):
            exact = amount.value({INDEX: i, SIZE: 4, OTHER: -1})
            assert value == pytest.approx(float(exact), abs=1e-9), vector
            assert eval(plain, {}, {"i": i, "n": 4, "m": -1}) == pytest.approx(float(exact), abs=1e-9), plain


def _random_work(draw: random.Random) -> Work:
    form = [_random_form(draw) for _ in range(4)]
    atoms = [
        work(largest(form[:2])),
        work(least([*form[1:3], ZERO])),
        truth(Comparison(form[0], draw.choice([">=", "==", "!="]))),
        truth(Comparison(form[1], ">=")),
        work(quotient(form[2], 3)),
        work(remainder(form[3] + M, 2)),
        work(form[3]),
        work(AT),
    ]
    chosen = [draw.choice(atoms) * draw.choice(atoms) for _ in range(3)]
    return Work.total(part * Fraction(draw.randint(-4, 4), draw.choice([1, 1, 2, 3])) for part in chosen)


LINEAR = work(Form.literal(3) * AT + M)
SPACES = [
    IndexSpace("i", Form.literal(start), N, step)
    for start in (0, 3, -2)
    for step in (1, 2, 3)
] + [IndexSpace("i", N - FIRST, Form.literal(-1), -1), IndexSpace("i", N, Form.literal(1), -3)]  # fmt: skip


def values_of(space: IndexSpace, n: int) -> range:
    assert space.start is not None
    assert space.stop is not None
    assert space.step is not None
    return range(space.start.value({SIZE: n}), space.stop.value({SIZE: n}), space.step)


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
def test_folding_is_legal_where_pairs_cost_the_same(space: IndexSpace, amount: Work, legal: bool) -> None:
    folding = foldable(Cost(INDEX, amount), space)
    assert folding.legal is legal, folding
    assert bool(folding.why) is not legal
    for n in range(12, 26):
        positions = values_of(space, n)
        each = [amount.value({INDEX: i, SIZE: n, OTHER: 5}) for i in positions]
        pairs = {a + b for a, b in zip(each, reversed(each), strict=True)}
        assert (len(pairs) == 1) is legal


def test_an_odd_polynomial_about_the_middle_folds() -> None:
    middle = AT * Form.literal(2) - N + FIRST
    folding = foldable(Cost(INDEX, work(middle * middle * middle)), IndexSpace("i", ZERO, N, 1))
    assert folding.legal


@pytest.mark.parametrize(
    ("cost", "space", "word"),
    [
        (Cost(INDEX, None, why="data decides"), SPACES[0], "data decides"),
        (Cost(INDEX, work(largest([AT - M, ZERO]))), SPACES[0], "piecewise"),
        (Cost(INDEX, LINEAR), IndexSpace("i", ZERO, None, 1), "last"),
        (Cost(INDEX, work(AT * AT)), SPACES[0], "polynomial of degree 2"),
    ],
)
def test_why_not(cost: Cost, space: IndexSpace, word: str) -> None:
    folding = foldable(cost, space)
    assert not folding.legal
    assert word in folding.why


@pytest.mark.parametrize(
    ("amount", "kind", "text"),
    [
        (work(M * N), Class.UNIFORM, "uniform"),
        (LINEAR, Class.LINEAR, "linear"),
        (work(AT * AT * M), Class.POLYNOMIAL, "polynomial of degree 2"),
        (work(quotient(AT, 2)), Class.PIECEWISE, "piecewise"),
        (truth(Comparison.below(AT, M)), Class.PIECEWISE, "piecewise"),
        (work(largest([M, ZERO])), Class.UNIFORM, "uniform"),
        (None, Class.UNKNOWN, "unknown"),
    ],
)
def test_kinds(amount: Work | None, kind: Class, text: str) -> None:
    cost = Cost(INDEX, amount)
    assert cost.kind is kind
    assert cost.kind_text == text


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize(
    "amount", [work(M), LINEAR, work(AT * AT) * Fraction(1, 2), work(AT * AT * N - AT)], ids=str
)
def test_cumulative_work(space: IndexSpace, amount: Work) -> None:
    total = cumulative(Cost(INDEX, amount), space)
    assert total is not None
    each = [amount.value({INDEX: i, SIZE: 17, OTHER: 5}) for i in values_of(space, 17)]
    function = eval(total.function, {"np": np, "n": 17, "m": 5})
    for x in range(len(each) + 1):
        exact = total.work.value({total.position: x, SIZE: 17, OTHER: 5})
        assert exact == sum(each[:x])
        assert function(np.array([x])) == pytest.approx(float(exact))


def test_no_cumulative_work_of_what_is_no_polynomial() -> None:
    assert cumulative(Cost(INDEX, work(quotient(AT, 2))), SPACES[0]) is None
    assert cumulative(Cost(INDEX, None), SPACES[0]) is None
    assert cumulative(Cost(INDEX, LINEAR), IndexSpace("i", None, N, 1)) is None


def test_the_position_has_a_name_of_its_own() -> None:
    taken = Work.of(Variable(Kind.PARAMETER, "x"))
    total = cumulative(Cost(INDEX, taken), SPACES[0])
    assert total is not None
    assert total.text == "x*x_"
