"""What a loop's units cost, and what descriptions are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dlbrt.data.layout import cyclic
from dlbrt.data.spans import Spans
from dlbrt.sim.compare import clairvoyant_s
from dlbrt.sim.machine import LoopModel, Machine
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position


def test_of_uniform_iterations_as_many_fit_as_divide() -> None:
    costs = LoopModel(10, 0.5).costs()
    share = Spans((range(6, 10), range(2)))
    assert costs.of(share) == 3.0
    assert [costs.within(share, s) for s in (0.0, 0.49, 0.5, 2.2, 2.5, 3.0, 9.0)] == [0, 0, 1, 4, 5, 6, 6]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 4), st.integers(0, 60))
def test_of_others_the_first_whose_sum_fits(each: list[int], ranks: int, seconds: int) -> None:
    costs = LoopModel(len(each), tuple(map(float, each))).costs()
    for share in cyclic(len(each), ranks):
        order = list(each_position(share))
        fits = sum(sum(each[p] for p in order[: k + 1]) <= seconds for k in range(len(order)))
        assert costs.within(share, seconds) == fits
        assert costs.of_first(share, fits) <= seconds


@pytest.mark.parametrize("n", [6, 7])
def test_a_pair_takes_what_both_take_and_a_middle_one_what_it_takes_alone(n: int) -> None:
    loop = LoopModel(n, tuple(float(p) for p in range(n)), folded=True, iteration_bytes=8)
    pairs = [loop.costs().of(Spans.of(range(u, u + 1))) for u in range(len(loop.units))]
    assert pairs == [n - 1.0] * (n // 2) + [float(n // 2)] * (n % 2)
    assert loop.unit_bytes == 16


def test_pairs_of_uniform_iterations_take_twice_as_long_but_for_a_middle_one() -> None:
    costs = LoopModel(5, 2.0, folded=True).costs()
    assert [costs.of(Spans.of(range(u, u + 1))) for u in range(3)] == [4.0, 4.0, 2.0]


def test_the_clairvoyant_optimum_is_work_over_speed() -> None:
    machine = Machine((1.0, 3.0))
    assert clairvoyant_s(machine, LoopModel(100, 0.04)) == pytest.approx(float(Fraction(4, 4)))
    assert clairvoyant_s(machine, LoopModel(0, 1.0)) == 0.0


@pytest.mark.parametrize(
    ("describe", "message"),
    [
        (lambda: Machine(()), "one speed above 0 for each rank"),
        (lambda: Machine((1.0, 0.0)), "one speed above 0 for each rank"),
        (lambda: LoopModel(3, (1.0, 2.0)), "expected 3 times, one for each iteration, found 2"),
        (lambda: LoopModel(3, -1.0), "of 0 or more"),
        (lambda: LoopModel(3, 1.0, shares=(Spans(()),)).deal(2), "expected shares for 2 ranks, found 1"),
    ],
)
def test_what_cannot_be_is_refused(describe: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        describe()  # type: ignore[operator]
