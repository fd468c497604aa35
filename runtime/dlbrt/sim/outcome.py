"""The outcome of a simulated run."""

from __future__ import annotations

from dlbrt.balance.actions import Action
from dlbrt.balance.events import Event
from dlbrt.data.spans import Spans
from dlbrt.observe.trace import Transferred
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class SimulationStep:
    """One event of a rank, or the time that moving data took, and the actions of its agent."""

    time_s: float
    rank: int
    event: Event | Transferred
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """A run to its end; tuples are indexed by rank, times in seconds.

    ``makespan_s`` is when the last rank knew that nothing is left; ``strategy`` is the last one in force.
    ``done`` are the units that each rank did, ``moved`` is how many changed ranks in all ``redistributions``;
    ``synchronizations`` are those of all groups together. ``events`` counts steps in virtual time and actions
    carried out, a message to many being one step; ``trace`` is empty unless the run was traced. Where ranks
    died (`dlbrt.sim.deaths`), ``done`` are positions, and ``lost`` counts those that were done in vain.
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
    lost: int = 0
