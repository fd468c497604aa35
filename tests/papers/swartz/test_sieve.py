"""The paper's own program by counted operations: cut by its formula, by length, by measured density."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.partition import fit
from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency
from dlbrt.partition.integer import Numbers, optimal, prefix_sums
from numpy.typing import NDArray
from papers.swartz import sieve
from papers.swartz.density import compress
from papers.swartz.integer import parts

MAXN, RANKS = 2**22, 16


@pytest.fixture(scope="module")
def operations() -> NDArray[np.int32]:
    return sieve.operations(MAXN)


def test_the_operations_are_those_of_the_pseudocode() -> None:
    def count(n: int) -> int:
        primes = (p for p in range(3, n, 2) if p * p <= n and all(p % q for q in range(3, p, 2)))
        divisions = 0
        for p in primes:
            divisions += 1
            if n % p == 0:
                break
        return divisions

    assert sieve.operations(3000).tolist() == [count(n) for n in range(3, 3001, 2)]


def test_the_formula_balances_the_sieve(operations: NDArray[np.int32]) -> None:
    work = parts(prefix_sums(operations), sieve.by_formula(MAXN, RANKS))
    assert efficiency(work) >= 92


def test_equal_lengths_do_not(operations: NDArray[np.int32]) -> None:
    work = parts(prefix_sums(operations), sieve.by_length(MAXN, RANKS))
    assert efficiency(work) < 75


@pytest.mark.parametrize("group", [1, 5, 1000])
def test_the_measured_density_balances_it_better(operations: NDArray[np.int32], group: int) -> None:
    work = parts(prefix_sums(operations), compress(operations, group).cut(RANKS))
    assert efficiency(work) >= 98


def test_what_the_ranks_measure_in_equal_lengths_balances_the_next_pass(
    operations: NDArray[np.int32],
) -> None:
    """`profile` as it runs: each rank records groups of 5 (so many that they are grouped further)."""
    prefix = prefix_sums(operations)

    def took(run: range) -> float:
        return float(prefix[run.stop] - prefix[run.start])

    density = sieve.first_pass(MAXN, sieve.by_length(MAXN, RANKS), 5, took)
    assert density.prefix[-1] == prefix[-1]
    assert efficiency(parts(prefix, density.cut(RANKS))) >= 98


def test_a_curve_fitted_to_the_ranks_times_balances_the_next_pass(operations: NDArray[np.int32]) -> None:
    """The paper's way where t is not known (section 2): 16 sample timings, those of the linear cut."""
    prefix, edges = prefix_sums(operations), np.array(sieve.by_length(MAXN, RANKS))
    found = fit.best(3 + 2 * edges[1:], prefix[edges[1:]], sieve.legendre)
    assert efficiency(parts(prefix, sieve.by_fit(found, MAXN, RANKS))) >= 98


def test_no_cut_is_better_than_the_optimal_one(operations: NDArray[np.int32]) -> None:
    prefix = prefix_sums(operations)
    best = parts(prefix, optimal(prefix, RANKS)).max()
    for group in (1, 5, 1000):
        assert parts(prefix, compress(operations, group).cut(RANKS)).max() >= best
    assert best <= prefix[-1] / RANKS + operations.max()


def test_the_run_of_32_million_on_32_nodes() -> None:
    """Section 3: the counted operations stand for the times of figure 2 (paper: 0.247, 39.99, 28.56)."""
    prefix: Numbers = prefix_sums(sieve.operations(32_000_000))
    linear = parts(prefix, sieve.by_length(32_000_000, 32))
    assert linear[0] / linear[-1] == pytest.approx(0.233, abs=5e-4)
    assert inefficiency(linear) == pytest.approx(34.33, abs=5e-3)
    assert idle_share(linear) == pytest.approx(25.56, abs=5e-3)
    balanced = parts(prefix, sieve.by_formula(32_000_000, 32))
    assert inefficiency(balanced) == pytest.approx(5.92, abs=5e-3)
