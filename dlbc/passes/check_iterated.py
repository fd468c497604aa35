"""Check what runs as the loop takes its items: generators of the program, and functions that `map` calls.

A parallel loop reads what it runs over to its end before its first iteration. In the sequential program a
generator runs up to its next item between two iterations. That shows if it changes what the body uses, reads
what the body changes, or prints as the body does.

Law: such a loop is refused where the text shows both. Functions are found by name; of objects the attributes
count that both name, since a generator of an object seldom touches all of it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set

from dlbrt.records import dataclass

from dlbc.analysis.callees import in_text_order
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.uses import bound_in, every_node, own_nodes, pairs_assigned, parameters_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access_path import root_of
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.library.table import lookup

#: Builtins that read an iterable to its end at once.
_AT_ONCE = frozenset({"list", "tuple", "sorted", "set", "frozenset", "dict"})

#: Special methods that a program may call by their names, and that change the object.
_STORING = frozenset({"__setitem__", "__delitem__", "__setattr__", "__iadd__"})

#: Attributes that say how long something is.
_SIZES = frozenset({"shape", "size", "ndim"})


@dataclass(frozen=True)
class _Lazy:
    """Code that runs between items: ``functions``, given ``arguments`` by their parameters' names.

    ``changed``: what the expression itself changes as it is asked for items (``iter(stack.pop, 0)``);
    ``evaluated``: the expressions that are evaluated for each (of ``(f(x) for x in xs)``, ``f(x)``).
    """

    functions: tuple[FunctionNode, ...]
    arguments: Mapping[str, ast.expr]
    changed: tuple[ast.expr, ...] = ()
    evaluated: tuple[ast.expr, ...] = ()


def check_iterated(
    context: AnalysisContext,
    changed: Set[str],
    functions: Iterable[FunctionSummary],
    *,
    prints: bool,
) -> Iterator[Diagnostic]:
    """A finding for what the loop's items and its body share.

    ``changed`` is what the body changes, by name; ``functions`` are those that it may run.
    """
    found = tuple(_lazy(context.loop.node.iter, context, frozenset()))
    if not found:
        return
    body = _Names(context.body)
    for function in functions:
        body.add_function(function)
    for lazy in found:
        if shared := _shared(lazy, body, changed, context, prints=prints):
            clash, node = shared
            notes, head = (context.note(node, "here"),), context.loop.node.iter  # type: ignore[arg-type]
            iterable = ast.unparse(head)
            yield report("DLB427", context.place_of(head), "", notes, clash=clash, iterable=iterable)
            return


class _Names:
    """The names that code reads or binds, with the attributes of each; an empty one stands for all of it."""

    def __init__(self, roots: Iterable[ast.AST]) -> None:
        self.attributes: dict[str, set[str]] = {}
        self.others: set[str] = set()  # attributes of whatever the functions are given
        for root in roots:
            nodes = every_node(root)
            within = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
            for node in nodes:
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    self.attributes.setdefault(node.value.id, set()).add(node.attr)
                elif isinstance(node, ast.Name) and id(node) not in within:
                    self.attributes.setdefault(node.id, set()).add("")

    def add_function(self, function: FunctionSummary) -> None:
        for name in function.reads:
            self.attributes.setdefault(name, set()).add("")
        self.others |= function.attributes


def _lazy(node: ast.expr, context: AnalysisContext, seen: frozenset[str]) -> Iterator[_Lazy]:
    """The code that runs as items of an expression are taken."""
    module = context.module
    match node:
        case ast.Name(id=name) if name not in seen and bound_once(name, context.loop, context.names, module):
            before = statements_before(context.loop)
            for target, value in (pair for statement in before for pair in pairs_assigned(statement)):
                if isinstance(target, ast.Name) and target.id == name:
                    yield from _lazy(value, context, seen | {name})
        case ast.GeneratorExp(elt=item, generators=turns):
            inner = [each.iter for each in turns[1:]]
            yield from _evaluated(item, *(test for each in turns for test in each.ifs), *inner, module=module)
            yield from _lazy(turns[0].iter, context, seen)
        case ast.Call(func=ast.Name(id=name)) if name in _AT_ONCE and module.builtin(name):
            return
        case ast.Call(func=ast.Name(id="map" | "filter" | "iter" as name), args=[function, _, *_]) if (
            module.builtin(name)
        ):
            own = tuple(_functions(function, module))
            changes = (function.value,) if isinstance(function, ast.Attribute) and not own else ()
            yield _Lazy(own, {}, changes)
            if isinstance(function, ast.Lambda):
                yield from _evaluated(function.body, module=module)
        case ast.Call(func=function):
            generators = [f for f in _functions(function, module) if _is_generator(f)]
            for each in generators:
                yield _Lazy((each,), _arguments(node, each))
    if isinstance(node, ast.Call):
        for argument in node.args:
            yield from _lazy(argument, context, seen)


def _evaluated(*nodes: ast.expr, module: ModuleNames) -> Iterator[_Lazy]:
    """What expressions that are evaluated for each item do: their calls, and what methods change."""
    yield _Lazy((), {}, evaluated=nodes)
    for call in (n for node in nodes for n in every_node(node) if isinstance(n, ast.Call)):
        functions = tuple(_functions(call.func, module))
        for each in functions:
            yield _Lazy((each,), _arguments(call, each))
        if isinstance(call.func, ast.Attribute) and not functions:
            method = call.func.attr
            if lookup(f".{method}").effect is not None or method in _STORING:
                yield _Lazy((), {}, (call.func.value,))


def _functions(node: ast.expr, module: ModuleNames) -> Iterator[FunctionNode]:
    """The functions of the program that an expression may be, by name."""
    match node:
        case ast.Name(id=name) if name in module.classes:
            methods = [s for s in module.classes[name].body if isinstance(s, ast.FunctionDef)]
            yield from (m for m in methods if m.name in ("__iter__", "__next__"))
        case ast.Name(id=name):
            yield from module.functions.get(name, ())
        case ast.Attribute(attr=name):
            yield from module.methods.get(name, ())
        case ast.Lambda():
            yield node


def _is_generator(function: FunctionNode) -> bool:
    if isinstance(function, ast.Lambda):
        return False
    yields = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(function.body))
    return yields or function.name == "__next__"


def _arguments(call: ast.Call, function: FunctionNode) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters, as far as they are given one by one."""
    parameters = [each.arg for each in parameters_of(function)]
    given: list[ast.expr] = [*call.args]
    if isinstance(call.func, ast.Attribute) and parameters[:1] in (["self"], ["cls"]):
        given.insert(0, call.func.value)
    found = dict(zip(parameters, given, strict=False))
    return found | {each.arg: each.value for each in call.keywords if each.arg}


