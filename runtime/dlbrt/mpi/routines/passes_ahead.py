"""Passes of a routine that all ranks go through by themselves: rank 0's side.

Where the code between the loops of a routine does nothing but swap names, compute with numbers and copy rows,
the compiler emits a function that goes through the loops of the passes to come with their arguments. Rank 0
goes through some passes in this way without computing (`_Forecast`), and tells the other ranks at once what
they are to do in all of them (`dlbrt.mpi.routines.run_repeater.PassesCommand`). The program then comes to the
same loops one by one, and no rank waits for it to get there.

Law: what has been foreseen comes true. Only runs are foreseen that do again what recorded ones did
(`dlbrt.mpi.routines.repeated_runs`) and leave nothing to Python, so that no iteration raises an exception. An
interrupt waits until these passes are over. Should the program leave its loop all the same, the passes are
completed first.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.data.memory import Array
from dlbrt.mpi.routines.recorded_run import PreparedPlan, RecordedRun
from dlbrt.mpi.routines.run_repeater import Done, PassesCommand, RowStep, RunStep, exchange_row, reports
from dlbrt.mpi.team import clock
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.data.directory import RowDirectory
    from dlbrt.mpi.root.runtime import RootRuntime
    from dlbrt.mpi.routines.loop_residents import ResidentArray
    from dlbrt.mpi.routines.repeated_runs import RepeatedRuns
    from dlbrt.mpi.routines.resident_arrays import ResidentArrays

#: Seconds that the passes foreseen at once are expected to take, and the most of them: in between shares are
#: looked at, and interrupts are raised.
_AHEAD_S, _MAX_PASSES = 0.05, 256

#: Passes after which rank 0 looks again whether it can foresee any, if it could not: each time twice as many.
_PAUSE, _LONGEST_PAUSE = 2, 256


class _UnforeseenError(Exception):
    """A pass cannot be foreseen."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of an array that all ranks copy, and the array that stands for the copy."""

    step: RowStep
    array: Array
    stand_in: Array


