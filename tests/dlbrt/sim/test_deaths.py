"""Ranks that die in virtual time: each iteration is done once in the end, by ranks that live."""

from __future__ import annotations

from itertools import accumulate

import pytest
from dlbrt.data.spans import coverage_error
from dlbrt.predict.network import Network
from dlbrt.sim.compare import simulate_strategy, strategy_names
from dlbrt.sim.deaths import Death
from dlbrt.sim.machine import LoopModel, Machine, load_for

RANKS = 4
MACHINE = Machine((1.0, 0.5, 1.0, 2.0), groups=((0, 1), (2, 3)))
LOADED = Machine(
    (1.0,) * RANKS, load=load_for("random:max=5,duration=0.1,seed=3", RANKS), groups=((0, 1, 2, 3),)
)
TRIANGLE = LoopModel(200, tuple(0.0001 * i for i in range(200)), iteration_bytes=4096.0)
FOLDED = LoopModel(201, 0.01, folded=True, iteration_bytes=800.0)


@pytest.mark.parametrize("machine", [MACHINE, LOADED], ids=["other speeds", "loaded"])
@pytest.mark.parametrize("loop", [TRIANGLE, FOLDED], ids=["triangle", "folded"])
@pytest.mark.parametrize("name", strategy_names())
def test_each_iteration_is_done_once_by_a_rank_that_lives(
    name: str, loop: LoopModel, machine: Machine
) -> None:
    alone = simulate_strategy(machine, loop, name)
    when = [part * alone.makespan_s for part in (0.0, 0.3, 0.6, 0.99)]
    for deaths in (
        [Death(2, when[1])],
        [Death(1, when[2]), Death(3, when[2])],
        [Death(3, when[0]), Death(1, when[1]), Death(2, when[3])],
    ):
        found = simulate_strategy(machine, loop, name, deaths=deaths)
        assert coverage_error(loop.n, list(found.done)) is None
        assert not any(found.done[death.rank] for death in deaths)
        assert found.strategy == ("none" if name == "none" else "GDDLB")
        assert found == simulate_strategy(machine, loop, name, deaths=deaths[::-1])


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_what_the_others_have_done_is_done_again(part: float) -> None:
    network = Network.default()
    machine, loop = Machine((1.0,) * RANKS, network), LoopModel(400, 0.01)
    found = simulate_strategy(machine, loop, "none", deaths=[Death(1, part)])
    each = round(part / 0.01)
    assert found.lost in (3 * each, 3 * each + 1, 3 * each + 2, 3 * each + 3)
    left = 400 - len(found.done[0]) + len(found.done[2])  # all but what rank 0 had done before
    assert left == pytest.approx(400 - each, abs=3)
    assert found.makespan_s == pytest.approx(part + (400 - each) / 3 * 0.01, abs=0.05)
    assert sum(found.compute_s) == pytest.approx((400 + found.lost) * 0.01)


def test_rows_go_to_the_living_one_after_the_other() -> None:
    machine = Machine((1.0,) * RANKS)
    makespans = [
        simulate_strategy(machine, LoopModel(400, 0.01, iteration_bytes=size), "none", deaths=[Death(1, 0.5)])
        for size in (0.0, 1e6)
    ]
    rows = 400 - 52  # all but what rank 0 has done
    moved_s = list(accumulate(machine.network.message_s(rows / 3 * 1e6) for _ in range(2)))[-1]
    assert makespans[1].makespan_s - makespans[0].makespan_s == pytest.approx(moved_s, rel=0.05)


def test_a_death_after_the_end_has_no_effect_and_that_of_rank_0_is_none() -> None:
    alone = simulate_strategy(MACHINE, TRIANGLE, "GDDLB")
    late = simulate_strategy(MACHINE, TRIANGLE, "GDDLB", deaths=[Death(1, alone.makespan_s * 1.01)])
    assert (late.makespan_s, late.done, late.lost) == (alone.makespan_s, alone.done, 0)
    with pytest.raises(ValueError, match="expected a rank above 0"):
        Death(0, 1.0)


def test_rank_0_ends_alone_where_all_others_die_as_it_has_done_all() -> None:
    loop = LoopModel(100, 0.01)
    machine = Machine((1.0, 1e-6))
    found = simulate_strategy(machine, loop, "steal", deaths=[Death(1, 10.0)])
    assert [len(done) for done in found.done] == [100, 0]
