"""Integer boundaries: the largest part is least, by brute force; sums are conserved; unit and order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np
import pytest
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.partition.integer import optimal, prefix_sums, settled
from dlbrt.partition.work import WorkError, WorkFault, over_positions
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz.integer import largest_part, nearest, parts, snapped
from papers.swartz.newton import cut

WHOLE = st.lists(st.integers(0, 30), min_size=1, max_size=9).filter(any)
REAL = st.lists(st.floats(0, 30), min_size=1, max_size=9).filter(lambda work: sum(work) > 1e-3)
SPEEDS = st.lists(st.floats(0.1, 10), min_size=1, max_size=4)


def brute_force(work: Sequence[float], speeds: Sequence[float]) -> float:
    prefix = prefix_sums(work)
    inner = combinations_with_replacement(range(len(work) + 1), len(speeds) - 1)
    return min(largest_part(prefix, (0, *cuts, len(work)), speeds) for cuts in inner)


@given(WHOLE | REAL, st.integers(1, 5))
def test_no_boundaries_have_a_smaller_largest_part(work: list[float], count: int) -> None:
    prefix = prefix_sums(work)
    assert largest_part(prefix, optimal(prefix, count)) == brute_force(work, [1.0] * count)


@given(WHOLE | REAL, SPEEDS)
def test_nor_a_smaller_largest_time_on_uneven_processors(work: list[float], speeds: list[float]) -> None:
    prefix = prefix_sums(work)
    assert largest_part(prefix, optimal(prefix, speeds), speeds) == brute_force(work, speeds)


@given(WHOLE, st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=1, max_size=4).filter(any))
def test_a_processor_of_speed_0_gets_no_work(work: list[int], speeds: list[float]) -> None:
    prefix = prefix_sums(work)
    bounds = optimal(prefix, speeds)
    assert largest_part(prefix, bounds, speeds) == brute_force(work, speeds)
    assert all(w == 0 for w, s in zip(parts(prefix, bounds), speeds, strict=True) if s == 0)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300).filter(any), st.integers(1, 40))
def test_boundaries_are_in_order_and_parts_add_up(work: list[int], count: int) -> None:
    prefix = prefix_sums(work)
    bounds = optimal(prefix, count)
    assert (bounds[0], bounds[-1], len(bounds)) == (0, len(work), count + 1)
    assert list(bounds) == sorted(bounds)
    assert parts(prefix, bounds).sum() == sum(work)
    assert parts(prefix, bounds).max() <= sum(work) / count + max(work)


@given(WHOLE, st.integers(1, 5))
def test_neither_unit_nor_direction_matters(work: list[int], count: int) -> None:
    prefix = prefix_sums(work)
    least = largest_part(prefix, optimal(prefix, count))
    assert optimal(prefix_sums([8 * each for each in work]), count) == optimal(prefix, count)
    turned = prefix_sums(work[::-1])
    assert largest_part(turned, optimal(turned, count)) == least


@given(st.permutations([0.5, 1.0, 2.0, 4.0]))
def test_uniform_work_follows_the_speeds_in_any_order(speeds: list[float]) -> None:
    assert np.diff(optimal(prefix_sums([1] * 75), speeds)).tolist() == [10 * speed for speed in speeds]


@given(st.integers(1, 60), st.integers(1, 20))
def test_uniform_work_is_cut_evenly(n: int, count: int) -> None:
    sizes = np.diff(optimal(prefix_sums([1] * n), count))
    assert sizes.max() == -(-n // count)
    assert sizes.max() - sizes.min() <= 1


def test_a_trial_between_neighbouring_doubles_ends() -> None:
    """Their middle rounds to the upper one, which has been tried."""
    for work in ([0.1] * 7, [1 / 3] * 9, [0.1, 0.2, 0.3, 0.7, 5e-324], [1e-3, 5e-324]):
        for speeds in ([1.0, 1.0], [0.1, 0.7, 0.3], [3.0, 1 / 3]):
            prefix = prefix_sums(work)
            assert largest_part(prefix, optimal(prefix, speeds), speeds) == brute_force(work, speeds)


def test_among_the_best_boundaries_those_nearest_to_equal_work_are_taken() -> None:
    """The largest part is 100 whatever is done with the rest, which is shared nonetheless."""
    assert optimal(prefix_sums([100, *[1] * 200]), 3) == (0, 1, 101, 201)
    assert optimal(prefix_sums([1] * 20 + [100, 60, 40]), 3) == (0, 20, 21, 23)


def test_fewer_iterations_than_processors() -> None:
    bounds = optimal(prefix_sums([3, 4]), 5)
    assert sorted(np.diff(bounds).tolist()) == [0, 0, 0, 1, 1]


def test_equal_work_blocks_of_a_graded_loop() -> None:
    """1000 iterations of linear, quadratic and cubic work on 16 processors: largest over mean."""
    for degree, most in ((1, 1.025), (2, 1.04), (3, 1.07)):
        prefix = prefix_sums(np.arange(1000) ** degree)
        assert largest_part(prefix, optimal(prefix, 16)) <= most * prefix[-1] / 16


@pytest.mark.parametrize("n", [1000, 1001, 999, 17, 16, 1])
@pytest.mark.parametrize("slope", [3, -3])
def test_pairs_of_a_linear_loop_are_even_in_equal_blocks(n: int, slope: int) -> None:
    """Linear work is not cut but folded: nobody has more than one pair above the mean."""
    work = 3 * n + slope * np.arange(n)
    units = Units(0, n, folded=True)
    shares = [units.positions(share) for share in block(len(units), 16)]
    found = [sum(int(work[list(run)].sum()) for run in share.runs) for share in shares]
    assert sum(found) == work.sum()
    assert max(found) <= work.sum() / 16 + work[0] + work[-1]
    assert n < 1000 or max(found) <= 1.025 * work.sum() / 16


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("count", [2, 5, 16])
def test_real_cuts_are_rounded_without_a_prefix_sum(degree: int, count: int) -> None:
    n = 1000
    work = over_positions(lambda v: np.asarray(v, dtype=float) ** (degree + 1), range(n))
    cuts = cut(work, count)
    prefix = work.t(np.arange(n + 1))
    best = largest_part(prefix, optimal(prefix, count))
    near, rounded = settled(cuts, work.t), snapped(cuts, work.t)
    assert best <= largest_part(prefix, near) <= largest_part(prefix, rounded.tolist())
    assert largest_part(prefix, rounded.tolist()) <= prefix[-1] / count + np.diff(prefix).max()
    assert [nearest(float(x), work.t) for x in cuts] == rounded.tolist()
    assert (rounded[0], rounded[-1]) == (near[0], near[-1]) == (0, n)


def test_a_million_boundaries_are_rounded_at_once() -> None:
    work = over_positions(lambda v: v * v, range(10**7))
    rounded = snapped(cut(work, 10**6), work.t)
    assert (np.diff(rounded) >= 0).all()
    assert rounded[-1] == 10**7


def test_integers_are_summed_exactly() -> None:
    assert prefix_sums([2**53, 1, 1]).tolist() == [0, 2**53, 2**53 + 1, 2**53 + 2]
    assert prefix_sums(np.array([200, 100], dtype=np.uint8)).tolist() == [0, 200, 300]


def test_large_integers_are_compared_exactly() -> None:
    prefix = prefix_sums([2**51, 1, 1, 2**51])
    assert optimal(prefix, 2) == (0, 2, 4)


@pytest.mark.parametrize(
    ("work", "fault", "place"),
    [
        ([1.0, np.nan, -1.0], WorkFault.NOT_A_NUMBER, 1),
        ([1.0, 2.0, -np.inf], WorkFault.INFINITE, 2),
        ([1, -1], WorkFault.NEGATIVE, 1),
        ([0, 0], WorkFault.NONE_AT_ALL, 0),
        ([], WorkFault.NONE_AT_ALL, 0),
    ],
)
def test_bad_work_is_named_with_its_iteration(work: list[float], fault: WorkFault, place: int) -> None:
    with pytest.raises(WorkError) as caught:
        prefix_sums(work)
    assert (caught.value.fault, caught.value.place) == (fault, place)


def test_sums_beyond_64_bits_are_refused() -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        prefix_sums([2**62, 2**62])


@pytest.mark.parametrize(
    "bad",
    [
        lambda: optimal(np.array([0, 2, 1]), 2),
        lambda: optimal(np.array([]), 2),
        lambda: optimal(prefix_sums([1]), 0),
        lambda: optimal(prefix_sums([1]), [0.0]),
        lambda: optimal(prefix_sums([1]), [1.0, -1.0]),
    ],
)
def test_bad_requests_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        bad()
