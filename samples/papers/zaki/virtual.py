"""The paper's 28 cases in virtual time: the policy core of the runtime under the driver of `dlbrt.sim`.

On the paper's Ethernet as `network.ethernet` has it, under its discrete random load of 0..5 (section 1.3.1).
The same loads meet all strategies; different seeds share no rank's draws. Beside each simulated time stands
that of the paper's recurrences with all loads known (1.3.1 to 1.3.5), and what was predicted at the first
synchronization.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.strategies import UNCHOSEN, strategy
from dlbrt.data.work_table import UNIFORM, WorkTable
from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.parameters import Parameters
from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.recurrence import Scenario, evaluate
from dlbrt.predict.schemes import scheme
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine

from papers.zaki.cases import MOST_LOAD, Case
from papers.zaki.network import ethernet
from papers.zaki.speed import under

__all__ = ["NONE", "STRATEGIES", "Played", "loop_of", "machine_of", "play"]

#: Of strategies that take the same time an earlier one is named.
STRATEGIES = ("GDDLB", "GCDLB", "LDDLB", "LCDLB")
NONE, AUTO = "none", "auto"


@dataclass(frozen=True, slots=True)
class Played:
    """A case under the loads of one seed, in seconds.

    ``simulated`` has each strategy, none and auto; ``computed`` the recurrences with all loads known;
    ``predicted`` what was said at the first synchronization, empty where nothing was; ``committed`` is what
    auto went on with.
    """

    simulated: dict[str, float]
    computed: dict[str, float]
    predicted: dict[str, float]
    committed: str


def loop_of(case: Case) -> LoopModel:
    """The loop after the fold, and its work where iterations differ."""
    prefix = case.work.prefix
    if prefix is None:
        return LoopModel(case.size, case.work.unit_s, iteration_bytes=case.iteration_bytes)
    seconds = tuple((after - before) * case.work.unit_s for before, after in pairwise(prefix))
    work_table = WorkTable(tuple(range(case.size + 1)), tuple(prefix)) if prefix else UNIFORM
    return LoopModel(case.size, seconds, work_table=work_table, iteration_bytes=case.iteration_bytes)


def machine_of(case: Case, duration_s: float, seed: int, most: int = MOST_LOAD) -> Machine:
    """The ranks under load, in the paper's two groups."""
    load = LoadSpec(random=RandomLoad(most, duration_s, seed * 1000)) if most else LoadSpec()
    return Machine((1.0,) * case.ranks, ethernet(), load, case.groups(scheme("LDDLB")))


def play(case: Case, duration_s: float, seed: int) -> Played:
    """Every strategy, none and auto under the loads of one seed."""
    machine, loop = machine_of(case, duration_s, seed), loop_of(case)
    network = machine.network
    parameters = replace(Parameters(), byte_s=1 / network.bandwidth)
    seconds = {
        name: simulate(machine, loop, strategy(name), parameters, traced=False).makespan_s
        for name in (*STRATEGIES, NONE)
    }
    chooser = StrategyChooser(network, machine.groups)
    auto = simulate(machine, loop, strategy(UNCHOSEN), parameters, chooser, traced=False)
    seconds[AUTO] = auto.makespan_s
    predicted = dict(chooser.choice.predicted_s) if chooser.choice is not None else {}
    known = {name: predicted[name] for name in STRATEGIES if name in predicted}
    return Played(seconds, _computed(case, machine, duration_s, seconds[NONE]), known, auto.strategy)


def synchronizations_without_load(case: Case, name: str) -> tuple[int, int]:
    """How many there are if nothing else runs on the machines (eta): by the recurrences, and simulated."""
    machine, loop = machine_of(case, 1.0, 0, most=0), loop_of(case)
    parameters = replace(Parameters(), byte_s=1 / machine.network.bandwidth)
    game = Scenario(
        case.work, (Processor.steady(1.0),) * case.ranks, (machine.network,), case.iteration_bytes
    )
    found = evaluate(game, scheme(name), case.held(), case.groups(scheme(name)))
    simulated = simulate(machine, loop, strategy(name), parameters, traced=False)
    return max(group.synchronizations for group in found.groups), simulated.synchronizations


def _computed(case: Case, machine: Machine, duration_s: float, none_s: float) -> dict[str, float]:
    """By the recurrences, with all loads known."""
    middles = [(block + 0.5) * duration_s for block in range(int(2 * none_s / duration_s) + 10)]
    loads = [Load(machine.load, rank) for rank in range(case.ranks)]
    processors = tuple(under([load.level(middle) for middle in middles], duration_s) for load in loads)
    game = Scenario(case.work, processors, (machine.network,), case.iteration_bytes)
    held = case.held()
    return {
        name: evaluate(game, scheme(name), held, case.groups(scheme(name))).total_s for name in STRATEGIES
    }
