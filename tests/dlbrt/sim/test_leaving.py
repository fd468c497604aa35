"""A slow rank leaves the last chunks of a counter to others: it costs little, and pays where ranks differ."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest
from dlbrt.balance.self_scheduling import CounterPeer
from dlbrt.balance.strategies import strategy
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.predict.network import Network
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine

RULES = ["SS", "mFSC", "GSS", "TSS", "FAC2"]


def makespan_s(name: str, speeds: Sequence[float], seconds: Sequence[float], load: LoadSpec) -> float:
    """Of a loop without rows."""
    machine, model = Machine(tuple(speeds), Network.default(), load), LoopModel(len(seconds), tuple(seconds))
    return simulate(machine, model, strategy(name), traced=False).makespan_s


def over_staying(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    speeds: Sequence[float],
    seconds: Sequence[float],
    load: LoadSpec | None = None,
) -> float:
    """The makespan over that without leaving."""
    leaving_s = makespan_s(name, speeds, seconds, load or LoadSpec())
    monkeypatch.setattr(CounterPeer, "_is_better_left", lambda *_: False)
    return leaving_s / makespan_s(name, speeds, seconds, load or LoadSpec())


@pytest.mark.parametrize("load", [LoadSpec(), LoadSpec(random=RandomLoad(5, 0.4, 1))], ids=["idle", "random"])
@pytest.mark.parametrize("ranks", [4, 16])
@pytest.mark.parametrize("name", RULES)
def test_among_equals_leaving_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, ranks: int, load: LoadSpec
) -> None:
    assert over_staying(monkeypatch, name, (1.0,) * ranks, [0.005] * 400 * ranks, load) <= 1.01


@pytest.mark.parametrize("ranks", [4, 16])
def test_slow_ranks_that_leave_large_chunks_to_others_end_the_loop_sooner(
    monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    speeds = (1.0,) * (ranks // 2) + (0.25,) * (ranks // 2)
    ratios = []
    for seed in range(5):
        seconds = np.random.default_rng(seed).exponential(0.005, 400 * ranks).tolist()
        with monkeypatch.context() as patch:
            ratios.append(over_staying(patch, "mFSC", speeds, seconds))
    assert max(ratios) <= 1.01
    assert fmean(ratios) < 0.99
