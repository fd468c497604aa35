"""Ranks that begin later, since their rows have to come first, get less, so that all end together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dlbrt.mpi.root.program_history import LoopHistory, SharingFigures
from dlbrt.mpi.team import RunCounters


def learned(*runs: Sequence[float], compute_s: float = 0.5, compile_s: float = 0.0) -> LoopHistory:
    """The history of a loop of 100 iterations after runs whose ranks have begun so late."""
    history = LoopHistory("1", "program.py:3", 2)
    for begun in runs:
        figures = [
            RunCounters([range(50 * rank, 50 * (rank + 1))], compute_s, begun_s=begun_s, compile_s=compile_s)
            for rank, begun_s in enumerate(begun)
        ]
        history.learn(figures, 1.0, 100, "GDDLB", "", None, SharingFigures())
    return history


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
    assert learned((0.0, 0.3), compile_s=0.2).head_starts(100) == ()
