"""Curves through sample timings: the paper's constants are found again, and what is fitted can be cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from dlbrt.partition.fit import best, monotone, power
from dlbrt.partition.imbalance import efficiency
from dlbrt.partition.integer import prefix_sums
from dlbrt.partition.work import CumulativeWork
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz import sieve
from papers.swartz.newton import cut
from papers.swartz.sieve import legendre, scale

A = 3.9098e-7
SAMPLES = np.linspace(1e6, 32e6, 32)
ROUGH = st.lists(st.floats(0, 100), min_size=2, max_size=12)


def test_the_papers_curve_is_found_from_its_own_timings() -> None:
    found = power(SAMPLES, A * sieve.t(SAMPLES), legendre, "legendre(x)")
    assert found.text == "3.9098e-07 * x**1.43 * legendre(x)"
    assert found.error < 1e-9
    assert found.t(2.0**28) / 16 == pytest.approx(1507.46, abs=5e-3)
    assert found.derivative(SAMPLES) == pytest.approx(A * sieve.slope(SAMPLES), rel=1e-8)


def test_the_constant_from_one_timing() -> None:
    assert scale(sieve.t, 32e6, 1303.37) == pytest.approx(A, rel=1e-5)


def test_counted_operations_of_the_sieve_give_nearly_the_papers_exponent_and_balance_it() -> None:
    prefix = prefix_sums(sieve.operations(2**20))
    positions = np.linspace(0, len(prefix) - 1, 33).astype(int)[1:]
    found = power(3 + 2 * positions, prefix[positions], legendre)
    assert float(found.text.split("**")[1].split()[0]) == pytest.approx(1.4, abs=0.05)
    work = CumulativeWork(
        found.t, 3.0, 2.0**20 + 1, found.derivative, start=0.0, increasing_from=sieve.INCREASING_FROM
    )
    bounds = ((cut(work, 16) - 3) / 2).astype(int)
    assert efficiency(np.diff(prefix[bounds])) > 95


@given(st.floats(1e-6, 1e6), st.floats(0.3, 4))
def test_a_power_is_found(a: float, p: float) -> None:
    x = np.geomspace(1, 1000, 10)
    found = power(x, a * x**p)
    assert found.t(x) == pytest.approx(a * x**p, rel=1e-9)
    assert found.derivative(x) == pytest.approx(a * p * x ** (p - 1), rel=1e-9)


@given(ROUGH)
def test_the_cubics_increase_whatever_the_samples(values: list[float]) -> None:
    x = np.arange(len(values), dtype=float)
    found = monotone(x, values)
    fine = np.linspace(-1, len(values), 500)
    assert (np.diff(found.t(fine)) >= -1e-9 * (1 + max(values))).all()
    assert (found.derivative(fine) >= -1e-9 * (1 + max(values))).all()


@given(ROUGH)
def test_increasing_samples_are_met_exactly(values: list[float]) -> None:
    x, t = np.arange(len(values), dtype=float), np.sort(values)
    assert monotone(x, t).t(x) == pytest.approx(t, abs=1e-9)


def test_falling_samples_are_pooled_to_their_mean() -> None:
    assert monotone([0, 1, 2, 3], [0, 4, 2, 5]).t(np.arange(4.0)) == pytest.approx([0, 3, 3, 5])
    assert monotone([0, 1, 2], [3, 2, 1]).t(np.arange(3.0)) == pytest.approx([2, 2, 2])


def test_the_derivative_is_that_of_the_cubics() -> None:
    found = monotone([0, 1, 3, 4, 8], [0, 1, 2, 7, 9])
    x, dx = np.linspace(0.05, 7.95, 100), 1e-6
    differences = (found.t(x + dx) - found.t(x - dx)) / (2 * dx)
    assert found.derivative(x) == pytest.approx(differences, abs=1e-5)


def test_a_fit_can_be_cut() -> None:
    x = np.linspace(0, 10, 21)
    found = monotone(x, x**3)
    cuts = cut(CumulativeWork(found.t, 0.0, 10.0, found.derivative), 4)
    assert np.diff(cuts**3) == pytest.approx(np.full(4, 250), rel=0.01)


def test_the_best_form_is_the_one_that_predicts() -> None:
    x = np.linspace(1, 20, 12)
    assert best(x, 3 * x**1.7).text == "3 * x**1.7"
    assert "g(x)" in best(SAMPLES, sieve.t(SAMPLES), legendre).text
    assert "cubics" in best(x, x + 40 * (x > 10) * (x - 10)).text
    assert "cubics" in best([0, 1, 2, 3], [0, 1, 2, 9]).text
    assert best([1, 2], [1, 4]).text == "1 * x**2"


@pytest.mark.parametrize(
    "bad",
    [
        lambda: power([1, 2], [0, 1]),
        lambda: power([1], [1]),
        lambda: power([1, 2], [1, 2], legendre),
        lambda: monotone([0], [0]),
        lambda: monotone([0, 0], [0, 1]),
        lambda: monotone([0, 1], [0, np.nan]),
        lambda: monotone([0, 1], [-1, 1]),
        lambda: monotone([0, 1], [1]),
        lambda: best([], []),
        lambda: scale(sieve.t, 2.0, 1.0),
    ],
)
def test_bad_samples_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        bad()
