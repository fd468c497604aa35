"""The plan of a routine: where its sequential code may read or change arrays that stay on the ranks.

Law: whatever the sequential code reads is valid at rank 0 when it is read, and whatever it changes is known
to be changed before the next parallel loop begins. A place that needs neither is left as it is. In doubt a
place is wrapped, since wrapping costs a microsecond and is never wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from enum import Enum, IntEnum

from dlbrt.records import dataclass

from dlbc.ir.loop import AnnotatedRoutine


class ModRef(IntEnum):
    """What code may do to a value; each member includes those before it."""

    NONE = 0  # it is bound, passed on or asked for its form: its elements are not read
    REF = 1
    MOD = 2

    @property
    def mode(self) -> str:
        """How generated programs and reports write it: `none`, `read` or `write`."""
        return ("none", "read", "write")[self]


class WrapKind(Enum):
    """How a wrap is written."""

    EXPRESSION = "expression"  # routine.read(u)
    ROWS = "rows"  # routine.rows(u)[i]
    CHANGED_ROWS = "changed rows"  # routine.rows(u, "rw")[i], where the selected rows are changed
    BEFORE = "before"  # routine.write(u) above the statement


@dataclass(frozen=True, slots=True)
class Wrap:
    """One place: the node that is ``levels`` above the name (or lambda) numbered ``anchor``.

    Anchors are numbered within the loop of the outermost routine, by `analysis.names.anchors_of`. ``owner``
    is the ordinal of the innermost routine around the place. ``node`` is the accessed expression, with its
    subscripts where only rows are accessed.
    """

    anchor: int
    levels: int
    mod_ref: ModRef
    kind: WrapKind
    owner: int
    node: ast.expr


@dataclass(frozen=True)
class RoutinePlan:
    """An outermost routine, with all that its text needs.

    ``loops``: from the ordinal of each parallel loop to that of the innermost routine around it. ``nested``:
    the routines in it. ``items``: the same as ``loops`` for sequential loops whose iterable is read item by
    item. ``wraps``: all outside the bodies of the parallel loops. ``read_before``: by ordinal of a parallel
    loop, the expressions that rank 0 reads before it. ``maybe_scalar``: names that hold no array, if the
    runtime confirms it. ``resident``: the arrays of the parallel loops. ``unseen``: functions whose code is
    not seen, with a place for each. ``narrowing``: its parallel loops begin further on from pass to pass, and
    end where they did. ``foreseen``: the names that its passes use, where the loops of passes to come can be
    foreseen (`dlbc.routines.foreseen_passes`).
    """

    routine: AnnotatedRoutine
    loops: Mapping[int, int]
    nested: tuple[AnnotatedRoutine, ...] = ()
    items: Mapping[int, int] = field(default_factory=dict)
    wraps: tuple[Wrap, ...] = ()
    read_before: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    maybe_scalar: tuple[str, ...] = ()
    resident: tuple[str, ...] = ()
    unseen: tuple[tuple[str, ast.expr], ...] = ()
    narrowing: bool = False
    foreseen: tuple[str, ...] | None = None
