"""The size K of groups, as the model tunes it for the local strategies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dlbrt.mpi.root.program_history import LoopHistory
from dlbrt.predict.choose import StrategyChoice
from dlbrt.predict.effective_speed import LoadForecast
from dlbrt.predict.group_size import sizes, tuned
from dlbrt.predict.groups import blocks
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.network import Network, Pattern
from dlbrt.predict.work import IterationCosts, Runs

RANKS, LEFT = 16, 500

#: An exchange among P ranks takes P squared times 10 ms.
DEAR = Network(1e-3, 1e8, *(Pattern((0.0, 0.0, 0.01)),) * 3)


def known(slow: frozenset[int], network: Network, size: int) -> ModelInputs:
    """All ranks hold the same, and the slow ones are three times as slow; the load stays."""
    held: tuple[Runs, ...] = tuple(((rank * LEFT, (rank + 1) * LEFT),) for rank in range(RANKS))
    speeds = tuple(1 / 3 if rank in slow else 1.0 for rank in range(RANKS))
    history = LoadForecast(tuple((speed, speed) for speed in speeds), 1.0)
    return ModelInputs(1.0, IterationCosts(0.01), held, speeds, history, blocks(RANKS, size), network)


EVERY_OTHER, UPPER_HALF = frozenset(range(0, RANKS, 2)), frozenset(range(RANKS // 2, RANKS))


def test_small_groups_where_each_has_its_slow_rank_and_exchanges_are_dear() -> None:
    assert tuned(known(EVERY_OTHER, DEAR, 8)) == 2
    assert tuned(known(EVERY_OTHER, DEAR, 2)) is None


def test_large_groups_where_slow_ranks_are_neighbours() -> None:
    three = frozenset({0, 1, 2})
    assert tuned(known(three, Network.default(), 2)) == 8
    assert tuned(known(three, Network.default(), 8)) is None


def test_no_other_size_where_none_is_better() -> None:
    assert tuned(known(frozenset(), Network.default(), 8)) is None
    assert tuned(known(UPPER_HALF, Network.default(), 8)) is None  # one group has all slow ranks in any case


@pytest.mark.parametrize(
    ("ranks", "unit", "found"),
    [
        (16, 1, (8, 4, 2)),
        (16, 4, (8, 4)),
        (10, 1, (5, 3, 2)),
        (4, 1, (2,)),
        (2, 1, ()),
        (3, 1, (2,)),
        (12, 6, (6,)),
    ],
)
def test_sizes_are_halves_of_halves(ranks: int, unit: int, found: tuple[int, ...]) -> None:
    assert sizes(ranks, unit) == found


def test_the_model_is_asked_when_runs_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ModelInputs] = []
    monkeypatch.setattr("dlbrt.predict.group_size.tuned", lambda known, unit: asked.append(known) or 4)
    history = LoopHistory("1", "p.py:3", RANKS)
    assert history.group_size(1) is None
    inputs = known(EVERY_OTHER, DEAR, 8)
    for runs in range(1, 17):
        record = history.record
        record.runs, record.elapsed_s = runs, 10.0
        record.choice = StrategyChoice("LDDLB", (), 1, replace(inputs))
        assert history.group_size(1) == 4
    assert len(asked) == 5


def test_the_model_is_not_asked_for_short_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlbrt.predict.group_size.tuned", lambda known, unit: pytest.fail("asked"))
    history = LoopHistory("1", "p.py:3", RANKS)
    history.record.runs, history.record.elapsed_s = 3, 1.5
    history.record.choice = StrategyChoice("LDDLB", (), 1, known(EVERY_OTHER, DEAR, 8))
    assert history.group_size(1) is None
