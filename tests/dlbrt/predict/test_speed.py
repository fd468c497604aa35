"""Effective speed under discrete load: the paper's averages over blocks, exact integrals, forecasts."""

from __future__ import annotations

from math import ceil

import pytest
from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.predict.effective_speed import Processor
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.cases import MEAN_SLOWDOWN
from papers.zaki.speed import LoadContinuation, block_average, block_finish, effective_load, under

LOADS = st.lists(st.integers(0, 5), min_size=1, max_size=12)


def test_the_mean_slowdown_of_a_load_of_up_to_5() -> None:
    assert round(MEAN_SLOWDOWN, 3) == 2.449
    assert effective_load(under(range(6), 1.0), 0, 6) == pytest.approx(MEAN_SLOWDOWN)


def test_average_effective_speed_by_blocks_is_the_papers() -> None:
    processor = under([0, 1, 3], 2.0, speed=3.0)
    assert block_average(processor, 1.0, 1.5) == 3.0  # a = b = 1
    assert block_average(processor, 0.0, 3.0) == pytest.approx(3 * (1 + 1 / 2) / 2)
    assert block_average(processor, 2.5, 4.5) == pytest.approx(3 * (1 / 2 + 1 / 4) / 2)
    assert effective_load(processor, 0.0, 6.0, block_average) == pytest.approx(3 / (1 + 1 / 2 + 1 / 4))


def test_time_0_falls_in_the_first_block() -> None:
    assert block_average(under([4, 0], 1.0), 0.0, 0.5) == pytest.approx(1 / 5)


def test_blocks_count_fully_where_the_window_has_a_part_of_them() -> None:
    processor = under([0, 1], 1.0)
    assert block_average(processor, 0.9, 1.9) == 0.75
    assert processor.average(0.9, 1.9) == pytest.approx(0.1 + 0.9 * 0.5)


@given(LOADS, st.floats(0, 20), st.floats(0.01, 20))
def test_the_finish_by_blocks_agrees_with_the_speed_up_to_it(
    loads: list[int], begin_s: float, work_s: float
) -> None:
    """sigma and t_j solve each other, or t_j is the boundary where the mean speed jumps past the solution."""
    processor = under(loads, 1.0)
    end_s = block_finish(processor, begin_s, work_s)
    done_s = (end_s - begin_s) * block_average(processor, begin_s, end_s)
    if end_s == ceil(end_s):
        later_s = (end_s - begin_s) * block_average(processor, begin_s, end_s + 0.5)
        assert min(done_s, later_s) - 1e-9 <= work_s <= max(done_s, later_s) + 1e-9
    else:
        assert done_s == pytest.approx(work_s)


@given(LOADS, st.floats(0, 30), st.floats(0, 30), st.sampled_from(LoadContinuation))
def test_done_is_the_inverse_of_finish(
    loads: list[int], begin_s: float, work_s: float, forecast: LoadContinuation
) -> None:
    processor = under(loads, 0.7, speed=1.3, forecast=forecast)
    end_s = processor.finish(begin_s, work_s)
    assert processor.done(begin_s, end_s) == pytest.approx(work_s, abs=1e-9)


@given(st.integers(0, 99), st.floats(0, 40), st.floats(0, 40))
def test_the_integral_is_the_emulations(seed: int, begin_s: float, work_s: float) -> None:
    load = Load(LoadSpec(random=RandomLoad(5, 0.5, seed)), 0)
    levels = [load.level(k * 0.5 + 0.25) for k in range(700)]
    finish_s = under(levels, 0.5).finish(begin_s, work_s)
    assert finish_s == pytest.approx(begin_s + load.stretch(begin_s, work_s), rel=1e-9)


@pytest.mark.parametrize(
    ("forecast", "rates"),
    [
        (LoadContinuation.LAST, [1 / 4] * 4),
        (LoadContinuation.MEAN, [(1 + 1 / 4) / 2] * 4),
        (LoadContinuation.REPEAT, [1, 1 / 4, 1, 1 / 4]),
        ([1, 1, 2], [1 / 2, 1 / 2, 1 / 3, 1 / 2]),
    ],
)
def test_the_load_goes_on_as_forecast(forecast: LoadContinuation | list[float], rates: list[float]) -> None:
    processor = under([0, 3], 1.0, forecast=forecast)
    for block, rate in enumerate([1, 1 / 4, *rates]):
        assert processor.average(block, block + 1) == pytest.approx(rate)


def test_a_forecast_goes_on_for_ever() -> None:
    processor = under([5], 1.0, forecast=[0, 1])
    assert processor.average(1, 100_001) == pytest.approx(0.75)
    assert processor.finish(1, 75_000) == pytest.approx(100_001)


def test_a_steady_processor_has_its_speed() -> None:
    assert Processor.steady(2.5).finish(3.0, 10.0) == 7.0
    assert effective_load(Processor.steady(2.5), 1.0, 9.0) == 1.0


@given(st.floats(0.01, 99), st.floats(0, 40), st.floats(0, 40))
def test_a_steady_processor_is_one_whose_load_never_changes(
    speed: float, begin_s: float, work_s: float
) -> None:
    steady, other = Processor.steady(speed), under([0, 0, 0], 0.7, speed)
    assert steady.finish(begin_s, work_s) == pytest.approx(other.finish(begin_s, work_s))
    assert steady.done(1.0, 1.0 + begin_s) == pytest.approx(speed * begin_s, abs=1e-9)


@pytest.mark.parametrize(
    ("loads", "duration_s", "speed"),
    [([], 1, 1), ([-1], 1, 1), ([0], 0, 1), ([0], 1, 0), ([0], 1, float("nan"))],
)
def test_what_is_no_processor_is_refused(loads: list[float], duration_s: float, speed: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        under(loads, duration_s, speed)
