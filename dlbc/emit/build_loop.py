"""One loop in the lossless tree: its kernel, and the statements that replace it.

Templates give the skeletons; the user's own nodes (targets, iterable, body, comments) are put into them, so
that they print as they were written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar, cast

import libcst as cst

from dlbc.analysis.uses import calls_super, receiver_of
from dlbc.emit.build_chunk import chunk_texts
from dlbc.emit.build_context import build_call, build_kernel
from dlbc.emit.choose_names import GeneratedNames, as_read
from dlbc.emit.render import INDENT, WIDTH, Setting, render
from dlbc.ir.plan import LoopPlan

#: Prints a piece of a tree.
_MODULE = cst.Module([])
_Owner = TypeVar("_Owner", cst.FunctionDef, cst.While, cst.If)
_Inner = TypeVar("_Inner", cst.While, cst.For, cst.SimpleStatementLine)
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def build_chunk_functions(plan: LoopPlan, names: GeneratedNames) -> list[Statement]:
    """The functions that are compiled for the loop, each with two blank lines above it; none without
    `jit`.
    """
    texts = chunk_texts(plan, names)
    found: list[Statement] = []
    for module in map(cst.parse_module, texts):
        lines = [*[cst.EmptyLine(indent=False)] * 2, *module.header]
        found.append(cst.ensure_type(module.body[0], cst.FunctionDef).with_changes(leading_lines=lines))
    return found


def build_kernel_function(
    loop: cst.For, plan: LoopPlan, names: GeneratedNames, kernel: str, origin: str
) -> Statement:
    """The function that holds the loop, with two blank lines above it."""
    skeleton = cst.parse_module(render(build_kernel(plan, names, kernel, origin)))

    def fill(skeleton: cst.For) -> cst.For:
        ours = isinstance(skeleton.target, cst.Name) and skeleton.target.value == "_"
        return _filled(skeleton, _mangled(loop, plan)) if ours else skeleton

    definition = cst.ensure_type(skeleton.body[0], cst.FunctionDef)
    working = _changed(definition, cst.While, lambda turn: _changed(turn, cst.For, fill))
    return working.with_changes(leading_lines=[*[cst.EmptyLine(indent=False)] * 2, *skeleton.header])


def _changed(owner: _Owner, kind: type[_Inner], change: Callable[[_Inner], _Inner]) -> _Owner:
    """``owner`` with its only statement of this kind changed."""
    block = cst.ensure_type(owner.body, cst.IndentedBlock)
    body = [change(statement) if isinstance(statement, kind) else statement for statement in block.body]
    return owner.with_changes(body=block.with_changes(body=body))


def _filled(skeleton: cst.For, loop: cst.For) -> cst.For:
    """The skeleton's loop with the user's targets and body, after the skeleton's own first statements."""
    block = cst.ensure_type(skeleton.body, cst.IndentedBlock)
    comment, first = block.header, block.body[:-1]
    if isinstance(loop.body, cst.IndentedBlock):
        body: cst.BaseSuite = loop.body.with_changes(header=comment, body=[*first, *loop.body.body])
    else:
        suite = cst.ensure_type(loop.body, cst.SimpleStatementSuite)
        small = [s for line in first for s in cst.ensure_type(line, cst.SimpleStatementLine).body]
        body = suite.with_changes(trailing_whitespace=comment, body=[*small, *suite.body])
    filled = skeleton.with_changes(
        target=loop.target,
        whitespace_after_for=loop.whitespace_after_for,
        whitespace_before_in=loop.whitespace_before_in,
        body=body,
    )
    return filled if _fits(filled) else _with_comment_above(filled)


def _fits(loop: cst.For) -> bool:
    """Whether the line with the comment is short enough."""
    lines = _MODULE.code_for_node(loop.with_changes(leading_lines=[])).splitlines()
    return 2 * len(INDENT) + len(next(line for line in lines if "  # " in line)) <= WIDTH


def _with_comment_above(loop: cst.For) -> cst.For:
    if isinstance(loop.body, cst.IndentedBlock):
        end, bare = loop.body.header, cst.TrailingWhitespace()
        body: cst.BaseSuite = loop.body.with_changes(header=bare)
    else:
        suite = cst.ensure_type(loop.body, cst.SimpleStatementSuite)
        end = suite.trailing_whitespace
        body = suite.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    return loop.with_changes(body=body, leading_lines=[cst.EmptyLine(comment=end.comment)])


def _mangled(loop: cst.For, plan: LoopPlan) -> cst.For:
    """The loop as it reads outside the class: private names written out, `super` with its arguments."""
    if calls_super(plan.loop.node):
        loop = loop.with_changes(body=loop.body.visit(_Super(receiver_of(plan.loop.scope))))
    if not plan.mangled:
        return loop
    renamer = _Renamer(dict(plan.mangled))
    return loop.with_changes(target=loop.target.visit(renamer), body=loop.body.visit(renamer))


class _Super(cst.CSTTransformer):
    """Gives `super()` the arguments that it takes from the method around; classes inside have their own."""

    def __init__(self, receiver: str) -> None:
        super().__init__()
        self._arguments = [cst.Arg(cst.Name("__class__")), cst.Arg(cst.Name(receiver))]

    def visit_ClassDef(self, _node: cst.ClassDef) -> bool:
        return False

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        match original_node:
            case cst.Call(func=cst.Name(value=name), args=[]) if as_read(name) == "super":
                return updated_node.with_changes(args=self._arguments)
        return updated_node


