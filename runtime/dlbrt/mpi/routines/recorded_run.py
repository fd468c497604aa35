"""A run of a compiled loop on all ranks, with everything that decides what it does.

`RecordedRun.replaced`, `fits` and `is_compiled` tell whether a run with other arguments would do the same.
Its plans say what the ranks then do, by the rows that they lack.

Law: it keeps no array of the program alive. A weak reference, with which numpy refuses to resize an array, is
given up as soon as the array leaves the ranks (`can_do_without`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.data.directory import DirectoryState
from dlbrt.data.field import Field
from dlbrt.data.footprint import Rows
from dlbrt.data.layout import InitialPartition
from dlbrt.data.loop_fields import ArrayTable
from dlbrt.data.memory import Array
from dlbrt.data.shown_warnings import collects_warnings
from dlbrt.data.spans import Spans
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.routines.loop_residents import LoopResidents, ResidentArray
from dlbrt.mpi.routines.run_repeater import RepeatPlan, RunRepeater
from dlbrt.native.arguments import NotCompiled, check_error_state
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from dlbrt.mpi.root.preparation import Preparation
    from dlbrt.mpi.root.program_history import LoopHistory
    from dlbrt.mpi.routines.repeated_runs import RunUnderWay
    from dlbrt.native.chunks import CompiledChunks
    from dlbrt.speed.ownership import IterationOwnership

#: Bytes up to which an array that is new in each run comes with the command.
_MAX_FRESH_BYTES = 1 << 18


@dataclass(slots=True)
class PreparedPlan:
    """A plan, and rank 0's part in it; the positions of each rank, the rows and bytes that travel.

    ``has_run``: all ranks have compiled what they need for it.
    """

    plan: RepeatPlan
    repeater: RunRepeater
    shares: tuple[Spans, ...]
    carried: tuple[int, int]
    has_run: bool = False


@dataclass(frozen=True, slots=True)
class ForeseenRun:
    """The plan of a run that was foreseen, and the states of the directories before and after it.

    It keeps the states before, so that no other state has the identity of one of them.
    """

    plan: PreparedPlan
    before: Sequence[DirectoryState]
    after: Sequence[DirectoryState]


#: What decides which plan is used: the places of arrays that have been replaced, and the rows that travel.
_PlanKey = tuple[tuple[int, ...], tuple[tuple[int, int, tuple[int, ...], Rows], ...]]


def _gone() -> None:
    """In the place of a weak reference that has been given up."""


@dataclass(slots=True)
class _KnownArray:
    """An argument that stays on the ranks; ``replaceable``: another array may come in its place.

    ``array`` is a weak reference.
    """

    place: int
    array: Callable[[], Array | None]
    form: tuple[Any, ...]
    resident: ResidentArray
    replaceable: bool

    def is_replaced_by(self, value: object) -> bool:
        """Whether an array, new and with memory of its own, may come in the place of this one."""
        if not self.replaceable or type(value) is not np.ndarray or value.nbytes > _MAX_FRESH_BYTES:
            return False
        own = value.base is None and bool(value.flags.owndata)
        return own and _form(value) == self.form


def _form(array: Array) -> tuple[Any, ...]:
    return array.shape, array.strides, array.flags.num, array.dtype


@dataclass(frozen=True, slots=True)
class _KnownAtom:
    """An argument that is a number or text; ``value`` is its text, None if it may be any of that type."""

    place: int
    kind: type
    value: str | None

    def is_met_by(self, value: object, largest: int) -> bool:
        """Whether the argument of another run is as good; integers are below ``largest`` in magnitude."""
        if type(value) is not self.kind:
            return False
        if self.value is not None:
            return repr(value) == self.value
        return not isinstance(value, int | np.integer) or -largest < int(value) < largest


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The rows of an array along ``axis`` that each rank needs, and those that it stores to."""

    resident: ResidentArray
    axis: int
    needs: tuple[Rows, ...]
    stores: tuple[Rows, ...]


