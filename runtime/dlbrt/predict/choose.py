"""The choice of a strategy at the first synchronization, and a record that explains it.

Zaki, Li, Parthasarathy, section 1.3.3: until the first synchronization no strategy is chosen. There at least
1/P of the work is done, and the loads and speeds seen so far, the time per iteration, the bytes that move
with it and the network go into the model; it says what each strategy takes, and the cheapest is taken.

The model is played on some paths that the load may take (`forecast`), and the times are averaged: the same
paths for every strategy, so that what they differ by is the strategy. From the same arguments comes the same
choice, on any machine.

The paper's strategies are always played, others where they may win (`screening`).
"""

from __future__ import annotations

import json
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

# ------------------------------------------------------------------------------
# Many strategies within a few milliseconds: which of them are worth playing when one is to be chosen.
#
# The paper's strategies are always played. Others are many, and mostly near to one another, so they are
# screened.
#
# 1. None takes less than the floor, when all is done if it may be cut anywhere and moved at no cost (`fluid`).
# If even that does not lead by what a choice needs, no candidate can, and none is played. This is exact. 2.
# Else each is estimated without events. Of those that a loop under way can go over to (`Candidate`), the ones
# whose estimates lead are played on all paths, the best first, `PLAYS` of them.
#
# What was not played keeps its estimate, and is named.

#: Candidates that are played: of 16 ranks' paths one costs about as much as the paper's four strategies.
PLAYS = 1

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
    """One that a loop under way can go over to, as it begins with what ranks hold: it is played as well."""

    def simulate_s(self, known: ModelInputs, processors: Sequence[Processor]) -> float:
        """Seconds from now until all is done, on this path."""


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """Seconds from now on by name, the mean over paths; ``estimated`` are those that were not played."""

    left_s: tuple[tuple[str, float], ...]
    lower_bound_s: float
    estimated: tuple[str, ...]


def screen(
    known: ModelInputs, paths: Sequence[LoadPath], others: Sequence[Estimated], most_s: float
) -> ScreeningResult:
    """All others; of them candidates that may take less than ``most_s`` are played."""
    work_s = known.remaining.work_s
    floor = sum(lower_bound_s(path, work_s) for path in paths) / len(paths)
    estimate_inputs = EstimateInputs.of(known, floor, tuple(paths))
    left_s = {each.name: max(floor, each.estimate_s(known, estimate_inputs)) for each in others}
    able = [each for each in others if isinstance(each, Candidate) and left_s[each.name] < most_s]
    played = sorted(able, key=lambda each: left_s[each.name])[:PLAYS] if floor < most_s else []
    for each in played:
        left_s[each.name] = sum(each.simulate_s(known, path) for path in paths) / len(paths)
    names = {each.name for each in played}
    return ScreeningResult(tuple(left_s.items()), floor, tuple(name for name in left_s if name not in names))


# ------------------------------------------------------------------------------

#: Ranks times paths that are played: eight paths for 4 ranks, two for 16, in a few milliseconds.
EFFORT = 32

#: Not to balance has to be better than the others by this part: it gives up what balancing gains where the
#: load changes in a way that was not foreseen, and balancing costs little where nothing is to be gained.
PRUDENCE = 0.02

#: What is left must be predicted to take less time by this part than by the first strategy, or that is taken:
#: the error of a difference between two predictions is as large, and of one whose groups never meet again it
#: is costly. Over the paper's cases 0.03 to 0.08 do equally well (`tests/bench/strategies_virtual.py`).
MIN_LEAD = 0.05