class _Renamer(cst.CSTTransformer):
    """Mangles private names as the class around the loop does; classes inside have their own."""

    def __init__(self, mangled: dict[str, str]) -> None:
        super().__init__()
        self._mangled = mangled

    def visit_ClassDef(self, _node: cst.ClassDef) -> bool:
        return False

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        # Python does not mangle the names of keyword arguments.
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = self._mangled.get(as_read(original_node.value))
        return updated_node if name is None else updated_node.with_changes(value=name)


def build_call_statements(
    loop: cst.For, plan: LoopPlan, names: GeneratedNames, kernel: str, setting: Setting
) -> list[Statement]:
    """The call, with the loop's comments, and the statements that give live variables their final values."""
    statements: list[Statement] = list(
        cst.parse_module(render(build_call(plan, names, kernel, setting))).body
    )
    ahead, call = statements[: len(setting.ahead)], statements[len(setting.ahead)]
    after = statements[len(setting.ahead) + 1 :]
    filled = _called_on(cst.ensure_type(call, cst.SimpleStatementLine), _iterable(loop, plan, names))
    run = filled.with_changes(trailing_whitespace=_line_end(loop.body))
    every: list[Statement] = [*ahead, run, *(_with_targets(statement, loop) for statement in after)]
    return [every[0].with_changes(leading_lines=loop.leading_lines), *every[1:]]


def _called_on(line: cst.SimpleStatementLine, iterable: cst.BaseExpression) -> cst.SimpleStatementLine:
    """The line, an expression or an assignment, whose call has the iterable as its second argument."""
    statement = line.body[0]
    assert isinstance(statement, cst.Expr | cst.Assign)
    call = cst.ensure_type(statement.value, cst.Call)
    first, place, *rest = call.args
    filled = call.with_changes(args=[first, place.with_changes(value=iterable), *rest])
    return line.with_changes(body=[statement.with_changes(value=filled)])


def _line_end(suite: cst.BaseSuite) -> cst.TrailingWhitespace:
    if isinstance(suite, cst.IndentedBlock):
        return suite.header
    return cst.ensure_type(suite, cst.SimpleStatementSuite).trailing_whitespace


def _iterable(loop: cst.For, plan: LoopPlan, names: GeneratedNames) -> cst.BaseExpression:
    iterable: cst.BaseExpression = loop.iter
    ordinals = find_wrappers(plan.loop.node.iter, plan.space.text)
    if ordinals:
        iterable = cast(cst.BaseExpression, iterable.visit(_Wrapper(ordinals, names)))
    if isinstance(iterable, cst.Tuple) and not iterable.lpar:
        iterable = iterable.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return iterable


def find_wrappers(iterable: ast.expr, planned: str) -> frozenset[int]:
    """Ordinals of the calls (``enumerate``, ``zip``, ``reversed``) whose function becomes the runtime's.

    The plan gives the iterable as text, while the rewrite keeps the user's tree with its comments. Both have
    the same calls, so a call is identified by its ordinal in the order of the text.
    """
    ours = _calls(iterable)
    theirs = _calls(ast.parse(f"(\n{planned}\n)", mode="eval").body)
    changed = {
        id(one)
        for one, two in zip(ours, theirs, strict=True)
        if isinstance(one.func, ast.Name) and not isinstance(two.func, ast.Name)
    }
    ours.sort(key=lambda c: (c.lineno, c.col_offset, -(c.end_lineno or 0), -(c.end_col_offset or 0)))
    return frozenset(k for k, call in enumerate(ours) if id(call) in changed)


def _calls(tree: ast.expr) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


class _Wrapper(cst.CSTTransformer):
    """Takes the functions of the calls numbered ``ordinals`` from the runtime; emitted calls do not count."""

    def __init__(self, ordinals: frozenset[int], names: GeneratedNames) -> None:
        super().__init__()
        self._ordinals, self._runtime, self._ours = ordinals, names.runtime, names.routines
        self._numbers: list[int] = []
        self._next = 0

    def visit_Call(self, node: cst.Call) -> None:
        if self._is_ours(node):
            return
        self._numbers.append(self._next)
        self._next += 1

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        if self._is_ours(original_node) or self._numbers.pop() not in self._ordinals:
            return updated_node
        name = cst.ensure_type(updated_node.func, cst.Name)
        function = cst.Attribute(
            value=cst.Name(self._runtime), attr=cst.Name(name.value), lpar=name.lpar, rpar=name.rpar
        )
        return updated_node.with_changes(func=function)

    def _is_ours(self, node: cst.Call) -> bool:
        owner = node.func.value if isinstance(node.func, cst.Attribute) else None
        return isinstance(owner, cst.Name) and owner.value in self._ours


def _with_targets(statement: Statement, loop: cst.For) -> Statement:
    """The statement with the user's targets in place of ``_``, where it binds these."""
    if not isinstance(statement, cst.If):
        return statement
    return _changed(statement, cst.SimpleStatementLine, lambda line: _assigned_to_targets(line, loop))


def _assigned_to_targets(line: cst.SimpleStatementLine, loop: cst.For) -> cst.SimpleStatementLine:
    small = cst.ensure_type(line.body[0], cst.Assign)
    target = small.targets[0]
    # A body may bind `_`, too, whose last value another such statement has.
    last = isinstance(small.value, cst.Attribute) and small.value.attr.value == "last_item"
    if not (last and isinstance(target.target, cst.Name) and target.target.value == "_"):
        return line
    named = target.with_changes(target=loop.target.deep_clone())
    return line.with_changes(body=[small.with_changes(targets=[named])])
