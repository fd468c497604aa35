"""Runs of a routine's compiled loops that are repeated without being prepared anew: rank 0's side.

A run on all ranks is recorded with everything that decides what it does: the range, the arrays, the numbers
that subscripts depend on, who owns the rows. Where all of this holds again, the ranks do the same again
(`dlbrt.mpi.routines.run_repeater`), once they have the rows that they lack now. Other numbers come with the
command, and so do small arrays that are only read and are new in each run. What compiled code leaves to
Python, rank 0 does afterwards, in order. Where nothing can be left, rank 0 goes on before the others have
reported: whoever needs rows of theirs waits for the rows.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.balance.strategies import AUTO, STATIC
from dlbrt.data.directory import RowTransfer
from dlbrt.data.field import Field
from dlbrt.data.layout import InitialPartition
from dlbrt.data.object_state import ATOMS
from dlbrt.data.spans import EMPTY, Spans, left_out
from dlbrt.mpi.call import LoopCall
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult
from dlbrt.mpi.root.solo_runs import is_all_compiled
from dlbrt.mpi.routines.loop_residents import ArrayTransfer
from dlbrt.mpi.routines.passes_ahead import PassesAhead
from dlbrt.mpi.routines.recorded_run import ForeseenRun, KnownRows, PreparedPlan, RecordedRun, RepeatFigures
from dlbrt.mpi.routines.run_repeater import Done, RepeatCommand, RepeatPlan, RunRepeater, reports
from dlbrt.mpi.team import clock

if TYPE_CHECKING:
    from dlbrt.mpi.root.preparation import Preparation
    from dlbrt.mpi.root.runtime import RootRuntime
    from dlbrt.mpi.routines.routine_state import RoutineState

#: Recorded runs of a loop: where arrays are swapped from run to run, a few take turns.
_MAX_RECORDS = 8

#: Plans of a recorded run: the rows that travel depend on what the code in between has read and changed.
_MAX_PLANS = 16

#: Runs that are remembered as foreseen, by the rows that are valid before.
_MAX_FORESEEN = 64

#: Longer runs are balanced while they go on, and poll for signals: preparing one costs little beside it.
_LONGEST_S = 0.02

#: Runs that rank 0 may be ahead of what the other ranks have reported, where nothing can be left to Python.
_MAX_UNREPORTED = 4

#: Repeated runs whose figures are added up before they are looked at, and seconds that these took: a look
#: takes a tenth of a millisecond.
_ENTERED_AT_ONCE = 8
_ENTERED_AFTER_S = 0.02


def _is_atom(value: object) -> bool:
    return type(value) in ATOMS or isinstance(value, np.number | np.bool_)


class RunUnderWay:
    """A run on all ranks that is under way, and may turn out to be one that can be repeated."""

    def __init__(self, prepared: Preparation, state: RoutineState) -> None:
        self.prepared = prepared
        self._state = state
        self._residents = prepared.payload.loop_residents

    def begins(self, call: LoopCall) -> None:
        """The run begins, as ``call`` says."""
        self._call = call
        shares = tuple(Spans.of(*each.runs) for each in call.deal.shares)  # in order again
        self.deal = InitialPartition(call.deal.units, shares)
        owned = self._state.running_ownership
        assert owned is not None, "nothing of a routine is repeated whose iterations come from a pool"
        self.ownership = owned
        self.unit_s = self._state.unit_s(self._residents)

    def note(self, loop: LoopContext, results: Sequence[RankResult]) -> None:
        """The run is over: keep it if it can be repeated."""
        if self._can_be_repeated(loop, results):
            if self._state.repeats is None:
                self._state.repeats = RepeatedRuns(self.prepared.root_runtime, self._state)
                self._state.resident_arrays.leaves = self._state.repeats.forget
            self._state.repeats.add(RecordedRun(self, loop))

    def _can_be_repeated(self, loop: LoopContext, results: Sequence[RankResult]) -> bool:
        """Whether the run did nothing but what compiled iterations do, which has no other effects."""
        prepared, call = self.prepared, self._call
        plain = not any(each.inspected or each.made or each.iterated for each in prepared.payload.fields)
        known = all(value in self._residents or _is_atom(value) for value in prepared.named.values())
        whole = len(call.deal.units) == len(prepared.space)  # nothing was done by rank 0 before it was shared
        unusual = call.watched or call.measured or call.deal.units.folded or loop.is_conditional
        automatic = (loop.strategy or prepared.root_runtime.options.strategy) in (None, AUTO)
        fixed = self.is_forced(loop) or (automatic and self.ownership.balancer is not None)
        usual = plain and known and whole and fixed and not unusual
        return usual and is_all_compiled(prepared, loop, results)

    def is_forced(self, loop: LoopContext) -> bool:
        """Whether all ranks take part in any case, with the shares that they have."""
        return (loop.strategy or self.prepared.root_runtime.options.strategy) == STATIC


class RepeatedRuns:
    """The recorded runs of a routine's loops, by the code of their kernels."""

    def __init__(self, root_runtime: RootRuntime, state: RoutineState) -> None:
        self._root_runtime = root_runtime
        self._state = state
        self._records: dict[CodeType, list[RecordedRun]] = {}
        self._latest: dict[CodeType, RecordedRun] = {}
        self._left_over: set[CodeType] = set()
        self.ahead = PassesAhead(root_runtime, self, state.resident_arrays)
        self._unreported: deque[tuple[RecordedRun, PreparedPlan, Done, float]] = deque()

    def add(self, record: RecordedRun) -> None:
        """Keep a run that can be repeated."""
        if record.code in self._left_over:
            return
        known = self._records.setdefault(record.code, [])
        if len(known) == _MAX_RECORDS:
            self._drop([known.pop()])
        known.insert(0, record)
        self._state.sharing.expect_repeats(record.history.key)

    def run(self, kernel: Callable[..., None], iterable: object, arguments: Sequence[Any]) -> Spans | None:
        """Repeat a run; the positions that it leaves to Python. None where it is no repetition."""
        if self.ahead:
            self.ahead.run(kernel, arguments)
            return EMPTY
        records = self._records.get(kernel.__code__)
        if not records:
            return None
        with self._root_runtime.turn(wait=True) as leads:
            if not leads:
                return None
            try:
                record, fresh = self.found(kernel, iterable, arguments)
                return None if record is None else self._shown(record, fresh, arguments)
            except BaseException as error:
                self._root_runtime.abort(error)
                raise

    def found(
        self,
        kernel: Callable[..., None],
        iterable: object,
        arguments: Sequence[Any],
        suitable: Container[RecordedRun] = (),
        apart: Container[int] = (),
    ) -> tuple[RecordedRun | None, tuple[int, ...]]:
        """The recorded run that a run repeats, if any, and the places of arrays that others have replaced.

        ``suitable`` are known to be so; ``apart`` are identities of arrays that share no memory with others.
        """
        records = self._records.get(kernel.__code__, ())
        for record in self._likeliest_first(kernel.__code__, records):
            fresh = record.replaced(iterable, arguments)
            if (
                fresh is not None
                and (record in suitable or self._suits(record))
                and self._holds(record, fresh, arguments, apart)
            ):
                self.note_order(kernel.__code__, record)
                return record, fresh
        return None, ()

    def expected_s(self, record: RecordedRun) -> float:
        """How long the ranks are expected to compute in a run."""
        return self._state.sharing.computing_s(record.history.key, len(record.values)) or 0.0

    def _likeliest_first(self, code: CodeType, records: Sequence[RecordedRun]) -> Iterator[RecordedRun]:
        """The recorded runs of a loop, first the one that came after its latest run the time before."""
        latest = self._latest.get(code)
        likeliest = None if latest is None else latest.followed_by
        if likeliest is not None and not likeliest.is_dropped:
            yield likeliest
        yield from (each for each in records if each is not likeliest)

    def note_order(self, code: CodeType, record: RecordedRun) -> None:
        """A recorded run of a loop is repeated: it is the loop's latest, and came after the one before."""
        latest = self._latest.get(code)
        if latest is not None:
            latest.followed_by = record
        self._latest[code] = record

    def _suits(self, record: RecordedRun) -> bool:
        """Whether runs like the recorded one are to be repeated, whatever they are given."""
        sharing = self._state.sharing
        expected_s = sharing.computing_s(record.history.key, len(record.values))
        if expected_s is None or expected_s > _LONGEST_S or (sharing.alone and not record.is_forced):
            return False
        return record.is_compiled()

    def _holds(
        self,
        record: RecordedRun,
        fresh: tuple[int, ...],
        arguments: Sequence[Any],
        apart: Container[int],
    ) -> bool:
        """Whether all that decides what a recorded run does with these arguments holds again."""
        touches = self._state.resident_arrays.touches
        return (
            all(each.resident.axis == each.axis for each in record.rows_kept(fresh))
            and not any(id(arguments[place]) not in apart and touches(arguments[place]) for place in fresh)
            and record.fits(arguments)
        )

    def _shown(self, record: RecordedRun, fresh: tuple[int, ...], arguments: Sequence[Any]) -> Spans:
        """Repeat a run, and count it where progress is shown."""
        started = clock()
        left = self._repeat(record, fresh, arguments)
        if not left:
            self.show(record, clock() - started)
        return left

    def show(self, record: RecordedRun, elapsed_s: float) -> None:
        """Count a run where progress is shown."""
        if (progress := self._root_runtime.progress) is not None:
            history = record.history
            progress.repeated(history.key, history.source, len(record.values), elapsed_s)

    def _repeat(self, record: RecordedRun, fresh: tuple[int, ...], arguments: Sequence[Any]) -> Spans:
        started = clock()
        if record.has_new_shares():
            self.take_reports()
            self._enter(record)
            record.follow_shares(arguments)
        plan = self.planned(record, fresh, arguments)
        own = tuple(arguments[place] for place in record.places)
        values = tuple(
            value.tobytes() if place in plan.plan.fresh else value
            for place, (value, token) in enumerate(zip(own, plan.plan.tokens, strict=True))
            if token is None
        )
        self._send((plan.plan.number, values))
        self.take_reports(_MAX_UNREPORTED - 1)  # while the other ranks compute
        done = plan.repeater.run(own)
        if record.runs_through and plan.has_run:
            for rows in record.rows_kept(fresh):
                rows.resident.directory.stored(rows.stores)
            self._unreported.append((record, plan, done, clock() - started))
            return EMPTY
        self.take_reports()
        plan.has_run = True
        all_done = [done, *reports(self._root_runtime.communicator)]
        left = self._settle(record, plan, fresh, arguments, [counts for counts, _ in all_done])
        self.count(record, plan, all_done, clock() - started)
        return left

    def take_reports(self, most: int = 0) -> None:
        """Take in what ranks have reported of runs, until at most so many are left unreported."""
        while len(self._unreported) > most:
            record, plan, done, elapsed_s = self._unreported.popleft()
            self.count(record, plan, [done, *reports(self._root_runtime.communicator)], elapsed_s)

    def count(self, record: RecordedRun, plan: PreparedPlan, done: Sequence[Done], elapsed_s: float) -> None:
        """Take in the times of a run."""
        figures = record.figures
        figures.add(elapsed_s, [seconds for _, seconds in done], plan.carried)
        enough = figures.runs >= _ENTERED_AT_ONCE and figures.elapsed_s >= _ENTERED_AFTER_S
        if enough or record.is_dropped:
            self._enter(record)

    def _enter(self, record: RecordedRun) -> None:
        """Have what repetitions have shown decide on shares, and enter it in the statistics."""
        found, record.figures = record.figures, RepeatFigures(len(record.counts))
        if not (runs := found.runs):
            return
        key, counts = record.history.key, record.counts
        self._state.count_run(key, record.ownership, record.over, counts, found.compute_s, runs)
        means = [seconds / runs for seconds in found.compute_s]
        self._state.sharing.learn(key, len(record.values), means, found.elapsed_s / runs, repeated=runs)
        ranks = list(zip(counts, found.compute_s, found.idle_s, strict=True))
        totals = runs, found.elapsed_s, found.overhead_s
        record.history.learn_repeated(totals, ranks, (found.rows, found.bytes))

    def planned(self, record: RecordedRun, fresh: tuple[int, ...], arguments: Sequence[Any]) -> PreparedPlan:
        """The plan by which a run is repeated; what ranks lack is on its way to them from now on."""
        missing: list[tuple[KnownRows, RowTransfer]] = []
        for each in record.rows_kept(fresh):
            missing += [(each, transfer) for transfer in each.resident.directory.deliver(each.needs)]
        travelling = tuple((k.resident.token, t.source, t.targets, t.rows) for k, t in missing)
        if (found := record.plans.get((fresh, travelling))) is None:
            transfers = tuple(ArrayTransfer(k.resident.token, k.axis, t) for k, t in missing)
            if len(record.plans) == _MAX_PLANS:
                record.drop_plans()
            found = record.plans[fresh, travelling] = self._plan(record, fresh, arguments, transfers)
        return found

    def foreseen(
        self, record: RecordedRun, fresh: tuple[int, ...], arguments: Sequence[Any]
    ) -> PreparedPlan | None:
        """The plan by which a run will be repeated, with the directories as they will be afterwards.

        None where the plan has still to run once. What is the same again, as it is in most passes, is looked
        up by the identity of the directories' states.
        """
        kept = record.rows_kept(fresh)
        directories = [each.resident.directory for each in kept]
        before = [each.state for each in directories]
        key = (fresh, *map(id, before))
        if (known := record.foreseen.get(key)) is not None:
            for directory, state in zip(directories, known.after, strict=True):
                directory.go_to(state)
            return known.plan
        plan = self.planned(record, fresh, arguments)
        if not plan.has_run:
            return None
        for rows in kept:
            rows.resident.directory.stored(rows.stores)
        if len(record.foreseen) == _MAX_FORESEEN:
            record.foreseen.clear()
        record.foreseen[key] = ForeseenRun(plan, before, [each.state for each in directories])
        return plan

    def _plan(
        self,
        record: RecordedRun,
        fresh: tuple[int, ...],
        arguments: Sequence[Any],
        transfers: tuple[ArrayTransfer, ...],
    ) -> PreparedPlan:
        """A new plan, which the other ranks get."""
        tokens = {each.place: each.resident.token for each in record.arrays if each.place not in fresh}
        arrays = {token: arguments[place] for place, token in tokens.items()}
        residents, key = record.residents(arguments), record.history.key
        deal, ahead = self._state.ahead(key, residents, record.deal, transfers)
        assert record.index is not None
        plan = RepeatPlan(
            next(self._root_runtime.publisher.tokens),
            key,
            tuple(tokens.get(place) for place in record.places),
            {
                number: (arguments[place].dtype, arguments[place].shape)
                for number, place in enumerate(record.places)
                if place in fresh
            },
            tuple(tuple(map(record.index.values, share.runs)) for share in deal.shares),
            tuple(int(bool(each)) for each in ahead),
            transfers,
            self._state.evictions(residents, deal, record.reached(arguments), record.ownership),
        )
        communicator, threads = self._root_runtime.communicator, self._root_runtime.options.threads or 1
        repeater = RunRepeater(communicator, plan, record.chunks.spec, threads, arrays.__getitem__)
        repeater.prepare(tuple(arguments[place] for place in record.places))
        self._send(plan)
        rows = sum(each.row_transfer.carried for each in transfers)
        return PreparedPlan(plan, repeater, deal.shares, (rows, residents.bytes_of(transfers)))

    def _send(self, message: RepeatPlan | RepeatCommand) -> None:
        self._root_runtime.call_again(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def _settle(
        self,
        record: RecordedRun,
        plan: PreparedPlan,
        fresh: tuple[int, ...],
        arguments: Sequence[Any],
        counts: Sequence[tuple[int, ...]],
    ) -> Spans:
        """Note which rows were stored to; the positions that the run has left to Python."""
        if all(sum(each) == total for each, total in zip(counts, record.counts, strict=True)):
            for rows in record.rows_kept(fresh):
                rows.resident.directory.stored(rows.stores)
            return EMPTY
        done = [
            Spans.of(*(run[:count] for run, count in zip(share.runs, each, strict=True)))
            for share, each in zip(plan.shares, counts, strict=True)
        ]
        residents = record.residents(arguments)
        for key, resident in residents.residents.items():
            resident.directory.stored([residents.stores(key, Field.stored, each) for each in done])
        self._left_over.add(record.code)
        self._drop(self._records.pop(record.code))
        return left_out(len(record.space), done)

    def forget(self, token: int) -> None:
        """An array leaves the ranks: no run that stores to it can be repeated, or reads it in its place."""
        for code, records in list(self._records.items()):
            gone = [each for each in records if not each.can_do_without(token)]
            self._records[code] = [each for each in records if each not in gone]
            self._drop(gone)

    def end(self) -> None:
        """The routine is over: enter all figures."""
        self.ahead.complete()
        self.take_reports()
        self._drop([each for records in self._records.values() for each in records])
        self._records = {}

    def _drop(self, records: Sequence[RecordedRun]) -> None:
        for each in records:
            each.is_dropped = True  # ranks may still have to report
            self._enter(each)
            each.drop_plans()
