"""Loops outside routines: which are shared, and that ranks which begin later get less."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dlbrt.predict.loop_sharing import LoopSharing


def learned(*runs: Sequence[float], compiled: bool = False) -> LoopSharing:
    """A loop of 100 iterations after runs whose ranks have begun so late and computed for half a second."""
    sharing = LoopSharing(2)
    for begun_s in runs:
        sharing.learn(100, [0.5, 0.5], begun_s, 0.5, compiled=compiled)
    return sharing


def test_all_end_together() -> None:
    shares = learned((0.01, 0.11)).head_starts(100)
    assert shares == pytest.approx((1.1, 0.9))
    assert 0.01 + shares[0] * 0.5 == pytest.approx(0.11 + shares[1] * 0.5)


def test_a_single_late_start_counts_for_nothing() -> None:
    assert learned((0.0, 0.1), (0.0, 0.4), (0.0, 0.2)).head_starts(100) == pytest.approx((1.1, 0.9))


def test_small_differences_change_no_share() -> None:
    assert learned((0.0, 0.004)).head_starts(100) == ()


def test_no_share_is_less_than_half_an_equal_one() -> None:
    assert min(learned((0.0, 5.0)).head_starts(100)) == 0.5


def test_nothing_is_known_before_a_run_and_from_one_that_compiles() -> None:
    assert learned().head_starts(100) == ()
    assert learned((0.0, 0.3), compiled=True).head_starts(100) == ()


def shared(price_s: float, runs: int = 3) -> LoopSharing:
    """A loop of a second's computing after runs on two ranks that took so much beyond it."""
    sharing = LoopSharing(2)
    for _ in range(runs):
        sharing.learn(100, [0.5, 0.5], [0.0, 0.0], price_s, compiled=False)
    return sharing


def test_a_loop_is_shared_where_that_costs_less_than_others_would_compute() -> None:
    assert shared(0.4).trial_s(100) is None
    assert shared(0.6).trial_s(100) == pytest.approx(1.2)
    assert LoopSharing(2).trial_s(100) is None


def test_a_disturbed_run_does_not_decide_for_good() -> None:
    sharing = shared(2.0)
    alone = 0
    while sharing.trial_s(100) is not None:
        sharing.learn_alone(100, 1.0, 1.0)
        alone += 1
    assert 30 < alone < 40  # eight times the price
    sharing.learn(100, [0.5, 0.5], [0.0, 0.0], 0.1, compiled=False)
    assert sharing.trial_s(100) is None


def test_a_loop_that_is_rightly_kept_is_shared_more_and_more_rarely() -> None:
    sharing, times = shared(2.0), []
    for run in range(400):
        if sharing.trial_s(100) is None:
            times.append(run)
            sharing.learn(100, [0.5, 0.5], [0.0, 0.0], 2.0, compiled=False)
        else:
            sharing.learn_alone(100, 1.0, 1.0)
    assert len(times) == 3
    assert times[2] - times[1] > 1.8 * (times[1] - times[0])


def test_a_loop_far_smaller_than_its_price_stays_with_rank_0() -> None:
    sharing = shared(100.0)
    for _ in range(10_000):
        sharing.learn_alone(100, 1.0, 1.0)
    assert sharing.trial_s(100) == pytest.approx(200.0)
