"""Costs: each way of calling gives the work of the values alone; long loops; curves; and what is refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dlbrt.data.footprint import IndexMap
from dlbrt.partition import known
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.costs import evaluate_cost
from dlbrt.partition.integer import prefix_sums
from dlbrt.partition.known import CurvedWork, KnownWork
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz.integer import largest_part

TABLE = list(range(100, 0, -1))
VECTOR = np.array(TABLE)


def evaluated(loop: Sequence[Any], **form: Any) -> KnownWork | None:
    index = IndexMap(loop.start, loop.step) if isinstance(loop, range) else None
    return evaluate_cost(CostSpec(**form), len(loop), index, lambda: iter(loop))


def works(work: KnownWork | None) -> list[float]:
    assert work is not None
    return [float(w) for w in np.diff(work.before(np.arange(work.n + 1)))]


def even(i: int) -> int:
    return 1 if i % 2 else 3


#: Functions that take vectors, or integer ones, or neither, or seem to and mean something else.
DENSITIES: list[Callable[[Any], Any]] = [
    lambda i: 3 * i + 2,
    lambda i: (i - 7) ** 2,
    lambda i: np.where(i > 5, i, 1),
    lambda i: i % 5 < 3,
    lambda i: VECTOR[i],
    lambda i: 1 << (i & 63),
    lambda i: TABLE[i],
    lambda i: min(i, 5),
    lambda i: math.sqrt(i),
    lambda i: len(range(i)),
    lambda i: sum(range(i)),
    lambda i: 5 if i in np.arange(30) else i,
    lambda i: Fraction(i, 3),
    lambda i: np.float32(i),
    lambda i: np.array(i),
    even,
]


@pytest.mark.parametrize("loop", [range(30), range(29, -1, -1), range(2, 63, 3), range(4, 6)])
@pytest.mark.parametrize("density", DENSITIES)
def test_a_function_of_the_index_is_that_of_each_value(density: Callable[[int], Any], loop: range) -> None:
    wanted = [float(density(value)) for value in loop]
    work = evaluated(loop, density=density)
    if len(set(wanted)) > 1:
        assert works(work) == pytest.approx(wanted, rel=1e-9)
    else:
        assert work is None


@given(st.lists(st.integers(0, 50), min_size=2, max_size=30), st.integers(1, 8))
def test_sums_by_groups_are_those_by_positions(each: list[int], groups: int) -> None:
    if len(set(each)) == 1:
        return
    prefix = prefix_sums(each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "MAX_GROUPS", groups)
        patch.setattr(known, "_BLOCK", 4)
        for form in ({"each": lambda items: [each[i] for i in items]}, {"density": lambda i: each[i]}):
            work = evaluated(range(len(each)), **form)
            assert work is not None
            assert work.before(np.arange(len(each) + 1)).tolist() == prefix.tolist()
            assert work.total == sum(each)
            for rates in ([1.0], [1.0, 2.0, 0.0, 0.5]):
                bounds = work.cut(rates)
                longest = largest_part(prefix, bounds, rates)
                assert longest <= (sum(each) / sum(rates) + max(each) / min(r for r in rates if r)) * (
                    1 + 1e-12
                )


@given(st.lists(st.integers(0, 50), min_size=2, max_size=40), st.integers(1, 20), st.integers(1, 50))
def test_the_table_is_the_work_in_whole_ticks(each: list[int], groups: int, most: int) -> None:
    if len(set(each)) == 1:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "MAX_GROUPS", most)
        work = evaluated(each, each=lambda items: list(items))
        assert work is not None
        table = work.table(groups)
    assert len(table.edges) <= groups + 1
    assert (table.edges[0], table.edges[-1], table.prefix[0], table.prefix[-1]) == (0, len(each), 0, 2**50)
    share = [sum(each[:edge]) / sum(each) for edge in table.edges]
    assert np.array(table.prefix) / 2**50 == pytest.approx(share, abs=1e-12)
    assert {type(number) for number in (*table.edges, *table.prefix)} == {int}


def test_items_may_be_anything_and_are_asked_again_where_a_boundary_falls() -> None:
    calls = []

    def items() -> Iterator[str]:
        calls.append(1)
        return iter("a" * (k % 5 + 1) for k in range(100_000))

    spec = CostSpec(each=lambda items: [len(item) for item in items])
    work = evaluate_cost(spec, 100_000, None, items)
    assert work is not None
    assert work.cut([1, 1]) == (0, 50_000, 100_000)
    assert 2 <= len(calls) <= 3  # once for all sums, then for the groups on both sides of the boundary


def test_what_is_the_same_for_all_iterations_is_not_known_work() -> None:
    assert evaluated(range(10)) is None
    assert evaluated(range(10), density=3) is None
    assert evaluated(range(10), density=lambda i: 3) is None
    assert evaluated("abc", each=lambda items: [1.5 for _ in items]) is None
    assert evaluated(range(0), density=lambda i: 1 / 0) is None


def test_huge_index_values_are_given_one_by_one() -> None:
    loop = range(10**30, 10**30 + 40, 4)
    assert works(evaluated(loop, density=lambda i: i - 10**30)) == [float(k) for k in range(0, 40, 4)]


CURVES: list[Callable[[Any], Any]] = [
    lambda x: x**2,
    lambda x: np.sqrt(x),
    lambda x: math.sqrt(x),
    lambda x: max(x - 20, 0) + x / 2,
    lambda x: x**3 - 100,
]


@pytest.mark.parametrize("loop", [range(50), range(49, -1, -1), range(3, 60, 2), range(60, 2, -3)])
@pytest.mark.parametrize("curve", CURVES)
def test_a_cumulative_cost_is_that_between_values(curve: Callable[[float], float], loop: range) -> None:
    work = evaluated(loop, cumulative=curve)
    step = abs(loop.step)
    each = [curve(float(value + step)) - curve(float(value)) for value in loop]
    assert works(work) == pytest.approx(each, rel=1e-9)
    assert work is not None
    prefix = prefix_sums(each)
    for rates in ([1.0] * 4, [1.0, 2.0, 5.0]):
        slack = max(each) / min(rates)
        assert largest_part(prefix, work.cut(rates), rates) <= sum(each) / sum(rates) + slack
        low = len(loop) // 3
        bounds = work.cut(rates, low)
        assert bounds[0] == low
        rest = sum(each[low:]) / sum(rates)
        assert largest_part(prefix, bounds, rates) <= rest + slack


@pytest.mark.parametrize("curve", [lambda x: x * np.log(x), lambda x: x * math.log(x)])
def test_a_curve_without_value_at_the_lower_end_counts_from_where_it_increases(
    curve: Callable[[float], float],
) -> None:
    work = evaluated(range(1000), cumulative=curve)
    assert isinstance(work, CurvedWork)
    assert work.remark == ""  # 0.02 % of the work
    assert work.cut([1, 1])[1] == pytest.approx(548, abs=1)


def test_a_lower_end_that_is_estimated_is_told_where_it_is_not_next_to_nothing() -> None:
    work = evaluated(range(1000), cumulative=lambda x: (x - 100) ** 2 + 50_000)
    assert isinstance(work, CurvedWork)
    assert "increase below x = 10" in work.remark  # from 100 on, looked at by steps of one
    assert work.remark.endswith("taken to grow evenly from 0 up to there")


@pytest.mark.parametrize("n", [3_000, 10**6, 2**22])
def test_a_pole_between_two_samples_is_seen_and_not_told(n: int) -> None:
    """The work of samples/primes.py: it increases from 5.95 on, and what comes before is nothing."""
    work = evaluated(range(3, n, 2), cumulative=lambda x: x**1.43 / (np.log(x) - 1.08366))
    assert isinstance(work, CurvedWork)
    assert work.remark == ""
    assert (np.diff(work.before(np.arange(min(5000, work.n)))) > 0).all()
    assert 6 < 3 + 2 * float(work.before([1])[0] > 0) * 2 < 8


def test_where_the_first_cell_begins_to_rise_is_found_by_halves() -> None:
    """The least t is at 40; what is estimated ends at the next halving."""

    def t(x: Any) -> Any:
        return np.where(x < 40, 500.0 - x, 460 + np.minimum(x - 40, 1000) + x * 0.001)

    work = evaluated(range(2**20), cumulative=t)
    assert isinstance(work, CurvedWork)
    assert "does not increase below x = 64:" in work.remark


def test_a_curve_through_samples() -> None:
    pairs = [(1000, 1e6), (100, 1e4), (500, 25e4), (250, 62_500), (700, 49e4)]
    work = evaluated(range(1000), fit=lambda: pairs)
    assert work is not None
    assert work.cut([1] * 4) == pytest.approx([0, 500, 707, 866, 1000], abs=1)


def test_samples_that_no_power_runs_through_are_joined() -> None:
    work = evaluated(range(-50, 50), fit=lambda: [(1, 5.0), (25, 10.0), (50, 15.0)])
    assert work is not None
    assert (np.diff(work.before(np.arange(101))) >= 0).all()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"density": lambda i: 7 - i}, "cost is negative at i = 8: -1"),
    ({"density": lambda row: 4 - min(row, 9)}, "cost is negative at row = 5: -1"),
    ({"density": lambda i: 1 / (i - 3)}, "cost is negative at i = 0: -0.333333"),
    ({"density": lambda i: 1 / i}, "cost raises ZeroDivisionError at i = 0: division by zero"),
    ({"density": lambda i: np.sqrt(i - 5)}, "cost is not a number at i = 0: nan"),
    ({"density": lambda i: 10.0 ** (200 * i)}, "cost raises OverflowError at i = 2: "),
    ({"density": lambda i: 10 ** (200 * i)}, "cost is infinite at i = 2: 1000"),
    ({"density": lambda i: np.exp(i * 200.0)}, "cost is infinite at i = 4: inf"),
    ({"density": lambda i: 0 * i}, "cost is zero everywhere: expected some work in 10 iterations"),
    ({"density": lambda i: "12"}, "cost is not a number at i = 0: '12'"),
    ({"density": lambda i: i * 1j}, "cost is not a number at i = 0: 0j"),
    ({"density": lambda i: [i, i]}, r"cost is not a number at i = 0: \[0, 0\]"),
    ({"density": lambda i: TABLE[i + 95]}, "cost raises IndexError at i = 5: list index out of range"),
    ({"density": lambda i: 1e308 + i}, "cost adds up to more than a float holds"),
    ({"density": -2}, "cost is negative in every iteration: -2"),
    ({"density": 0.0}, "cost is zero everywhere"),
    ({"each": lambda items: [3 - i for i in items]}, "cost is negative at index 4: -1"),
    ({"each": lambda items: [1 / (4 - i) for i in items]}, "cost raises ZeroDivisionError at index 4: "),
    ({"each": lambda items: [1 for _ in items][1:]}, "expected a cost for each of 10 items, found 9"),
    ({"each": lambda items: [None for _ in items]}, "cost is not a number at index 0: None"),
    ({"cumulative": lambda x: -x}, r"cumulative cost decreases at x = 0: t\(0\) = -0, t\(0.00976562.*"),
    ({"cumulative": lambda x: (x - 8) ** 2}, "cumulative cost decreases at x = 0: .*expected it to increase"),
    ({"cumulative": lambda x: 5}, "cumulative cost does not increase from x = 0 to 10: t = 5 at both"),
    ({"cumulative": lambda x: 1 / (x - x)}, "cumulative cost raises ZeroDivisionError at x = 0"),
    (
        {"cumulative": lambda x: np.log(-x)},
        "cumulative cost is .* at x = 0",
    ),
    ({"cumulative": lambda x: "a"}, "cumulative cost is not a number at x = 0: 'a'"),
    ({"fit": lambda: [(1, 2)]}, "expected two pairs .* or more, found"),
    ({"fit": lambda: 3}, r"cost\(fit=...\) raises TypeError"),
    ({"fit": lambda: [(1, 2), (1, 3)]}, "expected finite x, each once, with times of 0 or more"),
    ({"fit": lambda: [(1, math.nan), (2, 3)]}, "expected finite x"),
    ({"fit": lambda: {1: 9, 2: 5, 3: 4}}, r"decrease: t\(1\) = 9, t\(2\) = 5; expected the time of all"),
    ({"fit": lambda: [(1, 5), (2, 5), (3, 5), (4, 5)]}, "the fitted curve does not increase"),
]


@pytest.mark.parametrize(("form", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_a_cost_that_work_cannot_be_divided_by_is_refused_in_a_sentence(
    form: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CostError, match=f"^(samples of |cost\\(fit=...\\): )?.*{sentence}"):
        evaluated(range(10), **form)


LOGARITHMS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda i: math.log(i), "^cumulative cost raises ValueError at i = 0: (math domain|expected a positive)"),
    (lambda i: np.log(i), "^cumulative cost is infinite at i = 0: t = -inf"),
    (lambda i: VECTOR[i], "^cumulative cost raises IndexError at i = 0: .*between the loop's values"),
    (lambda i: TABLE[i], r"^cumulative cost raises TypeError at i = 0: .* \(.* use cost\(EXPR\)\)$"),
    (lambda i: sum(range(i)), "^cumulative cost raises TypeError at i = 0: .*also evaluated between"),
    (lambda i: i + "a", r"^cumulative cost raises TypeError at i = 0: unsupported operand[^;]*$"),
]


@pytest.mark.parametrize(("curve", "sentence"), LOGARITHMS)
def test_where_a_curve_has_no_value_this_is_said_and_no_consequence(
    curve: Callable[[Any], Any], sentence: str
) -> None:
    with pytest.raises(CostError, match=sentence):
        evaluated(range(40), cumulative=curve)


def test_samples_may_be_a_mapping() -> None:
    work = evaluated(range(20), fit=lambda: {20: 4.0, 10: 1.0})
    assert work is not None
    assert work.cut([3, 1]) == pytest.approx((0, 17, 20), abs=1)


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit])
@pytest.mark.parametrize("form", ["density", "each", "cumulative", "fit"])
def test_whatever_a_cost_raises_is_no_end_of_the_program(form: str, error: type[BaseException]) -> None:
    def raises(*_: Any) -> Any:
        raise error(3)

    with pytest.raises(CostError, match=f"raises {error.__name__}.*: 3$"):
        evaluated(range(10), **{form: raises})


@pytest.mark.parametrize("form", ["density", "each", "cumulative", "fit"])
def test_an_interrupt_is_the_program_s(form: str) -> None:
    def raises(*_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluated(range(10), **{form: raises})


def test_whatever_goes_wrong_is_put_in_a_short_line() -> None:
    class Awkward:
        def __repr__(self) -> str:
            raise RuntimeError

    def raises(i: int) -> int:
        raise ValueError("first line\n" + "x" * 1000)

    with pytest.raises(CostError, match=r"^cost is not a number at i = 0: <Awkward instance at \w+>$"):
        evaluated(range(10), density=lambda i: Awkward())
    with pytest.raises(CostError, match=r"^cost is infinite at i = 0: .{1,60}$"):
        evaluated(range(10), density=lambda i: 10**5000)
    with pytest.raises(CostError, match=r"^cost raises ValueError at i = 0: first line$"):
        evaluated(range(10), density=raises)


def test_costs_of_items_may_be_any_real_numbers() -> None:
    each = [Fraction(1, 2), Decimal("1.5"), True, np.float32(2), 10**20]
    work = evaluated("abcde", each=lambda items: [each["abcde".index(item)] for item in items])
    assert works(work) == pytest.approx([0.5, 1.5, 1, 2, 1e20], abs=1)
    assert evaluated("ab", each=lambda items: [Fraction(1, 2) for _ in items]) is None


def test_in_a_loop_over_other_things_the_item_is_named() -> None:
    with pytest.raises(CostError, match=r"^cost is negative at item 2 \('xyz'\): -1$"):
        evaluated(["x", "xy", "xyz"], each=lambda items: [2 - len(item) for item in items])


def test_a_place_in_a_loop_that_counts_down_is_a_value() -> None:
    with pytest.raises(CostError, match=r"^cost is negative at i = 5: -1$"):
        evaluated(range(20, 0, -3), density=lambda i: i - 6)
    with pytest.raises(CostError, match=r"^cumulative cost decreases at x = 2: "):
        evaluated(range(20, 0, -3), cumulative=lambda x: -x)


@pytest.mark.parametrize("form", [{"density": lambda i: i}, {"cumulative": lambda x: x}, {"fit": list}])
def test_functions_of_the_index_need_one(form: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected a loop that counts"):
        evaluated("abc", **form)


def test_there_is_one_form_of_cost() -> None:
    with pytest.raises(ValueError, match="expected one form of cost, found 2"):
        CostSpec(density=1, cumulative=lambda x: x)


def test_no_warning_gets_out_and_none_becomes_an_error() -> None:
    def warns(i: Any) -> Any:
        warnings.warn("the user's own", stacklevel=1)
        return np.where(i > 3, np.log(i), 0.0) + np.float64(1) / 3

    with np.errstate(all="raise"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(works(evaluated(range(10), density=warns))) == 10
        assert len(works(evaluated(range(10), each=lambda items: [warns(i) for i in items]))) == 10
        assert len(works(evaluated(range(10), cumulative=lambda x: x + warns(x)))) == 10
    assert not caught


COUNTS = np.array([100, 200, 3, 255], np.uint8)
HALF = np.array([300, 400, 500, 60_000], np.float16)
SIZE, MANY = np.array([100], np.int8)[0], np.array([50_000], np.int32)[0]


def test_a_cost_that_reads_narrow_numbers_is_not_narrow() -> None:
    counts, size = COUNTS, SIZE
    wanted = [102 * max(int(c), 0) + 3 for c in COUNTS]
    assert works(evaluated(range(4), density=lambda r: 102 * np.maximum(counts[r], 0) + 3)) == wanted
    assert works(evaluated(range(4), density=lambda r: 102 * COUNTS[r] + 3)) == wanted
    assert works(evaluated(COUNTS, each=lambda items: [102 * c + 3 for c in items])) == wanted
    pairs = list(enumerate(COUNTS))
    assert works(evaluated(pairs, each=lambda items: [c * 102 + 3 for _, c in items])) == wanted
    assert works(evaluated(range(4), density=lambda i: 3 * size - i)) == [300, 299, 298, 297]
    assert works(evaluated(range(4), density=lambda i: MANY * MANY + i)) == [25 * 10**8 + i for i in range(4)]
    assert works(evaluated(range(4), density=lambda i: HALF[i] ** 2)) == (HALF.astype(float) ** 2).tolist()
    curve = evaluated(range(4), cumulative=lambda x: SIZE * SIZE * x**2)
    assert works(curve) == [10_000 * (2 * k + 1) for k in range(4)]
