"""The choice of a strategy at the first synchronization, and a record that explains it.

Zaki, Li, Parthasarathy, section 1.3.3: until the first synchronization no strategy is chosen. Then at least
1/P of the work is done, and the loads and speeds seen so far, the time per iteration, the bytes that move
with it and the network go into the model, which predicts how long each strategy takes; the cheapest is
chosen.

The model is simulated on some paths that the load may take (`LoadForecast`), and the times are averaged: the
same paths for every strategy, so that differences come from the strategies alone. The same arguments give the
same choice, on any machine.

Commitment. Predictions err, and by how much depends on the strategy: `TAKES` has what was measured. The
strategy is chosen that is expected to take the least time, by its prediction and its error. Where others are
predicted to take as long, within `ERROR`, predictions do not decide, and the record names them.

Screening. A choice has to be made within a few milliseconds. The paper's strategies are always simulated. The
others are many, and mostly near to one another, so they are screened.

1. No strategy takes less than the lower bound, the time when all is done if work may be cut anywhere and
moved at no cost. If even this bound is no better than what others are expected to take, no candidate can be,
and none is simulated. This is exact.

2. Otherwise each is estimated without events. The strategies that a loop under way can go over to
(`Candidate`) are simulated on all paths, the best by their estimates first, `PLAYS` of them.

A strategy that was not simulated keeps its estimate, and is named as estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Protocol, runtime_checkable

from dlbrt.chunks.table import RULES
from dlbrt.predict.diffusing import DiffusionModel
from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.recurrence import evaluate, evaluate_static
from dlbrt.predict.schemes import NONE, SCHEMES, Scheme
from dlbrt.predict.self_scheduling import SelfSchedulingModel
from dlbrt.predict.stealing import StealingModel
from dlbrt.predict.work import lower_bound_s
from dlbrt.records import dataclass

#: How many candidates are simulated: stealing and diffusion. One costs less than the paper's four strategies.
PLAYS = 2

#: Ranks times paths that are simulated: eight paths for 4 ranks, two for 16, in a few milliseconds.
EFFORT = 32

#: How many times longer than predicted a strategy takes where it is chosen, against stealing, as measured by
#: `tests/bench/strategies_grid.py` over machines and loops of every kind. What is seen at the first
#: synchronization changes: stealing reacts whenever a rank runs out, synchronizations to what they have
#: measured, groups to their own members alone, no balancing to nothing. On average over the grid it is 1.13
#: for GDDLB, 1.08 for diffusion, 1.2 for the others and 1.8 for none. A strategy is chosen where its
#: prediction happens to be low, which adds to it, and ranks have to go over, which stealing spares them.
TAKES = {
    "steal": 1.0,
    "diffusion": 1.3,
    "GDDLB": 1.4,
    "LDDLB": 1.4,
    "GCDLB": 1.45,
    "LCDLB": 1.45,
    "none": 2.0,
}

#: Predictions that differ by less than this part do not tell which strategy is better: half of those of the
#: strategies in `TAKES` err by more on the same grid.
ERROR = 0.05

#: The seed of drawn paths; any number will do, if it is always the same.
SEED = 20

#: One way that the load may go on: a processor for each rank.
LoadPath = tuple[Processor, ...]


class Estimated(Protocol):
    """A strategy that is not one of the paper's, as the model sees it."""

    @property
    def name(self) -> str:
        """Its name in the contract."""

    def estimate_s(self, known: ModelInputs, estimate_inputs: EstimateInputs) -> float:
        """An estimate of the seconds from now until all is done, the mean over the paths."""


@runtime_checkable
class Candidate(Estimated, Protocol):
    """A strategy that a loop under way can go over to, from what ranks hold: it can be simulated as well."""

    def simulate_s(self, known: ModelInputs, processors: Sequence[Processor]) -> float:
        """Seconds from now until all is done, on this path."""


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """Seconds from now on by name, the mean over paths; ``estimated`` strategies were not simulated."""

    left_s: tuple[tuple[str, float], ...]
    lower_bound_s: float
    estimated: tuple[str, ...]


