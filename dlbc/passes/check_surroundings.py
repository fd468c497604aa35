"""Check what stands around a parallel loop: whether Python runs the loop, and runs it as dlbc writes it.

A function that another compiler takes is compiled from its source or its bytecode, and what dlbc writes is
none of what it knows. A decorator that drops its function leaves nothing that could call it. Code under
`if False:` never runs. Only what the file itself shows is found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import Functions, full_name
from dlbc.analysis.takers import Takers
from dlbc.analysis.uses import cached_on_node, every_node, own_nodes, parameters_of, unparsed
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.region import FunctionNode
from dlbc.library.takers import Takes

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def check_surroundings(context: AnalysisContext) -> Iterator[Diagnostic]:
    """A finding for each thing around the loop that keeps it from being run in parallel."""
    [takers] = cached_on_node(context.loop.path[0], "_dlbc_takers", lambda tree: [Takers(tree)])
    for definition in context.loop.path:
        if isinstance(definition, _Definition):
            yield from _taken(definition, takers, context)
            yield from _dropped(definition, context)
    yield from _never_run(context)


def _taken(definition: _Definition, takers: Takers, context: AnalysisContext) -> Iterator[Diagnostic]:
    """At most one error for a function: by its decorators, else by the calls that it is an argument of."""
    for node in definition.decorator_list:
        if (found := takers.of(node)) is not None:
            yield _report_taken("decorator", (node, f"@{unparsed(node)}"), found, definition, context)
            return
    for call, found in takers.calls():
        if _is_argument(call, definition, context):
            yield _report_taken("call", (call, unparsed(call.func)), found, definition, context)
            return


def _report_taken(
    case: str, taker: tuple[ast.expr, str], found: Takes, definition: _Definition, context: AnalysisContext
) -> Diagnostic:
    node, text = taker
    return report(
        "DLB502",
        context.place_of(context.loop.node),
        notes=(context.note(node, f"`{definition.name}` is given away here"),),
        case=case,
        taker=text,
        takes=found.value.format(definition.name),
        function=definition.name,
    )


def _is_argument(call: ast.Call, definition: _Definition, context: AnalysisContext) -> bool:
    """Whether the first argument names the definition; a parameter of its name is something else."""
    path = context.loop.path
    in_class = isinstance(path[path.index(definition) - 1], ast.ClassDef)
    match call.args[0]:
        case ast.Attribute(attr=name):
            return in_class and name == definition.name
        case ast.Name(id=name) if name == definition.name:
            functions = (n for n in every_node(path[0]) if isinstance(n, FunctionNode))
            hiding = (f for f in functions if any(p.arg == name for p in parameters_of(f)))
            return not any(call in every_node(function) for function in hiding)
    return False


def _dropped(definition: _Definition, context: AnalysisContext) -> Iterator[Diagnostic]:
    for node in definition.decorator_list:
        decorator = _decorator_of_file(node, context)
        if decorator is not None and not _uses_its_function(decorator):
            place, note = context.place_of(context.loop.node), context.note(node, "the decorator")
            name = unparsed(node)
            yield report("DLB505", place, notes=(note,), decorator=name, function=definition.name)


def _decorator_of_file(node: ast.expr, context: AnalysisContext) -> Functions | None:
    """The function of the file that gets the decorated one; None where the text does not show it."""
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name) or name.id not in context.module.constant:
        return None
    match context.module.functions.get(name.id):
        case [ast.FunctionDef(decorator_list=[]) as function]:
            pass
        case _:
            return None
    if not isinstance(node, ast.Call):
        return function
    returned = [n.value for n in own_nodes(function.body) if isinstance(n, ast.Return)]
    inner = {n.name: n for n in function.body if isinstance(n, Functions)}
    match returned:
        case [ast.Name(id=result)]:
            return inner.get(result)
    return None


def _uses_its_function(decorator: Functions) -> bool:
    """Whether the decorator refers to its first parameter; surely so where it takes any arguments."""
    given = [*decorator.args.posonlyargs, *decorator.args.args][:1]
    nodes = (n for statement in decorator.body for n in every_node(statement))
    return not given or any(isinstance(n, ast.Name) and n.id == given[0].arg for n in nodes)


def _never_run(context: AnalysisContext) -> Iterator[Diagnostic]:
    """At most one warning: the outermost reason why the loop is not reached."""
    chain = (*context.loop.path, context.loop.node)
    for outer, inner in pairwise(chain):
        for suite in _suites(outer):
            why = _skipped(outer, suite, context) if inner in suite else ""
            why = why or (_left_before(inner, suite) if inner in suite else "")
            if why:
                yield report("DLB506", context.place_of(context.loop.node), why=why)
                return


def _suites(node: ast.AST) -> Iterator[Sequence[ast.AST]]:
    for name in ("body", "orelse", "finalbody"):
        suite = getattr(node, name, None)
        if isinstance(suite, list):
            yield suite


def _skipped(outer: ast.AST, suite: Sequence[ast.AST], context: AnalysisContext) -> str:
    if not isinstance(outer, ast.If | ast.While):
        return ""
    value = _static_value(outer.test, context)
    if value is None or value == (suite is outer.body):
        return ""
    word = "while" if isinstance(outer, ast.While) else "if"
    return f"`{word} {unparsed(outer.test)}` in line {outer.lineno} is always {str(value).lower()}"


def _static_value(test: ast.expr, context: AnalysisContext) -> bool | None:
    """The truth of a condition that is a constant, or by which only type checkers go on."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _static_value(operand, context)
            return None if inner is None else not inner
    return False if full_name(test, context.module).endswith(".TYPE_CHECKING") else None


def _left_before(inner: ast.AST, suite: Sequence[ast.AST]) -> str:
    before = suite[: suite.index(inner)]
    left = (n for n in before if isinstance(n, ast.Return | ast.Raise | ast.Break | ast.Continue))
    return next((f"the `{type(n).__name__.lower()}` in line {n.lineno} comes before it" for n in left), "")
