"""What one run of a loop brings to the other ranks: found, and packed at rank 0.

A payload may hold what another rank cannot read: classes run code of their own as their objects are read
(``__setstate__``), and modules are imported. Rank 0 cannot try this itself, since that code would run where
the program's own state is. So the ranks report whether they have read a payload that is in doubt, and where
one has not, rank 0 runs the loop alone.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.data.array_table import root_of
from dlbrt.data.field import Field
from dlbrt.data.hazard import elsewhere, holders
from dlbrt.data.loop_fields import along_path
from dlbrt.data.memory import Array
from dlbrt.data.overlap import owner, window
from dlbrt.data.space import Space
from dlbrt.mpi.call import TableSlots, inspect_rows, pack_tables
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.root.plain_payload import Form, form_of, plain_payload
from dlbrt.mpi.root.program_history import LoopHistory
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.routines.loop_residents import LoopResidents
from dlbrt.mpi.values.code_reach import names_used
from dlbrt.mpi.values.departure import Departure, is_read_by_code
from dlbrt.mpi.values.generators import are_seeds, is_seed, pools_of
from dlbrt.mpi.values.kernels import SentKernel, pack_kernel, signature
from dlbrt.mpi.values.objects import KnownObjects, RootObjects
from dlbrt.mpi.values.packing import Packed, look_into, pack
from dlbrt.mpi.values.program_modules import ModuleData, collect
from dlbrt.mpi.values.program_state import InterpreterState
from dlbrt.mpi.values.set_pickles import met_by_pickler
from dlbrt.mpi.values.uses import is_made_later
from dlbrt.reductions.contributions import ContributionDescription, LoopContributions, describe
from dlbrt.reductions.operations import IMMUTABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from dlbrt.mpi.routines.routine_state import RoutineState

#: Kinds of objects that are read by their names, from modules that are imported for it.
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


#: Bytes of the elements of a list that are read on trial, all of them.
_MOST_TRIED = 1 << 20


#: Packed payloads kept of a loop: where arrays are swapped from run to run, a few take turns.
_MAX_KEPT = 8


#: Bytes of a payload beyond which it is looked at what of it iterations use.
_MUCH = 1 << 20


def _surely_pickled(element: Any, slots: Mapping[int, int]) -> bool:
    """Whether an element of a list is a number, text, an array of numbers, or a list of numbers or texts.

    So is a seed, unless its own array is one of those in ``slots``.
    """
    if type(element) is list:
        return IMMUTABLE.issuperset(map(type, element))
    if type(element) in IMMUTABLE or (type(element) is np.ndarray and not element.dtype.hasobject):
        return True
    return is_seed(element) and id(element.pool) not in slots


def _all_surely_pickled(data: list[Any], slots: Mapping[int, int]) -> bool:
    """Whether each element surely is, and none is one of those in ``slots``."""
    if not slots.keys().isdisjoint(map(id, data)):
        return False
    if are_seeds(data):
        return slots.keys().isdisjoint(map(id, pools_of(data)))
    return all(_surely_pickled(element, slots) for element in data)


def _is_read_by_code(kind: type) -> bool:
    """Whether code of a class that may be the program's runs as its objects are read."""
    package = str(kind.__module__).partition(".")[0]
    return is_made_later(kind) and package not in ("dlbrt", "numpy") and is_read_by_code(kind)


