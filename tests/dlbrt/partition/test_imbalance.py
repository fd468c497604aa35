"""L_I in both of the paper's definitions, L_E and drift."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.partition.imbalance import drift, efficiency, idle_share, inefficiency
from dlbrt.partition.newton import Cutter
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz import sieve

TIMES = st.lists(st.floats(0, 1e6), min_size=1, max_size=20)


def mean_and_largest(mean: float, largest: float, count: int) -> list[float]:
    return [largest, *[(count * mean - largest) / (count - 1)] * (count - 1)]


def test_the_run_of_32_nodes_has_two_inefficiencies() -> None:
    times = mean_and_largest(2055.52 / 32, 89.92, 32)
    assert np.mean(times) == pytest.approx(64.235)
    assert idle_share(times) == pytest.approx(28.56, abs=5e-3)
    assert inefficiency(times) == pytest.approx(39.99, abs=1e-2)
    assert 100 - idle_share(times) == pytest.approx(71.44, abs=5e-3)


def test_the_run_of_16_nodes_follows_equation_2() -> None:
    times = mean_and_largest(1494.0, 1507.9, 16)
    assert inefficiency(times) == pytest.approx(0.930, abs=5e-4)
    assert idle_share(times) == pytest.approx(0.92, abs=5e-3)
    assert efficiency(times) == pytest.approx(99.07, abs=5e-3)


def test_equal_lengths_by_the_fitted_formula() -> None:
    edges = np.linspace(0, 32e6, 33)
    times = np.diff([0.0, *sieve.t(edges[1:])])
    assert times[0] / times[-1] == pytest.approx(0.211, abs=5e-4)
    assert inefficiency(times) == pytest.approx(36.03, abs=5e-3)
    assert idle_share(times) == pytest.approx(26.49, abs=5e-3)


def test_the_formula_and_the_measured_totals() -> None:
    a = 3.9098e-7
    assert a * Cutter(sieve.work(2.0**28)).total / 16 == pytest.approx(1507.46, abs=5e-3)
    assert a * Cutter(sieve.work(32e6)).total == pytest.approx(1303.37, abs=5e-3)


def test_the_efficiency_may_be_negative() -> None:
    assert efficiency([3, 0, 0]) == -100


def test_nothing_is_out_of_balance_where_nothing_is_done() -> None:
    assert (inefficiency([0, 0]), idle_share([0, 0]), drift([0, 0])) == (0, 0, 0)


def test_drift_is_relative_to_the_mean() -> None:
    assert drift([9, 10, 11]) == pytest.approx(0.2)


@given(TIMES, st.randoms(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_neither_order_nor_unit_matters(times: list[float], random: object, unit: float) -> None:
    for measure in (inefficiency, idle_share, drift):
        expected = pytest.approx(measure(times), rel=1e-9, abs=1e-9)
        assert measure(sorted(times)) == expected
        assert measure([unit * time for time in times]) == expected


@given(TIMES)
def test_the_two_definitions_agree_on_balance_and_order(times: list[float]) -> None:
    assert idle_share(times) <= inefficiency(times) + 1e-9
    assert 0 <= idle_share(times) + 1e-9 <= 100 + 2e-9


@pytest.mark.parametrize("times", [[], [1, -1], [np.nan], [np.inf, 1]])
def test_bad_times_are_refused(times: list[float]) -> None:
    with pytest.raises(ValueError, match="expected a time of 0 or more"):
        inefficiency(times)
