"""Ranks of different speeds: each knows its neighbours alone, and all end at the same time."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from dlbrt.data.layout import Floats
from dlbrt.diffusion.uneven import LinkRemainder, LocalDiffusion, flux, granted
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import DiffusionStep, Mesh, Schedule, UnitDiffusion, alpha_limit, inner_iterations
from papers.heirich.chain import payable

from tests.papers.heirich.dense import links, one_step
from tests.support.tier import is_full

SPEEDS = st.floats(1e-3, 1e3)
TIMES = st.floats(0, 1e9)
CHAINS = st.lists(st.tuples(st.floats(0, 1e6), SPEEDS), min_size=1, max_size=12)
ALPHAS = st.floats(1e-3, 5)

#: 24 inner iterations.
LARGE = DiffusionStep.iterated(4.0, 1)


def around(rank: int, ranks: int) -> tuple[int, ...]:
    """The neighbours on a chain, downwards first."""
    return tuple(other for other in (rank - 1, rank + 1) if 0 <= other < ranks)


@dataclass
class Chain:
    """Ranks that tell their neighbours numbers, and nobody else anything."""

    work: list[float]
    speeds: list[float]
    step: DiffusionStep
    carried: dict[tuple[int, int], LinkRemainder] = field(default_factory=dict)

    @property
    def locals(self) -> list[LocalDiffusion]:
        n = len(self.speeds)
        return [
            LocalDiffusion(self.step, self.speeds[i], tuple(self.speeds[j] for j in around(i, n)))
            for i in range(n)
        ]

    def relaxed(self) -> list[float]:
        """The v of all ranks after the inner iterations."""
        ranks, n = self.locals, len(self.speeds)
        v = [u / s for u, s in zip(self.work, self.speeds, strict=True)]
        for _ in range(self.step.iterations):
            v = [ranks[i].jacobi(self.work[i], v[i], [v[j] for j in around(i, n)]) for i in range(n)]
        return v

    def fluxes(self) -> dict[tuple[int, int], float]:
        """By both ends of each link, as each computes it."""
        v, n = self.relaxed(), len(self.speeds)
        found: dict[tuple[int, int], float] = {}
        for i, rank in enumerate(self.locals):
            flows = rank.fluxes(v[i], [v[j] for j in around(i, n)])
            found |= {(i, j): flow for j, flow in zip(around(i, n), flows, strict=True)}
        return found

    def advance_divisible(self) -> None:
        for (i, _), flow in self.fluxes().items():
            self.work[i] -= flow

    def advance_units(self) -> None:
        """Each end carries for itself; what is not granted is forgotten."""
        n, asked = len(self.speeds), {}
        for link, flow in self.fluxes().items():
            asked[link], self.carried[link] = self.carried.get(link, LinkRemainder()).add(flow)
        given: dict[tuple[int, int], int] = {}
        for i in range(n):
            found = granted(int(self.work[i]), [asked[i, j] for j in around(i, n)])
            given |= {(i, j): units for j, units in zip(around(i, n), found, strict=True)}
        for (i, j), units in given.items():
            self.work[i] -= units
            self.work[j] += units


@settings(deadline=None)
@given(TIMES, SPEEDS, TIMES, SPEEDS, ALPHAS)
def test_both_ends_of_a_link_compute_the_same_flux(
    time: float, speed: float, other_time: float, other_speed: float, alpha: float
) -> None:
    here = flux(time, speed, other_time, other_speed, alpha)
    there = flux(other_time, other_speed, time, speed, alpha)
    assert here == -there
    assert abs(here).hex() == abs(there).hex()


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_both_ends_of_a_link_carry_the_same(flows: list[float]) -> None:
    here, there = LinkRemainder(), LinkRemainder()
    moved = 0
    for flow in flows:
        units, here = here.add(flow)
        back, there = there.add(-flow)
        moved += units
        assert units == -back
        assert here.remainder == -there.remainder
        assert abs(here.remainder) <= 0.5
    assert moved + here.remainder == pytest.approx(float(sum(map(Fraction, flows))), abs=1e-6)


@settings(deadline=None)
@given(CHAINS, st.floats(0.01, 0.45), st.integers(1, 4))
def test_between_equal_speeds_it_is_the_step_of_the_paper(
    chain: list[tuple[float, float]], alpha: float, cycles: int
) -> None:
    """Times are work over the same speed, so that fluxes of work are those of the paper."""
    work, speed = [u for u, _ in chain], chain[0][1]
    ranks = Chain(list(work), [speed] * len(work), DiffusionStep.stable(alpha, 1))
    mesh = Mesh((len(work),))
    matrix = np.linalg.matrix_power(one_step(mesh, ranks.step, links(mesh)), cycles)
    for _ in range(cycles):
        ranks.advance_divisible()
    assert ranks.work == pytest.approx(matrix @ np.array(work), rel=1e-9, abs=1e-9 * (1 + sum(work)))


def test_between_equal_speeds_the_units_that_move_are_those_of_a_mesh() -> None:
    units = [900, 0, 3, 250, 0, 0, 17]
    mesh = UnitDiffusion(Mesh((7,)), units, Schedule.every(0.3, 1))
    ranks = Chain([float(u) for u in units], [2.0] * 7, DiffusionStep.stable(0.3, 1))
    for _ in range(40):
        ranks.advance_units()
        mesh.advance()
        assert ranks.work == mesh.units.tolist()


def matrix(speeds: Floats, step: DiffusionStep) -> Floats:
    """What a step does to times, from the definition: the symmetric form that has the same eigenvalues."""
    n = len(speeds)
    laplacian = np.zeros((n, n))
    for i in range(n - 1):
        width = step.alpha * min(speeds[i], speeds[i + 1])
        laplacian[[i, i + 1], [i, i + 1]] += width
        laplacian[[i, i + 1], [i + 1, i]] -= width
    root = np.sqrt(speeds)
    spread = laplacian / np.outer(root, root)
    inner = np.eye(n)
    for _ in range(step.iterations):
        inner = (np.eye(n) + (step.y * np.eye(n) - spread) @ inner) / (1 + step.y)
    found: Floats = np.eye(n) - spread @ inner
    return found


@settings(deadline=None)
@given(CHAINS, ALPHAS)
def test_a_step_is_what_the_definition_says(chain: list[tuple[float, float]], alpha: float) -> None:
    work, speeds = [u for u, _ in chain], [s for _, s in chain]
    ranks = Chain(list(work), speeds, DiffusionStep.iterated(alpha, 1))
    root = np.sqrt(speeds)
    expected = root * (matrix(np.array(speeds), ranks.step) @ (np.array(work) / root))
    ranks.advance_divisible()
    assert ranks.work == pytest.approx(expected, rel=1e-6, abs=1e-7 * (1 + sum(work)))


@settings(deadline=None)
@given(st.lists(SPEEDS, min_size=2, max_size=12), ALPHAS)
def test_what_is_stable_among_equals_is_stable_among_any(speeds: list[float], alpha: float) -> None:
    step = DiffusionStep.iterated(alpha, 1)
    gains = np.abs(np.linalg.eigvalsh(matrix(np.array(speeds), step)))
    assert gains.max() <= 1 + 1e-9


def test_a_size_that_is_not_stable_blows_up_between_uneven_ranks_too() -> None:
    step = DiffusionStep(1.2 * alpha_limit(1, 1), 1, 1)
    assert np.abs(np.linalg.eigvalsh(matrix(np.tile([1.0, 1.0001], 20), step))).max() > 1


@settings(deadline=None)
@given(CHAINS, st.floats(0.01, 0.5), st.integers(1, 5))
def test_where_steps_are_positive_no_time_exceeds_what_was_the_longest(
    chain: list[tuple[float, float]], alpha: float, cycles: int
) -> None:
    ranks = Chain([u for u, _ in chain], [s for _, s in chain], DiffusionStep.iterated(alpha, 1))
    times = [u / s for u, s in chain]
    slack = 1e-9 * (1 + max(times))
    for _ in range(cycles):
        ranks.advance_divisible()
        for u, s in zip(ranks.work, ranks.speeds, strict=True):
            assert min(times) - slack <= u / s <= max(times) + slack


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 10**5), st.sampled_from([1.0, 2.5, 4.0])), min_size=1, max_size=16),
    st.floats(0.05, 3),
    st.integers(1, 12),
)
def test_units_are_conserved_and_nobody_gives_what_it_has_not(
    chain: list[tuple[int, float]], alpha: float, cycles: int
) -> None:
    ranks = Chain([float(u) for u, _ in chain], [s for _, s in chain], DiffusionStep.iterated(alpha, 1))
    for _ in range(cycles):
        ranks.advance_units()
        assert sum(ranks.work) == sum(u for u, _ in chain)
        assert min(ranks.work) >= 0


@pytest.mark.parametrize("n", [2, 3, 5, 8, 16, 32])
def test_shares_become_proportional_to_speeds(n: int) -> None:
    """All units on one rank, every other rank four times as fast; large steps, so as to be done in n^2."""
    ranks = Chain([1000.0 * n] + [0.0] * (n - 1), [1.0 if i % 2 else 4.0 for i in range(n)], LARGE)
    for _ in range(40 + n * n // 2):
        ranks.advance_units()
    assert sum(ranks.work) == 1000 * n
    assert furthest(ranks) <= 4


@pytest.mark.parametrize(("n", "steps"), [(16, 80), (64, 900)] if is_full() else [(16, 80)])
def test_equal_shares_on_many_ranks_become_proportional_to_speeds(n: int, steps: int) -> None:
    """Speeds of 1 to 4, those of one half drawn from below 2.5, of the other from above."""
    draw = np.random.default_rng(8)
    speeds = [*draw.uniform(1, 2.5, n // 2).tolist(), *draw.uniform(2.5, 4, n // 2).tolist()]
    ranks = Chain([1000.0] * n, speeds, LARGE)
    before = furthest(ranks)
    for _ in range(steps):
        ranks.advance_units()
    assert sum(ranks.work) == 1000 * n
    assert furthest(ranks) <= 4 < before / 100


def furthest(ranks: Chain) -> float:
    """The most units that a rank has above or below what is proportional to its speed."""
    best = sum(ranks.work) / sum(ranks.speeds)
    return max(abs(u - best * s) for u, s in zip(ranks.work, ranks.speeds, strict=True))


def test_a_single_rank_keeps_its_work() -> None:
    ranks = Chain([7.0], [3.0], DiffusionStep.stable(0.3, 1))
    ranks.advance_units()
    assert ranks.work == [7.0]
    assert ranks.relaxed() == [pytest.approx(7 / 3)]


@settings(deadline=None)
@given(st.lists(SPEEDS, min_size=1, max_size=10), ALPHAS, st.sampled_from([0.5, 0.1, 1e-3, 1e-9]))
def test_inner_iterations_leave_less_than_the_tolerance(
    speeds: list[float], alpha: float, tolerance: float
) -> None:
    """Of the largest error over all ranks, for any speeds."""
    n = len(speeds)
    work = [1e3 * s * (i % 3) for i, s in enumerate(speeds)]
    step = DiffusionStep.within(alpha, 1, tolerance)
    assert step.is_stable
    times = np.array(work) / speeds
    width = np.array([step.alpha * min(pair) for pair in pairwise(speeds)])
    system = np.diag(np.append(width, 0.0) + np.append(0.0, width)) - np.diag(width, 1) - np.diag(width, -1)
    exact = np.linalg.solve(np.diag(speeds) + system, work)
    found = np.array(Chain(work, speeds, step).relaxed())
    assert np.abs(found - exact).max() <= tolerance * np.abs(times - exact).max() + 1e-7
    assert len(found) == n


@settings(deadline=None)
@given(st.floats(1e-3, 20), st.integers(1, 3))
def test_a_tolerance_of_alpha_takes_the_iterations_of_the_paper_and_no_fewer_than_safe(
    alpha: float, dimensions: int
) -> None:
    step = DiffusionStep.within(alpha, dimensions, min(alpha, 0.999))
    assert step.is_stable
    if alpha < 0.999 and DiffusionStep(alpha, dimensions, inner_iterations(alpha, dimensions)).is_stable:
        assert abs(step.iterations - inner_iterations(alpha, dimensions)) <= (alpha == 0.25)


@pytest.mark.parametrize("tolerance", [0.0, 1.0, -0.1, inf, nan])
def test_a_tolerance_is_a_part(tolerance: float) -> None:
    with pytest.raises(ValueError, match="expected a tolerance above 0 and below 1, found"):
        DiffusionStep.within(0.1, 1, tolerance)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(-300, 300), st.integers(-300, 300))
def test_on_a_chain_a_rank_gives_what_blocks_can_bear(held: int, down: int, up: int) -> None:
    flows = payable(np.array([1000, held, 1000]), np.array([-down, up]))
    assert granted(held, [down, up]) == (max(-int(flows[0]), 0), max(int(flows[1]), 0))


@settings(deadline=None)
@given(st.integers(0, 100), st.lists(st.integers(-20, 60), max_size=6))
def test_nobody_is_given_more_than_it_asks_and_equal_parts_where_it_does_not_suffice(
    held: int, asked: list[int]
) -> None:
    given_units = granted(held, asked)
    wanted = [max(0, units) for units in asked]
    assert sum(given_units) == min(held, sum(wanted))
    assert all(0 <= units <= most for units, most in zip(given_units, wanted, strict=True))
    short = [units for units, most in zip(given_units, wanted, strict=True) if units < most]
    if short:
        assert max(short) - min(short) <= 1
        assert max(given_units) - max(short) <= 1


@pytest.mark.parametrize("speed", [0.0, -1.0, inf, nan])
def test_speeds_are_finite_and_above_0(speed: float) -> None:
    step = DiffusionStep.stable(0.3, 1)
    with pytest.raises(ValueError, match="expected finite speeds above 0, found"):
        LocalDiffusion(step, speed, ())
    with pytest.raises(ValueError, match="expected finite speeds above 0, found"):
        LocalDiffusion(step, 1.0, (1.0, speed))


def test_a_rank_has_no_more_links_than_its_step_is_for() -> None:
    with pytest.raises(ValueError, match=r"expected at most 2 neighbours in 1 dimension\(s\), found 3"):
        LocalDiffusion(DiffusionStep.stable(0.3, 1), 1.0, (1.0, 1.0, 1.0))
