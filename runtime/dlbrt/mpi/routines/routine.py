"""``routine`` in a generated program: a sequential loop whose parallel loops leave their arrays on the ranks.

The program goes on running on rank 0, on its own arrays, whose rows may be out of date there. Wherever its
code may look into an array or change it, the compiler has put `IterativeRoutine.read` or
`IterativeRoutine.write` around the expression, or `IterativeRoutine.rows` where it is subscripted. Values
that the compiler took for plain ones are checked where the routine begins; if one is not, or there are no
other ranks to be had, no array stays on the ranks and loops run as they do outside.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dlbrt.data.memory import Array
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import refuse_stale
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.routines.reach import Rows, is_plain, reached_asynchronously
from dlbrt.mpi.routines.resident_arrays import ResidentArrays
from dlbrt.mpi.routines.routine_state import RoutineState
from dlbrt.mpi.runner import LoopRunner
from dlbrt.observe.linemap import Frame, original
from dlbrt.observe.terminal import write_line
from dlbrt.speed.pass_balancer import PassBalancer
from dlbrt.speed.points import ModelKind, SpeedPoints

T = TypeVar("T")

#: The arrays that the routines under way keep on the ranks.
_under_way: list[ResidentArrays] = []


class IterativeRoutine(LoopRunner):
    """One run of an iterative routine; a context manager, at whose end every array is valid at rank 0.

    ``model``, ``tolerance`` and ``every`` are the clauses: how speeds are modelled, which relative spread of
    the ranks' times counts as balanced, and after how many passes the times are looked at. ``narrowing``: the
    loops begin further on from pass to pass, so that the slowest rank should have the first rows.
    ``checkpoint``: passes between two checkpoints, where ranks may die; without them no array stays there.
    """

    if not TYPE_CHECKING:
        __getattr__ = refuse_stale("routine")

    def __init__(
        self,
        root_runtime: RootRuntime,
        plain: Callable[[], tuple[Any, ...]] | None = None,
        *,
        model: str = ModelKind.PIECEWISE.value,
        tolerance: float = 0.05,
        every: int = 1,
        checkpoint: int | None = None,
        narrowing: bool = False,
        outer: IterativeRoutine | None = None,
        place: FrameType | None = None,
    ) -> None:
        super().__init__(root_runtime)
        self._source = _source(place or sys._getframe(1))
        self._plain = plain
        self._clauses = (ModelKind(model), tolerance, every)
        self._checkpoint = checkpoint
        self._narrowing = narrowing
        self._outer = outer

    def iterate(self, plain: Callable[[], tuple[Any, ...]] | None = None, **clauses: Any) -> IterativeRoutine:
        """A routine inside this one, which leaves arrays on the ranks when it ends."""
        return IterativeRoutine(self._root_runtime, plain, outer=self, place=sys._getframe(1), **clauses)

    def read(self, value: T) -> T:
        """The value, made valid at rank 0 with everything that it reaches."""
        if self._routine_state is not None:
            self._routine_state.resident_arrays.ensure_valid(value)
        return value

    def write(self, value: T) -> T:
        """The value, which rank 0 may read and change: it is valid only there afterwards."""
        if self._routine_state is not None:
            self._routine_state.resident_arrays.ensure_valid(value, writing=True)
        return value

    def rows(self, value: T, mode: str = "r") -> T:
        """Stands for the value, an array, until it is subscripted: other rows are left as they are.

        Rows that are read are made valid at rank 0. Rows that are stored to are valid only there afterwards,
        and so are rows that are read where ``mode`` is ``"rw"``: the program changes them in place.
        """
        if (state := self._routine_state) is None:
            return value
        if state.repeats is not None and state.repeats.ahead:
            state.repeats.ahead.bring(cast(Array, value))
            return value
        return cast(T, Rows(state.resident_arrays.ensure_valid, value, mode == "rw"))

    def ahead(self, function: Callable[..., None], number: int, passes: range, *names: Any) -> None:
        """Pass ``number`` of ``passes`` begins: have the ranks go through some of those that are left.

        ``function``, called with an object in the place of this one, these passes and ``names``, goes through
        their loops.
        """
        state = self._routine_state
        if state is not None and state.repeats is not None and not state.repeats.ahead:
            state.repeats.ahead.foresee(function, passes[passes.index(number) :], names)

    def items(self, iterable: Iterable[T]) -> Iterator[T]:
        """The items of an iterable that may read or change arrays whenever it produces the next item."""
        iterator = iter(self.write(iterable))
        while True:
            try:
                item = next(self.write(iterator))
            except StopIteration:
                return
            yield item

    def __enter__(self) -> IterativeRoutine:
        if self._outer is not None:
            self._routine_state = self._outer._routine_state if self._is_plain() else None
            if self._routine_state is None and self._outer._routine_state is not None:
                self._outer._routine_state.resident_arrays.ensure_all_valid(writing=True)
        elif self._keeps_arrays_on_ranks and self._is_plain() and self._is_undisturbed():
            model, tolerance, every = self._clauses
            root_runtime = self._root_runtime

            def balancer(known: Sequence[SpeedPoints]) -> PassBalancer:
                ranks = root_runtime.communicator.ranks
                return PassBalancer(ranks, model, tolerance=tolerance, every=every, known=known)

            self._routine_state = RoutineState(
                root_runtime, balancer, narrowing=self._narrowing, checkpoint=self._checkpoint
            )
            _under_way.append(self._routine_state.resident_arrays)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with interrupts.held():  # the program's clauses have to find all rows
            routine_state, self._routine_state = self._routine_state, None
            if routine_state is not None and self._outer is None:
                routine_state.close()
                _under_way.remove(routine_state.resident_arrays)
                self._root_runtime.program_history.routine(self._source).add(routine_state.figures)

    @property
    def _keeps_arrays_on_ranks(self) -> bool:
        """Whether arrays may stay on other ranks: without checkpoints deaths would take them along."""
        may_die = self._root_runtime.communicator.tolerates_deaths
        return self._root_runtime.has_ranks and (self._checkpoint is not None or not may_die)

    def _is_plain(self) -> bool:
        """Whether the names that the compiler took for plain values hold plain values."""
        if self._plain is None:
            return True
        try:
            values = self._plain()
        except NameError:  # a name that has no value yet may get any
            return self._log("has names without a value where it begins")
        if all(map(is_plain, values)):
            return True
        return self._log("has names that hold neither numbers nor text where these are expected")

    def _is_undisturbed(self) -> bool:
        """Whether no code of the program that may run at any time (signals, threads) reaches an array."""
        reach = reached_asynchronously()
        if not (reach.arrays or reach.everything):
            return True
        return self._log("may be interrupted by a handler or stream of the program that reaches an array")

    def _log(self, reason: str) -> bool:
        message = f"dlb: {self._source}: the routine {reason}: no array stays on the ranks"
        write_line(message)
        return False


def _source(place: FrameType) -> str:
    """File and line of the source at which a frame stands."""
    frame = Frame(place.f_code.co_filename, place.f_lineno, place.f_code.co_name)
    found = original(frame) or frame
    return f"{os.path.basename(found.filename)}:{found.line}"


def _before_fork() -> None:
    for resident_arrays in _under_way:
        resident_arrays.before_fork()


def _in_child() -> None:
    for resident_arrays in _under_way:
        resident_arrays.in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
