"""What a loop uses, made ready at rank 0 to go to the other ranks; or why it cannot be shared.

It cannot where the proof's assumptions do not hold of the data (`dlbrt.data.hazard`), or where something that
iterations use cannot leave this process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.contract import Distribution
from dlbrt.data.access_table import FootprintError
from dlbrt.data.field import Field, reached_whole
from dlbrt.data.footprint import IndexMap
from dlbrt.data.hazard import hazard, reached_otherwise
from dlbrt.data.layout import InitialPartition
from dlbrt.mpi.call import LoopCall, SlotHeader, TableSlots, inspect_rows, pack_tables
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.partitioner import Partitioner, StrategySelection, Task
from dlbrt.mpi.routines.array_transfers import ArrayTransfer, Eviction
from dlbrt.mpi.routines.loop_residents import LoopResidents
from dlbrt.mpi.values import packing
from dlbrt.mpi.values import program_state as modules
from dlbrt.mpi.values.objects import SharedObjects, met_by_pickler
from dlbrt.mpi.values.packing import Packed, SentKernel, signature
from dlbrt.mpi.values.program_state import InterpreterState
from dlbrt.predict.groups import Groups
from dlbrt.reductions.contributions import ContributionDescription, LoopContributions, describe, selectable
from dlbrt.reductions.output import output_properties

#: Values that no operation changes: whoever else has them goes on having them.
_UNCHANGING = (Number, str, bytes, tuple, frozenset, type(None))


class Preparation:
    """What the loop of a task uses, as `obstacle` finds and packs it.

    ``fields`` are those of its array table, ``loop_residents`` the ones that stay on the ranks. ``packed`` holds
    kernel, arguments and space; ``sent`` is the kernel where it goes apart, ``kernel`` its pickle where the
    others do not have it. ``tables`` say which slots hold what iterations touch. ``state`` is the
    interpreter's where it has changed, ``settings`` the pickle of what of it goes by value. ``objects`` are
    those that all ranks will know by number. ``descriptions`` stand for values that are contributed to.
    """

    def __init__(self, task: Task) -> None:
        self.fields: list[Field] = []
        self.loop_residents = LoopResidents()
        self.packed = Packed()
        self.sent: SentKernel | None = None
        self.kernel: bytes | None = None
        self.tables: tuple[TableSlots, ...] = ()
        self.state: InterpreterState | None = None
        self.settings: bytes | None = None
        self.objects = SharedObjects()
        self.descriptions: dict[str, ContributionDescription] = {}
        self._task = task

    def obstacle(self, loop: LoopContext, *, pooled: bool) -> str | None:
        """Why the loop cannot be shared, in words; None where it can, and everything is ready.

        ``pooled``: work is dealt from a pool at rank 0, where the arrays are then, too.
        """
        if loop.unmet is not None:
            return f"{loop.unmet} does not hold"
        arguments = self._task.named
        try:
            self._find(loop, arguments, pooled=pooled)
            self._pack_all(loop.contributions, arguments)
            return self._hazard(arguments) or self._contribution_obstacle(loop.contributions)
        except FootprintError as error:
            return str(error)
        except Exception as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def _find(self, loop: LoopContext, arguments: Mapping[str, Any], *, pooled: bool) -> None:
        """The fields, and which of them stay; all that is to be read at rank 0 comes home."""
        task, routine_state = self._task, self._task.routine_state
        fields = loop.table.fields(arguments, task.space)
        if pooled:
            task.fetch_to_root(loop)
        elif routine_state is not None:
            routine_state.inspect_rows(fields)
        self.fields = inspect_rows(fields, len(task.space), task.loop_history.tables)
        if routine_state is not None and not pooled:
            self.loop_residents = routine_state.admit(self.fields)

    def _pack_all(self, known: LoopContributions, arguments: dict[str, Any]) -> None:
        root_runtime, routine_state = self._task.root_runtime, self._task.routine_state
        self.descriptions = {name: describe(kind, known.values[name]) for name, kind in known.kinds.items()}
        values = list((arguments | self.descriptions).values())
        self._pack(values)
        if routine_state is not None and not routine_state.complete(self.packed, self.loop_residents):
            self._pack(values)
        self.tables = pack_tables(self.fields, self.packed)
        self.state = root_runtime.changed_state()
        self.settings = self.objects.dumps(self.state.settings) if self.state else None

    def _pack(self, values: Sequence[Any]) -> None:
        task = self._task
        distributed = {
            id(f.data): f for f in self.fields if f.by_rows or f.spec.stores or f.data in self.loop_residents
        }
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        packed = self.packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed else value

        arguments = [carried(value) for value in values]
        space = task.space.with_values(carried(part.values) for part in task.space.parts)
        common = self._pack_kernel()
        kernel = task.kernel if self.sent is None else None
        self.objects = SharedObjects(
            lambda: common.known, lambda: packed.slots, lambda: met_by_pickler(packed.pickler)
        )
        packing.pack((kernel, arguments, space, modules.collect()), packed, lists, common)

    def _pack_kernel(self) -> SharedObjects:
        """Let the kernel go apart, if it may; the objects that the others have from it."""
        task, found = self._task, signature(self._task.kernel)
        self.sent = self.kernel = None
        if found is None:
            return SharedObjects()
        known = task.root_runtime.sent_kernel(task.loop_history.key, found)
        self.sent = known or packing.pack_kernel(task.kernel, found)
        self.kernel = None if known else self.sent.data
        return self.sent.common

    def _hazard(self, arguments: Mapping[str, Any]) -> str | None:
        """What of the data speaks against sharing the loop."""
        hidden = self.packed.inside - {id(f.data) for f in self.fields if "." in f.name}
        hidden |= reached_whole(self.fields, arguments)
        met = self.objects.known if any(field.spec.in_place for field in self.fields) else ()
        return hazard(self.fields, self._arrays(), hidden, len(self._task.space), met)

    def _contribution_obstacle(self, known: LoopContributions) -> str | None:
        for name, kind in known.kinds.items():
            if not selectable(kind, known.values[name]):
                return f"what {name} starts from has no order that ranks could choose by"
        changing = {name: known.values[name] for name in known.kinds}
        changing = {name: value for name, value in changing.items() if not isinstance(value, _UNCHANGING)}
        met = self.objects.known if changing else ()
        return reached_otherwise(changing, self.fields, self._arrays(), met, self._task.named)

    def _arrays(self) -> list[Any]:
        """Every array that goes to the other ranks."""
        return [*(value for value in self.packed.slots if not isinstance(value, list)), *self.packed.arrays]


# ------------------------------------------------------------------------------
# What rank 0 calls the other ranks to: the loop dealt, and all that it uses, in one message.


def compose(
    task: Task,
    prepared: Preparation,
    balancing: StrategySelection,
    partitioner: Partitioner,
    loop: LoopContext,
    first: int,
) -> LoopCall:
    """The call to run what is left of a loop from position ``first`` on."""
    root_runtime, state, pool = task.root_runtime, prepared.state, balancing.pool
    groups = _groups(task, balancing, loop)
    resident = task.routine_state is not None and pool is None
    without_rows = not resident and not any(field.moves for field in prepared.fields)
    if resident:
        deal = _deal_as_before(task, prepared, balancing, partitioner, loop, first)
    else:
        deal = partitioner.deal(loop, first, pool=pool, without_rows=without_rows)
    deal, array_transfers, evictions, ahead = _on_the_way(task, prepared, loop, deal)
    return LoopCall(
        serial=root_runtime.next_serial(),
        key=task.loop_history.key,
        kernel=prepared.kernel,
        body=prepared.packed.body,
        headers=_headers(task, prepared),
        deal=deal,
        strategy=balancing.initial_strategy,
        groups=groups,
        rules=root_runtime.options.group.rules,
        network=root_runtime.network,
        within=root_runtime.within(groups),
        measured=partitioner.measured,
        parameters=root_runtime.parameters,
        exchange_s=root_runtime.exchange_s,
        environment=state.environment if state else None,
        settings=prepared.settings,
        dropped=root_runtime.publisher.dropped(),
        output_properties=output_properties(),
        known=partitioner.known if pool is not None else LoopStatistics(),
        without_rows=without_rows,
        tables=prepared.tables,
        array_transfers=array_transfers,
        evictions=evictions,
        ahead=ahead,
    )


def _groups(task: Task, balancing: StrategySelection, loop: LoopContext) -> Groups:
    """The groups of a local strategy; what is wanted of them and cannot be is said."""
    root_runtime, ranks = task.root_runtime, task.root_runtime.communicator.ranks
    groups = root_runtime.groups(loop.group, balancing.weights)
    if loop.group is not None and loop.group > ranks:
        task.loop_history.log(f"a group of {loop.group} is more than all {ranks} ranks: one group of them")
    if root_runtime.options.group.lacks_speeds(balancing.weights):
        task.loop_history.log("no speeds of these ranks are known for groups of equal speed: blocks of ranks")
    return groups


def _deal_as_before(
    task: Task,
    prepared: Preparation,
    balancing: StrategySelection,
    partitioner: Partitioner,
    loop: LoopContext,
    first: int,
) -> InitialPartition:
    """The deal of a loop whose arrays stay on the ranks: who has the rows goes on with them."""
    routine_state, loop_history = task.routine_state, task.loop_history
    assert routine_state is not None
    index = task.space.index or IndexMap(0, 1)
    in_turn = loop.table.iterations is Distribution.CYCLIC
    return partitioner.deal(
        loop,
        first,
        lambda deal, bounds: routine_state.deal(
            loop_history,
            index,
            (deal, () if in_turn else bounds),
            prepared.loop_residents,
            fixed=balancing.fixed,
        ),
    )


def _on_the_way(
    task: Task, prepared: Preparation, loop: LoopContext, deal: InitialPartition
) -> tuple[InitialPartition, tuple[ArrayTransfer, ...], tuple[Eviction, ...], tuple[range, ...]]:
    """The rows that ranks lack of what stays, and give up; of the deal, what can be done before they come."""
    routine_state, loop_residents, fields = task.routine_state, prepared.loop_residents, prepared.fields
    if routine_state is None:
        return deal, (), (), ()
    reached = prepared.packed.inside - {id(f.data) for f in fields if "." in f.name}
    array_transfers = routine_state.array_transfers(loop_residents, deal, reached)
    evictions = routine_state.evictions(loop_residents, deal, reached)
    if loop.contributions.kinds or evictions:
        return deal, array_transfers, evictions, ()
    deal, ahead = routine_state.ahead(task.loop_history.key, loop_residents, deal, array_transfers)
    return deal, array_transfers, evictions, ahead


def _headers(task: Task, prepared: Preparation) -> tuple[SlotHeader, ...]:
    """How the contents of the slots go."""
    fields, packed = prepared.fields, prepared.packed
    by_rows = {id(f.data) for f in fields if f.by_rows and ("." in f.name or id(f.data) not in packed.inside)}
    stored = {id(field.data) for field in fields if field.spec.stores}
    return task.root_runtime.publisher.describe(packed.slots, by_rows, stored, prepared.loop_residents.tokens)
