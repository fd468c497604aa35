"""One loop on one machine under many strategies: the makespan of each, and a lower bound for all.

Every strategy meets the same loads. Several loads are summarized by medians, since a makespan under random
load has a long tail. The efficiency is T(1) / T(P) over the sum of the speeds, as in Ciegis et al. (section
2). T(1) is on a processor of speed 1 without load, so what load takes away counts as lost. The optimum
(`clairvoyant_s`) knows the load, so the time above it is the strategy's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from dlbrt.balance.setup import begins_with
from dlbrt.balance.strategies import AUTO, names
from dlbrt.data.spans import coverage_error
from dlbrt.emulation import LoadSpec
from dlbrt.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.deaths import Death, simulate_deaths
from dlbrt.sim.driver import simulate
from dlbrt.sim.machine import LoopModel, Machine, reseeded
from dlbrt.sim.outcome import SimulationOutcome

_HALVINGS = 60


def clairvoyant_s(machine: Machine, loop: LoopModel) -> float:
    """The lower bound: the seconds in which all ranks together can do all iterations.

    All work over the whole effective speed: the clairvoyant optimum knows every load to come, divides work
    without limit, and pays for nothing.
    """
    processors, work_s = machine.processors(), loop.costs().of(loop.units.all)
    low = 0.0
    high = min(processor.when(work_s) for processor in processors)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = sum(processor.done(middle) for processor in processors) >= work_s
        low, high = (low, middle) if enough else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class SimulationCase:
    """A loop on a machine, under as many ``loads`` of the machine's kind, one or more; ranks may die."""

    machine: Machine
    loop: LoopModel
    loads: int = 1
    deaths: tuple[Death, ...] = ()

    def machines(self) -> tuple[Machine, ...]:
        """The machine under each of the loads."""
        machine = self.machine
        loads = (reseeded(machine.load, number, machine.ranks) for number in range(self.loads))
        return tuple(replace(machine, load=load) for load in loads)

    def speed(self) -> float:
        """The speed of all processors together, without load."""
        speeds = LoadSpec(speeds=self.machine.load.speeds)
        return sum(processor.done(1.0) for processor in replace(self.machine, load=speeds).processors())


@dataclass(frozen=True, slots=True)
class StrategyOutcomes:
    """One strategy in a case: for each load the outcome and the lower bound.

    ``speed`` is the speed of all processors together, ``work_s`` the time of all iterations on a processor of
    speed 1.
    """

    strategy: str
    outcomes: tuple[SimulationOutcome, ...]
    optima_s: tuple[float, ...]
    work_s: float
    speed: float

    @property
    def makespans_s(self) -> tuple[float, ...]:
        """When all iterations were done, under each load."""
        return tuple(outcome.makespan_s for outcome in self.outcomes)

    @property
    def makespan_s(self) -> float:
        """The median of the makespans."""
        return median(self.makespans_s)

    @property
    def optimum_s(self) -> float:
        """The median of the lower bounds."""
        return median(self.optima_s)

    @property
    def over_optimum(self) -> float | None:
        """The median of the makespans over their lower bounds; None if there is no work."""
        if not self.work_s:
            return None
        return median(taken / least for taken, least in zip(self.makespans_s, self.optima_s, strict=True))

    @property
    def efficiency(self) -> float | None:
        """The efficiency of the median makespan; None if there is no work."""
        return self.work_s / (self.makespan_s * self.speed) if self.work_s else None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The strategies in force at the end, each once."""
        return tuple(dict.fromkeys(outcome.strategy for outcome in self.outcomes))

    def median_of(self, figure: str) -> float:
        """The median of an attribute of the outcomes."""
        return float(median(getattr(outcome, figure) for outcome in self.outcomes))


def strategy_names() -> tuple[str, ...]:
    """All names that `simulate_strategy` takes: the strategies, and `AUTO`."""
    return (*names(), AUTO)


def simulate_strategy(
    machine: Machine,
    loop: LoopModel,
    name: str,
    parameters: Parameters | None = None,
    *,
    traced: bool = False,
    deaths: Sequence[Death] = (),
) -> SimulationOutcome:
    """A loop under the strategy ``name``, or under `AUTO`; KeyError for an unknown name.

    ``traced`` has no effect where there are ``deaths``. RuntimeError if an iteration was not done exactly
    once, which is a defect of the strategy.
    """
    parameters = parameters or Parameters(byte_s=1 / machine.network.bandwidth)
    initial_strategy, chooser = begins_with(name, machine.network, machine.groups)
    if deaths:
        outcome = simulate_deaths(machine, loop, initial_strategy, deaths, parameters, chooser)
    else:
        outcome = simulate(machine, loop, initial_strategy, parameters, chooser, traced=traced)
    if error := coverage_error(loop.n if deaths else len(loop.units), list(outcome.done)):
        raise RuntimeError(f"{name}: {error}")
    return outcome


def simulate_all(
    case: SimulationCase, wanted: Iterable[str], parameters: Parameters | None = None, *, traced: bool = False
) -> tuple[StrategyOutcomes, ...]:
    """Each of these strategies, the shortest median first, and by name if two are equal.

    Outcomes keep their traces, which are long, only if ``traced``.
    """
    machines = case.machines()
    optima_s = tuple(clairvoyant_s(machine, case.loop) for machine in machines)
    work_s, speed = case.loop.costs().of(case.loop.units.all), case.speed()

    def outcomes_of(name: str) -> StrategyOutcomes:
        runs = (
            simulate_strategy(each, case.loop, name, parameters, traced=traced, deaths=case.deaths)
            for each in machines
        )
        return StrategyOutcomes(name, tuple(runs), optima_s, work_s, speed)

    return tuple(sorted(map(outcomes_of, wanted), key=lambda each: (each.makespan_s, each.strategy)))
