"""A rank that is stopped and goes on with the rest is done when it would have been."""

from __future__ import annotations

import pytest
from dlbrt.data.spans import Spans
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.sim.machine import LoadedProcessor, LoopModel
from dlbrt.sim.worker import SimulatedWorker
from hypothesis import given
from hypothesis import strategies as st


@given(
    seconds=st.lists(st.sampled_from([0.0, 1e-3, 7e-3, 0.3]), min_size=2, max_size=30).filter(any),
    next_poll_s=st.lists(st.floats(0, 3), max_size=8),
    speed=st.sampled_from([0.3, 1.0, 4.0]),
    loaded=st.booleans(),
)
def test_stops_cost_nothing(
    seconds: list[float], next_poll_s: list[float], speed: float, loaded: bool
) -> None:
    spec = LoadSpec(random=RandomLoad(5, 0.05, 3)) if loaded else LoadSpec()
    costs = LoopModel(len(seconds), tuple(seconds)).costs()
    whole, stopped = (SimulatedWorker(LoadedProcessor(spec, 0, speed), costs) for _ in range(2))
    share = Spans.of(range(len(seconds)))
    whole.start(0.0, share)
    stopped.start(0.0, share)
    done = 0
    for when_s in sorted(next_poll_s):
        if when_s >= stopped.end_s or when_s < stopped.begin_s:
            continue
        now, count = stopped.next_poll(when_s)
        stopped.stop(count, 1)
        done += count
        if done == len(seconds):
            assert now == pytest.approx(whole.end_s)
            return
        stopped.start(now, share.part(done))
        assert stopped.end_s >= stopped.begin_s
    assert stopped.end_s == pytest.approx(whole.end_s)


def test_what_is_taken_away_ends_it_sooner() -> None:
    worker = SimulatedWorker(LoadedProcessor(LoadSpec(), 0), LoopModel(100, 0.01).costs())
    worker.start(0.0, Spans.of(range(50)))
    now, count = worker.next_poll(0.2)
    worker.stop(count, 1)
    worker.start(now, Spans.of(range(20, 40)))
    assert worker.end_s == pytest.approx(0.4)
