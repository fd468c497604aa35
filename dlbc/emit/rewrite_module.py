"""Rewrite the user's lossless tree: kernels above the statements that hold their loops, calls in their place.

The walk visits only statements, in document order, and counts the loops: the ordinal identifies a loop in
CPython's tree and in this one. Nodes without changes keep their identity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import libcst as cst

from dlbc.emit.build_loop import (
    Statement,
    build_call_statements,
    build_chunk_functions,
    build_kernel_function,
)
from dlbc.emit.build_routine import Routines
from dlbc.emit.choose_names import GeneratedNames
from dlbc.ir.plan import LoopPlan

_SUITES = ("body", "handlers", "orelse", "finalbody", "cases")
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_Node = TypeVar("_Node", bound=cst.CSTNode)
_Lines = list[cst.EmptyLine]


def rewrite_module(
    module: cst.Module,
    plans: Mapping[int, LoopPlan],
    routines: Routines,
    names: GeneratedNames,
    prologue: str,
    header: Sequence[str],
    origin: str,
) -> cst.Module:
    """The generated module, without the comments at its end.

    ``plans`` are the planned loops by ordinal, ``routines`` the routines around them. ``prologue`` starts the
    runtime, ``header`` has the comment lines at the top, and ``origin`` is the source file's name in
    comments.
    """
    first = _fixed_lines(module.header)
    top = [*module.header[:first], *(cst.EmptyLine(comment=cst.Comment(line)) for line in header)]
    preamble, body = _split_preamble(module.body)
    about_file, about_loop = _split_comments(module.header[first:])
    top += about_file
    start: list[Statement] = list(cst.parse_module(prologue).body)
    if preamble:
        top, about_loop = [*top, *about_loop], []
        start[0] = _spaced(start[0], 1)
    rewriter = _Rewriter(plans, routines, names, origin)
    statements, tail = rewriter.statements(body, about_loop, top_level=True)
    statements[0] = _spaced(statements[0], 1, at_least=True)
    return module.with_changes(
        header=top, body=[*preamble, *start, *statements], footer=[*tail, *module.footer]
    )


def _fixed_lines(header: Sequence[cst.EmptyLine]) -> int:
    """The number of lines that must stay at the top: a shebang, and an encoding in the first two lines."""
    texts = [line.comment.value if line.comment else "" for line in header[:2]]
    fixed = 1 if texts and texts[0].startswith("#!") else 0
    for number, text in enumerate(texts, 1):
        if _COOKIE.match(text):
            fixed = number
    return fixed


def _split_comments(lines: Sequence[cst.EmptyLine]) -> tuple[_Lines, _Lines]:
    """The comments on the file, which end with a blank line, and those on its first statement."""
    annotation = next(
        (k for k, e in enumerate(lines) if e.comment and e.comment.value.startswith("# dlb:")), None
    )
    end = max((k + 1 for k, e in enumerate(lines[:annotation]) if not e.comment), default=0)
    return list(lines[:end]), list(lines[end:])


def _split_preamble(body: Sequence[Any]) -> tuple[list[Statement], list[Statement]]:
    """The docstring and the ``__future__`` imports, and the statements after them."""
    for number, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            return list(body[:number]), list(body[number:])
        small = statement.body
        leading = [s for k, s in enumerate(small) if _is_future(s) or (number == k == 0 and _is_text(s))]
        if len(leading) < len(small):
            before, after = _cut(statement, len(leading))
            return [*body[:number], *before], [*after, *body[number + 1 :]]
    return list(body), []


def _cut(line: cst.SimpleStatementLine, count: int) -> tuple[list[Statement], list[Statement]]:
    if count == 0:
        return [], [line]
    last = line.body[count - 1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    before = line.with_changes(
        body=[*line.body[: count - 1], last], trailing_whitespace=cst.TrailingWhitespace()
    )
    return [before], [line.with_changes(body=line.body[count:], leading_lines=[])]


def _is_future(statement: cst.BaseSmallStatement) -> bool:
    module = statement.module if isinstance(statement, cst.ImportFrom) else None
    return isinstance(module, cst.Name) and module.value == "__future__"


def _is_text(statement: cst.BaseSmallStatement) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(
        statement.value, cst.SimpleString | cst.ConcatenatedString
    )


def _spaced(statement: Statement, blank: int, at_least: bool = False) -> Statement:
    """The statement and its comments with ``blank`` blank lines above, in place of those it had."""
    lines = list(statement.leading_lines)
    own = next((k for k, line in enumerate(lines) if line.comment), len(lines))
    if at_least and own >= blank:
        return statement
    return statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)] * blank + lines[own:])


class _Rewriter:
    def __init__(
        self, plans: Mapping[int, LoopPlan], routines: Routines, names: GeneratedNames, origin: str
    ) -> None:
        self._plans, self._routines, self._names, self._origin = plans, routines, names, origin
        self._ordinal = 0
        self._kernels: list[Statement] = []

    def statements(
        self, body: Sequence[Any], above: _Lines, *, top_level: bool = False
    ) -> tuple[list[Statement], _Lines]:
        """The rewritten statements, and comments left over; ``above`` are comments to go above the first.

        At the top level, each statement stands below the kernels of its loops.
        """
        statements: list[Statement] = []
        waiting = above
        for statement in body:
            rewritten, left = self._statement(statement)
            if waiting:
                lines = [*waiting, *rewritten[0].leading_lines]
                rewritten[0] = rewritten[0].with_changes(leading_lines=lines)
            waiting = left
            if top_level and self._kernels:
                rewritten[0] = _spaced(rewritten[0], 2)
                statements += self._kernels
                self._kernels = []
            statements += rewritten
        return statements, waiting

    def _statement(self, statement: Statement) -> tuple[list[Statement], _Lines]:
        """The replacement of a statement, and comments to go above the next one."""
        if isinstance(statement, cst.SimpleStatementLine):
            return [statement], []
        if not isinstance(statement, cst.For | cst.While):
            return [self._inside(statement)], []
        ordinal = self._ordinal
        self._ordinal += 1
        loop = self._routines.wrapped(ordinal, statement)
        plan = self._plans.get(ordinal)
        if plan is None:
            inside = self._inside(loop)
            self._kernels += self._routines.ahead_functions(ordinal, inside)
            return [self._routines.enclosed(ordinal, inside)], []
        return self._loop(cst.ensure_type(loop, cst.For), plan)

    def _loop(self, loop: cst.For, plan: LoopPlan) -> tuple[list[Statement], _Lines]:
        kernel = self._names.kernels[plan.loop.number - 1]
        self._kernels += build_chunk_functions(plan, self._names)
        self._kernels.append(build_kernel_function(loop, plan, self._names, kernel, self._origin))
        self._inside(loop.body)  # counts the loops in the body; none of them is planned
        setting = self._routines.setting(plan.loop.ordinal)
        statements = build_call_statements(loop, plan, self._names, kernel, setting)
        if loop.orelse is None:
            return statements, []
        after, left = self._else(loop.orelse)
        return [*statements, *after], left

    def _else(self, orelse: cst.Else) -> tuple[list[Statement], _Lines]:
        """The statements of the loop's ``else``, and the comments at its end."""
        suite, above = orelse.body, list(orelse.leading_lines)
        if isinstance(suite, cst.SimpleStatementSuite):
            return [cst.SimpleStatementLine(suite.body, above, suite.trailing_whitespace)], []
        block = cst.ensure_type(suite, cst.IndentedBlock)
        if block.header.comment:
            above.append(cst.EmptyLine(comment=block.header.comment))
        statements, left = self.statements(block.body, above)
        return statements, [*left, *block.footer]

    def _inside(self, node: _Node) -> _Node:
        """The node with its suites rewritten; the same node if nothing changed."""
        if isinstance(node, cst.IndentedBlock):
            return cast(_Node, self._block(node))
        changes = {}
        for name in _SUITES:
            child = getattr(node, name, None)
            rewritten = self._child(child)
            if rewritten is not child:
                changes[name] = rewritten
        return node.with_changes(**changes) if changes else node

    def _child(self, child: Any) -> Any:
        if isinstance(child, cst.SimpleStatementSuite) or child is None:
            return child
        if isinstance(child, cst.CSTNode):
            return self._inside(child)
        parts = [self._inside(part) for part in child]
        same = all(a is b for a, b in zip(parts, child, strict=True))
        return child if same else parts

    def _block(self, block: Any) -> Any:
        statements, left = self.statements(block.body, [])
        if len(statements) == len(block.body) and all(map(lambda a, b: a is b, statements, block.body)):
            return block
        return block.with_changes(body=statements, footer=[*left, *block.footer])
