"""What iterations touch where subscripts follow no line: looked at on rank 0, sent to all with the call.

Any rank may receive any iteration, and what the subscripts read may not be there before the rows are: so
rank 0 evaluates them and every rank gets the tables whole, as slots of the call. Tables that a loop had at
its last run too are the same arrays again, which the other ranks then have already.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from dlbrt.dist.field import Field
from dlbrt.dist.scattered import AccessTable, AccessTables
from dlbrt.mpi.call import TableSlots
from dlbrt.mpi.packing import Packed

__all__ = ["inspect_rows", "pack_tables", "unpack_tables"]


def inspect_rows(fields: Sequence[Field], n: int, last: MutableMapping[str, AccessTables]) -> list[Field]:
    """The fields with what their n iterations touch; FootprintError where it cannot be told.

    ``last`` are the tables by name that the last run had; it is kept up to date.
    """
    found = [field.with_tables(n) if field.inspected else field for field in fields]
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
