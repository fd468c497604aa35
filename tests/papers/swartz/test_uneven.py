"""Processors of M types and of arbitrary speeds (Swartz, section 4)."""

from __future__ import annotations

import numpy as np
import pytest
from dlbrt.partition.newton import Cutter
from dlbrt.partition.work import CumulativeWork
from hypothesis import given
from hypothesis import strategies as st
from papers.swartz.uneven import Types, cuts

PAPER = Types((7, 4), (1.0, 3.0))
TYPES = st.integers(1, 4).flatmap(
    lambda m: st.builds(
        Types,
        st.tuples(*[st.integers(1, 5)] * m),
        st.tuples(st.just(1.0), *[st.floats(0.2, 5)] * (m - 1)),
    )
)


def test_seven_slow_and_four_fast_nodes() -> None:
    assert PAPER.interval(100) == pytest.approx(5.26, abs=5e-3)
    assert PAPER.summed(100) == pytest.approx((36.84, 21.05), abs=5e-3)
    assert sum(PAPER.summed(100)) == pytest.approx(57.89, abs=5e-3)
    assert PAPER.speedup == 19.0
    assert PAPER.processors == 11


def test_the_boundaries_end_at_the_total_time() -> None:
    """As printed (by R_j, no R_k in TSUM, i not from NSUM) the last one would be 284.2."""
    targets = PAPER.targets(100)
    assert targets[-1] == 100
    assert targets[7] == pytest.approx(700 / 19)
    assert np.diff(targets[7:]) == pytest.approx(np.full(4, 300 / 19))
    t_int = PAPER.interval(100)
    assert 3 * (PAPER.summed(100)[0] + 11 * t_int) == pytest.approx(284.2, abs=0.05)


@given(TYPES, st.floats(0.1, 1e4))
def test_every_processor_finishes_at_the_interval(types: Types, total: float) -> None:
    work = np.diff(types.targets(total))
    assert len(work) == types.processors
    assert work / np.asarray(types.speeds()) == pytest.approx(np.full(len(work), types.interval(total)))


@given(TYPES)
def test_types_are_speeds_by_another_name(types: Types) -> None:
    cutter = Cutter(CumulativeWork(lambda x: x * x, 0.0, 10.0))
    x = cuts(cutter, types.speeds())
    assert x**2 == pytest.approx(types.targets(100), abs=1e-9)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=8), st.sampled_from([0.125, 4.0]))
def test_only_the_ratio_of_speeds_matters(speeds: list[float], factor: float) -> None:
    cutter = Cutter(CumulativeWork(lambda x: x**3, 0.0, 10.0))
    assert (cuts(cutter, [factor * speed for speed in speeds]) == cuts(cutter, speeds)).all()


@pytest.mark.parametrize(
    ("counts", "ratios"),
    [((1,), (1.0, 2.0)), ((0,), (1.0,)), ((2, -1), (1.0, 1.0)), ((1,), (0.0,)), ((1,), (np.nan,)), ((), ())],
)
def test_bad_types_are_refused(counts: tuple[int, ...], ratios: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Types(counts, ratios)
