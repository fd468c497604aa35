"""Check what may not stand in the head or body of a parallel loop, whatever the data.

Each refusal has its own code. `check_form` refuses syntax: jumps out of the body, suspensions, names of
another scope. Jumps that stay inside the body (a `break` of an inner loop) are allowed. `check_strict`, for
`--strict`, refuses what is taken on trust: functions whose code is not seen, and assertions that a proof
rests on.

Law of `check_handlers`: a contribution such as `s += e` is combined when all iterations have run. If it fails
then, no handler of the body is active any more. So no handler around it may catch what it may raise: nothing
where numbers are added, and otherwise what Python's own containers and operators raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.contributions.selections import selection_of
from dlbc.analysis.contributions.updates import OPERATORS, update_of
from dlbc.analysis.enclosing_statements import (
    EVERYTHING,
    Catchers,
    catchers,
    caught_exceptions,
    maybe_unbound,
)
from dlbc.analysis.names import Functions
from dlbc.analysis.uses import (
    bound_names,
    every_node,
    free_names,
    is_super,
    outside_classes,
    own_nodes,
    receiver_of,
)
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace, in_order
from dlbc.ir.loop import AnnotatedLoop, ProofMethod
from dlbc.ir.plan import IterationContributions, LoopReport, Reduction
from dlbc.ir.region import LoopNames
from dlbc.source import Source

#: Builtins that look names up, or bind them, by text: in the kernel they would see another function's names.
_BY_TEXT = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})

#: What handlers must not catch around contributions: what adding values, and finding their places, may raise.
_ANY = frozenset({EVERYTHING, "Exception"})
_VALUES = _ANY | {"TypeError", "ValueError", "AttributeError", "ArithmeticError", "OverflowError",
                  "FloatingPointError", "ZeroDivisionError", "RuntimeError"}  # fmt: skip
_PLACES = _ANY | {"TypeError", "LookupError", "KeyError", "IndexError", "ArithmeticError", "OverflowError"}

#: Functions whose result is a number.
_NUMBERS = frozenset({"int", "float", "len", "ord", "hash"})


def check_form(context: AnalysisContext) -> Iterator[Diagnostic]:
    """Every reason to refuse the form of the loop."""
    loop, source, node = context.loop, context.source, context.loop.node
    yield from _of_class_body(context)
    for target in ast.walk(node.target):
        if isinstance(target, ast.Attribute | ast.Subscript):
            yield report("DLB201", source.place_of(target), target=ast.unparse(target))
            break
    yield from _jumps(node.body, source)
    yield from _suspensions(node.body, source)
    yield from _foreign(loop, context.names, source)
    for found in (n for s in node.body for n in every_node(s)):
        if isinstance(found, ast.Name) and found.id in _BY_TEXT and context.module.builtin(found.id):
            yield report("DLB209", source.place_of(found), name=found.id)
    yield from _of_classes(context)


def _of_class_body(context: AnalysisContext) -> Iterator[Diagnostic]:
    """Names of a class body that would mean something else, or nothing, where the loop's kernel stands.

    Functions and comprehensions do not see them, nor do expressions that are evaluated later.
    """
    loop, scope = context.loop, context.loop.scope
    if not isinstance(scope, ast.ClassDef):
        return
    bound = bound_names(scope.body).keys()
    read = {name for s in loop.node.body for name in _read_in_scopes(s)}
    named = {n.id for s in loop.node.body for n in every_node(s) if isinstance(n, ast.Name)}
    unsure = any(maybe_unbound(name, loop) for name in bound & named - {*context.names.temporaries})
    if bound & read or unsure or loop.annotation.cost is not None:
        yield report("DLB207", context.source.place_of(loop.node), owner=scope.name)


def _read_in_scopes(statement: ast.stmt) -> Iterator[str]:
    """Names that functions, classes and comprehensions in a statement read; of the first iterable, none."""
    for node in every_node(statement):
        if isinstance(node, Functions | ast.Lambda | ast.ClassDef):
            yield from free_names(node)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            outside = set(every_node(node.generators[0].iter))
            yield from (n.id for n in every_node(node) if isinstance(n, ast.Name) and n not in outside)


def _of_classes(context: AnalysisContext) -> Iterator[Diagnostic]:
    """Uses of `super()` and `__class__` that cannot be given what they mean in the method around the loop.

    In the kernel both are made explicit, from the class and the first parameter of the method.
    """
    loop = context.loop
    owner = next((n.name for n in reversed(loop.path) if isinstance(n, ast.ClassDef)), "Class")
    owners = zip(loop.path, loop.path[1:], strict=False)
    in_method = any(inner is loop.scope and isinstance(outer, ast.ClassDef) for outer, inner in owners)
    receiver = receiver_of(loop.scope) if in_method else ""
    kept = bool(receiver) and receiver not in context.names.temporaries
    for found, inside in outside_classes(loop.node.body):
        match found:
            case ast.Name(id="__class__") if not receiver:
                yield report("DLB208", context.place_of(found), what="`__class__`", instead=owner)
            case ast.Call() if is_super(found) and (inside or not kept):
                instead = f"super({owner}, {receiver or 'self'})"
                yield report("DLB208", context.place_of(found), what="`super()`", instead=instead)


def _jumps(statements: Iterable[ast.stmt], source: Source, inner: bool = False) -> Iterator[Diagnostic]:
    """Breaks of the loop itself, and returns anywhere in it."""
    for node in statements:
        if isinstance(node, ast.Break) and not inner:
            yield report("DLB202", source.place_of(node))
        elif isinstance(node, ast.Return):
            yield report("DLB203", source.place_of(node))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield from _jumps(node.body, source, inner=True)
            yield from _jumps(node.orelse, source, inner)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in _blocks(node):
                yield from _jumps(part, source, inner)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if isinstance(part, list):
            yield part
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _suspensions(statements: Iterable[ast.stmt], source: Source) -> Iterator[Diagnostic]:
    for node in own_nodes(statements):
        if isinstance(node, ast.Yield | ast.YieldFrom):
            yield report("DLB204", source.place_of(node))
        elif isinstance(node, ast.Await):
            yield report("DLB205", source.place_of(node), what="`await`")
        elif isinstance(node, ast.AsyncFor):
            yield report("DLB205", source.place_of(node), what="`async for`")
        elif isinstance(node, ast.AsyncWith):
            yield report("DLB205", source.place_of(node), what="`async with`")
        elif isinstance(node, ast.comprehension) and node.is_async:
            yield report("DLB205", source.place_of(node.target), what="`async for`")


def _foreign(loop: AnnotatedLoop, names: LoopNames, source: Source) -> Iterator[Diagnostic]:
    """Names of another scope that the body binds: declared in the body, or in the function around it."""
    inside = set(every_node(loop.node))
    function = None if isinstance(loop.scope, ast.Module | ast.ClassDef | ast.Lambda) else loop.scope
    around = [] if function is None else [n for n in own_nodes(function.body) if n not in inside]
    for node in (*(n for s in loop.node.body for n in every_node(s)), *around):
        if not isinstance(node, ast.Global | ast.Nonlocal):
            continue
        word = "global" if isinstance(node, ast.Global) else "nonlocal"
        if node in inside:
            yield report("DLB206", source.place_of(node), word=word, name=", ".join(node.names))
            continue
        for name in sorted(names.temporaries & set(node.names)):
            note = RelatedPlace(source.place_of(node), f"{word} in this function")
            place = source.place_of(_binding(loop.node, name))
            yield report("DLB206", place, notes=(note,), word=word, name=name)


def _binding(loop: ast.For, name: str) -> ast.expr | ast.stmt:
    """The first `Name` by which the loop binds the name; the loop itself where there is none."""
    names = (n for n in every_node(loop) if isinstance(n, ast.Name) and n.id == name)
    bound = [n for n in names if not isinstance(n.ctx, ast.Load)]
    return min(bound, key=lambda n: (n.lineno, n.col_offset), default=loop)


def check_handlers(context: AnalysisContext, contributions: IterationContributions) -> Iterator[Diagnostic]:
    """A finding for each contribution whose failure the body would catch."""
    around: dict[ast.AST, Catchers] = {}
    for statement, kinds in catchers(context.body).items():
        around[statement.value if isinstance(statement, ast.Expr) else statement] = kinds
    for name, node, raised in _deferred(contributions, _Numbers(context)):
        kinds = around.get(node, ())
        if not raised.isdisjoint(caught_exceptions(kinds, context.module)):
            catcher = next((kind for kind in kinds if kind is not None), None)
            notes = () if catcher is None else (context.note(catcher, "caught here"),)
            case = "item" if isinstance(node, ast.Call) else ""
            yield report("DLB328", context.place_of(node), "", notes, case=case, name=name)


def _deferred(
    contributions: IterationContributions, numbers: _Numbers
) -> Iterator[tuple[str, ast.stmt | ast.Call, frozenset[str]]]:
    """Each contribution, with the exceptions that combining it may raise."""
    for reduction in contributions.reductions:
        places = _PLACES if reduction.element else frozenset[str]()
        for update in reduction.updates:
            numeric = reduction.integer or numbers.all(update)
            yield reduction.name, update, places if numeric else places | _raised_by(reduction)
    for container in contributions.ordered:
        for effect in container.effects:
            if isinstance(effect, ast.stmt) and container.name not in contributions.dictionaries:
                yield container.name, effect, _PLACES | _VALUES
        for call in container.read if container.grows else ():
            yield container.name, call, _PLACES


def _raised_by(reduction: Reduction) -> frozenset[str]:
    """What applying the operator may raise: none of the arithmetic ones divides."""
    return _VALUES - {"ZeroDivisionError"} if reduction.operator in OPERATORS.values() else _VALUES


class _Numbers:
    """Which expressions surely are numbers: literals, results of some functions, names bound to numbers."""

    def __init__(self, context: AnalysisContext) -> None:
        self._module = context.module
        self._names: set[str] = set()
        bound = bound_names(context.body)
        given: dict[str, list[ast.expr]] = {}
        for node in own_nodes(context.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    given.setdefault(name, []).append(value)
        for name, values in given.items():
            if len(values) == len(bound[name]) and all(map(self.holds, values)):
                self._names.add(name)

    def all(self, update: ast.stmt) -> bool:
        found = selection_of(update, self._module) or update_of(update, self._module)
        return found is not None and all(map(self.holds, found.values))

    def holds(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return isinstance(value, int | float | complex)
            case ast.Name(id=name):
                return name in self._names
            case ast.UnaryOp(operand=operand):
                return self.holds(operand)
            case ast.BinOp(left=left, right=right):
                return self.holds(left) and self.holds(right)
            case ast.Call(func=func):
                root, _, rest = ast.unparse(func).partition(".")
                if rest:
                    return self._module.imports.get(root) == "math"
                return self._module.builtin(root) and root in _NUMBERS
        return False


def check_strict(loop_report: LoopReport) -> tuple[Diagnostic, ...]:
    """The findings of the loop, with an error for each thing that is taken on trust."""
    kept = (d for d in loop_report.findings if d.code != "DLB412")  # the remark that DLB423 replaces
    unseen = (report("DLB423", place, function=name) for name, place in loop_report.unseen)
    return in_order((*kept, *unseen, *_asserted(loop_report)))


def _asserted(loop_report: LoopReport) -> Iterator[Diagnostic]:
    """Only assertions that a proof rests on: one of something proved anyway is harmless."""
    annotation = loop_report.loop.annotation
    if (place := annotation.assume_independent) is not None:
        arrays = (p.array for p in loop_report.proofs if p.method is ProofMethod.ASSERTED)
        for name in (*arrays, *loop_report.asserted):
            yield report("DLB424", place, clause="assume_independent", array=name)
    for clause in annotation.private:
        for name in clause.names:
            if name in loop_report.trusted:
                yield report("DLB424", clause.place, clause="private", array=name)
