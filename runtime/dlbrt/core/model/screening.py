"""Many strategies within a few milliseconds: which of them are worth playing when one is to be chosen.

The paper's strategies are always played. Others are many, and mostly near to one another, so they are
screened.

1. None takes less than the floor, when all is done if it may be cut anywhere and moved at no cost (`fluid`).
If even that does not lead by what a choice needs, no candidate can, and none is played. This is exact. 2.
Else each is estimated without events. Of those that a loop under way can go over to (`Candidate`), the ones
whose estimates lead are played on all paths, the best first, `PLAYS` of them.

What was not played keeps its estimate, and is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dlbrt.core.model.fluid import lower_bound_s
from dlbrt.core.model.known import ModelInputs
from dlbrt.core.model.outlook import EstimateInputs
from dlbrt.core.model.speed import Processor
from dlbrt.records import dataclass

__all__ = ["Candidate", "Estimated", "LoadPath", "ScreeningResult", "screen"]

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
    known: ModelInputs,
    paths: Sequence[LoadPath],
    others: Sequence[Estimated],
    most_s: float,
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
