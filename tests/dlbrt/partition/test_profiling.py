"""Measured passes: what ranks record, when a loop is cut by it, and how balanced it then is."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import exp

import numpy as np
import pytest
from dlbrt.parameters import MAX_GROUPS
from dlbrt.partition.density import Density, Sample, merge
from dlbrt.partition.imbalance import drift, efficiency
from dlbrt.partition.profiling import GroupTimes, Profiling, group_size, relative_speeds
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz.density import compress

Cost = Callable[[int], float]


def recorded(times: GroupTimes) -> dict[int, tuple[int, float]]:
    """Iterations and seconds by group, as the samples say."""
    return {
        sample.first + place: (done, seconds)
        for sample in times.samples()
        for place, (done, seconds) in enumerate(
            zip(sample.done.tolist(), sample.seconds.tolist(), strict=True)
        )
        if done
    }


@st.composite
def runs(draw: st.DrawFn, n: int) -> range:
    start, step = draw(st.integers(0, n - 1)), draw(st.integers(1, 7))
    run = range(start, draw(st.integers(start, n)), step)
    return run[::-1] if draw(st.booleans()) else run


@given(st.integers(1, 60), st.integers(1, 9), st.data())
def test_a_run_is_shared_among_its_groups_in_proportion(n: int, group: int, data: st.DataObject) -> None:
    times, expected = GroupTimes(n, group), dict[int, list[float]]()
    for run in data.draw(st.lists(runs(n), max_size=4)):
        seconds = data.draw(st.sampled_from([0.25, 1.0, 6.0]))
        times.add(run, seconds)
        for position in run:
            entry = expected.setdefault(position // group, [0, 0.0])
            entry[0] += 1
            entry[1] += seconds / len(run)
    found = recorded(times)
    assert found.keys() == expected.keys()
    for place, (done, seconds) in expected.items():
        assert found[place][0] == done
        assert found[place][1] == pytest.approx(seconds)


@given(st.integers(1, 200), st.integers(1, 9), st.data())
def test_runs_cut_at_the_limit_lie_in_one_group(n: int, group: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, n - 1))
    end = GroupTimes(n, group).limit(position)
    assert position < end <= n
    assert {p // group for p in range(position, end)} == {position // group}
    assert end == n or end % group == 0


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_groups_are_doubled_until_they_are_few(n: int, group: int) -> None:
    size = group_size(n, group)
    assert -(-n // size) <= MAX_GROUPS
    assert size == group or -(-n // (size // 2)) > MAX_GROUPS
    assert (size // group).bit_count() == 1


def test_memory_is_bounded_however_many_iterations_there_are() -> None:
    times = GroupTimes(10**9, 5)
    times.add(range(10**9 - 3, 10**9), 1.5)
    times.add(range(0, 10**9, 10**7), 1.0)
    [*_, last] = times.samples()
    assert times.group == 5 * 2**12
    assert (last.done.tolist(), last.seconds.tolist()) == ([3], [1.5])
    assert sum(int(sample.done.sum()) for sample in times.samples()) == 103


def test_samples_leave_out_what_was_not_touched_and_travel() -> None:
    times = GroupTimes(100_000, 10)
    times.add(range(20), 1.0)
    times.add(range(50, 60), 2.0)
    times.add(range(90_000, 90_001), 3.0)
    first, second = pickle.loads(pickle.dumps(times.samples()))
    assert (first.first, first.done.tolist()) == (0, [10, 10, 0, 0, 0, 10])
    assert first.seconds.tolist() == [0.5, 0.5, 0, 0, 0, 2]
    assert (second.first, second.done.tolist(), second.seconds.tolist()) == (9000, [1], [3.0])
    times.add(range(10), 1.0)
    assert first.seconds[0] == 0.5


def test_samples_of_ranks_that_deal_in_turn_are_few() -> None:
    times = GroupTimes(1000, 1)
    times.add(range(3, 1000, 8), 1.0)
    assert len(times.samples()) == 1


@pytest.mark.parametrize("run", [range(-1, 3), range(8, 11), range(10, 11)])
def test_positions_outside_the_domain_are_refused(run: range) -> None:
    with pytest.raises(ValueError, match=r"expected positions of 0\.\.9"):
        GroupTimes(10, 3).add(run, 1.0)


def test_nothing_recorded_gives_no_samples() -> None:
    times = GroupTimes(10, 3)
    times.add(range(5, 5), 1.0)
    assert times.samples() == GroupTimes(0, 3).samples() == ()


class Ranks:
    """A loop on ranks of given speeds, with a cost for each iteration that may change from pass to pass."""

    def __init__(self, profiling: Profiling, speeds: Sequence[float]) -> None:
        self.profiling = profiling
        self.speeds = list(speeds)
        self.bounds = [profiling.n * r // len(speeds) for r in range(len(speeds) + 1)]
        self.recuts = 0
        self.measured: list[int] = []

    def run(self, number: int, cost: Cost) -> list[float]:
        """One pass; the ranks' seconds."""
        profiling, before = self.profiling, self.profiling.density
        if before is not None:
            self.bounds = list(before.cut(self.speeds))
        recorders = [timed(profiling) for _ in self.speeds] if profiling.measure_next else None
        work = [cost(i) for i in range(profiling.n)]
        shares = [range(a, b) for a, b in pairwise(self.bounds)]
        times = [sum(work[s.start : s.stop]) / v for s, v in zip(shares, self.speeds, strict=True)]
        samples = None
        if recorders is not None:
            self.measured.append(number)
            samples = [record(r, s, work, v) for r, s, v in zip(recorders, shares, self.speeds, strict=True)]
        assert profiling.learn(times, samples, self.speeds) is None
        self.recuts += before is not None and profiling.density is not before
        return times


