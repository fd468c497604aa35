"""A loop that is to run, and what it uses, made ready at rank 0 to go to the other ranks.

A loop cannot be shared where the proof's assumptions do not hold of the data (`dlbrt.data.hazard`), or where
something that iterations use cannot leave this process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.balance.strategies import pooled
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.contract import Distribution
from dlbrt.data.access_table import FootprintError
from dlbrt.data.array_table import root_of
from dlbrt.data.field import Field, reached_whole
from dlbrt.data.footprint import IndexMap
from dlbrt.data.hazard import hazard, holders, reached_otherwise
from dlbrt.data.layout import InitialPartition
from dlbrt.data.loop_fields import along_path, reached_twice
from dlbrt.data.memory import Array
from dlbrt.data.overlap import owner, window
from dlbrt.data.space import Space
from dlbrt.data.spans import Spans
from dlbrt.mpi.call import LoopCall, SlotHeader, TableSlots, inspect_rows, pack_tables
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.partitioner import Partitioner
from dlbrt.mpi.root import RootRuntime
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, Eviction, LoopResidents
from dlbrt.mpi.values.code_reach import names_used
from dlbrt.mpi.values.departure import Departure
from dlbrt.mpi.values.generators import is_seed
from dlbrt.mpi.values.left_behind import CannotLeaveError
from dlbrt.mpi.values.objects import KnownObjects, RootObjects
from dlbrt.mpi.values.packing import Packed, SentKernel, look_into, named, pack, pack_kernel, signature
from dlbrt.mpi.values.pickles import met_by_pickler
from dlbrt.mpi.values.program_state import InterpreterState, ModuleData, collect, collects_warnings
from dlbrt.mpi.watch import Watch, foreign_object, watch_of
from dlbrt.predict.groups import Groups
from dlbrt.reductions.contributions import ContributionDescription, LoopContributions, describe, selectable
from dlbrt.reductions.operations import IMMUTABLE
from dlbrt.reductions.output import is_real, output_properties
from dlbrt.reductions.unbound import is_unbound

if TYPE_CHECKING:
    from dlbrt.mpi.routines.routine_state import RoutineState

Kernel = Callable[..., None]

#: Values that no operation changes, so that other references to them do no harm.
_UNCHANGING = (Number, str, bytes, tuple, frozenset, type(None))


def _surely_pickled(element: Any, slots: Mapping[int, int]) -> bool:
    """Whether an element of a list is a number, text, an array of numbers, or a list of numbers or texts.

    So is a seed, unless its own array is one of those in ``slots``.
    """
    if type(element) is list:
        return IMMUTABLE.issuperset(map(type, element))
    if type(element) in IMMUTABLE or (type(element) is np.ndarray and not element.dtype.hasobject):
        return True
    return is_seed(element) and id(element.pool) not in slots


def _by_value(kernel: Kernel) -> Kernel:
    """The kernel, under a name that no module has: so it goes to other ranks by value.

    A rank that imports the kernel's module may find the source there, which has no kernels.
    """
    if kernel.__module__ != "__main__":
        kernel.__qualname__ = f"<loops>.{kernel.__name__}"
    return kernel


class Preparation:
    """A loop to be run, and what it uses, as `obstacle` finds and packs it.

    ``routine_state`` belongs to the routine that the loop is part of, if any: arrays of it stay on the ranks.
    ``named`` are the arguments by the kernel's parameters; ``loop_history`` is what earlier runs have left.

    ``fields`` are those of the array table, ``loop_residents`` those among them that stay on the ranks.
    ``packed`` holds kernel, arguments and space; ``sent`` is the kernel where it is sent apart,
    ``kernel_pickle`` its pickle where the other ranks do not have it. ``tables`` say which slots hold access
    tables. ``state`` is the interpreter's where it has changed, ``settings`` the pickle of that part of it
    which goes by value. ``objects`` are those that all ranks will know by number. ``descriptions`` stand for
    the values that iterations contribute to, ``departure`` has the objects that stay behind at rank 0.
    """

    def __init__(
        self,
        root_runtime: RootRuntime,
        kernel: Kernel,
        space: Space,
        arguments: Sequence[Any],
        routine_state: RoutineState | None,
    ) -> None:
        self.root_runtime = root_runtime
        self.kernel = _by_value(kernel)
        self.space = space
        self.arguments = arguments
        self.routine_state = routine_state
        self.named = named(kernel, arguments)
        self.loop_history = root_runtime.program_history.loop_history(kernel)
        self.fields: list[Field] = []
        self.loop_residents = LoopResidents()
        self.packed = Packed()
        self.sent: SentKernel | None = None
        self.kernel_pickle: bytes | None = None
        self.tables: tuple[TableSlots, ...] = ()
        self.state: InterpreterState | None = None
        self.settings: bytes | None = None
        self.objects = RootObjects()
        self.descriptions: dict[str, ContributionDescription] = {}
        self.departure = Departure(kernel, self.named)

    def fetch_to_root(self, loop: LoopContext) -> None:
        """Make valid at rank 0 everything of the routine's that the loop touches."""
        if self.routine_state is not None:
            self.routine_state.fetch_for_root(loop, self.kernel, self.named, self.space)

    def obstacle(self, loop: LoopContext, *, pooled: bool) -> str | None:
        """Why the loop cannot be shared, in words; None where it can, and everything is ready.

        ``pooled``: work is dealt from a pool at rank 0, so the arrays must be there as well.
        """
        if loop.unmet is not None:
            return f"{loop.unmet} does not hold"
        if collects_warnings():
            return "the program collects warnings, or shows them by a function of its own"
        if self.loop_history.withheld:
            return self.loop_history.withheld
        for name in (*loop.table.specs, *loop.contributions.kinds):
            if is_unbound(value := self.named[root_of(name)]):
                return f"{value.name} has no value"
        places = loop.contributions.places
        if reason := places.obstacle():
            return reason
        try:
            with places.emptied():
                self._find(loop, pooled=pooled)
                if (reason := self._view_obstacle(loop)) is not None:
                    return reason
                self._pack_all(loop.contributions)
                self._try_rows()
                return self._hazard() or self._contribution_obstacle(loop.contributions)
        except (FootprintError, CannotLeaveError) as error:
            return str(error)
        except Exception as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def watches(self, loop: LoopContext) -> bool:
        """Whether what the plan takes as unchanged is to be looked at."""
        if self.root_runtime.options.trust:
            return False
        if not loop.unseen_calls and (foreign := foreign_object(self.named)):
            loop.unseen_calls = {foreign: 0}
        return bool(loop.unseen_calls)

    def watch(self, loop: LoopContext, dealt: Spans) -> Watch:
        """What rank 0's iterations ``dealt`` reach and the plan takes as unchanged, as it is now."""
        residents = [id(value) for value in self.packed.slots if value in self.loop_residents]
        slots = self.packed.slots
        reached = self.kernel, self.named, slots, self.fields, residents
        return watch_of(loop, *reached, dealt, whole=True, behind=self.departure.behind)

    def compose(
        self, loop: LoopContext, first: int, strategy: str, partitioner: Partitioner, *, fixed: bool
    ) -> LoopCall:
        """The call to run what is left of the loop from position ``first`` on: one message to all ranks.

        ``strategy`` is what ranks begin with; ``fixed``: shares are never cut anew.
        """
        root_runtime, state, pool = self.root_runtime, self.state, pooled(strategy)
        network, host_names = root_runtime.network, root_runtime.program_history.host_names
        groups = self._groups(loop, partitioner.weights)
        resident = self.routine_state is not None and pool is None
        self.departure.begin()
        without_rows = not resident and not any(field.moves for field in self.fields)
        if resident:
            deal = self._deal_as_before(loop, first, partitioner, fixed=fixed)
        else:
            deal = partitioner.deal(loop, first, pool=pool, without_rows=without_rows)
        deal, array_transfers, evictions, ahead = self._transfers(loop, deal)
        return LoopCall(
            serial=next(root_runtime.serials),
            key=self.loop_history.key,
            kernel=self.kernel_pickle,
            body=self.packed.body,
            headers=self._headers(),
            deal=deal,
            strategy=strategy,
            groups=groups,
            rules=root_runtime.options.group.rules,
            network=network,
            within=root_runtime.networks.of_groups(groups, host_names),
            measured=partitioner.measured,
            parameters=root_runtime.parameters,
            exchange_s=network.all_to_all.seconds(root_runtime.communicator.ranks),
            environment=state.environment if state else None,
            settings=self.settings,
            dropped=root_runtime.publisher.dropped(),
            output_properties=output_properties(),
            known=partitioner.known if pool is not None else LoopStatistics(),
            without_rows=without_rows,
            tables=self.tables,
            array_transfers=array_transfers,
            evictions=evictions,
            ahead=ahead,
            watched=self.watches(loop),
            live=self._shows_live(loop),
        )

    def _shows_live(self, loop: LoopContext) -> bool:
        """Whether output can be shown while the loop runs.

        What iterations have done then stands: no plan is contradicted, no contribution fails when it is
        applied, and whatever a rank cannot send back can be done again.
        """
        stands = not (self.watches(loop) or loop.contributions.kinds or self.loop_residents.residents)
        return stands and is_real(sys.stdout)

    def _find(self, loop: LoopContext, *, pooled: bool) -> None:
        """The fields, and which of them stay; what rank 0 is about to read is fetched to it."""
        routine_state = self.routine_state
        fields = loop.table.fields(self.named, self.space)
        if pooled:
            self.fetch_to_root(loop)
        elif routine_state is not None:
            routine_state.inspect_rows(fields)
        self.fields = inspect_rows(fields, self.space, self.loop_history.tables)
        if routine_state is not None and not pooled:
            self.loop_residents = routine_state.resident_arrays.admit(self.fields)

    def _pack_all(self, known: LoopContributions) -> None:
        self.descriptions = {name: describe(kind, known.values[name]) for name, kind in known.kinds.items()}
        iterated = {f"items {number}": part.values for number, part in enumerate(self.space.parts, 1)}
        self.departure = Departure(self.kernel, {**self.named, **iterated})
        self._pack()
        if self._hold_whole():
            self._pack()
        routine_state = self.routine_state
        if routine_state is not None and not routine_state.complete(self.packed, self.loop_residents):
            self._pack()
        self.tables = pack_tables(self.fields, self.packed)
        self.state = self.root_runtime.changed_state()
        self.settings = self.objects.dumps(self.state.settings) if self.state else None

    def _hold_whole(self) -> bool:
        """Have every rank hold the lists that are only read and that the loop reaches in another way as well.

        The body may then look at other items than its own (``for p in self.ps: near(p, self.ps)``). Returns
        whether there are such lists; arrays that are reached so are sent whole in any case (`_headers`).
        """
        reached = self._reached_inside()
        found = [f for f in self.fields if isinstance(f.data, list) and id(f.data) in reached]
        found = [f for f in found if f.by_rows and not f.spec.stores]
        self.fields = [f.whole() if any(f is other for other in found) else f for f in self.fields]
        return bool(found)

    def _try_rows(self) -> None:
        """Pickle the elements of lists that will travel by rows, unless they surely can be."""
        for data in self._lists_of_objects():
            self.objects.dumps(list(data))  # all ranks know the list itself

    def _lists_of_objects(self) -> Iterator[list[Any]]:
        """The lists that travel by rows and hold more than numbers, texts, seeds, arrays or lists of them."""
        slots = self.packed.numbers
        for data in (f.data for f in self.fields if isinstance(f.data, list) and (f.moves or f.copied)):
            if not all(_surely_pickled(element, slots) and id(element) not in slots for element in data):
                yield data

    def _pack(self) -> None:
        """Pack what the loop uses, without objects that cannot leave and that iterations do not use."""
        history = self.loop_history
        if not history.leaves_behind:
            try:
                self._pack_with(None)
            except Exception:  # objects' own pickling hooks may raise anything
                history.leaves_behind = True
            else:
                return
        while self._pack_with(self.departure):
            pass

    def _pack_with(self, departure: Departure | None) -> bool:
        """Pack what leaves rank 0; whether it has to be packed again, since more turned out to stay."""
        distributed = {
            id(f.data): f for f in self.fields if f.by_rows or f.spec.stores or f.data in self.loop_residents
        }
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        packed = self.packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed else value

        arguments = [carried(self.descriptions.get(name, value)) for name, value in self.named.items()]
        in_objects = {name: each for name, each in self.descriptions.items() if name not in self.named}
        space = self.space.with_values(carried(part.values) for part in self.space.parts)
        common = self._pack_kernel()
        kernel = self.kernel if self.sent is None else None
        self.objects = RootObjects(lambda: packed.slots, lambda: met_by_pickler(packed.pickler))
        holders = {id(held) for field in self.fields for held in self._path(field)}
        behind = [] if departure is None else departure.behind  # those in rows go by their numbers
        value = kernel, arguments, in_objects, space, self._module_data(distributed.keys()), behind
        pack(value, packed, lists, common, holders, departure)
        met = met_by_pickler(packed.pickler) if departure else []
        known = len(departure.behind) if departure else 0
        if rows := [list(data) for data in self._lists_of_objects()]:
            met += look_into(rows, packed, lists, common, holders, departure)
        if departure is None:
            return False
        return departure.keep_what_reads(met) or len(departure.behind) > known

    def _module_data(self, distributed: Set[int]) -> ModuleData:
        """The data of the program's modules, without arrays that iterations get by rows and no other way."""
        data = collect()
        held = [(path, n) for path, values in data.items() for n, v in values.items() if id(v) in distributed]
        if not held:
            return data
        used = names_used(self.kernel, [*self.named.values(), *(part.values for part in self.space.parts)])
        if used is None:
            return data
        alone = {(path, name) for path, name in held if name.isidentifier() and name not in used}
        return {
            path: {name: value for name, value in values.items() if (path, name) not in alone}
            for path, values in data.items()
        }

    def _pack_kernel(self) -> KnownObjects:
        """Send the kernel apart if its pickle can be used again; the objects that the others have from it."""
        found = signature(self.kernel)
        self.sent = self.kernel_pickle = None
        if found is None:
            return KnownObjects()
        known = self.root_runtime.sent_kernel(self.loop_history.key, found)
        self.sent = known or pack_kernel(self.kernel, found)
        self.kernel_pickle = None if known else self.sent.data
        return self.sent.common

    def _reached_inside(self) -> set[int]:
        """Identities of the arrays and lists met inside other objects, but for those met once, by a path.

        A path is one way to its array as long as each object on it is met once.
        """
        several = self.packed.several
        fields = [f for f in self.fields if several.isdisjoint(map(id, self._path(f)))]
        paths = {id(f.data) for f in fields if f.is_path and self._starts_at_an_argument(f)}
        paths |= {id(array) for f in self.fields for array in holders(f, self._arrays())}
        return self.packed.inside - (paths - several)

    def _path(self, field: Field) -> Sequence[Any]:
        """The objects on the path to a field, the argument first."""
        begins = field.is_path and self._starts_at_an_argument(field)
        return along_path(field.name, self.named, {id(f.data) for f in self.fields}) if begins else ()

    def _view_obstacle(self, loop: LoopContext) -> str | None:
        """A part of an array (``rec["x"]``) where only whole arrays stay on the ranks, or are watched."""
        made = [field for field in self.fields if field.made]
        if made and self.routine_state is not None:
            return f"{made[0].name} is a part of an array, which cannot stay on the ranks by itself"
        stored = next((field.name for field in made if field.spec.stores), None)
        if stored is not None and self.watches(loop):
            return f"{stored} is a part of an array, and calls that dlbc has not seen may change the others"
        return None

    def _starts_at_an_argument(self, field: Field) -> bool:
        """Whether a path begins at an argument; that of an iterated sequence may lead through none."""
        start, *rest = field.name.split(".")
        return not field.iterated or (start in self.named and all(map(str.isidentifier, rest)))

    def _hazard(self) -> str | None:
        """Why the data forbids sharing the loop, if it does."""
        if reason := reached_twice(self.fields, self.named, self.packed.several):
            return reason
        hidden = self._reached_inside() | reached_whole(self.fields, self.named)
        met = self.objects.known.objects if any(field.spec.in_place for field in self.fields) else ()
        return hazard(self.fields, self._arrays(), hidden, len(self.space), met, self.named)

    def _contribution_obstacle(self, known: LoopContributions) -> str | None:
        for name, kind in known.kinds.items():
            if not selectable(kind, known.values[name]):
                return f"what {name} starts from has no order that ranks could choose by"
        changing = {name: known.values[name] for name in known.kinds}
        changing = {name: value for name, value in changing.items() if not isinstance(value, _UNCHANGING)}
        met = self.objects.known.objects if changing else ()
        return reached_otherwise(changing, self.fields, self._arrays(), met, self.named)

    def _arrays(self) -> list[Any]:
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

    def _groups(self, loop: LoopContext, weights: Sequence[float]) -> Groups:
        """The groups of a local strategy; a wish that cannot be met is logged."""
        root_runtime, ranks = self.root_runtime, self.root_runtime.communicator.ranks
        rule = root_runtime.options.group
        if loop.group is not None and loop.group > ranks:
            self.loop_history.log(
                f"a group of {loop.group} is more than all {ranks} ranks: one group of them"
            )
        if rule.lacks_speeds(weights):
            self.loop_history.log(
                "no speeds of these ranks are known for groups of equal speed: blocks of ranks"
            )
        return rule.formed(root_runtime.program_history.host_names, weights, loop.group)

    def _deal_as_before(
        self, loop: LoopContext, first: int, partitioner: Partitioner, *, fixed: bool
    ) -> InitialPartition:
        """The partition of a loop whose arrays stay on the ranks: the owners of the rows go on with them."""
        routine_state, loop_history, residents = self.routine_state, self.loop_history, self.loop_residents
        assert routine_state is not None
        index = self.space.index or IndexMap(0, 1)
        in_turn = loop.table.iterations is Distribution.CYCLIC

        def kept(deal: InitialPartition, bounds: Sequence[int]) -> InitialPartition:
            dealt = (deal, () if in_turn else bounds)
            return routine_state.deal(loop_history, index, dealt, residents, fixed=fixed)

        return partitioner.deal(loop, first, kept)

    def _transfers(
        self, loop: LoopContext, deal: InitialPartition
    ) -> tuple[InitialPartition, tuple[ArrayTransfer, ...], tuple[Eviction, ...], tuple[range, ...]]:
        """The rows of residents that ranks lack, those they evict, and the iterations that need not wait.

        The partition is returned with those iterations first.
        """
        routine_state, loop_residents = self.routine_state, self.loop_residents
        if routine_state is None:
            return deal, (), (), ()
        reached = self._reached_inside()
        array_transfers = routine_state.array_transfers(loop_residents, deal, reached)
        evictions = routine_state.evictions(loop_residents, deal, reached)
        if loop.contributions.kinds or evictions:
            return deal, array_transfers, evictions, ()
        deal, ahead = routine_state.ahead(self.loop_history.key, loop_residents, deal, array_transfers)
        return deal, array_transfers, evictions, ahead

    def _headers(self) -> tuple[SlotHeader, ...]:
        """How the contents of the slots are sent."""
        reached = self._reached_inside()
        by_rows = {id(f.data) for f in self.fields if f.by_rows and id(f.data) not in reached}
        changed = [field for field in self.fields if field.spec.stores]
        stored = {id(field.data) for field in changed}
        stored |= {id(array) for field in changed for array in holders(field, self._arrays())}
        tokens = self.loop_residents.tokens
        return self.root_runtime.publisher.describe(self.packed.slots, by_rows, stored, tokens)
