"""The emulated cliff: level, falling, level."""

from __future__ import annotations

import pytest
from dlbrt.emulation import WIDTH, Cliff
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("held", "slower"), [(0, 1.0), (400, 1.0), (430, 8.0), (460, 15.0), (461, 15.0), (10**9, 15.0)]
)
def test_beyond_what_fits_a_processor_is_slower(held: float, slower: float) -> None:
    assert Cliff(400, 15).slowdown(held) == pytest.approx(slower)


def test_the_width_is_a_part_of_what_fits() -> None:
    assert Cliff(1000, 10).width == WIDTH
    assert Cliff(1000, 10, 0.02).slowdown(1020) == pytest.approx(10.0)


@given(st.floats(1, 1e6), st.floats(1, 100), st.floats(0.01, 1), st.floats(0, 1e7), st.floats(0, 1e7))
def test_more_is_never_done_in_less_time(fit: float, factor: float, width: float, a: float, b: float) -> None:
    cliff = Cliff(fit, factor, width)
    less, more = sorted((a, b))
    assert less * cliff.slowdown(less) <= more * cliff.slowdown(more)
