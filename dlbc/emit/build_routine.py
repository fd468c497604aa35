"""A routine in the lossless tree: the block around its loop, and the wrapped accesses to arrays in the loop.

An access is found by the number of its anchor in the order of the text, as `dlbc.analysis.names` counts
anchors. A node without changes keeps its identity, by which lines are tracked; the only added lines are the
statements above ``u += e``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import Any

import libcst as cst
from dlbrt.records import dataclass

from dlbc.analysis.names import anchors_of
from dlbc.emit.build_context import build_ahead_call, build_ahead_function, build_routine
from dlbc.emit.build_loop import Statement
from dlbc.emit.choose_names import GeneratedNames, as_read
from dlbc.emit.render import Setting, render
from dlbc.emit.track_lines import PrintedModule
from dlbc.ir.loop import AnnotatedRoutine
from dlbc.ir.routine import RoutinePlan, Wrap, WrapKind

_Loop = cst.For | cst.While
_CONSTANTS = frozenset({"True", "False", "None"})


class WrapError(Exception):
    """The lossless tree has other names than the analysed tree; a fault of the emitter."""


def wrap_accesses(
    loop: _Loop, wraps: Sequence[Wrap], names: Sequence[str], routines: Mapping[int, str]
) -> _Loop:
    """The loop with its accesses wrapped.

    ``names`` are those of all anchors, empty for a lambda; ``routines`` gives the name of each routine by its
    ordinal. Raises `WrapError` if the names differ from those of the tree.
    """
    anchors: list[cst.CSTNode] = []
    parents: dict[int, cst.CSTNode] = {}
    _find_anchors(loop, anchors, parents)
    if [as_read(a.value) if isinstance(a, cst.Name) else "" for a in anchors] != list(names):
        raise WrapError("the names of the two trees differ")
    changes = _Changes(parents)
    for wrap in wraps:
        changes.add(anchors[wrap.anchor], wrap, routines[wrap.owner])
    changed = changes.applied(loop)
    assert isinstance(changed, _Loop)
    return changed


def wrap_items(loop: cst.For, routine: str) -> cst.For:
    """The loop over `routine.items(...)` of its iterable."""
    iterable = loop.iter
    if isinstance(iterable, cst.Tuple) and not iterable.lpar:
        iterable = iterable.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return loop.with_changes(iter=_call(routine, "items", [cst.Arg(iterable)]))


def _find_anchors(root: cst.CSTNode, anchors: list[cst.CSTNode], parents: dict[int, cst.CSTNode]) -> None:
    waiting: list[cst.CSTNode] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.Lambda) or (isinstance(node, cst.Name) and node.value not in _CONSTANTS):
            anchors.append(node)
        children = list(_expressions(node))
        parents.update((id(child), node) for child in children)
        waiting.extend(reversed(children))


def _expressions(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The children of a node, without names that are not expressions: of attributes, keywords, parameters."""
    parts: Sequence[cst.CSTNode | None]
    match node:
        case cst.Attribute(value=value) | cst.Arg(value=value):
            parts = [value]
        case cst.FunctionDef(decorators=marks, params=params, returns=returns, body=body):
            parts = [*marks, params, returns, body]
        case cst.ClassDef(decorators=marks, bases=bases, keywords=keywords, body=body):
            parts = [*marks, *bases, *keywords, body]
        case cst.Param(annotation=annotation, default=default):
            parts = [annotation, default]
        case cst.ExceptHandler(type=kind, body=body) | cst.ExceptStarHandler(type=kind, body=body):
            parts = [kind, body]
        case cst.MatchAs(pattern=pattern) | cst.MatchKeywordElement(pattern=pattern):
            parts = [pattern]
        case cst.MatchMapping(elements=elements):
            parts = elements
        case cst.Import() | cst.ImportFrom() | cst.Global() | cst.Nonlocal() | cst.MatchStar() | cst.Name():
            parts = ()
        case _:
            parts = node.children
    yield from (part for part in parts if part is not None)


def _call(routine: str, method: str, args: Sequence[cst.Arg]) -> cst.Call:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    spaced = [arg.with_changes(comma=comma) for arg in args[:-1]]
    return cst.Call(cst.Attribute(cst.Name(routine), cst.Name(method)), [*spaced, args[-1]])


