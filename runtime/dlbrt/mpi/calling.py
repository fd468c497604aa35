"""What rank 0 calls the other ranks to: the loop dealt, and all that it uses, in one message."""

from __future__ import annotations

from dlbrt.contract import Distribution
from dlbrt.core.chunks.loop import Known
from dlbrt.core.model.groups import Groups
from dlbrt.dist.deal import Deal
from dlbrt.dist.footprint import IndexMap
from dlbrt.effects.output import shown
from dlbrt.mpi.call import Call, SlotHeader
from dlbrt.mpi.dealing import Dealer
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.parcels import Parcel, Spare
from dlbrt.mpi.preparation import Preparation
from dlbrt.mpi.task import Balancing, Task

__all__ = ["compose"]


def compose(
    task: Task, prepared: Preparation, balancing: Balancing, dealer: Dealer, loop: Loop, first: int
) -> Call:
    """The call to run what is left of a loop from position ``first`` on."""
    conductor, state, pool = task.conductor, prepared.state, balancing.pool
    groups = _groups(task, balancing, loop)
    resident = task.stay is not None and pool is None
    bare = not resident and not any(field.moves for field in prepared.fields)
    if resident:
        deal = _deal_as_before(task, prepared, balancing, dealer, loop, first)
    else:
        deal = dealer.deal(loop, first, pool=pool, bare=bare)
    deal, parcels, spared, ahead = _on_the_way(task, prepared, loop, deal)
    return Call(
        serial=conductor.next_serial(),
        key=task.notes.key,
        kernel=prepared.kernel,
        body=prepared.packed.body,
        headers=_headers(task, prepared),
        deal=deal,
        strategy=balancing.begins,
        groups=groups,
        rules=conductor.options.group.rules,
        network=conductor.network,
        within=conductor.within(groups),
        measured=dealer.measured,
        parameters=conductor.parameters,
        exchange_s=conductor.exchange_s,
        surroundings=state.surroundings if state else None,
        settings=prepared.settings,
        dropped=conductor.publisher.dropped(),
        shown=shown(),
        known=dealer.known if pool is not None else Known(),
        bare=bare,
        tables=prepared.tables,
        parcels=parcels,
        spared=spared,
        ahead=ahead,
    )


def _groups(task: Task, balancing: Balancing, loop: Loop) -> Groups:
    """The groups of a local strategy; what is wanted of them and cannot be is said."""
    conductor, ranks = task.conductor, task.conductor.wire.ranks
    groups = conductor.groups(loop.group, balancing.weights)
    if loop.group is not None and loop.group > ranks:
        task.notes.say(f"a group of {loop.group} is more than all {ranks} ranks: one group of them")
    if conductor.options.group.lacks_speeds(balancing.weights):
        task.notes.say("no speeds of these ranks are known for groups of equal speed: blocks of ranks")
    return groups


def _deal_as_before(
    task: Task, prepared: Preparation, balancing: Balancing, dealer: Dealer, loop: Loop, first: int
) -> Deal:
    """The deal of a loop whose arrays stay on the ranks: who has the rows goes on with them."""
    stay, notes = task.stay, task.notes
    assert stay is not None
    index = task.space.index or IndexMap(0, 1)
    in_turn = loop.table.iterations is Distribution.CYCLIC
    return dealer.deal(
        loop,
        first,
        lambda deal, bounds: stay.deal(
            notes, index, (deal, () if in_turn else bounds), prepared.staying, fixed=balancing.fixed
        ),
    )


def _on_the_way(
    task: Task, prepared: Preparation, loop: Loop, deal: Deal
) -> tuple[Deal, tuple[Parcel, ...], tuple[Spare, ...], tuple[range, ...]]:
    """The rows that ranks lack of what stays, and give up; of the deal, what can be done before they come."""
    stay, staying, fields = task.stay, prepared.staying, prepared.fields
    if stay is None:
        return deal, (), (), ()
    reached = prepared.packed.inside - {id(f.data) for f in fields if "." in f.name}
    parcels = stay.parcels(staying, deal, reached)
    spared = stay.spared(staying, deal, reached)
    if loop.contributions.kinds or spared:
        return deal, parcels, spared, ()
    deal, ahead = stay.ahead(task.notes.key, staying, deal, parcels)
    return deal, parcels, spared, ahead


def _headers(task: Task, prepared: Preparation) -> tuple[SlotHeader, ...]:
    """How the contents of the slots go."""
    fields, packed = prepared.fields, prepared.packed
    by_rows = {id(f.data) for f in fields if f.by_rows and ("." in f.name or id(f.data) not in packed.inside)}
    stored = {id(field.data) for field in fields if field.spec.stores}
    return task.conductor.publisher.describe(packed.slots, by_rows, stored, prepared.staying.tokens)