def screen(
    known: ModelInputs, paths: Sequence[LoadPath], others: Sequence[Estimated], most_s: float
) -> ScreeningResult:
    """Estimate all ``others``, and simulate candidates that may take less than ``most_s``."""
    work_s = known.remaining.work_s
    floor = sum(lower_bound_s(path, work_s) for path in paths) / len(paths)
    estimate_inputs = EstimateInputs.of(known, floor, tuple(paths))
    left_s = {each.name: max(floor, each.estimate_s(known, estimate_inputs)) for each in others}
    able = [each for each in others if isinstance(each, Candidate)]
    simulated = sorted(able, key=lambda each: left_s[each.name])[:PLAYS] if floor < most_s else []
    for each in simulated:
        left_s[each.name] = sum(each.simulate_s(known, path) for path in paths) / len(paths)
    names = {each.name for each in simulated}
    return ScreeningResult(tuple(left_s.items()), floor, tuple(name for name in left_s if name not in names))


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """The strategy chosen, and why.

    ``predicted_s`` are the seconds that each strategy takes from when ranks began to compute to the loop's
    end, the mean over ``paths`` paths of the load, or an estimate of it for those ``estimated``.
    ``lower_bound_s`` is the time if work could be cut anywhere and moved at no cost, None where nothing was
    screened. ``free`` are the others that are predicted to take as long, within the error of predictions.
    ``settled``: so little was left that ranks went on by the strategy in force, whatever was predicted.
    """

    strategy: str
    predicted_s: tuple[tuple[str, float], ...]
    paths: int
    known: ModelInputs
    estimated: tuple[str, ...] = ()
    lower_bound_s: float | None = None
    free: tuple[str, ...] = ()
    settled: bool = False

    def record(self) -> dict[str, Any]:
        """As JSON values: ``choice``, ``settled``, those as good ``within_error``, ``predicted_s`` and so on.

        Where strategies were screened, also the ``lower_bound_s`` and which are only ``estimated``.
        """
        screened: dict[str, Any] = {}
        if self.lower_bound_s is not None:
            screened = {"lower_bound_s": self.lower_bound_s, "estimated": list(self.estimated)}
        return {
            "choice": self.strategy,
            "settled": self.settled,
            "within_error": list(self.free),
            "predicted_s": dict(self.predicted_s),
            **screened,
            "paths": self.paths,
            "inputs": self.known.inputs(),
        }


def choose(
    known: ModelInputs,
    schemes: Sequence[Scheme] = (*SCHEMES, NONE),
    paths: int | None = None,
    *,
    others: Sequence[Estimated] = (),
    current: str | None = None,
    stays: bool = False,
) -> StrategyChoice:
    """The strategy that is expected to take the least time, by its prediction and its error (`TAKES`).

    ``paths`` is the number of paths of the load, the first with mean speeds, the others drawn; by default as
    many as `EFFORT` allows, and at least one. ``others`` are predicted too; of them each `Candidate` may be
    chosen, and the ``current`` strategy, in force now. Where it ``stays`` no other is chosen.
    """
    random = Random(SEED)
    drawn = max(1, EFFORT // len(known.held) if paths is None else paths) - 1
    ahead = [known.history.mean_path(), *(known.history.drawn_path(random) for _ in range(drawn))]
    left_s = {scheme.name: _ahead_s(known, scheme, ahead) for scheme in schemes}
    if not others:
        best, free = _best(left_s, current if stays else None)
        predicted_s = _from_start(known, left_s)
        return StrategyChoice(best, predicted_s, len(ahead), known, free=free, settled=stays)
    found = screen(known, ahead, others, min(_weighed(left_s).values()))
    able = {name: s for name, s in found.left_s if name not in found.estimated or name == current}
    best, free = _best(left_s | able, current if stays else None)
    left_s |= dict(found.left_s)
    predicted_s, lower_bound_s = _from_start(known, left_s), known.elapsed_s + found.lower_bound_s
    return StrategyChoice(best, predicted_s, len(ahead), known, found.estimated, lower_bound_s, free, stays)


def _from_start(known: ModelInputs, left_s: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Predictions from when ranks began to compute."""
    return tuple((name, known.elapsed_s + seconds) for name, seconds in left_s.items())


def _best(left_s: Mapping[str, float], settled: str | None) -> tuple[str, tuple[str, ...]]:
    """The best, by the time left, since the time elapsed is the same for all; and those predicted as good.

    A strategy that is ``settled`` on stands for the best.
    """
    weighed = _weighed(left_s)
    best = settled or min(weighed, key=weighed.__getitem__)
    near_s = (1 + ERROR) * left_s[best]
    return best, tuple(name for name, seconds in left_s.items() if seconds <= near_s and name != best)


def _weighed(left_s: Mapping[str, float]) -> dict[str, float]:
    return {name: seconds * TAKES.get(name, 1.0) for name, seconds in left_s.items()}


def _ahead_s(known: ModelInputs, scheme: Scheme, paths: Sequence[LoadPath]) -> float:
    """How long a strategy takes from now on, the mean over paths."""
    total_s = 0.0
    for processors in paths:
        scenario = known.scenario(scheme, processors)
        if scheme == NONE:
            total_s += evaluate_static(scenario, known.held).total_s
        else:
            groups = known.groups_of(scheme)
            total_s += evaluate(scenario, scheme, known.held, groups, speeds=known.speeds).total_s
    return total_s / len(paths)


#: All strategies that the model knows beyond the paper's, in the contract's order.
OTHERS: tuple[Estimated, ...] = (
    DiffusionModel(),
    *(SelfSchedulingModel(name) for name in RULES),
    StealingModel(),
)
