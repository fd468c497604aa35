"""Check the form of a parallel loop: what may not stand in its head or body, whatever the data.

Each refusal has its own code. Jumps that stay inside the body (a `break` of an inner loop) are no concern.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dlbc.analysis.uses import every_node, own_nodes
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.loop import AnnotatedLoop, ProofMethod
from dlbc.ir.plan import LoopReport
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.source import Source

#: Builtins that see or make names by text; the kernel is another function than the one they stand in.
_BY_TEXT = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})


def check_form(
    loop: AnnotatedLoop, names: LoopNames, module: ModuleNames, source: Source
) -> Iterator[Diagnostic]:
    """Every reason why the loop's form is not taken."""
    node = loop.node
    if isinstance(loop.scope, ast.ClassDef):
        yield report("DLB207", source.place_of(node), owner=loop.scope.name)
    for target in ast.walk(node.target):
        if isinstance(target, ast.Attribute | ast.Subscript):
            yield report("DLB201", source.place_of(target), target=ast.unparse(target))
            break
    yield from _jumps(node.body, source)
    yield from _suspensions(node.body, source)
    yield from _foreign(loop, names, source)
    for found in (n for s in node.body for n in every_node(s)):
        if isinstance(found, ast.Name) and found.id in _BY_TEXT and module.builtin(found.id):
            yield report("DLB209", source.place_of(found), name=found.id)
    for found in _outside_classes(node.body):
        match found:
            case ast.Name(id="__class__"):
                yield report("DLB208", source.place_of(found), what="`__class__`")
            case ast.Call(func=ast.Name(id="super"), args=[]):
                yield report("DLB208", source.place_of(found), what="`super()`")


def _outside_classes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those in the bodies of classes, whose methods have a class of their own."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.ClassDef):
            yield from _outside_classes(ast.iter_child_nodes(node))


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
        elif isinstance(node, ast.AsyncFor | ast.AsyncWith):
            what = "`async for`" if isinstance(node, ast.AsyncFor) else "`async with`"
            yield report("DLB205", source.place_of(node), what=what)
        elif isinstance(node, ast.comprehension) and node.is_async:
            yield report("DLB205", source.place_of(node.target), what="`async for`")


def _foreign(loop: AnnotatedLoop, names: LoopNames, source: Source) -> Iterator[Diagnostic]:
    """Names of another scope that the body binds: declared in it, or in the function around it."""
    for node in (n for s in loop.node.body for n in every_node(s)):
        if isinstance(node, ast.Global | ast.Nonlocal):
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            yield report("DLB206", source.place_of(node), word=word, name=", ".join(node.names))
    if isinstance(loop.scope, ast.Module | ast.ClassDef | ast.Lambda):
        return
    inside = {id(n) for n in every_node(loop.node)}
    for node in own_nodes(loop.scope.body):
        if not isinstance(node, ast.Global | ast.Nonlocal) or id(node) in inside:
            continue
        word = "global" if isinstance(node, ast.Global) else "nonlocal"
        for name in sorted(names.temporaries & set(node.names)):
            note = RelatedPlace(source.place_of(node), f"{word} in this function")
            place = source.place_of(_binding(loop.node, name))
            yield report("DLB206", place, notes=(note,), word=word, name=name)


def _binding(loop: ast.For, name: str) -> ast.expr | ast.stmt:
    """Where the loop binds the name first; the loop where no `Name` does."""
    found = [n for n in every_node(loop) if isinstance(n, ast.Name) and n.id == name]
    bound = [n for n in found if not isinstance(n.ctx, ast.Load)]
    return min(bound, key=lambda n: (n.lineno, n.col_offset), default=loop)


# ------------------------------------------------------------------------------
# Refuse what is taken on trust, for `--strict`: functions that cannot be seen, and the word of the user.
#
# Only what a verdict rests on is refused: an assertion of what was proved anyway is none.

#: The remark on a function that cannot be seen, which becomes an error.
_UNSEEN = "DLB412"


def check_strict(found: LoopReport) -> tuple[Diagnostic, ...]:
    """The findings of the loop, with an error for each thing that is taken on trust."""
    kept = (d for d in found.findings if d.code != _UNSEEN)
    unseen = (report("DLB423", place, function=name) for name, place in found.unseen)
    return tuple(sorted((*kept, *unseen, *_asserted(found)), key=lambda d: (d.place, d.code)))


def _asserted(found: LoopReport) -> Iterator[Diagnostic]:
    annotation = found.loop.annotation
    for verdict in found.proofs:
        if verdict.method is ProofMethod.ASSERTED and annotation.assume_independent is not None:
            place = annotation.assume_independent
            yield report("DLB424", place, clause="assume_independent", array=verdict.array)
    if annotation.assume_independent is not None:
        for name in found.asserted:
            yield report("DLB424", annotation.assume_independent, clause="assume_independent", array=name)
    for clause in annotation.private:
        for name in clause.names:
            if name in found.trusted:
                yield report("DLB424", clause.place, clause="private", array=name)
