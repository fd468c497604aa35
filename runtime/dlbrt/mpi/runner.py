"""How a generated program runs loops: what ``dlb`` and ``routine`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.partition.cost_spec import CostSpec

if TYPE_CHECKING:
    from dlbrt.mpi.routines.routine_state import RoutineState


class LoopRunner:
    """Runs loops of a generated program, outside routines and in them."""

    #: Of the routine whose arrays stay on the ranks, if any.
    _routine_state: RoutineState | None = None

    def __init__(self, root_runtime: RootRuntime) -> None:
        self._root_runtime = root_runtime

    def run(self, kernel: Callable[..., None], iterable: Any, *arguments: Any, **costs: Any) -> Any:
        """Run a loop: ``kernel`` over ``iterable``; raises what its body raises.

        Returns the values of its reductions: None, one, or a tuple in the order of their declaration.
        ``costs`` are as `result_of` takes them.
        """
        return self.result_of(kernel, iterable, *arguments, **costs).reduced()

    def result_of(
        self,
        kernel: Callable[..., None],
        iterable: Any,
        *arguments: Any,
        cost: Callable[[Any], Any] | None = None,
        each: Callable[[Iterable[Any]], list[Any]] | None = None,
        cumulative: Callable[[Any], Any] | None = None,
        fit: Callable[[], Any] | None = None,
    ) -> LoopResult:
        """As `run`, for programs that read more of the loop afterwards, even after an exception of its body.

        `LoopResult.check` raises that exception. ``cost``, ``each``, ``cumulative`` and ``fit``, at most one
        of them, say what iterations cost, as `LoopContext.cost` takes it; only rank 0 evaluates them, where
        it shares the loop.
        """
        from dlbrt.mpi.root.run import run_loop  # most ranks above 0 never lead a loop

        costs = CostSpec(cost, each, cumulative, fit)
        return run_loop(self._root_runtime, kernel, iterable, arguments, costs, self._routine_state)
