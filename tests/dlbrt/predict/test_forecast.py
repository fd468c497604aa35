"""Paths of the load, drawn from what was seen."""

from __future__ import annotations

from random import Random

import pytest
from dlbrt.predict.effective_speed import LoadForecast


def test_the_path_of_means_goes_on_at_the_mean_speed() -> None:
    one, other = LoadForecast(((1.0, 0.5), (2.0, 2.0)), 3.0).mean_path()
    assert (one.average(0, 50), other.average(0, 50)) == (0.75, 2.0)


def test_a_drawn_path_has_speeds_that_were_seen() -> None:
    history = LoadForecast(((1.0, 0.5, 1.0, 0.25), (0.5, 0.25, 1.0, 1.0)), 2.0)
    path = history.drawn_path(Random(1))
    seen = {round(p.average(2 * k, 2 * k + 2), 9) for p in path for k in range(40)}
    assert seen == {1.0, 0.5, 0.25}


def test_parts_are_of_each_ranks_own_speed() -> None:
    history = LoadForecast(((1.0, 0.5) * 8, (4.0, 2.0) * 8), 1.0)
    slow, fast = history.drawn_path(Random(1))
    assert {round(slow.average(k, k + 1), 9) for k in range(40)} == {1.0, 0.5}
    assert {round(fast.average(k, k + 1), 9) for k in range(40)} == {4.0, 2.0}
    known = LoadForecast(((0.5,) * 8, (4.0, 2.0) * 4), 1.0, unloaded=(1.0, 4.0)).drawn_path(Random(2))
    assert all(processor.speed == most for processor, most in zip(known, (1.0, 4.0), strict=True))


def test_a_load_that_never_changed_mostly_stays() -> None:
    history = LoadForecast(tuple((1.0 / (rank + 1),) * 100 for rank in range(6)), 1.0, (1.0,) * 6)
    path = history.drawn_path(Random(3))
    same = [abs(p.average(0, 20) - 1 / (rank + 1)) < 1e-9 for rank, p in enumerate(path)]
    assert sum(same) >= 5


def test_draws_are_those_of_the_generator() -> None:
    history = LoadForecast(((1.0, 0.5, 0.2), (0.3, 0.9, 1.0)), 1.0)
    assert history.drawn_path(Random(5)) == history.drawn_path(Random(5))
    assert history.drawn_path(Random(5)) != history.drawn_path(Random(6))


def test_one_speed_for_each_rank_is_history_enough() -> None:
    path = LoadForecast(((1.0,), (3.0,)), 1.0).drawn_path(Random(0))
    assert [processor.average(0, 9) for processor in path] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("speeds", "slice_s", "unloaded"),
    [
        ((), 1.0, ()),
        (((),), 1.0, ()),
        (((1.0,), (1.0, 2.0)), 1.0, ()),
        (((0.0,),), 1.0, ()),
        (((1.0,),), 0.0, ()),
        (((1.0,),), 1.0, (1.0, 1.0)),
        (((1.0,),), 1.0, (0.0,)),
    ],
)
def test_what_is_no_history_is_refused(
    speeds: tuple[tuple[float, ...], ...], slice_s: float, unloaded: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        LoadForecast(speeds, slice_s, unloaded)