#: What drawn paths begin with; any number will do, if it is always the same.
SEED = 20


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """The strategy chosen, and why.

    ``predicted_s`` are, for each strategy, the seconds from when ranks began to compute to the loop's end,
    the mean over ``paths`` paths of the load; for those ``estimated`` a closed form of it. ``lower_bound_s`` is
    what work would take that may be cut anywhere and moved at no cost, None where nothing was screened.
    """

    strategy: str
    predicted_s: tuple[tuple[str, float], ...]
    paths: int
    known: ModelInputs
    estimated: tuple[str, ...] = ()
    lower_bound_s: float | None = None

    def record(self) -> dict[str, Any]:
        """As JSON values: ``choice``, ``predicted_s`` by strategy, ``paths`` and ``inputs``.

        Where strategies were screened, also the ``lower_bound_s`` and which are ``estimated`` alone.
        """
        screened = (
            {}
            if self.lower_bound_s is None
            else {"lower_bound_s": self.lower_bound_s, "estimated": list(self.estimated)}
        )
        return {
            "choice": self.strategy,
            "predicted_s": dict(self.predicted_s),
            **screened,
            "paths": self.paths,
            "inputs": self.known.inputs(),
        }

    def to_json(self) -> str:
        """The record as one JSON object."""
        return json.dumps(self.record())


def choose(
    known: ModelInputs,
    schemes: Sequence[Scheme] = (*SCHEMES, NONE),
    paths: int | None = None,
    *,
    others: Sequence[Estimated] = (),
) -> StrategyChoice:
    """The strategy with the least predicted time if it leads the first scheme by `MIN_LEAD`, else the
    first.

    Not to balance counts as dearer than predicted, by `PRUDENCE`.
    ``paths`` is how many paths the load may take, the first one that of means, the others drawn; by default
    as many as `EFFORT` allows, and one at least. ``others`` are predicted too; of them those that
    are `Candidate` may be chosen.
    """
    random = Random(SEED)
    drawn = max(1, EFFORT // len(known.held) if paths is None else paths) - 1
    ahead = [known.history.mean_path(), *(known.history.drawn_path(random) for _ in range(drawn))]
    left_s = {scheme.name: _ahead_s(known, scheme, ahead) for scheme in schemes}
    if not others:
        return StrategyChoice(_best(left_s), _from_start(known, left_s), len(ahead), known)
    most_s = min(*_weighed(left_s).values(), (1 - MIN_LEAD) * left_s[schemes[0].name])
    found = screen(known, ahead, others, most_s)
    best = _best(left_s | {name: s for name, s in found.left_s if name not in found.estimated})
    left_s |= dict(found.left_s)
    predicted_s, lower_bound_s = _from_start(known, left_s), known.elapsed_s + found.lower_bound_s
    return StrategyChoice(best, predicted_s, len(ahead), known, found.estimated, lower_bound_s)


def _from_start(known: ModelInputs, left_s: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Predictions from when ranks began to compute."""
    return tuple((name, known.elapsed_s + seconds) for name, seconds in left_s.items())


def _best(left_s: Mapping[str, float]) -> str:
    """By what is left to come, since what has been is the same for all."""
    weighed = _weighed(left_s)
    first, best = next(iter(weighed)), min(weighed, key=weighed.__getitem__)
    return best if weighed[best] < (1 - MIN_LEAD) * weighed[first] else first


def _weighed(left_s: Mapping[str, float]) -> dict[str, float]:
    return {name: seconds * (1 + PRUDENCE if name == NONE.name else 1) for name, seconds in left_s.items()}


def _ahead_s(known: ModelInputs, scheme: Scheme, paths: Sequence[LoadPath]) -> float:
    """What a strategy still takes from now on, the mean over paths."""
    total_s = 0.0
    for processors in paths:
        scenario = known.scenario(scheme, processors)
        if scheme == NONE:
            total_s += evaluate_static(scenario, known.held).total_s
        else:
            total_s += evaluate(
                scenario, scheme, known.held, known.groups_of(scheme), speeds=known.speeds
            ).total_s
    return total_s / len(paths)


# ------------------------------------------------------------------------------
# All strategies that the model knows beyond the paper's, in the contract's order.

OTHERS: tuple[Estimated, ...] = (
    DiffusionModel(),
    *(SelfSchedulingModel(name) for name in RULES),
    StealingModel(),
)