class RepeatFigures:
    """Totals over repetitions."""

    def __init__(self, ranks: int) -> None:
        self.runs = self.rows = self.bytes = 0
        self.elapsed_s = self.overhead_s = 0.0
        self.compute_s, self.idle_s = [0.0] * ranks, [0.0] * ranks

    def add(self, elapsed_s: float, compute_s: Sequence[float], carried: tuple[int, int]) -> None:
        """Add one."""
        self.runs += 1
        self.rows += carried[0]
        self.bytes += carried[1]
        longest_s = max(compute_s)
        self.elapsed_s += elapsed_s
        self.overhead_s += elapsed_s - longest_s
        for rank, seconds in enumerate(compute_s):
            self.compute_s[rank] += seconds
            self.idle_s[rank] += longest_s - seconds


class RecordedRun:
    """A run that may be repeated, and the figures of its repetitions that are not in the statistics yet.

    ``followed_by`` is the run of the same loop that came after its latest repetition.
    """

    def __init__(self, run: RunUnderWay, loop: LoopContext) -> None:
        prepared = run.prepared
        assert loop.walk.chunks is not None
        self.code = prepared.kernel.__code__
        self.names = tuple(prepared.named)
        self.history: LoopHistory = prepared.loop_history
        self.chunks: CompiledChunks = loop.walk.chunks
        self.space = prepared.space
        self.index = prepared.space.index
        assert self.index is not None
        self.values = self.index.values(range(len(prepared.space)))
        self.table: ArrayTable = loop.table
        self.deal = run.deal
        self.over = self.index, self.deal.units
        self.is_forced = run.is_forced(loop)
        self.ownership: IterationOwnership = run.ownership
        self.version = run.ownership.version
        self.unit_s = run.unit_s
        self.counts = [*map(len, self.deal.shares)]
        self.runs_through = self.chunks.runs_through
        self.places = tuple(map(self.names.index, self.chunks.spec.names))
        self.largest = 1 << min(self.chunks.spec.bits, 62)
        self.arrays = tuple(self._known_arrays(prepared))
        self.atoms = tuple(self._known_atoms(prepared))
        residents, reached = prepared.payload.loop_residents, prepared.payload.reached_inside()
        self._whole = {each.place for each in self.arrays if id(prepared.arguments[each.place]) in reached}
        self.rows = tuple(_rows_of(residents, self.deal, reached))
        self._kept: dict[tuple[int, ...], Sequence[KnownRows]] = {}
        self.plans: dict[_PlanKey, PreparedPlan] = {}
        self.foreseen: dict[tuple[Any, ...], ForeseenRun] = {}
        self.fitting: tuple[Any, ...] | None = None
        self.chunks.bind(())
        self.figures = RepeatFigures(len(self.counts))
        self.followed_by: RecordedRun | None = None
        self.is_dropped = False

    def _known_arrays(self, prepared: Preparation) -> Iterator[_KnownArray]:
        residents = prepared.payload.loop_residents
        for place, value in enumerate(prepared.named.values()):
            if value in residents:
                fields = residents.fields[id(value)]
                whole = not any(each.by_rows or each.spec.stores for each in fields)
                only = sum(other is value for other in prepared.named.values()) == 1
                replaceable = whole and only and bool(value.flags.c_contiguous)
                resident = residents.residents[id(value)]
                yield _KnownArray(place, weakref.ref(value), _form(value), resident, replaceable)

    def _known_atoms(self, prepared: Preparation) -> Iterator[_KnownAtom]:
        """The numbers; functions in the array table may depend on those that the kernel keeps in cells."""
        cells = prepared.kernel.__code__.co_cellvars
        for place, (name, value) in enumerate(prepared.named.items()):
            if value not in prepared.payload.loop_residents:
                free = name in self.chunks.spec.names and name not in cells
                yield _KnownAtom(place, type(value), None if free else repr(value))

    def replaced(self, iterable: object, arguments: Sequence[Any]) -> tuple[int, ...] | None:
        """The places of arrays in whose place others have come; None where the run is another one."""
        if not self.has_atoms(iterable, arguments):
            return None
        fresh: list[int] = []
        for each in self.arrays:
            value, known = arguments[each.place], each.array()
            if known is not None and value is known:
                if _form(known) != each.form:
                    return None
            elif each.is_replaced_by(value):
                fresh.append(each.place)
            else:
                return None
        return tuple(fresh)

    def has_atoms(self, iterable: object, arguments: Sequence[Any]) -> bool:
        """Whether the range is the recorded one, and the numbers are as good as those recorded."""
        if type(iterable) is not range or iterable != self.values:
            return False
        return all(each.is_met_by(arguments[each.place], self.largest) for each in self.atoms)

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Whether the subscripts of all iterations are in range."""
        known = tuple(arguments[each.place] for each in self.atoms)
        if known == self.fitting:
            return True
        ends = self.values[0], self.values[-1]
        check = self.chunks.spec.fits
        try:
            found = check is None or bool(check(min(ends), max(ends), *(arguments[p] for p in self.places)))
        except (IndexError, AttributeError, TypeError):
            found = False
        self.fitting = known if found else None
        return found

    def rows_kept(self, fresh: tuple[int, ...]) -> Sequence[KnownRows]:
        """The rows of the arrays in whose place no others have come."""
        if (found := self._kept.get(fresh)) is None:
            replaced = [each.resident for each in self.arrays if each.place in fresh]
            found = [each for each in self.rows if each.resident not in replaced]
            self._kept[fresh] = found
        return found

    def residents(self, arguments: Sequence[Any]) -> LoopResidents:
        """The arrays on the ranks with their fields, for these arguments."""
        named = dict(zip(self.names, arguments, strict=True))
        found = LoopResidents({id(arguments[each.place]): each.resident for each in self.arrays})
        for each in self.table.fields(named, self.space):
            found.fields.setdefault(id(each.data), []).append(each)
        return found

    def is_compiled(self) -> bool:
        """Whether the compiled code still does what Python does."""
        try:
            check_error_state()
        except NotCompiled:
            return False
        if collects_warnings():
            return False
        return self.chunks.unchanged()

    def has_new_shares(self) -> bool:
        """Whether the ranks' shares have changed; they are cut anew here where that pays."""
        self.ownership.cut_anew(self.history.key, *self.over, self.unit_s)
        return self.version != self.ownership.version

    def follow_shares(self, arguments: Sequence[Any]) -> None:
        """Have what ranks need and store to follow their shares."""
        shares = self.ownership.shares(self.history.key, *self.over, self.unit_s)
        assert shares is not None, "blocks belong to owners for any range"
        self.version, self.deal = self.ownership.version, InitialPartition(self.deal.units, shares)
        self.counts = [*map(len, shares)]
        self.figures = RepeatFigures(len(shares))
        self.rows = tuple(_rows_of(self.residents(arguments), self.deal, self.reached(arguments)))
        self._kept = {}
        self.drop_plans()

    def reached(self, arguments: Sequence[Any]) -> set[int]:
        """Identities of the arrays that iterations reach in other ways as well."""
        return {id(arguments[place]) for place in self._whole}

    def drop_plans(self) -> None:
        """Forget the plans."""
        for each in self.plans.values():
            each.repeater.free()
        self.plans, self.foreseen = {}, {}

    def can_do_without(self, token: int) -> bool:
        """Whether it can be repeated once an array has left the ranks; the array is referred to no more."""
        for each in self.arrays:
            if each.resident.token == token:
                each.array = _gone
                return each.replaceable
        return True


def _rows_of(residents: LoopResidents, deal: InitialPartition, reached: Set[int]) -> Iterator[KnownRows]:
    """The rows of each array that ranks need and store to; all rows of those ``reached`` in other ways."""
    for key, resident in residents.residents.items():
        needs = [residents.needs(key, share, whole=key in reached) for share in deal.shares]
        stores = [residents.stores(key, Field.stored, share) for share in deal.shares]
        yield KnownRows(resident, residents.axis(key), tuple(needs), tuple(stores))