@dataclass(frozen=True, slots=True)
class _Repeated:
    """The recorded run that a run repeats: ``known`` are the arguments that stay on the ranks, with their
    places, ``fresh`` the places of copies; computing is expected to take ``expected_s``. ``copied`` are the
    tokens of the arrays of whose rows these are copies.
    """

    record: RecordedRun
    fresh: tuple[int, ...]
    known: tuple[tuple[int, Array], ...]
    expected_s: float
    copied: tuple[int, ...]

    def is_done_again(
        self, iterable: object, arguments: tuple[Any, ...], copies: Mapping[int, RowStep]
    ) -> bool:
        """Whether a run of the same loop differs in nothing but numbers and the rows that are copied.

        ``copies`` are the copies by the identities of what stands for them. Before the passes to come, no
        code of the program runs that could change the arrays.
        """
        if any(arguments[place] is not array for place, array in self.known):
            return False
        for place, token in zip(self.fresh, self.copied, strict=True):
            if (step := copies.get(id(arguments[place]))) is None or step.token != token:
                return False
        return self.record.has_atoms(iterable, arguments) and self.record.fits(arguments)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run with its arguments, and the plan by which it is repeated."""

    repeated: _Repeated
    plan: PreparedPlan
    arguments: tuple[Any, ...]


_Step = _Row | _Run


class _Forecast:
    """Stands for a routine in the function that goes through passes to come."""

    def __init__(self, repeats: RepeatedRuns, resident_arrays: ResidentArrays) -> None:
        self._repeats, self._resident_arrays = repeats, resident_arrays
        self._suitable: set[RecordedRun] = set()
        self._copied: dict[int, RowStep] = {}  # by the identity of what stands for the copy
        self._alike: dict[tuple[Any, ...], _Repeated] = {}
        self._latest: dict[CodeType, _Repeated] = {}
        self._rows_of: dict[int, ResidentArray] = {}  # by the identity of the array, which steps keep
        self._steps: list[_Step] = []
        self._in_whole_passes = 0
        self._states: list[tuple[RowDirectory, Any]] = []
        self._expected_s = 0.0

    def of(self, function: Callable[..., None], passes: range, names: Sequence[Any]) -> Sequence[_Step]:
        """What ranks do in the passes to come, as far as it can be foreseen."""
        self._note()
        try:
            function(self, self._each(passes), *names)
        except Exception:  # if it is the program's own, it is raised when the program comes to it
            for directory, state in self._states:
                directory.go_to(state)
        return self._steps[: self._in_whole_passes]

    def _each(self, passes: range) -> Iterator[int]:
        for number in passes[:_MAX_PASSES]:
            yield number
            self._note()
            if self._expected_s > _AHEAD_S:
                return

    def _note(self) -> None:
        """A pass is over, or the first one begins."""
        self._in_whole_passes = len(self._steps)
        self._states = [(each.directory, each.directory.state) for each in self._resident_arrays]

    def rows(self, array: Array) -> _RowsAhead:
        """An array of which the program copies a row: ``routine.rows(u)[k].copy()``."""
        return _RowsAhead(self, array)

    def copy(self, array: Array, row: int) -> Array:
        """Have all ranks copy a row; what stands for the copy."""
        resident = self._rows_of.get(id(array)) or self._with_rows(array)
        if type(row) is not int or not 0 <= row < len(array):
            raise _UnforeseenError
        stand_in = np.empty(array.shape[1:], array.dtype)
        step = RowStep(len(self._steps), resident.token, row, *resident.directory.spread(row))
        self._copied[id(stand_in)] = step
        self._steps.append(_Row(step, array, stand_in))
        return stand_in

    def _with_rows(self, array: Array) -> ResidentArray:
        """What is known of an array of which rows are copied."""
        resident = self._resident_arrays.known(array)
        if resident is None or resident.axis or array.ndim < 2 or not array.flags.c_contiguous:
            raise _UnforeseenError
        self._rows_of[id(array)] = resident
        return resident

    def run(self, kernel: Callable[..., None], iterable: object, *arguments: Any) -> None:
        """The program comes to a loop."""
        if type(iterable) is not range:
            raise _UnforeseenError
        code = kernel.__code__
        key = code, iterable, *map(id, arguments)  # steps keep the arguments
        if (again := self._alike.get(key)) is not None:
            self._repeats.note_order(code, again.record)
        elif (latest := self._latest.get(code)) and latest.is_done_again(iterable, arguments, self._copied):
            again = latest
        else:
            again = self._alike[key] = self._latest[code] = self._repeated(kernel, iterable, arguments)
        plan = self._repeats.foreseen(again.record, again.fresh, arguments)
        if plan is None:
            raise _UnforeseenError
        self._steps.append(_Run(again, plan, arguments))
        self._expected_s += again.expected_s

    def _repeated(
        self, kernel: Callable[..., None], iterable: object, arguments: tuple[Any, ...]
    ) -> _Repeated:
        """The recorded run that a run repeats."""
        record, fresh = self._repeats.found(kernel, iterable, arguments, self._suitable, self._copied)
        if record is None:
            raise _UnforeseenError
        if record not in self._suitable:
            if not record.runs_through or record.has_new_shares():
                raise _UnforeseenError
            self._suitable.add(record)
        if any(id(arguments[place]) not in self._copied for place in fresh):
            raise _UnforeseenError
        known = tuple(
            (each.place, arguments[each.place]) for each in record.arrays if each.place not in fresh
        )
        copied = tuple(self._copied[id(arguments[place])].token for place in fresh)
        return _Repeated(record, fresh, known, self._repeats.expected_s(record), copied)

    def command(self, steps: Sequence[_Step]) -> PassesCommand:
        """What the other ranks are told."""
        return PassesCommand(
            tuple(each.step if isinstance(each, _Row) else self._run_step(each) for each in steps)
        )

    def _run_step(self, run: _Run) -> RunStep:
        values = tuple(
            self._copied[id(run.arguments[place])] if place in run.repeated.fresh else run.arguments[place]
            for place, token in zip(run.repeated.record.places, run.plan.plan.tokens, strict=True)
            if token is None
        )
        return run.plan.plan.number, values


@dataclass(frozen=True, slots=True)
class _RowsAhead:
    """Stands for an array, and once subscripted for a row of it."""

    forecast: _Forecast
    array: Array
    row: Any = None

    def __getitem__(self, row: Any) -> _RowsAhead:
        return _RowsAhead(self.forecast, self.array, row)

    def copy(self) -> Array:
        """What stands for the copy of the row."""
        return self.forecast.copy(self.array, self.row)


class PassesAhead:
    """What has been foreseen of a routine and has still to come; false where there is nothing.

    ``runs`` counts the runs of loops that have been foreseen.
    """

    def __init__(
        self, root_runtime: RootRuntime, repeats: RepeatedRuns, resident_arrays: ResidentArrays
    ) -> None:
        self._root_runtime = root_runtime
        self._repeats = repeats
        self._resident_arrays = resident_arrays
        self._steps: deque[_Step] = deque()
        self._done: list[tuple[_Run, Done, float]] = []
        self._held = ExitStack()  # while there are steps: no other loop begins, no interrupt is raised
        self._before = 0.0
        self._pause, self._next_pause = 0, _PAUSE
        self.runs = 0

    def __bool__(self) -> bool:
        return bool(self._steps)

    def foresee(self, function: Callable[..., None], passes: range, names: Sequence[Any]) -> None:
        """Foresee some of ``passes``, if that can be done; ``function`` goes through them with ``names``."""
        if self._pause:
            self._pause -= 1
            return
        if len(passes) < 2:
            return
        with ExitStack() as held:
            if not held.enter_context(self._root_runtime.turn(wait=True)):
                return
            try:
                self._begin(function, passes, names)
            except BaseException as error:
                self._root_runtime.abort(error)
                raise
            if self._steps:
                self._held = held.pop_all()

    def _begin(self, function: Callable[..., None], passes: range, names: Sequence[Any]) -> None:
        self._before = clock()
        self._repeats.take_reports()
        forecast = _Forecast(self._repeats, self._resident_arrays)
        if steps := forecast.of(function, passes, names):
            self._next_pause = _PAUSE
            command = forecast.command(steps)
            self._root_runtime.call_again(pickle.dumps(command, pickle.HIGHEST_PROTOCOL))
            self._steps.extend(steps)
        else:
            self._pause, self._next_pause = self._next_pause, min(_LONGEST_PAUSE, 2 * self._next_pause)

    def bring(self, array: Array) -> None:
        """The program comes to the copy of a row, which is to be here."""
        row = self._steps.popleft()
        if not isinstance(row, _Row) or row.array is not array:
            self._root_runtime.abort(AssertionError("a pass copies another row than was foreseen"))
        else:
            self._bring(row)

    def _bring(self, row: _Row) -> None:
        try:
            exchange_row(self._root_runtime.communicator, row.array[row.step.row], row.step)
        except BaseException as error:
            self._root_runtime.abort(error)
            raise
        if row.step.source:
            self._resident_arrays.count_fetched(row.stand_in.nbytes)
        if not self._steps:
            self._finish()

    def run(self, kernel: Callable[..., None], arguments: Sequence[Any]) -> None:
        """The program comes to a loop: run it."""
        run = self._steps.popleft()
        if (
            not isinstance(run, _Run)
            or kernel.__code__ is not run.repeated.record.code
            or any(arguments[place] is not array for place, array in run.repeated.known)
        ):
            self._root_runtime.abort(AssertionError("a pass has another loop than was foreseen"))
        else:
            self._run(run, arguments)

    def _run(self, run: _Run, arguments: Sequence[Any]) -> None:
        try:
            done = run.plan.repeater.run(tuple(arguments[place] for place in run.repeated.record.places))
        except BaseException as error:
            self._root_runtime.abort(error)
            raise
        before, self._before = self._before, clock()
        self._done.append((run, done, self._before - before))
        if not self._steps:
            self._finish()

    def complete(self) -> None:
        """The program has left its loop: complete the passes."""
        while self._steps:
            step = self._steps.popleft()
            if isinstance(step, _Row):
                self._bring(step)
                np.copyto(step.stand_in, step.array[step.step.row])
            else:
                self._run(step, step.arguments)

    def _finish(self) -> None:
        """All that was foreseen has come: take in what the ranks have done."""
        done, self._done = self._done, []
        self.runs += len(done)
        with self._held.pop_all():
            try:
                others: list[list[Done]] = reports(self._root_runtime.communicator)
                for number, (run, own, elapsed_s) in enumerate(done):
                    record = run.repeated.record
                    self._repeats.count(record, run.plan, [own, *(r[number] for r in others)], elapsed_s)
                    self._repeats.show(record, elapsed_s)
            except BaseException as error:
                self._root_runtime.abort(error)
                raise
