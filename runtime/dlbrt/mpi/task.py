"""One run of one loop, as the program asks for it at rank 0; and by what strategy it is to be shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.core.agent import PeerStrategy
from dlbrt.core.registry import AUTO, STATIC, pooled
from dlbrt.dist.space import Space
from dlbrt.mpi.conductor import Conductor
from dlbrt.mpi.kernels import named
from dlbrt.mpi.ledger import Notes
from dlbrt.mpi.loop import Loop
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.partition.cost_spec import CostSpec
    from dlbrt.mpi.stay import Stay

__all__ = ["Balancing", "Kernel", "Task"]

Kernel = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Task:
    """A loop to be run, and by what means.

    ``costs`` is what the user says of its work. ``stay`` is the routine's that it is part of, if it is:
    arrays of that stay on the ranks.
    """

    conductor: Conductor
    kernel: Kernel
    space: Space
    arguments: Sequence[Any]
    costs: CostSpec
    stay: Stay | None

    @property
    def notes(self) -> Notes:
        """What earlier runs of the loop have left."""
        return self.conductor.ledger.notes(self.kernel)

    @property
    def named(self) -> dict[str, Any]:
        """The arguments by the names of the kernel's parameters."""
        return named(self.kernel, self.arguments)

    def bring_home(self, loop: Loop) -> None:
        """Have at rank 0 all of the routine's that the loop touches."""
        if self.stay is not None:
            self.stay.bring(loop, self.kernel, self.named, self.space)


@dataclass(frozen=True, slots=True)
class Balancing:
    """By what strategy: one that is ``forced``, else the one that a routine chose at an earlier run.

    ``weights`` are the ranks' relative speeds, empty: not known.
    """

    forced: str | None
    chosen: str | None
    weights: Sequence[float]

    @classmethod
    def of(cls, task: Task, loop: Loop, weights: Sequence[float]) -> Balancing:
        """As the loop says, else the options."""
        chosen = task.stay.strategy(task.notes.key) if task.stay is not None else None
        return cls(loop.strategy or task.conductor.options.strategy, chosen, weights)

    @property
    def asked(self) -> str:
        """What is asked for."""
        return self.forced or AUTO

    @property
    def begins(self) -> str:
        """What ranks that share the loop begin with: one, or ``auto``."""
        return self.forced or self.chosen or AUTO

    @property
    def pool(self) -> PeerStrategy | None:
        """It, if by that work is dealt from a pool at rank 0."""
        return pooled(self.begins)

    @property
    def fixed(self) -> bool:
        """Whether shares are never cut anew."""
        return self.forced == STATIC
