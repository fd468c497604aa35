"""What is known when a strategy is chosen (Zaki, Li, Parthasarathy, section 1.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field
from typing import Any

from dlbrt.core.model.fluid import RemainingWork
from dlbrt.core.model.forecast import LoadForecast
from dlbrt.core.model.groups import Groups
from dlbrt.core.model.network import Network
from dlbrt.core.model.recurrence import Scenario
from dlbrt.core.model.redistribute import ModelOptions
from dlbrt.core.model.schemes import Scheme
from dlbrt.core.model.speed import Processor
from dlbrt.core.model.work import IterationCosts, Runs, count
from dlbrt.records import dataclass

__all__ = ["ModelInputs"]


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """What is known at a synchronization; tuples are indexed by rank.

    ``elapsed_s`` is how long was computed since the loop was shared. ``held`` are the iterations left,
    ``work`` what they cost, ``speeds`` (base work a second, above 0) those of the window, which the decision
    goes by, ``history`` what the future is drawn from. ``network`` is among all ranks, ``within[g]`` among
    those of group g, where it differs. ``iteration_bytes`` moves with an iteration; ``without_rows``: none of them
    has data of its own. ``remaining`` is what is left, as one heap. ValueError unless all are of the same ranks.
    """

    elapsed_s: float
    work: IterationCosts
    held: tuple[Runs, ...]
    speeds: tuple[float, ...]
    history: LoadForecast
    groups: Groups
    network: Network
    within: tuple[Network, ...] = ()
    iteration_bytes: float = 0.0
    without_rows: bool = False
    rules: ModelOptions = field(default_factory=ModelOptions)
    remaining: RemainingWork = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        units = sum(map(self.work.units, self.held))
        object.__setattr__(
            self, "remaining", RemainingWork(sum(map(count, self.held)), units * self.work.unit_s)
        )
        ranks, members = len(self.held), sorted(rank for group in self.groups for rank in group)
        if not (len(self.speeds) == len(self.history.speeds) == ranks and members == list(range(ranks))):
            raise ValueError(
                f"expected speeds, a history and groups of {ranks} ranks, found groups of {members}"
            )
        if len(self.within) not in (0, len(self.groups)):
            raise ValueError(
                f"expected a network for each of {len(self.groups)} groups, found {len(self.within)}"
            )

    def scenario(self, scheme: Scheme, processors: tuple[Processor, ...]) -> Scenario:
        """The model's game for a strategy on one path."""
        networks = self.within if scheme.local and self.within else (self.network,)
        return Scenario(self.work, processors, networks, self.iteration_bytes, self.rules)

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
            "bare": self.without_rows,
            "rules": asdict(self.rules) | {"averaging": self.rules.averaging.value},
        }
