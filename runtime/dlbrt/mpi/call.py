"""The call by which rank 0 has the other ranks run a loop: one small message; arrays are sent apart.

Most runs of a loop differ from an earlier one only in number and body. Rank 0 and the others keep the same
calls in the same order, by the same rule, so a repeated call is sent as the place of the earlier one. Calls
that change what ranks know beyond the loop (a kernel, the interpreter's state, memory to be forgotten) are
never kept.

Access tables go with the call. Any rank may receive any iteration, and what the subscripts read may not be on
a rank before the rows are: so rank 0 evaluates the subscripts, and every rank gets whole tables, as slots of
the call. Tables that equal those of the loop's last run are the same arrays again, which the other ranks
have.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import field, fields, replace
from enum import Enum
from operator import attrgetter
from typing import Any

from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.data.access_table import AccessTable, AccessTables
from dlbrt.data.field import Field
from dlbrt.data.layout import InitialPartition
from dlbrt.data.memory import Layout
from dlbrt.data.space import Space
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, Eviction
from dlbrt.mpi.values.packing import Packed
from dlbrt.mpi.values.program_state import ProcessEnvironment
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, Groups
from dlbrt.predict.network import Network
from dlbrt.records import dataclass
from dlbrt.reductions.output import OutputProperties


class Content(Enum):
    """How the contents of a slot reach the workers."""

    KEPT = "sent before and unchanged"
    INLINE = "in the message"
    WHOLE = "broadcast"
    ROWS = "by rows, as the array table says"
    LIST = "by rows, of a list"
    RESIDENT = "on the ranks from one call to the next; missing rows by array transfers"


@dataclass(frozen=True, slots=True)
class SlotHeader:
    """One slot: its layout (None for a list of ``length``), and where its contents come from.

    ``token`` names contents that the workers keep between calls; 0: they are not kept. ``constant``: no
    iteration changes them.
    """

    content: Content
    layout: Layout | None = None
    length: int = 0
    token: int = 0
    data: bytes = b""
    constant: bool = False


@dataclass(frozen=True, slots=True)
class TableSlots:
    """The slots of the access tables of the array ``name``: what iterations touch, and what they store to."""

    name: str
    touched: tuple[int, ...]
    stored: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoopCall:
    """One parallel run of a loop, as rank 0 describes it.

    ``body`` is the pickle of kernel, arguments and space; ``kernel`` is the kernel's where it is sent apart.
    Either is None where the ranks have it from an earlier call of the loop ``key``. Positions outside
    ``deal`` are done already. ``groups`` are those of a local strategy, formed by the ``rules``; ``network``
    is the one among all ranks, ``within`` those of the groups where they differ. ``measured`` is the size of
    the groups of iterations to be timed, 0 for none; ``known`` is what self-scheduling knows of the loop,
    ``without_rows`` whether its units go without data. ``array_transfers`` are the rows that ranks lack of
    resident arrays, ``evictions`` those that they give up; the iterations ``ahead`` of each rank need no rows
    that have still to arrive. ``watched``: what the plan takes as unchanged is looked at. ``live``: output is
    shown while the loop runs. ``in_doubt``: before the loop begins, ranks say that they have read the body
    and ``samples`` of the elements that travel by rows. ``plain``: the body holds atoms, and arrays by their
    slots, so that it need not be read again where it is the same. ``overwritten`` are the arrays whose rows
    are not sent, since each iteration that ends overwrites them. ``undisturbed``: interrupts wait until
    the loop is over. ``source`` is the place of the loop.
    """

    serial: int
    key: str
    kernel: bytes | None
    body: bytes | None
    headers: tuple[SlotHeader, ...]
    deal: InitialPartition
    strategy: str
    groups: Groups
    rules: GroupRules
    network: Network
    within: tuple[Network, ...]
    measured: int
    parameters: Parameters
    exchange_s: float
    environment: ProcessEnvironment | None
    settings: bytes | None
    dropped: tuple[int, ...]
    output_properties: OutputProperties
    known: LoopStatistics = field(default_factory=LoopStatistics)
    without_rows: bool = False
    tables: tuple[TableSlots, ...] = ()
    array_transfers: tuple[ArrayTransfer, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    ahead: tuple[range, ...] = ()
    watched: bool = False
    live: bool = False
    in_doubt: bool = False
    plain: bool = False
    overwritten: tuple[str, ...] = ()
    samples: bytes | None = None
    undisturbed: bool = False
    source: str = ""


class CalledOffError(Exception):
    """A call has been called off, since some rank could not read what it brought; the message says why."""


#: Calls kept of a loop: where arrays are swapped from run to run, a few calls take turns.
_MAX_CALLS = 8

_repeated_fields = attrgetter(
    *(each.name for each in fields(LoopCall) if each.name not in ("serial", "body"))
)


@dataclass(frozen=True, slots=True)
class RepeatedCall:
    """The call number ``serial`` equals the one kept of the loop ``key`` at ``place``, its body apart."""

    serial: int
    body: bytes | None
    key: str
    place: int


class CallCache:
    """The calls that one rank has kept."""

    def __init__(self) -> None:
        self._calls: dict[str, list[tuple[LoopCall, tuple[Any, ...]]]] = {}

    def shortened(self, call: LoopCall) -> LoopCall | RepeatedCall:
        """The call as it is sent: short where the others have kept an equal one. It is kept."""
        same = _repeated_fields(call)
        for place, (_, earlier) in enumerate(self._calls.get(call.key, ())):
            if earlier == same:
                return RepeatedCall(call.serial, call.body, call.key, place)
        self._keep(call, same)
        return call

    def restored(self, message: LoopCall | RepeatedCall) -> LoopCall:
        """The call that a message stands for; it is kept."""
        if isinstance(message, RepeatedCall):
            earlier, _ = self._calls[message.key][message.place]
            return replace(earlier, serial=message.serial, body=message.body)
        self._keep(message, ())
        return message

    def _keep(self, call: LoopCall, same: tuple[Any, ...]) -> None:
        changes = (call.kernel, call.environment, call.settings, call.dropped or None)
        if any(each is not None for each in changes):
            return
        kept = self._calls.setdefault(call.key, [])
        if len(kept) == _MAX_CALLS:
            kept.clear()
        kept.append((call, same))


def inspect_rows(
    fields: Sequence[Field], space: Space, last: MutableMapping[str, AccessTables]
) -> list[Field]:
    """The fields with the access tables of the iterations; FootprintError where there can be none.

    ``last`` are the tables of the last run by name; it is kept up to date.
    """
    found = [field.with_tables(space) if field.inspected else field for field in fields]
    return [_known(field, last) if field.tables is not None else field for field in found]


def _known(field: Field, last: MutableMapping[str, AccessTables]) -> Field:
    assert field.tables is not None
    before = last.get(field.name)
    if before is None or not field.tables.same(before):
        last[field.name] = before = field.tables
    return replace(field, tables=before)


def pack_tables(fields: Sequence[Field], packed: Packed) -> tuple[TableSlots, ...]:
    """Give the tables slots of their own."""

    def numbers(table: AccessTable) -> tuple[int, ...]:
        return tuple(packed.slot(array).number for array in table.arrays)

    tables = [(field.name, field.tables) for field in fields if field.tables is not None]
    return tuple(TableSlots(name, numbers(t.touched), numbers(t.stored)) for name, t in tables)


def unpack_tables(fields: Sequence[Field], slots: Sequence[Any], tables: Sequence[TableSlots]) -> list[Field]:
    """The fields with their tables, taken from the slots."""
    found = {
        table.name: AccessTables(
            AccessTable.loaded([slots[number] for number in table.touched]),
            AccessTable.loaded([slots[number] for number in table.stored]),
        )
        for table in tables
    }
    return [replace(field, tables=found.get(field.name)) for field in fields]
