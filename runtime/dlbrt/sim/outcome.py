"""What came of a simulated run."""

from __future__ import annotations

from dlbrt.balance.actions import Action
from dlbrt.balance.events import Event
from dlbrt.data.spans import Spans
from dlbrt.observe.trace import Transferred
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class SimulationStep:
    """One event that a rank was told of, or what moving data took, and what its balancer asked for."""

    time_s: float
    rank: int
    event: Event | Transferred
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """A run to its end; tuples are indexed by rank, times in seconds.

    ``makespan_s`` is when the last rank knew that nothing is left. ``strategy`` is what it ended with.
    ``done`` are the units that each rank did, ``moved`` how many changed hands in how many
    ``redistributions``; ``synchronizations`` are those of all groups together. ``events`` are steps in
    virtual time and actions carried out, a message to many being one step; ``trace`` may not be asked for.
    """

    strategy: str
    makespan_s: float
    compute_s: tuple[float, ...]
    done: tuple[Spans, ...]
    synchronizations: int
    redistributions: int
    moved: int
    events: int = 0
    trace: tuple[SimulationStep, ...] = ()

    @property
    def idle_s(self) -> tuple[float, ...]:
        """What each rank did not compute of the time."""
        return tuple(self.makespan_s - seconds for seconds in self.compute_s)