def timed(profiling: Profiling) -> GroupTimes:
    """A rank's record of the next pass."""
    return GroupTimes(profiling.n, profiling.group)


def record(times: GroupTimes, share: range, work: Sequence[float], speed: float) -> tuple[Sample, ...]:
    position = share.start
    while position < share.stop:
        end = min(times.limit(position), share.stop)
        times.add(range(position, end), sum(work[position:end]) / speed)
        position = end
    return times.samples()


@pytest.mark.parametrize("speeds", [(1, 1, 1, 1), (1, 2.5, 0.5), (3,)])
def test_a_static_loop_is_measured_once_and_cut_once(speeds: Sequence[float]) -> None:
    ranks = Ranks(Profiling(1000, 5), speeds)
    passes = [ranks.run(number, lambda i: i * i + 1.0) for number in range(35)]
    assert len(speeds) == 1 or efficiency(passes[0]) < 50
    assert all(efficiency(times) > 98 for times in passes[1:])
    assert ranks.recuts == 0
    assert ranks.measured == [0, 10, 20, 30]


def test_a_loop_whose_cost_drifts_is_cut_again_and_balanced_again() -> None:
    """A peak that wanders over the domain; the cost stands still between two checks."""
    ranks = Ranks(Profiling(1200, 5, every=10), [1.0] * 4)

    def peak(at: int) -> Cost:
        return lambda i: 1 + 20 * exp(-(((i - at) / 150) ** 2))

    passes = [ranks.run(number, peak(number // 10 * 200)) for number in range(50)]
    assert ranks.recuts == 4
    for check in range(0, 50, 10):
        assert drift(passes[check]) > 0.10
        assert all(efficiency(times) > 97 for times in passes[check + 1 : check + 10])


def test_a_drift_below_the_threshold_is_left() -> None:
    profiling = Profiling(400, 5, every=2, threshold=0.10)
    ranks = Ranks(profiling, [1.0, 1.0])
    ranks.run(0, lambda i: 1.0)
    first = profiling.density
    for number in range(1, 7):
        ranks.run(number, lambda i: 1.0 + 0.05 * (i >= 200))
    assert profiling.density is first
    ranks.run(7, lambda i: 1.0)
    ranks.run(8, lambda i: 1.0 + 0.2 * (i >= 200))
    assert ranks.recuts == 1


def test_noise_of_the_clock_moves_nothing() -> None:
    noise = np.random.default_rng(7)
    ranks = Ranks(Profiling(1000, 5, every=2), [1.0] * 4)
    for number in range(40):
        ranks.run(number, lambda i: (i + 1.0) * noise.uniform(0.8, 1.2))
    assert ranks.recuts == 0


def test_speeds_that_nobody_told_are_learned_with_the_density() -> None:
    """What a slow rank measured counts as much work, until that work is measured on a fast one."""
    profiling, bounds, found = Profiling(1000, 5, every=1, threshold=0.02), [0, 333, 667, 1000], []
    for _ in range(8):
        shares = [range(a, b) for a, b in pairwise(bounds)]
        times = [len(share) / speed for share, speed in zip(shares, (1, 2, 4), strict=True)]
        pieces = zip(shares, (1, 2, 4), strict=True)
        samples = [record(timed(profiling), share, [1.0] * 1000, speed) for share, speed in pieces]
        assert profiling.learn(times, samples) is None
        assert profiling.density is not None
        bounds = list(profiling.density.cut(3))
        found.append(efficiency(times))
    assert found[0] < 30
    assert found[-1] > 97


def busy_passes(passes: int, seed: int, *, noticed: bool) -> list[float]:
    """The efficiency of each pass over quadratic work, 7 in 10 shares slowed to a half for a part of a pass.

    ``noticed``: passes in which a tenth of a share was slowed are known to be disturbed.
    """
    draw, profiling, found = np.random.default_rng(seed), Profiling(800, 5), []
    work, bounds = np.arange(800.0) ** 2 + 1, tuple(range(0, 801, 200))
    for _ in range(passes):
        bounds = bounds if profiling.density is None else profiling.density.cut(4)
        shares = [range(low, high) for low, high in pairwise(bounds)]
        found.append(efficiency([work[share].sum() for share in shares]))
        taken, disturbed = work.copy(), False
        for share in shares:
            if draw.random() < 0.7:
                low, high = np.sort(draw.integers(share.start, share.stop + 1, 2))
                taken[low:high] *= 2
                disturbed |= bool(high - low > len(share) / 10)
        times, samples = [float(taken[share].sum()) for share in shares], None
        if profiling.measure_next:
            samples = [record(timed(profiling), share, taken.tolist(), 1.0) for share in shares]
        profiling.learn(times, samples, (), bounds, disturbed=disturbed and noticed)
    return found


def test_what_a_busy_machine_made_is_not_cut_by() -> None:
    """Noise halves the efficiency where a density of one pass is believed; repeats make it no worse."""
    believed = [busy_passes(30, seed, noticed=False) for seed in range(12)]
    repeated = [busy_passes(30, seed, noticed=True) for seed in range(12)]
    first = repeated[0][0]
    assert min(min(each[1:]) for each in repeated) >= first
    assert np.mean([each[-1] for each in repeated]) > 90 > np.mean([each[-1] for each in believed])


def test_a_disturbed_pass_that_the_next_confirms_is_cut_by() -> None:
    """A rank that stays slow is no noise, though its processor is shared all the time."""
    work = np.repeat([1.0, 3.0], 10)
    profiling, bounds = Profiling(20, 5), (0, 10, 20)
    samples = [record(timed(profiling), range(low, low + 10), work.tolist(), 1.0) for low in (0, 10)]
    profiling.learn([10.0, 30.0], samples, (), bounds, disturbed=True)
    assert profiling.density is None
    assert profiling.measure_next
    profiling.learn([10.0, 30.0], samples, (), bounds, disturbed=True)
    assert profiling.density is not None
    assert profiling.density.cut(2) == Density(20, 5, np.add.reduceat(work, range(0, 20, 5))).cut(2)
    assert not profiling.measure_next


def test_passes_that_never_agree_are_not_cut_by_and_a_quiet_one_is() -> None:
    profiling, bounds = Profiling(20, 5), (0, 10, 20)

    def learn(slow: int, *, disturbed: bool) -> str | None:
        work = [1.0 + 9 * (position // 10 == slow) for position in range(20)]
        samples = [record(timed(profiling), range(low, low + 10), work, 1.0) for low in (0, 10)]
        return profiling.learn([sum(work[:10]), sum(work[10:])], samples, (), bounds, disturbed=disturbed)

    assert [learn(number % 2, disturbed=True) for number in range(7)] == [None] * 7
    assert profiling.density is None
    assert profiling.measure_next
    assert len(profiling.densities) == 1  # for the next run of the program there is nothing better
    assert learn(1, disturbed=False) is None
    assert profiling.density is not None
    kept = profiling.density
    for _ in range(8):
        profiling.learn([1.0, 1.0], None)
    for number in range(6):
        learn(number % 2, disturbed=True)
    assert profiling.density is kept


def test_a_rank_knows_whether_it_was_disturbed() -> None:
    times = GroupTimes(10, 5)
    assert not times.disturbed
    times.watch(1.0, 0.99)
    assert not times.disturbed
    times.watch(1.0, 0.5)
    assert times.disturbed
    times.watch(1.0, 2.0)  # other threads computed as well
    assert not times.disturbed


def one(seconds: float, first: int = 0, groups: int = 4) -> list[tuple[Sample, ...]]:
    """What one of two ranks measured, the other nothing."""
    return [(Sample(first, np.full(groups, 5), np.full(groups, seconds)),), ()]


def test_with_another_number_of_iterations_it_begins_again() -> None:
    profiling = Profiling(20, 5)
    assert profiling.learn([1, 1], one(1.0)) is None
    profiling.begin(20)
    assert profiling.density is not None
    assert not profiling.measure_next
    profiling.begin(10**9)
    assert profiling.density is None
    assert profiling.measure_next
    assert profiling.group == group_size(10**9, 5) == timed(profiling).group
    profiling.begin(0)
    assert not profiling.measure_next


def test_numbers_of_iterations_that_alternate_are_known_apart() -> None:
    profiling = Profiling(20, 5, every=3)
    measured = []
    for number in range(14):
        profiling.begin((20, 40)[number % 2])
        measured.append(profiling.measure_next)
        profiling.learn([1, 1], one(1.0) if measured[-1] else None)
    assert [number for number, each in enumerate(measured) if each] == [0, 1, 6, 7, 12, 13]
    assert [density.n for density in profiling.densities] == [40, 20]
    for n in (60, 80, 0, 100):
        profiling.begin(n)
        assert (profiling.n, profiling.density) == (n, None)
    profiling.begin(20)
    assert profiling.measure_next  # four others came between


def test_each_number_of_iterations_begins_with_what_is_known_of_it() -> None:
    known = [compress(np.arange(1.0, n + 1), 10) for n in (20, 40)]
    profiling = Profiling(20, 5, known=known[0])
    profiling.begin(40, known[1])
    assert profiling.densities == (known[1], known[0])
    profiling.begin(20, known[1])
    assert profiling.density is known[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "no group of 5 iterations took a time that the clock can see; .* as before"),
        (float("nan"), "cannot be used .*not a number.*; iterations are dealt as before"),
        (float("inf"), "cannot be used .*infinite"),
        (-1.0, "cannot be used .*negative"),
    ],
)
def test_times_that_cannot_be_used_leave_the_density_as_it_is(seconds: float, said: str) -> None:
    profiling = Profiling(20, 5, every=1)
    sentence = profiling.learn([1, 1], one(seconds))
    assert sentence is not None
    assert re.search(said, sentence)
    assert (profiling.density, profiling.measure_next) == (None, True)
    assert profiling.learn([1, 1], one(1.0)) is None
    kept = profiling.density
    assert profiling.learn([1, 9], one(seconds)) == sentence
    assert "expected a time" in str(profiling.learn([1, float("nan")], one(1.0)))
    assert profiling.density is kept is not None


def test_a_pass_that_was_not_measured_only_counts() -> None:
    profiling = Profiling(20, 5, every=2)
    assert profiling.learn([3, 0], None) is None
    assert profiling.measure_next
    profiling.learn([3, 0], one(1.0))
    assert profiling.measure_next  # the third pass checks
    profiling.learn([1, 1], None)
    before = profiling.density
    profiling.learn([9, 0], one(2.0))
    assert profiling.density is before


def test_a_density_known_from_before_is_kept_unless_the_first_pass_has_drifted() -> None:
    known = compress(np.arange(20.0), 10)
    for times, kept in (([1.0, 1.01], True), ([1.0, 2.0], False)):
        profiling = Profiling(20, 5, known=known)
        assert profiling.density is known
        assert profiling.measure_next
        profiling.learn(times, one(1.0))
        assert (profiling.density is known) == kept
    assert Profiling(21, 5, known=known).density is None


def test_where_work_moved_the_shares_as_dealt_are_judged() -> None:
    work = np.repeat([1.0, 3.0], 10)
    samples = [(Sample(0, np.full(2, 5), np.full(2, 5.0)),), (Sample(2, np.full(2, 5), np.full(2, 15.0)),)]
    for bounds, recut in (([0, 10, 20], True), (compress(work, 5).cut(2), False)):
        profiling = Profiling(20, 5, known=Density(20, 10, np.array([10.0, 10.0])))
        before = profiling.density
        profiling.learn([20.0, 20.0], samples, (), bounds, moved=True)
        assert (profiling.density is not before) == recut


def test_a_rank_without_a_share_is_not_out_of_balance_and_tells_nothing() -> None:
    profiling = Profiling(20, 5, known=Density(20, 5, np.ones(4)))
    before = profiling.density
    profiling.learn([0.0, 4.0], [(), one(1.0)[0]], (0.0, 1.0))
    assert profiling.density is before
    profiling = Profiling(20, 5)
    moved = (Sample(0, np.array([2]), np.array([50.0])),)
    rest = (Sample(0, np.array([3, 5, 5, 5]), np.array([3.0, 5, 5, 5])),)
    profiling.learn([50.0, 18.0], [moved, rest], (0.0, 1.0))
    assert profiling.density is not None
    assert profiling.density.work.tolist() == merge(20, 5, [*rest]).work.tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize(("group", "every", "threshold"), [(0, 10, 0.1), (5, 0, 0.1), (5, 10, -0.1)])
def test_settings_that_mean_nothing_are_refused(group: int, every: int, threshold: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        Profiling(20, group, every, threshold)


def test_speeds_are_work_over_time_relative_to_the_slowest() -> None:
    assert relative_speeds([10, 30, 10], [1.0, 2.0, 0.5]) == (1.0, 1.5, 2.0)
    assert relative_speeds([10, 0, 30], [1.0, 0.0, 1.0]) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("work", "seconds"),
    [([5], [1]), ([5, 0], [1, 0]), ([5, 5], [1, 0]), ([5, -1], [1, 1]), ([5, 5], [1, float("nan")])],
)
def test_speeds_that_nothing_tells_are_not_guessed(work: list[float], seconds: list[float]) -> None:
    assert relative_speeds(work, seconds) is None
