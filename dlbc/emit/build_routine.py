"""A routine in the lossless tree: the block around its loop, and the places in the loop that are wrapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import libcst as cst
from dlbrt.records import dataclass

from dlbc.emit.build_context import build_routine
from dlbc.emit.build_loop import Statement
from dlbc.emit.choose_names import GeneratedNames
from dlbc.emit.contexts import Setting
from dlbc.emit.render_templates import render_routine
from dlbc.emit.track_lines import PrintedModule
from dlbc.emit.wrap_touches import wrap_accesses, wrap_items
from dlbc.ir.anchors import anchors_of
from dlbc.ir.loop import AnnotatedRoutine
from dlbc.ir.routine import RoutinePlan

__all__ = ["Routines", "depth_of"]

_Loop = cst.For | cst.While


def depth_of(plan: RoutinePlan) -> int:
    """How many routines stand within one another, the outermost included."""
    return 1 + max((_level(plan, routine) for routine in plan.nested), default=0)


def _level(plan: RoutinePlan, routine: AnnotatedRoutine) -> int:
    around = [plan.routine, *plan.nested]
    return sum(other.node in routine.path for other in around)


@dataclass
class Routines:
    """The routines of a module, as the rewriting asks for them: by the ordinals of loops."""

    plans: Sequence[RoutinePlan]
    names: GeneratedNames
    origin: str
    _outermost: dict[int, RoutinePlan] = field(default_factory=dict)
    _plan_of: dict[int, RoutinePlan] = field(default_factory=dict)
    _routine: dict[int, AnnotatedRoutine] = field(default_factory=dict)
    _owner: dict[int, int] = field(default_factory=dict)
    _items: dict[int, int] = field(default_factory=dict)
    _heads: list[tuple[Statement, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for plan in self.plans:
            self._outermost[plan.routine.ordinal] = plan
            for routine in (plan.routine, *plan.nested):
                self._routine[routine.ordinal], self._plan_of[routine.ordinal] = routine, plan
            self._owner.update(plan.loops)
            self._items.update(plan.items)

    def setting(self, ordinal: int) -> Setting:
        """Where a parallel loop is called: in a routine, or in none."""
        if ordinal not in self._owner:
            return Setting(self.names.dlb)
        owner = self._owner[ordinal]
        plan = self._plan_of[owner]
        level = _level(plan, self._routine[owner])
        return Setting(self.names.routines[level], level + 1, plan.read_before.get(ordinal, ()))

    def wrapped(self, ordinal: int, loop: _Loop) -> _Loop:
        """An outermost routine's loop with its places wrapped; any other loop as it is, or item by item."""
        plan = self._outermost.get(ordinal)
        if plan is not None:
            texts = [getattr(anchor, "id", "") for anchor in anchors_of(plan.routine.node)]
            loop = wrap_accesses(loop, plan.wraps, texts, self._names_of(plan))
        if ordinal in self._items:
            assert isinstance(loop, cst.For)
            owner = self._items[ordinal]
            loop = wrap_items(loop, self._names_of(self._plan_of[owner])[owner])
        return loop

    def enclosed(self, ordinal: int, loop: Statement) -> Statement:
        """The loop within the block of its routine, if it is one; its comments stand above the block."""
        routine = self._routine.get(ordinal)
        if routine is None:
            return loop
        plan = self._plan_of[ordinal]
        level = _level(plan, routine)
        outer = self.names.routines[level - 1] if level else self.names.dlb
        plain = () if level else plan.maybe_scalar
        context = build_routine(routine, plain, outer, self.names.routines[level], level, self.origin)
        block = cst.ensure_type(cst.parse_module(render_routine(context)).body[0], cst.With)
        body = cst.ensure_type(block.body, cst.IndentedBlock)
        bare = loop.with_changes(leading_lines=[])
        self._heads.append((bare, context.head.count("\n") + 1, routine.node.lineno))
        inner = body.with_changes(body=[bare])
        return block.with_changes(body=inner, leading_lines=loop.leading_lines)

    def lines(self, emitted: PrintedModule) -> dict[int, int]:
        """The lines that begin routines in the generated program, with those of their loops in the source."""
        found: dict[int, int] = {}
        for loop, count, origin in self._heads:
            place = emitted.lines_of(id(loop))
            assert place is not None
            found |= dict.fromkeys(range(place.start - count, place.start), origin)
        return found

    def _names_of(self, plan: RoutinePlan) -> Mapping[int, str]:
        routines = (plan.routine, *plan.nested)
        return {r.ordinal: self.names.routines[_level(plan, r)] for r in routines}
