"""Arrays that stay on ranks which may die: copies at rank 0, and a log of what has been done since.

Every K passes all rows of the arrays come to rank 0, which copies them: a checkpoint. When ranks die, the
runs since are run again on the copies, and the rows that rank 0 lacks are taken from there. This is rollback
recovery by checkpoints and a log (Elnozahy, Alvisi, Wang, Johnson, ACM Computing Surveys 34(3), 2002, section
3), in which the program itself, at rank 0, is never rolled back.

The copies are at rank 0, not on a neighbour. Rank 0's death ends the job in any case, so no death that the
job can survive takes a copy with it, however many ranks die at once. The price is that all rows come in over
one link.

Law. Whatever has been done is in the arrays of rank 0, in the copies, or can be done again from the log:

* An array may stay on the ranks while a loop runs only if that run can be run again (`Checkpoints._closed`):
  it stores to such arrays alone, and all else that it depends on goes into the log by value
  (`dlbrt.mpi.values.frozen_functions`). So nothing that the program has seen, printed or drawn comes twice.
  Any other run leaves its arrays at rank 0, as outside routines, and what it stores counts as stored by the
  program.
* What the program has stored at rank 0 is logged when a run is about to read it.
* A run is logged once the results of all ranks are there. Before that it has not taken place:
  `Checkpoints.restore` brings back what was before it, and keeps what rank 0 itself has done of it.
* A run that fails cannot be run again. All rows come to rank 0 before the program learns of the failure; a
  death in this moment ends the job.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.data.field import Field, put, take
from dlbrt.data.footprint import Rows, difference, union
from dlbrt.data.memory import Array, allocate, layout_of
from dlbrt.data.object_state import ATOMS
from dlbrt.data.space import RangeSpace, space_of
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.communicator import ProgramError
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult, perform, stored_by
from dlbrt.mpi.routines.loop_residents import LoopResidents, ResidentArray
from dlbrt.mpi.team import SingleRank, Team
from dlbrt.mpi.values.frozen_functions import Bindings, are_same, bindings, frozen
from dlbrt.mpi.values.kernels import named
from dlbrt.partition.cost_spec import CostSpec
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.mpi.root.runtime import RootRuntime
    from dlbrt.mpi.routines.resident_arrays import ResidentArrays


class LostRowsError(ProgramError):
    """Rows are lost of which there is no copy, and the runs that stored them cannot be run again."""


_AFTER_FAILURE = "ranks have died just after a loop of a routine had failed, and rows of its arrays with them"

_FAILS_AGAIN = "a loop of a routine has failed when it was run again after the death of ranks"

#: Rows of an array along an axis.
_AxisRows = tuple[int, Rows]


@dataclass(frozen=True, slots=True)
class _Stays:
    """In the place of an argument that stays on the ranks, under this token."""

    token: int


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """A run of a loop from position ``first`` on, which stores to the arrays of the tokens ``stored``."""

    kernel: types.FunctionType
    values: range
    arguments: tuple[Any, ...]
    stored: frozenset[int]
    first: int = 0


@dataclass(frozen=True, slots=True)
class _LoggedStore:
    """Rows that the program has stored to at rank 0, before the run that comes next in the log."""

    token: int
    rows: _AxisRows
    contents: Array


@dataclass(slots=True)
class _UnderWay:
    """What is under way on all ranks, the ``run`` of a loop if it is one.

    ``at_root``: by token, the rows of arrays that were valid at rank 0 before; ``own``: those that rank 0 has
    stored to since.
    """

    at_root: dict[int, _AxisRows]
    run: LoggedRun | None = None
    own: dict[int, _AxisRows] = field(default_factory=dict)


class Checkpoints:
    """The checkpoint and the log of one routine; ``every`` so many passes a new checkpoint is taken.

    A pass has gone by when one of the loops has run once more. A checkpoint is taken earlier where the log
    would need more memory than the arrays. When ranks have died, ``run`` runs loops again, and
    ``forget_ranks`` is called in the end.
    """

    def __init__(
        self,
        root_runtime: RootRuntime,
        residents: ResidentArrays,
        every: int,
        forget_ranks: Callable[[], None],
        run: Callable[[RootRuntime, LoggedRun, Sequence[Any]], None] | None = None,
    ) -> None:
        self._root_runtime, self._residents = root_runtime, residents
        self._every, self._forget_ranks, self._run = every, forget_ranks, run or run_again
        self._copies: dict[int, Array] = {}  # by token, as of the checkpoint, or of when the array came
        self._log: list[LoggedRun | _LoggedStore] = []
        self._passes: dict[str, int] = {}
        self._dirty: dict[int, Rows] = {}  # rows that the program has stored to, and no run has read since
        self._under_way: _UnderWay | None = None
        self._failed = False  # whether the last run has failed, and its rows are not all at rank 0
        self._frozen: dict[object, tuple[Bindings, types.FunctionType]] = {}
        residents.fetching, residents.stored = self._fetching, self._store
        root_runtime.restorers.append(self.restore)

    def close(self) -> None:
        """The routine is over, and no array is on the ranks any more."""
        self._root_runtime.restorers.remove(self.restore)
        self._forget()

    def admit(
        self,
        loop: LoopContext,
        kernel: Callable[..., None],
        arguments: Mapping[str, Any],
        fields: Sequence[Field],
    ) -> LoopResidents:
        """The arrays of a loop's fields that stay on the ranks; all others are made valid on rank 0.

        ``arguments`` are those of the kernel, by name.
        """
        if (copy := self._closed(loop, kernel, arguments)) is not None:
            if self._is_due():
                self.take()
            found = self._residents.admit(fields)
            arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
            if arrays and all(value in found for value in arrays):
                return replace(found, logged=_logged(copy, loop, arguments, found))
        for each in fields:
            if isinstance(each.data, np.ndarray):
                self._residents.ensure_valid(each.data, writing=each.spec.stores)
        return LoopResidents()

    def begin(self, loop_residents: LoopResidents, first: int) -> None:
        """A run begins, whose rows do not travel yet; positions before ``first`` are done."""
        run = loop_residents.logged
        if run is not None:
            for resident in loop_residents.residents.values():
                self._log_stores(resident)
            self._under_way = _UnderWay(self._rows_at_root(), replace(run, first=first))

    def has_stored(self, loop_residents: LoopResidents, own: RankResult) -> None:
        """Ranks have died: what rank 0 has stored in the run under way stands."""
        if self._under_way is not None:
            for key, resident in loop_residents.residents.items():
                rows = loop_residents.stores(key, stored_by(own), own.figures.done)
                self._under_way.own[resident.token] = resident.axis, rows

    def finished(self, loop: str, results: Sequence[RankResult]) -> None:
        """The run is over, and what it has stored is in the directories."""
        under_way, self._under_way = self._under_way, None
        if under_way is None or under_way.run is None:
            return
        if any(result.failure for result in results):
            self.take_after_failure()
            return
        self._log.append(under_way.run)
        self._passes[loop] = self._passes.get(loop, 0) + 1

    def take_after_failure(self) -> None:
        """Take a checkpoint since a run has failed, and so cannot be run again."""
        self._failed = True
        self.take()
        self._failed = False

    def take(self) -> None:
        """Have all rows come to rank 0, and copy the arrays that have changed since the last checkpoint."""
        self._residents.ensure_all_valid()
        changed = {*self._dirty, *_stored_in(self._log)}
        copies: dict[int, Array] = {}
        for resident in self._residents:
            if (array := resident.array()) is not None:
                known = self._copies.get(resident.token)
                copies[resident.token] = copy = allocate(layout_of(array)) if known is None else known
                if known is None or resident.token in changed:
                    copy[...] = array
        self._forget()
        self._copies = copies

    def restore(self) -> None:
        """Ranks have died, and the others have no rows any more: put all arrays together at rank 0.

        The job ends where that cannot be done.
        """
        under_way = self._under_way or _UnderWay(self._rows_at_root())
        residents, copies, log = self._residents.forget_all(), self._copies, self._log
        self._forget()
        lost = list(_lost(residents, under_way.at_root))
        try:
            if lost and self._failed:
                raise LostRowsError(_AFTER_FAILURE)
            if lost:
                with interrupts.put_off():
                    self._run_again(copies, log)
            for token, array, rows in lost:
                _fill(array, copies[token], rows, under_way.own.get(token))
        except BaseException as error:
            self._root_runtime.communicator.fail(error)
        self._forget_ranks()

    def _forget(self) -> None:
        self._copies, self._log, self._passes, self._dirty = {}, [], {}, {}
        self._under_way = None

    def _run_again(self, copies: Mapping[int, Array], log: Sequence[LoggedRun | _LoggedStore]) -> None:
        """Do again on the copies what is in the log."""
        for each in log:
            if isinstance(each, _LoggedStore):
                axis, rows = each.rows
                put(copies[each.token], axis, rows, each.contents)
            else:
                given = [copies[a.token] if isinstance(a, _Stays) else a for a in each.arguments]
                self._run(self._root_runtime, each, given)

    def _closed(
        self, loop: LoopContext, kernel: Callable[..., None], arguments: Mapping[str, Any]
    ) -> types.FunctionType | None:
        """The kernel, frozen, if only its arguments decide what a run does, which stores to arrays alone.

        It may also contribute to numbers and leave temporaries: these are left out when it is run again.
        """
        if type(loop.space) is not RangeSpace or loop.unseen_calls or loop.generators:
            return None
        contributed = loop.contributions.kinds
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                if name in contributed:
                    return None
            elif not (type(value) in ATOMS or isinstance(value, np.number | np.bool_)):
                return None
        if not contributed.keys() <= arguments.keys() or (known := bindings(kernel)) is None:
            return None
        before = self._frozen.get(kernel)
        if before is None or not are_same(before[0], known):
            assert isinstance(kernel, types.FunctionType), "only functions have bindings"
            self._frozen[kernel] = before = known, frozen(kernel, known)
        return before[1]

    def _is_due(self) -> bool:
        live = {resident.token for resident in self._residents}
        needed = sum(copy.nbytes for token, copy in self._copies.items() if token in live)
        beyond = sum(copy.nbytes for token, copy in self._copies.items() if token not in live)
        beyond += sum(each.contents.nbytes for each in self._log if isinstance(each, _LoggedStore))
        return max(self._passes.values(), default=0) >= self._every or beyond > needed

    def _log_stores(self, resident: ResidentArray) -> None:
        """Log what the program has stored to an array; all of it where it is new."""
        rows, array = self._dirty.pop(resident.token, ()), resident.array()
        assert array is not None, "the run that begins has it"
        if resident.token not in self._copies:
            copy = self._copies[resident.token] = allocate(layout_of(array))
            copy[...] = array
        elif rows:
            contents = take(array, resident.axis, rows).copy()
            self._log.append(_LoggedStore(resident.token, (resident.axis, rows), contents))

    def _store(self, resident: ResidentArray, rows: Rows) -> None:
        nothing: Rows = ()
        self._dirty[resident.token] = union(self._dirty.get(resident.token, nothing), rows)

    @contextmanager
    def _fetching(self) -> Iterator[None]:
        """While rows come to rank 0, what is valid there is what was before."""
        if self._under_way is not None:
            yield
            return
        self._under_way = _UnderWay(self._rows_at_root())
        try:
            yield
        finally:
            self._under_way = None

    def _rows_at_root(self) -> dict[int, _AxisRows]:
        return {each.token: (each.axis, each.directory.valid(0)) for each in self._residents}


def _logged(
    copy: types.FunctionType, loop: LoopContext, arguments: Mapping[str, Any], found: LoopResidents
) -> LoggedRun:
    tokens = found.tokens
    stored = {tokens[key] for key, fields in found.fields.items() if any(f.spec.stores for f in fields)}
    given = tuple(_Stays(tokens[id(value)]) if value in found else value for value in arguments.values())
    assert isinstance(loop.space, RangeSpace), "a closed run goes over a range"
    return LoggedRun(copy, loop.space.values, given, frozenset(stored))


def _stored_in(log: Sequence[LoggedRun | _LoggedStore]) -> Iterator[int]:
    for each in log:
        yield from each.stored if isinstance(each, LoggedRun) else (each.token,)


def _lost(
    residents: Sequence[ResidentArray], at_root: Mapping[int, _AxisRows]
) -> Iterator[tuple[int, Array, _AxisRows]]:
    """The arrays of which rank 0 lacks rows, with these."""
    for resident in residents:
        array = resident.array()
        if array is not None and resident.token in at_root:
            axis, valid = at_root[resident.token]
            if rows := difference((range(array.shape[axis]),), valid):
                yield resident.token, array, (axis, rows)


def _fill(array: Array, copy: Array, lost: _AxisRows, own: _AxisRows | None) -> None:
    """Give an array the rows that it lacks, but for its ``own``, which stand."""
    kept = take(array, *own).copy() if own is not None and own[1] else None
    put(array, *lost, take(copy, *lost))
    if own is not None and kept is not None:
        put(array, *own, kept)


def run_again(root_runtime: RootRuntime, run: LoggedRun, arguments: Sequence[Any]) -> None:
    """Run a loop again for what it stores to arrays, on the ranks that live; LostRowsError where it fails.

    More of them may die meanwhile. The caller leads a run, or could, and has put off interrupts.
    """
    if run.first or root_runtime.communicator.ranks == 1:
        run_alone(root_runtime, run, arguments)
        return
    from dlbrt.mpi.root.preparation import Preparation
    from dlbrt.mpi.root.run import LoopRun

    prepared = Preparation(root_runtime, run.kernel, space_of(run.values), arguments, None)
    progress, root_runtime.progress = root_runtime.progress, None
    try:
        result = LoopRun(prepared, CostSpec()).run()
    finally:
        root_runtime.progress = progress
    if result.failure is not None:
        raise LostRowsError(_FAILS_AGAIN)


def run_alone(root_runtime: RootRuntime, run: LoggedRun, arguments: Sequence[Any]) -> None:
    """The same at rank 0."""
    space = space_of(run.values)

    def launch(loop: LoopContext) -> Team:
        loop.begin(named(run.kernel, arguments))
        return SingleRank(Spans.of(range(run.first, len(space))))

    loop = LoopContext(space, launch, lambda _: None, Load.none())
    loop.threads = root_runtime.options.threads or 1
    perform(loop, run.kernel, arguments)
    if loop.ending.error is not None:
        raise LostRowsError(_FAILS_AGAIN) from loop.ending.error
