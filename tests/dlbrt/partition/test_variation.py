"""How much speeds differ from run to run: none where they are steady, and nothing where too little ran."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest
from dlbrt.partition.variation import SpeedVariation


def factor(*runs: tuple[tuple[float, ...], tuple[float, ...]]) -> float | None:
    found = SpeedVariation(len(runs[0][0]))
    for work, seconds in runs:
        found.add(work, seconds)
    return found.factor


def test_speeds_that_stay_do_not_vary_whatever_the_unit_of_work() -> None:
    runs = [((3.0 * unit, unit), (1.5, 1.0)) for unit in (1.0, 7.0, 0.01)]
    assert factor(*runs) == pytest.approx(1)


def test_the_factor_is_that_of_the_logarithms_deviation() -> None:
    # Rank 0 is twice and half as fast as rank 1 in turn: its speed relative to the mean is 2 ** +-0.5.
    runs = [((2.0, 2.0), (1.0, 2.0)), ((2.0, 2.0), (2.0, 1.0))] * 2
    assert factor(*runs) == pytest.approx(sqrt(2))


def test_one_disturbed_run_among_many_counts_by_its_time() -> None:
    steady, disturbed = ((1.0, 1.0), (1.0, 1.0)), ((1.0, 1.0), (1.0, 9.0))
    weights = 2 * 99, 10
    share = weights[1] / sum(weights)
    deviation = log(3) * sqrt(share - share**2)
    assert factor(*[steady] * 99, disturbed) == pytest.approx(exp(deviation))


@pytest.mark.parametrize(
    "runs",
    [
        [((1.0, 1.0), (1.0, 1.0)), ((1.0, 1.0), (1.0, 9.0))],
        [((1.0, 1.0), (0.01, 1.0))] * 9,
        [((1.0, 0.0), (1.0, 1.0))] * 9,
        [((1.0, 1.0), (1.0, 0.0))] * 9,
    ],
)
def test_too_little_says_nothing(runs: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
    assert factor(*runs) is None