def _shared(
    lazy: _Lazy, body: _Names, changed: Set[str], context: AnalysisContext, *, prints: bool
) -> tuple[str, ast.AST] | None:
    """How code that runs between items and the body meet, and where that is seen."""
    summaries = context.summaries
    own = frozenset(lazy.functions) & summaries.of.keys()
    # Operators and loops may run special methods of any class; that those meet the body is hardly ever so.
    named = {f for f in summaries.reachable(own) if not summaries.of[f].name.startswith("__")}
    reached = in_text_order(summaries.of[f] for f in named | own)
    if prints and (printing := next((each for each in reached if each.prints), None)) is not None:
        return f"`{printing.name}` prints, as the body does", printing.node
    used = body.attributes.keys() | {root_of(text) for text in changed}
    found = itertools.chain(
        _changed_names(lazy, reached, used, context),
        _changed_arguments(lazy, reached, body, context),
        _read_names(lazy, reached, changed, context),
    )
    return next(found, None)


def _changed_names(
    lazy: _Lazy, reached: Sequence[FunctionSummary], used: Container[str], context: AnalysisContext
) -> Iterator[tuple[str, ast.AST]]:
    """Global names that are bound or whose objects are changed between items, and that the body has."""
    for node in lazy.changed:
        if (name := ast.unparse(node)) in used:
            yield _changes(name), node
    for each in reached:
        for name, place in (*each.rebinds.items(), *each.mutated_shared.items()):
            if name in used and _means_the_same(name, each, context):
                yield _changes(name), place


