"""One run of one loop, as the program asks for it at rank 0; and by what strategy it is to be shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.core.agent import PeerStrategy
from dlbrt.core.registry import AUTO, STATIC, pooled
from dlbrt.dist.space import Space
from dlbrt.mpi.conductor import RootRuntime
from dlbrt.mpi.kernels import named
from dlbrt.mpi.ledger import LoopHistory
from dlbrt.mpi.loop import LoopContext
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.core.partition.cost_spec import CostSpec
    from dlbrt.mpi.stay import RoutineState

__all__ = ["Kernel", "StrategySelection", "Task"]

Kernel = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Task:
    """A loop to be run, and by what means.

    ``costs`` is what the user says of its work. ``routine_state`` is the routine's that it is part of, if it is:
    arrays of that stay on the ranks.
    """

    root_runtime: RootRuntime
    kernel: Kernel
    space: Space
    arguments: Sequence[Any]
    costs: CostSpec
    routine_state: RoutineState | None

    @property
    def loop_history(self) -> LoopHistory:
        """What earlier runs of the loop have left."""
        return self.root_runtime.program_history.loop_history(self.kernel)

    @property
    def named(self) -> dict[str, Any]:
        """The arguments by the names of the kernel's parameters."""
        return named(self.kernel, self.arguments)

    def fetch_to_root(self, loop: LoopContext) -> None:
        """Have at rank 0 all of the routine's that the loop touches."""
        if self.routine_state is not None:
            self.routine_state.fetch_for_root(loop, self.kernel, self.named, self.space)


@dataclass(frozen=True, slots=True)
class StrategySelection:
    """By what strategy: one that is ``forced``, else the one that a routine chose at an earlier run.

    ``weights`` are the ranks' relative speeds, empty: not known.
    """

    forced: str | None
    chosen: str | None
    weights: Sequence[float]

    @classmethod
    def of(cls, task: Task, loop: LoopContext, weights: Sequence[float]) -> StrategySelection:
        """As the loop says, else the options."""
        chosen = (
            task.routine_state.strategy(task.loop_history.key) if task.routine_state is not None else None
        )
        return cls(loop.strategy or task.root_runtime.options.strategy, chosen, weights)

    @property
    def requested(self) -> str:
        """What is asked for."""
        return self.forced or AUTO

    @property
    def initial_strategy(self) -> str:
        """What ranks that share the loop begin with: one, or ``auto``."""
        return self.forced or self.chosen or AUTO

    @property
    def pool(self) -> PeerStrategy | None:
        """It, if by that work is dealt from a pool at rank 0."""
        return pooled(self.initial_strategy)

    @property
    def fixed(self) -> bool:
        """Whether shares are never cut anew."""
        return self.forced == STATIC