class _Changes:
    """The nodes of a tree to be wrapped, and the statements to be inserted above others."""

    def __init__(self, parents: dict[int, cst.CSTNode]) -> None:
        self._parents = parents
        self._wraps: dict[int, tuple[Wrap, str]] = {}
        self._above: dict[int, cst.Expr] = {}
        self._dirty: set[int] = set()

    def add(self, anchor: cst.CSTNode, wrap: Wrap, routine: str) -> None:
        """Add the access of an anchor."""
        node = anchor
        for _ in range(wrap.levels):
            node = self._parents[id(node)]
        if wrap.kind is WrapKind.BEFORE:
            target = node
            while not isinstance(node, cst.AugAssign):
                node = self._parents[id(node)]
            call = _call(routine, wrap.mod_ref.mode, [cst.Arg(target.deep_clone())])  # type: ignore[arg-type]
            self._above[id(node)] = cst.Expr(call)
        else:
            self._wraps[id(node)] = wrap, routine
        while id(node) in self._parents:
            self._dirty.add(id(node))
            node = self._parents[id(node)]
        self._dirty.add(id(node))

    def applied(self, node: cst.CSTNode) -> cst.CSTNode:
        """The node with its changes; the same node if there are none."""
        if id(node) not in self._dirty:
            return node
        changes: dict[str, Any] = {}
        for name in (each.name for each in fields(node)):
            value = getattr(node, name)
            if isinstance(value, cst.CSTNode):
                if (new := self.applied(value)) is not value:
                    changes[name] = new
            elif isinstance(value, tuple | list) and any(id(part) in self._dirty for part in value):
                changes[name] = [other for part in value for other in self._parts(part)]
        changed = node.with_changes(**changes) if changes else node
        wrap = self._wraps.get(id(node))
        return changed if wrap is None else self._wrapped(changed, *wrap)

    def _parts(self, part: Any) -> Iterator[cst.CSTNode]:
        """The replacement of a child: also a statement with one above it, or the parts of ``{u=}``."""
        if id(part) not in self._dirty:
            yield part
            return
        changed = self.applied(part)
        above = self._above.get(id(part))
        match part:
            case cst.AugAssign() if above is not None:
                yield above
                yield changed
            case cst.SimpleStatementLine(body=[only]) if id(only) in self._above:
                yield cst.SimpleStatementLine([self._above[id(only)]], part.leading_lines)
                yield part.with_changes(body=[self.applied(only)], leading_lines=[])
            case cst.FormattedStringExpression(equal=cst.AssignEqual()) if changed is not part:
                assert isinstance(changed, cst.FormattedStringExpression)
                yield from _spelled_out(part, changed)
            case _:
                yield changed

    @staticmethod
    def _wrapped(changed: cst.CSTNode, wrap: Wrap, routine: str) -> cst.Call:
        args = [cst.Arg(changed)]  # type: ignore[arg-type]
        if wrap.kind is WrapKind.CHANGED_ROWS:
            args.append(cst.Arg(cst.SimpleString('"rw"')))
        by_rows = wrap.kind in (WrapKind.ROWS, WrapKind.CHANGED_ROWS)
        return _call(routine, "rows" if by_rows else wrap.mod_ref.mode, args)


def _spelled_out(
    part: cst.FormattedStringExpression, changed: cst.FormattedStringExpression
) -> Iterator[cst.BaseFormattedStringContent]:
    """``{u[0]=}`` as its text and its value, since the wrapped expression has another text."""
    code = cst.Module([]).code_for_node
    equal = part.equal
    assert equal is not None
    text = code(part.whitespace_before_expression) if hasattr(part, "whitespace_before_expression") else ""
    text += code(part.expression) + code(equal)
    yield cst.FormattedStringText(text.replace("{", "{{").replace("}", "}}"))
    bare = part.conversion is None and part.format_spec is None
    yield changed.with_changes(equal=None, conversion="r" if bare else part.conversion)


