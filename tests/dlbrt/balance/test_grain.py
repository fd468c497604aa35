"""No thrashing at any grain, 0.1 us to 1 s an iteration, in virtual time: few synchronizations, little moved.

What is asserted follows from the rule: without load no rank is late enough to be interrupted; of a constant
difference of speeds the first redistribution leaves no more than rounding; a load that changes has no more
to be evened out than half the loop, and is answered less often than it changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dlbrt.balance.strategies import strategy
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome

GRAINS_S = [10.0**power for power in range(-7, 1)]
NAMES = ["GCDLB", "GDDLB", "LCDLB", "LDDLB"]


def runs(
    grain_s: float, machine: Machine, name: str, seconds: float = 4.0
) -> tuple[SimulationOutcome, SimulationOutcome, int]:
    """A loop of so many seconds a rank, 16 iterations at least: static, by the strategy, and n."""
    n = machine.ranks * max(16, round(seconds / grain_s))
    loop = LoopModel(n, grain_s)
    return simulate(machine, loop, strategy("none")), simulate(machine, loop, strategy(name)), n


@pytest.mark.parametrize("grain_s", GRAINS_S)
@pytest.mark.parametrize("name", NAMES)
def test_equal_ranks_move_nothing_and_lose_nothing(grain_s: float, name: str) -> None:
    static, dynamic, _ = runs(grain_s, Machine((1.0,) * 4, groups=((0, 1), (2, 3))), name)
    assert dynamic.synchronizations <= 1
    assert dynamic.moved == 0
    assert dynamic.makespan_s <= 1.01 * static.makespan_s


@pytest.mark.parametrize("grain_s", GRAINS_S)
@pytest.mark.parametrize("speeds", [(1.0, 0.25), (1.0, 0.9, 1.1, 1.0), (1.0, 1.0, 0.25, 1.0)])
def test_a_constant_difference_is_evened_out_at_once(grain_s: float, speeds: Sequence[float]) -> None:
    static, dynamic, n = runs(grain_s, Machine(tuple(speeds)), "GDDLB")
    assert dynamic.synchronizations <= 3
    assert dynamic.redistributions <= 2
    assert dynamic.moved <= 0.5 * n
    # To the ideal but for the wait of an iteration before interrupting, and one each at the slowest.
    ideal_s = n * grain_s / sum(speeds)
    assert dynamic.makespan_s <= 1.03 * ideal_s + grain_s * (1 + 2 / min(speeds))
    assert dynamic.makespan_s <= 1.02 * static.makespan_s


@pytest.mark.parametrize("grain_s", GRAINS_S)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_load_that_changes_costs_fewer_synchronizations_than_it_has_changes(
    grain_s: float, seed: int, ranks: int
) -> None:
    seconds = max(4.0, 16 * grain_s)
    load = LoadSpec(random=RandomLoad(3, seconds / 2, 100 * seed))
    static, dynamic, n = runs(grain_s, Machine((1.0,) * ranks, load=load), "GDDLB")
    changes = ranks * (static.makespan_s / (seconds / 2) + 1)
    assert dynamic.synchronizations <= 1 + changes / 2
    assert dynamic.moved <= n / 2
    assert dynamic.makespan_s <= 1.01 * static.makespan_s + 4 * grain_s  # an iteration under load 3
