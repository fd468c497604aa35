"""Enforcement of a plan: what the plan takes as unchanged by the loop is looked at while the loop runs.

The compiler proves what it sees. Of a call that it has not seen it takes for granted that the call changes
nothing which iterations share. So each rank that runs iterations of such a loop notes, before its first one,
what they reach and what the plan does not store to: objects that travel by value as a pickle, arrays and
lists by rows, the state of Python's and numpy's random generators. Afterwards it looks again. What differs is
named by its path (``Particle.created``).

Law. Rank 0 begins a loop that it does not know yet with its first iterations alone, on the program's own
objects: a prefix of the sequential run. If they contradict the plan, it goes on alone, and the result is
exact. What shows later, on any rank, shows before anything is gathered: then rank 0 keeps what it did from
the first iteration on without a gap, and does the rest alone (`Undo`).
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.data.digests import ArrayDigests
from dlbrt.data.field import Field, take
from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array
from dlbrt.data.object_state import UnknownPartError, parts_of
from dlbrt.data.spans import Spans
from dlbrt.mpi.communicator import ProgramError
from dlbrt.mpi.output.standard_output import BYPASSED, OutputProbe
from dlbrt.mpi.team import SingleRank, clock
from dlbrt.mpi.values.difference import changed_path
from dlbrt.mpi.values.generators import GENERATORS, are_seeds, state_of_seeds, states
from dlbrt.mpi.values.program_modules import collect, is_of_program
from dlbrt.mpi.values.program_state import capture, exit_callbacks, figures
from dlbrt.mpi.values.snapshots import snapshot
from dlbrt.records import dataclass
from dlbrt.reductions.places import Places

if TYPE_CHECKING:
    from dlbrt.mpi.loop import LoopContext

#: The name of the kernel among the objects that are watched; what it reaches is named by itself.
KERNEL = "the loop's body"

#: Packages whose classes the compiler knows, or has seen.
_SEEN_PACKAGES = frozenset({"__main__", "numpy", "dlbrt", *sys.stdlib_module_names})

#: The decimal context, but for its traps, where the module is not imported: importing it changes nothing.
_DECIMALS = (28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0)

#: Stretches of rows at whose ends single rows are looked at.
_MAX_EDGES = 32

#: How many calls a sentence names.
_NAMED_CALLS = 3

#: Iterations in a row that have to change nothing once one has changed something.
_CLEAN_ITERATIONS = 2


class ContradictionError(ProgramError):
    """A call that the compiler has not seen has changed what the plan takes as unchanged, past undoing."""


@dataclass(frozen=True, slots=True)
class WatchedArray:
    """An array, its name, the fields of the loop that it is, and the digests of its rows as they were."""

    name: str
    array: Array
    fields: tuple[Field, ...]
    before: ArrayDigests


class Watch:
    """What one rank's iterations reach and the plan takes as unchanged, as it is when this is made.

    ``values`` are objects by name; ``slots`` the arrays and lists of the loop, ``fields`` those of its table;
    ``apart`` are the identities of slots that are not looked at. In objects, nor are the ``places`` to which
    iterations contribute. ``dealt`` are the positions that this rank begins with; ``whole``: it has the rows
    of all others too, as rank 0 does. ``seeded`` are the global random
    generators that each iteration seeds; ``behind`` are objects that have stayed at this rank.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        slots: Sequence[Any],
        fields: Sequence[Field],
        apart: set[int],
        dealt: Spans,
        places: Places,
        *,
        whole: bool,
        seeded: Sequence[str] = (),
        behind: Sequence[Any] = (),
    ) -> None:
        started = clock()
        self._values, self._slots, self._places, self._behind = values, slots, places, behind
        self._generators = [name for name in GENERATORS if name in sys.modules and name not in seeded]
        self._lists = {
            field.name or "the loop's items": (field, _rows_held(field, dealt, whole))
            for field in fields
            if type(field.data) is list and not field.spec.stores
        }
        self._arrays = [
            _watched(value, values, fields, dealt) for value in slots if _is_plain(value, fields, apart)
        ]
        self._classes = [
            kind
            for field in fields
            if type(field.data) is list and field.spec.stores
            for kind in _classes_of(field.data[row] for run in _rows_held(field, dealt, whole) for row in run)
        ]
        self._before = self._snapshot()
        self.seconds = clock() - started  # spent on looking

    def go_on(self, dealt: Spans) -> None:
        """The plan has held; look on, while this rank begins with the positions ``dealt``."""
        started = clock()
        for each in self._arrays:
            each.before.add_edges(_edges(each.fields, dealt))
        self.seconds += clock() - started

    def contradiction(self, done: Spans, received: Sequence[Spans] = ()) -> str | None:
        """What has changed though the plan says that iterations ``done`` do not change it; None if nothing.

        Rows of the iterations ``received`` have come from other ranks since.
        """
        started = clock()
        found = self._changed(done, received)
        self.seconds += clock() - started
        return found

    def _changed(self, done: Spans, received: Sequence[Spans]) -> str | None:
        for each in self._arrays:
            stored = [field.stored(done) for field in each.fields]
            come = [field.needed(spans) for field in each.fields for spans in received]
            row = each.before.changed((*stored, *come))
            if row is not None:
                return f"row {row} of {each.name}" if each.array.ndim else each.name
        if self._before is None:
            return "something that cannot be pickled, so that it cannot be compared, perhaps"
        after = self._snapshot()
        if after == self._before:
            return None
        if after is None:
            return "something that can no longer be sent to other ranks"
        return changed_path(self._before, after)

    def _snapshot(self) -> bytes | None:
        """A pickle of everything but the arrays; None where some object cannot be pickled."""
        lists = {name: _comparable(field.data, rows) for name, (field, rows) in self._lists.items()}
        try:
            with self._places.emptied():
                return snapshot(
                    {
                        **{kind.__qualname__: kind for kind in self._classes},
                        **self._values,
                        **_state(),
                        **states(self._generators),
                        **lists,
                    },
                    self._slots,
                    self._behind,
                )
        except BaseException:  # objects' own pickling hooks may raise anything
            return None


