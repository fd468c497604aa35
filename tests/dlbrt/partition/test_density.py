"""Measured work: groups, merging what ranks measured, cuts, drift."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from dlbrt.partition.density import Density, DriftCheck, Sample, merge
from dlbrt.partition.integer import optimal, prefix_sums
from dlbrt.partition.newton import Cutter
from dlbrt.partition.work import WorkError, WorkFault
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from papers.swartz.density import as_work, compress, cut_by_groups
from papers.swartz.integer import largest_part, parts
from papers.swartz.newton import cuts

WORK = st.lists(st.integers(0, 100), min_size=1, max_size=80).filter(any)


def sample(work: NDArray[np.int64], group: int, low: int, high: int, speed: float = 1.0) -> Sample:
    """What a rank of this speed measures that does positions low .. high - 1."""
    first, last = low // group, -(-high // group)
    edges = np.clip(np.arange(first, last + 1) * group, low, high)
    seconds = [work[a:b].sum() / speed for a, b in pairwise(edges)]
    return Sample(first, np.diff(edges), np.asarray(seconds), speed)


@given(WORK, st.integers(1, 9))
def test_groups_conserve_the_work(work: list[int], group: int) -> None:
    density = compress(work, group)
    assert density.prefix[-1] == sum(work)
    assert density.edges[-1] == len(work)
    assert density.cumulative(density.edges).tolist() == density.prefix.tolist()
    assert density.prefix.tolist() == prefix_sums(work)[density.edges].tolist()


@given(WORK, st.integers(1, 4), st.integers(1, 4))
def test_groups_of_groups_are_larger_groups(work: list[int], group: int, more: int) -> None:
    both, once = compress(work, group).coarser(more), compress(work, group * more)
    assert (both.group, both.work.tolist()) == (once.group, once.work.tolist())


@given(WORK, st.integers(1, 9), st.integers(1, 7))
def test_boundaries_are_in_order_and_parts_add_up(work: list[int], group: int, count: int) -> None:
    density = compress(work, group)
    for bounds in (density.cut(count), cut_by_groups(density, count)):
        assert (bounds[0], bounds[-1], len(bounds)) == (0, len(work), count + 1)
        assert list(bounds) == sorted(bounds)
        assert density.between(bounds).sum() == pytest.approx(sum(work))


@given(WORK, st.integers(1, 7))
def test_single_iterations_are_cut_nearly_optimally(work: list[int], count: int) -> None:
    prefix = prefix_sums(work)
    least = largest_part(prefix, optimal(prefix, count))
    density = compress(work, 1)
    assert parts(prefix, cut_by_groups(density, count)).max() == least
    assert parts(prefix, density.cut(count)).max() <= sum(work) / count + max(work)


@given(WORK, st.integers(1, 5), st.permutations([1.0, 2.0, 5.0]))
def test_cuts_by_groups_follow_the_speeds(work: list[int], group: int, speeds: list[float]) -> None:
    density = compress(work, group)
    bounds = cut_by_groups(density, speeds)
    assert all(bound % group == 0 or bound == len(work) for bound in bounds)
    best = largest_part(density.prefix, optimal(density.prefix, speeds), speeds)
    times = density.between(bounds) / np.asarray(speeds)
    assert times.max() == pytest.approx(best)


def test_a_group_is_cut_inside_as_if_uniform() -> None:
    density = Density(100, 50, np.array([10, 30]))
    assert density.cut(4) == (0, 50, 67, 83, 100)
    assert density.between(cut_by_groups(density, 4)).max() == 30


@given(WORK, st.integers(1, 5), st.integers(1, 6))
def test_newton_cuts_the_same_density(work: list[int], group: int, count: int) -> None:
    density = compress(work, group)
    x = cuts(Cutter(as_work(density)), count)
    wanted = np.full(count, sum(work) / count)
    assert np.diff(density.cumulative(x)) == pytest.approx(wanted, abs=1e-6 * sum(work))


@given(WORK, st.integers(1, 6), st.data())
def test_what_ranks_measured_adds_up(work: list[int], group: int, data: st.DataObject) -> None:
    """Ranks of any speed, their shares beginning and ending within groups."""
    n, exact = len(work), np.asarray(work)
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=4))), n]
    speeds = data.draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=len(cuts), max_size=len(cuts)))
    shares = zip(cuts, cuts[1:], speeds, strict=False)
    samples = [sample(exact, group, low, high, speed) for low, high, speed in shares if low < high]
    merged = merge(n, group, samples)
    assert merged.work == pytest.approx(compress(work, group).work)


def test_what_was_not_measured_has_the_mean_density() -> None:
    measured = Sample(0, np.array([4, 2]), np.array([8.0, 6.0]))
    found = merge(12, 4, [measured])
    assert found.work == pytest.approx([8, 12, 4 * 14 / 6])


def test_drift_is_looked_for_every_so_many_passes() -> None:
    check = DriftCheck()
    assert [count for count in range(35) if check.due(count)] == [10, 20, 30]
    assert not check.exceeded([95, 100, 105])
    assert check.exceeded([94, 100, 105])
    assert DriftCheck(threshold=0.2).exceeded([85, 100, 106])
    assert DriftCheck(threshold=0).exceeded([100, 100, 100.001])
    assert not DriftCheck(threshold=0).exceeded([100, 100, 100])


@pytest.mark.parametrize(
    ("make", "fault", "place"),
    [
        (lambda: Density(4, 2, np.array([1.0, np.nan])), WorkFault.NOT_A_NUMBER, 1),
        (lambda: compress([1.0, 2.0, -1.0], 2), WorkFault.NEGATIVE, 2),
        (lambda: merge(4, 2, [Sample(1, np.array([2]), np.array([np.inf]))]), WorkFault.INFINITE, 1),
        (lambda: merge(4, 2, [Sample(0, np.array([2]), np.array([0.0]))]), WorkFault.NONE_AT_ALL, 0),
        (lambda: merge(4, 2, []), WorkFault.NONE_AT_ALL, 0),
    ],
)
def test_bad_times_are_named_with_their_place(
    make: Callable[[], object], fault: WorkFault, place: int
) -> None:
    with pytest.raises(WorkError) as caught:
        make()
    assert (caught.value.fault, caught.value.place) == (fault, place)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Density(4, 2, np.array([1.0])),
        lambda: Density(0, 2, np.array([])),
        lambda: Density(4, 0, np.array([1.0])),
        lambda: compress([1], 0),
        lambda: Sample(-1, np.array([1]), np.array([1.0])),
        lambda: Sample(0, np.array([1, 2]), np.array([1.0])),
        lambda: Sample(0, np.array([1]), np.array([1.0]), speed=0),
        lambda: merge(4, 2, [Sample(1, np.array([1, 1]), np.array([1.0, 1.0]))]),
        lambda: merge(4, 2, [Sample(0, np.array([3]), np.array([1.0]))]),
        lambda: DriftCheck(every=0),
        lambda: DriftCheck(threshold=-0.1),
        lambda: DriftCheck(threshold=float("nan")),
    ],
)
def test_bad_requests_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        bad()
