"""The integral of the effective speed is what the emulation itself gives."""

from __future__ import annotations

import pytest
from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.sim.machine import LoadedProcessor
from hypothesis import given
from hypothesis import strategies as st


def random(seed: int, duration_s: float = 0.5, most: int = 5) -> LoadSpec:
    return LoadSpec(random=RandomLoad(most, duration_s, seed))


@given(st.integers(0, 50), st.floats(0, 40), st.floats(0, 40))
def test_work_takes_as_long_as_the_emulated_load_stretches_it(seed: int, begin: float, work: float) -> None:
    processor, load = LoadedProcessor(random(seed), 1), Load(random(seed), 1)
    ends = processor.when(processor.done(begin) + work)
    assert ends - begin == pytest.approx(load.stretch(begin, work), rel=1e-9, abs=1e-9)


@given(st.integers(0, 50), st.floats(0, 100))
def test_when_is_the_inverse_of_done(seed: int, work: float) -> None:
    processor = LoadedProcessor(random(seed), 0, speed=1.5)
    assert processor.done(processor.when(work)) == pytest.approx(work, rel=1e-12, abs=1e-12)


def test_fixed_load_and_speeds_slow_a_rank_for_good() -> None:
    spec = LoadSpec(levels=(0, 2), speeds=(1.0, 0.5))
    assert LoadedProcessor(spec, 0).done(6.0) == 6.0
    assert LoadedProcessor(spec, 1).done(6.0) == 1.0
    assert LoadedProcessor(spec, 1, speed=3.0).when(1.0) == 2.0


def test_no_load_at_all_is_time_itself() -> None:
    assert LoadedProcessor(random(3, most=0), 2).done(7.25) == 7.25