def watch_of(
    loop: LoopContext,
    kernel: object,
    named: Mapping[str, Any],
    slots: Sequence[Any],
    fields: Sequence[Field],
    residents: Iterable[int],
    dealt: Spans,
    *,
    whole: bool,
    behind: Sequence[Any] = (),
) -> Watch:
    """The watch over a loop on this rank: over all that its kernel and its arguments reach.

    Left out are what iterations contribute to, private objects, and arrays that stay on the ranks
    (``residents``). ``dealt``, ``whole`` and ``behind`` are as for `Watch`.
    """
    apart = {*residents, *(id(named[name]) for name in loop.private if name in named)}
    values = {
        name: value
        for name, value in named.items()
        if name not in loop.contributions.kinds and name not in loop.private
    }
    places, seeded = loop.contributions.places, loop.generators
    reached = {**values, KERNEL: kernel}
    return Watch(reached, slots, fields, apart, dealt, places, whole=whole, seeded=seeded, behind=behind)


def foreign_object(values: Mapping[str, Any]) -> str | None:
    """An object whose operators do what the compiler has not seen; None if there is none.

    Python's own classes and numpy's keep to what the compiler expects of operators, but for dictionaries that
    grow where they are read.
    """
    for name, value in values.items():
        items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
        for held in (value, *islice(items, 1)):
            package = type(held).__module__.partition(".")[0]
            if package not in _SEEN_PACKAGES:
                return f"operators of {type(held).__qualname__} ({name})"
            if any(map(_grows, (held, *_attributes(held)))):
                return f"reading keys that a defaultdict lacks ({name})"
    return None


def _grows(value: Any) -> bool:
    return type(value) is defaultdict and value.default_factory is not None


def _attributes(value: Any) -> Iterable[Any]:
    """The attributes of an object of the program's own classes."""
    return tuple(getattr(value, "__dict__", {}).values()) if type(value).__module__ == "__main__" else ()


def contradicted(change: str, calls: Mapping[str, int]) -> str:
    """A sentence on what has changed, and by which calls it may have been."""
    return f"{change} has changed, which the plan takes as unchanged; what dlbc has not seen: {_named(calls)}"


def _named(calls: Mapping[str, int]) -> str:
    named = [f"{call} in line {line}" if line else call for call, line in calls.items()]
    more = f" and {len(named) - _NAMED_CALLS} more" if len(named) > _NAMED_CALLS else ""
    return ", ".join(named[:_NAMED_CALLS]) + more


def _state() -> dict[str, Any]:
    """What bodies may change of the interpreter and its modules, by name."""
    state = capture()
    found: dict[str, Any] = {
        f"{path}.{name}".replace(":", ".").replace(".__dict__", ""): value
        for path, values in collect().items()
        for name, value in values.items()
    }
    settings = state.settings
    return found | {
        "os.environ": dict(os.environ),
        "the current directory": state.environment.directory,
        "sys.path": state.environment.path,
        "np.geterr()": settings.floating,
        "np.geterrcall()": settings.on_error,
        "np.get_printoptions()": settings.printing,
        "the decimal context": (settings.decimals or _DECIMALS)[: len(_DECIMALS)],
        "sys.getrecursionlimit()": settings.recursion,
        # A module that is imported late may put its own filters first.
        "warnings.filters": sorted(map(repr, settings.filters)),
        "the levels of loggers": settings.logging,
        "what runs at exit": exit_callbacks(),
        **figures(),
    }


