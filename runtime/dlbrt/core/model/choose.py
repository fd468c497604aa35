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
from typing import Any

from dlbrt.core.model.known import ModelInputs
from dlbrt.core.model.recurrence import evaluate, evaluate_static
from dlbrt.core.model.schemes import NONE, SCHEMES, Scheme
from dlbrt.core.model.screening import Estimated, LoadPath, screen
from dlbrt.records import dataclass

__all__ = ["ModelInputs", "StrategyChoice", "choose"]

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