class _WithoutComments(cst.CSTTransformer):
    """Leaves out comments and blank lines: these stand where the program has them."""

    def leave_EmptyLine(self, _original: cst.EmptyLine, _updated: cst.EmptyLine) -> cst.RemovalSentinel:
        return cst.RemoveFromParent()

    def leave_TrailingWhitespace(
        self, _original: cst.TrailingWhitespace, _updated: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        return cst.TrailingWhitespace()


def depth_of(plan: RoutinePlan) -> int:
    """The depth to which routines are nested, the outermost included."""
    return 1 + max((_level(plan, routine) for routine in plan.nested), default=0)


def _level(plan: RoutinePlan, routine: AnnotatedRoutine) -> int:
    around = [plan.routine, *plan.nested]
    return sum(other.node in routine.path for other in around)


@dataclass
class Routines:
    """The routines of a module, by the ordinals of loops."""

    plans: Sequence[RoutinePlan]
    names: GeneratedNames
    origin: str
    _outermost: dict[int, RoutinePlan] = field(default_factory=dict)
    _plan_of: dict[int, RoutinePlan] = field(default_factory=dict)
    _routine: dict[int, AnnotatedRoutine] = field(default_factory=dict)
    _owner: dict[int, int] = field(default_factory=dict)
    _items: dict[int, int] = field(default_factory=dict)
    _heads: list[tuple[Statement, int, int]] = field(default_factory=list)
    _ahead_lines: list[tuple[Statement, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for plan in self.plans:
            self._outermost[plan.routine.ordinal] = plan
            for routine in (plan.routine, *plan.nested):
                self._routine[routine.ordinal], self._plan_of[routine.ordinal] = routine, plan
            self._owner.update(plan.loops)
            self._items.update(plan.items)

    def setting(self, ordinal: int) -> Setting:
        """Where a parallel loop is called: inside a routine, or outside of all."""
        if ordinal not in self._owner:
            return Setting(self.names.dlb)
        owner = self._owner[ordinal]
        plan = self._plan_of[owner]
        level = _level(plan, self._routine[owner])
        return Setting(self.names.routines[level], level + 1, plan.read_before.get(ordinal, ()))

    def wrapped(self, ordinal: int, loop: _Loop) -> _Loop:
        """An outermost routine's loop with its accesses wrapped; other loops unchanged, or item by item."""
        plan = self._outermost.get(ordinal)
        if plan is not None:
            texts = [getattr(anchor, "id", "") for anchor in anchors_of(plan.routine.node)]
            loop = wrap_accesses(loop, plan.wraps, texts, self._names_of(plan))
        if ordinal in self._items:
            assert isinstance(loop, cst.For)
            owner = self._items[ordinal]
            loop = wrap_items(loop, self._names_of(self._plan_of[owner])[owner])
        return loop

    def ahead_functions(self, ordinal: int, loop: Statement) -> list[Statement]:
        """The function that goes through passes of an outermost routine, if they can be foreseen."""
        plan = self._outermost.get(ordinal)
        if plan is None or plan.foreseen is None:
            return []
        assert isinstance(loop, cst.For)
        bare = loop.with_changes(iter=cst.Name(self.names.passes), orelse=None).visit(_WithoutComments())
        parameters = (self.names.routines[0], self.names.passes, *plan.foreseen)
        head = cst.parse_module(render(build_ahead_function(self._ahead(plan), parameters)))
        definition = cst.ensure_type(head.body[0], cst.FunctionDef)
        body = cst.ensure_type(definition.body, cst.IndentedBlock).with_changes(body=[bare])
        lines = [*[cst.EmptyLine(indent=False)] * 2, *head.header]
        return [definition.with_changes(body=body, leading_lines=lines)]

    def _ahead(self, plan: RoutinePlan) -> str:
        return self.names.ahead[[each for each in self.plans if each.foreseen is not None].index(plan)]

    def _with_passes_ahead(self, plan: RoutinePlan, loop: Statement) -> Statement:
        """The loop, each pass of which begins with a call that has ranks go through those that are left."""
        if plan.foreseen is None:
            return loop
        assert isinstance(loop, cst.For)
        target, space = (cst.Module([]).code_for_node(each) for each in (loop.target, loop.iter))
        text = build_ahead_call(plan, self._ahead(plan), self.names.routines[0], target, space)
        line = cst.ensure_type(cst.parse_module(text).body[0], cst.SimpleStatementLine)
        block = cst.ensure_type(loop.body, cst.IndentedBlock)
        self._ahead_lines.append((line, plan.routine.node.lineno))
        return loop.with_changes(body=block.with_changes(body=[line, *block.body]))

    def enclosed(self, ordinal: int, loop: Statement) -> Statement:
        """The loop inside the block of its routine, if it has one; its comments stand above the block."""
        routine = self._routine.get(ordinal)
        if routine is None:
            return loop
        plan = self._plan_of[ordinal]
        level = _level(plan, routine)
        outer = self.names.routines[level - 1] if level else self.names.dlb
        plain = () if level else plan.maybe_scalar
        narrowing, name = not level and plan.narrowing, self.names.routines[level]
        context = build_routine(routine, plain, outer, name, level, self.origin, narrowing=narrowing)
        block = cst.ensure_type(cst.parse_module(render(context)).body[0], cst.With)
        body = cst.ensure_type(block.body, cst.IndentedBlock)
        if not level:
            loop = self._with_passes_ahead(plan, loop)
        bare = loop.with_changes(leading_lines=[])
        self._heads.append((bare, context.head.count("\n") + 1, routine.node.lineno))
        inner = body.with_changes(body=[bare])
        return block.with_changes(body=inner, leading_lines=loop.leading_lines)

    def lines(self, emitted: PrintedModule) -> dict[int, int]:
        """The generated lines of the blocks' heads and of calls, with the source lines of their loops."""
        found: dict[int, int] = {}
        for loop, count, origin in self._heads:
            place = emitted.lines_of(id(loop))
            assert place is not None
            found |= dict.fromkeys(range(place.start - count, place.start), origin)
        for line, origin in self._ahead_lines:
            place = emitted.lines_of(id(line))
            assert place is not None
            found |= dict.fromkeys(place, origin)
        return found

    def _names_of(self, plan: RoutinePlan) -> Mapping[int, str]:
        routines = (plan.routine, *plan.nested)
        return {r.ordinal: self.names.routines[_level(plan, r)] for r in routines}