def _is_plain(value: Any, fields: Sequence[Field], apart: set[int]) -> bool:
    """Whether a slot holds an array that is looked at by rows."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject or id(value) in apart:
        return False
    return not any(field.by_elements for field in fields if field.data is value)


def _watched(array: Array, values: Mapping[str, Any], fields: Sequence[Field], dealt: Spans) -> WatchedArray:
    own = tuple(field for field in fields if field.data is array)
    axis = next((field.axis for field in sorted(own, key=lambda f: not (f.spec.stores or f.by_rows))), 0)
    names = (field.name for field in own if field.name)
    name = next(names, None) or next((n for n, v in values.items() if v is array), "an array")
    return WatchedArray(name, array, own, ArrayDigests(array, axis, _edges(own, dealt)))


def _edges(fields: Iterable[Field], dealt: Spans) -> Sequence[int]:
    """The rows at which the stretches that iterations ``dealt`` store to begin and end."""
    rows = [run for field in fields for run in field.stored(dealt)]
    return [row for run in rows for row in (run[0], run[-1])] if len(rows) <= _MAX_EDGES else []


def _rows_held(field: Field, dealt: Spans, whole: bool) -> Rows:
    """The rows of a list that a rank has."""
    return (range(field.length),) if whole or not field.by_rows else field.needed(dealt)


def _comparable(data: list[Any], rows: Rows) -> Any:
    """The elements of a list by their rows; of seeds, which may be many, all that they hold."""
    places = [row for run in rows for row in run if row < len(data)]
    held = [data[row] for row in places]
    return state_of_seeds(held) if are_seeds(held) else dict(zip(places, held, strict=True))


def _classes_of(items: Iterable[Any]) -> dict[type, None]:
    """The program's classes of which items consist; one item of a type stands for all."""
    found: dict[type, None] = {}
    for item in {type(item): item for item in items}.values():
        try:
            parts = parts_of(item)
        except UnknownPartError:
            parts = []
        kinds = (part for part in (type(item), *parts) if isinstance(part, type))
        found |= dict.fromkeys(kind for kind in kinds if is_of_program(kind))
    return found


class Probation:
    """Rank 0's first iterations of a loop, alone and one by one, each watched, until the plan is believed.

    A change in the first iteration alone may be a cache that has been filled: the ranks are sent what is
    there afterwards, so it does no harm. If the next iterations change nothing, the loop is shared.
    """

    def __init__(self) -> None:
        self.wanted = 0  # iterations that still have to change nothing
        self._watch: Watch | None = None
        self._probe: OutputProbe | None = None
        self._suspected = False
        self.seconds = 0.0  # spent on looking, apart from the watch under way

    @property
    def goes_on(self) -> bool:
        """Whether the watch of the iteration before serves for one more."""
        return self.wanted > 0 and self._watch is not None

    def begin(self, make: Callable[[], Watch]) -> None:
        """Watch one more iteration."""
        self._watch, self._probe = self._watch or make(), OutputProbe()

    def close(self) -> bool:
        """Pass on what the iteration has written; whether any of it went past ``sys.stdout``."""
        probe, self._probe = self._probe, None
        return probe is not None and probe.close()

    def take_watch(self) -> Watch | None:
        """The watch that has found nothing, to look on with; None if there was none."""
        watch, self._watch = self._watch, None
        return watch

    def contradiction(self, begun: SingleRank | None) -> str | None:
        """What contradicts the plan for good; None as long as nothing does."""
        bypassed = self.close()
        if self._watch is None or begun is None:
            return None
        if bypassed:
            return BYPASSED
        found = self._watch.contradiction(begun.figures.done)
        if found is None:
            self.wanted -= 1
            return None
        self.seconds += self._watch.seconds
        self._watch = None
        if self._suspected:
            return found
        self._suspected, self.wanted = True, _CLEAN_ITERATIONS
        return None


class Undo:
    """Rows at rank 0 as they were before iterations that do not continue its first ones without a gap.

    Rank 0 works on the program's own arrays. If the plan is contradicted, iterations after the gap are done
    again, so what they have stored to must be as before. ``in_order``: there was no such iteration.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = [field for field in fields if field.spec.stores]
        self._kept: list[tuple[Field, range, Any]] = []
        self.in_order = True
        self.possible = not any(
            field.by_elements or (field.spec.in_place and isinstance(field.data, list))
            for field in self._fields
        )

    def keep(self, positions: range) -> None:
        """Keep what iterations at these positions are about to store to."""
        self.in_order = False
        if not self.possible:
            return
        for field in self._fields:
            rows = field.stored(Spans.of(positions))
            if isinstance(field.data, list):
                self._kept.append((field, positions, [field.data[row] for run in rows for row in run]))
            elif rows:
                self._kept.append((field, positions, take(field.data, field.axis, rows).copy()))

    def undo(self, end: int) -> None:
        """Restore what iterations from position ``end`` on have stored to, the latest first."""
        for field, positions, kept in reversed(self._kept):
            rows = field.stored(Spans.of(positions))
            after = Spans.of(positions[bisect_left(positions, end) :])
            places = _places(rows, field.stored(after))
            if isinstance(field.data, list):
                for place, row in places:
                    field.data[row] = kept[place]
            elif places:
                lines = np.moveaxis(field.data, field.axis, 0), np.moveaxis(kept, field.axis, 0)
                lines[0][[row for _, row in places]] = lines[1][[place for place, _ in places]]
        self._kept.clear()


def _places(rows: Rows, wanted: Rows) -> list[tuple[int, int]]:
    """For each wanted row, its place among ``rows``, and itself."""
    place = {row: place for place, row in enumerate(row for run in rows for row in run)}
    return [(place[row], row) for run in wanted for row in run]