def _full_name(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or value.__name__
    return f"{getattr(value, '__module__', None)}.{name}"


class Payload:
    """What the other ranks get for one run of a loop.

    ``fields`` are those of the array table, ``loop_residents`` those among them that stay on the ranks.
    ``packed`` holds kernel, arguments and space; ``sent`` is the kernel where it is sent apart,
    ``kernel_pickle`` its pickle where the other ranks do not have it. ``tables`` say which slots hold access
    tables. ``state`` is the interpreter's where it has changed, ``settings`` the pickle of that part of it
    which goes by value. ``samples`` is the pickle of elements of lists that travel by rows: one of each
    class, or all where code of classes reads them. ``objects`` are those that all ranks will know by number.
    ``descriptions`` stand for the values that iterations contribute to, ``departure`` has the objects that
    stay behind at rank 0.
    ``as_before``: it is that of an earlier run, which has shown that a loop with it can be shared;
    ``is_plain``: it holds atoms, and arrays by their slots alone.
    """

    def __init__(
        self,
        root_runtime: RootRuntime,
        kernel: Callable[..., None],
        named: Mapping[str, Any],
        space: Space,
        routine_state: RoutineState | None,
        loop_history: LoopHistory,
    ) -> None:
        self._root_runtime = root_runtime
        self._kernel = kernel
        self._named = named
        self._space = space
        self._routine_state = routine_state
        self._loop_history = loop_history
        self.fields: list[Field] = []
        self.loop_residents = LoopResidents()
        self.packed = Packed()
        self.sent: SentKernel | None = None
        self.kernel_pickle: bytes | None = None
        self.tables: tuple[TableSlots, ...] = ()
        self.state: InterpreterState | None = None
        self.settings: bytes | None = None
        self.samples: bytes | None = None
        self.objects = RootObjects()
        self.descriptions: dict[str, ContributionDescription] = {}
        self.departure = Departure(kernel, named)
        self.as_before = self.is_plain = False
        self._form: Form | None = None
        self._lean = False
        self._places: Mapping[str, Sequence[Any]] = {}  # of contributions, with the objects that lead there
        self._in_rows: list[Any] = []  # the objects in lists that travel by rows

    def find(self, loop: LoopContext, *, pooled: bool) -> None:
        """Find the fields, and which of them stay on the ranks; FootprintError where there can be none.

        ``pooled``: work is dealt from a pool at rank 0, so nothing stays.
        """
        routine_state = self._routine_state
        fields = loop.table.fields(self._named, self._space)
        copied = set() if loop.walk.chunks is None else loop.walk.chunks.lists
        fields = [f.whole() if id(f.data) in copied and not f.spec.stores else f for f in fields]
        if routine_state is not None and not pooled:
            routine_state.inspect_rows(fields)
        self.fields = inspect_rows(fields, self._space, self._loop_history.tables)
        if routine_state is not None and not pooled:
            self.loop_residents = routine_state.admit(loop, self._kernel, self._named, self.fields)

    def pack(self, known: LoopContributions, *, lean: bool) -> None:
        """Pack it; ``known`` is what iterations contribute to. Raises what objects' own hooks raise.

        ``lean``: the code of all that iterations call is known, so that large objects which no name in it
        leads to can stay at rank 0.
        """
        self._lean, self._places = lean, known.places.holders
        self.descriptions = {name: describe(kind, known.values[name]) for name, kind in known.kinds.items()}
        iterated = {f"items {number}": part.values for number, part in enumerate(self._space.parts, 1)}
        self.departure = Departure(self._kernel, {**self._named, **iterated})
        if self._take_packed(known):
            return
        self._pack()
        if self._hold_whole():
            self._pack()
        routine_state = self._routine_state
        if routine_state is not None and not routine_state.complete(self.packed, self.loop_residents):
            self._pack()
        self.tables = pack_tables(self.fields, self.packed)
        self.state = self._root_runtime.changed_state()
        self.settings = self.objects.dumps(self.state.settings) if self.state else None
        self._try_rows()

    def _take_packed(self, known: LoopContributions) -> bool:
        """Take what an earlier run has packed, where nothing differs that it depends on."""
        self._form = form_of(
            self._named, self.fields, self._space, self.loop_residents, known.kinds.keys(), collect()
        )
        self._pack_kernel()
        before = self._loop_history.plain_payloads.get(self._form) if self._form is not None else None
        if before is None or before.sent is not self.sent or before.descriptions != self.descriptions:
            return False
        self.packed = packed = before.packed(self._named)
        routine_state = self._routine_state
        self.objects = RootObjects(lambda: packed.slots, lambda: before.met)
        if routine_state is not None:
            routine_state.complete(packed, self.loop_residents)
        self.state = self._root_runtime.changed_state()
        self.settings = self.objects.dumps(self.state.settings) if self.state else None
        self.as_before = self.is_plain = True
        return True

    def keep_packed(self) -> None:
        """The loop can be shared: keep the payload for later runs, where its form is known."""
        if self._form is None or self.sent is None or self.as_before:
            return
        found = plain_payload(self.packed, self._named, self.sent, self.descriptions)
        if found is not None:
            kept = self._loop_history.plain_payloads
            if len(kept) == _MAX_KEPT:
                kept.clear()
            kept[self._form] = found
            self.is_plain = True

    def is_in_doubt(self) -> bool:
        """Whether other ranks are to say that they have read it, before the loop begins there.

        They are where this loop has not brought them all of its classes, functions and modules yet, and where
        code of classes runs as objects are read. Not in a routine, where ranks have given up rows by then.
        """
        if self._routine_state is not None or self.as_before:
            return False
        kinds = set(map(type, self._met()))
        return any(map(_is_read_by_code, kinds)) or not self._names_met() <= self._loop_history.read

    def was_read(self) -> None:
        """All other ranks have read it."""
        self._loop_history.read |= self._names_met()

    def _met(self) -> Iterator[Any]:
        """The objects in it."""
        yield from self._in_rows
        for _, value in self.packed.pickler.memo.copy().values():
            yield value

    def _names_met(self) -> set[str]:
        """The names of what is read by its name, and of the classes of all else."""
        met = {id(value): value for value in self._met() if isinstance(value, _NAMED)}
        return {_full_name(each) for each in (*met.values(), *set(map(type, self._met())), self._kernel)}

    def _hold_whole(self) -> bool:
        """Have every rank hold the lists that are only read and that the loop reaches in another way as well.

        The body may then look at other items than its own (``for p in self.ps: near(p, self.ps)``). Returns
        whether there are such lists; arrays that are reached so are sent whole in any case (`_headers`).
        """
        reached = self.reached_inside()
        found = [f for f in self.fields if isinstance(f.data, list) and id(f.data) in reached]
        found = [f for f in found if f.by_rows and not f.spec.stores]
        self.fields = [f.whole() if any(f is other for other in found) else f for f in self.fields]
        return bool(found)

    def _try_rows(self) -> None:
        """Pickle the elements of lists that will travel by rows, unless they surely can be."""
        samples: list[Any] = []
        by_code = any(map(_is_read_by_code, set(map(type, self._in_rows))))
        for data in self._lists_of_objects():
            pickled = self.objects.dumps(list(data))  # all ranks know the list itself
            # Code of a class may refuse single objects of it.
            several = by_code and len(pickled) <= _MOST_TRIED
            samples += data if several else {type(element): element for element in data}.values()
        self.samples = self.objects.dumps(samples) if samples else None

    def _lists_of_objects(self) -> Iterator[list[Any]]:
        """The lists that travel by rows and hold more than numbers, texts, seeds, arrays or lists of them."""
        slots = self.packed.numbers
        for data in (f.data for f in self.fields if isinstance(f.data, list) and (f.moves or f.copied)):
            if not _all_surely_pickled(data, slots):
                yield data

    def _pack(self) -> None:
        """Pack what the loop uses, without objects that cannot leave and that iterations do not use."""
        history = self._loop_history
        lean = self.departure.lean = self._lean and history.has_bulk is True
        if not history.leaves_behind and not lean:
            try:
                self._pack_with(None)
            except BaseException:  # objects' own pickling hooks may raise anything
                history.leaves_behind = True
            else:
                lean = self._lean and history.has_bulk is None and self._carried_bytes() > _MUCH
                if not lean:
                    return
        self.departure.lean = lean
        while self._pack_with(self.departure):
            pass
        if lean:
            # Code of the program that reads its own objects may look at what has stayed.
            history.has_bulk = self.departure.lightened and not self.packed.pickler.has_hooks
            if self.departure.lightened and not history.has_bulk:
                self._pack()

    def _carried_bytes(self) -> int:
        """What travels by value, and arrays inside other objects."""
        slots = (value for value in self.packed.slots if id(value) in self.packed.inside)
        return len(self.packed.body) + sum(value.nbytes for value in slots if isinstance(value, np.ndarray))

    def _pack_with(self, departure: Departure | None) -> bool:
        """Pack what leaves rank 0; whether it has to be packed again, since more turned out to stay."""
        distributed = {
            id(f.data): f for f in self.fields if f.by_rows or f.spec.stores or f.data in self.loop_residents
        }
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        plain = {id(f.data) for f in self.fields if type(f.data) is np.ndarray and not f.data.dtype.hasobject}
        packed = self.packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed or id(value) in plain else value

        arguments = [carried(self.descriptions.get(name, value)) for name, value in self._named.items()]
        in_objects = {name: each for name, each in self.descriptions.items() if name not in self._named}
        space = self._space.with_values(carried(part.values) for part in self._space.parts)
        common = self._pack_kernel()
        kernel = self._kernel if self.sent is None else None
        self.objects = RootObjects(lambda: packed.slots, lambda: met_by_pickler(packed.pickler))
        holders = {id(held) for field in self.fields for held in self._path(field)}
        holders |= {id(held) for leading in self._places.values() for held in leading}
        behind = [] if departure is None else departure.behind  # those in rows go by their numbers
        value = kernel, arguments, in_objects, space, self._module_data(distributed.keys()), behind
        pack(value, packed, lists, common, holders, departure)
        known = len(departure.behind) if departure else 0
        rows = [list(data) for data in self._lists_of_objects()]
        self._in_rows = look_into(rows, packed, lists, common, holders, departure) if rows else []
        if departure is None:
            return False
        met = [*met_by_pickler(packed.pickler), *self._in_rows]
        return departure.keep_what_reads(met) or len(departure.behind) > known

    def _module_data(self, distributed: Set[int]) -> ModuleData:
        """The data of the program's modules, without arrays that iterations get by rows and no other way."""
        data = collect()
        held = [(path, n) for path, values in data.items() for n, v in values.items() if id(v) in distributed]
        if not held:
            return data
        used = names_used(self._kernel, [*self._named.values(), *(part.values for part in self._space.parts)])
        if used is None:
            return data
        alone = {(path, name) for path, name in held if name.isidentifier() and name not in used}
        return {
            path: {name: value for name, value in values.items() if (path, name) not in alone}
            for path, values in data.items()
        }

    def _pack_kernel(self) -> KnownObjects:
        """Send the kernel apart if its pickle can be used again; the objects that the others have from it."""
        found = signature(self._kernel)
        self.sent = self.kernel_pickle = None
        if found is None:
            return KnownObjects()
        known = self._root_runtime.sent_kernel(self._loop_history.key, found)
        self.sent = known or pack_kernel(self._kernel, found)
        self.kernel_pickle = None if known else self.sent.data
        return self.sent.common

    def reached_inside(self) -> set[int]:
        """Identities of the arrays and lists met inside other objects, but for those met once, by a path.

        A path is one way to its array as long as each object on it is met once.
        """
        several = self.packed.several
        fields = [f for f in self.fields if several.isdisjoint(map(id, self._path(f)))]
        paths = {id(f.data) for f in fields if f.is_path and self._starts_at_an_argument(f)}
        paths |= {id(array) for f in self.fields for array in holders(f, self.arrays())}
        return self.packed.inside - (paths - several)

    def holder_obstacle(self) -> str | None:
        """Why iterations may not contribute to what objects hold (``s.total``); None if they may.

        While the loop runs, the object holds there what its rank has contributed so far: nobody may find it.
        """
        several = self.packed.several
        if self._places and self.sent is not None:
            several = several | self.sent.common.known.memo.keys()
        for name, leading in self._places.items():
            for holder in leading:
                if id(holder) in several:
                    return (
                        f"what holds {name} is also reached {elsewhere(root_of(name), holder, self._named)}"
                    )
        return None

    def _path(self, field: Field) -> Sequence[Any]:
        """The objects on the path to a field, the argument first."""
        begins = field.is_path and self._starts_at_an_argument(field)
        return along_path(field.name, self._named, {id(f.data) for f in self.fields}) if begins else ()

    def _starts_at_an_argument(self, field: Field) -> bool:
        """Whether a path begins at an argument; that of an iterated sequence may lead through none."""
        start, *rest = field.name.split(".")
        return not field.iterated or (start in self._named and all(map(str.isidentifier, rest)))

    def arrays(self) -> list[Any]:
        """Every array that goes to the other ranks, and as arrays what else exposes memory."""
        packed = self.packed
        arrays = [*(value for value in packed.slots if not isinstance(value, list)), *packed.arrays]
        return [*arrays, *map(window, packed.exposing), *self._byte_arrays(arrays)]

    def _byte_arrays(self, arrays: Sequence[Array]) -> list[Array]:
        """The byte arrays that go to the other ranks as such, and whose memory some array has."""
        owners = {id(found): found for found in map(owner, arrays) if type(found) is bytearray}
        return (
            [window(value) for value in self.objects.known.objects if id(value) in owners] if owners else []
        )
