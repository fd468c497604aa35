"""A rank's way through its share: what it holds when a run begins decides how slow an emulated one is."""

from __future__ import annotations

from math import inf

import pytest
from dlbrt.data.space import space_of
from dlbrt.data.spans import Spans
from dlbrt.emulation import Cliff, Load, LoadSpec
from dlbrt.mpi.team import SingleRank
from dlbrt.mpi.walk import Walk
from dlbrt.reductions.contributions import LoopContributions


@pytest.mark.parametrize(("held", "slower"), [(400, 1.0), (430, 8.0), (460, 15.0)])
def test_a_share_that_does_not_fit_is_worked_on_more_slowly(held: int, slower: float) -> None:
    load = Load(LoadSpec(speeds=(1.0, 1.0), cliffs=(None, Cliff(400, 15))), 1)
    walk = Walk(space_of(range(1000)), LoopContributions(), load)
    team = SingleRank(Spans.of(range(100, 100 + held)))
    walk.join(team)
    assert walk.team is team
    assert load.stretch(0.0, 1.0) == pytest.approx(slower)


def test_a_rank_without_work_holds_nothing() -> None:
    load = Load(LoadSpec(speeds=(1.0,), cliffs=(Cliff(400, 15),)), 0)
    walk = Walk(space_of(range(1000)), LoopContributions(), load)
    for held in (1000, 0):
        walk.join(SingleRank(Spans.of(range(held))))
    assert load.stretch(0.0, 1.0) == 1.0


@pytest.mark.parametrize("interrupted", [False, True])
def test_every_item_of_a_share_comes_once_in_chunks_as_well(interrupted: bool) -> None:
    walk = Walk(space_of(range(0, 400, 2)), LoopContributions(), Load(LoadSpec(), 0))
    walk.join(SingleRank(Spans.of(range(50, 150))))
    if interrupted:
        walk.trial_until = inf  # never, but chunks are as short as if it were near
    assert list(walk.iterations(each=False)) == list(range(100, 300, 2))
    assert walk.done == range(50, 150)
    assert not walk.team.work


@pytest.mark.parametrize(("then", "size"), [(range(200, 300), 200), (range(300, 400), 1)])
def test_iterations_of_another_place_go_one_by_one_at_first(then: range, size: int) -> None:
    """A rank with cheap iterations that was given dear ones did not answer for half a second."""
    walk = Walk(space_of(range(400)), LoopContributions(), Load(LoadSpec(), 0))
    walk.trial_until = inf
    walk.join(SingleRank(Spans.of(range(200))))
    assert list(walk.iterations(each=False)) == list(range(200))
    walk.poll_interval.size = 200
    walk.join(SingleRank(Spans.of(then)))
    assert next(walk.iterations(each=False)) == then.start
    assert walk.poll_interval.size == size
