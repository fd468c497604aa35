"""How a generated program runs loops: what ``dlb`` and ``routine`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.mpi.ending import LoopResult
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.partition.cost_spec import CostSpec

if TYPE_CHECKING:
    from dlbrt.data.spans import Spans
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
        state = self._routine_state
        repeats = self._root_runtime.solo_runs if state is None else state.repeats
        if repeats is None or costs:
            return self.result_of(kernel, iterable, *arguments, **costs).reduced()
        left = repeats.run(kernel, iterable, arguments)
        if left is not None and not left:
            return None
        return self._result(kernel, iterable, arguments, CostSpec(), left).reduced()

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
        return self._result(kernel, iterable, arguments, CostSpec(cost, each, cumulative, fit), asked=True)

    def _result(
        self,
        kernel: Callable[..., None],
        iterable: Any,
        arguments: Sequence[Any],
        costs: CostSpec,
        left: Spans | None = None,
        *,
        asked: bool = False,
    ) -> LoopResult:
        from dlbrt.mpi.root.run import run_loop  # most ranks above 0 never lead a loop

        return run_loop(
            self._root_runtime, kernel, iterable, arguments, costs, self._routine_state, left, asked=asked
        )