def _changed_arguments(
    lazy: _Lazy, reached: Sequence[FunctionSummary], body: _Names, context: AnalysisContext
) -> Iterator[tuple[str, ast.AST]]:
    """Arguments of generators that these change, and that the body has, of objects by the attributes."""
    stored = _stored_attributes(each.node for each in reached)
    for function in lazy.functions:
        summary = context.summaries.of.get(function)
        mutated = frozenset[str]() if summary is None else summary.mutated_parameters
        for parameter in sorted(mutated & lazy.arguments.keys()):
            name = ast.unparse(lazy.arguments[parameter])
            used = body.attributes.get(root_of(name), set())
            if used and ("" in used or not stored or stored & (used | body.others)):
                yield _changes(name), function


def _read_names(
    lazy: _Lazy, reached: Sequence[FunctionSummary], changed: Iterable[str], context: AnalysisContext
) -> Iterator[tuple[str, ast.AST]]:
    """What is read between items, not its size alone, and changed by the body."""
    evaluated = [n for node in lazy.evaluated for n in every_node(node)]
    attributes = {name for each in reached for name in each.attributes}
    attributes |= {n.attr for n in evaluated if isinstance(n, ast.Attribute)}
    sized = _only_sized((*(each.node for each in reached), *lazy.evaluated))
    read: dict[str, ast.AST] = {
        name: node
        for each in reached
        for name, node in each.reads.items()
        if _means_the_same(name, each, context)
    }
    read |= {root_of(ast.unparse(given)): given for given in lazy.arguments.values()}
    read |= {n.id: n for n in evaluated if isinstance(n, ast.Name)}
    read |= {other: node for name, node in read.items() for other in _others_of(name, context)}
    for text in sorted(changed):
        root = root_of(text)
        attribute = text.removeprefix(root)[1:].partition(".")[0].partition("[")[0]
        parameters = {p for p, value in lazy.arguments.items() if ast.unparse(value) == text}
        names = parameters or {attribute or root}
        if root in read and not names <= sized and (not attribute or attribute in attributes):
            yield f"the program reads `{text}`, which the body changes", read[root]


def _changes(name: str) -> str:
    return f"the program changes `{name}`, which the body uses"


def _others_of(name: str, context: AnalysisContext) -> Iterator[str]:
    """Other names that the loop's scope has for an object before the loop."""
    for target, value in (pair for s in statements_before(context.loop) for pair in pairs_assigned(s)):
        if isinstance(target, ast.Name) and isinstance(value, ast.Name) and name in (target.id, value.id):
            yield value.id if target.id == name else target.id


def _means_the_same(name: str, function: FunctionSummary, context: AnalysisContext) -> bool:
    """Whether a name that a function does not bind is no other variable where the loop stands."""
    scope = context.loop.scope
    if function.owners.get(name) is scope:
        return True
    if isinstance(scope, ast.Module):
        return True
    return name not in bound_in(scope) and all(p.arg != name for p in parameters_of(scope))  # type: ignore[arg-type]


def _stored_attributes(functions: Iterable[ast.AST]) -> set[str]:
    """Attributes that functions bind, or whose objects they may change by a method or a subscript."""
    found: set[str] = set()
    for node in (n for function in functions for n in every_node(function)):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name))):
                found.add(name)
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                found.add(name)
    return found


def _only_sized(functions: Iterable[ast.AST]) -> set[str]:
    """Names and attributes of which functions read the size alone."""
    sized: set[str] = set()
    read: set[str] = set()
    for function in functions:
        nodes = every_node(function)
        within = set[int]()
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as of]):
                    within.add(id(of))
                case ast.Attribute(value=ast.Name() | ast.Attribute() as of, attr=attr) if attr in _SIZES:
                    within.add(id(of))
        for node in nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                name = node.id if isinstance(node, ast.Name) else node.attr
                (sized if id(node) in within else read).add(name)
    return sized - read
