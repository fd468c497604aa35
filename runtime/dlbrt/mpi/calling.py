"""What rank 0 calls the other ranks to: the loop dealt, and all that it uses, in one message."""

from __future__ import annotations

from dlbrt.contract import Distribution
from dlbrt.core.chunks.loop import LoopStatistics
from dlbrt.core.model.groups import Groups
from dlbrt.dist.deal import InitialPartition
from dlbrt.dist.footprint import IndexMap
from dlbrt.effects.output import output_properties
from dlbrt.mpi.call import LoopCall, SlotHeader
from dlbrt.mpi.dealing import Partitioner
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.parcels import ArrayTransfer, Eviction
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.task import StrategySelection, Task

__all__ = ["compose"]


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
