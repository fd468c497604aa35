"""The plan of a routine: where its sequential code may look into, or change, what stays on the ranks.

The law: whatever the sequential code reads is valid at rank 0 when it is read, and whatever it changes is
known to be changed before the next parallel loop begins. A place that needs neither is left as it is; in
doubt a place is wrapped, since wrapping costs a microsecond and is never wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from enum import Enum, IntEnum

from dlbrt.records import dataclass

from dlbc.ir.loop import AnnotatedRoutine


class ModRef(IntEnum):
    """What becomes of a value; each includes the ones before it."""

    NONE = 0  # it is bound, passed on or asked for its form: nobody looks into it
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
    CHANGED_ROWS = "changed rows"  # routine.rows(u, "rw")[i], of which what is taken out is changed
    BEFORE = "before"  # routine.write(u) above the statement


@dataclass(frozen=True, slots=True)
class Wrap:
    """One place: the node that is ``levels`` above the name (or lambda) numbered ``anchor``.

    Anchors are numbered within the loop of the outermost routine, as `ir.anchors` gives them. ``owner`` is
    the ordinal of the innermost routine around the place; ``node`` is what is touched, with its subscripts
    where rows alone are.
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

    ``nested`` are the routines in it. ``loops`` gives, by the ordinal of each parallel loop, that of the
    innermost routine around it; ``items`` the same of sequential loops whose iterable is taken item by item.
    ``wraps`` lie outside of the parallel loops' bodies. ``ahead`` are, by ordinal of a parallel loop, the
    expressions that rank 0 looks into before it. ``plain`` are names that hold no array, if the runtime finds
    it so; ``resident`` are the arrays of the parallel loops; ``unseen`` is what cannot be seen through, with
    a place of each.
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
