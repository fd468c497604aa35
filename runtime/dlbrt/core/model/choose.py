"""The choice of a strategy at the first synchronization, and a record that explains it.

Zaki, Li, Parthasarathy, section 1.3.3: until the first synchronization no strategy is chosen. There at least
1/P of the work is done, and the loads and speeds seen so far, the time per iteration, the bytes that move
with it and the network go into the model; it says what each strategy takes, and the cheapest is taken.

The model is played on some paths that the load may take (`forecast`), and the times are averaged: the same
paths for every strategy, so that what they differ by is the strategy. From the same arguments comes the same
choice, on any machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from dlbrt.core.model.forecast import History
from dlbrt.core.model.groups import Groups
from dlbrt.core.model.network import Network
from dlbrt.core.model.recurrence import Game, play, play_static
from dlbrt.core.model.redistribute import Rules
from dlbrt.core.model.schemes import NONE, SCHEMES, Scheme
from dlbrt.core.model.speed import Processor
from dlbrt.core.model.work import Runs, Work, count

__all__ = ["Choice", "Known", "choose"]

#: Ranks times paths that are played: eight paths for 4 ranks, two for 16, in a few milliseconds.
EFFORT = 32

#: Not to balance has to be better than the others by this part: it gives up what balancing gains where the
#: load changes in a way that was not foreseen, and balancing costs little where nothing is to be gained.
PRUDENCE = 0.02

#: What is left must be predicted to take less time by this part than by the first strategy, or that is taken:
#: the error of a difference between two predictions is as large, and of one whose groups never meet again it
#: is costly. Over the paper's cases 0.03 to 0.08 do equally well (`tests/bench/strategies_virtual.py`).
LEAST_LEAD = 0.05

#: What drawn paths begin with; any number will do, if it is always the same.
SEED = 20


@dataclass(frozen=True, slots=True)
class Known:
    """What is known at a synchronization; tuples are indexed by rank.

    ``elapsed_s`` is how long was computed since the loop was shared. ``held`` are the iterations left,
    ``work`` what they cost, ``speeds`` (base work a second, above 0) those of the window, which the decision
    goes by, ``history`` what the future is drawn from. ``network`` is among all ranks, ``within[g]`` among
    those of group g, where it differs. ``iteration_bytes`` moves with an iteration. ValueError unless all
    are of the same ranks.
    """

    elapsed_s: float
    work: Work
    held: tuple[Runs, ...]
    speeds: tuple[float, ...]
    history: History
    groups: Groups
    network: Network
    within: tuple[Network, ...] = ()
    iteration_bytes: float = 0.0
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        ranks, members = len(self.held), sorted(rank for group in self.groups for rank in group)
        if not (len(self.speeds) == len(self.history.speeds) == ranks and members == list(range(ranks))):
            raise ValueError(
                f"expected speeds, a history and groups of {ranks} ranks, found groups of {members}"
            )
        if len(self.within) not in (0, len(self.groups)):
            raise ValueError(
                f"expected a network for each of {len(self.groups)} groups, found {len(self.within)}"
            )

    def game(self, scheme: Scheme, processors: tuple[Processor, ...]) -> Game:
        """The model's game for a strategy on one path."""
        networks = self.within if scheme.local and self.within else (self.network,)
        return Game(self.work, processors, networks, self.iteration_bytes, self.rules)

    def groups_of(self, scheme: Scheme) -> Sequence[Sequence[int]]:
        """Those of a local strategy; all ranks for a global one."""
        return self.groups if scheme.local else (range(len(self.held)),)

    def inputs(self) -> dict[str, Any]:
        """What the choice rests on, as JSON values."""
        return {
            "elapsed_s": self.elapsed_s,
            "iterations_left": [count(runs) for runs in self.held],
            "work_left": [self.work.units(runs) * self.work.unit_s for runs in self.held],
            "speeds": list(self.speeds),
            "history": asdict(self.history),
            "groups": [list(group) for group in self.groups],
            "network": asdict(self.network),
            "within": [asdict(network) for network in self.within],
            "iteration_bytes": self.iteration_bytes,
            "rules": asdict(self.rules) | {"averaging": self.rules.averaging.value},
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """The strategy chosen, and why.

    ``predicted_s`` are, for each strategy, the seconds from when ranks began to compute to the loop's end,
    the mean over ``paths`` paths of the load.
    """

    strategy: str
    predicted_s: tuple[tuple[str, float], ...]
    paths: int
    known: Known

    def record(self) -> dict[str, Any]:
        """As JSON values: ``choice``, ``predicted_s`` by strategy, ``paths`` and ``inputs``."""
        return {
            "choice": self.strategy,
            "predicted_s": dict(self.predicted_s),
            "paths": self.paths,
            "inputs": self.known.inputs(),
        }

    def to_json(self) -> str:
        """The record as one JSON object."""
        return json.dumps(self.record())


def choose(known: Known, schemes: Sequence[Scheme] = (*SCHEMES, NONE), paths: int | None = None) -> Choice:
    """The scheme with the least predicted time if it leads the first by `LEAST_LEAD`, else the first.

    Not to balance counts as dearer than predicted, by `PRUDENCE`.
    ``paths`` is how many paths the load may take, the first one that of means, the others drawn; by default
    as many as `EFFORT` allows, and one at least.
    """
    random = Random(SEED)
    drawn = max(1, EFFORT // len(known.held) if paths is None else paths) - 1
    ahead = [known.history.mean_path(), *(known.history.drawn_path(random) for _ in range(drawn))]
    predicted_s = []
    for scheme in schemes:
        total_s = 0.0
        for processors in ahead:
            total_s += _ahead_s(known, scheme, processors)
        predicted_s.append((scheme.name, known.elapsed_s + total_s / len(ahead)))
    return Choice(_best(known, predicted_s), tuple(predicted_s), len(ahead), known)


def _best(known: Known, predicted_s: Sequence[tuple[str, float]]) -> str:
    """By what is left to come, since what has been is the same for all."""
    weighed = {
        name: (seconds - known.elapsed_s) * (1 + PRUDENCE if name == NONE.name else 1)
        for name, seconds in predicted_s
    }
    first, best = next(iter(weighed)), min(weighed, key=weighed.__getitem__)
    return best if weighed[best] < (1 - LEAST_LEAD) * weighed[first] else first


def _ahead_s(known: Known, scheme: Scheme, processors: tuple[Processor, ...]) -> float:
    """What a strategy still takes from now on."""
    game = known.game(scheme, processors)
    if scheme == NONE:
        return play_static(game, known.held).total_s
    return play(game, scheme, known.held, known.groups_of(scheme), speeds=known.speeds).total_s
